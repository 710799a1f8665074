"""Memory to and from other libraries without a copy: NumPy by its array interface, DLPack and Arrow by capsules."""
import ctypes

from . import _library as c
from ._errors import PtoError
from ._numbers import U32_MAX, whole_number

_UNSUPPORTED, _OTHER_VERSION, _READ_ONLY = -18, -26, -27
_KINDS = {-1: ValueError, -13: IndexError, -25: ValueError, _READ_ONLY: ValueError}


def fail(kinds=None):
    """Raises what the thread's last call of the library failed with."""
    status, text = c.last_status(), c.last_error(None).decode()
    kind = {**_KINDS, **(kinds or {})}.get(status, PtoError)
    raise kind(text, status) if issubclass(kind, PtoError) else kind(text)


def checked(handle):
    return handle if handle else fail()


# ---- NumPy ----

class _Exported:
    """A tensor that was handed out, as NumPy reads it; the deleter is called when the last array of its memory is gone."""

    def __init__(self, handle, typestr):
        address = c.tensor_to_dlpack(handle, 1, 0)
        self._managed = address or fail({_UNSUPPORTED: BufferError})
        managed = c.DLManagedTensorVersioned.from_address(address)
        self._delete = c.DELETER(managed.deleter)
        t, size = managed.tensor, managed.tensor.bits // 8
        self.__array_interface__ = {
            "version": 3, "typestr": typestr, "shape": tuple(t.shape[:t.ndim]), "strides": tuple(s * size for s in t.strides[:t.ndim]),
            "data": ((t.data or address) + t.byte_offset, bool(managed.flags & c.DLPACK_READ_ONLY))}  # NumPy takes no NULL

    def __del__(self, value_of=getattr):  # at the end of the interpreter there are no names of modules: see Handle
        managed, self._managed = value_of(self, "_managed", None), None
        if managed:
            self._delete(managed)


def to_numpy(handle, typestr):
    """An array of the tensor's memory, read-only where the tensor is."""
    import numpy
    return numpy.asarray(_Exported(handle, typestr))


# ---- DLPack ----

_DLPACK, _VERSIONED = b"dltensor", b"dltensor_versioned"


def to_dlpack(handle, max_version, is_copy):
    """A capsule of the tensor; max_version None: of the struct before 1.0.  is_copy: no other tensor has its memory."""
    if max_version is not None and max_version[0] >= 1:
        major, minor = (whole_number(f"max_version[{i}]", max_version[i], 0, U32_MAX) for i in range(2))
        managed, name = c.tensor_to_dlpack(handle, major, minor), _VERSIONED
        if managed and is_copy:
            c.DLManagedTensorVersioned.from_address(managed).flags |= c.DLPACK_IS_COPIED
    else:
        managed, name = c.tensor_to_dlpack_unversioned(handle), _DLPACK
    if not managed:
        fail({_READ_ONLY: BufferError, _UNSUPPORTED: BufferError})
    return c.capsule_new(managed, name, c.END_CAPSULE)


def _struct_in(capsule, name, source):
    """The address of the struct in a capsule; somebody else's method may give anything, and a capsule twice."""
    if not c.capsule_has_name(capsule, name):
        raise TypeError(f"{source} gives {capsule!r}, which is no unused capsule of the name {name.decode()!r}")
    return c.capsule_pointer(capsule, name)


def from_dlpack(array):
    """The handle of a tensor of the array's memory."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # it knows no versions
        capsule = array.__dlpack__()
    name = _VERSIONED if c.capsule_has_name(capsule, _VERSIONED) else _DLPACK
    take = c.tensor_from_dlpack if name == _VERSIONED else c.tensor_from_dlpack_unversioned
    handle = take(_struct_in(capsule, name, f"the __dlpack__ of {type(array).__name__}"))
    if handle or c.last_status() == _OTHER_VERSION:  # which was given back: not again
        c.capsule_rename(capsule, c.USED[name])
    return handle if handle else fail({_UNSUPPORTED: TypeError, _OTHER_VERSION: BufferError})


# ---- Arrow ----

_ARRAY, _SCHEMA = b"arrow_array", b"arrow_schema"


def _arrow_capsule(kind, name):
    """A struct that was released, and the capsule that gives its memory back."""
    at = c.raw_calloc(1, ctypes.sizeof(kind))
    if not at:
        raise MemoryError
    return at, c.capsule_new(at, name, c.END_CAPSULE)


def to_arrow(handle):
    """(capsule of the schema, capsule of the array): of Arrow's PyCapsule interface."""
    (array, array_capsule), (schema, schema_capsule) = _arrow_capsule(c.ArrowArray, _ARRAY), _arrow_capsule(c.ArrowSchema, _SCHEMA)
    if c.tensor_to_arrow(handle, array, schema) != 0:
        fail({_UNSUPPORTED: TypeError})
    return schema_capsule, array_capsule


def from_arrow(array):
    """The handle of a read-only tensor of an Arrow array."""
    source, capsules = f"the __arrow_c_array__ of {type(array).__name__}", array.__arrow_c_array__()
    if not isinstance(capsules, tuple) or len(capsules) != 2:
        raise TypeError(f"{source} gives {capsules!r}, which is no pair of capsules")
    schema, values = capsules
    handle = c.tensor_from_arrow(_struct_in(values, _ARRAY, source), _struct_in(schema, _SCHEMA, source))
    return handle if handle else fail({_UNSUPPORTED: TypeError})
