"""Every example is an object that loads; those whose inputs are easy agree with NumPy on dense, sliced and transposed arrays."""
import pathlib
import unittest

import numpy as np

import ptoc

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
random = np.random.default_rng(7)


def program(name, **constants):
    return ptoc.compile(EXAMPLES / f"{name}.pto", **constants)


def layouts(array):
    """The same values: dense, every second of a larger array, transposed in memory, backwards in memory."""
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    yield array.copy()
    yield wide[tuple(slice(None, None, 2) for _ in array.shape)]
    yield np.ascontiguousarray(array.T).T
    yield np.ascontiguousarray(array[::-1])[::-1]


def agree(test, call, want, *arrays):
    """Each layout of the arguments gives the result, or is E18 if it is not dense; the dense one must give it."""
    for number, given in enumerate(zip(*(layouts(a) for a in arrays))):
        try:
            np.testing.assert_allclose(call(*given), want, rtol=2e-4, atol=1e-5)
        except ValueError as refused:
            test.assertIn("[E18]", str(refused))
            test.assertGreater(number, 0)
            call(*(np.ascontiguousarray(a) for a in given))


class Examples(unittest.TestCase):
    def test_every_example_loads(self):
        for path in sorted(EXAMPLES.glob("*.pto")):
            with self.subTest(path.name):
                self.assertTrue(dir(ptoc.compile(path)))

    def test_vadd(self):
        m = program("vadd")
        x, y = (random.random(50000, "f4") for _ in range(2))
        agree(self, lambda a, b: m.vadd(a, b, n=50000), x + y, x, y)

    def test_bgemm(self):
        m = program("bgemm", T=16)
        A, B, C = random.random((2, 32, 48), "f4"), random.random((2, 48, 16), "f4"), random.random((2, 32, 16), "f4")

        def call(a, b, c):
            c = np.array(c)
            m.bgemm(a, b, c)
            return c

        agree(self, call, C + A @ B, A, B, C)

    def test_total(self):
        m = program("treesum")
        x = random.random(10000, "f4")
        agree(self, m.total, [x.sum(dtype="f8")], x)

    def test_sort(self):
        m = program("mergesort")
        x = random.integers(-1000, 1000, 20000)
        agree(self, m.sort, np.sort(x), x)

    def test_strassen(self):
        m = program("strassen")
        a, b = random.random((256, 256)), random.random((256, 256))
        agree(self, m.strassen, a @ b, a, b)

    def test_fft(self):
        m = program("fft")
        x = random.random((16, 32)) + 1j * random.random((16, 32))
        z = np.asarray(m.fft(np.stack([x.real, x.imag], -1)))
        np.testing.assert_allclose((z[..., 0] + 1j * z[..., 1]).ravel(), np.fft.fft(x.ravel()), rtol=1e-6, atol=1e-6)

    def test_jacobi(self):
        m = program("jacobi")
        u = np.zeros((34, 34), "f4")
        u[0] = 1
        v, sweeps = u.copy(), m.jacobi(u, u.copy(), max_sweeps=10)
        for _ in range(10):
            v[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
        np.testing.assert_array_equal(sweeps, [10])
        np.testing.assert_allclose(u, v, rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
