"""problems.py - the computations of the table of whole programs: their inputs, the reference in f64, and who computes them how.

Idea     a Problem makes arrays from a seed.  Each row of it is a function of those arrays that returns (reset, run, results): `run` is what is
         timed, `reset` puts back what the last run overwrote.  NumPy and PyTorch are written as their users write them, with what these
         libraries have; the C is in omp/."""
import ctypes
import os
from dataclasses import dataclass

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
F = np.float32


@dataclass
class Problem:
    name: str
    size: str
    inputs: object      # random generator -> {name: array}
    reference: object   # arrays in f64 -> list of results
    ours: object        # (ptoc, arrays) -> (reset, run, results)
    numpy: object       # (np, arrays) -> the same
    torch: object       # (torch, arrays as tensors) -> the same
    omp: object         # arrays -> (arrays and room for results in the order of C, extents, which are changed, which are results)
    tolerance: float = 1e-4


def nothing():
    pass


def restore(changed):
    """A function that copies the present values of the arrays back."""
    kept = [(array, array.copy() if isinstance(array, np.ndarray) else array.clone()) for array in changed]

    def reset():
        for array, old in kept:
            array[...] = old
    return reset


def wide(arrays):
    return {name: a.astype(np.float64) if a.dtype.kind == "f" else a for name, a in arrays.items()}


def program(ptoc, name, **constants):
    own = os.path.join(HERE, name + ".pto")
    return ptoc.compile(own if os.path.exists(own) else os.path.join(EXAMPLES, name + ".pto"), **constants)


def once(run):
    """A row whose results are what its last run returned."""
    last = []

    def timed():
        last[:] = [run()]
    return nothing, timed, lambda: last


def compiled(library, pointers, extents, changed, results):
    pointer = (ctypes.c_void_p * len(pointers))(*(p.ctypes.data for p in pointers))
    extent = (ctypes.c_int64 * len(extents))(*extents)
    return restore(changed), lambda: library.whole(pointer, extent), lambda: results


# ---- rows of a matrix ----------------------------------------------------------------------------------------------------------

M, N = 4096, 1024


def softmax(x, exp=np.exp):
    e = exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def layernorm(d):
    x = d["x"]
    y = x - x.mean(axis=1, keepdims=True)
    y /= np.sqrt((y * y).mean(axis=1, keepdims=True) + x.dtype.type(1e-5))
    y *= d["w"]
    y += d["b"]
    return y


def layernorm_torch(torch, d):
    return once(lambda: torch.nn.functional.layer_norm(d["x"], (N,), d["w"], d["b"], 1e-5))


# ---- Jacobi ----------------------------------------------------------------------------------------------------------------------

GRID, SWEEPS = 1024, 20


def jacobi_inputs(rng):
    u = rng.random((GRID + 2, GRID + 2), dtype=F)
    return {"u": u, "v": u.copy()}


def jacobi_run(u, v, largest):
    for k in range(SWEEPS):
        a, b = (u, v) if k % 2 == 0 else (v, u)
        x = a[1:-1, :-2] + a[1:-1, 2:]
        x += a[:-2, 1:-1]
        x += a[2:, 1:-1]
        x *= 0.25
        b[1:-1, 1:-1] = x
        if k % 2 and largest(abs(x - a[1:-1, 1:-1])) <= 0:
            break


def jacobi_reference(d):
    jacobi_run(d["u"], d["v"], np.max)
    return [d["u"]]


def jacobi_ours(ptoc, d):
    call = program(ptoc, "jacobi").jacobi
    sweeps = np.zeros(1, np.int64)
    return restore([d["u"], d["v"]]), lambda: call(d["u"], d["v"], sweeps, tol=0.0, max_sweeps=SWEEPS), lambda: [d["u"]]


# ---- k-means ---------------------------------------------------------------------------------------------------------------------

PIXELS, COLOURS, ROUNDS = 1 << 18, 16, 10


def kmeans_inputs(rng):
    pixel = rng.integers(0, 256, (PIXELS, 3)).astype(np.uint8)
    return {"pixel": pixel, "colour": pixel[:COLOURS].astype(F), "label": np.full(PIXELS, -1, np.int32)}


def kmeans_run(pixel, colour, label):
    for _ in range(ROUNDS):
        far = [((pixel - c) ** 2).sum(axis=1) for c in colour]
        best = np.argmin(far, axis=0)
        count = np.bincount(best, minlength=COLOURS)
        for d in range(3):
            total = np.bincount(best, pixel[:, d], COLOURS)
            colour[count > 0, d] = total[count > 0] / count[count > 0]
        same = np.array_equal(best, label)
        label[:] = best
        if same:
            break


def kmeans_reference(d):
    kmeans_run(d["pixel"].astype(np.float64), d["colour"], d["label"])
    return [d["colour"]]


def kmeans_numpy(_, d):
    return (restore([d["colour"], d["label"]]), lambda: kmeans_run(d["pixel"].astype(F), d["colour"], d["label"]), lambda: [d["colour"]])


def kmeans_torch(torch, d):
    def run():
        pixel = d["pixel"].to(torch.float32)
        for _ in range(ROUNDS):
            best = torch.cdist(pixel, d["colour"], compute_mode="donot_use_mm_for_euclid_dist").argmin(dim=1)
            count = torch.bincount(best, minlength=COLOURS)
            total = torch.zeros(COLOURS, 3, dtype=torch.float64).index_add_(0, best, pixel.to(torch.float64))
            d["colour"][count > 0] = (total[count > 0] / count[count > 0][:, None]).to(torch.float32)
            same = torch.equal(best, d["label"].to(torch.int64))
            d["label"].copy_(best)
            if same:
                break
    return restore([d["colour"], d["label"]]), run, lambda: [d["colour"]]


def kmeans_ours(ptoc, d):
    call = program(ptoc, "kmeans", PIECE=1 << 13).kmeans  # a task costs 1 us here, and its pixels 40
    return (restore([d["colour"], d["label"]]), lambda: call(d["pixel"], d["colour"], d["label"], max_rounds=ROUNDS),
            lambda: [d["colour"]])


# ---- convolution -----------------------------------------------------------------------------------------------------------------

CHANNELS, SIDE = 64, 56


def conv_inputs(rng):
    return {"x": rng.standard_normal((1, CHANNELS, SIDE + 2, SIDE + 2), dtype=F), "w": rng.standard_normal((CHANNELS, CHANNELS, 3, 3), dtype=F)}


def conv(d):
    windows = np.lib.stride_tricks.sliding_window_view(d["x"], (3, 3), axis=(2, 3))
    return np.ascontiguousarray(np.tensordot(d["w"], windows[0], axes=((1, 2, 3), (0, 3, 4))))[None]


def conv_ours(ptoc, d):
    call = program(ptoc, "conv").conv2d
    y = np.zeros((1, CHANNELS, SIDE, SIDE), F)
    return nothing, lambda: call(d["x"], d["w"], y), lambda: [y]


def conv_omp(d):
    y = np.zeros((1, CHANNELS, SIDE, SIDE), F)
    return [d["x"], d["w"], y], [1, CHANNELS, CHANNELS, 3, 3, SIDE, SIDE], [], [y]


# ---- training of two layers --------------------------------------------------------------------------------------------------------

SAMPLES, IN, HIDDEN, OUT, BATCH, RATE = 1024, 784, 256, 10, 32, 0.1
NET = ["w1", "b1", "w2", "b2"]


def mlp_inputs(rng):
    return {"x": rng.random((SAMPLES, IN), dtype=F), "t": rng.random((SAMPLES, OUT), dtype=F),
            "w1": (rng.standard_normal((IN, HIDDEN)) / 28).astype(F), "b1": np.zeros(HIDDEN, F),
            "w2": (rng.standard_normal((HIDDEN, OUT)) / 16).astype(F), "b2": np.zeros(OUT, F)}


def mlp_run(d, relu, rows):
    w1, b1, w2, b2 = (d[name] for name in NET)
    for k in range(0, SAMPLES, BATCH):
        x, t = d["x"][k:k + BATCH], d["t"][k:k + BATCH]
        h = relu(x @ w1 + b1)
        e = (h @ w2 + b2 - t) * (2 / (BATCH * OUT))
        dh = (e @ w2.T) * (h > 0)
        e *= RATE
        w2 -= h.T @ e
        b2 -= rows(e)
        dh *= RATE
        w1 -= x.T @ dh
        b1 -= rows(dh)


def mlp_reference(d):
    mlp_run(d, lambda y: np.maximum(y, 0), lambda e: e.sum(axis=0))
    return [d[name] for name in NET]


def mlp_numpy(_, d):
    return restore([d[n] for n in NET]), lambda: mlp_reference(d), lambda: [d[n] for n in NET]


def mlp_torch(torch, d):
    return (restore([d[n] for n in NET]), lambda: mlp_run(d, torch.relu, lambda e: e.sum(dim=0)), lambda: [d[n] for n in NET])


def mlp_ours(ptoc, d):
    call = program(ptoc, "mlp").train
    net = {name: d[name] for name in NET}
    return restore(list(net.values())), lambda: call(d["x"], d["t"], net, epochs=1), lambda: list(net.values())


# ---- LSTM ----------------------------------------------------------------------------------------------------------------------------

SEQUENCES, STEPS, WIDTH = 32, 32, 128
CELLS = ["w1", "u1", "b1", "w2", "u2", "b2"]


def lstm_inputs(rng):
    d = {"x": rng.standard_normal((SEQUENCES, STEPS, WIDTH), dtype=F)}
    for layer in "12":
        for name in "wu":
            d[name + layer] = (rng.standard_normal((4, WIDTH, WIDTH)) / 12).astype(F)
        d["b" + layer] = rng.standard_normal((4, WIDTH), dtype=F)
    return d


def lstm(d):
    below = d["x"]
    one = below.dtype.type(1)
    for layer in "12":
        w, u, b = (d[name + layer] for name in "wub")
        g = below.reshape(-1, WIDTH) @ w
        g += b[:, None, :]
        g = g.reshape(4, SEQUENCES, STEPS, WIDTH)
        h, c, y = np.zeros_like(g[0, :, 0]), np.zeros_like(g[0, :, 0]), np.empty_like(g[0])
        for t in range(STEPS):
            z = g[:, :, t] + h @ u
            i, f, o = one / (one + np.exp(-z[:3]))
            c = f * c + i * np.tanh(z[3])
            h = o * np.tanh(c)
            y[:, t] = h
        below = y
    return below


def lstm_torch(torch, d):
    net = torch.nn.LSTM(WIDTH, WIDTH, 2, batch_first=True)
    order = [0, 1, 3, 2]  # input, forget, candidate, output
    with torch.no_grad():
        for k, layer in enumerate("12"):
            for name, own in (("w", "weight_ih_l%d"), ("u", "weight_hh_l%d")):
                getattr(net, own % k).copy_(d[name + layer][order].transpose(1, 2).reshape(4 * WIDTH, WIDTH))
            getattr(net, "bias_ih_l%d" % k).copy_(d["b" + layer][order].reshape(-1))
            getattr(net, "bias_hh_l%d" % k).zero_()
    return once(lambda: net(d["x"])[0])


def lstm_ours(ptoc, d):
    call = program(ptoc, "lstm").lstm
    y = np.zeros((SEQUENCES, STEPS, WIDTH), F)
    first, second = ({name: d[name + layer] for name in "wub"} for layer in "12")
    return nothing, lambda: call(d["x"], first, second, y), lambda: [y]


def lstm_omp(d):
    y = np.zeros((SEQUENCES, STEPS, WIDTH), F)
    return [d["x"], *(d[name] for name in CELLS), y], [SEQUENCES, STEPS, WIDTH, WIDTH], [], [y]


# ---- attention and a block of a transformer ---------------------------------------------------------------------------------------

QUERIES, HEAD = 2048, 64


def flash_inputs(rng):
    return {name: rng.standard_normal((QUERIES, HEAD), dtype=F) for name in "QKV"}


def attention(q, k, v):
    s = (q / q.dtype.type(np.sqrt(q.shape[-1]))) @ np.swapaxes(k, -1, -2)
    s[..., np.triu(np.ones(s.shape[-2:], bool), 1)] = -np.inf
    return softmax(s) @ v


def attention_torch(torch, q, k, v):
    s = torch.matmul(q / q.shape[-1] ** 0.5, k.transpose(-1, -2))
    s.masked_fill_(torch.ones(s.shape[-2:], dtype=torch.bool).triu_(1), -torch.inf)
    return torch.matmul(torch.softmax(s, dim=-1), v)


def flash_ours(ptoc, d):
    call = program(ptoc, "flash").attention
    y = np.zeros((QUERIES, HEAD), F)
    return nothing, lambda: call(d["Q"], d["K"], d["V"], y), lambda: [y]


def flash_omp(d):
    y = np.zeros((QUERIES, HEAD), F)
    return [d["Q"], d["K"], d["V"], y], [QUERIES, HEAD], [], [y]


ROWS, DIM, WIDE, HEADS = 512, 512, 1408, 8
BLOCK = dict(norm1=(DIM,), q=(DIM, DIM), k=(DIM, DIM), v=(DIM, DIM), o=(DIM, DIM), norm2=(DIM,), gate=(DIM, WIDE), up=(DIM, WIDE),
             down=(WIDE, DIM))


def transformer_inputs(rng):
    d = {"x": rng.standard_normal((ROWS, DIM), dtype=F)}
    for name, shape in BLOCK.items():
        d[name] = (rng.standard_normal(shape) / np.sqrt(shape[0]) if len(shape) > 1 else 1 + rng.random(shape)).astype(F)
    return d


def norm(a, w):
    return a / np.sqrt((a * a).mean(axis=1, keepdims=True) + a.dtype.type(1e-6)) * w


def transformer(d):
    x = d["x"]
    n = norm(x, d["norm1"])
    q, k, v = ((n @ d[name]).reshape(ROWS, HEADS, -1).swapaxes(0, 1) for name in "qkv")
    y = x + attention(q, k, v).swapaxes(0, 1).reshape(ROWS, DIM) @ d["o"]
    n = norm(y, d["norm2"])
    g = n @ d["gate"]
    g *= n @ d["up"] / (x.dtype.type(1) + np.exp(-g))
    return y + g @ d["down"]


def transformer_torch(torch, d):
    def rms(a, w):
        return a * torch.rsqrt((a * a).mean(dim=1, keepdim=True) + 1e-6) * w

    def run():
        n = rms(d["x"], d["norm1"])
        q, k, v = ((n @ d[name]).view(ROWS, HEADS, -1).transpose(0, 1) for name in "qkv")
        y = torch.addmm(d["x"], attention_torch(torch, q, k, v).transpose(0, 1).reshape(ROWS, DIM), d["o"])
        n = rms(y, d["norm2"])
        return torch.addmm(y, torch.nn.functional.silu(n @ d["gate"]).mul_(n @ d["up"]), d["down"])
    return once(run)


def transformer_ours(ptoc, d):
    call = program(ptoc, "transformer").block
    y = np.zeros((ROWS, DIM), F)
    net = {name: d[name] for name in BLOCK}
    return nothing, lambda: call(d["x"], net, HEADS, y), lambda: [y]


def transformer_omp(d):
    y = np.zeros((ROWS, DIM), F)
    return [d["x"], *(d[name] for name in BLOCK), y], [ROWS, DIM, WIDE, HEADS], [], [y]


# ---- sums and Cholesky -----------------------------------------------------------------------------------------------------------

LONG, ORDER = 1 << 24, 2048


def cholesky_inputs(rng):
    g = rng.standard_normal((ORDER, ORDER))
    return {"A": g @ g.T + ORDER * np.eye(ORDER)}


def cholesky_ours(ptoc, d):
    call = program(ptoc, "chol").cholesky
    info = np.zeros(1, np.int32)
    return restore([d["A"], info]), lambda: call(d["A"], info), lambda: [np.tril(d["A"])]


def rows_ours(ptoc, d, entry, names):
    call = getattr(program(ptoc, "rows"), entry)
    y = np.zeros((M, N), F)
    return nothing, lambda: call(*(d[name] for name in names), y), lambda: [y]


def rows_omp(d, names):
    y = np.zeros((M, N), F)
    return [*(d[name] for name in names), y], [M, N], [], [y]


def total_omp(d):
    s = np.zeros(1, F)
    return [d["x"], s], [LONG], [], [s]


def total_ours(ptoc, d):
    call = program(ptoc, "treesum", LEAF=1 << 20).total  # 64 MB out of memory: a leaf costs 1 us beside its bytes
    s = np.zeros(1, F)
    return nothing, lambda: call(d["x"], s), lambda: [s]


PROBLEMS = [
    Problem("transformer", "512 x 512, 8 heads, 1408 wide", transformer_inputs, lambda d: [transformer(d)], transformer_ours,
            lambda _, d: once(lambda: transformer(d)), transformer_torch, transformer_omp),
    Problem("flash", "2048 x 64, causal", flash_inputs, lambda d: [attention(d["Q"], d["K"], d["V"])], flash_ours,
            lambda _, d: once(lambda: attention(d["Q"], d["K"], d["V"])),
            lambda torch, d: once(lambda: attention_torch(torch, d["Q"], d["K"], d["V"])), flash_omp),
    Problem("softmax", "4096 x 1024", lambda rng: {"x": rng.standard_normal((M, N), dtype=F)}, lambda d: [softmax(d["x"])],
            lambda ptoc, d: rows_ours(ptoc, d, "softmax", ["x"]), lambda _, d: once(lambda: softmax(d["x"])),
            lambda torch, d: once(lambda: torch.softmax(d["x"], dim=1)), lambda d: rows_omp(d, ["x"])),
    Problem("layernorm", "4096 x 1024",
            lambda rng: {"x": rng.standard_normal((M, N), dtype=F), "w": rng.random(N, dtype=F), "b": rng.random(N, dtype=F)},
            lambda d: [layernorm(d)], lambda ptoc, d: rows_ours(ptoc, d, "layernorm", ["x", "w", "b"]),
            lambda _, d: once(lambda: layernorm(d)), layernorm_torch, lambda d: rows_omp(d, ["x", "w", "b"])),
    Problem("conv", "64 to 64 channels, 56 x 56, 3 x 3", conv_inputs, lambda d: [conv(d)], conv_ours, lambda _, d: once(lambda: conv(d)),
            lambda torch, d: once(lambda: torch.nn.functional.conv2d(d["x"], d["w"])), conv_omp),
    Problem("mlp", "1024 x 784, 256, 10, one epoch", mlp_inputs, mlp_reference, mlp_ours, mlp_numpy, mlp_torch,
            lambda d: ([d["x"], d["t"], *(d[n] for n in NET)], [SAMPLES, IN, HIDDEN, OUT], [d[n] for n in NET], [d[n] for n in NET])),
    Problem("lstm", "32 sequences of 32 x 128, two layers", lstm_inputs, lambda d: [lstm(d)], lstm_ours, lambda _, d: once(lambda: lstm(d)),
            lstm_torch, lstm_omp),
    Problem("treesum", "2^24", lambda rng: {"x": rng.random(LONG, dtype=F)}, lambda d: [d["x"].sum(keepdims=True)], total_ours,
            lambda _, d: once(lambda: d["x"].sum(keepdims=True)), lambda torch, d: once(lambda: d["x"].sum(dim=0, keepdim=True)), total_omp),
    Problem("jacobi", "1024 x 1024, 20 sweeps", jacobi_inputs, jacobi_reference, jacobi_ours,
            lambda _, d: (restore([d["u"], d["v"]]), lambda: jacobi_run(d["u"], d["v"], np.max), lambda: [d["u"]]),
            lambda torch, d: (restore([d["u"], d["v"]]), lambda: jacobi_run(d["u"], d["v"], torch.max), lambda: [d["u"]]),
            lambda d: ([d["u"], d["v"]], [GRID, SWEEPS], [d["u"], d["v"]], [d["u"]])),
    Problem("kmeans", "2^18 pixels, 16 colours, 10 rounds", kmeans_inputs, kmeans_reference, kmeans_ours, kmeans_numpy, kmeans_torch,
            lambda d: ([d["pixel"], d["colour"], d["label"]], [PIXELS, COLOURS, ROUNDS], [d["colour"], d["label"]], [d["colour"]]), 1e-3),
    Problem("chol", "2048, f64", cholesky_inputs, lambda d: [np.linalg.cholesky(d["A"])], cholesky_ours,
            lambda _, d: once(lambda: np.linalg.cholesky(d["A"])), lambda torch, d: once(lambda: torch.linalg.cholesky(d["A"])),
            lambda d: ([d["A"]], [ORDER], [d["A"]], [d["A"]]), 1e-10),
]
