"""npz-matrix.py - runs ./matrix with matrices as SciPy's save_npz writes them, compressed and not: rows and columns are bound as well."""
import subprocess
import numpy as np
import scipy.sparse as sp


def run(entry, *words, code=0):
    r = subprocess.run(["./matrix", "--entry", entry, *words], capture_output=True, text=True)
    assert r.returncode == code, (r.returncode, r.stdout, r.stderr)
    return r.stderr if code else r.stdout


a = sp.random(40, 40, 0.2, "csr", dtype="f4", random_state=1)
wide = sp.csr_matrix(a[:10])
x = np.arange(40, dtype="f4")
np.save("x.npy", x)
np.save("y.npy", a @ x)
for compressed in True, False:
    sp.save_npz("a.npz", a, compressed)
    run("square", "--input", "a=a.npz", "--input", "x=x.npy", "--expect", "y=y.npy")
    for format, entry in ("csr", "size"), ("csc", "turned"), ("coo", "coo"):
        sp.save_npz(f"{format}.npz", wide.asformat(format), compressed)
        assert run(entry, "--input", f"a={format}.npz").split() == ["10", "40", str(wide.nnz)]
    blocks = wide.tobsr((5, 4))
    sp.save_npz("bsr.npz", blocks, compressed)
    assert run("blocks", "--input", "a=bsr.npz").split() == ["2", "10", str(len(blocks.data)), "5", "4"]
# of a square matrix by columns the arrays would fit, and the result would be that of its transpose
sp.save_npz("turned.npz", a.tocsc())
assert "counts columns, and that of the struct counts rows" in run("square", "--input", "a=turned.npz", "--input", "x=x.npy", code=4)
assert "counts rows, and that of the struct counts columns" in run("turned", "--input", "a=csr.npz", code=4)
assert "has no array of this name" in run("size", "--input", "a=coo.npz", code=4)
assert "'a' has 40 columns, declared 'C', which is 41" in run("size", "--input", "a=csr.npz", "--dim", "C=41", code=4)
assert "there is no array to read 'a'" in run("size", "--input", "a=ones", code=2)
assert "no data for 'x'" in run("square", "--input", "a=a.npz", code=2)
# a field may have a file of its own, before or behind; an archive that is none of SciPy's has the names of the fields
np.save("val.npy", np.zeros_like(a.data))
np.save("zero.npy", np.zeros(40, "f4"))
for words in (["--input", "a=a.npz", "--input", "a.val=val.npy"], ["--input", "a.val=val.npy", "--input", "a=a.npz"]):
    run("square", *words, "--input", "x=x.npy", "--expect", "y=zero.npy")
np.savez("own.npz", ptr=a.indptr, idx=a.indices, **{"a.val": a.data, "val": np.zeros(3)})
run("square", "--input", "a=own.npz", "--input", "x=x.npy", "--expect", "y=y.npy")
# a compressed archive with wrong bytes is refused
sp.save_npz("a.npz", a)
packed = bytearray(open("a.npz", "rb").read())
for at in range(60, len(packed), 97):
    bad = bytearray(packed)
    bad[at] ^= 0x55
    open("bad.npz", "wb").write(bad)
    r = subprocess.run(["./matrix", "--entry", "square", "--input", "a=bad.npz", "--input", "x=x.npy", "--quiet"], capture_output=True, text=True,
                       errors="replace")
    assert r.returncode in (0, 1, 4) and (r.returncode == 0) == (r.stderr == ""), (at, r.returncode, r.stderr)
