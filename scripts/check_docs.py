"""The documentation names every message id and status, and every link in it leads somewhere.

usage: check_docs.py SOURCE
"""
import glob
import os
import re
import sys


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def main():
    source = sys.argv[1]
    wrong = []
    errors = read(source, "docs", "errors.md")
    for name, title in re.findall(r'^DIAG\((\w+), "([^"]*)"\)', read(source, "frontend", "diag.def"), re.M):
        if "| %s | %s |" % (name, title) not in errors:
            wrong.append("docs/errors.md: no row '| %s | %s |'" % (name, title))
    for name in re.findall(r"^STATUS\((PTO_ERR_\w+),", read(source, "runtime", "include", "pto", "status.def"), re.M):
        if "`%s`" % name not in errors:
            wrong.append("docs/errors.md: %s is missing" % name)
    for page in glob.glob(os.path.join(source, "*.md")) + glob.glob(os.path.join(source, "docs", "*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page)):
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                wrong.append("%s: link to %s, which is not there" % (os.path.relpath(page, source), target))
    print("\n".join(wrong) or "documentation agrees with the source")
    return 1 if wrong else 0


sys.exit(main())
