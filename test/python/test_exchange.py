"""Memory to and from other libraries without a copy: NumPy, DLPack of both kinds, Arrow by capsules; what lives, and the pool in numbers."""
import ctypes
import gc
import unittest
import weakref

import numpy as np

import ptoc
from ptoc import _library as c

from shared_program import m


class Only:
    """An object that has one method of another, and nothing else."""

    def __init__(self, of, name):
        self._of, self._name = of, name

    def __getattr__(self, name):
        if name == self._name:
            return getattr(self._of, name)
        raise AttributeError(name)


def address(array):
    return np.asarray(array).ctypes.data


def versioned(capsule):
    return c.DLManagedTensorVersioned.from_address(c.capsule_pointer(capsule, b"dltensor_versioned"))


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


class NumPy(unittest.TestCase):
    def test_every_tensor_is_an_array_of_its_own_memory(self):
        wide = np.arange(24, dtype="f4").reshape(4, 6)
        for array in (wide, wide[::2, ::-3], wide.T, wide[1, 2], wide[:0], np.array([True, False]), np.array(3, "i2"), read_only([1.5])):
            array = np.asarray(array)
            seen = np.asarray(ptoc.tensor(array))
            self.assertEqual((seen.dtype, seen.shape, seen.flags.writeable), (array.dtype, array.shape, array.flags.writeable))
            np.testing.assert_array_equal(seen, array)
            if array.size:
                self.assertEqual((seen.ctypes.data, seen.strides), (array.ctypes.data, array.strides))

    def test_a_broadcast_tensor_is_a_read_only_array(self):
        row = ptoc.tensor(np.arange(3)).copy()
        array = np.asarray(row.broadcast(1000000, 3))
        self.assertEqual((array.strides, array.flags.writeable, array.ctypes.data), ((0, 8), False, address(row)))

    def test_an_array_keeps_the_memory_and_copies_where_it_was_asked(self):
        t = ptoc.tensor(np.arange(3)).copy()
        array, doubles, copied = np.asarray(t), np.asarray(t, "f8"), np.array(t)
        del t
        gc.collect()
        array[0] = 7
        self.assertEqual((array.tolist(), doubles.tolist(), copied.tolist()), ([7, 1, 2], [0, 1, 2], [0, 1, 2]))
        with self.assertRaises(ValueError):
            ptoc.tensor(np.arange(3)).__array__("f4", copy=False)

    def test_a_number_of_numpy_has_no_memory_that_lasts(self):
        a = np.arange(3, dtype="f4")
        for number in (np.float32(1), np.int64(1), np.True_, a[0]):
            with self.assertRaisesRegex(TypeError, f"{type(number).__name__} is no array: pass np.asarray\\(a\\)"):
                ptoc.tensor(number)
            with self.assertRaisesRegex(TypeError, "'a' is an array, .*: pass np.asarray\\(a, 'f4'\\)"):
                m.total(number)
            with self.assertRaisesRegex(TypeError, "pass np.asarray"):
                ptoc.sparse_of("csr", (3, 3), [number, number, number])
        self.assertEqual(ptoc.tensor(np.asarray(np.float32(1))).shape, ())

    def test_a_class_is_no_array(self):
        for kind in (np.ndarray, ptoc.Tensor):
            with self.assertRaisesRegex(TypeError, "type is no array"):
                ptoc.tensor(kind)
            with self.assertRaisesRegex(TypeError, "'a' is an array, .*, not type"):
                m.total(kind)


class Interface(unittest.TestCase):
    """The array interface of another class, which may say anything."""

    def given(self, **changes):
        class Array:
            pass

        array = Array()
        array.owner = np.arange(12, dtype="f4")
        about = {**array.owner.__array_interface__, **changes}
        array.__array_interface__ = {key: value for key, value in about.items() if value != "none"}
        return array

    def test_what_has_the_interface_alone_is_an_array(self):
        array = self.given()
        self.assertEqual(address(ptoc.tensor(array)), array.owner.ctypes.data)
        np.testing.assert_array_equal(m.total(array), [66])
        read = self.given(shape=(3, 4), strides=(16, 4), data=(array.owner.ctypes.data, True))
        np.testing.assert_array_equal(np.asarray(ptoc.tensor(read)), np.arange(12).reshape(3, 4))

    def test_what_is_missing_or_malformed_is_a_type_error(self):
        for changes, text in (
                ({"data": "none"}, "has no 'data'"), ({"data": None}, "has no 'data'"),
                ({"shape": "none"}, "has no 'shape'"), ({"shape": None}, "has no 'shape'"),
                ({"typestr": "none"}, "has no 'typestr'"), ({"typestr": None}, "has no 'typestr'"),
                ({"data": 5}, "'data' is an address and whether the memory is read-only, not int"),
                ({"data": (1, 2, 3)}, "'data' is an address .*, not tuple"),
                ({"data": b"1234"}, "'data' is an address .*, not bytes"),
                ({"data": ("1", False)}, "the address is an integer, not '1'"),
                ({"data": (None, False)}, "the address is an integer, not None"),
                ({"shape": 12}, "'shape' is a tuple of integers, not 12"),
                ({"shape": "ab"}, "'shape' is a tuple of integers, not 'ab'"),
                ({"shape": (12.0,)}, "extent 0 is an integer, not 12.0"),
                ({"strides": 4}, "'strides' is a tuple of integers, not 4"),
                ({"strides": (4, 4)}, "'strides' has 2 numbers, 'shape' has 1"),
                ({"strides": (4.0,)}, "stride 0 is an integer, not 4.0"),
                ({"typestr": 4}, "'typestr' is text such as '<f4', not 4"),
                ({"typestr": b"<f4"}, "'typestr' is text"), ({"typestr": ["<f4"]}, "'typestr' is text"),
                ({"typestr": "<f5"}, "elements of <f5 are none of the language's"),
                ({"mask": self.given()}, "has a 'mask'")):
            for call, prefix in ((ptoc.tensor, ""), (m.total, "total\\(\\): 'a': ")):
                with self.assertRaisesRegex(TypeError, f"^{prefix}.*{text}", msg=changes):
                    call(self.given(**changes))
        for wrong in (None, 3, [1]):
            array = self.given()
            array.__array_interface__ = wrong
            with self.assertRaisesRegex(TypeError, "the __array_interface__ of Array is no dict, but "):
                ptoc.tensor(array)

    def test_numbers_that_do_not_fit_are_value_errors(self):
        for changes, text in (
                ({"shape": (2**64 + 3,)}, f"extent 0 is {2**64 + 3}: must be from 0 to {2**63 - 1}"),
                ({"shape": (-1,)}, "extent 0 is -1"),
                ({"shape": (2**62,)}, f"the bytes of the elements' memory is {2**64}: must be from 0"),
                ({"shape": (3,), "strides": (2**62,)}, "the bytes of the elements' memory is"),
                ({"strides": (2**64 + 4,)}, f"stride 0 is {2**64 + 4}"),
                ({"strides": (-2**62,)}, "the address of the first byte is -"),
                ({"data": (2**64, False)}, f"the address is {2**64}: must be from 0 to {2**64 - 1}"),
                ({"data": (-4, False)}, "the address is -4")):
            for call in (ptoc.tensor, m.total):
                with self.assertRaisesRegex(ValueError, text, msg=changes):
                    call(self.given(**changes))


class DLPack(unittest.TestCase):
    def test_a_producer_of_both_versions_is_asked_for_the_new_one(self):
        fixed, free = ptoc.tensor(read_only([1, 2, 3])), ptoc.tensor(np.arange(3))
        for source in (fixed, free):
            t = ptoc.tensor(Only(source, "__dlpack__"))
            self.assertEqual((address(t), np.asarray(t).flags.writeable), (address(source), source is free))
        with self.assertRaises(BufferError):
            fixed.__dlpack__()  # the old struct does not know read-only memory

    def test_a_producer_of_the_old_version_is_taken(self):
        array = np.arange(4.0)

        class Old:
            def __dlpack__(self, stream=None):
                return array.__dlpack__()

        self.assertEqual(address(ptoc.tensor(Old())), array.ctypes.data)

    def test_what_is_taken_is_released_once_and_what_is_not_ends_with_its_capsule(self):
        t = ptoc.tensor(np.arange(3)).copy()
        before = len(ptoc.tensors())
        for version in (None, (1, 0)):
            capsule = t.__dlpack__(max_version=version)
            self.assertEqual(max(x["references"] for x in ptoc.tensors()), 2)
            del capsule
            taken = [ptoc.tensor(Only(t, "__dlpack__")) for _ in range(5)]
            del taken
        gc.collect()
        self.assertEqual(len(ptoc.tensors()), before)
        self.assertIsNotNone(t.writable())

    def test_other_element_types_are_type_errors(self):
        with self.assertRaisesRegex(TypeError, "DLPack: elements are complex64; there is f16, bf16, f32, "):
            ptoc.tensor(Only(np.zeros(2, "c8"), "__dlpack__"))

    def test_a_consumer_that_refuses_a_capsule_raises_its_own_exception(self):
        t = ptoc.empty("bf16", 3)  # which NumPy has not: it drops the capsule while its exception is in flight
        for _ in range(3):
            with self.assertRaisesRegex((RuntimeError, BufferError), "(?i)unsupported|dtype"):
                np.from_dlpack(t)
        self.assertEqual(max(x["references"] for x in ptoc.tensors()), 1)

        class Last:
            """Its capsule has the last reference to a tensor, and this to the array."""

            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self, **_):
                array = np.array([True])
                array.setflags(write=True)
                kept.append(weakref.ref(array))
                return ptoc.tensor(array).__dlpack__()

        kept = []
        with self.assertRaisesRegex((RuntimeError, BufferError), "(?i)unsupported|dtype"):
            np.from_dlpack(Last())
        self.assertIsNone(kept[0]())

    def test_a_struct_of_another_major_version_is_given_back_once(self):
        class Newer(Only):
            def __dlpack__(self, **_):
                capsule = self._of.__dlpack__(max_version=(1, 0))
                versioned(capsule).major = 2
                return capsule

        t = ptoc.tensor(np.arange(3)).copy()
        before = address(t)
        for _ in range(3):
            with self.assertRaisesRegex(BufferError, "version 2.0, expected 1"):
                ptoc.tensor(Newer(t, "__dlpack__"))
        self.assertEqual(address(t.writable()), before)  # no other tensor has it

    def test_only_a_copy_that_was_asked_for_says_that_it_is_one(self):
        for t, copy, flags in ((ptoc.tensor(np.arange(3)), None, 0), (ptoc.tensor(np.arange(3)), False, 0),
                               (ptoc.tensor(np.arange(3)), True, 2), (ptoc.tensor(read_only([1])), None, 1), (ptoc.tensor(read_only([1])), True, 2)):
            capsule = t.__dlpack__(max_version=(1, 1), dl_device=(1, 0), copy=copy)
            m = versioned(capsule)
            self.assertEqual((m.major, m.flags, m.tensor.device_type, m.tensor.device_id), (1, flags, *t.__dlpack_device__()))
            self.assertEqual(m.tensor.data == address(t), not copy)
            self.assertTrue(m.tensor.strides)
        self.assertFalse(versioned(ptoc.tensor(np.zeros((0, 3))).__dlpack__(max_version=(1, 0))).tensor.data)

    def test_what_is_no_unused_capsule_is_a_type_error(self):
        class Gives:
            def __init__(self, given):
                self.given = given

            def __dlpack__(self, **_):
                return self.given

        used = Gives(np.zeros(3, "f4").__dlpack__())
        ptoc.tensor(used)
        for wrong in (used, Gives(5), Gives(None), Gives(ptoc.tensor(np.zeros(3)).__arrow_c_array__()[0])):
            text = "the __dlpack__ of Gives gives .*, which is no unused capsule of the name 'dltensor'"
            for call, prefix in ((ptoc.tensor, ""), (m.total, "total\\(\\): 'a': ")):
                with self.assertRaisesRegex(TypeError, f"^{prefix}{text}"):
                    call(wrong)

    def test_other_devices_and_streams_are_buffer_errors(self):
        t = ptoc.tensor(np.arange(3))
        for more in ({"dl_device": (2, 0)}, {"dl_device": (1, 1)}, {"stream": 1}):
            with self.assertRaises(BufferError):
                t.__dlpack__(**more)


class Arrow(unittest.TestCase):
    """The capsules are those of Arrow's PyCapsule interface; pyarrow is asked where it is installed."""

    def test_a_tensor_goes_out_and_comes_back_without_a_copy(self):
        for kind in ("i1", "u2", "i4", "u8", "f2", "f4", "f8"):
            t = ptoc.tensor(np.arange(24).astype(kind).reshape(2, 3, 4))
            back = ptoc.tensor(Only(t, "__arrow_c_array__"))
            self.assertEqual((back.shape, back.dtype, address(back)), (t.shape, t.dtype, address(t)))
            self.assertFalse(np.asarray(back).flags.writeable)
        self.assertEqual(ptoc.tensor(Only(ptoc.tensor(np.zeros((0, 3))), "__arrow_c_array__")).shape, (0, 3))

    def test_the_structs_are_those_of_the_interface(self):
        schema, array = ptoc.tensor(np.arange(6, dtype="i4").reshape(2, 3)).__arrow_c_array__()
        s = c.ArrowSchema.from_address(c.capsule_pointer(schema, b"arrow_schema"))
        a = c.ArrowArray.from_address(c.capsule_pointer(array, b"arrow_array"))
        child = c.ArrowArray.from_address(ctypes.cast(a.children, ctypes.POINTER(ctypes.c_void_p))[0])
        self.assertEqual((s.format, a.length, a.n_buffers, child.length, child.n_buffers), (b"+w:3", 2, 1, 6, 2))
        data = ctypes.cast(child.buffers, ctypes.POINTER(ctypes.c_void_p))[1]
        self.assertEqual(list((ctypes.c_int32 * 6).from_address(data)), list(range(6)))

    def test_capsules_that_nobody_takes_give_the_tensor_back(self):
        t = ptoc.tensor(np.arange(3)).copy()
        at = address(t)
        for _ in range(100):
            t.__arrow_c_array__()
        with self.assertRaises(KeyError):
            {}[t.__arrow_c_array__()]
        gc.collect()
        self.assertEqual(address(t.writable()), at)  # no other tensor has it

    def test_what_arrow_has_not_is_refused(self):
        with self.assertRaisesRegex(TypeError, "bool"):
            ptoc.tensor(np.array([True])).__arrow_c_array__()
        with self.assertRaisesRegex(TypeError, "rank 0"):
            ptoc.tensor(np.array(1.0)).__arrow_c_array__()
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            ptoc.tensor(np.arange(6)[::2]).__arrow_c_array__()

    def test_what_is_no_unused_pair_of_capsules_is_a_type_error(self):
        class Gives:
            def __init__(self, *given):
                self.given = given

            def __arrow_c_array__(self, requested_schema=None):
                return self.given

        capsules = ptoc.tensor(np.arange(3)).__arrow_c_array__()
        for wrong in (Gives(), Gives(5), Gives(5, 6), Gives(capsules[0], 6), Gives(*capsules[::-1])):
            text = "the __arrow_c_array__ of Gives gives .*, which is no (pair of capsules|unused capsule)"
            for call, prefix in ((ptoc.tensor, ""), (m.scale, "scale\\(\\): 'x': ")):
                with self.assertRaisesRegex(TypeError, f"^{prefix}{text}"):
                    call(wrong)

    def test_nulls_are_refused_and_the_producer_keeps_its_array(self):
        class Nulls:
            def __arrow_c_array__(self, requested_schema=None):
                capsules = ptoc.tensor(np.arange(3)).__arrow_c_array__()
                self.array = c.ArrowArray.from_address(c.capsule_pointer(capsules[1], b"arrow_array"))
                self.array.null_count = 1
                self.capsules = capsules
                return capsules

        nulls = Nulls()
        with self.assertRaisesRegex(TypeError, "1 nulls"):
            ptoc.tensor(nulls)
        self.assertTrue(nulls.array.release)

    def test_pyarrow(self):
        try:
            import pyarrow as pa
        except ImportError:
            self.skipTest("pyarrow is not installed")
        values = pa.array([1.5, 2.5, 3.5])
        t = ptoc.tensor(values)
        self.assertEqual((t.dtype, t.shape, np.asarray(t).tolist()), ("f64", (3,), [1.5, 2.5, 3.5]))
        self.assertEqual(address(t), values.buffers()[1].address)
        np.testing.assert_array_equal(ptoc.tensor(values[1:]), [2.5, 3.5])
        with self.assertRaisesRegex(TypeError, "nulls"):
            ptoc.tensor(pa.array([1, None]))
        with self.assertRaisesRegex(TypeError, "u8"):
            ptoc.tensor(pa.array([True]))
        matrix = ptoc.tensor(np.arange(6).reshape(2, 3)).copy()
        out = pa.array(matrix)
        self.assertEqual(out.to_pylist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(out.flatten().buffers()[1].address, address(matrix))
        out.validate(full=True)


class Living(unittest.TestCase):
    def test_tensors_lists_what_lives(self):
        t = ptoc.empty("f32", 3, 4)
        about = next(x for x in ptoc.tensors() if x["shape"] == (3, 4) and x["dtype"] == "f32")
        self.assertEqual((about["bytes"], about["references"], about["buffer_references"], about["pins"]), (48, 1, 1, 0))
        row = t[0]
        self.assertEqual({x["shape"] for x in ptoc.tensors() if x["buffer"] == about["buffer"]}, {(3, 4), (4,)})
        scalar = t[0, 0]
        self.assertEqual(next(x for x in ptoc.tensors() if x["shape"] == ())["buffer_references"], 3)
        del t, row, scalar
        gc.collect()
        self.assertFalse([x for x in ptoc.tensors() if x["buffer"] == about["buffer"]])

    def test_stats_counts_what_is_found_again(self):
        for _ in range(2):
            ptoc.empty("u8", 12345)
        before = ptoc.stats()
        t = ptoc.empty("u8", 12345)
        after = ptoc.stats()
        self.assertEqual((after["hits"], after["misses"]), (before["hits"] + 1, before["misses"]))
        self.assertEqual(after["kept_bytes"], after["total_bytes"] - after["used_bytes"])
        mine = next(x for x in after["classes"] if x["bytes"] >= 12345)
        self.assertGreaterEqual(mine["used"], 1)
        ptoc.pool_limit("64M")
        ptoc.pool_limit(1 << 30)
        del t


if __name__ == "__main__":
    unittest.main()
