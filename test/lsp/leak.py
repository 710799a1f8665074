#!/usr/bin/python3
"""leak.py PTOC SOURCE [--all] - after many changes of an example the server is no larger than it was in their first part, within 1 MB, and
each change is answered soon.  Without --all there are fewer of them.

Idea       pages of the program and of its allocator come into memory in the first hundreds of changes, sometimes late and sometimes only
           for a while: one early reading shows little, the largest of many shows where they stop.
"""
import os
import sys
import time

from client import Client, range_of, uri_of


def main():
    ptoc, source = sys.argv[1:3]
    path = os.path.join(source, "examples", "transformer.pto")
    count = 10000 if "--all" in sys.argv else 600
    warm, first = min(count // 2, 1000), 0
    client = Client(ptoc)
    client.open(path)
    begin = time.monotonic()
    for i in range(count):
        client.change(path, (range_of(0, 0, 0, 0), "let" if i % 2 else "// x\n"), (range_of(0, 0, 1 - i % 2, 0 if i % 2 == 0 else 3), ""))
        client.messages(uri_of(path))
        client.at("hover", path, 40, 12)
        if i % 10 == 0:
            client.at("inlayHint", path, range=range_of(0, 0, 99, 0))
        if i < warm and i % 10 == 0:
            first = max(first, client.memory())
    each = (time.monotonic() - begin) / count * 1000
    last = client.memory()
    assert client.quit() == 0
    print("%d changes, %.1f ms each, %d KB in the first %d, %d KB after all" % (count, each, first // 1024, warm, last // 1024))
    assert last <= first + (1 << 20), "the server grows"


if __name__ == "__main__":
    main()
