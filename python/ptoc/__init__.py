"""Compile and call .pto programs from Python.

    import numpy as np, ptoc
    m = ptoc.compile("bgemm.pto")      # ptoc.load("bgemm.so") for what is built
    m.bgemm(A, B, C)                   # NumPy, torch, anything with DLPack: no copy; C is updated in place
    z = m.vadd(x, y)                   # an `out` argument that is left out is made and returned

docs/python.md of ptoc is the manual.
"""
from ._errors import CompileError, PtoError, RunError
from ._program import Program, compile, load
from ._registry import pool_limit, stats, tensors
from ._runtime import Pool, Runtime, no_wait
from ._sparse import Sparse, csr, made as sparse_of, sparse
from ._tensor import Tensor, empty, tensor

__all__ = ["CompileError", "Pool", "Program", "PtoError", "RunError", "Runtime", "Sparse", "Tensor", "compile", "csr", "empty", "load",
           "no_wait", "pool_limit", "sparse", "sparse_of", "stats", "tensor", "tensors"]
