"""program.py - a random program of kernels in index notation: an entry that calls them, with data, and the results in NumPy.

Idea       every argument is an array of the entry, a view of one, or a result of an earlier call; some results are local, so that calls are
           joined.  Extents are numbers, which the calls then know, or dimension variables.
Owner      Program: arrays with their data, calls in their order.
Tests      test/random/by_index/check.py
"""
import random
import re

import numpy as np

from device import DeviceKernel
from statements import Kernel
from terms import DTYPES, FLOATS, Extent, State

DIMS = ["M", "N", "K"]
SMALL = [0, 1, 2, 3, 4, 5, 7, 8, 9]
LARGE = [15, 16, 17, 31, 33, 63, 64, 65, 66, 100, 127, 129, 130]


class Layout:
    """How an entry's array holds a formal: its extents, the view of it as text and in NumPy."""

    def __init__(self, extents, suffix="", view=lambda a: a, is_whole=True):
        self.extents, self.suffix, self.view, self.is_whole = extents, suffix, view, is_whole


def layout_of(rng, extents):
    rank = len(extents)
    kind = rng.choice(["plain"] * 4 + ["swapped", "swapped", "block", "swapped block", "step", "back", "front"])
    if rank < 2 and "swapped" in kind:
        kind = "plain"
    swapped = extents[:-2] + [extents[-1], extents[-2]] if "swapped" in kind else extents
    transposed = ".T" if "swapped" in kind else ""
    colons = [":"] * rank

    def transpose(array):
        return array.swapaxes(-1, -2) if transposed else array
    if "block" in kind:
        suffix = ", ".join("%d +: %s" % (n % 3, e.text) for n, e in enumerate(swapped))
        return Layout([e.plus(3) for e in swapped], "[%s]%s" % (suffix, transposed),
                      lambda a: transpose(a[tuple(slice(n % 3, n % 3 + size - 3) for n, size in enumerate(a.shape))]), False)
    if transposed:
        return Layout(swapped, transposed, transpose)
    if kind == "step":
        return Layout(extents[:-1] + [extents[-1].times(2)], "[%s]" % ", ".join(colons[1:] + [": step 2"]), lambda a: a[..., ::2], False)
    if kind == "back":
        return Layout(extents, "[%s]" % ", ".join(colons[1:] + [": step -1"]), lambda a: a[..., ::-1])
    if kind == "front":
        return Layout(extents, "[%s]" % ", ".join([": step -1"] + colons[1:]), lambda a: a[::-1])
    return Layout(extents)


class Array:
    """Of the entry, or local: then role is let."""

    def __init__(self, name, role, type_, extents, data):
        self.name, self.role, self.type, self.extents, self.data = name, role, type_, extents, data


class Piece:
    """What an argument names: an array and a view of it."""

    def __init__(self, array, suffix, view, formal):
        self.array, self.suffix, self.view, self.type, self.extents = array, suffix, view, formal.type, formal.extents


class Program:
    def __init__(self, seed, is_for_device=False):
        self.rng, self.data = random.Random(seed), np.random.default_rng(seed)
        rng = self.rng
        self.dims = {d: rng.choice(SMALL) for d in DIMS}
        if rng.random() < 0.7:
            self.dims[rng.choice(DIMS)] = rng.choice(LARGE)
        self.are_numbers = rng.random() < 0.5
        elementwise = rng.random() < 0.3
        types = rng.choice([None, None, ["f32"], ["f64", "f32"], ["i32"]])
        self.may_fail = rng.random() < 0.25  # an index may be outside
        count = rng.choice([1, 1, 2, 3])
        if is_for_device:
            self.kernels = [DeviceKernel(rng, "k%d" % n, DIMS, False) for n in range(count)]
        else:
            self.kernels = [Kernel(rng, "k%d" % n, DIMS, elementwise or rng.random() < 0.2, types, self.may_fail) for n in range(count)]
        for d in {d for k in self.kernels for d in k.at_least_one}:
            self.dims[d] = max(1, self.dims[d])
        self.arrays, self.calls, self.lines = {}, [], []
        self.has_fault = False  # does a kernel read outside?  known after expected()
        self.pieces = []  # that later calls may read
        for kernel in self.kernels + [rng.choice(self.kernels) for _ in range(rng.choice([0, 0, 1, 2]))]:
            self.call(kernel)
        for d in DIMS:
            if not self.are_numbers and re.search(r"\b%s\b" % d, " ".join(self.lines)) and d not in self.stated():
                self.array("in", "u8", [Extent(d)])

    def stated(self, roles=("in", "out", "inout")):
        """The dimension variables that extents of the entry name."""
        return {e.name for a in self.arrays.values() if a.role in roles for e in a.extents if e.name}

    # ---- calls ----
    def array(self, role, type_, extents, below=None):
        """below: its elements are indices that stay below this extent."""
        name = "%s%d" % ({"in": "p", "inout": "q", "out": "r", "let": "l"}[role], len(self.arrays))
        shape = [e.size(self.dims) for e in extents]
        if below:
            data = self.data.integers(0, max(1, below.size(self.dims)), shape)
        elif type_ == "bool":
            data = self.data.integers(0, 2, shape)
        elif type_ in FLOATS or self.rng.random() < 0.5:
            data = self.data.integers(0 if type_[0] == "u" else -4, 5, shape)
        else:
            info = np.iinfo(DTYPES[type_])
            data = self.data.integers(info.min, info.max, shape, dtype=DTYPES[type_], endpoint=True)
        self.arrays[name] = Array(name, role, type_, extents, data.astype(DTYPES[type_]))
        return name

    def call(self, kernel):
        texts, given, made = [], {}, []
        for formal in kernel.formals:
            piece = self.piece(formal)
            if piece not in self.pieces and not formal.indexes:
                made.append(piece)
            texts.append(("%s " % formal.role if formal.role != "in" else "") + piece.array + piece.suffix)
            given[formal.name] = piece
        for name, type_ in kernel.scalars:
            value = self.rng.random() < 0.5 if type_ == "bool" else self.rng.randint(-9, 9)
            texts.append(str(value).lower() if type_ == "bool" else "%d.0" % value if type_ in FLOATS else str(value))
            given[name] = value
        self.lines.append("%s(%s);" % (kernel.name, ", ".join(texts)))
        self.calls.append((kernel, given))
        self.pieces += made

    def piece(self, formal):
        rng = self.rng
        same = [p for p in self.pieces if p.type == formal.type and p.extents == formal.extents]
        if formal.role == "in" and not formal.indexes and same and rng.random() < 0.6:
            return rng.choice(same)
        if formal.role == "out" and rng.random() < 0.4:
            name = self.array("let", formal.type, formal.extents)
            self.lines.append("let %s: %s[%s];" % (name, formal.type, self.extents(formal.extents)))
            return Piece(name, "", lambda a: a, formal)
        layout = layout_of(rng, formal.extents)
        role = formal.role if formal.role != "out" or layout.is_whole else "inout"
        suffix = layout.suffix
        for d in DIMS if self.are_numbers else ():
            suffix = suffix.replace(d, str(self.dims[d]))
        return Piece(self.array(role, formal.type, layout.extents, formal.indexes), suffix, layout.view, formal)

    # ---- text and results ----
    def extents(self, extents):
        return ", ".join(str(e.size(self.dims)) if self.are_numbers else e.text for e in extents)

    def text(self):
        formals = ["%s %s: %s[%s]" % (a.role, a.name, a.type, self.extents(a.extents)) for a in self.arrays.values() if a.role != "let"]
        named = "" if self.are_numbers else "<%s>" % ", ".join(d for d in DIMS if d in self.stated())
        head = "export orch main%s(%s) {\n" % (named if named != "<>" else "", ",\n    ".join(formals))
        return "".join(k.text() for k in self.kernels) + head + "".join("  %s\n" % line for line in self.lines) + "}\n"

    def expected(self):
        """The arrays that the entry writes, after its calls."""
        arrays = {a.name: a.data.copy() for a in self.arrays.values()}
        for kernel, given in self.calls:
            tensors = {f.name: given[f.name].view(arrays[given[f.name].array]) for f in kernel.formals}
            scalars = {n: np.bool_(given[n]) if t == "bool" else np.float64(given[n]) if t in FLOATS else np.int64(given[n]) for n, t in kernel.scalars}
            state = State(self.dims, tensors, scalars)
            kernel.run(state)
            self.has_fault |= state.has_fault
        return {a.name: arrays[a.name] for a in self.arrays.values() if a.role in ("out", "inout")}

    def options(self, path_of):
        """Of the command line; path_of(name) is where an array lies."""
        words = []
        for a in self.arrays.values():
            if a.role in ("in", "inout"):
                words += ["--input", "%s=%s" % (a.name, path_of(a.name))]
            if a.role in ("out", "inout"):
                words += ["--output", "%s=%s" % (a.name, path_of(a.name + ".out"))]
        for d in sorted(self.stated() - self.stated(("in", "inout"))) if not self.are_numbers else ():
            words += ["--dim", "%s=%d" % (d, self.dims[d])]
        return words
