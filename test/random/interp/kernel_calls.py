"""kernel_calls.py - a kernel runs to its end: its conditions, its arguments, and the parts of accumulators.

Idea       the NumPy function of kernels.py is called with the arrays themselves; an accumulator is given a part of its
           own, which is combined with the argument afterwards.
Owner      KernelCalls, a part of Run (run.py).
Invariant  a kernel reads no element that nothing wrote.
Tests      every random program
"""
import numpy as np

from . import kernels
from .faults import Fault
from .values import WRITTEN, Tensor, narrow

COMBINE = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
           "or": np.bitwise_or, "xor": np.bitwise_xor}


def neutral(by, dtype):
    """The elements that the part of an accumulator begins with."""
    if by in ("min", "max"):
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        least, greatest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
        return greatest if by == "min" else least
    if by == "and":
        return True if dtype.kind == "b" else ~dtype.type(0)
    return {"sum": -0.0 if dtype.kind == "f" else 0, "prod": 1, "or": 0, "xor": 0}[by]


class KernelCalls:
    def call_kernel(self, kernel, values, place, line):
        """The result: place, or a new tensor."""
        self.steps -= 1
        missing = len(values) < len(kernel.formals)
        if missing:
            at = [i for i, f in enumerate(kernel.formals) if f.direction == "out"][0]
            values = values[:at] + [place if isinstance(place, Tensor) else None] + values[at:]
        frame, pairs = self.bind(kernel, values, line)
        result = place
        if missing and not isinstance(place, Tensor):
            result = self.new_of_type(frame, kernel.formals[at].type)
            pairs[at] = (kernel.formals[at], result)
        for where in kernel.where:
            if not self.truth(frame, where):
                raise Fault("E20", line, "'where' of '%s'" % kernel.name)
        self.check_overlap(frame, pairs, line)
        written = [v for f, v in pairs if f.direction in WRITTEN]
        if written and all(v.data.size == 0 for v in written):
            return result
        check_arguments(kernel, pairs, line)
        run(kernel, pairs, line)
        for value in written:
            value.mask[...] = True
        return result


def check_arguments(kernel, pairs, line):
    for formal, value in pairs:
        if not isinstance(value, Tensor):
            continue
        if formal.direction != "out" and not value.mask.all():
            raise Fault("E06", line, "'%s' has elements that nothing wrote" % formal.name)
        if kernel.body and formal.name + "_stride" not in kernel.body and not value.data.flags.c_contiguous:
            raise Fault("E18", line, "'%s' must be contiguous" % formal.name)


def run(kernel, pairs, line):
    arguments = [v.data if isinstance(v, Tensor) else narrow(v, f.type.name) for f, v in pairs]
    parts = {i: np.full_like(v.data, neutral(f.by, v.data.dtype), order="C") for i, (f, v) in enumerate(pairs) if f.by}
    status = kernels.find(kernel.extern, kernel.name)(*[parts.get(i, a) for i, a in enumerate(arguments)])
    if status:
        raise Fault("KERNEL", line, "'%s' returned %d" % (kernel.name, status))
    for i, part in parts.items():
        arguments[i][...] = COMBINE[pairs[i][0].by](arguments[i], part)
