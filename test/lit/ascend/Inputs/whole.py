"""Small whole numbers for tiles.pto: whole.py FOLDER."""
import sys

import numpy as np

random = np.random.default_rng(1)
for name, shape, kind in (("A", (70, 100), "f4"), ("B", (100, 53), "f4"), ("C", (70, 53), "f4"), ("F", (70, 53), "f8")):
    np.save("%s/%s.npy" % (sys.argv[1], name), random.integers(-3, 4, shape).astype(kind))
