"""dense.py - examples of dense arrays and matrices: sums, products, factorizations, sorting.

Idea       each function fills a Case and gives the error of its results, as a function, and the largest error that
           it may have.
Tests      test/lit/examples/results.test
"""
import numpy as np

import nine

from .case import gap


def vadd(c):
    n = c.between(1, 3 * 16384 + c.size)
    x, y = c.f32("x", n), c.f32("y", n)
    c.set(n=n)
    c.want("z")
    return lambda: gap(c.got("z"), x + y), 0


def bgemm(c):
    nb, m, n, k = c.between(1, 4), *(64 * c.between(1, 4 + c.size // 64) for _ in range(3))
    a, b, z = c.f32("A", nb, m, k), c.f32("B", nb, k, n), c.f32("C", nb, m, n)
    c.want("C")
    return lambda: gap(c.got("C"), z + a.astype(np.float64) @ b), 1e-5


def treesum(c):
    x = c.f32("x", c.between(1, 200000 + c.size))
    c.want("s")
    return lambda: gap(c.got("s"), [np.sum(x, dtype=np.float64)]), 1e-5


def strassen(c):
    n = c.between(1, 5) * 2 ** c.between(0, 6)
    a, b = (c.give(name, c.rng.integers(-9, 10, (n, n)).astype(np.float64)) for name in "AB")
    c.want("C")
    return lambda: gap(c.got("C"), a @ b), 0


def chol(c):
    n = 128 * (c.size // 128 if c.size else c.between(1, 4))
    g = c.rng.standard_normal((n, n))
    a = c.give("A", g @ g.T + n * np.eye(n))
    c.give("info", np.zeros(1, np.int32))
    c.want("A", "info")

    def error():
        want = np.linalg.cholesky(a)
        return max(float(np.max(np.abs(np.tril(c.got("A")) - want)) / np.max(np.abs(want))), float(c.got("info")[0]))
    return error, 1e-10


def lu(c):
    n = c.between(1, 200 + c.size)
    a = c.f64("A", n, n)
    c.want("A", "pivot")

    def error():
        f, pivot, order = c.got("A"), c.got("pivot"), np.arange(n)
        for k in range(0, n, 64):
            for j in range(k, min(k + 64, n)):
                at = k + pivot[j]
                order[[j, at]] = order[[at, j]]
        return gap((np.tril(f, -1) + np.eye(n)) @ np.triu(f), a[order])
    return error, 1e-10


def qr(c):
    n = c.between(1, 100 + c.size)
    a = c.f64("A", n + c.between(0, 60), n)
    c.want("A")

    def error():
        r, plain = np.triu(c.got("A")[:n]), a.copy()
        nine.qr(plain)
        return max(gap(r.T @ r, a.T @ a), gap(np.abs(r), np.abs(np.linalg.qr(a, mode="r"))), gap(c.got("A"), plain))
    return error, 1e-9


def floyd(c):
    n = c.between(1, 150 + c.size)
    d = c.rng.integers(1, 100, (n, n)).astype(np.int32)
    d[c.rng.random((n, n)) < 0.7] = 1000000
    np.fill_diagonal(d, 0)
    c.give("D", d)
    c.want("D")

    def error():
        want = d.copy()
        for k in range(n):
            want = np.minimum(want, want[:, k:k + 1] + want[k:k + 1, :])
        return 0 if np.array_equal(c.got("D"), want) else np.inf
    return error, 0


def mergesort(c):
    x = c.give("x", c.rng.integers(-1000, 1000, c.between(0, 9000 + c.size)).astype(np.int64))
    c.want("y")
    return lambda: 0 if np.array_equal(c.got("y"), np.sort(x)) else np.inf, 0


def kmeans(c):
    n, k = c.between(8, 10000 + c.size), c.between(1, 8)
    pixel = c.give("pixel", c.rng.integers(0, 256, (n, 3)).astype(np.uint8))
    colour = c.give("colour", pixel[:k].astype(np.float32))
    c.give("label", np.full(n, -1, np.int32))
    c.set(max_rounds=20)
    c.want("colour", "label")

    def error():
        old, now = np.full(n, -1), colour.copy()
        for _ in range(20):
            d = ((pixel[:, None, :].astype(np.float32) - now[None]) ** 2)
            label = np.argmin((d[..., 0] + d[..., 1]) + d[..., 2], axis=1)
            for j in range(k):
                if (label == j).any():
                    now[j] = (pixel[label == j].sum(axis=0, dtype=np.int64) / (label == j).sum()).astype(np.float32)
            if (label == old).all():
                break
            old = label
        return gap(c.got("colour"), now) + float(np.mean(c.got("label") != label))
    return error, 1e-6
