"""timeline.py - reads the time line of a report, as its script does: numbers are digits of five bits, a sixth says that more follow."""
import json
import re


def element(page, name):
    return re.search(r'<script type="[a-z/]+" id="%s">([^<]*)</script>' % name, page)[1]


def numbers(page, name):
    n, unit = 0, 1
    for c in element(page, name):
        digit = ord(c) - 63
        n += (digit & 31) * unit
        unit *= 32
        if digit < 32:
            yield n
            n, unit = 0, 1


def signed(n):
    return -(n + 1) // 2 if n % 2 else n // 2


def read(page):
    """The description, the tasks as (row, kind, begin, duration, producers), the waits as (kind, begin, duration)."""
    info, tasks, waits = json.loads(element(page, "info")), [], []
    last, next_of = [0] * len(info["rows"]), numbers(page, "tasks")
    for row in next_of:
        kind = next(next_of)
        last[row] += signed(next(next_of))
        length = next(next_of)
        tasks.append((row, info["kinds"][kind], last[row], length, [len(tasks) - next(next_of) for _ in range(next(next_of))]))
    at, next_of = 0, numbers(page, "waits")
    for kind in next_of:
        at += signed(next(next_of))
        waits.append((info["waitKinds"][kind], at, next(next_of)))
    assert len(tasks) == info["tasks"] and len(waits) == info["waits"] and sum(len(t[4]) for t in tasks) == info["edges"], info
    return info, tasks, waits


def regions(page):
    """Of each task whose arguments are there: (direction, type, tensor, bytes or address, extents, strides); None for a scalar."""
    info, found, next_of = json.loads(element(page, "info")), [], numbers(page, "regions")
    for count in next_of:
        args = []
        for _ in range(count):
            direction = next(next_of)
            if direction == 5:
                args.append(None)
                continue
            type_, heap, tensor, at = info["types"][next(next_of)], next(next_of), info["tensors"][next(next_of)], signed(next(next_of))
            shape = [signed(next(next_of)) for _ in range(next(next_of))]
            strides = [signed(next(next_of)) for _ in shape] if next(next_of) else None
            args.append((["", "in", "out", "inout", "acc"][direction], type_, tensor if heap else None, at, shape, strides))
        found.append(args)
    assert len(found) == info["regions"], info
    return found
