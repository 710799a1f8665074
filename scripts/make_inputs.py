"""Makes A.npy, B.npy and C.npy for examples/bgemm.pto: f32, uniform in [-1, 1), the same numbers for the same seed."""
import argparse
import os

import numpy as np


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("folder")
    for name, default in (("batch", 4), ("m", 512), ("n", 512), ("k", 512), ("seed", 1)):
        p.add_argument("--" + name, type=int, default=default)
    a = p.parse_args()
    rng = np.random.default_rng(a.seed)
    os.makedirs(a.folder, exist_ok=True)
    for name, rows, columns in (("A", a.m, a.k), ("B", a.k, a.n), ("C", a.m, a.n)):
        x = (2 * rng.random((a.batch, rows, columns)) - 1).astype(np.float32)
        np.save(os.path.join(a.folder, name + ".npy"), x)


main()
