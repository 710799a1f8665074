"""grids.py - examples of grids and transforms: relaxation, multigrid, Fourier.

Idea       each function fills a Case and gives the error of its results, as a function, and the largest error that
           it may have.
Tests      test/lit/examples/results.test
"""
import numpy as np

import nine

from .case import gap


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
        residual = gap((4 * u[inner, inner] - around) * (2 * m) ** 2, f[inner, inner])
        return residual + float(np.abs(u[[0, -1]]).max()) + gap(u, plain)
    return error, 1e-7


def fft(c):
    n1, n2 = c.between(1, 70 + c.size), c.between(1, 70 + c.size)
    x = c.f64("x", n1, n2, 2)
    c.want("z")

    def error():
        z, want = c.got("z"), np.fft.fft((x[..., 0] + 1j * x[..., 1]).reshape(-1)).reshape(n2, n1)
        return max(gap(z[..., 0], want.real), gap(z[..., 1], want.imag))
    return error, 1e-11


def rfft(c):
    n = c.between(1, 40) * 2 ** c.between(0, 6)
    x = c.f64("x", n, 2)
    c.want("y")
    pairs = lambda z: np.stack([z.real, z.imag], axis=1)
    x = x @ [1, 1j]
    return lambda: max(gap(c.got("y"), pairs(want)) for want in (np.fft.fft(x), nine.rfft(x))), 1e-11
