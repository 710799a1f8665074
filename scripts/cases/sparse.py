"""sparse.py - examples of sparse matrices and graphs.

Idea       each function fills a Case and gives the error of its results, as a function, and the largest error that
           it may have.
Tests      test/lit/examples/results.test
"""
import numpy as np

import nine

from .case import gap


def csr(c, dense):
    ptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype(np.int64)
    rows, columns = np.nonzero(dense)
    c.give("ptr", ptr)
    c.give("idx", columns.astype(np.int32))
    c.give("val", dense[rows, columns].astype(np.float32))


def cg(c):
    side = c.between(2, 24 + c.size)
    n = side * side
    a = np.zeros((n, n), np.float32)
    for i in range(n):
        a[i, i] = 4.1
        for j in (i - side, i + side, i - 1 if i % side else -1, i + 1 if (i + 1) % side else -1):
            if 0 <= j < n:
                a[i, j] = -1
    csr(c, a)
    b = c.f32("b", n)
    c.give("x", np.zeros(n, np.float32))
    c.want("x", "steps")
    return lambda: gap(c.got("x"), np.linalg.solve(a.astype(np.float64), b)) + (c.got("steps")[0] < 1), 1e-3


def pagerank(c):
    n = c.between(2, 900 + c.size)
    links = c.rng.random((n, n)) < min(1.0, 8.0 / n)
    links |= (np.arange(n)[:, None] == (np.arange(n) + 1) % n)
    a = links / links.sum(axis=0, keepdims=True)
    csr(c, a)
    c.want("rank")

    def error():
        x = np.full(n, 1.0 / n)
        for _ in range(400):
            x = 0.85 * (a @ x) + 0.15 / n
        return float(np.max(np.abs(c.got("rank") - x)) / np.max(x))
    return error, 1e-3


def give_csr(c, name, dense):
    rows, columns = np.nonzero(dense)
    c.give(name + ".ptr", np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype(np.int64))
    c.give(name + ".idx", columns.astype(np.int64))
    c.give(name + ".val", dense[rows, columns])
    return len(rows)


def pcg(c):
    n = c.between(1, 300 + c.size)
    a = np.where(c.rng.random((n, n)) < 4 / n, c.rng.random((n, n)), 0.0)
    a = a + a.T
    np.fill_diagonal(a, a.sum(axis=1) + 10 ** c.rng.uniform(-1, 3, n))
    c.sizes["Z"] = give_csr(c, "a", a)
    b = c.f64("b", n)
    c.give("x", np.zeros(n))
    c.set(tol=1e-12)
    c.want("x")

    def error():
        plain = np.zeros(n)
        nine.pcg(*(np.load(c.path("a." + f)) for f in ("ptr", "idx", "val")), b, plain, 1e-12)
        return max(gap(a @ c.got("x"), b), gap(c.got("x"), plain))
    return error, 1e-8


def bfs(c):
    n = c.between(1, 1500 + c.size)
    links = c.rng.random((n, n)) < c.rng.choice([0.7, 2, 8]) / n
    links |= links.T
    c.give("ptr", np.concatenate([[0], np.cumsum(links.sum(axis=1))]).astype(np.int64))
    c.give("idx", np.nonzero(links)[1].astype(np.int64))
    source = c.between(0, n - 1)
    c.set(source=source)
    c.want("result")

    def error():
        level, now, depth = np.full(n, -1), np.arange(n) == source, 0
        while now.any():
            level[now], depth = depth, depth + 1
            now = links[now].any(axis=0) & (level < 0)
        plain, _ = nine.bfs(np.load(c.path("ptr")), np.load(c.path("idx")), source)
        return 0 if np.array_equal(c.got("result"), level) and np.array_equal(plain, level) else np.inf
    return error, 0


def spgemm(c):
    r, k, n = (c.between(1, 150 + c.size) for _ in range(3))
    a, b = (np.where(c.rng.random(shape) < 3 / shape[1], c.rng.integers(-9, 10, shape), 0).astype(np.float64)
            for shape in ((r, k), (k, n)))
    c.sizes.update(R=r, K=k, C=n, Z=give_csr(c, "a", a), Y=give_csr(c, "b", b))
    c.arguments += ["--dim", "C=%d" % n]
    c.want("result.ptr", "result.idx", "result.val")

    def error():
        ptr, idx, val = (c.got("result." + f) for f in ("ptr", "idx", "val"))
        exact = ((a != 0) @ (b != 0).astype(np.int64)) > 0
        got, rows = np.zeros((r, n)), np.repeat(np.arange(r), np.diff(ptr))
        got[rows, idx] = val
        same = np.array_equal(np.argwhere(exact), np.stack([rows, idx], axis=1)) and np.array_equal(got, a @ b)
        parts = [np.load(c.path(m + "." + f)) for m in "ab" for f in ("ptr", "idx", "val")]
        same &= all(np.array_equal(x, y) for x, y in zip((ptr, idx, val), nine.spgemm(*parts, n)))
        return 0 if same else np.inf
    return error, 0
