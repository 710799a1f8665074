"""Compares what --emit=ascendc makes of kernels in index notation, over the stand-in for AscendC, with the host: index.py PTOC PROGRAM FOLDER make,
then index.py PTOC PROGRAM FOLDER run BLOCKS M N.

Idea       the host's program runs twice, on the backend sim and on the backend ascend.  Elementwise sums and products have the same bits (o1 .. o9),
           functions differ by 8 units in the last place of the largest value of their row, and what sums along a row by as many as it may.
"""
import pathlib
import re
import subprocess
import sys

import numpy as np

ptoc, program, folder, verb = sys.argv[1:5]
folder = pathlib.Path(folder)


def make():
    text = subprocess.run([ptoc, "build", "--emit=ascendc", program], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^ \*     \[(\w+)\]$", text, re.M)
    (folder / "index.cpp").write_text(text + "".join("MOCK_KERNEL(%s)\n" % name for name in names))
    engines = re.findall(r"engine = (\w+)", text)
    (folder / "map.ini").write_text("".join("[%s]\nobject = index.so\nfunction = device_%s\nengine = %s\n" % (n, n, e) for n, e in zip(names, engines)))


def run(blocks, m, n):
    rng = np.random.default_rng([m, n])

    def f(*shape):
        return rng.standard_normal(shape).astype(np.float32)
    data = {"x": f(m, n), "y": f(m, n), "w": f(n), "z": f(m, 2 * n), "l": np.abs(f(m)) + 1, "o4": f(m, n), "o6": f(m, n), "m1": f(m),
            "m2": np.abs(f(m)), "g5": f(n), "g6": f(m, m)}
    spread = {"w", "l", "m1", "m2", "m3", "g3", "g5"}  # of columns: each second element
    outputs = ["o%d" % i for i in range(1, 10)] + ["f%d" % i for i in range(1, 10)] + ["m1", "m2", "m3"] + ["g%d" % i for i in range(1, 8)]
    bad = 0
    for entry in ("rows", "columns"):
        command = [str(folder / "index"), "--quiet", "--entry", entry]
        for name, v in list(data.items()) + [("m3", np.zeros(m, np.float32)), ("g3", np.zeros(m, np.float32))] * (entry == "columns"):
            if entry == "columns":
                v = np.repeat(v, 2) if name in spread else np.ascontiguousarray(v.T)
            np.save(folder / (name + ".npy"), v)
            command.append("--input=%s=%s/%s.npy" % (name, folder, name))
        got = []
        for backend in ([], ["--backend", "ascend", "--kernels", str(folder / "map.ini")]):
            done = subprocess.run(command + backend + ["--output=%s=%s/out_%s.npy" % (o, folder, o) for o in outputs], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            got.append({o: np.load(folder / ("out_%s.npy" % o)) for o in outputs})
        for name in outputs:
            host, device = got[0][name], got[1][name]
            if name[0] == "o":
                fits = host.tobytes() == device.tobytes()
            else:
                size = np.abs(host).max(initial=1)
                fits = np.all(np.abs(host.astype(np.float64) - device) <= 2.0 ** -23 * size * (16 + 4 * np.sqrt(n)))
            if not fits:
                bad += 1
                print("OTHER", entry, name, np.abs(host.astype(np.float64) - device).max())
    print("%d cores, %d by %d: %d other" % (blocks, m, n, bad))


if verb == "make":
    make()
else:
    run(*(int(v) for v in sys.argv[5:]))
