"""Memory to and from other libraries without a copy: NumPy by its array interface, DLPack and Arrow by capsules."""
import ctypes

from . import _library as c
from ._errors import PtoError

_UNSUPPORTED, _READ_ONLY = -18, -27
_KINDS = {-1: ValueError, -13: IndexError, -25: ValueError, _READ_ONLY: ValueError}


def fail(kinds=None):
    """Raises what the thread's last call of the library failed with."""
    status, text = c.last_status(), c.last_error(None).decode()
    kind = {**_KINDS, **(kinds or {})}.get(status, PtoError)
    raise kind(text, status) if issubclass(kind, PtoError) else kind(text)


def checked(handle):
    return handle if handle else fail()


def for_ever(callback):
    """The address of a C function of Python, which may be called as long as the process exists."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return ctypes.cast(callback, ctypes.c_void_p).value


# ---- NumPy ----

class _Exported:
    """A tensor that was handed out, as NumPy reads it; the deleter is called when the last array of its memory is gone."""

    def __init__(self, handle, typestr):
        address = c.tensor_to_dlpack(handle, 1, 0)
        self._managed = address or fail()
        managed = c.DLManagedTensorVersioned.from_address(address)
        t, size = managed.tensor, managed.tensor.bits // 8
        self.__array_interface__ = {
            "version": 3, "typestr": typestr, "shape": tuple(t.shape[:t.ndim]), "strides": tuple(s * size for s in t.strides[:t.ndim]),
            "data": ((t.data or address) + t.byte_offset, bool(managed.flags & c.DLPACK_READ_ONLY))}  # NumPy takes no NULL

    def __del__(self):
        managed, self._managed = getattr(self, "_managed", None), None
        if managed:
            c.DELETER(c.DLManagedTensorVersioned.from_address(managed).deleter)(managed)


def to_numpy(handle, typestr):
    """An array of the tensor's memory, read-only where the tensor is."""
    import numpy
    return numpy.asarray(_Exported(handle, typestr))


# ---- DLPack ----

_DLPACK, _VERSIONED = b"dltensor", b"dltensor_versioned"


def _ender(name, struct):
    """The destructor of a capsule, which deletes what nobody has taken."""

    @ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    def end(capsule):
        if c.capsule_valid(capsule, name):
            managed = c.capsule_pointer_of(capsule, name)
            deleter = struct.from_address(managed).deleter
            if deleter:
                c.DELETER(deleter)(managed)

    return for_ever(end)


_END = {_DLPACK: _ender(_DLPACK, c.DLManagedTensor), _VERSIONED: _ender(_VERSIONED, c.DLManagedTensorVersioned)}


def to_dlpack(handle, max_version):
    """A capsule of the tensor; max_version None: of the struct before 1.0."""
    if max_version is not None and max_version[0] >= 1:
        managed, name = c.tensor_to_dlpack(handle, max_version[0], max_version[1]), _VERSIONED
    else:
        managed, name = c.tensor_to_dlpack_unversioned(handle), _DLPACK
    if not managed:
        fail({_READ_ONLY: BufferError, _UNSUPPORTED: BufferError})
    return c.capsule_new(managed, name, _END[name])


def from_dlpack(array):
    """The handle of a tensor of the array's memory."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # it knows no versions
        capsule = array.__dlpack__()
    name = _VERSIONED if c.capsule_has_name(capsule, _VERSIONED) else _DLPACK
    take = c.tensor_from_dlpack if name == _VERSIONED else c.tensor_from_dlpack_unversioned
    handle = take(c.capsule_pointer(capsule, name))
    if not handle:
        fail({_UNSUPPORTED: TypeError})
    c.capsule_rename(capsule, c.USED[name])
    return handle


# ---- Arrow ----

_kept = {}  # the structs in capsules, by their address


def _arrow_ender(name, struct):
    @ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    def end(capsule):
        held = _kept.pop(c.capsule_pointer_of(capsule, name), None)
        if held is not None and held.release:  # nobody has moved it
            c.DELETER(held.release)(ctypes.addressof(held))

    return for_ever(end)


_ARRAY, _SCHEMA = b"arrow_array", b"arrow_schema"
_END_ARRAY, _END_SCHEMA = _arrow_ender(_ARRAY, c.ArrowArray), _arrow_ender(_SCHEMA, c.ArrowSchema)


def _arrow_capsule(struct, name, end):
    _kept[ctypes.addressof(struct)] = struct
    return c.capsule_new(ctypes.addressof(struct), name, end)


def to_arrow(handle):
    """(capsule of the schema, capsule of the array): of Arrow's PyCapsule interface."""
    array, schema = c.ArrowArray(), c.ArrowSchema()
    if c.tensor_to_arrow(handle, ctypes.addressof(array), ctypes.addressof(schema)) != 0:
        fail({_UNSUPPORTED: TypeError})
    return _arrow_capsule(schema, _SCHEMA, _END_SCHEMA), _arrow_capsule(array, _ARRAY, _END_ARRAY)


def from_arrow(array):
    """The handle of a read-only tensor of an Arrow array."""
    schema, values = array.__arrow_c_array__()
    handle = c.tensor_from_arrow(c.capsule_pointer(values, _ARRAY), c.capsule_pointer(schema, _SCHEMA))
    return handle if handle else fail({_UNSUPPORTED: TypeError})
