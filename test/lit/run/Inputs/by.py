"""Runs by.pto on every engine, with tiny windows and heaps, and compares each result with the left fold that numpy makes, bit for bit.

usage: by.py PTOC PROGRAM FOLDER
"""
import itertools
import os
import subprocess
import sys

import numpy as np

T, N = 64, 4096 + 17
PTOC, PROGRAM, FOLDER = sys.argv[1:4]
f32, i32 = np.float32, np.int32


def fold(x):
    """The sum of a kernel: in order, from its own value."""
    def add(total, values):
        for v in values:
            total = f32(total + v)
        return total
    return add(f32(-0.0), x)


def expected(x, n):
    s, m, l = f32(0), f32(0), f32(0)
    k = np.array([-1, 0, 0, 1], i32)
    c = np.zeros((T, 2), f32)
    for i in range(0, N, T):
        part = x[i:i + T]
        s, m, l = f32(s + fold(part)), max(m, part.max()), min(l, part.min())
        with np.errstate(over="ignore"):
            p = i32(1)
            for v in n[i:i + T]:
                p = p * (i32(2) * v + i32(1))
            k = np.array([k[0] & np.bitwise_and.reduce(n[i:i + T] | i32(64)), k[1] | np.bitwise_or.reduce(n[i:i + T]),
                          k[2] ^ np.bitwise_xor.reduce(n[i:i + T]), k[3] * p], i32)
        c[:len(part), 1] = c[:len(part), 1] + (f32(-0.0) + part * f32(3))
        if i % (16 * T) == 0:
            s = f32(s * f32(0.5))
        if i % (32 * T) == 0:
            s = max(s, f32(1))
    y = np.zeros(8, f32)
    first = x[:T]
    y[0] = s
    s = max(f32(s + fold(first)), first.max())
    y[1], y[2] = s, m
    y[3] = l
    y[4:] = [f32(f32(0) + fold(first))] * 4
    return {"y": y, "k": k, "c": c, "b": np.array([(x > f32(0.999)).any()])}


def main():
    rng = np.random.default_rng(1)
    x, n = rng.standard_normal(N).astype(f32), rng.integers(-1000, 1000, N).astype(i32)
    np.save(os.path.join(FOLDER, "x.npy"), x)
    np.save(os.path.join(FOLDER, "n.npy"), n)
    want = expected(x, n)
    program = os.path.join(FOLDER, "program")
    subprocess.run([PTOC, "build", "-O0", "--plan=ring", PROGRAM, "-o", program], check=True)
    need = "704"  # s, m, l; t, and the part of its task
    variants = [["--engine", e] for e in ("serial", "threads", "timing", "process")]
    rings = [[], ["--defer", "--window", "2", "--heap", need, "--rings", "1"],
             ["--defer", "--window", "4", "--deps", "2", "--tensormap", "2", "--workers", "vector=3,cpu=2"], ["--checked", "--defer"]]
    for variant, ring in itertools.product(variants, rings):
        names = {v: os.path.join(FOLDER, v + ".npy") for v in want}
        words = [program, "--quiet", "--input", "x=" + os.path.join(FOLDER, "x.npy"), "--input", "n=" + os.path.join(FOLDER, "n.npy")]
        for v, path in names.items():
            words += ["--output", "%s=%s" % (v, path)]
        subprocess.run(words + variant + ring, check=True)
        for v, path in names.items():
            got = np.load(path)
            if got.tobytes() != want[v].tobytes():
                print("%s differs: %s %s: %s, not %s" % (v, variant, ring, got.ravel()[:8], want[v].ravel()[:8]))
                return 1
    print("equal")
    return 0


sys.exit(main())
