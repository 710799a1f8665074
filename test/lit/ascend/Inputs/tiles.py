"""Makes what --emit=ascendc prints of the kernels of std/tile.pto that are in index notation: tiles.py PTOC PROGRAM FOLDER.

FOLDER/tiles.cpp, and a map of these and of the kernels of kernels/ascend, which stands on standard input.
"""
import pathlib
import re
import subprocess
import sys

ptoc, program, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
text = subprocess.run([ptoc, "build", "--emit=ascendc", program], check=True, capture_output=True, text=True).stdout
names = [n for n in re.findall(r"^ \*     \[(\w+)\]$", text, re.M) if not n.startswith("pto_")]
(folder / "tiles.cpp").write_text(text + "".join("MOCK_KERNEL(%s)\n" % n for n in names))
sections = "".join("[%s]\nobject = tiles.so\nfunction = device_%s\nengine = vector\n" % (n, n) for n in names)
(folder / "map.ini").write_text(sys.stdin.read() + sections)
