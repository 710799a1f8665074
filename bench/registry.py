#!/usr/bin/env python3
"""registry.py - what the registry, calls of loaded programs and calls from Python cost, each figure beside its goal.

    ./dev bench registry [--rounds 3]

Idea     the programs alternate, std::shared_ptr among them, and each figure is its best: other work on the machine makes a figure worse,
         never better.  A goal that is not met is shown and ends it with status 1.
Needs    bench/bin/registry and bench/bin/call of the preset release, libpto.so; g++ for the peer, NumPy for the calls from Python."""
import argparse
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402

VIEWS = ["slice", "slice, rank 8", "index", "index, rank 8", "transpose", "transpose, rank 8", "reshape to rank 8", "share",
         "share, rank 8", "detach", "detach, rank 8"]


def lines_of(program):
    """{name: figure} of what a program prints."""
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    found = (re.match(r"(.+?)\s+([-+]?[\d.]+) (?:ns|us|KiB|%)(?:\s+[-+].*|\s+(\d+) obtained)?$", line) for line in done.stdout.splitlines())
    figures = {}
    for match in filter(None, found):
        figures[match[1]] = float(match[2])
        if match[3]:
            figures["obtained by " + match[1]] = float(match[3])
    return figures


def python_call(build):
    """Microseconds of one call from Python of what bench/call.c calls."""
    os.environ["PTO_PREFIX"] = build
    sys.path.insert(0, os.path.join(programs.HERE, "..", "python"))
    import numpy as np
    import ptoc
    m = ptoc.load(os.path.join(build, "bench", "call_linked.so"))
    a, b, c = np.arange(4), np.arange(4), np.zeros(4, "i8")
    ta, tb, tc = (ptoc.tensor(x) for x in (a, b, c))
    best = {}
    with ptoc.Runtime(engine="serial"):
        for name, args in (("arrays", (a, b, c)), ("tensors", (ta, tb, tc))):
            for _ in range(200):
                begin = time.perf_counter_ns()
                for _ in range(200):
                    m.sum(*args)
                best[name] = min(best.get(name, 1e18), (time.perf_counter_ns() - begin) / 200)
    assert (c == a + b).all()
    return best


def measure(build, rounds):
    folder, best = os.path.join(build, "bench"), {}
    peer = programs.compiled(folder, "shared_ptr", ["g++", "-std=c++17", "shared_ptr.cpp", "-lpthread"], "g++")
    for _ in range(rounds):
        for program in [os.path.join(folder, "bin", "registry"), peer, os.path.join(folder, "bin", "call")]:
            for name, figure in (lines_of(program) if program else {}).items():
                if figure < 0:
                    continue  # the threads never ran at the same time
                better = max if "hit rate" in name else min
                best[name] = better(best.get(name, figure), figure)
    try:
        best.update({"python, " + name: figure for name, figure in python_call(build).items()})
    except ImportError as e:
        print("# no calls from Python: %s (Debian: python3-numpy)" % e, file=sys.stderr)
    return best


def rows_of(f):
    """(what, figure, unit, goal: at most; for "%" at least)"""
    shared, shared_two = f.get("shared_ptr"), f.get("shared_ptr, two threads")
    yield "retain and release, word form", f["word form"], "ns", 1.1 * f["bare atomic pair"]
    for name, peer in (("spread form", shared), ("spread form, two threads", shared_two)):
        if peer and name in f:
            yield "retain and release, " + name, f[name], "ns", peer / 8
    yield "end of the spread form", f["close of the spread form"] / 1000, "us", 20
    for name in VIEWS:
        yield name + ", made and dropped", f[name], "ns", 150
    obtained = max(figure for name, figure in f.items() if name.startswith("obtained by") and "CSR" not in name)
    yield "blocks that these obtain from the system", obtained, "", 0
    yield "memory after 10^7 views", f["memory after 10^7 views"], "KiB", 256
    yield "pool, 10^5 runs of mixed shapes: hit rate", f["pool, 10^5 runs: hit rate"], "%", 99.9
    yield "pool, bytes obtained after the second round", f["pool, 10^5 runs: more obtained"], "KiB", 0
    yield "pool, bytes kept after a trim", f["pool, kept after a trim"], "KiB", 0
    yield "pto_sparse_rows, 10^6 rows", f["rows of a CSR matrix, 10^6 rows"] / 1000, "us", 1
    yield "pto_sparse_pick, for each row", f["pick of 10^5 rows, for each"], "ns", 20
    call = f["position"]
    yield "pto_program_call, more than the export's own function", (call - f["function"]) / 1000, "us", 1
    if "python, arrays" in f:
        yield "call from Python with arrays, more than that call", (f["python, arrays"] - call) / 1000, "us", 15
        yield "call from Python with tensors, more than that call", (f["python, tensors"] - call) / 1000, "us", 15


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=os.path.join(programs.HERE, "..", "build", "release"), help="the build folder (preset release)")
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    build = os.path.abspath(chosen.build)
    print("machine: %d processors, load %.1f when it began" % (len(os.sched_getaffinity(0)), os.getloadavg()[0]))
    figures = measure(build, chosen.rounds)
    print("bare atomic pair %.1f ns, std::shared_ptr %.1f ns, on two threads %.1f ns; the export's own function %.2f us\n" %
          (figures["bare atomic pair"], figures.get("shared_ptr", 0), figures.get("shared_ptr, two threads", 0), figures["function"] / 1000))
    missed = 0
    print("| what | measured | goal | |\n|---|---|---|---|")
    for what, figure, unit, goal in rows_of(figures):
        holds = figure >= goal if unit == "%" else figure <= goal
        missed += not holds
        print("| %s | %.4g %s | %s %.4g %s | %s |" % (what, figure, unit, "at least" if unit == "%" else "at most", goal, unit,
                                                      "holds" if holds else "MISSED"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
