"""run.py - one run of one entry: its arguments from arrays and settings, its outputs as arrays.

Idea       Run is made of parts, one file each; here are the state that they share and the
           values of the entry's formals.
Owner      steps, recursion and depth bound the run; values are those of const and param; printed, lines, left_out and
           evaluated are read when it is over.
Tests      every random program
"""
import sys

from .calls import Calls
from .control import Control
from .equations import Shapes
from .expressions import Expressions
from .faults import Fault
from .kernel_calls import KernelCalls
from .program import Frame
from .regions import Regions
from .result_types import ResultTypes
from .statements import Statements
from .storage import Storage
from .type_trees import extents_of, is_scalar, is_struct, struct_decl, substitute
from .values import WRITTEN, Struct, given_tensor, narrow, new_tensor

sys.setrecursionlimit(100000)


class Run(Control, Statements, Calls, KernelCalls, Expressions, ResultTypes, Regions, Storage):
    """One run of one entry: outputs by name, and what was printed."""

    def __init__(self, program, settings=None, steps=300000, recursion=256):
        self.program, self.settings, self.steps, self.recursion = program, settings or {}, steps, recursion
        self.printed, self.depth, self.values = [], 0, {}
        self.lines = set()   # (file, line) of every statement that was run
        # (file, line, column, column) of right sides of && and ||, arms of select
        self.left_out, self.evaluated = set(), set()

    def entry(self, name, arrays, dims=None):
        """arrays: by the names of formals and fields; dims: of dimension variables that no array shows."""
        orch = self.program.main.names[name]
        frame, outputs = Frame(orch.module), {}
        self.bind_entry(frame, orch, arrays, dict(dims or {}), outputs)
        for module in [self.program.main] + list(self.program.loaded.values()):
            for item in module.asserts:
                self.execute(Frame(module), item)
        self.depth = 1
        result = self.block(frame, orch.body)
        if orch.result is not None and any(e.kind == "decided" for e in extents_of(orch.result)):
            outputs["result"] = result[1]
        for out, tensor in outputs.items():
            if not tensor.mask.all():
                raise Fault("E07", orch.line, "'%s' has elements that nothing wrote" % out)
        return {out: tensor.data for out, tensor in outputs.items()}, "".join(self.printed)

    def bind_entry(self, frame, orch, arrays, bound, outputs):
        """Scalars first, since extents are made of them; then dimension variables, then tensors and structs."""
        scalars = [f for f in orch.formals if is_scalar(f.type)]
        given = [(f.name, narrow(self.setting(f.name, f.type.name), f.type.name)) for f in scalars]
        for name, value in given:
            frame.declare(name, value)
        self.bind_dims(orch, frame, [(f, self.shapes_of_arrays(f, arrays)) for f in orch.formals], bound, orch.line)
        for dim in orch.generics:
            frame.declare(dim, bound[dim])
        for formal in orch.formals:
            if not is_scalar(formal.type):
                frame.declare(formal.name, self.entry_value(frame, formal, formal.type, arrays, formal.name, outputs))

    def shapes_of_arrays(self, formal, arrays):
        """The shapes that files give, with the types they belong to; an out formal gives none."""
        if is_struct(formal.type):
            return Shapes(None, list(self.struct_shapes(self.program.main, formal.type, arrays, formal.name)))
        return Shapes(arrays[formal.name].shape if formal.name in arrays else None, [])

    def struct_shapes(self, module, type_, arrays, path):
        decl = struct_decl(module, type_)
        inner = {g: e for g, e in zip(decl.generics, type_.extents or [])}
        for field, field_type in decl.fields:
            where = path + "." + field
            if is_struct(field_type):
                for t, s in self.struct_shapes(decl.module, field_type, arrays, where):
                    yield [substitute(e, inner) for e in t], s
            elif where in arrays:
                yield [substitute(e, inner) for e in extents_of(field_type)], arrays[where].shape

    def entry_value(self, frame, formal, type_, arrays, path, outputs, is_host=False):
        """Of a formal, or at `path` of a field of one; a tensor that is written is one of the outputs."""
        if is_struct(type_):
            decl, args, inner = self.struct_frame(frame, type_)
            field = lambda f, t: self.entry_value(inner, formal, t, arrays, path + "." + f, outputs, f in decl.hosts)
            return Struct(decl, args, {f: field(f, t) for f, t in decl.fields})
        element, shape, levels, scalars = self.tensor_type(frame, type_)
        if path in arrays:
            data = arrays[path].copy()
            if data.shape != tuple(shape):
                raise Fault("E04", formal.line, "'%s' is %s, not %s" % (path, data.shape, tuple(shape)))
            value = given_tensor(element, data, formal.direction == "host" or is_host, levels, scalars)
        else:
            value = new_tensor(element, shape, levels, scalars)
        if formal.direction in WRITTEN and not is_host:
            outputs[path] = value
        return value
