"""row.py - one row of the table in a process of its own: row.py PROBLEM PEER SECONDS BUILD prints a line of JSON.

The computation runs once and is compared with NumPy in f64; then it is repeated, at least three times, and the least processor time
(all threads, user and system) and the least wall time of a repetition are printed."""
import ctypes
import json
import os
import sys
import time

import numpy as np

import problems


def error(got, want):
    """The largest difference, to the largest value."""
    gaps = [0.0]
    for a, b in zip(got, want):
        a = np.asarray(a, np.float64)
        gaps.append(float(np.max(np.abs(a - b)) / max(1e-30, float(np.max(np.abs(b))))) if a.shape == b.shape else float("inf"))
    return max(gaps)


def prepare(problem, peer, arrays, folder):
    if peer == "ours":
        import ptoc
        return problem.ours(ptoc, arrays)
    if peer == "NumPy":
        return problem.numpy(np, arrays)
    if peer == "OpenMP":
        return problems.compiled(ctypes.CDLL(os.path.join(folder, "%s.so" % problem.name)), *problem.omp(arrays))
    import torch
    torch.set_grad_enabled(False)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return problem.torch(torch, {name: torch.from_numpy(a) for name, a in arrays.items()})


def main():
    name, peer, seconds, folder = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    printed = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # some programs print
    problem = next(p for p in problems.PROBLEMS if p.name == name)
    made = problem.inputs(np.random.default_rng(11))
    want = problem.reference(problems.wide(made))
    reset, run, results = prepare(problem, peer, made, folder)
    run()
    got = [np.tril(a) if name == "chol" else a for a in results()]
    line = {"error": error(got, want), "tolerance": problem.tolerance}
    cpu = wall = float("inf")
    start, count = time.perf_counter(), 0
    while count < 3 or time.perf_counter() - start < seconds:
        reset()
        before = time.process_time_ns(), time.perf_counter_ns()
        run()
        cpu, wall = min(cpu, time.process_time_ns() - before[0]), min(wall, time.perf_counter_ns() - before[1])
        count += 1
    line.update(cpu=cpu / 1e6, wall=wall / 1e6, repetitions=count)
    os.write(printed, (json.dumps(line) + "\n").encode())


main()
