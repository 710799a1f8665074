"""Runs a built example for many sizes and compares every element with NumPy, exactly.

usage: oracle.py vadd|treesum PROGRAM FOLDER
Each run is also compared with engine serial by the program itself (--check).
"""
import os
import subprocess
import sys

import numpy as np

LEAF = 65536


def tree_sum(x):
    """What treesum.pto says, operation by operation: sums of the leaves in f64 by 64 partial sums, f32 sums above."""
    if len(x) <= LEAF:
        parts = np.zeros(64)
        for k in range(0, len(x), 64):
            parts[:len(x[k:k + 64])] += x[k:k + 64]
        while len(parts) > 1:
            parts = parts[:len(parts) // 2] + parts[len(parts) // 2:]
        return np.float32(parts[0])
    half = len(x) // 2
    return np.float32(tree_sum(x[:half]) + tree_sum(x[half:]))


def run(program, arguments, output):
    command = [program, "--quiet", "--engine", "threads", "--check"] + arguments
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit("exit code %d: %s\n%s" % (done.returncode, " ".join(command), done.stdout.decode(errors="replace")))
    return np.load(output)


def main():
    kind, program, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    x_path, y_path, out = (os.path.join(folder, name) for name in ("x.npy", "y.npy", "out.npy"))
    rng = np.random.default_rng(7)
    sizes = [1, 16383, 16384, 16385, 1000000] if kind == "vadd" else list(range(1, 101)) + [4000003]
    for n in sizes:
        x = (2 * rng.random(n) - 1).astype(np.float32)
        np.save(x_path, x)
        if kind == "vadd":
            y = (2 * rng.random(n) - 1).astype(np.float32)
            np.save(y_path, y)
            got = run(program, ["--set", "n=%d" % n, "--input", "x=" + x_path, "--input", "y=" + y_path,
                                "--output", "z=" + out], out)
            expected = x + y
        else:
            got = run(program, ["--input", "x=" + x_path, "--output", "s=" + out], out)
            expected = np.array([tree_sum(x)])
        if got.dtype != np.float32 or got.shape != expected.shape or not np.array_equal(got, expected):
            sys.exit("%s with %d elements differs from NumPy" % (kind, n))
    print("%s: %d sizes equal NumPy" % (kind, len(sizes)))


main()
