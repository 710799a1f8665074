"""Tensors of the library, and the arrays of others as tensors."""
import ctypes
import math
import operator
import sys

from . import _exchange
from . import _library as c
from ._errors import Handle
from ._exchange import checked, fail
from ._numbers import U64_MAX, extents, is_truth, listed, whole_number
from ._runtime import pool_handle


def _another_order(typestr):
    """The fix, where only the order of the bytes is another one."""
    native = "=" + typestr[1:]
    return f": their bytes are in another order; pass a.astype({native!r})" if typestr[:1] in "<>" and native in c.TYPE_OF else ""


def _types():
    return ", ".join(c.NAMES[1:])  # "byte" is no type of an array


_PLAIN = set()  # types whose memory holds their elements as they are


def is_plain(array):
    return type(array) in _PLAIN


def _is_number_of_numpy(array):
    """One has the array interface, but of a copy that is gone as soon as the address is known."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, numpy.generic)


def is_array(array):
    """Has it memory, and one of the interfaces that say where?  A class has those of its objects."""
    return any(hasattr(array, name) for name in ("__array_interface__", "__arrow_c_array__", "__dlpack__")) \
        and not isinstance(array, type) and not _is_number_of_numpy(array)


def look_at(array):
    """Raises where the memory of an array does not say what its elements are: a mask, or a sign that torch would apply."""
    kind = type(array)
    if hasattr(kind, "filled") and hasattr(kind, "mask"):
        if array.mask.any():
            raise ValueError("a masked array, whose mask would be lost: pass a.filled(v)")
    elif hasattr(kind, "is_neg"):
        if array.is_neg():
            raise ValueError("a view whose elements are the negatives of its memory: pass a.resolve_neg()")
    else:
        _PLAIN.add(kind)


def _has_elements(array):
    """Does np.asarray read it?  bytes, array.array, arrays of ctypes and others have a buffer."""
    try:
        memoryview(array)
    except (TypeError, ValueError, BufferError):
        return isinstance(array, (list, tuple)) or hasattr(array, "__array__")
    return True


def no_array(array, kind=None):
    """What to say of an object that is no array."""
    text = type(array).__name__
    if hasattr(array, "toarray"):  # a sparse matrix of SciPy
        return f"{text}: pass a.toarray()"
    typestr = c.TYPESTR[kind] if kind and not isinstance(array, type) else None
    if typestr and _has_elements(array):
        return f"{text}: pass np.asarray(a, {typestr[1:]!r})"
    return text


def _interface(array):
    """(typestr, shape, strides or None, address, is read-only) of an object with the array interface.  Each is looked
    at, since any class may have one."""
    what, view = f"the __array_interface__ of {type(array).__name__}", array.__array_interface__
    if not isinstance(view, dict):
        raise TypeError(f"{what} is no dict, but {type(view).__name__}")
    missing = [key for key in ("typestr", "shape", "data") if view.get(key) is None]
    if missing:
        raise TypeError(f"{what} has no {missing[0]!r}")
    typestr, shape, strides, data = view["typestr"], view["shape"], view.get("strides"), view["data"]
    if not isinstance(typestr, str):
        raise TypeError(f"{what}: 'typestr' is text such as '<f4', not {typestr!r}")
    for key, numbers in (("shape", shape), ("strides", strides or ())):
        if not isinstance(numbers, (tuple, list)):
            raise TypeError(f"{what}: {key!r} is a tuple of integers, not {numbers!r}")
    if strides and len(strides) != len(shape):
        raise TypeError(f"{what}: 'strides' has {len(strides)} numbers, 'shape' has {len(shape)}")
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise TypeError(f"{what}: 'data' is an address and whether the memory is read-only, not {type(data).__name__}")
    if view.get("mask") is not None:
        raise TypeError(f"{what} has a 'mask', which would be lost")
    shape = [whole_number(f"{what}: extent {dim}", extent, 0) for dim, extent in enumerate(shape)]
    strides = [whole_number(f"{what}: stride {dim}", stride) for dim, stride in enumerate(strides)] if strides else None
    return typestr, shape, strides, whole_number(f"{what}: the address", data[0], 0, U64_MAX), bool(data[1])


def describe_foreign(array):
    """A PTOForeign of an object with the array interface, which must be kept; the objects that it points to."""
    typestr, shape, strides, address, read_only = _interface(array)
    kind = c.TYPE_OF.get(typestr)
    if kind is None:
        fix = _another_order(typestr) or f": there is {_types()}"
        raise TypeError(f"elements of {getattr(array, 'dtype', typestr)!s} are none of the language's{fix}")
    rank, size, count = len(shape), c.BYTES[kind], math.prod(shape)
    if rank > c.MAX_RANK:
        raise ValueError(f"an array of rank {rank}; at most {c.MAX_RANK}")
    f = c.Foreign(type=kind, rank=rank, flags=c.READ_ONLY if read_only else 0)
    f.shape = kept_shape = (ctypes.c_int64 * rank)(*shape)
    low, high, kept_strides = 0, size * (count - 1), None
    if count and strides:
        if any(stride % size for stride in strides):
            raise ValueError("strides are not a multiple of the elements: copy the array")
        reach = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
        low, high = sum(min(0, offset) for offset in reach), sum(max(0, offset) for offset in reach)
        f.strides = kept_strides = (ctypes.c_int64 * rank)(*(stride // size for stride in strides))
    if count:
        f.address = whole_number("the address of the first byte", address + low, 0, U64_MAX)
        f.first = -low // size
        f.bytes = whole_number("the bytes of the elements' memory", high - low + size, 0)
    return f, (kept_shape, kept_strides)


def attach(array):
    """The handle of a tensor of the array's memory, which keeps the array alive."""
    f, kept = describe_foreign(array)
    held = (array, kept)
    c.keep(held)
    f.release, f.context = c.LET_GO, id(held)
    handle = c.tensor_attach(ctypes.byref(f))
    if not handle:
        c.let_go(held)
        fail()
    return handle


def attach_for_call(array):
    """The handle of a tensor of an array that the caller keeps until it is released."""
    if not hasattr(array, "__array_interface__"):
        return handle_of(array)
    look_at(array)
    f, _ = describe_foreign(array)
    return checked(c.tensor_attach(ctypes.byref(f)))


def handle_of(array):
    """The handle of a tensor of the memory of any array, which is kept alive."""
    if not is_array(array):
        known = "NumPy, torch, Arrow, or anything with __dlpack__ is"
        fix = "pass np.asarray(a)" if not isinstance(array, type) and _has_elements(array) else known
        raise TypeError(f"{type(array).__name__} is no array: {fix}")
    look_at(array)
    if hasattr(array, "__array_interface__"):
        return attach(array)
    if hasattr(array, "__arrow_c_array__"):  # before DLPack, which does not say there that the memory is read-only
        return _exchange.from_arrow(array)
    return _exchange.from_dlpack(array)


class Tensor(Handle):
    """A counted view of memory that programs of this library use.  It has no arithmetic: np.asarray(t) is an array."""

    __slots__ = ("_handle", "_about", "__weakref__")
    _release = c.tensor_release

    def __init__(self, handle):
        self._handle = self._taken(handle, "ptoc.tensor(array)")
        self._about = about = c.Description()
        c.tensor_describe(handle, ctypes.byref(about))

    shape = property(lambda self: tuple(self._about.shape[:self._about.rank]), doc="the extents")
    strides = property(lambda self: tuple(self._about.strides[:self._about.rank]), doc="in elements")
    ndim = property(lambda self: self._about.rank)
    dtype = property(lambda self: c.NAMES[self._about.type], doc='the element type by the language\'s name: "f32"')
    T = property(lambda self: Tensor(checked(c.tensor_transpose(self._open_handle(), None))), doc="dimensions reversed")

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
                count = len(range(start, stop, step))
                # Without elements start may be -1, and with one the step may be of any size; neither matters there.
                start, step = start if count > 0 else 0, step if count > 1 else 1
                t = Tensor(checked(c.tensor_slice(t._open_handle(), dim, start, count, step)))
                dim += 1
            else:
                try:
                    at = operator.index(None if is_truth(k) else k)
                except TypeError:
                    raise TypeError(f"{k!r} is no index of a tensor") from None
                if not -extent <= at < extent:
                    raise IndexError(f"index {at} is out of range: the extent is {extent}")
                t = Tensor(checked(c.tensor_index(t._open_handle(), dim, at % extent)))
        return t

    def reshape(self, *shape):
        """The same elements with another shape; one extent may be -1."""
        shape = [whole_number(f"reshape(): extent {dim}", extent, -1) for dim, extent in enumerate(listed(shape))]
        if -1 in shape:
            known, count = math.prod(extent for extent in shape if extent != -1), math.prod(self.shape)
            if shape.count(-1) > 1 or known == 0 or count % known != 0:
                raise ValueError(f"reshape(): {tuple(shape)} leaves open what -1 is: {self!r} has {count} elements")
            shape[shape.index(-1)] = count // known
        return Tensor(checked(c.tensor_reshape(self._open_handle(), *extents("reshape()", shape))))

    def transpose(self, *order):
        """The dimensions in another order."""
        order = [whole_number(f"transpose(): dimension {place}", dim) for place, dim in enumerate(listed(order))]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"{tuple(order)} is no order of the dimensions of {self!r}")
        return Tensor(checked(c.tensor_transpose(self._open_handle(), (ctypes.c_int * self.ndim)(*order))))

    def broadcast(self, *shape):
        """A read-only view of the shape, in which extents of 1 are repeated."""
        return Tensor(checked(c.tensor_broadcast(self._open_handle(), *extents("broadcast()", listed(shape)))))

    def share(self):
        """Another tensor on the same memory: both see what is written."""
        return Tensor(checked(c.tensor_share(self._open_handle())))

    def detach(self):
        """Another tensor, which keeps the present elements; they are copied when a call or a map writes one of the two.  What the owner of
        an array writes into it himself is seen by both: copy() keeps the elements from that, too."""
        return Tensor(checked(c.tensor_detach(self._open_handle())))

    @property
    def is_undefined(self):
        """A failed run may have written parts of it."""
        about = c.Description()
        c.tensor_describe(self._open_handle(), ctypes.byref(about))
        return bool(about.flags & c.UNDEFINED)

    def writable(self):
        """From now on nobody else sees the memory of this tensor: if somebody does, a contiguous copy takes its place."""
        handle = ctypes.c_void_p(self._open_handle())
        try:
            if c.tensor_writable(ctypes.byref(handle)) != 0:
                fail()
        finally:  # Ctrl-C may come when the tensor before it has been released
            self._handle = handle.value
            self.__init__(handle.value)
        return self

    def copy(self):
        """A contiguous tensor with memory of its own."""
        return Tensor(checked(c.tensor_copy(self._open_handle())))

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce_ex__(self, protocol):
        raise TypeError("a Tensor of ptoc cannot be pickled: pickle np.asarray(t)")

    def dense(self):
        """This tensor if it is contiguous, else a copy."""
        return Tensor(checked(c.tensor_dense(self._open_handle())))

    def __array__(self, dtype=None, copy=None):
        typestr = c.TYPESTR[self._about.type]
        if typestr is None:
            raise TypeError(f"NumPy has no {self.dtype}")
        array = _exchange.to_numpy(self._open_handle(), typestr)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"{self.dtype} as {dtype} needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a tensor goes out on the CPU only")
        if stream is not None:
            raise BufferError("memory of the CPU has no stream: only stream=None is possible")
        t = self.copy() if copy else self
        return _exchange.to_dlpack(t._open_handle(), max_version, bool(copy))

    def __arrow_c_array__(self, requested_schema=None):
        return _exchange.to_arrow(self._open_handle())


def empty(dtype, *shape, pool=None):
    """A Tensor with memory of the library, whose elements are not cleared: empty("f32", 3, 4).  pool: a ptoc.Pool."""
    if not isinstance(dtype, str) or dtype not in c.NAMES:  # a dtype of NumPy equals names that mean others there
        raise TypeError(f"{dtype!r} is no element type; there is: {', '.join(c.NAMES)}")
    return Tensor(checked(c.tensor_new(pool_handle(pool), c.NAMES.index(dtype), *extents("empty()", listed(shape)))))


def tensor(array):
    """A Tensor of the memory of an array, which is kept alive and not copied."""
    if isinstance(array, Tensor):
        return Tensor(c.tensor_retain(array._open_handle()))
    return Tensor(handle_of(array))
