#!/usr/bin/python3
"""times.py PTOC SOURCE [--all] - the processor time from a change to its messages, and of a hover, a definition and a completion, for each
example and for a file of 1 MB.

Method     the least of a few attempts, by the kernel's own account of the server: other programs do not count.  --all compares with the limits
           of docs/lsp.md, which are for a release build; without it each limit is four times as high, for a debug build.
Exit code  77: the system keeps no such account.
"""
import glob
import os
import sys

from client import Client, range_of, uri_of

LIMITS = {"check": (10, 700), "hover": (5, 50), "definition": (5, 50), "completion": (5, 50)}  # ms: of an example, of 1 MB
PIECE = '''
// A product and a sum, as in an example.
orch part%d(in a: f32[N, N], in b: f32[N, N], inout c: f32[N, N], n: i64) {
  view At = a tiled [64, 64];
  view Bt = b tiled [64, 64];
  view Ct = c tiled [64, 64];
  for i in 0 .. N / 64 {
    for j in 0 .. N / 64 {
      for k in 0 .. N / 64 {
        let P = tile.gemm(At[i, k], Bt[k, j]);
        tile.add_to(P, inout Ct[i, j]);
      }
    }
  }
}
'''


def large():
    pieces = ['import "std/tile.pto" as tile;\nconst N = 512;\n']
    size = 0
    while size < 1 << 20:
        pieces.append(PIECE % len(pieces))
        size += len(pieces[-1])
    return "".join(pieces)


class Clock:
    def __init__(self, process):
        self.path = "/proc/%d/schedstat" % process.pid

    def now(self):
        with open(self.path) as f:
            return int(f.read().split()[0]) / 1e6


def least(clock, attempts, act):
    times = []
    for i in range(attempts):
        before = clock.now()
        act(i)
        times.append(clock.now() - before)
    return min(times)


def measure(client, clock, path, text, attempts):
    """{request: ms} of one file."""
    uri, line_count = uri_of(path), text.count("\n")
    client.open(path, text)

    def change(i):
        client.change(path, (range_of(line_count, 0, line_count, 0), "// %d\n" % i))
        client.messages(uri)

    found = {"check": least(clock, attempts, change)}
    lines = text.split("\n")
    places = [(n, line.index("(") - 1) for n, line in enumerate(lines) if line.startswith("  ") and "(" in line][-40::10]
    for request in ("hover", "definition", "completion"):
        found[request] = max([least(clock, attempts, lambda _: client.at(request, path, *p)) for p in places] or [0])
    client.close(path)
    return found


def main():
    ptoc, source = sys.argv[1:3]
    is_strict = "--all" in sys.argv
    client = Client(ptoc)
    clock = Clock(client.process)
    if not os.path.exists(clock.path):
        print("the system has no " + clock.path)
        return 77
    factor, wrong = 1 if is_strict else 4, []
    files = [(p, open(p, encoding="utf-8").read()) for p in sorted(glob.glob(os.path.join(source, "examples", "*.pto")))]
    most = {}
    for path, text in files + [(os.path.join(source, "examples", "large.pto"), large())]:
        is_large = len(text) > 1 << 20
        for request, ms in measure(client, clock, path, text, 3 if is_large else 5).items():
            name = os.path.basename(path)
            limit = LIMITS[request][is_large] * factor
            if ms > limit:
                wrong.append("%s: %s takes %.1f ms, %d at most" % (name, request, ms, limit))
            if ms > most.get((request, is_large), (-1, ""))[0]:
                most[request, is_large] = (ms, name)
    assert client.quit() == 0
    for (request, is_large), (ms, name) in sorted(most.items(), key=lambda m: m[0][1]):
        print("%-10s %7.1f ms at most, %s" % (request, ms, "of 1 MB" if is_large else name))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
