"""Parses the blocks of ```pto of pages of the documentation that are whole declarations.

usage: parse_pages.py PTOC PAGE...

A block is looked at unless it leaves something out (`...`); one of statements is put into a function.  Prints the page, the line and the
messages of the blocks that do not parse.
"""
import re
import subprocess
import sys

BLOCK = re.compile(r"^```pto[^\n]*\n((?:.*\n)*?)```$", re.M)
DECLARES = re.compile(r"^(import|const|param|struct|kernel|export|orch|static_assert|@\w+\([^)]*\)\s*kernel)\b", re.M)


def main():
    ptoc, *pages = sys.argv[1:]
    count = wrong = 0
    for page in pages:
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for m in BLOCK.finditer(text):
            program = m.group(1)
            if "..." in program:
                continue
            if not DECLARES.search(program):
                program = "orch block() {\n" + program + "}\n"
            done = subprocess.run([ptoc, "--emit=ast", "-"], input=program, capture_output=True, text=True)
            count += 1
            if done.returncode != 0:
                wrong += 1
                print("%s:%d:\n%s" % (page, text.count("\n", 0, m.start()) + 1, done.stderr))
    if wrong:
        sys.exit(1)
    print("%d blocks parse" % count)


main()
