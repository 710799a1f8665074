"""interp - runs a .pto program in its sequential meaning: each kernel runs to its end at its call.

Idea       tensors are NumPy arrays, views are NumPy views, kernels are NumPy functions found by symbol or name
           (kernels.py).  Beside each tensor goes an array of the same shape that says which elements were written, so
           that a program whose result could depend on the bytes that memory held is known.
Modules    faults, values, arithmetic and places are leaves; syntax, program and type_trees read a file; storage,
           regions, expressions, result_types, statements, control, calls and kernel_calls are the parts of Run
           (run.py), over overloads and equations.
Owner      Program is one file with its modules; Run is one run of one entry.
Invariant  a run-time error of the language's definition is a Fault with the id of the check and the line.
Tests      test/random/check_programs.py compares it with the six programs of the definition
"""
from .faults import Fault, TooLong
from .program import Program
from .run import Run
from .values import ELEMENTS

__all__ = ["ELEMENTS", "Fault", "Program", "Run", "TooLong"]
