#!/usr/bin/python3
"""check_std.py PTOC FOLDER [MODULE...] - the kernels by index of std/, and the functions of std/index, against NumPy in f64.

Idea       a case is a call, its tensors with their types and extents, and what NumPy says.  A module's cases are calls of a few entries, each of
           which runs for several extents (tails of vectors, one element) on every level of the processor that the machine has.
Invariant  what has no function and no sum is equal to the last bit; the rest is within `most` units of the last place of the values that were added.
           Each level but the base has the same bits.
Tests      test/lit/run/std-index.test, std-nn.test
"""
import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np

NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_}
SIZES = [(1, 1, 1), (3, 17, 5), (5, 129, 33), (64, 5, 70)]
MASK = (1 << 64) - 1


def wide(v):
    return v.astype(np.float64) if v.dtype.kind == "f" else v


def squares(seed, count):
    """The numbers of std/rng.pto, one by one."""
    s = seed & MASK
    t = (s ^ s >> 27) * 0x3c79ac492ba7b653 & MASK
    h = (t ^ t >> 33) * 0x1c69b3f74ac4ae35 & MASK
    key = h ^ h >> 27 | 1
    key ^= 0x5851f42d4c950000 if key >> 16 == 0 else 0
    out = []
    for n in range(count):
        y = n * key & MASK
        z = y + key & MASK
        x = y
        for step, add in enumerate((y, z, y, z)):
            x = x * x + add & MASK
            if step == 3:
                t = x
            x = (x >> 32 | x << 32) & MASK
        out.append(t ^ (x * x + y & MASK) >> 32)
    return np.array(out, np.uint64)


def numbers_of(shape, row, column, width, seed):
    numbers = squares(seed, (row + shape[0]) * width + column + shape[1])
    i, j = np.indices(shape)
    return numbers[(row + i) * width + column + j]


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def conv2d(u, w):
    k, c, r, s = w.shape
    h, wide_ = u.shape[1] - r + 1, u.shape[2] - s + 1
    out = np.zeros((k, h, wide_))
    for p in range(r):
        for q in range(s):
            out += np.einsum("kc,chw->khw", w[:, :, p, q], u[:, p:p + h, q:q + wide_])
    return out


def pool(x, how):
    c, h, w = x.shape
    return how(x.reshape(c, h // 2, 2, w // 2, 2), axis=(2, 4))


def online(s, m, l, is_diagonal):
    seen = np.tril(np.ones(s.shape, bool)) if is_diagonal else np.ones(s.shape, bool)
    top = np.maximum(m, np.where(seen, s, -np.inf).max(axis=1))
    p, r = np.where(seen, np.exp(s - top[:, None]), 0), np.exp(m - top)
    return {"m": top, "l": l * r + p.sum(axis=1), "p": p, "r": r}


def added(y, at, x):
    y = y.copy()
    np.add.at(y, at, x)
    return y


# module -> [(call, formals, what NumPy says of each written tensor in f64, units in the last place)]
# A formal: name: type[extents]; o: written, b: read and written; at: indices below M.
CASES = {
    "vec": [case for t in ("f16", "f32") for case in [
        ("copy(x, out o)", f"x: {t}[N], o: {t}[N]", lambda x: x, 0),
        ("fill(out o, 1.1)", f"o: {t}[N]", lambda o, t=t: np.full(o.shape, NUMPY[t](1.1)), 0),
        ("scale(x, out o, 0.7)", f"x: {t}[N], o: {t}[N]", lambda x, t=t: x * np.float64(NUMPY[t](0.7)), 1),
        ("axpy(x, inout b, 0.7)", f"x: {t}[N], b: {t}[N]", lambda x, b, t=t: b + x * np.float64(NUMPY[t](0.7)), 8),
        ("xpay(x, inout b, 0.7)", f"x: {t}[N], b: {t}[N]", lambda x, b, t=t: x + b * np.float64(NUMPY[t](0.7)), 8),
        ("add(x, y, out o)", f"x: {t}[N], y: {t}[N], o: {t}[N]", lambda x, y: x + y, 1),
        ("sub(x, y, out o)", f"x: {t}[N], y: {t}[N], o: {t}[N]", lambda x, y: x - y, 1),
        ("mul(x, y, out o)", f"x: {t}[N], y: {t}[N], o: {t}[N]", lambda x, y: x * y, 1),
        ("div(x, y, out o)", f"x: {t}[N], y: {t}[N], o: {t}[N]", lambda x, y: x / y, 1),
        ("dot(x, y, out o)", f"x: {t}[N], y: {t}[N], o: {t}[1]", lambda x, y: [(x * y).sum()], 64),
        ("norm2(x, out o)", f"x: {t}[N], o: {t}[1]", lambda x: [np.sqrt((x * x).sum())], 8),
    ]],
    "reduce": [case for t in ("f32", "i8") for case in [
        ("sum(x, out o)", f"x: {t}[N], o: {'i64' if t[0] == 'i' else t}[1]", lambda x: [x.sum(dtype=np.float64)], 64),
        ("sum_rows(x, out o)", f"x: {t}[M, N], o: {'i64' if t[0] == 'i' else t}[M]", lambda x: x.sum(axis=1, dtype=np.float64), 64),
    ] + [(f"{name}(x, out o)", f"x: {t}[N], o: {t}[1]", lambda x, name=name: [getattr(x, name)()], 0) for name in ("max", "min")]
      + [(f"{name}_rows(x, out o)", f"x: {t}[M, N], o: {t}[M]", lambda x, name=name: getattr(x, name)(axis=1), 0) for name in ("max", "min")]
      + [(f"{name}(x, out o)", f"x: {t}[N], o: i64[1]", lambda x, name=name: [getattr(x, name)()], 0) for name in ("argmax", "argmin")]
      + [(f"{name}_rows(x, out o)", f"x: {t}[M, N], o: i64[M]", lambda x, name=name: getattr(x, name)(axis=1), 0) for name in ("argmax", "argmin")]]
    + [(f"{name}(x, out o)", "x: bool[N], o: bool[1]", lambda x, name=name: [getattr(x, name)()], 0) for name in ("any", "all")]
    + [(f"{name}_rows(x, out o)", "x: bool[M, N], o: bool[M]", lambda x, name=name: getattr(x, name)(axis=1), 0) for name in ("any", "all")]
    + [("count(x, out o)", "x: bool[N], o: i64[1]", lambda x: [x.sum()], 0), ("count_rows(x, out o)", "x: bool[M, N], o: i64[M]", lambda x: x.sum(axis=1), 0)],
    "index": [case for t in ("f32", "i32") for case in [
        ("gather(x, at, out o)", f"x: {t}[M, N], at: i64[K], o: {t}[K, N]", lambda x, at: x[at], 0),
        ("take(x, at, out o)", f"x: {t}[M], at: i64[K], o: {t}[K]", lambda x, at: x[at], 0),
        ("one_hot(at, out o)", f"at: i64[K], x: {t}[M], o: {t}[K, M]", lambda at, x: np.eye(len(x))[at], 0),
        ("add_at(x, at, inout b)", f"x: {t}[K], at: i64[K], b: {t}[M]", lambda x, at, b: added(b, at, x), 64),
        ("scatter_add(x, at, inout b)", f"x: {t}[K, N], at: i64[K], b: {t}[M, N]", lambda x, at, b: added(b, at, x), 64),
        ("scan(x, out o)", f"x: {t}[N], o: {t}[N]", lambda x: np.cumsum(x), 256),
        ("sort(x, out o)", f"x: {t}[N], o: {t}[N]", np.sort, 0),
        ("argsort(x, out o)", f"x: {t}[N], o: i64[N]", lambda x: np.argsort(x, kind="stable"), 0),
        ("let w: i64[N]; index.top_k(x, out o, out w); print await w[0]", f"x: {t}[N + 2], o: {t}[N]", lambda x: np.sort(x)[::-1][:len(x) - 2], 0),
        ("let w: f32[N]; index.top_k(x, out w, out o); print await w[0]", "x: f32[N + 2], o: i64[N]", lambda x: np.argsort(-x, kind="stable")[:len(x) - 2], 0),
        ("firsts(x, out o)", f"x: {t}[N], o: bool[N]", lambda x: np.concatenate([[True], x[1:] != x[:-1]]), 0),
    ]] + [("count_of(x, out o, 2)", "x: i32[N], o: i64[1]", lambda x: [(x == 2).sum()], 0),
          ("count_true(x, out o)", "x: bool[N], o: i64[1]", lambda x: [x.sum()], 0),
          ("positions(x)", "x: bool[N], o: i64[?m]", np.flatnonzero, 0)]
    + [case for t, end in (("f32", ""), ("f64", "_f64"), ("i32", "_i32"), ("i64", "_i64")) for case in [
        (f"compact{end}(x, y)", f"x: {t}[N], y: bool[N], o: {t}[?m]", lambda x, y: x[y], 0),
        (f"unique{end}(x)", f"x: {t}[N], o: {t}[?m]", np.unique, 0)]],
    "rng": [
        ("bits(out o, -5, 2, 1, N + 3)", "o: u64[M, N]", lambda o: numbers_of(o.shape, 2, 1, o.shape[1] + 3, -5), 0),
        ("bits(out o, 0, 0, 0, N)", "o: u64[M, N]", lambda o: numbers_of(o.shape, 0, 0, o.shape[1], 0), 0),
        ("uniform(out o, 7, 0, 0, N)", "o: f32[M, N]", lambda o: (numbers_of(o.shape, 0, 0, o.shape[1], 7) >> 40) * 2.0 ** -24, 0),
        ("uniform(out o, 7, 0, 0, N)", "o: f64[M, N]", lambda o: (numbers_of(o.shape, 0, 0, o.shape[1], 7) >> 11) * 2.0 ** -53, 0),
        ("normal(out o, 7, 0, 0, N)", "o: f32[M, N]", lambda o: np.sqrt(-2 * np.log(((numbers_of(o.shape, 0, 0, o.shape[1], 7) >> 40) + 1) * 2.0 ** -24))
         * np.cos(2 * np.pi * (numbers_of(o.shape, 0, 0, o.shape[1], 7) & 0xffffff) * 2.0 ** -24), 64),
    ],
    "tile": [case for t in ("f32", "f64") for case in [
        ("gemm_tn(x, y, out o)", f"x: {t}[K, M], y: {t}[K, N], o: {t}[M, N]", lambda x, y: x.T @ y, 64),
        ("gemm_acc_nt(x, y, inout b)", f"x: {t}[M, K], y: {t}[N, K], b: {t}[M, N]", lambda x, y, b: b + x @ y.T, 64),
        ("gemm_acc_tn(x, y, inout b)", f"x: {t}[K, M], y: {t}[K, N], b: {t}[M, N]", lambda x, y, b: b + x.T @ y, 64),
        ("gemm_scaled(x, y, inout b, 0.5, -2.0)", f"x: {t}[M, K], y: {t}[K, N], b: {t}[M, N]", lambda x, y, b: x @ y / 2 - 2 * b, 64),
    ]] + [case for t in ("f16", "f32", "f64") for view in ("", ".T") for case in [
        (f"add_to(x{view}, inout b{view})", f"x: {t}[M, N], b: {t}[M, N]", lambda x, b: b + x, 1),
        (f"add(x{view}, y{view}, out o{view})", f"x: {t}[M, N], y: {t}[M, N], o: {t}[M, N]", lambda x, y: x + y, 1),
        (f"sub(x{view}, y{view}, out o{view})", f"x: {t}[M, N], y: {t}[M, N], o: {t}[M, N]", lambda x, y: x - y, 1),
        (f"mul(x{view}, y{view}, out o{view})", f"x: {t}[M, N], y: {t}[M, N], o: {t}[M, N]", lambda x, y: x * y, 1),
        (f"scale(x{view}, out o{view}, 0.1)", f"x: {t}[M, N], o: {t}[M, N]", lambda x, t=t: x * np.float64(NUMPY[t](0.1)), 1),
        (f"axpy(x{view}, inout b{view}, 0.1)", f"x: {t}[M, N], b: {t}[M, N]", lambda x, b, t=t: b + x * np.float64(NUMPY[t](0.1)), 2),
        (f"fill(out o{view}, 0.1)", f"o: {t}[M, N]", lambda o, t=t: np.full(o.shape, NUMPY[t](0.1)), 0),
        (f"copy(x{view}, out o{view})", f"x: {t}[M, N], o: {t}[M, N]", lambda x: x, 0),
        (f"transpose(x{view}, out o{view})", f"x: {t}[M, N], o: {t}[N, M]", lambda x: x.T, 0),
        (f"transpose(x{view}, out o)" if view else "copy(x, out o.T)", f"x: {t}[M, N], o: {t}[{'M, N' if view else 'N, M'}]", lambda x, view=view: x if view else x.T, 0),
    ]],
    "nn": [
        ("fill(out o, 0.1)", "o: f32[N]", lambda o: np.full(o.shape, np.float32(0.1)), 0),
        ("fill2(out o, -1.0e30)", "o: f32[M, N]", lambda o: np.full(o.shape, np.float32(-1.0e30)), 0),
        ("add(x, y, out o)", "x: f32[M, N], y: f32[M, N], o: f32[M, N]", lambda x, y: x + y, 1),
        ("relu(x, out o)", "x: f32[M, N], o: f32[M, N]", lambda x: np.maximum(x, 0), 0),
        ("qk(x, y, out o)", "x: f32[64, N], y: f32[64, N], o: f32[64, 64]", lambda x, y: x @ y.T / np.sqrt(x.shape[1]), 32),
        ("rescale_pv(x, y, z, inout b)", "x: f32[64, 64], y: f32[64, N], z: f32[64], b: f32[64, N]", lambda x, y, z, b: b * z[:, None] + x @ y, 64),
        ("finish(x, y, out o)", "x: f32[64, N], y: f32[64], o: f32[64, N]", lambda x, y: x / y[:, None], 1),
        *[(f"let p: f32[64, 64]; let r: f32[64]; let m: f32[64]; let l: f32[64]; tile.copy(y as [64, 1], out m as [64, 1]); tile.copy(z as [64, 1], out l as [64, 1]);"
           f" nn.online(x, inout m, inout l, out p, out r, {hidden}); tile.copy({got} as [64, {width}], out o as [64, {width}])",
           f"x: f32[64, 64], y: f32[64], z: f32[64], w: f32[N], o: f32[{'64, 64' if got == 'p' else '64'}]",
           lambda x, y, z, w, got=got, hidden=hidden: online(x, y, z, hidden == "true")[got], 32)
          for hidden in ("false", "true") for got, width in (("m", 1), ("l", 1), ("p", 64), ("r", 1))],
        ("gelu(x, out o)", "x: f32[M, N], o: f32[M, N]", lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))), 8),
        ("silu(x, out o)", "x: f32[M, N], o: f32[M, N]", lambda x: x / (1 + np.exp(-x)), 4),
        ("softmax_rows(x, out o)", "x: f32[M, N], o: f32[M, N]", softmax, 16),
        ("rmsnorm(x, y, out o)", "x: f32[M, N], y: f32[N], o: f32[M, N]", lambda x, y: x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * y, 16),
        ("layernorm(x, y, z, out o)", "x: f32[M, N], y: f32[N], z: f32[N], o: f32[M, N]",
         lambda x, y, z: (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * y + z, 256),
        ("bias(x, y, out o)", "x: f32[M, N], y: f32[N], o: f32[M, N]", lambda x, y: x + y, 1),
        ("rope(x, y, z, out o)", "x: f32[M, 2 * N], y: f32[M, N], z: f32[M, N], o: f32[M, 2 * N]", lambda x, y, z: np.concatenate(
            [x[:, :y.shape[1]] * y - x[:, y.shape[1]:] * z, x[:, :y.shape[1]] * z + x[:, y.shape[1]:] * y], axis=1), 8),
        ("cross_entropy(x, at, out o)", "x: f32[K, M], at: i64[K], o: f32[K]", lambda x, at: -np.log(softmax(x)[np.arange(len(x)), at]), 64),
        ("embedding(x, at, out o)", "x: f32[M, N], at: i64[K], o: f32[K, N]", lambda x, at: x[at], 0),
        ("conv2d(x, y, out o)", "x: f32[3, M + 2, N + 1], y: f32[4, 3, 3, 2], o: f32[4, M, N]", conv2d, 64),
        ("max_pool2(x, out o)", "x: f32[3, 2 * M, 2 * N], o: f32[3, M, N]", lambda x: pool(x, np.max), 0),
        ("avg_pool2(x, out o)", "x: f32[3, 2 * M, 2 * N], o: f32[3, M, N]", lambda x: pool(x, np.mean), 4),
    ],
}


def formals_of(case):
    return re.findall(r"(\w+): (\w+)\[([^\]]*)\]", case[1])


def is_decided(case):
    return "[?m]" in case[1]


def dims_of(text):
    return [d for d in "MNK" if re.search(rf"\b{d}\b", text)]


def entries_of(module):
    """{entry: its cases}: those that decide an extent are alone, of others there are so many in one that its formals fit."""
    entries, together = {}, []
    for number, case in enumerate(CASES[module]):
        if is_decided(case):
            entries[f"case{number}"] = [number]
        else:
            together.append(number)
    return entries | {f"cases{at}": together[at:at + 12] for at in range(0, len(together), 12)}


def program(module):
    """Formals of an entry with several cases are c0_x, c0_o, c1_x and so on."""
    used = {module} | {"tile" for case in CASES[module] if "tile." in case[0]}
    text = "".join(f'import "std/{name}.pto" as {name};\n' for name in sorted(used))
    modes = {"o": "out", "b": "inout"}
    for entry, numbers in entries_of(module).items():
        formals, body = [], ""
        for number in numbers:
            call, kinds, _, _ = CASES[module][number]
            if is_decided(CASES[module][number]):
                head, result = kinds.rsplit(", o: ", 1)
                text += f"export orch {entry}<{', '.join(dims_of(head))}>({head}) -> {result} {{ return {module}.{call}; }}\n"
                continue
            call = call if call.startswith("let ") else f"{module}.{call}"
            for name, t, extents in formals_of(CASES[module][number]):
                formals.append(f"{modes.get(name, 'in')} c{number}_{name}: {t}[{extents}]")
                call = re.sub(rf"\b{name}\b", f"c{number}_{name}", call)
            body += f"  scope {{ {call}; }}\n"
        head = ", ".join(formals)
        text += f"export orch {entry}<{', '.join(dims_of(head))}>({head}) {{\n{body}}}\n" if formals else ""
    return text


def values(rng, name, t, shape, m):
    if name == "at":
        return rng.integers(0, m, shape)
    if t == "bool":
        return rng.random(shape) < 0.5
    if t[0] in "iu":
        return rng.integers(-4, 5, shape).astype(NUMPY[t])
    return (rng.standard_normal(shape) + 0.01).astype(NUMPY[t])


def arrays_of(module, numbers, sizes):
    """{case: {formal: its elements}}; zeros where it is only written."""
    named, made = dict(zip("MNK", sizes)), {}
    for number in numbers:
        rng, made[number] = np.random.default_rng([number, *sizes]), {}
        for name, t, extents in formals_of(CASES[module][number]):
            if extents != "?m":
                shape = tuple(eval(e, {}, named) for e in extents.split(","))  # of the table above
                made[number][name] = np.zeros(shape, NUMPY[t]) if name == "o" else values(rng, name, t, shape, named["M"])
    return made


def run(path, folder, module, entry, numbers, sizes, level):
    """One run of these cases: {case: (arguments, the tensor that is written)}, or None."""
    arrays, command = arrays_of(module, numbers, sizes), [path, "--quiet", f"--entry={entry}", f"--cpu={level}", "--engine=serial"]
    inputs, written = "", {}
    for number in numbers:
        for name, _, extents in formals_of(CASES[module][number]):
            formal = name if is_decided(CASES[module][number]) else f"c{number}_{name}"
            if name != "o":
                inputs += " " + extents
                np.save(folder / f"{formal}.npy", arrays[number][name])
                command.append(f"--input={formal}={folder}/{formal}.npy")
            if name in "ob":
                written[number] = folder / f"out{number}.npy"
                command.append(f"--output={'result' if extents == '?m' else formal}={written[number]}")
    dims = {d for number in numbers for d in dims_of(CASES[module][number][1])} - set(dims_of(inputs))
    command += [f"--dim={d}={v}" for d, v in zip("MNK", sizes) if d in dims]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print("FAILED", entry, "of", module, sizes, "on", level, done.stderr)
        return None
    return {number: (arrays[number], np.load(written[number])) for number in numbers}


def check(number, case, sizes, level, arrays, got, bits):
    where = f"{case[0]} {case[1]} of {sizes} on {level}"
    target = arrays.get("b", arrays.get("o", got))
    argument = [arrays["o"]] if list(arrays) == ["o"] else [wide(v) for name, v in arrays.items() if name != "o"]
    with np.errstate(all="ignore"):
        want = np.asarray(case[2](*argument))
        size = max([1.0] + [float(np.abs(wide(v)).max(initial=0)) for v in argument if v.dtype.kind == "f"] + [float(np.abs(want.astype(np.float64)).max(initial=0))])
        if target.dtype.kind == "f":
            fits = np.abs(got.astype(np.float64) - want) <= case[3] * np.finfo(target.dtype).eps * size
        else:
            fits = got == want
    if got.shape != target.shape or (is_decided(case) and got.shape != want.shape) or not np.all(fits):
        print("WRONG", where, got, want)
        return False
    key = (number, sizes, level == "base")
    if bits.setdefault(key, got.tobytes()) != got.tobytes():
        print("OTHER BITS", where)
        return False
    return True


def levels(path):
    return [level for level in ("base", "v3", "v4") if subprocess.run([path, f"--cpu={level}", "--help"], capture_output=True).returncode == 0]


def main():
    ptoc, folder, *modules = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for module in modules or CASES:
        path = str(folder / module)
        pathlib.Path(path + ".pto").write_text(program(module))
        built = subprocess.run([ptoc, "build", "-Werror", "-Wno-W01", path + ".pto", "-o", path], capture_output=True, text=True)
        if built.returncode:
            sys.exit(built.stderr)
        known, good, count, bits = levels(path), 0, 0, {}
        entries = entries_of(module)
        for entry, sizes, level in itertools.product(entries, SIZES, known):
            count += len(entries[entry])
            results = run(path, folder, module, entry, entries[entry], sizes, level) or {}
            good += sum(check(n, CASES[module][n], sizes, level, *results[n], bits) for n in results)
        print(f"{module}: {count} cases, {count - good} wrong")


main()
