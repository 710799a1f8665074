#!/usr/bin/python3
"""index_lanes.py PROGRAM FOLDER - what index-lanes.pto computes, against numpy in the same order, on each level that the machine has."""
import pathlib
import subprocess
import sys

import numpy as np

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
F = np.float32
OUTPUTS = "s most n low high least late at m y top".split()


def place(values, is_better):
    """The first place of the best along axis 0, or of the first not-a-number."""
    best, at = values[0].copy(), np.zeros(values.shape[1], np.int64)
    for k in range(1, len(values)):
        better = (best == best) & (is_better(values[k], best) | (values[k] != values[k]))
        best, at = np.where(better, values[k], best), np.where(better, k, at)
    return at


def expected(d):
    x, p, c = d["x"], d["p"], d["c"]
    s = np.zeros(x.shape[1], F)
    for row in x:
        s += row
    far = np.zeros((len(c), p.shape[1]), F)
    for axis in range(3):
        far += (p[axis][None] - c[:, axis, None]) ** 2
    least = np.less
    whole = np.nan_to_num(np.clip(np.trunc(x), -2 ** 31, 2147483520.0), nan=0.0).astype(np.int64)
    whole = np.where(x >= 2 ** 31, 2 ** 31 - 1, whole)
    at = place(far, least)
    y = x * F(0.5)
    return {"s": s * F(2), "most": x.max(axis=0), "n": whole.sum(axis=0).astype(np.int32), "low": place(x, least), "high": place(x, np.greater),
            "least": place(d["q"], least), "late": 1 + place(x[1:], least), "at": at, "m": d["m"] + np.bincount(at, minlength=len(c)), "y": y, "top": np.abs(y - x).max(axis=1, initial=-np.inf)}


FOLDER.mkdir(exist_ok=True)
rng = np.random.default_rng(5)
levels = [level for level in ("base", "v3", "v4") if subprocess.run([PROGRAM, "--cpu=" + level, "--help"], capture_output=True).returncode == 0]
assert levels
wrong = 0
for n, special in ((0, False), (63, False), (64, True), (201, True)):
    d = {"x": rng.standard_normal((5, n)).astype(F), "q": rng.integers(-3, 3, (5, n)).astype(np.int32), "p": rng.standard_normal((3, n)).astype(F),
         "c": rng.standard_normal((7, 3)).astype(F), "m": rng.integers(0, 9, 7)}
    if special:  # ties, infinities, not-a-numbers
        d["x"][1:3, ::5] = d["x"][3:, ::5]
        d["x"][:, 3], d["x"][2:, 4], d["x"][1::2, 7] = np.inf, np.nan, -np.inf
        d["x"][1, 9:11], d["x"][3, 9] = -np.inf, np.nan  # what no other is better than, and one that is first all the same
        d["x"][1, 11:13], d["x"][4, 11] = np.inf, np.nan
        d["p"][0, 5], d["c"][4] = np.nan, d["c"][2]
    for name, array in d.items():
        np.save(FOLDER / (name + ".npy"), array)
    with np.errstate(all="ignore"):
        want = expected(d)
    for level in levels:
        command = [PROGRAM, "--quiet", "--entry=all", "--engine=serial", "--cpu=" + level]
        command += ["--input=%s=%s/%s.npy" % (name, FOLDER, name) for name in d] + ["--output=%s=%s/out_%s.npy" % (name, FOLDER, name) for name in OUTPUTS]
        subprocess.run(command, check=True)
        for name in OUTPUTS:
            got = np.load(FOLDER / ("out_%s.npy" % name))
            if not np.array_equal(got, want[name].astype(got.dtype), equal_nan=got.dtype == F):
                print("WRONG", name, n, level, got[:8], want[name][:8])
                wrong += 1
print(wrong, "wrong")
