"""grain.py - the row grain: how long a task is when half of the time of two ranks is useful.

Idea     The same arithmetic takes longer and longer, and each program stops when more than half of its time is useful, of the wall and of the processors.
         How long an iteration takes is measured here, in this process, by the same function."""
import ctypes
import subprocess
import time

import expected
import steps
from half_point import half_point
from measure import a_step

POINTS, USEFUL = 8, 0.4e6                         # cells; microseconds of the work of a rank in a start
GRAINS = [0.25 * 2 ** i for i in range(17)]       # microseconds, to 16 ms
FEWER = 8                                         # for StarPU-MPI


def iterations_a_microsecond(bench):
    library = bench.rivals.folder + "/steps.so"
    subprocess.run(["gcc", "-shared", bench.rivals.work("steps"), "-o", library], check=True)
    cell, count = (ctypes.c_double * 8)(), 10000000
    call = ctypes.CDLL(library).bench_step

    def seconds():
        before = time.thread_time()
        call(cell, None, cell, None, cell, None, cell, None, ctypes.c_int64(count))
        return time.thread_time() - before
    return count / min(seconds() for _ in range(5)) / 1e6


def row(bench):
    if not bench.rivals.work("steps"):
        return
    speed, first = iterations_a_microsecond(bench), bench.rivals.saved("grain", expected.grain(0))
    placement = steps.best_placement(bench, "grain", round(100 * speed), FEWER, 1600, 160)

    def programs(iterations):
        half = "%dx8:2x1" % (POINTS // 2)
        words = ["--input", "A=" + first, "--input", "B=zeros", "--dist", "A=" + half, "--dist", "B=" + half, "--set", "iterations=%d" % iterations]
        return steps.programs(bench, "grain", iterations, words, placement, FEWER)

    open_ones = [rival.name for rival in steps.are_right(bench, programs(10), 20, expected.grain(20))]
    useful = {name: [] for name in open_ones}     # parts of the time of (processors, wall), by grain
    for grain in GRAINS:
        long = max(20 * FEWER, min(20000, int(USEFUL / (grain * POINTS / 2))))
        found = [rival for rival in programs(max(1, round(grain * speed))) if rival.name in open_ones]
        spent = a_step(min(bench.rounds, 3), *bench.steps(long, long // 10), found)
        for name, (cpu, wall) in spent.items():
            useful[name].append((POINTS * grain / max(cpu, 1e-3), POINTS * grain / 2 / max(wall, 1e-3)))
        open_ones = [name for name in spent if min(useful[name][-1]) < 0.5]
    halves = {}
    for name, parts in useful.items():
        points = [half_point(GRAINS[:len(parts)], [part[i] for part in parts]) for i in range(2)]
        halves[name] = tuple(float("inf") if point is None else point for point in points)
    bench.table("grain", halves, [("StarPU-MPI", 1, 0.5, "half of StarPU-MPI's, wall")])
