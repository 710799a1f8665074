# files.py FOLDER - NumPy files for the entry scale<N, M>(x: f32[N, M], y: f32[N + 2, M], z, s), good ones and bad ones.
import os
import sys

import zipfile

import numpy as np

os.chdir(sys.argv[1])
x = np.arange(12, dtype="<f4").reshape(3, 4)
np.save("x.npy", x)
np.save("y.npy", np.ones((5, 4), "<f4"))
np.save("empty_x.npy", np.zeros((0, 4), "<f4"))
np.save("empty_y.npy", np.zeros((2, 4), "<f4"))

np.save("f64.npy", x.astype("<f8"))
np.save("i32.npy", x.astype("<i4"))
np.save("big.npy", x.astype(">f4"))
np.save("object.npy", np.array([None]), allow_pickle=True)
np.save("struct.npy", np.zeros((3, 4), [("a", "<f4")]))
np.save("text.npy", np.array(["abc"]))
np.save("rank1.npy", x[0])
np.save("rank3.npy", x[None])
np.save("rank0.npy", np.float32(1))
np.save("fortran.npy", np.asfortranarray(x))
np.save("x34.npy", x)
np.save("y64.npy", np.ones((6, 4), "<f4"))
np.save("y53.npy", np.ones((5, 3), "<f4"))
np.save("y14.npy", np.ones((1, 4), "<f4"))
np.savez("zip.npz", y=x, z=x)
with zipfile.ZipFile("small.npz", "w", zipfile.ZIP_BZIP2) as z:
    np.save(z.open("x.npy", "w"), x)
open("cut.npz", "wb").write(open("zip.npz", "rb").read()[:-30])
open("wrong.npz", "wb").write(open("zip.npz", "rb").read().replace(b"PK\x01\x02", b"PK\x01\x03"))

whole = open("x.npy", "rb").read()


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


def header(name, text, version=b"\1\0"):
    write(name, b"\x93NUMPY" + version + len(text).to_bytes(2 if version == b"\1\0" else 4, "little") + text + whole[128:])


write("short.npy", whole[:-1])
write("headless.npy", whole[:60])
write("magic.npy", b"\x92" + whole[1:])
write("version.npy", whole[:6] + b"\4\0" + whole[8:])
write("trailing.npy", whole + b"!")
write("nothing.npy", b"")
write("few.npy", b"\x93NUM")
write("text.txt", b"1 2 3\n")
header("garbage.npy", b"\xff\xfe\0\0garbage" * 5)
header("code.npy", b"__import__('os').system('false')\n")
header("negative.npy", b"{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }\n")
header("huge.npy", b"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n")
header("larger.npy", b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }\n")
header("lie.npy", b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }\n")
for order, name in ((b"|", "bar"), (b"=", "equal")):
    header(name + ".npy", b"{'descr': '" + order + b"f4', 'fortran_order': False, 'shape': (3, 4), }\n")
header("v2.npy", b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", b"\2\0")
header("v3.npy", b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", b"\3\0")
write("length.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff" + whole[10:])
os.mkdir("folder.npy")
os.mkfifo("fifo.npy")
