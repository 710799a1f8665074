"""regions.py - parts of tensors: indices, slices, steps, tiles, and the dimensions in another order or shape.

Owner      Regions, a part of Run (run.py).
Invariant  a region is a view of NumPy: no element is copied.
Tests      every random program
"""
import math

from .arithmetic import fitting
from .faults import Fault
from .values import Element, Grid, Struct


class Regions:
    def eval_permute(self, frame, node):
        order = [self.integer(frame, n) for n in node.order]
        return self.eval(frame, node.of).viewed(lambda a: a.transpose(order))

    def eval_reshape(self, frame, node):
        of = self.eval(frame, node.of)
        shape = tuple(self.integer(frame, n) for n in node.extents)
        if min(shape) < 0:
            raise Fault("E15", node.line, "an extent is %d" % min(shape))
        if math.prod(shape) != of.data.size:
            raise Fault("E04", node.line, "%d elements and %d" % (of.data.size, math.prod(shape)))

        def change(a):
            view = a.view()
            try:
                view.shape = shape
            except AttributeError:
                raise Fault("E18", node.line, "needs a copy")
            return view

        return of.viewed(change)

    def eval_index(self, frame, node):
        of = self.eval(frame, node.of)
        if isinstance(of, Grid):
            return self.tiles(frame, of, node)
        if isinstance(of, Struct):
            return self.struct_part(frame, of, node)
        if isinstance(of, Element):
            raise Fault("E03", node.line, "an element has no parts")
        if len(node.indices) > of.data.ndim:
            raise Fault("E03", node.line, "too many indices")
        return self.part_of(frame, of, node)

    def struct_part(self, frame, of, node):
        part = lambda v: self.struct_part(frame, v, node) if isinstance(v, Struct) else self.part_of(frame, v, node)
        return Struct(of.decl, of.args, {f: part(v) for f, v in of.fields.items()})

    def part_of(self, frame, of, node):
        keys = [self.key(frame, index, extent) for index, extent in zip(node.indices, of.data.shape)]
        if len(keys) == of.data.ndim and all(isinstance(k, int) for k in keys):
            return Element(of, tuple(keys))
        return of.part(tuple(keys), of.arrays - sum(1 for k in keys[:of.arrays] if isinstance(k, int)))

    def key(self, frame, index, extent):
        """The index of one dimension, for NumPy: a number or a slice."""
        if index.kind != "point" and index.step:
            return self.stepped(frame, index, extent)
        if index.kind == "whole":
            return slice(0, extent)
        if index.kind == "point":
            at = self.integer(frame, index.at)
            if not 0 <= at < extent:
                raise Fault("E05", index.line, "index %d is out of bounds: the extent is %d" % (at, extent))
            return at
        low = self.integer(frame, index.low)
        if index.kind == "range":
            high = self.integer(frame, index.high)
        else:
            high = fitting(low + self.integer(frame, index.width), index.line)
        if high < low:
            raise Fault("E15", index.line, "the slice %d .. %d has a negative extent" % (low, high))
        if not 0 <= low <= high <= extent:
            raise Fault("E05", index.line, "slice %d .. %d is out of bounds: the extent is %d" % (low, high, extent))
        return slice(low, high)

    def stepped(self, frame, index, extent):
        ends = [self.integer(frame, e) for e in ([index.low, index.high] if index.kind == "range" else
                                                 [index.low, index.width] if index.kind == "width" else [])]
        step = self.integer(frame, index.step)
        if step == 0:
            raise Fault("E15", index.line, "the step of a slice is 0")
        low, high = ends or ((0, extent) if step > 0 else (extent - 1, -1))
        count = high if index.kind == "width" else -((low - high) // step)
        if count < 0:
            raise Fault("E15", index.line, "a slice from %d step %d has %d elements" % (low, step, count))
        last = low + (count - 1) * step
        if count and not (0 <= low < extent and 0 <= last < extent):
            text = "slice %d +: %d step %d is out of bounds: the extent is %d" % (low, count, step, extent)
            raise Fault("E05", index.line, text)
        stop = low + count * step
        return slice(low, None if stop < 0 else stop, step) if count else slice(0, 0)

    def tiles(self, frame, grid, node):
        """A point is one tile, a range the region of several; each dimension of the grid stays one of the region."""
        keys = []
        for d, extent in enumerate(grid.tensor.data.shape):
            tile = grid.tile[d]
            key = self.key(frame, node.indices[d], grid.shape[d]) if d < len(node.indices) else slice(0, grid.shape[d])
            if isinstance(key, int):
                key = slice(key, key + 1)
            keys.append(slice(min(key.start * tile, extent), min(key.stop * tile, extent)))
        return grid.tensor.part(tuple(keys), 0)
