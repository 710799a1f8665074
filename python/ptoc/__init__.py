"""Compile and call .pto programs from Python.

    import numpy as np, ptoc
    m = ptoc.compile("bgemm.pto")      # ptoc.load("bgemm.so") for what is built
    m.bgemm(A, B, C)                   # NumPy, torch, anything with DLPack: no copy; C is updated in place
    z = m.vadd(x, y)                   # an `out` argument that is left out is made and returned

docs/python.md of ptoc is the manual.
"""
from ._errors import CompileError, PtoError, RunError
from ._program import Program, compile, load
from ._runtime import Runtime
from ._sparse import csr
from ._tensor import Tensor, tensor

__all__ = ["CompileError", "Program", "PtoError", "RunError", "Runtime", "Tensor", "compile", "csr", "load", "tensor"]
