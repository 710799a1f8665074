"""Checks and runs the programs of a page of the documentation.

usage: run_pages.py PTOC FOLDER PAGE... [--update] [--some]

A block that begins with ```pto check is checked, one with ```pto run OPTIONS is built and run on every engine with these options, and has
to print what the ```text block behind it says, if there is one.  Both must compile without a warning.  --update writes what they print.  Together they show every word of the language, but with --some.
"""
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```pto (check|run)(.*)\n((?:.*\n)*?)```\n(?:```text\n((?:.*\n)*?)```\n)?", re.M)
ENGINES = ("threads", "serial", "timing", "process")
WORDS = """import as const param struct kernel export orch static_assert in out inout acc own host on cost extern where array of let var view tiled for step
while do if else match scope drop return break continue assert print await true false""".split()


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0 or done.stderr:
        sys.exit("%s: exit code %d\n%s" % (" ".join(command), done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout.decode()


def main():
    update, some = "--update" in sys.argv, "--some" in sys.argv
    ptoc, folder, *pages = [a for a in sys.argv[1:] if a not in ("--update", "--some")]
    os.makedirs(folder, exist_ok=True)
    count, words = 0, set()
    for page in pages:
        with open(page) as f:
            text = f.read()
        for m in reversed(list(BLOCK.finditer(text))):
            verb, options, program, wanted = m.groups()
            path, binary = os.path.join(folder, "page.pto"), os.path.join(folder, "page")
            with open(path, "w") as f:
                f.write(program)
            count += 1
            words |= set(re.findall(r"\w+", re.sub(r'//.*|"(?:[^"\\]|\\.)*"', "", program)))
            if verb == "check":
                call([ptoc, "check", "-Werror", path])
                continue
            call([ptoc, "build", "-O0", "-Werror", path, "-o", binary])
            printed = {call([binary, "--quiet", "--check", "--engine", e] + options.split()).replace("check: ok\n", "") for e in ENGINES}
            if len(printed) != 1:
                sys.exit("%s: engines print different things for\n%s%s" % (page, program, sorted(printed)))
            if update and wanted is not None:
                text = text[:m.start(4)] + printed.pop() + text[m.end(4):]
            elif printed != {wanted or ""}:
                sys.exit("%s: printed\n%s\ninstead of\n%s\nby\n%s" % (page, printed.pop(), wanted or "", program))
        if update:
            with open(page, "w") as f:
                f.write(text)
    missing = [w for w in WORDS if w not in words]
    if missing and not some:
        sys.exit("no program shows: " + " ".join(missing))
    print("%d programs hold" % count)


main()
