"""storage.py - new tensors and structs of declared types.

Owner      Storage, a part of Run (run.py).
Tests      every random program
"""
import numpy as np

from .faults import Fault
from .program import Frame
from .type_trees import array_base, is_scalar, is_struct, struct_decl
from .values import Struct, new_tensor


class Storage:
    def tensor_type(self, frame, type_):
        """Element, shape, how many dimensions are an array's, and whether it is an array of scalars."""
        shape, levels = [], 0
        while type_.kind == "array_type":
            shape.append(self.extent(frame, type_.count))
            levels += 1
            type_ = type_.of
        for e in type_.extents or []:
            shape.append(self.extent(frame, e))
        return type_.name, shape, levels, levels == len(shape) and levels > 0

    def extent(self, frame, expr):
        value = self.integer(frame, expr)
        if value < 0:
            raise Fault("E15", expr.line, "the extent %d is negative" % value)
        return value

    def new_of_type(self, frame, type_):
        if is_scalar(type_):
            return {"bool": False, "i64": 0, "f32": np.float32(0), "f64": 0.0}[type_.name]
        base = array_base(type_)
        if is_struct(base):
            return self.new_struct(frame, base, self.counts(frame, type_))
        element, shape, levels, scalars = self.tensor_type(frame, type_)
        return new_tensor(element, shape, levels, scalars)

    def counts(self, frame, type_):
        return [self.extent(frame, type_.count)] + self.counts(frame, type_.of) if type_.kind == "array_type" else []

    def new_struct(self, frame, type_, counts):
        """counts: of an array of them, whose fields are arrays."""
        decl, args, inner = self.struct_frame(frame, type_)
        return Struct(decl, args, {f: self.new_field(inner, t, counts) for f, t in decl.fields})

    def struct_frame(self, frame, type_):
        """The declaration of a struct, the values of its dimension variables, and a frame with these."""
        decl = struct_decl(frame.module, type_)
        inner = Frame(decl.module)
        args = [self.integer(frame, e) for e in type_.extents or []]
        for g, v in zip(decl.generics, args):
            inner.declare(g, v)
        return decl, args, inner

    def new_field(self, frame, type_, counts):
        if not counts:
            return self.new_of_type(frame, type_)
        if is_struct(type_):
            return self.new_struct(frame, type_, counts)
        element, shape, levels, _ = self.tensor_type(frame, type_)
        return new_tensor(element, counts + shape, levels + len(counts), is_scalar(type_))
