"""npz.py - runs ./run with archives as numpy.savez writes them, and looks at what it writes."""
import io, random, subprocess, unittest.mock, zipfile
import numpy as np

a, b = np.float32([1, 2, 3]), np.int64([[1, 2, 3], [4, 5, 6]])


def run(*words, code=0):
    r = subprocess.run(["./run", *words], capture_output=True, text=True)
    assert r.returncode == code, (r.returncode, r.stderr)
    return r.stderr


np.savez("in.npz", a=a, b=b)
np.savez("only.npz", whatever=a)
run("--input", "a=in.npz", "--input", "b=in.npz", "--output", "c=out.npz", "--output", "d=out.npz", "--output", "e=e.npy")
out = np.load("out.npz")
assert sorted(out.files) == ["c", "d"] and (out["c"] == a + b[0]).all() and (out["d"] == b + [[1], [-1]]).all(), out.files
assert zipfile.ZipFile("out.npz").testzip() is None
run("--input", "a=only.npz", "--input", "b=in.npz", "--expect", "c=out.npz", "--expect", "d=out.npz", "--expect", "e=e.npy")
run("--input", "a=out.npz", "--input", "b=in.npz", code=4)  # it has no 'a'
np.savez("none.npz")
assert "it has none" in run("--input", "a=none.npz", "--input", "b=in.npz", code=4)
# an array without elements, and a comment at the end
np.savez("empty.npz", a=a[:0], b=b[:, :0])
run("--input", "a=empty.npz", "--input", "b=empty.npz", "--output", "c=empty-out.npz")
assert np.load("empty-out.npz")["c"].shape == (0,)
with zipfile.ZipFile("in.npz", "a") as z:
    z.comment = b"PK\5\6 a comment"
run("--input", "a=in.npz", "--input", "b=in.npz", "--expect", "c=out.npz")
# sizes, places and a directory that stand in eight bytes, as in an archive of more than 4 GiB
with unittest.mock.patch.object(zipfile, "ZIP64_LIMIT", 0):
    np.savez("large.npz", a=a, b=b)
assert b"PK\6\6" in open("large.npz", "rb").read()
run("--input", "a=large.npz", "--input", "b=large.npz", "--expect", "c=out.npz", "--expect", "d=out.npz")
np.savez_compressed("packed.npz", a=a, b=b)
run("--input", "a=packed.npz", "--input", "b=packed.npz", "--expect", "c=out.npz", "--expect", "d=out.npz")
# one bit of the file: in the elements, in the header, or in the checksum itself
np.savez("whole.npz", a=a, b=b)
whole = open("whole.npz", "rb").read()
with zipfile.ZipFile("whole.npz") as z:
    members = z.infolist()
directory = 0
for m in members:
    name, begin = m.filename[:-4], m.header_offset + 30 + len(m.filename) + int.from_bytes(whole[m.header_offset + 28:][:2], "little")
    directory = whole.index(b"PK\1\2", directory + 1)
    end = begin + m.file_size
    for at in (end - 1, end - 11, begin + 50, directory + 16):
        bad = bytearray(whole)
        bad[at] ^= 2
        open("bit.npz", "wb").write(bad)
        said = run("--input", "a=bit.npz", "--input", "b=bit.npz", code=4)
        assert at == begin + 50 or f"'{name}': '{name}' of bit.npz (at byte {begin}) is damaged: its checksum is wrong" in said, said
    bad = bytearray(whole)
    bad[end - 1] ^= 2
    open("bit.npz", "wb").write(bad)
    other = "b" if name == "a" else "a"
    run("--input", f"{name}=in.npz", "--input", f"{other}=bit.npz")  # this member is not read
# whatever is wrong with an archive, the run says so and does no harm
whole, rng = open("in.npz", "rb").read(), random.Random(1)
for n in range(150):
    bad = bytearray(whole)
    for _ in range(rng.randrange(1, 4)):
        bad[rng.randrange(len(bad)) if n % 2 else rng.randrange(len(bad) - 150, len(bad))] = rng.randrange(256)
    open("bad.npz", "wb").write(bad[:rng.randrange(len(bad))] if n % 5 == 0 else bad)
    r = subprocess.run(["./run", "--input", "a=bad.npz", "--input", "b=in.npz", "--quiet"], capture_output=True, text=True, errors="replace")
    assert r.returncode in (0, 4) and r.stderr.count("\n") == (r.returncode == 4), (n, r.returncode, r.stderr)
