"""Random views of random tensors against NumPy: shapes, elements, which tensors see the writes of a call, and no tensor is left."""
import os
import pathlib
import random
import tempfile
import unittest

import numpy as np

import ptoc

COUNT, SEED = int(os.environ.get("PTO_RANDOM", 150)), int(os.environ.get("PTO_SEED", 1))
MOST_TENSORS, STEPS = 14, 60

PROGRAM = """
kernel grow1<N>(inout x: f32[N], v: f32) on vector => { x[i] = x[i] * 2.0 + v; }
kernel grow2<M, N>(inout x: f32[M, N], v: f32) on vector => { x[i, j] = x[i, j] * 2.0 + v; }
kernel grow3<M, N, K>(inout x: f32[M, N, K], v: f32) on vector => { x[i, j, k] = x[i, j, k] * 2.0 + v; }
kernel one_more<M, N>(in x: f32[M, N], out y: f32[M, N]) on vector => { y[i, j] = x[i, j] + 1.0; }
export orch grow_rank_1<N>(inout x: f32[N], v: f32) { grow1(inout x, v); }
export orch grow_rank_2<M, N>(inout x: f32[M, N], v: f32) { grow2(inout x, v); }
export orch grow_rank_3<M, N, K>(inout x: f32[M, N, K], v: f32) { grow3(inout x, v); }
export orch more<M, N>(in x: f32[M, N], out y: f32[M, N]) { one_more(x, out y); }
"""

folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name) / "views.pto"
path.write_text(PROGRAM)
program = ptoc.compile(path)


class Pair:
    """A tensor, and the array that NumPy makes in the same steps.  Both share memory where the array was NumPy's own."""

    def __init__(self, tensor, array):
        self.tensor, self.array = tensor, array

    def memory(self):
        return np.asarray(self.tensor)

    def is_writable(self):
        """A broadcast tensor is not, nor is a view of it."""
        return self.memory().flags.writeable

    def is_one_memory(self):
        return np.shares_memory(self.memory(), self.array)


def with_shape(array, shape):
    """The view of these extents, or None: it would be a copy."""
    view = array.view()
    try:
        view.shape = shape
    except AttributeError:
        return None
    return view


class Steps:
    """One sequence of random steps; `pairs` live."""

    def __init__(self, test, seed):
        self.test, self.seed, self.rng, self.pairs, self.done = test, seed, random.Random(seed), [], []

    def run(self):
        steps = ["slice", "slice", "slice", "swap", "permute", "reshape", "broadcast", "share", "detach", "copy", "dense", "grow", "grow", "more",
                 "more_into", "drop", "make", "attach"]
        for _ in range(STEPS):
            name = self.rng.choice(steps) if self.pairs else "make"
            made = getattr(self, name)() if name in ("make", "attach") else getattr(self, name)(self.rng.choice(self.pairs))
            self.done.append((name, made and made.array.shape))
            self.pairs += [made] if made else []
            if len(self.pairs) > MOST_TENSORS:
                self.pairs.pop(self.rng.randrange(len(self.pairs)))
            for pair in self.pairs:
                is_writable = pair.is_writable() and not pair.array.flags.writeable
                if is_writable or pair.memory().shape != pair.array.shape or not np.array_equal(pair.memory(), pair.array):
                    self.test.fail(f"seed {self.seed}, {self.done}: {pair.memory()} and {pair.array}")

    def elements(self):
        rng, shape = self.rng, [self.rng.randint(0, 5) for _ in range(self.rng.choice([1, 2, 2, 3]))]
        return np.random.default_rng(rng.randrange(10**6)).integers(-5, 6, shape).astype("f4")

    def make(self):
        array = self.elements()
        tensor = ptoc.empty("f32", *array.shape)
        np.asarray(tensor)[...] = array
        return Pair(tensor, array)

    def attach(self):
        array = self.elements()
        return Pair(ptoc.tensor(array), array)

    def slice(self, pair):
        rng, tensor, array = self.rng, pair.tensor, pair.array
        choices = [lambda: slice(None), lambda: slice(rng.randint(-6, 6), rng.randint(-6, 6), rng.choice([None, 1, 2, -1, -2, 3])),
                   lambda: slice(rng.randint(0, 6), None), lambda: slice(None, None, -1), lambda: rng.randint(-5, 4)]
        key = tuple(rng.choice(choices)() for _ in range(rng.randint(1, array.ndim))) if array.ndim else ()
        if not key:
            return None
        try:
            view = array[key + (...,)]
        except IndexError:
            with self.test.assertRaises(IndexError):
                tensor[key]
            return None
        return Pair(tensor[key], view)

    def swap(self, pair):
        return Pair(pair.tensor.T, pair.array.T) if pair.array.ndim == 2 else None

    def permute(self, pair):
        order = self.rng.sample(range(pair.array.ndim), pair.array.ndim)
        return Pair(pair.tensor.transpose(*order), pair.array.transpose(order)) if order else None

    def reshape(self, pair):
        size = pair.array.size
        shapes = [(size,), (1, size), (size, 1)] + [(n, size // n) for n in (2, 3) if size % n == 0]
        shape = self.rng.choice(shapes)
        if with_shape(pair.memory(), shape) is None:
            with self.test.assertRaises(ValueError):
                pair.tensor.reshape(*shape)
            return None
        tensor, view = pair.tensor.reshape(*shape), with_shape(pair.array, shape)
        return None if view is None else Pair(tensor, view)

    def broadcast(self, pair):
        shape = (self.rng.randint(1, 3),) + tuple(n if n != 1 else self.rng.choice([1, 3]) for n in pair.array.shape)
        return Pair(pair.tensor.broadcast(*shape), np.broadcast_to(pair.array, shape)) if len(shape) <= 4 else None

    def share(self, pair):
        return Pair(pair.tensor.share(), pair.array)

    def detach(self, pair):
        return Pair(pair.tensor.detach(), pair.array.copy())

    def copy(self, pair):
        return Pair(pair.tensor.copy(), pair.array.copy())

    def dense(self, pair):
        return Pair(pair.tensor.dense(), pair.array if pair.memory().flags.c_contiguous else pair.array.copy())

    def grow(self, pair):
        """A call writes; where both have one memory, it has written both."""
        rank, value = pair.array.ndim, self.rng.randint(-3, 3)
        if not 1 <= rank <= 3:
            return None
        call = getattr(program, f"grow_rank_{rank}")
        if not pair.is_writable():
            with self.test.assertRaises(ValueError):
                call(pair.tensor, value)
        else:
            expected, is_one = pair.array * 2 + value, pair.is_one_memory()
            call(pair.tensor, value)
            if not is_one:
                pair.array[...] = expected
        return None

    def more(self, pair):
        return Pair(program.more(pair.tensor), pair.array + 1) if pair.array.ndim == 2 else None

    def more_into(self, pair):
        others = [p for p in self.pairs if p.array.shape == pair.array.shape and p.array.ndim == 2 and p.is_writable()]
        if not others:
            return None
        to = self.rng.choice(others)
        expected, is_one = pair.array + 1, to.is_one_memory()
        try:
            program.more(pair.tensor, to.tensor)
        except ValueError:  # E09: they overlap
            self.test.assertTrue(np.shares_memory(pair.array, to.array))
            return None
        if not is_one:
            to.array[...] = expected
        return None

    def drop(self, pair):
        self.pairs.remove(pair)


class Views(unittest.TestCase):
    def test_random_views_are_those_of_numpy(self):
        before = len(ptoc.tensors())
        for seed in range(SEED, SEED + COUNT):
            Steps(self, seed).run()
        self.assertEqual(len(ptoc.tensors()), before)


if __name__ == "__main__":
    unittest.main()
