"""expected.py - what each row has to compute, by NumPy; a program whose result differs gets no figure"""
import os
import sys

import numpy as np

from measure import Failed, start


def chain(count):
    return np.array([count, 0, 0, 0], np.float32)


def halo(count, rows, width=2048):
    i, j = np.ogrid[:rows, :width]
    a = ((i * 37 + j * 11) % 64).astype(np.float32) / np.float32(64)
    for _ in range(count):
        b = a.copy()
        up, down = np.vstack((a[:1], a[:-1])), np.vstack((a[1:], a[-1:]))
        b[:, 1:-1] = np.float32(0.25) * (up[:, 1:-1] + down[:, 1:-1] + a[:, :-2] + a[:, 2:])
        a = b
    return a


def grain(count, points=8, cell=8):
    i, j = np.ogrid[:points, :cell]
    a = ((i * 37 + j * 11) % 64).astype(np.float64)
    for _ in range(count):
        a = (np.vstack((a[:1], a[:-1])) + a + np.vstack((a[1:], a[-1:]))) / 3
    return a


def product(count, n):
    i, j = np.ogrid[:n, :n]
    return count * (((i * 37 + j * 11) % 64 / 64 - 0.5) @ ((i * 13 + j * 29) % 64 / 64 - 0.5))


def cholesky(count, n):
    i, j = np.ogrid[:n, :n]
    return np.linalg.cholesky(np.where(i == j, 2.0, 1.0 / (1 + np.abs(i - j))))


def right(rival, count, want, folder, order="C", lower=False):
    """Does the program compute that in so many steps?"""
    file = os.path.join(folder, "result.%d.%s" % (os.getpid(), "npy" if rival.name.startswith("ours") else "raw"))
    if os.path.exists(file):
        os.remove(file)
    try:
        start(rival, count, file)
    except Failed as failed:
        print("# no figure of %s" % failed, file=sys.stderr)
        return False
    got = np.load(file) if file.endswith(".npy") else np.fromfile(file, want.dtype)
    os.remove(file)
    got = got.reshape(want.shape, order=order if got.ndim == 1 else "C")
    error = np.max(np.abs((np.tril(got) if lower else got) - want)) / max(1e-30, np.max(np.abs(want)))
    if not error <= 64 * np.finfo(want.dtype).eps:
        print("# no figure of %s: WRONG results, error %.1e" % (rival.name, error), file=sys.stderr)
        return False
    return True
