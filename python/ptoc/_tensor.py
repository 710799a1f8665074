"""Tensors of the library, and the arrays of others as tensors."""
import ctypes
import itertools
import threading

from . import _library as c
from ._errors import PtoError

_held = {}  # what a tensor of foreign memory keeps alive, by a number
_numbers = itertools.count(1)
_lock = threading.Lock()


@c.RELEASE
def _let_go(number):
    _held.pop(number, None)


_LET_GO = ctypes.cast(_let_go, ctypes.c_void_p).value


def fail(kinds=None):
    """Raises what the thread's last call of the library failed with."""
    status, text = c.last_status(), c.last_error(None).decode()
    raise (kinds or {}).get(status, ValueError if status in (-1, -14, -25, -27) else PtoError)(text)


def _checked(handle):
    return handle if handle else fail()


def describe_foreign(array):
    """A PTOForeign of an object with the array interface, which must be kept; the objects that it points to."""
    view = array.__array_interface__
    kind = c.TYPE_OF.get(view["typestr"])
    if kind is None:
        raise TypeError(f"elements of {view['typestr']!r} are none of the language's")
    shape, address, read_only = view["shape"], *view["data"]
    rank, size = len(shape), c.BYTES[kind]
    if rank > c.MAX_RANK:
        raise ValueError(f"an array of rank {rank}; at most {c.MAX_RANK}")
    f = c.Foreign(address=address, type=kind, rank=rank, flags=c.READ_ONLY if read_only else 0)
    extents = (ctypes.c_int64 * rank)(*shape)
    f.shape = extents
    strides, low, high, count = view.get("strides"), 0, 0, 1
    for extent in shape:
        count *= extent
    if count and strides:
        if any(stride % size for stride in strides):
            raise ValueError("strides are not a multiple of the elements: copy the array")
        for extent, stride in zip(shape, strides):
            low += min(0, (extent - 1) * stride)
            high += max(0, (extent - 1) * stride)
        strides = (ctypes.c_int64 * rank)(*(stride // size for stride in strides))
        f.strides = strides
        f.address, f.first, f.bytes = address + low, -low // size, high - low + size
    else:
        f.bytes = count * size
        f.address = address if count else None
    return f, (extents, strides)


def attach(array):
    """The handle of a tensor of the array's memory, which keeps the array alive."""
    f, kept = describe_foreign(array)
    with _lock:
        number = next(_numbers)
    _held[number] = (array, kept)
    f.release, f.context = _LET_GO, number
    handle = c.tensor_attach(ctypes.byref(f))
    if not handle:
        _held.pop(number, None)
        fail()
    return handle


def attach_for_call(array):
    """The same for an array that the caller keeps until the tensor is released."""
    f, _ = describe_foreign(array)
    handle = c.tensor_attach(ctypes.byref(f))
    return handle if handle else fail()


class _Interface:
    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


class Tensor:
    """A counted view of memory that programs of this library use.  It has no arithmetic: np.asarray(t) is an array."""

    __slots__ = ("_handle", "_about", "__weakref__")

    def __init__(self, handle):
        self._handle = handle
        self._about = about = c.Description()
        c.tensor_describe(handle, ctypes.byref(about))

    def __del__(self):
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            c.tensor_release(handle)

    shape = property(lambda self: tuple(self._about.shape[:self._about.rank]), doc="the extents")
    strides = property(lambda self: tuple(self._about.strides[:self._about.rank]), doc="in elements")
    ndim = property(lambda self: self._about.rank)
    dtype = property(lambda self: c.NAMES[self._about.type], doc='the element type by the language\'s name: "f32"')
    T = property(lambda self: Tensor(_checked(c.tensor_transpose(self._handle, None))), doc="dimensions reversed")

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __repr__(self):
        return f"ptoc.Tensor({self.dtype}{list(self.shape)})"

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        if any(k is Ellipsis for k in key):
            at = next(i for i, k in enumerate(key) if k is Ellipsis)
            key = key[:at] + (slice(None),) * (self.ndim - len(key) + 1) + key[at + 1:]
        if len(key) > self.ndim:
            raise IndexError(f"{len(key)} indices for {self!r}")
        t, dim = self, 0
        for k in key:
            extent = t.shape[dim]
            if isinstance(k, slice):
                start, stop, step = k.indices(extent)
                t = Tensor(_checked(c.tensor_slice(t._handle, dim, start, len(range(start, stop, step)), step)))
                dim += 1
            elif isinstance(k, list):
                raise TypeError("a list is no index of a tensor")
            else:
                at = k.__index__()
                if not -extent <= at < extent:
                    raise IndexError(f"index {at} is out of range: the extent is {extent}")
                t = Tensor(_checked(c.tensor_index(t._handle, dim, at % extent)))
        return t

    def reshape(self, *shape):
        """The same elements with another shape; one extent may be -1."""
        shape = list(shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape)
        count = known = 1
        for extent in self.shape:
            count *= extent
        for extent in shape:
            known *= extent if extent != -1 else 1
        shape = [count // known if extent == -1 and known else extent for extent in shape]
        return Tensor(_checked(c.tensor_reshape(self._handle, len(shape), (ctypes.c_int64 * len(shape))(*shape))))

    def copy(self):
        """A contiguous tensor with memory of its own."""
        return Tensor(_checked(c.tensor_copy(self._handle)))

    def dense(self):
        """This tensor if it is contiguous, else a copy."""
        return Tensor(_checked(c.tensor_dense(self._handle)))

    def __array__(self, dtype=None, copy=None):
        import numpy
        number = self._about.type
        typestr = c.TYPESTR[number]
        if typestr is None:
            raise TypeError(f"NumPy has no {self.dtype}")
        array = None
        if not copy and number != c.BOOL and hasattr(c.lib, "pto_tensor_to_dlpack_unversioned"):
            try:
                array = numpy.from_dlpack(self)
            except (BufferError, RuntimeError, PtoError, ValueError):
                pass  # read-only, or a NumPy that does not know the type
        if array is None:
            array = self._copied(numpy, typestr)
        return array if dtype is None else array.astype(dtype, copy=False)

    def _copied(self, numpy, typestr):
        address = _checked(c.tensor_map(self._handle, c.READ))
        try:
            size = c.BYTES[self._about.type]
            interface = {"version": 3, "typestr": typestr, "shape": self.shape, "data": (address, True),
                         "strides": tuple(s * size for s in self.strides)}
            return numpy.array(_Interface(interface, self))
        finally:
            c.tensor_unmap(self._handle)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, (1, 0)):
            raise BufferError("a tensor goes out on the CPU only")
        t = self.copy() if copy else self
        if max_version is not None and max_version[0] >= 1:
            return _capsule(c.lib.pto_tensor_to_dlpack(ctypes.c_void_p(t._handle), max_version[0], max_version[1]), True)
        return _capsule(c.lib.pto_tensor_to_dlpack_unversioned(ctypes.c_void_p(t._handle)), False)


def _capsule(managed, versioned):
    if not managed:
        fail({-27: BufferError, -18: BufferError})
    return c.capsule_new(managed, b"dltensor_versioned" if versioned else b"dltensor",
                         _END_VERSIONED if versioned else _END_UNVERSIONED)


for _name in ("pto_tensor_to_dlpack", "pto_tensor_to_dlpack_unversioned"):
    if hasattr(c.lib, _name):
        getattr(c.lib, _name).restype = ctypes.c_void_p

_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _ender(name, offset):
    """The destructor of a capsule, which deletes what nobody has taken."""

    @ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    def end(capsule):
        if c.capsule_valid(capsule, name):
            managed = _raw_pointer(capsule, name)
            deleter = ctypes.c_void_p.from_address(managed + offset).value
            if deleter:
                _DELETER(deleter)(managed)

    return end


_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_end_unversioned = _ender(b"dltensor", c.DLManagedTensor.deleter.offset)
_end_versioned = _ender(b"dltensor_versioned", 16)  # version, context, deleter, flags, tensor
_END_UNVERSIONED = ctypes.cast(_end_unversioned, ctypes.c_void_p).value
_END_VERSIONED = ctypes.cast(_end_versioned, ctypes.c_void_p).value


def tensor(array):
    """A Tensor of the memory of an array, which is kept alive and not copied."""
    if isinstance(array, Tensor):
        return Tensor(c.tensor_retain(array._handle))
    if hasattr(array, "__array_interface__"):
        return Tensor(attach(array))
    if hasattr(array, "__dlpack__") and hasattr(c.lib, "pto_tensor_from_dlpack_unversioned"):
        capsule = array.__dlpack__()
        c.lib.pto_tensor_from_dlpack_unversioned.restype = ctypes.c_void_p
        handle = c.lib.pto_tensor_from_dlpack_unversioned(ctypes.c_void_p(c.capsule_pointer(capsule, b"dltensor")))
        if not handle:
            fail()
        c.capsule_rename(capsule, b"used_dltensor")
        return Tensor(handle)
    raise TypeError(f"{type(array).__name__} is no array: NumPy, torch, or anything with __dlpack__ is")
