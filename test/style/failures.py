#!/usr/bin/env python3
"""failures.py - the table of failing returns: what the headers of the registry name, and what test_registry_failures.c tests.

    failures.py SOURCES

Idea     the comment of a function says "Status ... PTO_ERR_..., others as pto_other".  The test has lines NONE(status, text, call) and
         REFUSED(status, text, call).  Both are sets of (function, status).  PTO_ERR_NOMEM is tested by test_registry_nomem.c, which must name
         the function."""
import pathlib
import re
import sys

HEADERS = ["pto_registry.h", "pto_sparse.h"]
TEXT = r'"(?:[^"\\]|\\.)*"'


def headers_say(text):
    """{function: its part of the comment that begins with Status} of a header."""
    found = {}
    for comment, function in re.findall(r"/\*((?:[^*]|\*(?!/))*)\*/\s*PTO_API[^;(]*?\b(pto_\w+)\(", text):
        found[function] = re.sub(r"\s+\*?\s*", " ", comment).partition("Status")[2]
    return found


def statuses(function, said, seen=()):
    """The failures of a function, and of those that its comment refers to."""
    text = said[function]
    own = set(re.findall(r"PTO_ERR_\w+", text))
    for other in re.findall(r"\bas (pto_\w+)", re.sub(r"PTO_ERR_\w+: [^;]*", "", text)):
        if other in said and other not in seen:
            own |= statuses(other, said, (*seen, function))
    return own


def test_has(text):
    """(function, status) of each line of the tables."""
    text = text.replace("ATTACHED(", "pto_tensor_attach(")
    lines = re.findall(r"\b(?:NONE|REFUSED)\(\s*(PTO_ERR_\w+),\s*%s,\s*(pto_\w+)\(" % TEXT, text)
    return {(function, status) for status, function in lines}


def main():
    root = pathlib.Path(sys.argv[1])
    said = {}
    for name in HEADERS:
        said.update(headers_say((root / "runtime/include/pto" / name).read_text()))
    wanted = {(function, status) for function in said for status in statuses(function, said)}
    tests = root / "test/runtime"
    has = test_has((tests / "test_registry_failures.c").read_text())
    nomem = set(re.findall(r"pto_\w+", (tests / "test_registry_nomem.c").read_text()))
    has.add(("pto_tensor_unmap", "PTO_ERR_MISUSE"))  # it returns nothing
    missing = [f"{f}: {s}: no line of test_registry_failures.c" for f, s in wanted - has if s != "PTO_ERR_NOMEM"]
    missing += [f"{f}: {s}: test_registry_nomem.c does not call it" for f, s in wanted if s == "PTO_ERR_NOMEM" and f not in nomem]
    missing += [f"{f}: {s}: tested, and the comment of the function does not name it" for f, s in has - wanted if f in said]
    print("\n".join(sorted(missing)) or f"{len(wanted)} failing returns of {len(said)} functions")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
