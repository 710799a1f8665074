"""Sparse matrices as structs of arrays."""


class Csr:
    """The arrays of a CSR matrix, for a struct with fields ptr, idx and val; none is copied."""

    def __init__(self, ptr, idx, val, shape):
        self.ptr, self.idx, self.val, self.shape = ptr, idx, val, tuple(shape)


def csr(matrix):
    """A CSR matrix of SciPy (csr_matrix, csr_array) as an argument."""
    if getattr(matrix, "format", None) != "csr":
        raise TypeError(f"a CSR matrix of SciPy is needed, this is {type(matrix).__name__}: give matrix.tocsr()")
    return Csr(matrix.indptr, matrix.indices, matrix.data, matrix.shape)
