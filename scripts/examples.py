"""Makes input for an example, runs it, and checks the result against an independent computation.

usage: examples.py PTOC NAME[,NAME]...|all FOLDER [--seed N] [--repeat N] [--size N] [--with "RUN OPTIONS"]... [--launch "COMMAND"]...
       examples.py ... --stub FOLDER      each run on the backend ascend too, over the stub of test/ascend that is in FOLDER;
                                          `--heap least` is then about as little as the example can do with
       examples.py --list

Each example is built once, then run for every seed with every set of options.  Sizes are random for a seed, larger with --size.  Inputs
and outputs are .npy files in FOLDER; a line a run says the largest error.  Exit code 1: an error is larger than it may be.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

import nine

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")


class Case:
    """Arrays and options of one run; `outputs` are read back when it is over."""

    def __init__(self, folder, rng, size):
        self.folder, self.rng, self.size = folder, rng, size
        self.arguments, self.outputs, self.printed = [], [], ""
        self.sizes = {}  # names of the program that no array and no option shows

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def give(self, name, array):
        np.save(self.path(name), array)
        self.arguments += ["--input", "%s=%s" % (name, self.path(name))]
        return array

    def f32(self, name, *shape):
        return self.give(name, (2 * self.rng.random(shape) - 1).astype(np.float32))

    def f64(self, name, *shape):
        return self.give(name, 2 * self.rng.random(shape) - 1)

    def set(self, **values):
        self.sizes.update(values)
        for name, value in values.items():
            self.arguments += ["--set", "%s=%s" % (name, value)]

    def want(self, *names):
        for name in names:
            self.outputs.append(name)
            self.arguments += ["--output", "%s=%s" % (name, self.path(name + ".out"))]

    def got(self, name):
        return np.load(self.path(name + ".out"))


def gap(a, b):
    """Largest difference, relative to the largest value."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return np.inf
    if a.size == 0:
        return 0.0
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(b)))))


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


def softmax(s):
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    return s / s.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    s = q.astype(np.float64) @ k.T.astype(np.float64) / np.sqrt(q.shape[1])
    s[np.triu_indices(len(s), 1)] = -np.inf
    return softmax(s) @ v


def flash(c):
    s, d = 64 * c.between(1, 6 + c.size // 64), 8 * c.between(1, 8)
    q, k, v = (c.f32(name, s, d) for name in "QKV")
    c.want("Y")
    return lambda: gap(c.got("Y"), attention(q, k, v)), 1e-5


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


def jacobi_serial(u, v, tol, limit):
    n = 0
    while True:
        for a, b in ((u, v), (v, u)):
            x = np.float32(0.25) * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
            change = float(np.max(np.abs(x - a[1:-1, 1:-1]))) if x.size else 0.0
            b[1:-1, 1:-1] = x
        n += 2
        if change <= tol or n >= limit:
            return n


def jacobi(c):
    n = c.between(3, 200 + c.size)
    u = c.give("u", (c.rng.random((n + 2, n + 2))).astype(np.float32))
    v = c.give("v", u.copy())
    c.set(max_sweeps=40, tol=0.02)
    c.want("u", "sweeps")

    def error():
        want_u, want_v = u.copy(), v.copy()
        sweeps = jacobi_serial(want_u, want_v, np.float32(0.02), 40)
        return max(gap(c.got("u"), want_u), abs(int(c.got("sweeps")[0]) - sweeps))
    return error, 1e-6


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


def fft(c):
    n1, n2 = c.between(1, 70 + c.size), c.between(1, 70 + c.size)
    x = c.f64("x", n1, n2, 2)
    c.want("z")

    def error():
        z, want = c.got("z"), np.fft.fft((x[..., 0] + 1j * x[..., 1]).reshape(-1)).reshape(n2, n1)
        return max(gap(z[..., 0], want.real), gap(z[..., 1], want.imag))
    return error, 1e-11


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


def paged(c):
    sequences, blocks, d = c.between(1, 6), c.between(1, 5 + c.size // 64), 4 * c.between(1, 16)
    pages = sequences * blocks + 3
    q, keys, values = c.f32("q", sequences, d), c.f32("keys", pages, 16, d), c.f32("values", pages, 16, d)
    table = c.give("table", c.rng.permutation(pages)[:sequences * blocks].reshape(sequences, blocks).astype(np.int64))
    length = c.give("length", c.rng.integers(1, blocks * 16 + 1, sequences).astype(np.int64))
    c.want("y")

    def error():
        want = []
        for s in range(sequences):
            k, v = (x[table[s]].reshape(-1, d)[:length[s]].astype(np.float64) for x in (keys, values))
            want.append(softmax(k @ q[s] / np.sqrt(d)) @ v)
        return max(gap(c.got("y"), want), gap(c.got("y"), nine.decode(q, keys, values, table, length)))
    return error, 1e-5


def strassen(c):
    n = c.between(1, 5) * 2 ** c.between(0, 6)
    a, b = (c.give(name, c.rng.integers(-9, 10, (n, n)).astype(np.float64)) for name in "AB")
    c.want("C")
    return lambda: gap(c.got("C"), a @ b), 0


def mergesort(c):
    x = c.give("x", c.rng.integers(-1000, 1000, c.between(0, 9000 + c.size)).astype(np.int64))
    c.want("y")
    return lambda: 0 if np.array_equal(c.got("y"), np.sort(x)) else np.inf, 0


def moe(c):
    t, d, e, h = c.between(1, 40 + c.size), c.between(1, 24), c.between(1, 8), c.between(1, 24)
    x, gate, up, down = c.f32("x", t, d), c.f32("gate", d, e), c.f32("up", e, d, h), c.f32("down", e, h, d)
    c.give("y", np.zeros((t, d), np.float32))
    c.want("y")

    def error():
        want = np.zeros((t, d))
        for i, best in enumerate(np.argmax(x @ gate, axis=1)):
            u = x[i].astype(np.float64) @ up[best]
            want[i] = (0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u ** 3)))) @ down[best]
        return gap(c.got("y"), want)
    return error, 1e-4


def mlp(c):
    n, i, h, o = 32 * c.between(1, 4), c.between(1, 12), c.between(1, 24), c.between(1, 4)
    x, t = c.f32("x", n, i), c.f32("t", n, o)
    c.sizes["H"] = h
    names = [("net.w1", (i, h)), ("net.b1", (h,)), ("net.w2", (h, o)), ("net.b2", (o,))]
    net = [c.f32(name, *shape).astype(np.float64) for name, shape in names]
    c.set(epochs=3)
    c.want(*(name for name, _ in names))

    def error():
        w1, b1, w2, b2 = (a.copy() for a in net)
        for _ in range(3):
            for k in range(0, n, 32):
                a, want = x[k:k + 32], t[k:k + 32]
                hidden = np.maximum(a @ w1 + b1, 0)
                d = 2 * (hidden @ w2 + b2 - want) / want.size
                dh = (d @ w2.T) * (hidden > 0)
                w1, b1, w2, b2 = w1 - .1 * (a.T @ dh), b1 - .1 * dh.sum(0), w2 - .1 * (hidden.T @ d), b2 - .1 * d.sum(0)
        return max(gap(c.got(name), want) for (name, _), want in zip(names, (w1, b1, w2, b2)))
    return error, 1e-4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(c):
    b, t, i, h = c.between(1, 5), c.between(1, 12), c.between(1, 10), c.between(1, 10)
    x = c.f32("x", b, t, i)
    c.sizes["H"] = h
    nets = []
    for name, width in (("first", i), ("second", h)):
        nets.append([c.f32(name + ".w", 4, width, h), c.f32(name + ".u", 4, h, h), c.f32(name + ".b", 4, h)])
    c.want("y")

    def error():
        state = [[np.zeros((b, h)), np.zeros((b, h))] for _ in nets]
        want = np.zeros((b, t, h))
        for k in range(t):
            below = x[:, k]
            for (w, u, bias), s in zip(nets, state):
                g = [below @ w[n].astype(np.float64) + s[0] @ u[n] + bias[n] for n in range(4)]
                s[1] = sigmoid(g[1]) * s[1] + sigmoid(g[0]) * np.tanh(g[3])
                s[0] = below = sigmoid(g[2]) * np.tanh(s[1])
            want[:, k] = below
        return gap(c.got("y"), want)
    return error, 1e-5


def transformer(c):
    heads, s, h = c.between(1, 4), 64 * c.between(1, 3), c.between(1, 48)
    d = heads * 4 * c.between(1, 4)
    x = c.f32("x", s, d)
    c.sizes["H"] = h
    shapes = dict(norm1=(d,), q=(d, d), k=(d, d), v=(d, d), o=(d, d), norm2=(d,), gate=(d, h), up=(d, h), down=(h, d))
    net = {name: c.f32("net." + name, *shape).astype(np.float64) for name, shape in shapes.items()}
    c.set(heads=heads)
    c.want("y")

    def norm(a, w):
        return a / np.sqrt((a * a).mean(axis=1, keepdims=True) + 1e-6) * w

    def error():
        n, w = norm(x.astype(np.float64), net["norm1"]), d // heads
        q, k, v = n @ net["q"], n @ net["k"], n @ net["v"]
        a = np.concatenate([attention(*(m[:, i * w:(i + 1) * w] for m in (q, k, v))) for i in range(heads)], axis=1)
        y = x + a @ net["o"]
        n = norm(y, net["norm2"])
        g = n @ net["gate"]
        return gap(c.got("y"), y + (g * sigmoid(g) * (n @ net["up"])) @ net["down"])
    return error, 1e-4


def conv(c):
    b, k, ch, r, s, h, w = (c.between(1, m) for m in (3, 6, 4, 5, 5, 20 + c.size // 4, 20 + c.size // 4))
    x, weight = c.f32("x", b, ch, h + r - 1, w + s - 1), c.f32("w", k, ch, r, s)
    c.sizes.update(H=h, W=w)
    c.want("y")

    def error():
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (r, s), axis=(2, 3))
        return max(gap(c.got("y"), np.einsum("kcpq,bcijpq->bkij", weight, windows)), gap(c.got("y"), nine.conv2d(x, weight)))
    return error, 1e-5


def topk(c):
    t, d, e, h = c.between(1, 40 + c.size), c.between(1, 24), c.between(1, 8), c.between(1, 24)
    x, gate, up, down = c.f32("x", t, d), c.f32("gate", d, e), c.f32("up", e, d, h), c.f32("down", e, h, d)
    c.give("y", np.zeros((t, d), np.float32))
    k = c.between(1, e)
    c.set(k=k)
    c.want("y")

    def error():
        want = np.zeros((t, d))
        for i, score in enumerate(x @ gate):
            best = np.argsort(-score)[:k]
            for share, j in zip(softmax(score[best].astype(np.float64)), best):
                u = x[i].astype(np.float64) @ up[j]
                want[i] += share * ((0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u ** 3)))) @ down[j])
        plain = nine.mixture(x, gate, up, down, np.zeros((t, d)), k)
        return max(gap(c.got("y"), want), gap(c.got("y"), plain))
    return error, 1e-4


def multigrid(c):
    m = 2 ** c.between(0, 4 + c.size // 500)
    n, cycles, c.sizes["M"] = 2 * m + 1, 12, m
    f = c.f64("f", n, n)
    c.give("u", np.zeros((n, n)))
    c.set(cycles=cycles)
    c.want("u")

    def error():
        u, inner = c.got("u"), slice(1, -1)
        around = u[:-2, inner] + u[2:, inner] + u[inner, :-2] + u[inner, 2:]
        plain = np.zeros((n, n))
        nine.multigrid(plain, f, cycles)
        return gap((4 * u[inner, inner] - around) * (2 * m) ** 2, f[inner, inner]) + float(np.abs(u[[0, -1]]).max()) + gap(u, plain)
    return error, 1e-7


def qr(c):
    n = c.between(1, 100 + c.size)
    a = c.f64("A", n + c.between(0, 60), n)
    c.want("A")

    def error():
        r, plain = np.triu(c.got("A")[:n]), a.copy()
        nine.qr(plain)
        return max(gap(r.T @ r, a.T @ a), gap(np.abs(r), np.abs(np.linalg.qr(a, mode="r"))), gap(c.got("A"), plain))
    return error, 1e-9


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


def rfft(c):
    n = c.between(1, 40) * 2 ** c.between(0, 6)
    x = c.f64("x", n, 2)
    c.want("y")
    pairs = lambda z: np.stack([z.real, z.imag], axis=1)
    x = x @ [1, 1j]
    return lambda: max(gap(c.got("y"), pairs(want)) for want in (np.fft.fft(x), nine.rfft(x))), 1e-11


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
    a, b = (np.where(c.rng.random(shape) < 3 / shape[1], c.rng.integers(-9, 10, shape), 0).astype(np.float64) for shape in ((r, k), (k, n)))
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


ALL = (vadd, bgemm, treesum, flash, chol, jacobi, lu, floyd, fft, cg, kmeans, pagerank, paged, strassen, mergesort, moe, mlp, lstm,
       transformer, conv, topk, multigrid, qr, pcg, rfft, bfs, spgemm)


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print("%s\n%s\nexit code %d" % (" ".join(command), done.stdout.decode(errors="replace"), done.returncode))
    return done.returncode == 0


def add_up(trace, limit=0.01):
    """The causes of each row sum up to the time of the run, which is the longest row's."""
    with open(trace, encoding="utf-8") as f:
        rows = {name: sum(row.values()) / (int(name.split(" x ")[1]) if " x " in name else 1) for name, row in json.load(f)["otherData"]["causes"].items()}
    wall = rows["orchestrator"]
    wrong = {name: total for name, total in rows.items() if abs(total - wall) > limit * wall}
    if wrong or not wall > 0 or len(rows) < 2:
        print("WRONG causes of %s: %s, wall %d" % (trace, wrong, wall))
    return not wrong


def run(program, example, folder, seed, size, options, launcher=()):
    c = Case(folder, np.random.default_rng(seed), size)
    error, limit = example(c)
    command = list(launcher) + [program] + c.arguments + options
    if not call(command) or ("--trace" in options and not add_up(options[options.index("--trace") + 1])):
        return False
    found = error()
    good = found <= limit
    print("%-12s %s error %.1e, at most %.0e, seed %d %s" % (example.__name__, "ok   " if good else "WRONG", found, limit, seed, " ".join(options)))
    if not good:
        print("  " + " ".join(command))
    return good


def with_least_heap(program, example, folder, seed, a, options):
    """`--heap least`: twice the least power of two with which the serial engine gets through on sim."""
    if "least" not in options:
        return options
    at = options.index("least")
    c = Case(folder, np.random.default_rng(seed), a.size)
    example(c)
    for power in range(12, 28):
        tried = options[:at] + [str(1 << power)] + options[at + 1:]
        if subprocess.run([program, "--engine", "serial", "--quiet"] + c.arguments + tried, capture_output=True).returncode == 0:
            return options[:at] + [str(2 << power)] + options[at + 1:]
    return options[:at] + [str(1 << 28)] + options[at + 1:]


MADE = set()  # folders of kernels; those of an earlier run may be of another compiler


def run_on_stub(ptoc, program, example, folder, seed, a, options):
    """Bit-identical to the serial engine on sim (--check), and the stub has nothing to say against it."""
    kernels, log = os.path.join(folder, "stub"), os.path.join(folder, "stub.log")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ascend_kernels.py")
    if kernels not in MADE and not call([sys.executable, script, ptoc, os.path.join(EXAMPLES, example.__name__ + ".pto"), kernels]):
        return False
    MADE.add(kernels)
    options = with_least_heap(program, example, folder, seed, a, options)
    if os.path.exists(log):
        os.remove(log)
    os.environ.update(LD_LIBRARY_PATH=a.stub, PTO_STUB_LOG=log)
    good = run(program, example, folder, seed, a.size, options + ["--backend", "ascend", "--kernels", os.path.join(kernels, "map.ini"), "--check"])
    del os.environ["LD_LIBRARY_PATH"], os.environ["PTO_STUB_LOG"]
    with open(log, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for line in lines:
        if line.startswith(("MISTAKE", "LEAK")):
            print("  " + line)
    print("  " + lines[-1])
    return good and lines[-1].startswith("# ABI stub, not run on Ascend") and lines[-1].endswith(" 0 mistakes, 0 leaks")


def is_sanitized(ptoc):
    """Is it of a build with a sanitizer?  Its checks take the C compiler twice as long with -O2."""
    with open(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(ptoc))), "share", "pto", "cflags"), encoding="utf-8") as f:
        return "-fsanitize" in f.read()


def run_all(ptoc, example, a):
    folder = os.path.join(a.folder, example.__name__)
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "program")
    # With a stub or an object it is about transfers and schedulers: the kernels of a usual build run without these options.
    plain = ["-O0"] if a.stub or a.link else ["-O1"] if is_sanitized(ptoc) else []
    plain += ["--plan=apart"] if a.stub else []  # a device has no joined kernels, see docs/ascend.md
    if not call([ptoc, "build", "-Werror", "--cpu=native", *plain, os.path.join(EXAMPLES, example.__name__ + ".pto")] + (a.link or []) + ["-o", program]):
        return False
    if a.stub:
        return all([run_on_stub(ptoc, program, example, folder, seed, a, options.split())
                    for seed in range(a.seed, a.seed + a.repeat) for options in a.options or [""]])
    return all([run(program, example, folder, seed, a.size, options.split(), launcher.split())
                for launcher in a.launcher or [""] for seed in range(a.seed, a.seed + a.repeat) for options in a.options or [""]])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--list", action="store_true")
    p.add_argument("ptoc", nargs="?")
    p.add_argument("name", nargs="?")
    p.add_argument("folder", nargs="?")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--size", type=int, default=0)
    p.add_argument("--stub")
    p.add_argument("--link", action="append", help="an object that every example is linked with")
    p.add_argument("--launch", dest="launcher", action="append", help="a command that is given the program and its arguments")
    p.add_argument("--with", dest="options", action="append")
    a = p.parse_args()
    if a.list:
        print("\n".join(e.__name__ for e in ALL))
        return
    if not a.folder:
        p.error("PTOC, NAME and FOLDER are needed")
    examples = {e.__name__: e for e in ALL}
    names = list(examples) if a.name == "all" else a.name.split(",")
    unknown = [name for name in names if name not in examples]
    if unknown:
        p.error("no example '%s'" % unknown[0])
    chosen = [examples[name] for name in names]
    sys.exit(0 if all([run_all(a.ptoc, e, a) for e in chosen]) else 1)


if __name__ == "__main__":
    main()
