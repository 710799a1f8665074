"""Tensors of memory that another library has on a device.  ABI stub, not run on Ascend."""
import ctypes
import os
import unittest

import numpy as np

import ptoc
from ptoc import _library as c

_ACL = ctypes.CDLL("libacl_rt.so")
_TO_DEVICE, _TO_HOST = 1, 2  # aclrtMemcpyKind


def acl(name, *args):
    error = getattr(_ACL, name)(*args)
    assert error == 0, (name, error)


class Array:
    """Numbers in memory of device 0, as a library for it makes them."""

    def __init__(self, values, device_type):
        self.bytes, self.deleted = values.nbytes, 0
        self.memory = ctypes.c_void_p()
        acl("aclrtMalloc", ctypes.byref(self.memory), ctypes.c_size_t(self.bytes), 0)
        acl("aclrtMemcpy", self.memory, ctypes.c_size_t(self.bytes), values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.bytes), _TO_DEVICE)
        self.type = device_type
        self.shape = (ctypes.c_int64 * 1)(len(values))

    def numbers(self):
        values = np.zeros(self.shape[0], "i8")
        acl("aclrtMemcpy", values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.bytes), self.memory, ctypes.c_size_t(self.bytes), _TO_HOST)
        return values

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return (self.type, 0)

    def __dlpack__(self, **_):
        m = self.managed = c.DLManagedTensorVersioned()
        m.major, m.flags = 1, 0
        self.deleter = c.DELETER(self.delete)
        m.deleter = ctypes.cast(self.deleter, ctypes.c_void_p).value
        m.tensor.data, m.tensor.device_type, m.tensor.device_id = self.memory.value, self.type, 0
        m.tensor.ndim, m.tensor.code, m.tensor.bits, m.tensor.lanes = 1, 0, 64, 1
        m.tensor.shape = ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64))
        return c.capsule_new(ctypes.addressof(m), b"dltensor_versioned", None)


class Device(unittest.TestCase):
    def test_a_capsule_of_a_device_comes_in_and_runs_work_in_its_memory(self):
        program = ptoc.load(os.environ["PTO_TEST_PROGRAM"])
        for device_type in (12, 21):
            with ptoc.Runtime(backend="ascend", kernels=os.environ["PTO_TEST_MAP"], heap="64K"):
                array = Array(np.arange(100), device_type)
                t = ptoc.tensor(array)
                self.assertEqual((t.shape, t.dtype), ((100,), "i64"))
                program.add(t, by=3)
                np.testing.assert_array_equal(array.numbers(), np.arange(100) + 3)
                np.testing.assert_array_equal(np.asarray(t.copy()), np.arange(100) + 3)
                np.testing.assert_array_equal(np.asarray(program.double(t)), 2 * (np.arange(100) + 3))
                with self.assertRaisesRegex(BufferError, "on device 0, and only a run there may write it"):
                    np.asarray(t)
                with self.assertRaisesRegex(BufferError, "on device 0"):
                    t.__dlpack__(max_version=(1, 0))
                self.assertEqual(array.deleted, 0)
                del t
                self.assertEqual(array.deleted, 1)
                acl("aclrtFree", array.memory)


if __name__ == "__main__":
    unittest.main()
