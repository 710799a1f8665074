"""Many small programs in one file: each prints what stands at its lines `// EXPECT:`, on every engine, with a small window.

usage: check_results.py PREFIX FILE FOLDER      PREFIX: a build folder; FOLDER: for the programs

The file is cut at its lines `#--- name.pto`; what is in lib/ is only imported.  `// OPTIONS:` are given to each run.  A program with a line
`// FAILS: text` ends with exit code 1, and its messages contain the text.
"""
import os
import re
import subprocess
import sys

import check_rejects

RUNS = (["--engine", "serial"], ["--engine", "threads", "--window", "2", "--deps", "2", "--tensormap", "2"], ["--engine", "timing"])


def lines_of(mark, text):
    return re.findall(r"// %s: ?(.*)$" % mark, text, re.M)


def check(prefix, path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    program = path[:-len(".pto")]
    built = subprocess.run([os.path.join(prefix, "bin", "ptoc"), "build", "-O0", "-w", path, "-o", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        return [path + ": was not built\n" + built.stdout.decode("utf-8", "replace")]
    options = " ".join(lines_of("OPTIONS", text)).split()
    wanted, fails = "".join(line + "\n" for line in lines_of("EXPECT", text)), lines_of("FAILS", text)
    if not wanted and not fails:
        return [path + ": expects nothing"]
    problems = []
    for run in RUNS:
        p = subprocess.run([program, "--quiet", *run, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        out, err = p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")
        where = "%s (%s)" % (path, " ".join(run))
        if p.returncode != (1 if fails else 0):
            problems.append("%s: exit code %d\n%s" % (where, p.returncode, err))
        elif out != wanted:
            problems.append("%s printed\n%sinstead of\n%s" % (where, out, wanted))
        problems += ["%s: no '%s' in\n%s" % (where, text, err) for text in fails if text not in err]
    return problems


def main():
    prefix, file, folder = sys.argv[1:]
    programs = check_rejects.split(file, folder)
    problems = [problem for path in programs for problem in check(prefix, path)]
    print("\n".join(problems) if problems else "%d programs give what they should" % len(programs))
    sys.exit(1 if problems or not programs else 0)


if __name__ == "__main__":
    main()
