"""case.py - one run of an example: the arrays it is given, its options, and what it left.

Owner      Case: the files of the run, in its folder.
Tests      test/lit/examples/results.test
"""
import os

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


class Case:
    """Arrays and options of one run; `outputs` are read back when it is over."""

    def __init__(self, folder, rng, size):
        self.folder, self.rng, self.size = folder, rng, size
        self.arguments, self.outputs, self.printed = [], [], ""
        self.sizes = {}  # names of the program that no array and no option shows

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def give(self, name, array):
        np.save(self.path(name), array)
        self.arguments += ["--input", "%s=%s" % (name, self.path(name))]
        return array

    def f32(self, name, *shape):
        return self.give(name, (2 * self.rng.random(shape) - 1).astype(np.float32))

    def f64(self, name, *shape):
        return self.give(name, 2 * self.rng.random(shape) - 1)

    def set(self, **values):
        self.sizes.update(values)
        for name, value in values.items():
            self.arguments += ["--set", "%s=%s" % (name, value)]

    def want(self, *names):
        for name in names:
            self.outputs.append(name)
            self.arguments += ["--output", "%s=%s" % (name, self.path(name + ".out"))]

    def got(self, name):
        return np.load(self.path(name + ".out"))


def gap(a, b):
    """Largest difference, relative to the largest value."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return np.inf
    if a.size == 0:
        return 0.0
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(b)))))
