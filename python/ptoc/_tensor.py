"""Tensors of the library, and the arrays of others as tensors."""
import ctypes
import operator

from . import _exchange
from . import _library as c
from ._errors import Handle
from ._exchange import checked, fail


def _another_order(typestr):
    """The fix, where only the order of the bytes is another one."""
    native = "=" + typestr[1:]
    return f": their bytes are in another order; pass a.astype({native!r})" if typestr[:1] in "<>" and native in c.TYPE_OF else ""


def _types():
    return ", ".join(c.NAMES[1:])  # "byte" is no type of an array


_PLAIN = set()  # types whose memory holds their elements as they are


def is_plain(array):
    return type(array) in _PLAIN


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


def no_array(array, kind=None):
    """What to say of an object that is no array."""
    text = type(array).__name__
    if hasattr(array, "toarray"):  # a sparse matrix of SciPy
        return f"{text}: pass a.toarray()"
    typestr = c.TYPESTR[kind] if kind else None
    if typestr and (isinstance(array, (list, tuple, bytes, bytearray, memoryview)) or hasattr(array, "__array__")):
        return f"{text}: pass np.asarray(a, {typestr[1:]!r})"
    return text


def describe_foreign(array):
    """A PTOForeign of an object with the array interface, which must be kept; the objects that it points to."""
    view = array.__array_interface__
    kind = c.TYPE_OF.get(view["typestr"])
    if kind is None:
        fix = _another_order(view["typestr"]) or f": there is {_types()}"
        raise TypeError(f"elements of {getattr(array, 'dtype', view['typestr'])!s} are none of the language's{fix}")
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
    look_at(array)
    if hasattr(array, "__array_interface__"):
        return attach(array)
    if hasattr(array, "__arrow_c_array__"):  # before DLPack, which does not say there that the memory is read-only
        return _exchange.from_arrow(array)
    if hasattr(array, "__dlpack__"):
        return _exchange.from_dlpack(array)
    raise TypeError(f"{type(array).__name__} is no array: NumPy, torch, Arrow, or anything with __dlpack__ is")


class Tensor(Handle):
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
    T = property(lambda self: Tensor(checked(c.tensor_transpose(self._handle, None))), doc="dimensions reversed")

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
                t = Tensor(checked(c.tensor_slice(t._handle, dim, start, len(range(start, stop, step)), step)))
                dim += 1
            elif isinstance(k, (list, bool)) or not hasattr(k, "__index__"):
                raise TypeError(f"{k!r} is no index of a tensor")
            else:
                at = operator.index(k)
                if not -extent <= at < extent:
                    raise IndexError(f"index {at} is out of range: the extent is {extent}")
                t = Tensor(checked(c.tensor_index(t._handle, dim, at % extent)))
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
        return Tensor(checked(c.tensor_reshape(self._handle, len(shape), (ctypes.c_int64 * len(shape))(*shape))))

    def transpose(self, *order):
        """The dimensions in another order."""
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"{order} is no order of the dimensions of {self!r}")
        return Tensor(checked(c.tensor_transpose(self._handle, (ctypes.c_int * self.ndim)(*order))))

    def broadcast(self, *shape):
        """A read-only view of the shape, in which extents of 1 are repeated."""
        return Tensor(checked(c.tensor_broadcast(self._handle, len(shape), (ctypes.c_int64 * len(shape))(*shape))))

    def share(self):
        """Another tensor on the same memory: both see what is written."""
        return Tensor(checked(c.tensor_share(self._handle)))

    def detach(self):
        """Another tensor, which keeps the present elements; they are copied when a call or a map writes one of the two.  What the owner of
        an array writes into it himself is seen by both: copy() keeps the elements from that, too."""
        return Tensor(checked(c.tensor_detach(self._handle)))

    @property
    def is_undefined(self):
        """A failed run may have written parts of it."""
        about = c.Description()
        c.tensor_describe(self._handle, ctypes.byref(about))
        return bool(about.flags & c.UNDEFINED)

    def writable(self):
        """From now on nobody else sees the memory of this tensor: if somebody does, a contiguous copy takes its place."""
        handle = ctypes.c_void_p(self._handle)
        if c.tensor_writable(ctypes.byref(handle)) != 0:
            fail()
        self.__init__(handle.value)
        return self

    def copy(self):
        """A contiguous tensor with memory of its own."""
        return Tensor(checked(c.tensor_copy(self._handle)))

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def dense(self):
        """This tensor if it is contiguous, else a copy."""
        return Tensor(checked(c.tensor_dense(self._handle)))

    def __array__(self, dtype=None, copy=None):
        typestr = c.TYPESTR[self._about.type]
        if typestr is None:
            raise TypeError(f"NumPy has no {self.dtype}")
        array = _exchange.to_numpy(self._handle, typestr)
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
        return _exchange.to_dlpack(t._handle, max_version, bool(copy))

    def __arrow_c_array__(self, requested_schema=None):
        return _exchange.to_arrow(self._handle)


def empty(dtype, *shape, pool=None):
    """A Tensor with memory of the library, whose elements are not cleared: empty("f32", 3, 4).  pool: a ptoc.Pool."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    if dtype not in c.NUMBER:
        raise TypeError(f"{dtype!r} is no element type; there is: {', '.join(c.NAMES)}")
    return Tensor(checked(c.tensor_new(pool._handle if pool else None, c.NUMBER[dtype], len(shape), (ctypes.c_int64 * len(shape))(*shape))))


def tensor(array):
    """A Tensor of the memory of an array, which is kept alive and not copied."""
    if isinstance(array, Tensor):
        return Tensor(c.tensor_retain(array._handle))
    return Tensor(handle_of(array))
