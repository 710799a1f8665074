"""Numbers that callers give: none is cut to the bits of the library, and messages name the argument and its range."""
import functools
import unittest

import numpy as np

import ptoc

from shared_program import m, matrix

WRAPS = 2**64  # ctypes takes WRAPS + n for n
I64 = f"must be from {-2**63} to {2**63 - 1}"


class Numbers(unittest.TestCase):
    def refused(self, kind, text, call, *args, **kwargs):
        with self.assertRaises(kind) as caught:
            call(*args, **kwargs)
        self.assertIn(text, str(caught.exception))
        self.assertIs(type(caught.exception), kind)

    def test_extents(self):
        t = ptoc.empty("f64", 8)
        calls = {"empty": functools.partial(ptoc.empty, "f64"), "reshape": t.reshape, "broadcast": t.broadcast}
        for name, call in calls.items():
            low = -1 if name == "reshape" else 0
            wrong = f"{name}(): extent 0 is {WRAPS + 2}: must be from {low} to {2**63 - 1}"
            self.refused(ValueError, wrong, call, WRAPS + 2, 4)
            self.refused(ValueError, f"{name}(): extent 1 is -2: must be from {low} to ", call, 4, -2)
            self.refused(TypeError, f"{name}(): extent 0 is an integer, not 2.0", call, 2.0, 4)
            self.refused(TypeError, f"{name}(): extent 1 is an integer, not '8'", call, 1, "8")
        self.refused(ValueError, "extent 0 is a value of type int: must be from 0", ptoc.empty, "f64", 10**5000)
        self.refused(ValueError, f"transpose(): dimension 0 is {WRAPS}: {I64}", t.transpose, WRAPS)
        self.refused(TypeError, "transpose(): dimension 0 is an integer, not 0.0", t.transpose, 0.0)
        # NumPy's "i8" has 8 bytes, that of the language 8 bits
        self.refused(TypeError, "dtype('int64') is no element type", ptoc.empty, np.dtype("i8"), 1)

    def test_a_shape_is_one_sequence_or_its_numbers(self):
        t = ptoc.tensor(np.arange(8.0))
        for shape in ((2, 4), ((2, 4),), ([np.int64(2), np.uint8(4)],), (np.array([2, 4]),), (np.array(2), 4)):
            self.assertEqual(t.reshape(*shape).shape, (2, 4))
            self.assertEqual(ptoc.empty("f32", *shape).shape, (2, 4))
            self.assertEqual(t[:1].broadcast(*shape).shape, (2, 4))
        self.assertEqual(t.reshape(2, 4).transpose((1, 0)).shape, (4, 2))
        self.assertEqual((ptoc.empty("f32").shape, ptoc.empty("f32", ()).shape), ((), ()))
        self.assertEqual(t.reshape(2, -1).shape, (2, 4))

    def test_at_most_one_extent_is_left_open(self):
        t = ptoc.empty("f64", 8)
        for shape in ((-1, -1), (-1, 3), (-1, 0)):
            wrong = f"reshape(): {shape} leaves open what -1 is: ptoc.Tensor(f64[8]) has 8 elements"
            self.refused(ValueError, wrong, t.reshape, *shape)

    def test_rows_of_a_matrix(self):
        a = ptoc.sparse_of("csr", (3, 3), [np.arange(4), np.arange(3), np.ones(3)])
        self.refused(IndexError, f"'first' is {WRAPS}: must be from 0 to 3", a.rows, WRAPS, 1)
        self.refused(IndexError, f"'count' is {WRAPS + 1}: must be from 0 to 2", a.rows, 1, WRAPS + 1)
        self.refused(TypeError, "'first' is an integer, not 0.5", a.rows, 0.5, 1)
        self.refused(IndexError, f"rows[1] is {WRAPS}: {I64}", a.pick, [0, WRAPS])
        self.refused(IndexError, "row 3, and the matrix has 3", a.pick, [3])
        self.refused(TypeError, "rows[1] is an integer, not 1.0", a.pick, [0, 1.0])
        self.assertEqual((a.pick(np.array([2, 0])).shape, a.pick([]).shape), ((2, 3), (0, 3)))
        self.assertEqual(a.rows(np.int32(3), 0).shape, (0, 3))

    def test_rows_and_columns_of_a_matrix(self):
        x = np.arange(4)

        def made(*shape):
            return ptoc.sparse_of("csr", shape, [np.arange(4), np.arange(3), np.ones(3)])

        self.refused(ValueError, f"the matrix: extent 0 is {WRAPS + 3}: must be from 0", made, WRAPS + 3, 3)
        self.refused(TypeError, "the matrix: extent 1 is an integer, not 3.0", made, 3, 3.0)
        for shape in ((3,), 3):
            wrong = "a matrix has rows and columns, here are 1 extents"
            self.refused(ValueError, wrong, ptoc.sparse_of, "csr", shape, [x, x, x])

    def test_sizes_in_bytes(self):
        def runtime(size):
            return ptoc.Runtime(heap=size)

        for what, call in (("size", ptoc.pool_limit), ("size", ptoc.Pool), ("heap", runtime)):
            for size in ("99999999999G", "17179869184G", WRAPS + 4096, -1, "-1M"):
                self.refused(ValueError, f"'{what}' is {size!r}: must be from 0 to {2**63 - 1}", call, size)
            for size in ("1.5G", "G", ""):
                self.refused(ValueError, f"'{what}': {size!r} is no size: a number of bytes", call, size)
            for size in (4096.0, float("inf"), b"1M", [1]):
                self.refused(TypeError, f"'{what}' is an integer, not {size!r}", call, size)

    def test_settings_of_a_runtime(self):
        for setting in ("rings", "device", "recursion_limit", "window"):
            number = (WRAPS if setting == "window" else 2**32) + 64
            self.refused(ValueError, f"{setting!r} is {number}: must be from 0 to ", ptoc.Runtime, **{setting: number})
            self.refused(TypeError, f"{setting!r} is an integer, not 2.5", ptoc.Runtime, **{setting: 2.5})
        count = 2**32 + 2
        self.refused(ValueError, f"workers: 'vector' is {count}: must be", ptoc.Runtime, workers=f"vector={count}")
        self.refused(ValueError, "workers: 'vector=\u00b2' is not TYPE=NUMBER", ptoc.Runtime, workers="vector=\u00b2")
        for text, part in (("", ""), ("vector=1,", ""), ("vector", "vector"), ("gpu=1", "gpu=1"), ("cube=1,vector=-1", "vector=-1")):
            self.refused(ValueError, f"workers: {part!r} is not TYPE=NUMBER with TYPE one of cube, vector, cpu, accel", ptoc.Runtime, workers=text)
        self.refused(ValueError, "workers: 'vector' is given twice", ptoc.Runtime, workers="vector=1,vector=1")
        none = "cube=0,vector=0,cpu=0,accel=0"
        self.refused(ValueError, f"workers: {none!r} leaves no worker at all", ptoc.Runtime, workers=none)
        self.refused(TypeError, "'workers' is text, not 2", ptoc.Runtime, workers=2)
        self.refused(TypeError, "'backend' is text, not 2", ptoc.Runtime, backend=2)
        self.refused(ValueError, "'watchdog' is a value of type int: too large", ptoc.Runtime, watchdog=10**400)
        self.refused(TypeError, "'watchdog' is a number, not '1'", ptoc.Runtime, watchdog="1")
        for call in (ptoc.Runtime, lambda pool: ptoc.empty("f32", 1, pool=pool)):
            self.refused(TypeError, "'pool' is a ptoc.Pool, not ptoc.Tensor(f32[1])", call, pool=ptoc.empty("f32", 1))

    def test_scalars_of_a_call(self):
        x = np.arange(3)
        self.refused(ValueError, f"half(): 'n' is {WRAPS}: {I64}", m.half, 1.0, True, WRAPS)
        self.refused(ValueError, f"scale(): 'by' is {2**63}: {I64}", m.scale, x, by=2**63)
        self.refused(ValueError, f"scale(): 'N' is {WRAPS + 3}: {I64}", m.scale, x, N=WRAPS + 3)
        self.refused(TypeError, "scale(): 'N' is i64, not 3.0", m.scale, x, N=3.0)
        self.refused(ValueError, "half(): 'x' is a value of type int: too large for f64", m.half, 10**400, False, 1)
        self.refused(TypeError, "half(): 'x' is f64, not 1j", m.half, 1j, False, 1)
        self.refused(TypeError, "half(): 'x' is f64, not (1+1j)", m.half, np.complex64(1 + 1j), False, 1)
        self.refused(TypeError, "half(): 'x' is f64, not array([1., 2.])", m.half, np.array([1.0, 2]), False, 1)
        self.refused(TypeError, "half(): 'x' is f64, not bytearray(b'1')", m.half, bytearray(b"1"), False, 1)
        self.assertEqual(m.half(0.0, True, -2**63), -2.0**63)

    def test_scalars_of_numpy_and_arrays_of_rank_0_are_scalars(self):
        for x in (np.float16(3), np.float32(3), np.int8(3), np.array(3), np.array(3.0, "f4")):
            self.assertEqual(m.half(x, np.False_, np.array(1)), 1.5)
        for by in (np.int64(5), np.uint8(5), np.array(5, "i4")):
            np.testing.assert_array_equal(m.scale(np.arange(3), by=by), [0, 5, 10])

    def test_arrays_of_one_element_are_no_scalars(self):
        x = np.arange(3)
        for x_of in (np.array([3.0]), np.array([[3]]), np.array([3.0], "f4")):
            self.refused(TypeError, f"half(): 'x' is f64, not {x_of!r}", m.half, x_of, False, 1)
        self.refused(TypeError, "half(): 'big' is bool, not array([ True])", m.half, 1.0, np.array([True]), 1)
        for by in (np.array([3]), np.array([[3]])):
            self.refused(TypeError, f"half(): 'n' is i64, not {by!r}", m.half, 1.0, True, by)
            self.refused(TypeError, f"scale(): 'by' is i64, not {by!r}", m.scale, x, by=by)
            self.refused(TypeError, f"scale(): 'N' is i64, not {by!r}", m.scale, x, N=by)

    def test_versions_of_dlpack(self):
        t = ptoc.tensor(matrix())
        wrong = f"max_version[1] is {2**32}: must be from 0 to {2**32 - 1}"
        self.refused(ValueError, wrong, t.__dlpack__, max_version=(1, 2**32))
        self.refused(TypeError, "max_version[0] is an integer, not 1.5", t.__dlpack__, max_version=(1.5, 0))


if __name__ == "__main__":
    unittest.main()
