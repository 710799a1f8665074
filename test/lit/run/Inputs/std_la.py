"""Factorisations of std/la.pto against NumPy: std_la.py PROGRAM FOLDER."""
import os
import subprocess
import sys

import numpy as np

program, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
rng = np.random.default_rng(7)


def run(entry, names, status=0, **arrays):
    """The arrays of these names afterwards; None where the run fails, as it should."""
    command = [program, "--quiet", "--entry", entry]
    for name, array in arrays.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, array)
        command += ["--input", "%s=%s" % (name, path)]
    for name in names:
        command += ["--output", "%s=%s" % (name, os.path.join(folder, "got_%s.npy" % name))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if (done.returncode != 0) != (status != 0):
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return None if status else [np.load(os.path.join(folder, "got_%s.npy" % name)) for name in names]


def close(what, got, want, gap):
    if not np.allclose(got, want, rtol=gap, atol=gap):
        sys.exit("%s is\n%s\nexpected\n%s" % (what, got, want))


def check_lu(what, before, after, pivot, first, gap):
    """first: of the blocks, the row at which each pivot counts from 0."""
    m, n = before.shape
    rows = before.astype(np.float64)
    for j, p in enumerate(pivot):
        p += first(j)
        rows[[j, p]] = rows[[p, j]]
    lower, upper = np.tril(after, -1)[:, :n] + np.eye(m, n), np.triu(after)[:n]
    if np.abs(np.tril(after, -1)).max(initial=0) > 1:
        sys.exit("%s has a factor above 1: no pivot was searched" % what)
    close(what, lower.astype(np.float64) @ upper, rows, gap)


def check_qr(what, a, after, t, c, changed, gap):
    m, n = a.shape
    v = np.tril(after, -1) + np.eye(m, n)
    q = np.eye(m) - v @ t @ v.T
    close(what, q[:, :n] @ np.triu(after)[:n], a, gap)
    close(what + ": orthogonal", q.T @ q, np.eye(m), gap)
    close(what + ": transpose(Q) * c", changed, q.T @ c, gap)


for n in (1, 2, 7, 8, 9, 21, 40):
    a = rng.standard_normal((n, n))
    after, pivot, info = run("lu", ["a", "pivot", "info"], a=a)
    check_lu("lu of %d" % n, a, after, pivot, lambda j: j // 8 * 8, 1e-10)
    close("info", info, [0], 0)
for m, n in ((1, 1), (5, 2), (9, 9), (30, 7)):
    a = rng.standard_normal((m, n)).astype(np.float32)
    after, pivot, info = run("lu_of_columns", ["a", "pivot", "info"], a=np.ascontiguousarray(a.T))
    check_lu("lu of %d columns" % n, a, after.T, pivot, lambda j: 0, 1e-4)
    b, t, c = rng.standard_normal((m, n)), np.zeros((n, n)), rng.standard_normal((m, 3))
    after, made, changed = run("qr", ["a", "t", "c"], a=b, t=t, c=c)
    check_qr("qr of %d x %d" % (m, n), b, after, made, c, changed, 1e-10)
    given = {"a": np.ascontiguousarray(b.T).astype(np.float32), "t": t.astype(np.float32), "c": np.ascontiguousarray(c.T).astype(np.float32)}
    after, made, changed = run("qr_of_columns", ["a", "t", "c"], **given)
    check_qr("qr of %d columns" % n, given["a"].T, after.T, made.T, given["c"].T, changed.T, 1e-4)
a, t, c = rng.standard_normal((9, 4)), np.zeros((4, 4)), np.ones((9, 3))
after, made, changed = run("qr", ["a", "t", "c"], a=a, t=t, c=c)
for power in (-900, 1000):  # squares would be 0 or infinite
    scaled, same, result = run("qr", ["a", "t", "c"], a=np.ldexp(a, power), t=t, c=c)
    close("R of numbers times 2**%d" % power, np.ldexp(np.triu(scaled), -power), np.triu(after), 0)
    close("V of numbers times 2**%d" % power, np.tril(scaled, -1), np.tril(after, -1), 0)
    close("T of numbers times 2**%d" % power, same, made, 0)
    close("transpose(Q) of numbers times 2**%d" % power, result, changed, 0)
zero = np.array([[1., 2., 3.], [2., 4., 6.], [3., 6., 10.]])
close("info of a singular matrix", run("lu", ["a", "pivot", "info"], a=zero)[2], [2], 0)
close("qr of zeros", run("qr", ["a", "t", "c"], a=np.zeros((4, 2)), t=np.zeros((2, 2)), c=np.ones((4, 3)))[2], np.ones((4, 3)), 0)
close("rows", run("swapped", ["c"], c=np.arange(6.).reshape(3, 2), pivot=np.array([2, 2]))[0], [[4, 5], [0, 1], [2, 3]], 0)
run("swapped", ["c"], 1, c=np.arange(6.).reshape(3, 2), pivot=np.array([3, 0]))
print("all as expected")
