"""libpto.so by ctypes: the declarations of pto_registry.h, pto_call.h and pto_runtime.h that the package uses."""
import ctypes
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, Union, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_uint8,
                    c_uint16, c_uint32, c_uint64, c_void_p)

MAX_RANK, MAX_WORKERS = 8, 4


def _prefix():
    """The folder that ptoc is installed in: $PTO_PREFIX, the one of `ptoc` in PATH, or beside this package."""
    import shutil
    here = pathlib.Path(__file__).resolve()
    found = shutil.which("ptoc")
    wanted = [os.environ.get("PTO_PREFIX"), found and pathlib.Path(found).resolve().parent.parent]
    wanted += [here.parents[2] / "build" / preset for preset in ("release", "dev")] + [pathlib.Path("/usr/local"), pathlib.Path("/usr")]
    for prefix in wanted:
        if prefix and (pathlib.Path(prefix) / "lib" / "libpto.so").exists():
            return pathlib.Path(prefix)
    fix = "./dev build release makes it" if (here.parents[2] / "dev").is_file() else "install ptoc, put it into PATH, or set PTO_PREFIX to its folder"
    raise ImportError(f"libpto.so was not found: {fix}")


prefix = _prefix()
lib = ctypes.CDLL(str(prefix / "lib" / "libpto.so.1"))


class Scalar(Union):
    _fields_ = [("i64", c_int64), ("f64", c_double), ("f32", ctypes.c_float), ("b", c_bool)]


class ProgramParam(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("at", c_int64), ("has_default", c_bool), ("derived", c_char_p)]


class Formal(Structure):
    _fields_ = [("name", c_char_p), ("direction", c_int), ("type", c_int), ("rank", c_int32), ("text", c_char_p),
                ("exact", POINTER(c_int32)), ("uses", POINTER(c_uint64))]


class Signature(Structure):
    _fields_ = [("file", c_char_p), ("entries", POINTER(c_char_p)), ("entry_count", c_int32), ("params", POINTER(ProgramParam)),
                ("param_count", c_int32), ("defaults", c_void_p), ("name", c_char_p), ("head", c_char_p), ("comment", c_char_p),
                ("dims", POINTER(c_char_p)), ("dim_count", c_int32), ("formals", POINTER(Formal)), ("formal_count", c_int32),
                ("result", c_int)]


class Value(Union):
    _fields_ = [("tensor", c_void_p), ("integer", c_int64), ("real", c_double)]


class Argument(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("value", Value)]


TENSOR, INTEGER, REAL, RESULT, SCALAR_RESULT, FLAGS, DLPACK, SPARSE, SPARSE_RESULT = range(1, 10)
NO_WAIT = 1
IN, OUT, INOUT, ACC, OWN, HOST = range(6)


class Foreign(Structure):
    _fields_ = [("address", c_void_p), ("bytes", c_int64), ("device", c_int32), ("type", c_int), ("rank", c_int32),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("flags", c_uint32), ("release", c_void_p),
                ("context", c_void_p), ("first", c_int64)]


class Description(Structure):
    _fields_ = [("type", c_int), ("rank", c_int32), ("shape", c_int64 * MAX_RANK), ("strides", c_int64 * MAX_RANK),
                ("buffer", c_uint64), ("device", c_int32), ("references", c_int64), ("tensors", c_int64), ("pins", c_int64),
                ("flags", c_uint32)]


READ_ONLY, MAY_MOVE, UNDEFINED = 1, 2, 4
READ, WRITE, READ_WRITE = 1, 2, 3


class SparseDescription(Structure):
    _fields_ = [("format", c_int), ("arrays", c_int32), ("rows", c_int64), ("columns", c_int64), ("nnz", c_int64), ("block", c_int64 * 2),
                ("index_type", c_int), ("value_type", c_int), ("references", c_int64), ("flags", c_uint32)]


class Config(Structure):
    _fields_ = [("engine", c_int), ("backend", c_char_p), ("kernels", c_char_p), ("device", c_int32),
                ("stream_timeout_seconds", c_double), ("workers", c_int32 * MAX_WORKERS), ("task_window", c_int64),
                ("heap_bytes", c_int64), ("heap_rings", c_int32), ("deplist_entries", c_int64), ("tensormap_entries", c_int64),
                ("recursion_limit", c_int32), ("scope_policy", c_int), ("count_dependences", c_bool), ("record_tasks", c_int64),
                ("watchdog_seconds", c_double), ("replay", c_char_p), ("dedicated_scheduler", c_bool), ("bind_workers", c_bool),
                ("external", c_bool * MAX_WORKERS), ("external_start", c_void_p), ("external_context", c_void_p),
                ("skip_kernels", c_bool), ("submit_cycles", c_int64), ("dispatch_cycles", c_int64), ("always_defer", c_bool),
                ("checked", c_bool), ("prealloc", c_bool), ("names", c_uint8), ("time_causes", c_bool), ("join_ranks", c_bool),
                ("pool", c_void_p), ("first_task_id", c_int64), ("first_byte", c_int64)]


class PoolStats(Structure):
    _fields_ = [("total_bytes", c_int64), ("used_bytes", c_int64), ("used_bytes_max", c_int64), ("reuse_hits", c_int64),
                ("grow_count", c_int64)]


class PoolClass(Structure):
    _fields_ = [("bytes", c_int64), ("hits", c_int64), ("misses", c_int64), ("used", c_int64)]


def _declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments
    return function


last_error = _declare("pto_last_error", c_char_p, c_void_p)
last_status = _declare("pto_last_status", c_int)
last_complaint = _declare("pto_last_complaint", c_int)
status_name = _declare("pto_status_name", c_char_p, c_int)
runtime_create = _declare("pto_runtime_create", c_void_p, POINTER(Config), POINTER(c_int))
runtime_destroy = _declare("pto_runtime_destroy", None, c_void_p)
runtime_trim = _declare("pto_runtime_trim", c_int, c_void_p)
ranks = _declare("pto_ranks", c_int64, c_void_p)
rank = _declare("pto_rank", c_int64, c_void_p)
cancel = _declare("pto_cancel", None, c_void_p)
program_open = _declare("pto_program_open", c_void_p, c_char_p)
program_close = _declare("pto_program_close", None, c_void_p)
program_describe = _declare("pto_program_describe", c_int, c_void_p, c_char_p, POINTER(Signature))
program_call = _declare("pto_program_call", c_int, c_void_p, c_void_p, c_char_p, c_void_p, c_int32)
tensor_new = _declare("pto_tensor_new", c_void_p, c_void_p, c_int, c_int, POINTER(c_int64))
tensor_attach = _declare("pto_tensor_attach", c_void_p, POINTER(Foreign))
tensor_release = _declare("pto_tensor_release", None, c_void_p)
tensor_retain = _declare("pto_tensor_retain", c_void_p, c_void_p)
tensor_slice = _declare("pto_tensor_slice", c_void_p, c_void_p, c_int, c_int64, c_int64, c_int64)
tensor_index = _declare("pto_tensor_index", c_void_p, c_void_p, c_int, c_int64)
tensor_transpose = _declare("pto_tensor_transpose", c_void_p, c_void_p, POINTER(c_int))
tensor_reshape = _declare("pto_tensor_reshape", c_void_p, c_void_p, c_int, POINTER(c_int64))
tensor_copy = _declare("pto_tensor_copy", c_void_p, c_void_p)
tensor_dense = _declare("pto_tensor_dense", c_void_p, c_void_p)
tensor_describe = _declare("pto_tensor_describe", c_int, c_void_p, POINTER(Description))
tensor_map = _declare("pto_tensor_map", c_void_p, c_void_p, c_int)
tensor_unmap = _declare("pto_tensor_unmap", None, c_void_p)
tensor_share = _declare("pto_tensor_share", c_void_p, c_void_p)
tensor_detach = _declare("pto_tensor_detach", c_void_p, c_void_p)
tensor_writable = _declare("pto_tensor_writable", c_int, POINTER(c_void_p))
tensor_broadcast = _declare("pto_tensor_broadcast", c_void_p, c_void_p, c_int, POINTER(c_int64))
pool_shared = _declare("pto_pool_shared", c_void_p, c_int64)
pool_destroy = _declare("pto_pool_destroy", None, c_void_p)
pool_limit = _declare("pto_pool_limit", None, c_int64)
pool_stats = _declare("pto_pool_stats", None, POINTER(PoolStats))
pool_classes = _declare("pto_pool_classes", c_int32, POINTER(PoolClass), c_int32)
registry_dump = _declare("pto_registry_dump", None, c_void_p)
sparse_make = _declare("pto_sparse_make", c_void_p, c_int, c_int64, c_int64, POINTER(c_void_p), c_int)
sparse_retain = _declare("pto_sparse_retain", c_void_p, c_void_p)
sparse_release = _declare("pto_sparse_release", None, c_void_p)
sparse_describe = _declare("pto_sparse_describe", c_int, c_void_p, POINTER(SparseDescription))
sparse_array = _declare("pto_sparse_array", c_void_p, c_void_p, c_int)
sparse_share = _declare("pto_sparse_share", c_void_p, c_void_p)
sparse_detach = _declare("pto_sparse_detach", c_void_p, c_void_p)
sparse_rows = _declare("pto_sparse_rows", c_void_p, c_void_p, c_int64, c_int64)
sparse_pick = _declare("pto_sparse_pick", c_void_p, c_void_p, POINTER(c_int64), c_int64)
sparse_transpose = _declare("pto_sparse_transpose", c_void_p, c_void_p)
sparse_convert = _declare("pto_sparse_convert", c_void_p, c_void_p, c_int)

# Element types by their number in PTOType, with the typestr of the array interface and the code and bits of DLPack.
NAMES = ["byte", "f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"]
BYTES = [1, 2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1]
TYPESTR = [None, "<f2", None, "<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"]
TYPE_OF = {text: number for number, text in enumerate(TYPESTR) if text}
TYPE_OF.update({"=" + text[1:]: number for text, number in list(TYPE_OF.items())})
F32, F64, I64, BOOL = 3, 4, 8, 13


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int), ("device_id", c_int), ("ndim", c_int), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class DLManagedTensor(Structure):
    _fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", c_void_p)]


class DLManagedTensorVersioned(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
                ("tensor", DLTensor)]


DLPACK_READ_ONLY, DLPACK_IS_COPIED = 1, 2
DELETER = CFUNCTYPE(None, c_void_p)
USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}


class ArrowSchema(Structure):
    _fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
                ("children", c_void_p), ("dictionary", c_void_p), ("release", c_void_p), ("private_data", c_void_p)]


class ArrowArray(Structure):
    _fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
                ("buffers", c_void_p), ("children", c_void_p), ("dictionary", c_void_p), ("release", c_void_p),
                ("private_data", c_void_p)]


tensor_to_dlpack = _declare("pto_tensor_to_dlpack", c_void_p, c_void_p, c_uint32, c_uint32)
tensor_to_dlpack_unversioned = _declare("pto_tensor_to_dlpack_unversioned", c_void_p, c_void_p)
tensor_from_dlpack = _declare("pto_tensor_from_dlpack", c_void_p, c_void_p)
tensor_from_dlpack_unversioned = _declare("pto_tensor_from_dlpack_unversioned", c_void_p, c_void_p)
tensor_to_arrow = _declare("pto_tensor_to_arrow", c_int, c_void_p, c_void_p, c_void_p)
tensor_from_arrow = _declare("pto_tensor_from_arrow", c_void_p, c_void_p, c_void_p)

_python = ctypes.pythonapi
capsule_pointer = _python.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
capsule_rename = _python.PyCapsule_SetName
capsule_rename.restype, capsule_rename.argtypes = c_int, [ctypes.py_object, c_char_p]
capsule_new = _python.PyCapsule_New
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
capsule_has_name = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, c_char_p)(("PyCapsule_IsValid", _python))
raw_calloc = _python.PyMem_RawCalloc
raw_calloc.restype, raw_calloc.argtypes = c_void_p, [ctypes.c_size_t, ctypes.c_size_t]


def _address(function):
    return ctypes.cast(function, c_void_p)


# The destructor of a capsule, and the release function of an object, are C: they may run while an exception is in flight.
_CALLS = ("PyCapsule_IsValid", "PyCapsule_GetPointer", "PyMem_RawFree", "Py_IsInitialized", "PyGILState_Ensure", "PyGILState_Release",
          "Py_DecRef")
_declare("pto_python_calls_", None, c_void_p * len(_CALLS))((c_void_p * len(_CALLS))(*(_address(getattr(_python, name)).value for name in _CALLS)))
END_CAPSULE, LET_GO = _address(lib.pto_python_end_capsule_), _address(lib.pto_python_let_go_)
keep = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", _python))
let_go = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_DecRef", _python))
