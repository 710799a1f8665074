"""kernels.py - the kernels that the interpreter can run, again, in NumPy.

Idea       a kernel is a function of its formals in order: tensors as NumPy views, scalars as numbers.  It is found by the symbol of
           `extern` or the operation of `@opcode`, else by its name.
Owner      the six programs of the definition, std/, and the kernels whose C bodies generate.py writes (random_kernels.py).
Invariant  only the arguments are touched; a value that is returned and is not 0 fails the task.
Tests      test/random/check_programs.py
"""
import numpy as np

BY_NAME = {}


def kernel(*names):
    def add(function):
        for name in names:
            assert name not in BY_NAME, name
            BY_NAME[name] = function
        return function
    return add


def find(symbol, name):
    if symbol in BY_NAME:
        return BY_NAME[symbol]
    return r_wide if name.startswith("wide") else BY_NAME[name]


def each_type(stem, types=("f32", "f64")):
    return [stem + "_" + t for t in types]


# ---- std/tile.pto ------------------------------------------------------------------------------------------------------------


@kernel(*each_type("pto_tile_gemm"), "matmul")
def gemm(a, b, p):
    p[...] = a @ b


@kernel(*each_type("pto_tile_gemm_acc"))
def gemm_acc(a, b, c):
    c += a @ b


@kernel(*each_type("pto_tile_gemm_nt"))
def gemm_nt(a, b, p):
    p[...] = a @ b.T


@kernel("add_to")
def add_to(p, c):
    c += p


@kernel("add", "add1")
def add(a, b, c):
    c[...] = a + b


@kernel("sub")
def sub(a, b, c):
    c[...] = a - b


@kernel("mul")
def mul(a, b, c):
    c[...] = a * b


@kernel("scale")
def scale(a, b, s):
    b[...] = a * a.dtype.type(s)


@kernel("axpy")
def axpy(x, y, s):
    y += x * x.dtype.type(s)


@kernel("fill")
def fill(a, v):
    a[...] = a.dtype.type(v)


@kernel(*each_type("pto_tile_copy"), "copy")
def copy(a, b):
    b[...] = a


@kernel(*each_type("pto_tile_transpose"), "transpose")
def transpose(a, b):
    b[...] = a.T


@kernel("relu")
def relu(x, y):
    y[...] = np.maximum(x, 0)


@kernel("gather_rows")
def gather_rows(src, index, dst):
    if ((index < 0) | (index >= src.shape[0])).any():
        return 2
    dst[...] = src[index]
    return 0


@kernel("scatter_rows")
def scatter_rows(src, index, dst):
    if ((index < 0) | (index >= dst.shape[0])).any():
        return 2
    for i, row in enumerate(index):
        dst[row] = src[i]
    return 0


# ---- the six programs --------------------------------------------------------------------------------------------------------


@kernel("sum_leaf")
def sum_leaf(x, s):
    total = 0.0
    for value in x:
        total += float(value)
    s[0] = np.float32(total)


@kernel("zero1")
def zero1(d):
    d[0] = 0


@kernel("store")
def store(x, v):
    x[0] = v


@kernel("sweep")
def sweep(u, v, delta):
    around = u[1:-1, :-2] + u[1:-1, 2:]
    around = around + u[:-2, 1:-1] + u[2:, 1:-1]
    x = np.float32(0.25) * around
    change = np.abs(x - u[1:-1, 1:-1])
    v[...] = x
    delta[0] = max(delta[0], change.max()) if change.size else delta[0]


@kernel("qk")
def qk(q, k, s):
    s[...] = (q.astype("f8") @ k.T.astype("f8") / np.sqrt(q.shape[1])).astype("f4")


@kernel("online")
def online(s, m, l, p, r, diagonal):
    rows, columns = s.shape
    seen = np.tril(np.ones((rows, columns), bool)) if diagonal else np.ones((rows, columns), bool)
    scores = np.where(seen, s, np.float32(-np.inf))
    new = np.maximum(m, scores.max(axis=1))
    p[...] = np.where(seen, np.exp(scores - new[:, None]), 0)
    r[...] = np.exp(m - new)
    l[...] = l * r + p.sum(axis=1)
    m[...] = new


@kernel("rescale_pv")
def rescale_pv(p, v, r, o):
    o[...] = o * r[:, None] + p @ v


@kernel("finish")
def finish(o, l, y):
    y[...] = o / l[:, None]


@kernel("pto_la_potrf_f64")
def potrf(a, info):
    low = np.tril(a)
    a[...] = np.where(np.tri(len(a), dtype=bool), np.linalg.cholesky(low + np.tril(low, -1).T), a)


@kernel("pto_la_trsm_f64")
def trsm(l, b):
    b[...] = np.linalg.solve(np.tril(l), b.T).T


@kernel("pto_la_syrk_f64")
def syrk(a, c):
    c[...] = np.where(np.tri(len(c), dtype=bool), c - a @ a.T, c)


@kernel("pto_la_gemm_nt_sub_f64")
def gemm_nt_sub(a, b, c):
    c -= a @ b.T


# ---- the kernels of random programs: integers modulo 113 -----------------------------------------------------------------------


def whole(a):
    return a.astype(np.int64)


def modulus(a):
    return 2 if a.dtype == np.bool_ else 113


def store_modulo(a, value):
    a[...] = value % modulus(a)


def ramp_of(shape):
    total = np.zeros(shape, np.int64)
    for d, factor in zip(range(len(shape)), (7, 3, 5, 2, 11, 13, 4, 6)):
        total += factor * np.arange(shape[d]).reshape([-1 if e == d else 1 for e in range(len(shape))])
    return total


def of_ranks(stem):
    return kernel(*[stem + r for r in "12345678"])


@of_ranks("fill")
def r_fill(a, v):
    store_modulo(a, abs(v))


@of_ranks("ramp")
def r_ramp(a, v):
    store_modulo(a, abs(v) + ramp_of(a.shape))


@of_ranks("copy")
def r_copy(a, b):
    store_modulo(b, whole(a))


@of_ranks("plus")
def r_plus(a, b, c):
    store_modulo(c, whole(a) + 2 * whole(b))


@of_ranks("mix")
def r_mix(a, c, s):
    store_modulo(c, 3 * whole(c) + whole(a) + abs(s))


def r_wide(*arguments):
    *ins, c, s = arguments
    store_modulo(c, 3 * whole(c) + sum((n % 11 + 1) * whole(a) for n, a in enumerate(ins)) + abs(s))


@of_ranks("bump")
def r_bump(c, s):
    store_modulo(c, 5 * whole(c) + abs(int(s)) + 1)


@of_ranks("twin")
def r_twin(a, b, c):
    store_modulo(b, whole(a) + 1)
    store_modulo(c, 2 * whole(a) + 3)


@of_ranks("gate")
def r_gate(a, b, c, flag, x):
    store_modulo(c, whole(a) + abs(int(x)) if flag else 4 * whole(b) + 9)


@of_ranks("pile")
def r_pile(a, c):
    store_modulo(c, whole(c) + whole(a))


@of_ranks("cast")
def r_cast(a, b):
    store_modulo(b, whole(a) + 1)


@of_ranks("total")
def r_total(a, s):
    t = 1
    for value in whole(a).ravel().tolist():
        t = (3 * t + value) % 113
    s[0] = t % modulus(s)


@of_ranks("tally")
def r_tally(a, s):
    s[0] = (int(s[0]) + int(whole(a).sum())) % modulus(s)


@of_ranks("flat")
def r_flat(c):
    store_modulo(c, 2 * whole(c) + np.arange(c.size).reshape(c.shape))


@kernel("halo1")
def r_halo1(u, v):
    u = whole(u)
    store_modulo(v, u[:-2] + 2 * u[1:-1] + 3 * u[2:])


@kernel("halo2")
def r_halo2(u, v):
    u = whole(u)
    store_modulo(v, u[:-2, 1:-1] + 2 * u[1:-1, :-2] + 3 * u[1:-1, 2:] + 4 * u[2:, 1:-1])


@kernel("flip")
def r_flip(a, b):
    store_modulo(b, whole(a).T)


@kernel("prod")
def r_prod(a, b, c):
    store_modulo(c, whole(c) + whole(a) @ whole(b))


@kernel("outer")
def r_outer(a, b, c):
    store_modulo(c, whole(a)[:, None] + 2 * whole(b)[None, :])


@kernel("rows")
def r_rows(a, v):
    t = np.zeros(a.shape[0], np.int64)
    for j in range(a.shape[1]):
        t = (2 * t + whole(a[:, j])) % 113
    store_modulo(v, t)


@kernel("pairs")
def r_pairs(a, b):
    store_modulo(b, whole(a)[0::2] + 3 * whole(a)[1::2])


@kernel("spread")
def r_spread(a, b):
    b[0] = 5 % modulus(b)
    b[1::2] = whole(a) % modulus(b)
    b[2::2] = (whole(a) + 1) % modulus(b)


@of_ranks("stir")
def r_stir(c, s):
    t = (3 * whole(c) + ramp_of(c.shape)) % modulus(c)
    if t.size:
        store_modulo(c, t + t.ravel()[0] + sum(q * q for q in range(s, 2 * s)))


def r_peak(by):
    def change(a, s):
        t = 1
        for value in whole(a).ravel().tolist():
            t = (3 * t + value) % modulus(s)
        s[0] = by(s[0], s.dtype.type(t))
    return change


def r_heap(by):
    def change(a, c):
        c[...] = by(c, a)
    return change


for word, operation in (("max", np.maximum), ("min", np.minimum), ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
                        ("sum", np.add), ("prod", lambda a, b: a * (whole(b) % 2).astype(b.dtype))):
    of_ranks("peak_" + word)(r_peak(operation))
    of_ranks("heap_" + word)(r_heap(operation))


@kernel("relax1")
def r_relax1(u):
    t = whole(u)
    store_modulo(u[1:-1], t[:-2] + 2 * t[1:-1] + 3 * t[2:])


@kernel("relax2")
def r_relax2(u):
    t = whole(u)
    store_modulo(u[1:-1, 1:-1], t[:-2, 1:-1] + 2 * t[1:-1, :-2] + 3 * t[1:-1, 2:] + 4 * t[2:, 1:-1])


@kernel("even1")
def r_even1(u):
    t = whole(u)
    store_modulo(u[::2], 2 * t[::2] + t[1::2])


@kernel("edge2")
def r_edge2(a, u):
    t = whole(u)
    store_modulo(u[1:-1], 3 * t[1:-1] + whole(a) + t[0])


@kernel("late1")
def r_late1(u, k):
    store_modulo(u[k:], 3 * whole(u)[k:] + np.arange(k, u.size))


@kernel("odd")
def r_odd(a, n):
    n[0] = int((whole(a) % 2).sum()) % 113


@kernel("keep")
def r_keep(a, b):
    odd = whole(a)[whole(a) % 2 == 1][:b.size]
    store_modulo(b, np.concatenate([odd, np.arange(odd.size, b.size)]))
