"""Calls from Python: arguments, results, handles, views, and the layout of the structs behind them."""
import copy
import ctypes
import gc
import itertools
import os
import pathlib
import pickle
import subprocess
import threading
import types
import unittest
from unittest import mock

import numpy as np

import ptoc
from ptoc import _library

from shared_program import folder, m, matrix, nested_path, sparse_path


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
        self.assertEqual(m.half(np.array(3.0), np.array(True), np.array(7)), 7)
        x = np.arange(3)
        np.testing.assert_array_equal(m.scale(x), 2 * x)
        np.testing.assert_array_equal(m.scale(x, by=5), 5 * x)
        np.testing.assert_array_equal(m.scale(x, N=3), 2 * x)

    def test_a_dimension_variable_beside_a_known_factor(self):
        a, x, none = np.zeros(3, "f4"), np.zeros(12, "f4"), np.zeros(0, "f4")
        np.testing.assert_array_equal(m.blocks(a, x), [4, 3])
        np.testing.assert_array_equal(m.blocks(none, none, C=7), [7, 0])
        with self.assertRaisesRegex(ValueError, "extent 0, 11, does not bind 'C'"):
            m.blocks(a, x[1:])
        with self.assertRaisesRegex((TypeError, ValueError), "do not determine 'C'; give the argument C=NUMBER"):
            m.blocks(none, none)

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

    def test_a_result_whose_extent_the_run_decides_is_a_tensor(self):
        s = ptoc.compile(sparse_path)
        np.testing.assert_array_equal(s.positive(np.array([1.0, -1, 2])), [1, 2])
        self.assertEqual(s.positive(np.zeros(3)).shape, (0,))
        with self.assertRaisesRegex(TypeError, "the run decides .*: give None, or leave it out"):
            s.positive(np.zeros(3), np.zeros(3))


class StructsOfStructs(unittest.TestCase):
    def setUp(self):
        self.m = ptoc.compile(nested_path)

    def test_objects_and_dicts_have_fields_that_are_objects_and_dicts(self):
        a = np.arange(3, dtype="f4")
        thing = types.SimpleNamespace
        for inner in ({"a": a}, thing(a=a)):
            for outer in ({"i": inner, "count": a}, thing(i=inner, count=a)):
                np.testing.assert_array_equal(self.m.inner(outer), 2 * a)
        for wrong in ({}, {"i": None}, {"i": {}}, {"i": a}, thing(), thing(i=thing())):
            with self.assertRaisesRegex(TypeError, r"inner\(\): 'o' has no 'i.a': a struct is an object or a dict with its fields"):
                self.m.inner(wrong)

    def test_a_struct_is_returned_as_an_object_which_is_an_argument_again(self):
        a = np.arange(3, dtype="f4")
        o, y = self.m.both(a)
        np.testing.assert_array_equal([o.i.a, o.count, y], [2 * a, 4 * a, 2 * a])
        n = self.m.next(o)
        (inner,), count = n
        np.testing.assert_array_equal([n.i.a, inner, n.count, count], [4 * a, 4 * a, 8 * a, 8 * a])
        self.assertEqual(repr(n), "ptoc.Struct(i=ptoc.Struct(a=ptoc.Tensor(f32[3])), count=ptoc.Tensor(f32[3]))")
        self.assertIsNone(self.m.both(a, copy.copy(o), y))
        kept = copy.deepcopy(o)
        self.m.both(2 * a, o, y)
        np.testing.assert_array_equal([o.i.a, kept.i.a], [4 * a, 2 * a])

    def test_fields_of_a_struct_that_are_left_out_are_returned(self):
        a, count = np.arange(3, dtype="f4"), np.zeros(3, "f4")
        o, y = self.m.both(a, {"count": count})
        np.testing.assert_array_equal([o.i.a, count, y], [2 * a, 4 * a, 2 * a])
        self.assertEqual(list(vars(o)), ["i"])


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

    def test_slices_are_those_of_a_list(self):
        numbers = list(range(8))
        ends = (None, 0, 3, 8, 9, 20, 2**70, -1, -8, -9, -20, -2**70)
        for start, stop in itertools.product(ends, ends):
            for step in (None, 1, 3, 2**63, 2**64, 2**70, -1, -3, -2**63 - 1, -2**64):
                key = slice(start, stop, step)
                for listed in (numbers, []):
                    self.assertEqual(np.asarray(ptoc.tensor(np.array(listed, "i8"))[key]).tolist(), listed[key], key)
        t = ptoc.tensor(matrix())
        self.assertEqual((t[3:3].shape, t[9:20, ::-1].shape, t[:0, ::2][::-1].shape), ((0, 4), (0, 4), (0, 2)))
        self.assertEqual(m.plus(t[9:20], t[5:3]).shape, (0, 4))
        with self.assertRaisesRegex(ValueError, "step cannot be zero"):
            t[::0]

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
                refused = "a Tensor of ptoc cannot be pickled: pickle np.asarray" if one is t else "neither copied nor pickled"
                with self.assertRaisesRegex(TypeError, refused):
                    pickle.dumps(one)
                if one is not t:
                    with self.assertRaisesRegex(TypeError, refused):
                        copy.copy(one)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(np.asarray(t))), t)

    def test_an_interrupt_behind_the_copy_leaves_the_new_tensor(self):
        def interrupted(handle, direct=_library.tensor_writable):
            self.assertEqual(direct(handle), 0)
            raise KeyboardInterrupt

        t = ptoc.tensor(np.arange(6)).copy()[::2]
        other = t.share()
        with mock.patch.object(_library, "tensor_writable", interrupted), self.assertRaises(KeyboardInterrupt):
            t.writable()
        self.assertEqual((t.strides, other.strides), ((1,), (2,)))
        np.testing.assert_array_equal(t, other)

    def test_an_export_does_not_hide_what_the_object_needs(self):
        names = ("_handle", "_release", "_entries", "__del__", "free")
        source = pathlib.Path(folder.name) / "names.pto"
        lines = [f"export orch {name}(n: i64) -> i64 {{ return n + {i}; }}\n" for i, name in enumerate(names)]
        source.write_text("".join(lines))
        program = ptoc.compile(source)
        found = ("_handle_", "_release_", "_entries_", "__del___", "free")
        self.assertEqual([getattr(program, name)(3) for name in found], [3, 4, 5, 6, 7])
        self.assertIn("free", dir(program))

    def test_only_numbers_slices_and_dots_are_indices(self):
        t = ptoc.empty("f32", (3, 4))
        for index in (None, True, np.True_, "a", 1.0, np.array([1])):
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

    def test_a_detached_tensor_keeps_its_elements_from_calls_with_the_array(self):
        a = np.ones(1, "f4")
        t = ptoc.tensor(a)
        d, e = t.detach(), ptoc.tensor(a).detach()  # the second one's tensor is released at once
        m.wait(a, 1)
        self.assertEqual([x[0] for x in (a, np.asarray(t), np.asarray(d), np.asarray(e))], [2, 2, 1, 1])
        m.wait(e, 2)
        self.assertEqual([x[0] for x in (a, np.asarray(d), np.asarray(e))], [2, 1, 3])


if __name__ == "__main__":
    unittest.main()
