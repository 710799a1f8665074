#!/usr/bin/python3
"""neovim.py PTOC SOURCE - neovim.lua in a Neovim without a screen; exit code 77 where there is none."""
import os
import shutil
import subprocess
import sys
import tempfile

TEXT = '''import "std/tile.pto" as tile;
export orch f(in a: f32[64, 64], inout c: f32[64, 64]) {
  view At = a tiled [64, 64];
  let P = tile.gemm(a, At[0, 0]);
  tile.add_to(P, c);
}
'''


def main():
    nvim = shutil.which("nvim")
    if not nvim:
        print("there is no nvim")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.pto")
        with open(path, "w") as f:
            f.write(TEXT)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "neovim.lua")
        p = subprocess.run([nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", script], timeout=120, cwd=folder,
                           env={**os.environ, "PTOC": os.path.abspath(sys.argv[1]), "PROGRAM": path, "HOME": folder},
                           stdin=subprocess.DEVNULL, capture_output=True)
        print(p.stdout.decode(), p.stderr.decode())
        return p.returncode


if __name__ == "__main__":
    sys.exit(main())
