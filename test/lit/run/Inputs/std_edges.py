"""std_edges.py PROGRAM FOLDER - see std-edges.pto."""
import pathlib
import subprocess
import sys

import numpy as np

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
INF = np.inf


def run(entry, inputs, outputs, *more):
    FOLDER.mkdir(exist_ok=True)
    command = [PROGRAM, "--quiet", "--entry=" + entry, *more]
    for name, v in inputs.items():
        np.save(FOLDER / (name + ".npy"), np.asarray(v, np.float32))
        command.append("--input=%s=%s/%s.npy" % (name, FOLDER, name))
    subprocess.run(command + ["--output=%s=%s/out_%s.npy" % (o, FOLDER, o) for o in outputs], check=True)
    return [np.load(FOLDER / ("out_%s.npy" % o)) for o in outputs]


def main():
    x = [[np.nan, INF, -3e38, 3e38, -0.0], [1e30, 1e30, -INF, 0, 0], [-200, -90, -20, 20, 200]]
    g, s, p, q = run("rows", {"x": x, "w": np.ones(5)}, "gspq")
    for y in (g, s):
        assert np.isnan(y[0, 0]) and y[0, 1] == INF and y[0, 2] == 0 and y[0, 3] == np.float32(3e38) and y[0, 4] == 0, y
        assert np.all(np.isfinite(y[2])) and y[2, 4] == 200, y
    silu = np.float64(x[2]) / (1 + np.exp(-np.float64(x[2])))
    assert np.all(np.abs(s[2] - silu) <= 256 * 2.0 ** -149 + 2.0 ** -21 * np.abs(silu)), (s[2], silu)
    assert np.all(np.isnan(p[0])) and list(p[1]) == [0.5, 0.5, 0, 0, 0], p
    assert np.all(np.isfinite(q[2])) and abs(q[1, 0] - np.sqrt(2.5)) < 1e-5 or np.isnan(q[1, 0]), q
    q = run("rows", {"x": [[0] * 5, [3e38, 3e38, 1, -3e38, 0], [1e-3] * 5], "w": np.arange(5)}, "gspq")[3]
    want = [np.sqrt(5 / 3), 0, -np.sqrt(5 / 3), 0] * np.array([1, 2, 3, 4])
    assert np.all(q[0] == 0) and np.all(np.abs(q[1, 1:] - want) < 1e-5), q
    assert np.all(np.abs(q[2] - 1e-3 / np.sqrt(2e-6) * np.arange(5)) < 1e-6), q
    y = run("clipped", {"x": [[np.nan, INF, -3e38, 3e38, -0.0]]}, "c")[0][0]
    assert np.isnan(y[0]) and y[1] == INF and y[2] == 0 and y[3] == np.float32(3e38) and y[4] == 0, y
    # keys after the row's own position do not matter, even when they are no numbers
    m, l, p, r = run("weights", {"s": np.triu(np.full((64, 64), np.nan), 1), "m": np.full(64, -1e30), "l": np.zeros(64)}, "mlpr", "--set", "diagonal=true")
    assert np.all(m == 0) and np.all(r == 0) and np.all(l == np.arange(1, 65)) and np.all(p == np.tril(np.ones((64, 64)))), (m, l, p, r)
    # scores that are all minus infinity weigh nothing
    before = {"s": np.full((64, 64), -INF), "m": np.tile([3, -INF], 32), "l": np.tile([2, 0], 32)}
    m, l, p, r = run("weights", before, "mlpr", "--set", "diagonal=false")
    assert np.all(m == before["m"]) and np.all(l == before["l"]) and np.all(p == 0) and np.all(r[::2] == 1), (m, l, p, r)
    print("all as expected")


main()
