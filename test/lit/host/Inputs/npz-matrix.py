"""npz-matrix.py STEP - runs ./matrix with matrices as SciPy's save_npz writes them, compressed and not: rows and columns are bound as well.
Of an archive each byte at a distance of STEP is damaged."""
import io, struct, subprocess, sys, zipfile
import numpy as np
import scipy.sparse as sp

STEP = int(sys.argv[1])


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


# ---- damage: each error names the file, the member and its place ----

def write(path, members, compressed=False):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as z:
        for name, data in members.items():
            z.writestr(name + ".npy", data)


def npy(value):
    out = io.BytesIO()
    np.save(out, value)
    return out.getvalue()


def place(path, member):
    """Where the member begins, as its message says."""
    with zipfile.ZipFile(path) as z, open(path, "rb") as f:
        head = z.getinfo(member + ".npy").header_offset
        f.seek(head + 26)
        return f"'{member}' of {path} (at byte {head + 30 + sum(struct.unpack('<HH', f.read(4)))})"


def members(path):
    with zipfile.ZipFile(path) as z:
        return {name[:-4]: z.read(name) for name in z.namelist()}


sp.save_npz("good.npz", wide, False)
good = members("good.npz")
# another number: the archive's checksum is that of the old one
for member, old, new in ("shape", struct.pack("<q", 40), struct.pack("<q", 41)), ("format", b"csr", b"csc"), ("shape", b"<i8", b"<i9"):
    at = place("good.npz", member)
    data, first = open("good.npz", "rb").read(), int(at.split()[-1][:-1])
    found = data.index(old, first)
    open("good.npz.bad", "wb").write(data[:found] + new + data[found + len(new):])
    error = run("size", "--input", "a=good.npz.bad", code=4)
    assert f"'a': '{member}' of good.npz.bad (at byte {first}) is damaged: its checksum is wrong" in error, error
# each byte of both members and of the directory, stored and packed: a clear error, or nothing that anybody reads
for compressed in False, True:
    write("whole.npz", good, compressed)
    data = open("whole.npz", "rb").read()
    with zipfile.ZipFile("whole.npz") as z:
        spans = [(z.getinfo(m + ".npy").header_offset, 30 + len(m) + 4 + z.getinfo(m + ".npy").compress_size) for m in ("shape", "format")]
        spans.append((z.start_dir, len(data) - z.start_dir))
    unread = 0
    for begin, length in spans:
        for at in range(begin, begin + length, STEP):
            bad = bytearray(data)
            bad[at] ^= 0x11
            open("bad.npz", "wb").write(bad)
            r = subprocess.run(["./matrix", "--entry", "size", "--input", "a=bad.npz"], capture_output=True, text=True, errors="replace")
            if r.returncode == 0:
                assert r.stdout.split() == ["10", "40", str(wide.nnz)], (at, r.stdout)
                unread += 1
            else:
                assert r.returncode == 4 and "bad.npz" in r.stderr and r.stderr.count("\n") == 1, (at, r.returncode, r.stderr)
    assert unread < sum(length for _, length in spans) / STEP / 2, unread
# what is whole and no format or shape of SciPy's
for member, data, text in [
        ("shape", npy(np.int64([10, -40])), "is not two extents in i64 or i32"), ("shape", npy(np.int64([10, 40, 1])), "is not two extents"),
        ("shape", npy(np.int64([[10, 40]])), "is not two extents"), ("shape", npy(np.float64([10, 40])), "is not two extents"),
        ("shape", npy(np.array([10, 40], ">i8")), "is not two extents"), ("shape", npy(np.int64([10, 40]))[:-1], "is not two extents"),
        ("shape", npy(np.int64([10, 40])) + b"x", "is not two extents"), ("shape", npy(np.zeros(1000)), "is too large"),
        ("shape", npy(np.zeros(9)), "is too large"), ("shape", b"", "is empty, not a NumPy file"), ("shape", b"10 40", "is not a NumPy file"),
        ("shape", npy(np.int64([10, 40])).replace(b"'descr'", b"'desc'"), "is wrong: "), ("format", npy(np.array(b"csr"))[:-1], "is not csr"),
        ("format", npy(np.array(b"xyz")), "is not csr, csc, coo or bsr"), ("format", npy(np.array([b"csr"])), "is not csr"),
        ("format", npy(np.int64(3)), "is not csr"), ("format", npy(np.array(b"")), "is not csr"), ("format", npy(np.array(b"csrcsr")), "is not csr"),
        ("format", b"csr", "is not a NumPy file")]:
    for compressed in False, True:
        write("bad.npz", {**good, member: data}, compressed)
        error = run("size", "--input", "a=bad.npz", code=4)
        assert "'a': " in error and place("bad.npz", member) in error and text in error, error
write("bad.npz", {name: data for name, data in good.items() if name != "shape"})
assert "'a': bad.npz has 'format' and no 'shape'" in run("size", "--input", "a=bad.npz", code=4)
for format in b"coo", b"bsr":
    write("bad.npz", {**good, "format": npy(np.array(format))})
    assert f"is {format.decode()}, which the arrays of the struct are not" in run("size", "--input", "a=bad.npz", code=4)
sp.save_npz("bsr.npz", blocks)
write("bad.npz", {**members("bsr.npz"), "shape": npy(np.int64([11, 40]))})
assert "11 rows and 40 columns, which blocks of 5 x 4 do not divide" in run("blocks", "--input", "a=bad.npz", code=4)
# what other writers make of them is the same matrix
for format, shape in (np.array("csr"), np.int64([10, 40])), (np.array(b"csr", "S8"), np.int32([10, 40])):
    write("other.npz", {**good, "format": npy(format), "shape": npy(shape)})
    assert run("size", "--input", "a=other.npz").split() == ["10", "40", str(wide.nnz)]
