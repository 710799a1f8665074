#!/usr/bin/python3
"""leak.py PTOC SOURCE [--all] - after many changes of an example the server is no larger than after a few, within 1 MB, and each change is
answered soon.  Without --all there are fewer of them.
"""
import os
import sys
import time

from client import Client, range_of, uri_of


def main():
    ptoc, source = sys.argv[1:3]
    path = os.path.join(source, "examples", "transformer.pto")
    count, first = (10000 if "--all" in sys.argv else 600), None
    client = Client(ptoc)
    client.open(path)
    begin = time.monotonic()
    for i in range(count):
        client.change(path, (range_of(0, 0, 0, 0), "let" if i % 2 else "// x\n"), (range_of(0, 0, 1 - i % 2, 0 if i % 2 == 0 else 3), ""))
        client.messages(uri_of(path))
        client.at("hover", path, 40, 12)
        if i % 10 == 0:
            client.at("inlayHint", path, range=range_of(0, 0, 99, 0))
        if i == 100:
            first = client.memory()
    each = (time.monotonic() - begin) / count * 1000
    last = client.memory()
    assert client.quit() == 0
    print("%d changes, %.1f ms each, %d KB after 100, %d KB after all" % (count, each, first // 1024, last // 1024))
    most = first + (1 << (20 if count > 1000 else 21))  # few changes do not show where the allocator stops
    assert last <= most or "ASAN_OPTIONS" in os.environ, "the server grows"


if __name__ == "__main__":
    main()
