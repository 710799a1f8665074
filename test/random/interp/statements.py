"""statements.py - statements without a block of their own: let, var, view, assignments, calls, drop, assert, print.

Owner      Statements, a part of Run (run.py).
Invariant  a name of `var` is given another tensor; any other place keeps its memory and is written.
Tests      every random program
"""
import numpy as np

from .faults import Fault
from .places import is_element, root
from .type_trees import is_scalar
from .values import (Element, Grid, Struct, Tensor, copy_scalars, live, narrow, own_struct, read, tensors_of,
                     value_text)


class Statements:
    def run_let(self, frame, node):
        if node.value is None:
            value = self.new_of_type(frame, node.type)
        else:
            value = read(self.eval(frame, node.value), node.line)
            if node.type is not None and is_scalar(node.type):
                value = narrow(value, node.type.name)
            if isinstance(value, Struct) and node.value.kind in ("name", "member") and frame.is_var(root(node.value)):
                value = own_struct(value)
        frame.declare(node.name, value)

    def run_var(self, frame, node):
        value = self.eval(frame, node.value)
        if isinstance(value, (Tensor, Struct)):
            frame.declare_var(node.name, own_struct(value))
            return
        value = read(value, node.line)
        frame.declare(node.name, narrow(value, node.type.name) if node.type is not None else value)

    def run_view(self, frame, node):
        tensor = live(self.eval(frame, node.of), node.line)
        tile = [self.integer(frame, t) for t in node.tile]
        for t in tile:
            if t < 1:
                raise Fault("E15", node.line, "the extent %d of a tile" % t)
        frame.declare(node.name, Grid(tensor, tile))

    # ---- assignments ----
    def run_assign(self, frame, node):
        target = node.target
        if target.kind == "name" and not isinstance(frame.find(target.name), (Tensor, Struct)):
            self.assign_number(frame, node)
            return
        place = self.eval(frame, target)
        is_region = isinstance(place, (Tensor, Struct))
        if target.kind == "member" and node.value.kind in ("name", "member") and is_region:
            frame.give(root(target))
        if target.kind in ("name", "member") and is_region and frame.is_var(root(target)):
            self.assign_var(frame, node, place)
        elif is_region:
            self.write_region(frame, node, place)
        elif isinstance(place, Element):
            value = narrow(self.value(frame, node.value), place.tensor.element)
            place.tensor.data[place.key] = value
            place.tensor.mask[place.key] = True
        else:
            fields = self.eval(frame, target.of).fields
            fields[target.name] = self.value(frame, node.value)

    def assign_number(self, frame, node):
        old, new = frame.find(node.target.name), self.value(frame, node.value)
        kind = "f32" if isinstance(old, np.float32) else "f64" if isinstance(old, float) else None
        frame.assign(node.target.name, narrow(new, kind) if kind else new)

    def assign_var(self, frame, node, place):
        new = own_struct(self.eval(frame, node.value))
        # The rank alone is compared: an extent that the run decides may be another one.
        if [t.data.ndim for t in tensors_of(new)] != [t.data.ndim for t in tensors_of(place)]:
            raise Fault("E03", node.line, "a var becomes one of another rank")
        if node.target.kind == "name":
            frame.assign(node.target.name, new)
        else:
            self.eval(frame, node.target.of).fields[node.target.name] = new

    def write_region(self, frame, node, place):
        result = self.call(frame, node.value, place)
        for to, of in zip(tensors_of(place), tensors_of(result)):
            live(to, node.line)
            if to.data is not of.data:
                if to.data.shape != of.data.shape:
                    raise Fault("E04", node.line, "%s is no place for %s" % (to.text(), of.text()))
                to.data[...] = of.data
                to.mask[...] = of.mask
        if isinstance(place, Struct):
            copy_scalars(place, result)

    # ---- effects ----
    def run_call_statement(self, frame, node):
        self.call(frame, node.call)

    def run_drop(self, frame, node):
        for name in node.names:
            value = self.eval(frame, name)
            for tensor in tensors_of(value):
                live(tensor, node.line)
                if is_element(name):  # of an array, whose others stay: nothing of it is read again
                    tensor.mask[...] = False
                else:
                    tensor.lifetime.ended = "dropped"

    def run_assert(self, frame, node):
        if not self.truth(frame, node.condition):
            raise Fault("E20", node.line, node.text or "assertion")

    def run_print(self, frame, node):
        values = [value_text(read(self.eval(frame, expr), node.line)) for expr in node.values]
        self.printed.append(" ".join(values) + "\n")
