"""Calls from Python: arguments, results, messages, threads, Ctrl-C, other libraries."""
import copy
import ctypes
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import numpy as np

import ptoc

PROGRAM = """
param by: i64 = 2;
kernel add<M, N>(in a: f32[M, N], in b: f32[M, N], out c: f32[M, N]) on vector {
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            c[i * c_stride[0] + j * c_stride[1]] = a[i * a_stride[0] + j * a_stride[1]] + b[i * b_stride[0] + j * b_stride[1]];
}
kernel sum<N>(in a: f32[N], out s: f32[1]) on vector { s[0] = 0; for (int64_t i = 0; i < N; i++) s[0] += a[i]; }
kernel times<N>(in x: i64[N], out y: i64[N], by: i64) on vector { for (int64_t i = 0; i < N; i++) y[i] = by * x[i]; }
kernel flip<N>(in x: bool[N], out y: bool[N]) on vector { for (int64_t i = 0; i < N; i++) y[i] = !x[i]; }
kernel spin(inout a: f32[1]) on vector { for (volatile long i = 0; i < 2000000; i++) {} a[0] += 1; }
kernel gather<R, C, Z>(in ptr: i32[R + 1], in idx: i32[Z], in val: f32[Z], in x: f32[C], out y: f32[R]) on vector {
    for (int64_t r = 0; r < R; r++) {
        y[r] = 0;
        for (int32_t k = ptr[r]; k < ptr[r + 1]; k++) y[r] += val[k] * x[idx[k]];
    }
}
struct Csr<R, C, Z> { ptr: i32[R + 1]; idx: i32[Z]; val: f32[Z]; }
// c = a + b
export orch plus<M, N>(in a: f32[M, N], in b: f32[M, N], out c: f32[M, N]) { add(a, b, out c); }
export orch total<N>(in a: f32[N], out s: f32[1]) { sum(a, out s); }
export orch scale<N>(in x: i64[N], out y: i64[N]) { times(x, out y, by); }
export orch negate<N>(in x: bool[N], out y: bool[N]) { flip(x, out y); }
export orch half(x: f64, big: bool, n: i64) -> f64 { if big { return n; } return x / 2.0; }
export orch wait(inout a: f32[1], n: i64) { for i in 0 .. n { spin(inout a); } }
export orch fail(n: i64) { assert n < 3, "n is too large"; print n; }
export orch spmv<R, C, Z>(in a: Csr[R, C, Z], in x: f32[C], out y: f32[R]) { gather(a.ptr, a.idx, a.val, x, out y); }
"""

SPARSE = """
import "std/sparse.pto" as sparse;
const ROWS = 16;
export orch spmv<R, C, Z>(in a: sparse.Csr32_f64[R, C, Z], in x: f64[C], out y: f64[R]) {
  for i in 0 .. R step ROWS {
    let n = min(ROWS, R - i);
    let first = a.ptr[i] - a.ptr[0];
    let last = a.ptr[i + n] - a.ptr[0];
    sparse.spmv(a.ptr[i +: n + 1], a.idx[first .. last], a.val[first .. last], x, out y[i +: n]);
  }
}
export orch spmm<R, C, Z, N>(in a: sparse.Csr32[R, C, Z], in x: f32[C, N], out y: f32[R, N]) {
  sparse.spmm(a.ptr, a.idx, a.val, x, out y);
}
export orch product<R, C, Z, K, Y>(in a: sparse.Csr[R, K, Z], in b: sparse.Csr[K, C, Y]) -> sparse.MadeCsr[R, C, ?z] {
  let ptr = sparse.spgemm_count(a.ptr, a.idx, b.ptr, b.idx, C);
  let z = await ptr[R];
  let m: sparse.MadeCsr[R, C, z];
  copy(ptr, out m.ptr);
  sparse.spgemm_fill(a.ptr, a.idx, a.val, b.ptr, b.idx, b.val, m.ptr, out m.idx, out m.val, C);
  return m;
}
export orch positive<N>(in x: f64[N]) -> f64[?m] {
  let n = count(x);
  let m = await n[0];
  let y: f64[m];
  pack(x, out y);
  return y;
}
kernel copy<N>(in x: i64[N], out y: i64[N]) on vector { memcpy(y, x, (size_t)N * sizeof *y); }
kernel count<N>(in x: f64[N], out n: i64[1]) on vector { n[0] = 0; for (int64_t i = 0; i < N; i++) n[0] += x[i] > 0; }
kernel pack<N, M>(in x: f64[N], out y: f64[M]) on vector { for (int64_t i = 0, j = 0; i < N; i++) if (x[i] > 0) y[j++] = x[i]; }
"""

folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name) / "calls.pto"
path.write_text(PROGRAM)
m = ptoc.compile(path)
sparse_path = pathlib.Path(folder.name) / "sparse.pto"
sparse_path.write_text(SPARSE)


def matrix(rows=3, columns=4):
    return np.arange(rows * columns, dtype="f4").reshape(rows, columns)


class Arguments(unittest.TestCase):
    def test_arrays_go_in_and_out_without_a_copy(self):
        a, c = matrix(), np.zeros((3, 4), "f4")
        self.assertIsNone(m.plus(a, a, c))
        np.testing.assert_array_equal(c, 2 * a)
        made = m.plus(a, b=a)
        self.assertEqual((made.shape, made.dtype, made.strides, len(made)), ((3, 4), "f32", (4, 1), 3))
        np.testing.assert_array_equal(made, 2 * a)

    def test_sliced_transposed_and_reversed_arrays_go_in_as_they_are(self):
        a, b, c = matrix(8, 6), matrix(3, 4), np.full((3, 8), -1, "f4")
        m.plus(a[::2, ::-2].T, b, c[:, 1::2])
        np.testing.assert_array_equal(c[:, 1::2], a[::2, ::-2].T + b)
        np.testing.assert_array_equal(c[:, ::2], np.full((3, 4), -1))

    def test_results_are_arguments_of_other_calls(self):
        t = m.plus(matrix(), matrix())
        u = m.plus(t.T[:, ::-1], t.T)
        np.testing.assert_array_equal(u, 2 * matrix().T + 2 * matrix().T[:, ::-1])
        np.testing.assert_array_equal(t.reshape(-1)[5], np.float32(10))
        np.testing.assert_array_equal(t[1, 1:3], [10, 12])
        np.testing.assert_array_equal(t[..., 0], [0, 8, 16])
        self.assertEqual(t[1, 2].shape, ())
        with self.assertRaises(TypeError):
            t[[0, 1]]
        with self.assertRaises(IndexError):
            t[3]
        self.assertEqual(repr(t), "ptoc.Tensor(f32[3, 4])")

    def test_scalars_params_and_dimension_variables(self):
        self.assertEqual(m.half(3, False, 1), 1.5)
        self.assertEqual(m.half(np.float32(3), np.bool_(True), np.int32(7)), 7)
        x = np.arange(3)
        np.testing.assert_array_equal(m.scale(x), 2 * x)
        np.testing.assert_array_equal(m.scale(x, by=5), 5 * x)
        np.testing.assert_array_equal(m.scale(x, N=3), 2 * x)

    def test_read_only_empty_and_bool_arrays(self):
        a = matrix()
        a.flags.writeable = False
        np.testing.assert_array_equal(m.plus(a, a), 2 * a)
        with self.assertRaisesRegex(ValueError, "'c'"):
            m.plus(matrix(), matrix(), a)
        self.assertEqual(m.scale(np.zeros(0, "i8")).shape, (0,))
        np.testing.assert_array_equal(m.negate(np.array([True, False])), [False, True])

    def test_arrays_live_as_long_as_their_tensor(self):
        t = ptoc.tensor(matrix())
        part = t[1:]
        del t
        gc.collect()
        np.testing.assert_array_equal(part, matrix()[1:])
        array = np.asarray(m.plus(matrix(), matrix()))
        gc.collect()
        np.testing.assert_array_equal(array, 2 * matrix())

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
        with self.assertRaisesRegex(TypeError, "has no formal 'a.row'"):
            m.spmv(sparse.tocoo(), x)

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

    def test_a_result_whose_extent_the_run_decides_is_a_tensor(self):
        s = ptoc.compile(sparse_path)
        np.testing.assert_array_equal(s.positive(np.array([1.0, -1, 2])), [1, 2])
        self.assertEqual(s.positive(np.zeros(3)).shape, (0,))
        with self.assertRaisesRegex(TypeError, "the run decides"):
            s.positive(np.zeros(3), np.zeros(3))


class Messages(unittest.TestCase):
    def refused(self, kind, text, call, *args, **kwargs):
        with self.assertRaisesRegex(kind, text):
            call(*args, **kwargs)

    def test_wrong_names_and_types_are_type_errors(self):
        a = matrix()
        self.refused(TypeError, "'b' is f64\\[3, 4\\], declared f32\\[M, N\\]", m.plus, a, a.astype("f8"))
        self.refused(TypeError, "'b' is missing: f32\\[M, N\\]", m.plus, a)
        self.refused(TypeError, "no argument 'q'", m.plus, a, a, q=1)
        self.refused(TypeError, "'a' is given twice", m.plus, a, a, a=a)
        self.refused(TypeError, "takes 3 arguments, 4 were given", m.plus, a, a, a, a)
        self.refused(TypeError, "'a' is an array, f32\\[M, N\\], not list", m.plus, [1], a)
        self.refused(TypeError, "'n' is i64, not 1.5", m.half, 1.0, True, 1.5)
        self.refused(TypeError, "'x' is f64, not 'y'", m.half, "y", True, 1)

    def test_elements_in_another_order_of_bytes_name_the_argument_and_the_fix(self):
        a = matrix()
        self.refused(TypeError, "plus\\(\\): 'b': elements of >f4 .*; pass a.astype\\('=f4'\\)", m.plus, a, a.astype(">f4"))
        m.plus(a, a.astype(">f4").astype("=f4"))
        self.refused(TypeError, "plus\\(\\): 'b': elements of complex128 are none of the language's: there is f16, ", m.plus, a,
                     np.broadcast_to(np.complex128(1), a.shape))
        odd = np.zeros(a.size * 4 + 1, "u1")[1:].view("f4").reshape(a.shape)
        self.refused(TypeError, "'b': .* is not aligned to f32: copy the elements first", m.plus, a, odd)
        self.refused(ValueError, "'12Q' is no size: a number of bytes, or a number with one of K, M, G", ptoc.Runtime, heap="12Q")

    def test_arrays_whose_memory_is_not_their_elements_are_refused_with_the_fix(self):
        a = matrix()
        masked = np.ma.array(a, mask=a > 2)
        self.refused(ValueError, "plus\\(\\): 'b': a masked array, whose mask would be lost: pass a.filled\\(v\\)", m.plus, a, masked)
        self.refused(ValueError, "a masked array", ptoc.tensor, masked)
        np.testing.assert_array_equal(m.plus(a, masked.filled(0)), a + np.where(a > 2, 0, a))
        np.testing.assert_array_equal(m.plus(a, np.ma.array(a)), 2 * a)  # nothing is masked

    def test_types_that_the_language_has_not_are_named(self):
        a, shape = matrix(), matrix().shape
        self.refused(TypeError, "'b': DLPack: elements are complex64; there is f16, ", m.plus, a, np.zeros(shape, "c8"))
        for dtype, shown in (("O", "object"), ("M8[s]", "datetime64\\[s\\]"), ("m8[s]", "timedelta64"), ("U3", "<U3"), ("S3", "\\|S3"),
                             ("V4", "\\|V4"), ([("x", "f4"), ("y", "f4")], "\\[\\('x', '<f4'\\), \\('y', '<f4'\\)\\]")):
            self.refused(TypeError, f"plus\\(\\): 'b': elements of {shown}.* are none of the language's: there is f16, bf16, f32",
                         m.plus, a, np.zeros(shape, dtype))
        field = np.ones(shape, [("x", "f4"), ("y", "f4")])["x"]  # every second element
        np.testing.assert_array_equal(m.plus(a, field), a + 1)
        odd = np.ones(shape, [("x", "f4"), ("y", "i2")])["x"]
        self.refused(ValueError, "plus\\(\\): 'b': strides are not a multiple of the elements: copy the array", m.plus, a, odd)

    def test_what_is_no_array_is_refused_with_the_fix(self):
        a = matrix()

        class Series:  # as of pandas: neither the array interface nor DLPack
            def __array__(self, dtype=None):
                return a

        class Matrix:  # as of SciPy, for a formal that is no struct
            def toarray(self):
                return a
        for value in ([1.0], (1.0,), bytearray(4), memoryview(b"1234"), Series()):
            self.refused(TypeError, f"not {type(value).__name__}: pass np.asarray\\(a, 'f4'\\)", m.plus, a, value)
        self.refused(TypeError, "not Matrix: pass a.toarray\\(\\)", m.plus, a, Matrix())
        self.refused(TypeError, "not float32", m.plus, a, np.float32(1))
        self.refused(ValueError, "'b' is f32\\[\\], declared f32\\[M, N\\]", m.plus, a, np.array(1, "f4"))

    def test_views_that_a_call_may_write_or_not(self):
        a, c = matrix(), np.zeros(matrix().shape, "f4")
        m.plus(a, a, c[::-1, ::-1])  # negative strides
        np.testing.assert_array_equal(c, 2 * a[::-1, ::-1])
        np.testing.assert_array_equal(m.plus(a, np.broadcast_to(np.float32(1), a.shape)), a + 1)
        one = np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), a.shape, (0, 0))
        self.refused(ValueError, "'c': a tensor would be written that has two indices on one element", m.plus, a, a, one)
        windows = np.lib.stride_tricks.as_strided(np.zeros(12, "f4"), a.shape, (4, 4))
        self.refused(ValueError, "'c': a tensor would be written that has two indices on one element", m.plus, a, a, windows)
        frozen = np.zeros(a.shape, "f4")
        frozen.flags.writeable = False
        self.refused(ValueError, "'c': a read-only tensor would be written", m.plus, a, a, frozen)
        row = np.zeros(1, "f4")
        row.flags.writeable = False
        self.refused(ValueError, "'a': a read-only tensor would be written", m.wait, row, 1)
        both = np.zeros((6, 4), "f4")
        both[:3] = a
        self.refused(ValueError, "E09.*'c' is written and shares elements with 'a'", m.plus, both[:3], a, both[2:5])
        m.plus(both[:3], a, both[3:])
        np.testing.assert_array_equal(both[3:], 2 * a)
        self.assertEqual(m.plus(a[:0], a[:0]).shape, (0, 4))
        np.testing.assert_array_equal(m.plus(a[::2, ::3], a[1::1, ::3][:2]), a[::2, ::3] + a[1:3, ::3])

    def test_tensors_of_torch_that_it_does_not_hand_out_as_they_are(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        a = torch.arange(12, dtype=torch.float32).reshape(3, 4)
        self.refused(ValueError, "plus\\(\\): 'b': .*requires? grad.*detach\\(\\)", m.plus, a, a.clone().requires_grad_())
        negated = torch.complex(a, a).conj().imag  # torch does not negate what it hands out
        self.refused(ValueError, "plus\\(\\): 'b': a view whose elements are the negatives.*resolve_neg\\(\\)", m.plus, a, negated)
        self.refused(ValueError, "plus\\(\\): 'b': .*strided", m.plus, a, torch.eye(4).to_sparse())
        self.refused(TypeError, "'b': DLPack: elements are complex64", m.plus, a, torch.complex(a, a))

    def test_wrong_shapes_gaps_and_overlap_are_value_errors(self):
        a = matrix()
        self.refused(ValueError, "extent 0 \\(of f32\\[M, N\\]\\) is 3 with 'a' f32\\[3, 4\\]", m.plus, a, a[:2])
        self.refused(ValueError, "'b' is f32\\[4\\], declared", m.plus, a, a[0])
        self.refused(ValueError, "E18(.|\n)*strided: 'a'", m.total, a[:, 0])
        self.refused(ValueError, "E09.*'c' is written and shares elements with 'a'", m.plus, a, a, a)

    def test_a_missing_export_is_an_attribute_error_with_the_nearest_name(self):
        with self.assertRaisesRegex(AttributeError, "no entry 'pluss'; did you mean 'plus'"):
            m.pluss

    def test_a_failed_run_has_status_place_and_chain(self):
        with self.assertRaisesRegex(ptoc.RunError, "n is too large") as caught:
            m.fail(3)
        self.assertEqual(caught.exception.status, -10)
        self.assertRegex(caught.exception.place, r"calls.pto:\d+:\d+")

    def test_messages_of_the_compiler_are_one_exception(self):
        bad = pathlib.Path(folder.name) / "bad.pto"
        bad.write_text("export orch f(in x: f32[N]) { print y; }\n")
        with self.assertRaises(ptoc.CompileError) as caught:
            ptoc.compile(bad)
        self.assertIn("^", str(caught.exception))
        self.assertIn("bad.pto:1", str(caught.exception))
        self.assertTrue(caught.exception.diagnostics)
        with self.assertRaises(FileNotFoundError):
            ptoc.load("missing.so")

    def test_help_shows_the_source(self):
        self.assertIn("export orch plus<M, N>(in a: f32[M, N]", m.plus.__doc__)
        self.assertIn("c = a + b", m.plus.__doc__)
        self.assertIn("plus", dir(m))
        self.assertIn("calls.pto", repr(m))


class Runs(unittest.TestCase):
    def test_runtimes_nest_and_every_engine_finds_the_arrays(self):
        for engine in ("threads", "serial", "timing", "process"):
            with ptoc.Runtime(engine=engine, workers="vector=2", heap="1M"):
                with ptoc.Runtime(engine="serial"):
                    np.testing.assert_array_equal(m.plus(matrix(), matrix()), 2 * matrix())
                c = np.zeros((3, 4), "f4")
                m.plus(matrix(), matrix(), c)
                np.testing.assert_array_equal(c, 2 * matrix())
        with self.assertRaisesRegex(ValueError, "no engine 'fast'"):
            ptoc.Runtime(engine="fast")

    def test_results_come_from_the_pool_of_the_runtime(self):
        pool = ptoc.Pool("1M")
        with ptoc.Runtime(engine="process", heap="1M", rings=1, pool=pool):
            t = m.plus(matrix(), matrix())
            np.testing.assert_array_equal(m.plus(t, t), 4 * matrix())
            with self.assertRaises(ptoc.RunError):
                m.scale(np.zeros(1 << 20, "i8"))
        del pool
        np.testing.assert_array_equal(t, 2 * matrix())
        with self.assertRaises(ptoc.PtoError):
            ptoc.Pool(0)

    def test_a_call_is_cancelled_from_another_thread(self):
        with ptoc.Runtime() as runtime:
            stop = threading.Event()

            def cancel():
                while not stop.wait(0.02):  # a cancel before the run begins concerns no run
                    runtime.cancel()

            thread = threading.Thread(target=cancel)
            thread.start()
            with self.assertRaisesRegex(ptoc.RunError, "cancelled"):
                m.wait(np.zeros(1, "f4"), 10**9)
            stop.set()
            thread.join()
            runtime.trim()

    def test_a_runtime_that_is_closed_during_a_call_ends_it_and_is_closed_later(self):
        made, failed = threading.Event(), []

        def work():
            with ptoc.Runtime() as runtime:
                made.runtime = runtime
                made.set()
                try:
                    m.wait(np.zeros(1, "f4"), 10**9)
                except ptoc.RunError as e:
                    failed.append(e)

        thread = threading.Thread(target=work)
        thread.start()
        made.wait()
        refused = None
        while refused is None:
            runtime = made.runtime
            if runtime._handle is None:
                self.fail("the runtime was closed before the call began")
            time.sleep(0.2)  # else the call has not begun
            try:
                runtime.close()
            except ptoc.PtoError as e:
                refused = e
        thread.join()
        self.assertIn("a call runs on this runtime", str(refused))
        self.assertRegex(str(failed[0]), "PTO_ERR_MISUSE: .*closed meanwhile|pto_runtime_destroy during a run")
        self.assertIsNone(runtime._handle)  # by the end of the `with`
        runtime.close()

    def test_a_call_that_may_not_wait_says_that_it_would(self):
        a = ptoc.empty("f32", 1)
        busy = threading.Event()

        def work():
            with ptoc.Runtime() as runtime:
                busy.runtime = runtime
                busy.set()
                try:
                    m.wait(a, 10**9)
                except ptoc.RunError:
                    pass

        thread = threading.Thread(target=work)
        thread.start()
        busy.wait()
        refused = None
        with ptoc.no_wait():
            while refused is None:
                try:
                    m.total(a, a[:1])
                except ValueError:  # E09: the other call has not begun
                    pass
                except ptoc.RunError as e:
                    refused = e
        self.assertEqual(refused.status, -24)
        while thread.is_alive():
            busy.runtime.cancel()
            thread.join(0.02)

    def test_threads_have_their_own_runtimes_and_params(self):
        good = []

        def work(number):
            x = np.arange(4)
            good.append(all((np.asarray(m.scale(x, by=number)) == number * x).all() for _ in range(300)))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(good, [True] * 4)

    def test_a_function_keeps_its_program(self):
        scale = ptoc.compile(path).scale
        gc.collect()
        np.testing.assert_array_equal(scale(np.arange(3)), [0, 2, 4])

    def test_control_c_cancels_a_call(self):
        text = f"""
            import os, signal, threading, numpy as np, ptoc
            m = ptoc.compile({str(path)!r})
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                m.wait(np.zeros(1, "f4"), 10**9)
            except KeyboardInterrupt:
                print("interrupted")
            print(m.half(1, False, 0))
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, timeout=120)
        self.assertEqual(done.stdout.decode().split(), ["interrupted", "0.5"])


class Views(unittest.TestCase):
    def test_views_share_memory_and_detached_ones_keep_their_elements(self):
        t = ptoc.tensor(matrix()).copy()
        shared, kept = t.share(), t.detach()
        m.plus(matrix(), matrix(), t)
        np.testing.assert_array_equal(shared, 2 * matrix())
        np.testing.assert_array_equal(kept, matrix())
        np.testing.assert_array_equal(t.transpose(1, 0), 2 * matrix().T)
        np.testing.assert_array_equal(t[0].broadcast(2, 4), [2 * matrix()[0]] * 2)
        with self.assertRaisesRegex(ValueError, "read-only"):
            m.plus(matrix(), matrix(), t[0].broadcast(3, 4))
        with self.assertRaisesRegex(ValueError, "no order"):
            t.transpose(0, 0)
        self.assertFalse(t.is_undefined)
        with self.assertRaisesRegex(TypeError, "'f31' is no element type"):
            ptoc.empty("f31", 2)

    def test_what_a_cancelled_run_wrote_is_undefined(self):
        a = ptoc.empty("f32", 1)
        with ptoc.Runtime() as runtime:
            done = threading.Event()

            def cancel():
                while not done.wait(0.02):
                    runtime.cancel()

            thread = threading.Thread(target=cancel)
            thread.start()
            with self.assertRaises(ptoc.RunError):
                m.wait(a, 10**9)
            done.set()
            thread.join()
        self.assertTrue(a.is_undefined)
        m.total(np.ones(5, "f4"), a)
        self.assertFalse(a.is_undefined)


class Handles(unittest.TestCase):
    def test_a_second_object_never_has_the_same_handle(self):
        t = ptoc.tensor(matrix()).copy()
        copies = [copy.copy(t), copy.deepcopy([t])[0]]
        m.plus(matrix(), matrix(), t)
        for other in copies:
            np.testing.assert_array_equal(other, matrix())
        with ptoc.Runtime() as runtime:
            for one in (t, m, runtime, ptoc.Pool(4096), ptoc.sparse_of("csr", (1, 1), [np.array([0, 1]), np.array([0]), np.ones(1)])):
                with self.assertRaisesRegex(TypeError, "neither copied nor pickled"):
                    pickle.dumps(one)
                if one is not t:
                    with self.assertRaisesRegex(TypeError, "neither copied nor pickled"):
                        copy.copy(one)

    def test_a_matrix_has_as_many_arrays_as_its_format(self):
        ptr, idx, val = np.arange(4), np.arange(3), np.ones(3, "f4")
        self.assertEqual(ptoc.sparse_of("csr", (3, 3), (ptr, ptoc.tensor(idx), val), check=True).nnz, 3)
        with self.assertRaisesRegex(ValueError, "has 3 arrays, ptr, idx, val; here are 1"):
            ptoc.sparse_of("csr", (3, 3), [ptr])
        with self.assertRaisesRegex(ValueError, "has 4 arrays"):
            ptoc.sparse_of("csr4", (3, 3), [ptr, idx, val])
        with self.assertRaisesRegex(ValueError, "no format 'dia'"):
            ptoc.sparse_of("dia", (3, 3), [])

    def test_only_numbers_slices_and_dots_are_indices(self):
        t = ptoc.empty("f32", (3, 4))
        for index in (None, True, "a", 1.0):
            with self.assertRaisesRegex(TypeError, "no index of a tensor"):
                t[index]
        self.assertEqual(t[np.int64(1), ...].shape, (4,))


class Structs(unittest.TestCase):
    def test_structs_of_the_headers_have_the_same_layout(self):
        from ptoc import _library as c
        structs = {"PTOConfig": c.Config, "PTOForeign": c.Foreign, "PTODescription": c.Description, "PTOSignature": c.Signature,
                   "PTOFormal": c.Formal, "PTOProgramParam": c.ProgramParam, "PTOArgument": c.Argument, "PTOScalar": c.Scalar,
                   "PTOSparseDescription": c.SparseDescription, "PTOPoolStats": c.PoolStats, "PTOPoolClass": c.PoolClass}
        source = pathlib.Path(folder.name) / "layout.c"
        lines = [f'    printf("{name} %zu\\n", sizeof({name}));' for name in structs]
        lines += [f'    printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));' for name, struct in structs.items()
                  for field in struct._fields_]
        source.write_text("#include <pto/pto_call.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines)
                          + "\n    return 0;\n}\n")
        program = str(source.with_suffix(""))
        subprocess.run([os.environ.get("CC", "cc"), f"-I{c.prefix}/include", str(source), "-o", program], check=True)
        want = dict(line.split() for line in subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines())
        mine = {name: ctypes.sizeof(struct) for name, struct in structs.items()}
        mine.update({f"{name}.{field[0]}": getattr(struct, field[0]).offset for name, struct in structs.items() for field in struct._fields_})
        self.assertEqual({name: int(size) for name, size in want.items()}, mine)


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
