"""How many programs the lit tests compile: refused ones, and ones that run.

usage: count_tests.py SOURCE

Refused: a test whose RUN lines say `not %ptoc`, or that expects exit code 1, counts once, or once for each of its programs (`#---`)
that such a line names; each program of test/lit/reject counts; each page of docs/explain of an error has one.  Run: a test that runs
what it compiles counts once for each program it names, and each program of test/lit/results counts.
"""
import glob
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def run_lines(text):
    return re.sub(r"\\\n.*?RUN:", " ", "\n".join(re.findall(r"RUN:(.*)", text))).split("\n")


def programs_named(lines):
    """Programs that the lines name: %s, %t.pto, %t/name.pto, %examples/name.pto."""
    return {name for line in lines for name in re.findall(r"%(?:s|t|examples|inputs|S)\b[\w./$-]*?(?=[\s'\"|>]|$)", line)
            if name in ("%s", "%t") or name.endswith(".pto")}


def count_programs(text):
    return len([n for n in re.findall(r"^#--- (\S+)$", text, re.M) if not n.startswith("lib/")])


def count_refused(path, text):
    if os.path.basename(os.path.dirname(path)) == "reject":
        return count_programs(text)
    refused = [line for line in run_lines(text) if re.search(r"not %ptoc (check|build|run|-)|test \$\? = 1\b.*%ptoc", line)]
    return len(programs_named(refused)) if refused else 0


def count_run(text):
    ran = [line for line in run_lines(text) if re.search(r"%ptoc run |&& %t\b|RUN: %t\b|^ ?%t[\w./-]* ", line)]
    return len(programs_named(ran)) if ran else 0


def main():
    source = sys.argv[1]
    refused = ran = 0
    for root, _, names in os.walk(os.path.join(source, "test", "lit")):
        for name in names:
            if name.endswith((".pto", ".test")) and "Inputs" not in root:
                text = read(os.path.join(root, name))
                refused += count_refused(os.path.join(root, name), text)
                ran += count_programs(text) if os.path.basename(root) == "results" else count_run(text)
    refused += sum("## Wrong" in read(page) for page in glob.glob(os.path.join(source, "docs", "explain", "E*.md")))
    print("compile-fail programs: %d" % refused)
    print("run programs: %d" % ran)


main()
