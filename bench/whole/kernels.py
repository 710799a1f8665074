#!/usr/bin/env python3
"""kernels.py - kernels in index notation beside the C body that a user would write, beside OpenBLAS and beside memcpy, each with its goal.

    bench/whole/kernels.py [--rounds 30]      `./dev bench kernels` builds what it needs first

Idea     everything lies in the second cache and runs on one core; each side repeats its kernel inside of the process, and the least
         processor time of interleaved rounds counts.  A ratio of 1 and more says that the goal is met."""
import argparse
import ctypes
import os
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
F = np.float32


def seconds(call, repetitions):
    before = time.process_time_ns()
    call(repetitions)
    return (time.process_time_ns() - before) / 1e9 / repetitions


def repetitions_of(call, wanted=0.004):
    """So many that a round is long beside the clock and the entry of the program."""
    n = 1
    while seconds(call, n) * n < wanted and n < 1 << 20:
        n *= 2
    return n


def least(sides, rounds):
    times = [float("inf")] * len(sides)
    counts = [repetitions_of(side) for side in sides]
    for _ in range(rounds):
        for i, side in enumerate(sides):
            times[i] = min(times[i], seconds(side, counts[i]))
    return times


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="the build folder (preset release)")
    options.add_argument("--rounds", type=int, default=30)
    options = options.parse_args()
    os.environ["PTO_PREFIX"] = os.path.abspath(options.build)
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import ptoc
    folder = os.path.join(options.build, "bench", "whole")
    os.makedirs(folder, exist_ok=True)
    library = os.path.join(folder, "kernels.so")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", os.path.join(HERE, "kernels.c"), "-o", library, "-lopenblas"], check=True)
    peers = ctypes.CDLL(library)
    ours = ptoc.compile(os.path.join(HERE, "kernels.pto"))
    rng = np.random.default_rng(3)

    def f(*shape):
        return rng.standard_normal(shape, dtype=F)

    def pointer(array):
        return ctypes.c_void_p(array.ctypes.data)

    print("| kernel | against | us | us, by index | times as fast | goal |\n|---|---|---|---|---|---|")

    def line(kernel, against, sides, goal, work=1.0):
        other, own = least(sides, options.rounds)
        ratio = other / own * work
        print("| %s | %s | %.1f | %.1f | %.2f | %.2g%s |" % (kernel, against, other * 1e6, own * 1e6, ratio, goal, "" if ratio >= goal else ", missed"))
        sys.stdout.flush()

    x, w, b, y = f(128, 512), f(512), f(512), np.zeros((128, 512), F)
    u, q = f(130, 514), f(3, 3)
    body = "C body"
    line("softmax 128 x 512", body, [lambda n: ours.run_softmax_c(x, y, n), lambda n: ours.run_softmax(x, y, n)], 4)
    line("layernorm 128 x 512", body, [lambda n: ours.run_layernorm_c(x, w, b, y, n), lambda n: ours.run_layernorm(x, w, b, y, n)], 5)
    line("conv3 128 x 512", body, [lambda n: ours.run_conv3_c(u, q, y, n), lambda n: ours.run_conv3(u, q, y, n)], 8)
    for size in (32, 64, 100, 128, 256):
        a, d, c = f(size, size), f(size, size), np.zeros((size, size), F)
        sides = [lambda n: peers.products(ctypes.c_int64(size), pointer(a), pointer(d), pointer(c), ctypes.c_int64(n)),
                 lambda n: ours.run_gemm(a, d, c, n)]
        line("gemm %d" % size, "OpenBLAS", sides, 0.9)
    long, other = f(65536), np.zeros(65536, F)
    # axpy moves three bytes where memcpy moves two
    line("axpy 65536", "memcpy, by bytes", [lambda n: peers.copies(pointer(other), pointer(long), ctypes.c_int64(long.nbytes), ctypes.c_int64(n)),
                                            lambda n: ours.run_axpy(long, other, n)], 0.8, 1.5)


if __name__ == "__main__":
    sys.path.append(os.path.dirname(HERE))
    from openblas import openblas
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    coretype = openblas()[1]
    if coretype and "OPENBLAS_CORETYPE" not in os.environ:  # the library reads it when it is loaded
        os.environ["OPENBLAS_CORETYPE"] = coretype
        os.execv(sys.executable, [sys.executable, "-B", *sys.argv])
    main()
