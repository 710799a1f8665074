"""calls.py - calls of functions: arguments, dimension variables, overlap, own and inout arguments, results.

Owner      Calls, a part of Run (run.py); kernel_calls.py runs kernels.
Invariant  no argument that is written shares elements with another one.
Tests      every random program
"""
import numpy as np

from .equations import Shapes, bind_dims
from .faults import Fault
from .overloads import overload
from .places import is_element
from .program import Frame
from .type_trees import is_scalar
from .values import WRITTEN, Struct, Tensor, live, moved, moved_element, narrow, read, set_scalar, tensors_of

READ = (None, "in", "own", "host", "inout", "acc")


class Calls:
    def call(self, frame, node, place=None):
        """place: the tensor or struct that is written, None for a new one."""
        found = frame.module.callee(node.callee)
        values = []
        for arg in node.args:
            value = read(self.eval(frame, arg.value), arg.line)
            for tensor in tensors_of(value):
                live(tensor, arg.line)
            values.append(value)
        if isinstance(found, list):
            return self.call_kernel(overload(found, values, place, node.line), values, place, node.line)
        result, changed = self.call_orch(found, values, node)
        for i, value in changed:
            place = node.args[i].value
            if place.kind == "name":
                frame.assign(place.name, value)
            elif place.kind == "index":
                element = self.eval(frame, place)
                element.tensor.data[element.key] = value
            else:
                set_scalar(self.eval(frame, place.of), place.name, value)
        return result

    # ---- formals ----
    def bind(self, decl, values, line):
        """A frame with the dimension variables and the scalars; the formals and what they stand for."""
        frame, pairs = Frame(decl.module), list(zip(decl.formals, values))
        for formal, value in pairs:
            if value is not None and is_scalar(formal.type):
                frame.declare(formal.name, narrow(value, formal.type.name))
        bound = {}
        self.bind_dims(decl, frame, [(f, self.shapes_of_value(f, v)) for f, v in pairs], bound, line)
        for dim in decl.generics:
            if dim not in bound:
                raise Fault("E04", line, "the arguments do not determine '%s'" % dim)
            frame.declare(dim, bound[dim])
        return frame, pairs

    @staticmethod
    def shapes_of_value(formal, value):
        if isinstance(value, Tensor):
            return Shapes(value.data.shape, [])
        if isinstance(value, Struct):
            return Shapes(None, [(formal.type.extents or [], value.args)])
        return Shapes(None, [])

    def bind_dims(self, decl, frame, shaped, bound, line):
        def extent_with(extent, dims):
            frame.blocks.append(dims)
            value = self.integer(frame, extent)
            frame.blocks.pop()
            return value

        bind_dims(decl, shaped, bound, line, extent_with)

    # ---- overlap ----
    def check_overlap(self, frame, pairs, line):
        tensors = [(f, t, self.written_part(frame, f, t)) for f, v in pairs if v is not None for t in tensors_of(v)]
        for i, (f, t, part) in enumerate(tensors):
            for g, u, other in tensors[i + 1:]:
                meets = lambda a, b: a is not None and b.size and np.shares_memory(a, b)
                if meets(part, u.data) or meets(other, t.data):
                    raise Fault("E09", line, "'%s' and '%s' overlap" % (f.name, g.name))

    def written_part(self, frame, formal, tensor):
        """What a task writes of an argument, as an array; None: nothing."""
        if formal.direction not in WRITTEN or tensor.host or not tensor.data.size:
            return None
        if not getattr(formal, "writes", None):
            return tensor.data
        keys = [self.key(frame, index, extent) for index, extent in zip(formal.writes, tensor.data.shape)]
        part = tensor.data[tuple(slice(k, k + 1) if isinstance(k, int) else k for k in keys)]
        return part if part.size else None

    # ---- functions of the orchestrator ----
    def call_orch(self, orch, values, node):
        """The result, and the values of scalars that are inout, by the number of the argument."""
        frame, pairs = self.bind(orch, values, node.line)
        self.check_overlap(frame, pairs, node.line)
        elements = [f.name for f, a in zip(orch.formals, node.args) if is_element(a.value)]
        for formal, value in pairs:
            for tensor in tensors_of(value):
                if formal.direction in READ and not tensor.mask.all():
                    raise Fault("E06", node.line, "'%s' has elements that nothing wrote" % formal.name)
            if formal.direction == "own":  # the caller's names for it are dead, the callee's is another
                value = moved_element(value) if formal.name in elements else moved(value)
            if isinstance(value, Tensor):
                value = self.in_callee(frame, formal, value)
            if frame.find(formal.name) is None:
                frame.declare(formal.name, value)
        self.depth += 1
        if self.depth > self.recursion:
            raise Fault("RECURSION", node.line, "deeper than %d" % self.recursion)
        result = self.block(frame, orch.body)
        self.depth -= 1
        value = result[1] if result is not None else None
        if orch.result is not None and is_scalar(orch.result):
            value = narrow(value, orch.result.name)
        changed = [i for i, f in enumerate(orch.formals) if f.direction == "inout" and is_scalar(f.type)]
        return value, [(i, frame.find(orch.formals[i].name)) for i in changed]

    def in_callee(self, frame, formal, value):
        """The same elements, of the kind that the formal declares: an array or a tensor, of the host or not."""
        levels, scalars = 0, False
        if formal.type.kind == "array_type":
            _, _, levels, scalars = self.tensor_type(frame, formal.type)
        host = value.host or formal.direction == "host"
        return Tensor(value.element, value.data, value.mask, value.lifetime, levels, host, scalars)
