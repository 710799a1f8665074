"""Many small wrong programs in one file: each is refused with exactly the messages that stand at its end.

usage: check_rejects.py [--once] PREFIX FILE FOLDER      PREFIX: a build folder; FOLDER: for the programs

The file is cut at its lines `#--- name.pto`, the names may have folders; what is in lib/ is only imported.  The lines `// CHECK:` of a
program are those of FileCheck, with no other error or warning anywhere; `// OPTIONS:` are added to the command line.  The messages as
JSON have to hold what docs/cli.md says, and every fix has to make its message go away; with
--once the text is all that is asked for.
"""
import os
import re
import subprocess
import sys

import diagnostics


def split(path, folder):
    with open(path, encoding="utf-8") as f:
        parts = re.split(r"^#--- (\S+)\n", f.read(), flags=re.M)
    names = []
    for name, text in zip(parts[1::2], parts[2::2]):
        file = os.path.join(folder, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        if not name.startswith("lib/"):
            names.append(file)
    return names


def refuse(ptoc, path, is_once):
    with open(path, encoding="utf-8") as f:
        options = [o for line in re.findall(r"^// OPTIONS: (.*)$", f.read(), re.M) for o in line.split()]
    p = subprocess.run([ptoc, "check", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 1:
        return ["%s: exit code %d\n%s" % (path, p.returncode, p.stderr.decode("utf-8", "replace"))]
    # Whoever quotes a line of the program, quotes no CHECK line: the excerpts are taken out.
    said = b"\n".join(line for line in p.stderr.split(b"\n") if not re.match(rb"\s*\d* \| ", line))
    check = subprocess.run(["FileCheck", path, "--implicit-check-not=error[", "--implicit-check-not=warning["], input=said,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wrong = []
    if check.returncode != 0:
        wrong.append("%s:\n%s" % (path, check.stdout.decode("utf-8", "replace")))
    if is_once:
        return wrong
    code, messages = diagnostics.run_json(ptoc, path, options)
    if code != 1 or not messages:
        wrong.append("%s: --diag=json: exit code %d, %d messages" % (path, code, len(messages)))
    for m in messages:
        wrong += ["%s: %s" % (path, text) for text in diagnostics.message_wrong(m)]
    return wrong + diagnostics.fixes_wrong(ptoc, path, messages, options)[0]


def main():
    is_once = sys.argv[1] == "--once"
    prefix, file, folder = sys.argv[1 + is_once:]
    programs = split(file, folder)
    wrong = [text for path in programs for text in refuse(os.path.join(prefix, "bin", "ptoc"), path, is_once)]
    print("\n".join(wrong) or "%d programs refused" % len(programs))
    return 1 if wrong or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
