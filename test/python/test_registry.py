"""The usages of seed 004 from Python, by the names of test/runtime/test_seed_registry.c: docs/registry.md lists both."""
import gc
import unittest
import weakref

import numpy as np

import ptoc


class Owned(np.ndarray):
    """An array whose end can be seen."""


def owned(values):
    array = np.array(values).view(Owned)
    return array, weakref.ref(array)


class Seed(unittest.TestCase):
    def test_a_buffer_with_two_aliases(self):
        array, alive = owned(np.arange(8))
        buffer = ptoc.tensor(array)
        one, two = buffer[:4], buffer[4:]
        del array, buffer
        same = one.share()  # one more reference to what `one` sees
        del one, same
        gc.collect()
        self.assertIsNotNone(alive())
        self.assertEqual(np.asarray(two)[0], 4)
        del two
        gc.collect()
        self.assertIsNone(alive())

    def test_several_aliases_at_once_are_a_loop(self):
        array, alive = owned(np.arange(6))
        buffer = ptoc.tensor(array)
        del array
        aliases = [buffer[2 * i:2 * i + 2] for i in range(3)]
        clones = [alias.share() for alias in aliases]
        del buffer, aliases
        gc.collect()
        self.assertEqual([np.asarray(clone).tolist() for clone in clones], [[0, 1], [2, 3], [4, 5]])
        del clones
        gc.collect()
        self.assertIsNone(alive())

    def test_unique_is_asked_by_writable(self):
        t = ptoc.tensor(np.arange(3)).copy()
        address = np.asarray(t).ctypes.data
        gc.collect()
        self.assertEqual(np.asarray(t.writable()).ctypes.data, address)
        other = t.share()
        self.assertNotEqual(np.asarray(t.writable()).ctypes.data, address)  # a copy took its place
        self.assertEqual(np.asarray(other).ctypes.data, address)
        np.testing.assert_array_equal(t, other)

    def test_rows_of_a_matrix_without_a_copy(self):
        (ptr, first), (idx, second), (val, third) = owned([0, 1, 2, 3]), owned([2, 0, 1]), owned([7.0, 8, 9])
        matrix = ptoc.sparse_of("csr", (3, 3), [ptoc.tensor(a) for a in (ptr, idx, val)], check=True)
        address = val.ctypes.data
        del ptr, idx, val
        kept = matrix.pick([2, 0])
        self.assertEqual(np.asarray(kept.val).ctypes.data, address)
        del matrix
        gc.collect()
        self.assertIsNotNone(third())
        np.testing.assert_array_equal(np.asarray(kept.convert("csr").val), [9, 7])
        del kept
        gc.collect()
        self.assertEqual([first(), second(), third()], [None] * 3)

    def test_empty_rows_and_many_rows_cost_nothing(self):
        rows = 1000000
        matrix = ptoc.sparse_of("csr", (rows, 5), [ptoc.tensor(a) for a in (np.zeros(rows + 1, "i8"), np.zeros(0, "i8"), np.zeros(0, "f4"))], check=True)
        part = matrix.rows(1000, rows // 2)
        self.assertEqual((part.shape, part.nnz), ((rows // 2, 5), 0))
        self.assertEqual(np.asarray(part.ptr).ctypes.data, np.asarray(matrix.ptr).ctypes.data + 8000)

    def test_a_matrix_is_shared(self):
        val, alive = owned([7.0, 8, 9])
        a = ptoc.sparse_of("csr", (3, 3), [ptoc.tensor(x) for x in (np.arange(4), np.arange(3), val)])
        del val
        same, shared = ptoc.sparse(a), a.share()
        del a, same
        gc.collect()
        self.assertIsNotNone(alive())
        del shared
        gc.collect()
        self.assertIsNone(alive())

    def test_a_matrix_is_attached_and_detached(self):
        val, alive = owned([7.0, 8, 9])
        a = ptoc.sparse_of("csr", (3, 3), [ptoc.tensor(x) for x in (np.arange(4), np.arange(3), val)])
        out = [np.asarray(array) for array in a]  # with their sizes, and each frees its memory
        self.assertEqual(out[2].ctypes.data, val.ctypes.data)
        del a, val
        gc.collect()
        np.testing.assert_array_equal(out[2], [7, 8, 9])
        del out
        gc.collect()
        self.assertIsNone(alive())


if __name__ == "__main__":
    unittest.main()
