"""usage: flash_4096.py PROGRAM FOLDER: runs attention in one ring of 128 KiB and compares it with NumPy."""
import os
import re
import subprocess
import sys

import numpy as np

from cases import attention

program, folder = sys.argv[1:]
rng, command = np.random.default_rng(3), [program, "--quiet", "--stats", "--rings", "1", "--heap", "128K"]
data = {name: (2 * rng.random((4096, 64)) - 1).astype(np.float32) for name in "QKV"}
for name, array in data.items():
    np.save(os.path.join(folder, name), array)
    command += ["--input", "%s=%s/%s.npy" % (name, folder, name)]
want = attention(data["Q"], data["K"], data["V"])
for window in (2, 64, 1024):
    out = os.path.join(folder, "Y.npy")
    said = subprocess.run(command + ["--window", str(window), "--output", "Y=" + out], stdout=subprocess.PIPE, check=True).stdout.decode()
    used = re.search(r"Heap Ring: +(\d+) / 131072", said).group(1)
    print("window %d: %s of 131072 bytes, error %.1e" % (window, used, np.abs(np.load(out) - want).max()))
