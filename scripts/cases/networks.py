"""networks.py - examples of neural networks: attention, mixtures of experts, convolution, recurrent and trained ones.

Idea       each function fills a Case and gives the error of its results, as a function, and the largest error that
           it may have.
Tests      test/lit/examples/results.test
"""
import numpy as np

import nine

from .case import gap


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


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


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
        want = np.einsum("kcpq,bcijpq->bkij", weight, windows)
        return max(gap(c.got("y"), want), gap(c.got("y"), nine.conv2d(x, weight)))
    return error, 1e-5
