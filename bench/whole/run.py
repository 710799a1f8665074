#!/usr/bin/env python3
"""run.py - whole programs beside what their users would take instead: NumPy, PyTorch, and OpenMP C over the BLAS that NumPy uses.

    bench/whole/run.py [problem ...] [--rounds 5] [--cores 1,2] [--peers ours,NumPy]      `./dev bench programs` builds what it needs first

Prints a table: processor time of one repetition on one core, wall time on two, each the least of interleaved rounds, and the ratio to
the best peer of that column.  Every result is compared with NumPy in f64 before it is timed; a wrong one gets no figure.

Idea     each round starts every row once, in a process of its own: no library's threads are in another's figures, and a machine that
         is slow for a while is slow for all.  PyTorch is a peer where it is installed (Debian: python3-torch).
         OpenBLAS falls back to kernels of 2004 on a processor that it does not know; OPENBLAS_CORETYPE then names what is there."""
import argparse
import ctypes
import json
import math
import os
import subprocess
import sys

import numpy as np

import problems

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
from openblas import openblas  # noqa: E402

ROOT = os.path.join(HERE, "..", "..")
PEERS = ["ours", "NumPy", "PyTorch", "OpenMP"]


def build(folder, chosen):
    os.makedirs(folder, exist_ok=True)
    for problem in chosen:
        subprocess.run(["gcc", "-std=gnu11", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC",
                        os.path.join(HERE, "omp", problem.name + ".c"), "-o", os.path.join(folder, problem.name + ".so"), "-lopenblas", "-lm"],
                       check=True)


def has_torch():
    found = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    return found.stdout.strip()


def measure(problem, peer, cores, options, coretype):
    setting = {**os.environ, "OMP_NUM_THREADS": str(cores), "OPENBLAS_NUM_THREADS": str(1 if peer in ("OpenMP", "ours") else cores),
               "PTO_PREFIX": options.build, "PYTHONPATH": os.path.join(ROOT, "python")}
    if coretype:
        setting["OPENBLAS_CORETYPE"] = coretype
    command = ["taskset", "-c", ",".join(str(c) for c in range(cores)), sys.executable, "-B", os.path.join(HERE, "row.py"), problem.name, peer,
               str(options.seconds), os.path.join(options.build, "bench", "whole")]
    done = subprocess.run(command, env=setting, capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout.startswith("{"):
        print("# %s, %s: %s" % (problem.name, peer, done.stderr.strip()[-400:]), file=sys.stderr)
        return None
    line = json.loads(done.stdout)
    if not line["error"] <= line["tolerance"]:
        print("# %s, %s: WRONG, error %.1e" % (problem.name, peer, line["error"]), file=sys.stderr)
        return None
    return line


def cell(value, best):
    return "-" if math.isnan(value) else ("**%.2f**" if value == best else "%.2f") % value


def table(chosen, peers, least, column, title):
    print("\n### %s\n" % title)
    print("| program | size | " + " | ".join(peers) + " | ours to the best peer |")
    print("|---|---|" + "---|" * (len(peers) + 1))
    for problem in chosen:
        times = [least.get((problem.name, peer, column), math.nan) for peer in peers]
        others = [t for t, peer in zip(times, peers) if peer != "ours" and not math.isnan(t)]
        best = min(others, default=math.nan)
        ratio = times[0] / best if peers[0] == "ours" else math.nan
        print("| %s | %s | %s | %s |" % (problem.name, problem.size, " | ".join(cell(t, best) for t in times), cell(ratio, None)))
    sys.stdout.flush()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("problem", nargs="*", help=", ".join(p.name for p in problems.PROBLEMS))
    options.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="the build folder (preset release)")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=0.3, help="of repetitions in each start of a row")
    options.add_argument("--cores", type=lambda text: [int(c) for c in text.split(",")], default=[1, 2])
    options.add_argument("--peers", type=lambda text: text.split(","), default=PEERS)
    options = options.parse_args()
    options.build = os.path.abspath(options.build)
    chosen = [p for p in problems.PROBLEMS if not options.problem or p.name in options.problem]
    unknown = set(options.problem) - {p.name for p in chosen}
    if unknown:
        sys.exit("no problem %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(p.name for p in problems.PROBLEMS)))
    version, coretype = openblas()
    torch = has_torch()
    peers = [p for p in options.peers if p != "PyTorch" or torch]
    if "PyTorch" in options.peers and not torch:
        print("# no PyTorch: it is not installed (Debian: python3-torch)", file=sys.stderr)
    build(os.path.join(options.build, "bench", "whole"), chosen)
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    print("NumPy %s, OpenBLAS %s%s, PyTorch %s, gcc %s; load %.1f when it began" % (
        np.__version__, version, " with OPENBLAS_CORETYPE=" + coretype if coretype else "", torch or "none", gcc, os.getloadavg()[0]))
    least = {}
    options.cores = [c for c in options.cores if set(range(c)) <= os.sched_getaffinity(0)]
    for cores in options.cores:
        for _ in range(options.rounds):
            for problem in chosen:
                for peer in peers:
                    line = measure(problem, peer, cores, options, coretype)
                    for column in ("cpu", "wall") if line else ():
                        key = problem.name, peer, (cores, column)
                        least[key] = min(least.get(key, math.inf), line[column])
    for cores in options.cores:
        column = "cpu" if cores == 1 else "wall"
        table(chosen, peers, least, (cores, column), "one core, processor time, ms" if cores == 1 else "%d cores, wall time, ms" % cores)


if __name__ == "__main__":
    main()
