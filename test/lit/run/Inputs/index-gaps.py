"""Runs index-gaps.pto and compares with numpy; then programs whose kernels were compiled in other groups."""
import subprocess
import sys

import numpy as np

ptoc, source = sys.argv[1:]
A = np.arange(64, dtype=np.float32).reshape(8, 8)
F = A + 6
half = A[0] + 1
want = {"B": A + 1, "C": A + 2, "D": A.T + 3, "E": A[::2] + 5, "F": F, "G": A.T + 7, "H": (A + 9).T, "v": A[0, ::2] + 4, "w": half / 8 + 1}


def run(program, *words):
    r = subprocess.run([ptoc, "run", "-v", program, *words], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r


for engine in ("serial", "threads", "timing", "process"):
    files = [w for name in want for w in ("--output", f"{name}={name}.npy")]
    np.save("A.npy", A)
    run(source, "--engine", engine, "--input", "A=A.npy", *files)
    for name, value in want.items():
        assert np.array_equal(np.load(f"{name}.npy"), value), (engine, name)

# The first program's group has row and carried; the second finds row there and has column alone; the third finds all three.
names = ("row", "column", "carried")
with open("k.pto", "w") as out:
    out.writelines(l for l in open(source) if l.startswith(tuple(f"kernel {k}<" for k in names)))


def program(name, *called):
    lines = [f"let t{i + 1} = k.{k}(t{i});" for i, k in enumerate(called)]
    with open(name, "w") as out:
        out.write('import "k.pto" as k;\nexport orch f(in x: f32[9], out y: f32[9]) {\nlet t0 = k.row(x);\n')
        out.write("\n".join(lines) + f"\nk.row(t{len(called)}, out y);\n}}\n")
    r = run(name, "--plan=apart", "--input", "x=ones")
    found = [k for k in names if f"unchanged: the kernel 'k_{k}_body'" in r.stderr]
    return float(r.stdout.split("max ")[1].split()[0]), found


assert program("a.pto", "row", "carried") == (2.5, [])
assert program("b.pto", "row", "column") == (6, ["row"])
assert program("c.pto", "row", "carried", "column") == (4.5, ["row", "column", "carried"])
