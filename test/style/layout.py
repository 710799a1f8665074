#!/usr/bin/python3
"""layout.py SOURCE - are the files laid out as .clang-format says, and no line too long?

Idea       clang-format is asked about every C file of the tree; it reads neither the grammar and the lexer nor .def files, so of these
           only the width is looked at.
Exit code  0: yes; 1: no, with a line for each place.
"""
import argparse
import pathlib
import subprocess
import sys

WIDTH = 120
FORMATTED = {".c", ".h"}
MEASURED = FORMATTED | {".re", ".y", ".def"}


def sources(root):
    """The files of the tree that people write, without what is built or kept beside it."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if parts[0].startswith(("build", ".")) or "Inputs" in parts:
            continue
        if path.suffix in MEASURED and path.is_file():
            yield path


def too_long(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if len(line) > WIDTH:
            yield f"{path}:{number}: {len(line)} columns, {WIDTH} at most"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    root = parser.parse_args().source
    files = list(sources(root))
    formatted = [str(path) for path in files if path.suffix in FORMATTED]
    if not formatted:
        sys.exit(f"no C files under {root}")
    problems = [problem for path in files for problem in too_long(path)]
    checked = subprocess.run(["clang-format-14", "--dry-run", "--Werror", *formatted], text=True, capture_output=True)
    problems += [line for line in checked.stderr.splitlines() if ": error:" in line]
    if checked.returncode and not problems:
        problems.append(checked.stderr)
    if problems:
        sys.exit("\n".join(problems + ["clang-format-14 -i FILE... lays the files out"]))
    print(f"{len(files)} files")


main()
