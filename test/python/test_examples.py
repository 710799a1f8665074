"""Every example, called from Python with dense, strided, transposed and reversed arrays, agrees with NumPy (scripts/cases)."""
import pathlib
import sys
import tempfile
import unittest

import numpy as np

import ptoc

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cases  # noqa: E402

LAYOUTS = {
    "dense": lambda a: a.copy(),
    "every second element": lambda a: strided(a),
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
}


def strided(array):
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


class Call(cases.Case):
    """The arrays and numbers of a run, as arguments of one call."""

    def __init__(self, folder, layout):
        super().__init__(folder, np.random.default_rng(3), 0)
        self.layout, self.arrays, self.given, self.results = layout, {}, {}, {}

    def give(self, name, array):
        self.arrays[name] = self.layout(array)
        head, _, field = name.partition(".")
        if field:
            self.given.setdefault(head, {})[field] = self.arrays[name]
        else:
            self.given[name] = self.arrays[name]
        return super().give(name, array)

    def set(self, **values):
        super().set(**values)
        self.given.update(values)

    def run(self, function, dimensions):
        """Results are in the order of the formals; a matrix that is made has its arrays one after the other."""
        made = function(**self.given, **dimensions)
        made = list(made) if isinstance(made, (tuple, ptoc.Sparse)) else [made]
        self.results = dict(zip((name for name in self.outputs if name not in self.arrays), made))

    def got(self, name):
        return np.asarray(self.arrays.get(name, self.results.get(name)))


class Examples(unittest.TestCase):
    def agrees(self, example, function, layout):
        with tempfile.TemporaryDirectory() as folder:
            call = Call(folder, LAYOUTS[layout])
            error, limit = example(call)
            dimensions = {"C": call.sizes["C"]} if example is cases.spgemm else {}  # no array has this extent
            try:
                call.run(function, dimensions)
            except ValueError as refused:  # a kernel requires contiguous memory
                self.assertIn("[E18]", str(refused))
                self.assertNotEqual(layout, "dense")
                return
            self.assertLessEqual(error(), limit)

    def test_every_example_agrees_with_numpy(self):
        self.assertEqual(sorted(e.__name__ for e in cases.ALL), sorted(p.stem for p in (ROOT / "examples").glob("*.pto")))
        for example in cases.ALL:
            program = ptoc.compile(ROOT / "examples" / f"{example.__name__}.pto")
            entry, = dir(program)
            for layout in LAYOUTS:
                with self.subTest(example.__name__, layout=layout):
                    self.agrees(example, getattr(program, entry), layout)


if __name__ == "__main__":
    unittest.main()
