"""rng_seeds.py PROGRAM - looks whether the numbers of some seeds are spread as random ones are."""
import subprocess
import sys

import numpy as np

MASK = (1 << 64) - 1


def unshift(x, by):
    """The y with y ^ y >> by == x."""
    y = x
    for _ in range(64 // by + 1):
        y = x ^ y >> by
    return y


def seed_of(key):
    h = unshift(key, 27)
    t = unshift(h * pow(0x1c69b3f74ac4ae35, -1, 1 << 64) & MASK, 33)
    s = unshift(t * pow(0x3c79ac492ba7b653, -1, 1 << 64) & MASK, 27)
    return s - (1 << 64) * (s >> 63)


assert seed_of(0) == 0
for seed in (0, seed_of(1), seed_of(3), seed_of(0xfff1), 1, -1):
    subprocess.run([sys.argv[1], "--quiet", "--set", f"seed={seed}", *(f"--output={name}={sys.argv[1]}.{name}.npy" for name in "buvn")], check=True)
    b, u, v, n = (np.load(f"{sys.argv[1]}.{name}.npy").ravel() for name in "buvn")
    assert len(set(b.tolist())) == b.size, seed
    for shift in range(0, 64, 8):  # chi squared of 255 degrees of freedom
        counts = np.bincount((b >> np.uint64(shift) & np.uint64(255)).astype(int), minlength=256)
        assert ((counts - b.size / 256) ** 2 / (b.size / 256)).sum() < 360, (seed, shift)
    for x in (u, v):
        assert abs(x.mean() - 0.5) < 0.02 and abs(x.var() - 1 / 12) < 0.005 and 0 <= x.min() and x.max() < 1, seed
    assert abs(n.mean()) < 0.06 and abs(n.var() - 1) < 0.1, seed
