"""The nine algorithms of examples/ whose programs are compared with NumPy line by line, as one writes them in NumPy.

usage: nine.py     the code lines of each program, of what stands here, and their ratio; exit code 1 where all nine together have
                   more than 1.6 lines for a line here

Both do the same: the same blocks, recursion and phases.  A line that is blank or only a comment does not count, here and there; kernels
count.  cases/ compares the results of a program with those of these.
"""
import os
import re
import sys

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
LIMIT = 1.6


# ---- conv
def conv2d(x, w):
    k, c, r, s = w.shape
    b, _, height, width = x.shape
    h, v = height - r + 1, width - s + 1
    y = np.empty((b, k, h, v))
    for n in range(b):
        u = np.empty((c, r, s, h, v))
        for p in range(r):
            for q in range(s):
                u[:, p, q] = x[n, :, p:p + h, q:q + v]
        y[n] = (w.reshape(k, -1) @ u.reshape(c * r * s, -1)).reshape(k, h, v)
    return y


# ---- topk
def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def route(score, k):
    share = np.zeros(score.shape)
    best = np.argsort(-score, axis=1, kind="stable")[:, :k]
    top = np.take_along_axis(score, best, axis=1)
    weight = np.exp(top - top[:, :1])
    np.put_along_axis(share, best, weight / weight.sum(axis=1, keepdims=True), axis=1)
    return share.T


def mixture(x, gate, up, down, y, k):
    assert 1 <= k <= gate.shape[1], "an expert is chosen at most once for a token"
    for share, to, back in zip(route(x @ gate, k), up, down):
        at = np.flatnonzero(share)
        h = gelu(x[at] @ to)
        y[at] += share[at, None] * (h @ back)
    return y


# ---- paged
def decode(q, keys, values, table, length):
    page = keys.shape[1]
    y = np.empty(q.shape)
    for s in range(len(q)):
        assert 0 < length[s] <= table.shape[1] * page, "a sequence does not fit its row of the block table"
        m, l, o = -np.inf, 0.0, np.zeros(q.shape[1])
        for b in range(-(-length[s] // page)):
            n = min(page, length[s] - b * page)
            k = keys[table[s, b], :n]
            v = values[table[s, b], :n]
            score = k @ q[s] / np.sqrt(q.shape[1])
            top = max(m, score.max())
            keep = np.exp(m - top)
            weight = np.exp(score - top)
            l = l * keep + weight.sum()
            o = o * keep + weight @ v
            m = top
        y[s] = o / l
    return y


# ---- multigrid
def smooth(u, f, h2):
    n = len(u)
    for colour in range(2):
        for i in range(2):
            j = (i + colour) % 2
            a, g = u[i:n - i, j:n - j], f[i:n - i, j:n - j]
            lines = a[:-2:2, 1:-1:2] + a[2::2, 1:-1:2]
            columns = a[1:-1:2, :-2:2] + a[1:-1:2, 2::2]
            a[1:-1:2, 1:-1:2] = 0.25 * (lines + columns + h2 * g[1:-1:2, 1:-1:2])


def residual(u, f, h2):
    lines = u[:-2, 1:-1] + u[2:, 1:-1]
    columns = u[1:-1, :-2] + u[1:-1, 2:]
    return f[1:-1, 1:-1] - (4 * u[1:-1, 1:-1] - lines - columns) / h2


def coarser(r):
    n = len(r) // 2
    c = np.zeros((n + 2, n + 2))
    for k in range(3):
        for l in range(3):
            weight = (2 - abs(k - 1)) * (2 - abs(l - 1)) / 16
            c[1:-1, 1:-1] += weight * r[k:k + 2 * n:2, l:l + 2 * n:2]
    return c


def finer(e, u):
    u[::2, ::2] += e
    u[1::2, ::2] += 0.5 * (e[1:] + e[:-1])
    u[::2, 1::2] += 0.5 * (e[:, 1:] + e[:, :-1])
    u[1::2, 1::2] += 0.25 * (e[1:, 1:] + e[1:, :-1] + e[:-1, 1:] + e[:-1, :-1])


def cycle(u, f, h2):
    for _ in range(2):
        smooth(u, f, h2)
    if len(u) == 3:
        return
    assert len(u) % 4 == 1, "M is no power of two"
    c = coarser(residual(u, f, h2))
    e = np.zeros_like(c)
    cycle(e, c, 4 * h2)
    finer(e, u)
    for _ in range(2):
        smooth(u, f, h2)


def multigrid(u, f, cycles):
    for _ in range(cycles):
        cycle(u, f, 1 / (len(u) - 1) ** 2)


# ---- qr
def panel(a):
    n = a.shape[1]
    t = np.zeros((n, n))
    for j in range(n):
        d = a[j:, j]
        alpha = -np.copysign(np.linalg.norm(d), d[0])
        v0 = d[0] - alpha
        tau = -v0 / alpha if alpha else 0.0
        d[1:] = d[1:] / v0 if alpha else 0.0
        d[0] = 1
        a[j:, j + 1:] -= tau * np.outer(d, d @ a[j:, j + 1:])
        t[:j, j] = -tau * t[:j, :j] @ (d @ a[j:, :j])
        t[j, j] = tau
        d[0] = alpha
    return t


def reflect(a, t, c):
    v = np.tril(a, -1) + np.eye(*a.shape)
    c -= v @ (t.T @ (v.T @ c))


def qr(a, block=32):
    assert a.shape[0] >= a.shape[1], "there are more columns than rows"
    n = a.shape[1]
    for k in range(0, n, block):
        w = min(block, n - k)
        t = panel(a[k:, k:k + w])
        for j in range(k + w, n, block):
            reflect(a[k:, k:k + w], t, a[k:, j:j + block])


# ---- pcg
def product(ptr, idx, val, x):
    y = np.empty(len(x))
    for i in range(len(x)):
        row = slice(ptr[i], ptr[i + 1])
        y[i] = val[row] @ x[idx[row]]
    return y


def diagonal(ptr, idx, val):
    d = np.empty(len(ptr) - 1)
    for i in range(len(d)):
        row = slice(ptr[i], ptr[i + 1])
        d[i] = val[row][idx[row] == i].sum()
    return d


def pcg(ptr, idx, val, b, x, tol):
    d = diagonal(ptr, idx, val)
    r = b - product(ptr, idx, val, x)
    p = r / d
    rz = r @ p
    goal = tol * tol * rz
    n = 0
    while rz > goal and n < 1000:
        q = product(ptr, idx, val, p)
        alpha = rz / (p @ q)
        x += alpha * p
        r -= alpha * q
        z = r / d
        after = r @ z
        p = z + after / rz * p
        rz = after
        n += 1
    print("steps", n)


# ---- rfft
def rfft(x):
    n = len(x)
    if n <= 16 or n % 2 == 1:
        k = np.arange(n)
        return np.exp(-2j * np.pi * (np.outer(k, k) % n) / n) @ x
    even = rfft(x[0::2])
    odd = rfft(x[1::2])
    odd *= np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate([even + odd, even - odd])


# ---- bfs
def push(ptr, idx, frontier, level, depth):
    after = level.copy()
    for v in frontier:
        near = idx[ptr[v]:ptr[v + 1]]
        after[near[after[near] < 0]] = depth + 1
    return after


def pull(ptr, idx, level, depth):
    after = level.copy()
    for v in np.flatnonzero(level < 0):
        near = idx[ptr[v]:ptr[v + 1]]
        if (level[near] == depth).any():
            after[v] = depth + 1
    return after


def bfs(ptr, idx, source):
    n = len(ptr) - 1
    level = np.full(n, -1)
    level[source] = 0
    frontier = np.array([source])
    depth = 0
    while len(frontier) > 0:
        if len(frontier) > n // 16:
            level = pull(ptr, idx, level, depth)
        else:
            level = push(ptr, idx, frontier, level, depth)
        depth += 1
        frontier = np.flatnonzero(level == depth)
    return level, depth - 1


# ---- spgemm
def count(a_ptr, a_idx, b_ptr, b_idx, columns):
    n = np.empty(len(a_ptr) - 1, np.int64)
    for r in range(len(n)):
        row = np.zeros(columns, bool)
        for k in a_idx[a_ptr[r]:a_ptr[r + 1]]:
            row[b_idx[b_ptr[k]:b_ptr[k + 1]]] = True
        n[r] = row.sum()
    return n


def fill(a_ptr, a_idx, a_val, b_ptr, b_idx, b_val, ptr, idx, val, columns):
    for r in range(len(ptr) - 1):
        row, used = np.zeros(columns), np.zeros(columns, bool)
        for e in range(a_ptr[r], a_ptr[r + 1]):
            k = slice(b_ptr[a_idx[e]], b_ptr[a_idx[e] + 1])
            row[b_idx[k]] += a_val[e] * b_val[k]
            used[b_idx[k]] = True
        idx[ptr[r]:ptr[r + 1]] = np.flatnonzero(used)
        val[ptr[r]:ptr[r + 1]] = row[used]


def spgemm(a_ptr, a_idx, a_val, b_ptr, b_idx, b_val, columns):
    each = count(a_ptr, a_idx, b_ptr, b_idx, columns)
    ptr = np.concatenate([[0], np.cumsum(each)])
    idx = np.empty(ptr[-1], np.int64)
    val = np.empty(ptr[-1])
    fill(a_ptr, a_idx, a_val, b_ptr, b_idx, b_val, ptr, idx, val, columns)
    return ptr, idx, val


# ---- lines
def code_lines(text, comment):
    return sum(1 for line in text.split("\n") if line.strip() and not line.strip().startswith(comment))


def main():
    with open(os.path.abspath(__file__), encoding="utf-8") as f:
        parts = re.split(r"^# ---- (\w+)\n", f.read(), flags=re.M)
    ours = theirs = 0
    for name, text in zip(parts[1:-2:2], parts[2:-2:2]):
        with open(os.path.join(EXAMPLES, name + ".pto"), encoding="utf-8") as f:
            program, numpy = code_lines(f.read(), "//"), code_lines(text, "#")
        ours, theirs = ours + program, theirs + numpy
        print("%-10s %3d lines, in NumPy %3d: %.2f" % (name, program, numpy, program / numpy))
    print("%-10s %3d lines, in NumPy %3d: %.2f, at most %.1f" % ("together", ours, theirs, ours / theirs, LIMIT))
    sys.exit(1 if ours > LIMIT * theirs else 0)


if __name__ == "__main__":
    main()
