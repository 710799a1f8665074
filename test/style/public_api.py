#!/usr/bin/python3
"""public_api.py SOURCE - does every public function have a comment of its own with its caller and its statuses?

Idea       a declaration with PTO_API in runtime/include/pto stands directly under a comment with the words Caller and Status, and every
           PTO_ERR_ name in it is one of status.def.  A second declaration of a function needs none.
Exit code  0: yes; 1: no, with a line for each function.
"""
import argparse
import pathlib
import re
import sys

DECLARATION = re.compile(r"(/\*(?:(?!\*/).)*\*/\n)?PTO_API [^;{]*?\b(pto_\w+)\)?\([^;]*;", re.S)


def problems_of(comment, statuses):
    if not comment:
        return ["has no comment directly above it"]
    found = [f"its comment has no '{word}'" for word in ("Caller", "Status") if not re.search(rf"\b{word}\b", comment)]
    return found + [f"its comment names {name}, which is no status" for name in re.findall(r"(?<!\")PTO_ERR_\w+", comment)
                    if name not in statuses]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    folder = parser.parse_args().source / "runtime/include/pto"
    statuses = set(re.findall(r"STATUS\((\w+)", (folder / "status.def").read_text()))
    problems = {}  # of the best declaration of each function
    for header in sorted(folder.rglob("*.h")):
        for comment, name in DECLARATION.findall(header.read_text()):
            here = [f"{header}: {name}: {problem}" for problem in problems_of(comment, statuses)]
            if name not in problems or len(here) < len(problems[name]):
                problems[name] = here
    lines = [line for here in problems.values() for line in here]
    if lines or not problems:
        sys.exit("\n".join(lines) or f"no public function under {folder}")
    print(f"{len(problems)} functions")


main()
