"""Calls from Python that are refused: every message names the argument and the fix."""
import array
import concurrent.futures
import copy
import ctypes
import os
import multiprocessing
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import ptoc

from shared_program import folder, m, matrix, path


def fails(n):
    with ptoc.Runtime(engine="serial"):  # the workers of another one are threads of the parent
        m.fail(n)


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

    def test_a_missing_library_names_how_it_is_made_in_a_clone_and_elsewhere(self):
        with tempfile.TemporaryDirectory() as top:
            shutil.copytree(pathlib.Path(ptoc.__file__).parent, pathlib.Path(top, "python/ptoc"), ignore=shutil.ignore_patterns("__pycache__"))

            def text():
                nowhere = "import pathlib; pathlib.Path.exists = lambda path: False; import ptoc"  # it may be installed in the system
                return subprocess.run([sys.executable, "-B", "-c", nowhere], env={"PYTHONPATH": f"{top}/python", "PATH": "/nowhere"},
                                      capture_output=True, text=True).stderr

            self.assertIn("libpto.so was not found: install ptoc, put it into PATH, or set PTO_PREFIX", text())
            pathlib.Path(top, "dev").touch()
            self.assertIn("libpto.so was not found: ./dev build release makes it", text())

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
        for value in ([1.0], (1.0,), bytearray(4), memoryview(b"1234"), Series(), array.array("f", [1, 2]), (ctypes.c_float * 2)(1, 2)):
            self.refused(TypeError, f"not {type(value).__name__}: pass np.asarray\\(a, 'f4'\\)", m.plus, a, value)
        self.refused(TypeError, "array is no array: pass np.asarray\\(a\\)", ptoc.tensor, array.array("f", [1, 2]))
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
        marked = r":\d+:57: error\[E18\].*\n +\d+ \| export orch total.* sum\(a, out s\); }\n {6}\| {57}\^\n.*strided: 'a'"
        self.refused(ValueError, marked, m.total, a[:, 0])
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

    def test_a_path_that_looks_like_an_option_is_a_path(self):
        outer = os.getcwd()
        try:
            os.chdir(folder.name)
            pathlib.Path("-dash.pto").write_text("import \"part.pto\" as part;\nexport orch f() -> i64 { return part.two(); }\n")
            pathlib.Path("-I").mkdir()
            pathlib.Path("-I/part.pto").write_text("export orch two() -> i64 { return 2; }\n")
            pathlib.Path("-bad.pto").write_text("export orch f() { print y; }\n")
            for dash in (str, os.fsencode, pathlib.Path):
                self.assertEqual(ptoc.compile(dash("-dash.pto"), import_dirs=[dash("-I")]).f(), 2)
            self.refused(ptoc.CompileError, "-bad.pto:1", ptoc.compile, "-bad.pto")
        finally:
            os.chdir(outer)

    def test_copies_of_an_exception_have_all_of_it(self):
        bad = pathlib.Path(folder.name) / "copied.pto"
        bad.write_text("export orch f(in x: f32[N]) { print y; }\n")
        nested = pathlib.Path(folder.name) / "nested.pto"
        nested.write_text('orch g(n: i64) { assert n < 3, "n is too large"; }\nexport orch f(n: i64) { g(n); }\n')
        seen = []
        for call in (lambda: ptoc.compile(nested).f(5), lambda: ptoc.compile(bad), lambda: ptoc.Runtime(window=3)):
            with self.assertRaises(ptoc.PtoError) as caught:
                call()
            error = caught.exception
            error.add_note("a note")
            seen.append(type(error))
            for made in [copy.copy(error), copy.deepcopy(error), *(pickle.loads(pickle.dumps(error, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1))]:
                self.assertIs(type(made), type(error))
                self.assertEqual((str(made), made.args, vars(made)), (str(error), error.args, vars(error)))
        self.assertEqual(seen, [ptoc.RunError, ptoc.CompileError, ptoc.PtoError])
        with self.assertRaises(ptoc.RunError) as caught:
            ptoc.compile(nested).f(5)
        self.assertEqual([name for name, _ in copy.copy(caught.exception).chain], [name for name, _ in caught.exception.chain])
        self.assertTrue(caught.exception.chain)

    def test_a_run_that_fails_in_a_pool_of_processes_is_raised_outside(self):
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as processes:
            with self.assertRaisesRegex(ptoc.RunError, "n is too large") as caught:
                processes.submit(fails, 3).result(timeout=120)
        self.assertEqual(caught.exception.status, -10)

    def test_what_the_library_refuses_without_a_call_is_a_pto_error(self):
        for refused in (lambda: ptoc.Runtime(window=3), lambda: ptoc.empty("f32", 2**62), lambda: ptoc.Pool("0"), lambda: ptoc.load(path)):
            with self.assertRaises(ptoc.PtoError) as caught:
                refused()
            self.assertIs(type(caught.exception), ptoc.PtoError)
            self.assertLess(caught.exception.status, 0)

    def test_help_shows_the_source(self):
        self.assertIn("export orch plus<M, N>(in a: f32[M, N]", m.plus.__doc__)
        self.assertIn("c = a + b", m.plus.__doc__)
        self.assertIn("plus", dir(m))
        self.assertIn("calls.pto", repr(m))


if __name__ == "__main__":
    unittest.main()
