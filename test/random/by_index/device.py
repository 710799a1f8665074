"""device.py - random kernels of which --emit=ascendc makes complete sources: rows of f32, elementwise or reduced along the last dimension.

Idea       the statements of a Kernel with fewer forms: an element of a matrix, of a row or of a column stands where its indices say, and a
           number for each row is the sum, the largest or the smallest of an expression.
Owner      nothing.
Tests      test/random/by_index/check.py --ascend
"""
import numpy as np

from expressions import Tensor, Variable
from statements import Kernel
from terms import FLOATS, Extent, Term, element, reduction


class DeviceKernel(Kernel):
    def make(self):
        rng = self.rng
        self.worker, self.types = "on vector", ["f32"]
        self.rows, self.columns = Extent(self.dims[0]), Extent(self.dims[1])
        for _ in range(rng.choice([1, 1, 2, 3, 4])):
            rng.choice([self.add_store, self.add_let, self.add_reduced])()
        if not any(f.role in ("out", "inout") for f in self.formals):
            self.add_store()

    def extents(self, ranks=()):
        return [self.rows, self.columns]

    def add_reduced(self):
        """let s[i] = sum(j: e);"""
        i, j = Variable(self.fresh("i"), self.rows), Variable(self.fresh("j"), self.columns)
        op = self.rng.choice(["sum", "max", "min"])
        if op != "sum":
            self.at_least_one.add(self.dims[1])
        body = self.clamped(self.expression("f32", 2, [i, j]), 64)
        is_alone = j.name in body.alone
        value = Term("%s(%s: %s)" % (op, j.name if is_alone else "%s in 0 .. %s" % (j.name, self.columns.text), self.typed(body)), "f32",
                     64 * 140 if op == "sum" else 64,
                     reduction(op, j.name, lambda state: 0, lambda state: self.columns.size(state.dims), body, "f32"), body.alone - {j.name})
        if i.name in value.alone and self.rng.random() < 0.6:
            target = Tensor(self.fresh("t"), "f32", [self.rows], "let")
        else:
            target = self.add_formal("f32", [self.rows], "out")
        target.bound = value.bound if target.role == "let" else target.bound
        value = value if target.role == "let" else self.fit(value, "f32")
        self.lines.append("%s%s[%s] = %s;" % ("let " if target.role == "let" else "", target.name, i.name, value.text))
        store = self.assign(target, [i.value], [i], value)

        def step(state):
            if target.role == "let":
                state.tensors[target.name] = np.zeros([self.rows.size(state.dims)], np.float32)
            store(state)
        self.steps.append(step)
        self.readable.append(target)

    def expression(self, type_, depth, scope, own=None):
        rng = self.rng
        if own is not None and rng.random() < 0.3:
            return own
        choice = rng.random()
        if depth <= 0 or choice < 0.2:
            return self.leaf(type_, scope)
        if choice < 0.75:
            return self.binary(type_, self.expression(type_, depth - 1, scope, own), self.operand(type_, depth - 1, scope, own))
        if choice < 0.9:
            return self.select(type_, depth, scope, own)
        x = self.expression(type_, depth - 1, scope, own)
        return Term("abs(%s)" % self.typed(x), type_, x.bound, lambda state: np.abs(x.value(state)), x.alone)

    def condition(self, depth, scope, own=None):
        a, b = self.expression("f32", depth - 1, scope, own), self.operand("f32", depth - 1, scope, own)
        op, how = self.rng.choice([("<=", np.less_equal), ("<", np.less), ("==", np.equal), ("!=", np.not_equal), (">=", np.greater_equal), (">", np.greater)])
        return Term("(%s %s %s)" % (self.typed(a), op, b.text), "bool", 1, lambda state: how(a.value(state), b.value(state)), a.alone | b.alone)

    def leaf(self, type_, scope):
        rng = self.rng
        if rng.random() < 0.1:
            return self.scalar("f32")
        fits = [t for t in self.readable if t.type in FLOATS and all(any(e == v.extent for v in scope) for e in t.extents)]
        if not fits or rng.random() < 0.3 and len(self.formals) < 7:
            extents = [v.extent for v in scope] if rng.random() < 0.7 else [rng.choice(scope).extent]
            fits = [self.add_formal("f32", extents, "in")]
        t = rng.choice(fits)
        at = [next(v for v in scope if v.extent == e) for e in t.extents]
        return Term("%s[%s]" % (t.name, ", ".join(v.name for v in at)), "f32", t.bound, element(t.name, [v.value for v in at]), {v.name for v in at})
