"""Arrays and sparse matrices of other libraries in calls from Python: DLPack, torch, SciPy."""
import unittest

import numpy as np

import ptoc

from shared_program import m, matrix, sparse_path


class Matrices(unittest.TestCase):
    def test_a_csr_matrix_is_a_struct_of_its_arrays(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("SciPy is not installed")
        dense = matrix(5, 7) * (matrix(5, 7) % 3 == 0)
        sparse = scipy.sparse.csr_matrix(dense)
        x = np.arange(7, dtype="f4")
        np.testing.assert_allclose(m.spmv(ptoc.csr(sparse), x), dense @ x)
        np.testing.assert_allclose(m.spmv({"ptr": sparse.indptr, "idx": sparse.indices, "val": sparse.data}, x), dense @ x)
        np.testing.assert_allclose(m.spmv(sparse, x), dense @ x)
        with self.assertRaisesRegex(TypeError, "tocsr"):
            ptoc.csr(sparse.tocoo())
        for name in ("coo", "bsr", "lil", "dok", "dia", "csc"):
            with self.assertRaisesRegex(TypeError, "'a'.*a.tocsr\\(\\)"):
                m.spmv(sparse.asformat(name), x)
            with self.assertRaisesRegex(TypeError, "a CSR matrix of SciPy is needed, this is .*: pass a.tocsr\\(\\)"):
                ptoc.csr(sparse.asformat(name))

    def test_a_matrix_is_sliced_shared_and_converted_without_a_copy(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("SciPy is not installed")
        given = scipy.sparse.random(20, 7, 0.3, format="csr", dtype="f4", random_state=3)
        a = ptoc.sparse(given, check=True)
        self.assertEqual((a.format, a.shape, a.nnz, a.dtype, a.index_dtype), ("csr", (20, 7), given.nnz, "f32", "i32"))
        self.assertTrue(a.is_unique)
        self.assertEqual(repr(a), f"ptoc.Sparse(csr f32[20, 7], {given.nnz} elements)")
        x, dense = np.arange(7, dtype="f4"), given.toarray()
        np.testing.assert_allclose(m.spmv(a, x), dense @ x, rtol=1e-5)
        self.assertEqual(np.asarray(a.val).ctypes.data, given.data.ctypes.data)
        part = a.rows(5, 9)
        np.testing.assert_array_equal(part.scipy().toarray(), dense[5:14])
        np.testing.assert_array_equal(a.T.scipy().toarray(), dense.T)
        np.testing.assert_array_equal(a.pick([3, 3, 0]).convert("csr").scipy().toarray(), dense[[3, 3, 0]])
        np.testing.assert_array_equal(a.convert("coo").scipy().toarray(), dense)
        kept, shared = a.detach(), a.share()
        given.data[:] = 0
        self.assertEqual(np.asarray(shared.val).sum(), 0)
        self.assertEqual(kept.shape, a.shape)
        with self.assertRaises(AttributeError):
            a.row
        with self.assertRaisesRegex(ValueError, "no format 'dia'"):
            a.convert("dia")
        with self.assertRaisesRegex(ptoc.PtoError, "BSR is not: nothing says how large its blocks would be"):
            a.convert("bsr")
        with self.assertRaises(IndexError):
            a.rows(15, 9)
        with self.assertRaisesRegex(ValueError, "'x' is f32\\[7\\], but extent 0 .* is 20"):
            m.spmv(a.T.convert("csr"), x)

    def test_std_sparse_takes_matrices_of_scipy_as_they_are(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("SciPy is not installed")
        s = ptoc.compile(sparse_path)
        random = np.random.default_rng(1)
        a = scipy.sparse.random(50, 30, 0.2, format="csr", random_state=1)
        b = scipy.sparse.random(30, 40, 0.2, format="csr", random_state=2)
        np.testing.assert_allclose(s.spmv(ptoc.csr(a), random.random(30)), a @ np.random.default_rng(1).random(30))
        x = random.random((30, 70)).astype("f4")
        np.testing.assert_allclose(s.spmm(ptoc.csr(a.astype("f4")), x), a.astype("f4") @ x, rtol=1e-5)
        with self.assertRaisesRegex(ValueError, "'x' is f64\\[31\\]"):
            s.spmv(ptoc.csr(a), random.random(31))

        def wide(matrix):
            matrix = matrix.astype("f4")
            return {"ptr": matrix.indptr.astype("i8"), "idx": matrix.indices.astype("i8"), "val": matrix.data}

        made = s.product(wide(a), wide(b), C=40)
        self.assertEqual((made.format, made.shape), ("csr", (50, 40)))
        np.testing.assert_allclose(made.scipy().toarray(), (a @ b).toarray(), rtol=1e-4)
        ptr, idx, val = made
        self.assertEqual((ptr.shape, idx.shape, val.dtype), ((51,), val.shape, "f32"))
        again = s.product(made, s.product(wide(b.T.tocsr()), wide(b), C=40))  # its columns are those of the matrix
        np.testing.assert_allclose(again.scipy().toarray(), (a @ b @ b.T @ b).toarray(), rtol=1e-3)


class Formats(unittest.TestCase):
    def test_a_matrix_of_scipy_in_another_format_is_refused_with_the_fix(self):
        x = np.ones(3, "f4")

        class Matrix(dict):  # as a dok_matrix of SciPy, whose elements are asked for by two indices
            shape = (3, 3)

            def __init__(self, format):
                self.format = format

            def get(self, key):
                raise IndexError("Index must be a pair of integers.")

            def tocsr(self):
                raise AssertionError("it is for the caller to copy")
        for name in ("lil", "dok", "coo", "dia", "bsr"):
            wrong = f"spmv\\(\\): 'a': the format is csr or csc, this is {name}: pass a.tocsr\\(\\)"
            with self.assertRaisesRegex(TypeError, wrong):
                m.spmv(Matrix(name), x)
        with self.assertRaisesRegex(TypeError, "a CSR matrix of SciPy is needed, this is Matrix: pass a.tocsr\\(\\)"):
            ptoc.csr(Matrix("lil"))
        with self.assertRaisesRegex(TypeError, "in csr, csc, coo or bsr is needed, this is Matrix: pass a.tocsr\\(\\)"):
            ptoc.sparse(Matrix("lil"))
        with self.assertRaisesRegex(TypeError, "is needed, this is list$"):
            ptoc.csr([1])

    def test_every_number_is_looked_at_wherever_check_is_true(self):
        outside = [np.arange(4), np.array([0, 1, 9]), np.ones(3)]
        for check in (True, 2, 2**32, "yes"):
            with self.assertRaisesRegex(IndexError, "an index is outside: element 2"):
                ptoc.sparse_of("csr", (3, 3), outside, check=check)

    def test_a_struct_whose_shape_says_nothing_is_bound_by_its_arrays(self):
        x = np.ones(3, "f4")

        class Matrix:
            ptr, idx, val = np.arange(4, dtype="i4"), np.arange(3, dtype="i4"), x

        for shape in ((3,), 3, None, [3, 3], (3, 3)):
            Matrix.shape = shape
            np.testing.assert_array_equal(m.spmv(Matrix, x), x)

    def test_a_sparse_in_another_format_is_refused_with_its_own_fix(self):
        a = ptoc.sparse_of("csr", (3, 3), [np.arange(4, dtype="i4"), np.arange(3, dtype="i4"), np.ones(3, "f4")])
        with self.assertRaisesRegex(TypeError, "'a': the format is csr or csc, this is coo: pass a.convert\\('csr'\\)"):
            m.spmv(a.convert("coo"), np.ones(3, "f4"))
        np.testing.assert_array_equal(m.spmv(a.convert("coo").convert("csr"), np.ones(3, "f4")), np.ones(3))

    def test_a_matrix_has_as_many_arrays_as_its_format(self):
        ptr, idx, val = np.arange(4), np.arange(3), np.ones(3, "f4")
        self.assertEqual(ptoc.sparse_of("csr", (3, 3), (ptr, ptoc.tensor(idx), val), check=True).nnz, 3)
        with self.assertRaisesRegex(ValueError, "has 3 arrays, ptr, idx, val; here are 1"):
            ptoc.sparse_of("csr", (3, 3), [ptr])
        with self.assertRaisesRegex(ValueError, "has 4 arrays"):
            ptoc.sparse_of("csr4", (3, 3), [ptr, idx, val])
        with self.assertRaisesRegex(ValueError, "no format 'dia'"):
            ptoc.sparse_of("dia", (3, 3), [])


class Libraries(unittest.TestCase):
    def test_dlpack_both_ways(self):
        t = m.plus(matrix(), matrix())
        array = np.from_dlpack(t)
        np.testing.assert_array_equal(array, 2 * matrix())
        m.plus(matrix(), t, t2 := m.plus(t, t))
        np.testing.assert_array_equal(t2, 3 * matrix())
        m.plus(matrix(), matrix(), t.T.T)  # the same memory
        np.testing.assert_array_equal(array, 2 * matrix())
        self.assertEqual(t.__dlpack_device__(), (1, 0))
        for _ in range(100):
            t.__dlpack__()  # nobody takes these
        t.__dlpack__(max_version=(1, 0))

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        a = torch.arange(12, dtype=torch.float32).reshape(3, 4)
        t = m.plus(a, a)
        self.assertTrue(torch.equal(torch.from_dlpack(t), 2 * a))
        c = torch.zeros(4, 3)
        m.plus(a.T, a.T, c)  # in place, and transposed as it is
        self.assertTrue(torch.equal(c, 2 * a.T))
        shared = ptoc.tensor(a)
        a[0, 0] = 7
        self.assertEqual(np.asarray(shared)[0, 0], 7)
        self.assertEqual(torch.from_dlpack(shared).data_ptr(), a.data_ptr())
        view = torch.from_dlpack(shared[::2])
        self.assertEqual((tuple(view.shape), view.stride()), ((2, 4), (8, 1)))
        half = torch.tensor([1.5, 2.0], dtype=torch.bfloat16)
        self.assertEqual(ptoc.tensor(half).dtype, "bf16")
        self.assertTrue(torch.equal(torch.from_dlpack(ptoc.tensor(half).copy()), half))
        x = torch.arange(3)
        np.testing.assert_array_equal(m.scale(x), 2 * np.arange(3))
        with self.assertRaisesRegex(TypeError, "'b' is f64"):
            m.plus(a, a.double())


if __name__ == "__main__":
    unittest.main()
