"""check_chain.py PTOC FOLDER - (a * b) * (a * b) of sparse matrices by std/sparse, times a vector row by row, against NumPy.

Tests      test/lit/run/std-chain.test
"""
import pathlib
import subprocess
import sys

import numpy as np

PROGRAM = """import "std/sparse.pto" as sparse;
orch rows<R, C, Z>(host ptr: i64[R + 1], in idx: i64[Z], in val: f32[Z], in x: f32[C], out y: f32[R]) {
  for i in 0 .. R step 2 {
    let n = min(2, R - i);
    let p = ptr[i];
    let q = ptr[i + n];
    sparse.spmv(ptr[i +: n + 1], idx[p .. q], val[p .. q], x, out y[i +: n]);
  }
}
export orch main<R, K, Z, Y>(in a: sparse.Csr[R, K, Z], in b: sparse.Csr[K, R, Y], in x: f32[R], out y: f32[R]) {
  let c = sparse.product(a, b);
  let d = sparse.product_made(c, c);
  let ptr = sparse.host_of(d.ptr);
  rows(ptr, d.idx, d.val, x, out y);
  print dim(d.idx, 0);
}
"""


def csr(dense):
    row, column = np.nonzero(dense)
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(dense)))]).astype(np.int64), column.astype(np.int64), dense[row, column]


def entries(dense):
    return int((dense != 0).sum())


def main():
    ptoc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chain.pto").write_text(PROGRAM)
    subprocess.run([ptoc, "build", "-Werror", folder / "chain.pto", "-o", folder / "chain"], check=True)
    rng, wrong, cases = np.random.default_rng(5), 0, [(1, 1), (7, 4), (24, 31), (5, 3)]
    for number, (r, k) in enumerate(cases):
        share = 0.0 if number == 3 else 0.2 + 0.6 * (r == 1)
        a, b = [(rng.integers(1, 5, shape) * (rng.random(shape) < share)).astype(np.float32) for shape in ((r, k), (k, r))]
        x = rng.integers(0, 4, r).astype(np.float32)
        command = [folder / "chain", "--quiet", f"--dim=K={k}", f"--output=y={folder}/y.npy"]
        for name, array in [("x", x)] + [(f"{m}.{part}", v) for m, dense in (("a", a), ("b", b)) for part, v in zip(("ptr", "idx", "val"), csr(dense))]:
            np.save(folder / f"{name}.npy", array)
            command.append(f"--input={name}={folder}/{name}.npy")
        want = (a @ b) @ (a @ b)
        for engine in ("threads", "process"):
            done = subprocess.run(command + [f"--engine={engine}"], capture_output=True, text=True)
            if done.returncode or int(done.stdout) != entries(want) or not np.array_equal(np.load(folder / "y.npy"), want @ x):
                print("WRONG", (r, k), engine, done.stdout, done.stderr)
                wrong += 1
    print(f"{2 * len(cases)} chains, {wrong} wrong")


main()
