"""Compares FOLDER/result.npy with C + A * B, computed by NumPy's BLAS in f64 from the same files.

Tolerance per element: (k + 2) * 2^-24 * (|C| + |A| * |B|), the bound that holds for f32 sums of k products in any order.
"""
import os
import sys

import numpy as np


def main():
    load = lambda name: np.load(os.path.join(sys.argv[1], name + ".npy"))
    a, b, c = (load(name).astype(np.float64) for name in "ABC")
    result = load("result")
    if result.dtype != np.float32 or result.shape != c.shape:
        print("FAIL: result is %s%s, expected float32%s" % (result.dtype, result.shape, c.shape))
        return 1
    expected = c + np.matmul(a, b)
    error = np.abs(result - expected)
    bound = (a.shape[2] + 2) * 2.0**-24 * (np.abs(c) + np.matmul(np.abs(a), np.abs(b)))
    bad = ~(error <= bound)  # a NaN is bad
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        print("FAIL: %d of %d elements differ, first at C%s: %r, expected %r"
              % (bad.sum(), bad.size, list(at), float(result[at]), float(expected[at])))
        return 1
    print("ok: %d elements, largest error %.3g, largest share of the tolerance %.3f"
          % (error.size, error.max(), (error / bound).max()))
    return 0


sys.exit(main())
