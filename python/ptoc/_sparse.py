"""Sparse matrices: counted handles of the library, and those of SciPy without a copy."""
import ctypes

from . import _library as c
from ._errors import Handle, PtoError
from ._numbers import extents, listed, row_numbers, whole_number
from ._tensor import Tensor, checked, fail, tensor

FORMATS = ["csr", "csc", "coo", "bsr", "bsc", "csr4"]
_BY_POINTER = ("ptr", "idx", "val")
FIELDS = {"csr": _BY_POINTER, "csc": _BY_POINTER, "coo": ("row", "column", "val"), "bsr": _BY_POINTER, "bsc": _BY_POINTER,
          "csr4": ("first", "last", "idx", "val")}
WITH_BLOCKS = ("bsr", "bsc")  # no conversion makes these
_SCIPY = {"csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "bsr": ("indptr", "indices", "data"),
          "coo": ("row", "col", "data")}


class Sparse(Handle):
    """A counted sparse matrix: a format, a shape and a Tensor for each array, which are attributes (`ptr`, `idx`, `val`; of coo
    `row`, `column`, `val`; of csr4 `first`, `last`, `idx`, `val`) and come in this order from an iteration."""

    __slots__ = ("_handle", "_about", "__weakref__")
    _release = c.sparse_release

    def __init__(self, handle):
        self._handle = self._taken(handle, "ptoc.sparse(matrix)")
        self._about = c.SparseDescription()
        c.sparse_describe(handle, ctypes.byref(self._about))

    format = property(lambda self: FORMATS[self._about.format])
    shape = property(lambda self: (self._about.rows, self._about.columns))
    nnz = property(lambda self: self._about.nnz)
    block = property(lambda self: tuple(self._about.block), doc="rows and columns of a block; (1, 1) without blocks")
    dtype = property(lambda self: c.NAMES[self._about.value_type])
    index_dtype = property(lambda self: c.NAMES[self._about.index_type])
    is_sorted = property(lambda self: bool(self._about.flags & 1), doc="check=True found the indices of each row in order")
    is_unique = property(lambda self: bool(self._about.flags & 2), doc="and none of them twice")
    T = property(lambda self: Sparse(checked(c.sparse_transpose(self._open_handle()))), doc="the transpose, without a copy")

    def __iter__(self):
        return iter([Tensor(c.tensor_retain(c.sparse_array(self._open_handle(), i))) for i in range(self._about.arrays)])

    def __getattr__(self, name):
        if name.startswith("_"):  # a slot that __init__ did not come to
            raise AttributeError(name)
        fields = FIELDS[self.format]
        if name not in fields:
            raise AttributeError(f"{self!r} has no {name!r}; its arrays are: {', '.join(fields)}")
        return Tensor(c.tensor_retain(c.sparse_array(self._open_handle(), fields.index(name))))

    def __repr__(self):
        return f"ptoc.Sparse({self.format} {self.dtype}{list(self.shape)}, {self.nnz} elements)"

    def rows(self, first, count):
        """Rows next to each other, without a copy."""
        first = whole_number("'first'", first, 0, self.shape[0], error=IndexError)
        count = whole_number("'count'", count, 0, self.shape[0] - first, error=IndexError)
        return Sparse(checked(c.sparse_rows(self._open_handle(), first, count)))

    def pick(self, rows):
        """These rows in this order, as csr4: the elements are shared."""
        rows = row_numbers("rows", rows)
        return Sparse(checked(c.sparse_pick(self._open_handle(), (ctypes.c_int64 * len(rows)).from_buffer(rows), len(rows))))

    def share(self):
        """Another matrix on the same memory: both see what is written."""
        return Sparse(checked(c.sparse_share(self._open_handle())))

    def detach(self):
        """Another matrix, which keeps the present elements; they are copied when one of the two is written."""
        return Sparse(checked(c.sparse_detach(self._open_handle())))

    def convert(self, format):
        """A copy in the format csr, csc, coo or csr4."""
        if format not in FORMATS:
            raise ValueError(f"there is no format {format!r}; there is: {', '.join(FORMATS)}")
        return Sparse(checked(c.sparse_convert(self._open_handle(), FORMATS.index(format))))

    def scipy(self):
        """A matrix of SciPy on the same memory; csr, csc, coo and bsr."""
        import numpy
        import scipy.sparse
        arrays = [numpy.asarray(array) for array in self]
        make = getattr(scipy.sparse, self.format + "_matrix", None)
        if make is None:
            raise TypeError(f"SciPy has no {self.format}: convert(\"csr\") first")
        if self.format == "coo":
            return make((arrays[2], (arrays[0], arrays[1])), self.shape, copy=False)
        arrays[0] = arrays[0] - arrays[0][:1]  # of rows of a larger matrix, ptr keeps its numbers
        return make((arrays[2], arrays[1], arrays[0]), self.shape, copy=False)


def made(format, shape, tensors, check=False):
    """A matrix of tensors, or of arrays, which are kept and not copied, in the order of Sparse."""
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}; there is: {', '.join(FORMATS)}")
    tensors = [tensor(array) for array in tensors]
    if len(tensors) != len(FIELDS[format]):
        raise ValueError(f"a {format} matrix has {len(FIELDS[format])} arrays, {', '.join(FIELDS[format])}; here are {len(tensors)}")
    rank, sizes = extents("the matrix", listed([shape]))
    if rank != 2:
        raise ValueError(f"a matrix has rows and columns, here are {rank} extents")
    handles = (ctypes.c_void_p * len(tensors))(*(t._handle for t in tensors))
    handle = c.sparse_make(FORMATS.index(format), sizes[0], sizes[1], handles, bool(check))
    return Sparse(handle if handle else fail())


def _has_arrays(value):
    """Is it a matrix of SciPy in a format that a Sparse has?"""
    name = getattr(value, "format", None)
    return isinstance(name, str) and name in _SCIPY and all(hasattr(value, array) for array in _SCIPY[name])


def is_of_scipy(value):
    """Is it a matrix of SciPy in any format, dok, lil and dia too?"""
    return _has_arrays(value) or hasattr(value, "tocsr") and isinstance(getattr(value, "format", None), str)


def check_format(matrix, formats, struct):
    """Raises where a matrix has none of the formats that a struct of this name can be.  csr and csc have the same
    arrays: which of them it is, a call sees by its extents."""
    if not formats or matrix.format in formats:
        return
    wanted, fix = next((name for name in formats if name in struct.lower()), formats[0]), ""
    if type(matrix) is not Sparse and wanted in _SCIPY:
        fix = f": pass a.to{wanted}()"
    elif type(matrix) is Sparse and wanted not in WITH_BLOCKS:
        fix = f": pass a.convert({wanted!r})"
    raise TypeError(f"the format is {' or '.join(formats)}, this is {matrix.format}{fix}")


def _refuse(needed, matrix):
    fix = ": pass a.tocsr()" if hasattr(matrix, "tocsr") else ""
    raise TypeError(f"{needed} is needed, this is {type(matrix).__name__}{fix}")


def sparse(matrix, check=False):
    """A Sparse of a matrix of SciPy (csr, csc, coo, bsr), whose arrays are kept and not copied.  check: every number is looked at."""
    if isinstance(matrix, Sparse):
        return Sparse(c.sparse_retain(matrix._open_handle()))
    if not _has_arrays(matrix):
        _refuse("a matrix of SciPy in csr, csc, coo or bsr", matrix)
    return made(matrix.format, matrix.shape, [tensor(getattr(matrix, name)) for name in _SCIPY[matrix.format]], check)


def csr(matrix):
    """A CSR matrix of SciPy (csr_matrix, csr_array) as a Sparse."""
    if getattr(matrix, "format", None) != "csr":
        _refuse("a CSR matrix of SciPy", matrix)
    return sparse(matrix)
