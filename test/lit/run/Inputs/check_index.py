#!/usr/bin/python3
"""check_index.py PROGRAM FOLDER COUNT [--no-fma] - kernels in index notation against numpy.

Idea       random shapes; every output of every entry.  What is elementwise and has no function is equal to the last bit, a function has 2 ulp more
           for each, a sum has 4 eps sqrt(n) of the sum of the absolute values.  The three entries name the same data by views of other strides, and
           every level of the processor the machine has: the bits are the same for all of them, but for the base, which cannot fuse; with
           --no-fma for that, too.
"""
import pathlib
import subprocess
import sys

import numpy as np

PROGRAM, FOLDER, COUNT = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
F = np.float32
EPS = 2.0 ** -23


def inputs(rng, m, n, k):
    def f(*shape):
        return rng.standard_normal(shape).astype(F)
    return {"x": f(m, n), "a": f(m, k), "b": f(k, n), "n": f(n, k), "g": f(n), "u": f(m + 2, n + 2), "w": f(3, 3), "z": f(m, 2 * n),
            "at": rng.integers(0, max(m, 1), m), "q": f(m, m), "e": f(n), "c": f(m, n), "d": f(m, n), "f": f(m, n),
            "mm": f(m), "ll": np.abs(f(m))}


def spread(v):
    """Each second element of the last dimension."""
    wide = np.full(v.shape[:-1] + (2 * v.shape[-1],), 77, v.dtype)
    wide[..., ::2] = v
    return wide


LAYOUTS = {  # of an entry: how an array is saved, and read again
    "rows": (lambda v: v, lambda v: v),
    "columns": (lambda v: np.ascontiguousarray(v.T), lambda v: np.ascontiguousarray(v.T)),
    "steps": (spread, lambda v: np.ascontiguousarray(v[..., ::2])),
}


def expected(d, m, n, k):
    """name -> (values in f64, tolerance)"""
    g = {key: v.astype(np.float64) if v.dtype == F else v for key, v in d.items()}
    x, a, b = g["x"], g["a"], g["b"]
    out = {}
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(axis=1, initial=-np.inf, keepdims=True))
        s = e.sum(axis=1, keepdims=True)
        out["o1"] = (e / s, (e / s) * EPS * (4 * np.sqrt(n) + 8) + (e / s) * EPS * np.abs(x - x.max(axis=1, initial=-np.inf, keepdims=True)))
        mean = x.sum(axis=1, keepdims=True) / n
        v = ((x - mean) ** 2).sum(axis=1, keepdims=True) / n
        size = np.abs(x).sum(axis=1, keepdims=True) / n + np.abs(x) + 1
        y = (x - mean) / np.sqrt(v + 1e-5) * g["g"]
        out["o2"] = (y, EPS * (8 * np.sqrt(n) + 16) * size * (1 / np.sqrt(v + 1e-5)) * (np.abs(g["g"]) + 1e-3) * (1 + size / np.sqrt(v + 1e-5)))
        out["o4"] = (a @ g["n"].T, 4 * EPS * np.sqrt(k + 1) * (np.abs(a) @ np.abs(g["n"].T)))
        conv = sum(g["w"][p, q] * g["u"][p:p + m, q:q + n] for p in range(3) for q in range(3))
        conv_abs = sum(np.abs(g["w"][p, q] * g["u"][p:p + m, q:q + n]) for p in range(3) for q in range(3))
        out["o5"] = (conv, 12 * EPS * conv_abs)
        out["o7"] = (d["x"][d["at"]] if m else d["x"], 0)
        out["o8"] = (np.where(np.arange(m)[None, :] <= np.arange(m)[:, None], np.exp(g["q"]), 0), 2 * EPS * np.exp(g["q"]))
        h = np.zeros(n, F)
        for t in range(n):
            h[t] = d["e"][0] if t == 0 else d["g"][t] * h[t - 1] + d["e"][t]
        out["o9"] = (h, 0)
        out["d"] = (d["d"] + F(0.7) * d["x"], 0)
        out["o11"] = (d["x"].T, 0)
        out["o12"] = (d["x"].argmax(axis=1) if n else np.zeros(m), 0)
        f = d["f"].copy()
        for r in range(m):
            f[d["at"][r]] += d["x"][r]
        out["f"] = (f, 0)
        shifted = np.zeros((m, n), F)
        shifted[:, 1:] = d["x"][:, :-1]
        out["o14"] = (shifted, 0)
        out["o15"] = (x.sum(axis=1), 4 * 2.0 ** -52 * np.sqrt(n) * np.abs(x).sum(axis=1))
        scale = 1 / np.sqrt(np.float64(k))
        out["o16"] = (a @ a.T * scale, (4 * EPS * np.sqrt(k + 1) + 3 * EPS) * (np.abs(a) @ np.abs(a.T)) * scale)
        seen = np.arange(m)[None, :] <= np.arange(m)[:, None]
        most = np.maximum(g["mm"], np.where(seen, g["q"], -1e30).max(axis=1, initial=-np.inf))
        p = np.where(seen, np.exp(g["q"] - most[:, None]), 0)
        r = np.exp(g["mm"] - most)
        wide = 16 * EPS
        out["mm"] = (most, 0)
        out["pp"] = (p, wide * p)
        out["rr"] = (r, wide * r)
        ll = g["ll"] * r + p.sum(axis=1)
        out["ll"] = (ll, (wide + 4 * EPS * np.sqrt(m)) * ll)
        c = g["c"] + a @ b
        size = (np.abs(g["c"]) + np.abs(a) @ np.abs(b))
        out["c"] = (c * r[:, None] + p @ x, (wide + 4 * EPS * np.sqrt(k + m + 1)) * (size * r[:, None] + p @ np.abs(x)))
        out["o18"] = (x / ll[:, None], (2 * wide + 4 * EPS * np.sqrt(m)) * np.abs(x / ll[:, None]))
    return out


def rope(d, o1, n):
    z, x = d["z"], d["x"]
    low, high = z[:, :n], z[:, n:]
    return np.concatenate([low * x - high * o1, low * o1 + high * x], axis=1)


def run(data, folder, layout, options):
    names = ["c", "d", "f", "mm", "ll", "pp", "rr"] + [f"o{i}" for i in (1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16, 18)]
    save, load = LAYOUTS[layout]
    command = [PROGRAM, "--quiet", f"--entry={layout}", *options]
    for key, value in data.items():
        np.save(folder / f"{key}.npy", save(value))
        command.append(f"--input={key}={folder}/{key}.npy")
    if layout == "steps":  # written in part
        command += [f"--input={name}=zeros" for name in names if name not in data]
    command += [f"--output={name}={folder}/out_{name}.npy" for name in names]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return {name: load(np.load(folder / f"out_{name}.npy")) for name in names}


def levels():
    for level in ("base", "v3", "v4"):
        if subprocess.run([PROGRAM, f"--cpu={level}", "--help"], capture_output=True).returncode == 0:
            yield level


def main():
    rng = np.random.default_rng(7)
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = list(levels())
    every_level = "--no-fma" in sys.argv
    bad = 0
    for number in range(COUNT):
        m, n, k = (int(v) for v in rng.integers(0, 200, 3))
        if number < 6:
            m, n, k = [(0, 3, 2), (1, 1, 1), (3, 64, 65), (7, 63, 128), (5, 200, 0), (65, 129, 1)][number]
        n = max(n, 1)
        data = inputs(rng, m, n, k)
        want = expected(data, m, n, k)
        first = {}
        for layout in LAYOUTS:
            for level in known:
                got = run(data, FOLDER, layout, [f"--cpu={level}", "--engine=" + ("serial", "threads")[number % 2]])
                exact = rope(data, got["o1"], n)
                group = "base" if level == "base" and not every_level else "fused"
                for name, values_got in got.items():
                    tag = f"{name} of m={m} n={n} k={k} {layout} {level}"
                    before = first.setdefault((group, name), values_got)
                    if before.tobytes() != values_got.tobytes():
                        bad += 1
                        print("OTHER BITS", tag)
                    wanted, most = (exact, 0) if name == "o6" else want[name]
                    with np.errstate(all="ignore"):
                        off = np.abs(values_got.astype(np.float64) - np.asarray(wanted, np.float64))
                        if values_got.size and not np.all((off <= most + 1e-42) | (np.isnan(wanted) & np.isnan(values_got)) | (wanted == values_got)):
                            bad += 1
                            print("WRONG", tag, "by", np.nanmax(off - most), "expected at most", np.max(most))
    print(f"{COUNT} shapes, {bad} wrong")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
