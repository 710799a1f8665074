"""statements.py - random kernels in index notation: declaration, statements, and what they compute.

Idea       a kernel is made statement by statement from the rules of the language: what covers an `out`, what may be read while it is written,
           where a range comes from.  Beside the text of a statement stands a function that does it in NumPy, made from the generator's
           choices and from nothing that ptoc says.
Owner      Kernel: formals, statements and their order.
Tests      test/random/by_index/check.py
"""
import re

import numpy as np

from expressions import FORMAL_BOUND, MOST, Expressions, Tensor, Variable
from terms import DTYPES, FLOATS, LARGEST, Extent, Term, element, reduction, wrap


class Kernel(Expressions):
    def __init__(self, rng, name, dims, elementwise, types=None, may_fail=False):
        self.rng, self.name, self.dims = rng, name, dims
        self.formals, self.scalars, self.lines, self.steps = [], [], [], []
        self.readable = []  # tensors that any statement may read
        self.at_least_one, self.uses = set(), 0
        self.elementwise, self.may_fail = elementwise, may_fail  # may_fail: an index may be outside
        every = ["f32"] * 6 + ["f64", "f64", "i32", "i32", "i64", "i8", "u8", "i16", "f16", "bool", "u32"]
        self.types = types or [rng.choice(every) for _ in range(rng.choice([1, 2, 2, 3]))]  # few, so that statements read each other
        self.last = None  # extents of the last left side
        self.worker = rng.choice(["on vector", "on vector", "on vector", "on cpu", ""])
        self.make()
        self.determine_dims()

    # ---- text ----
    def text(self):
        used = [d for d in self.dims if any(d == e.name for f in self.formals for e in f.extents)]
        formals = [f.declaration() for f in self.formals] + ["%s: %s" % s for s in self.scalars]
        where = "".join(" where %s >= 1" % d for d in used if d in self.at_least_one)
        generics = "<%s>" % ", ".join(used) if used else ""
        return "kernel %s%s(%s) %s%s => {\n%s}\n" % (self.name, generics, ", ".join(formals), self.worker, where, "".join("  %s\n" % x for x in self.lines))

    def run(self, state):
        for step in self.steps:
            step(state)

    # ---- statements ----
    def make(self):
        rng = self.rng
        for _ in range(rng.choice([1, 2, 2, 3, 4, 5, 6]) if not self.elementwise else rng.choice([1, 1, 2])):
            kind = "store" if self.elementwise else rng.choice(["store"] * 6 + ["let"] * 6 + ["contract", "contract", "number", "scan", "halves", "pairs", "scatter", "late",
                                                                                                   "loop", "loop", "rows", "rows"])
            getattr(self, "add_" + kind)()
        if not any(f.role in ("out", "inout") for f in self.formals):
            self.add_store()

    def determine_dims(self):
        """A dimension variable that a range names is one of a formal, too."""
        for d in self.dims:
            if re.search(r"\b%s\b" % d, " ".join(self.lines)) and all(d != e.name for f in self.formals for e in f.extents):
                self.add_formal("u8", [Extent(d)], "in")

    def fresh(self, letter):
        self.uses += 1
        return "%s%d" % (letter, self.uses)

    def extent(self):
        rng = self.rng
        if self.elementwise:
            return Extent(rng.choice(self.dims[:2]))
        return rng.choice([Extent(rng.choice(self.dims))] * 6 + [Extent("", 0, rng.choice([1, 2, 3])), Extent(rng.choice(self.dims), 1, 2),
                                                                Extent(rng.choice(self.dims), 2, 0)])

    def extents(self, ranks=(1, 1, 2, 2, 2, 3)):
        if self.elementwise:
            return [Extent(d) for d in self.dims[:2]]
        if self.last and ranks[-1] == 3 and self.rng.random() < 0.6:  # a loop that is shared, a row of it, a column
            which = self.rng.random()
            extents = self.last[:-1] if which < 0.3 and len(self.last) > 1 else self.last[1:] if which < 0.4 and len(self.last) > 1 else self.last
            return list(extents)
        self.last = [self.extent() for _ in range(self.rng.choice(ranks))]
        return list(self.last)

    def type(self):
        return self.rng.choice(self.types)

    def add_formal(self, type_, extents, role):
        t = Tensor(self.fresh({"in": "a", "out": "y", "inout": "c"}[role]), type_, extents, role)
        self.formals.append(t)
        if role != "out":
            self.readable.append(t)
        return t

    def target(self, extents=None, role=None):
        return self.add_formal(self.type(), extents or self.extents(), role or self.rng.choice(["out", "out", "out", "inout"]))

    def assign(self, target, indices, names, value, add=False):
        """A function that does the statement for all values of `names` (Variables), the others being bound already."""
        def step(state):
            for v in names:
                state.bind(v.name, 0, v.extent.size(state.dims))
            values = np.asarray(value.value(state))
            at = [np.asarray(i(state)) for i in indices]
            shape = np.broadcast_shapes(values.shape, *[a.shape for a in at], *[state.vars[v.name].shape for v in names])
            if 0 not in shape:
                where = tuple(np.broadcast_to(a, shape).ravel() for a in at)
                flat = np.broadcast_to(values, shape).ravel()
                array = state.tensors[target.name]
                if add:
                    with np.errstate(over="ignore"):
                        np.add.at(array, where, flat.astype(array.dtype))
                else:
                    array[where] = flat
            for v in reversed(names):
                state.release(v.name)
        return step

    def fit(self, term, type_):
        """The term as a value for an element: floats stay small enough for the next kernel."""
        limit = FORMAL_BOUND.get(type_)
        return self.clamped(term, limit) if limit and term.bound > limit else term

    def variables(self, extents):
        names = [self.fresh("i") for _ in extents]
        return [Variable(n, e) for n, e in zip(names, extents)]

    def add_store(self, extents=None, of_angle=False):
        old = [f for f in self.formals if f.role == "inout"]
        target = self.rng.choice(old) if old and not extents and self.rng.random() < 0.3 else self.target(extents)
        free = self.variables(target.extents)
        left = "%s[%s]" % (target.name, ", ".join(v.name for v in free))
        if target.role == "inout":
            self.readable.remove(target)
        own = Term(left, target.type, target.bound, element(target.name, [v.value for v in free])) if target.role == "inout" else None
        value = self.expression(target.type, self.rng.choice([1, 2, 3, 3, 4]), free, own)
        if of_angle and target.type in FLOATS:
            angle = own if own and self.rng.random() < 0.5 else Term(self.typed(value), value.type, value.bound, value.value, value.alone)
            value = self.sign_of_angle(angle)
        add = target.role == "inout" and target.type != "bool" and self.rng.random() < 0.3
        if add and target.type in FLOATS:
            value = self.clamped(value, 2)
            target.bound += 2
        elif not add:
            value = self.fit(value, target.type)
        self.lines.append("%s %s %s;" % (left, "+=" if add else "=", value.text))
        self.steps.append(self.assign(target, [v.value for v in free], free, value, add))
        self.readable.append(target)

    def add_rows(self):
        """Statements with sin and cos over i, and over i and j, which may share the loop over i."""
        row = [Extent(self.rng.choice(self.dims)) for _ in range(2)]
        for _ in range(self.rng.choice([2, 2, 3])):
            self.add_store(row[:self.rng.choice([1, 2])], self.rng.random() < 0.7)

    def add_let(self, type_=None, extents=None):
        """A temporary; its ranges follow from the indices that stand alone, else from a `for` around it."""
        type_, extents = type_ or self.type(), extents or self.extents()
        t = Tensor(self.fresh("t"), type_, extents, "let")
        free = self.variables(extents)
        value = self.fit(self.expression(type_, self.rng.choice([1, 2, 3]), free), type_)
        unstated = [v for v in free if v.name not in value.alone]
        text = "let %s[%s] = %s;" % (t.name, ", ".join(v.name for v in free), self.typed(value))
        for v in reversed(unstated):
            text = "for %s in 0 .. %s { %s }" % (v.name, v.extent.text, text)
        self.lines.append(text)
        store = self.assign(t, [v.value for v in free], free, value)

        def step(state):
            state.tensors[t.name] = np.zeros([e.size(state.dims) for e in extents], DTYPES[type_])
            store(state)
        self.steps.append(step)
        self.readable.append(t)
        return t

    def typed(self, value):
        return "%s(%s)" % (value.type, value.text) if value.literal else value.text

    def add_contract(self):
        """y[i, j] = sum(k: a[i, k] * b[k, j]) with its indices in any order, and something done to the sum, mostly with a temporary of the shape of y."""
        rng = self.rng
        type_ = rng.choice(["f32", "f32", "f64", "i32"])
        m, n, k = (Extent(rng.choice(self.dims)) for _ in range(3))
        batch = [Extent(rng.choice(self.dims))] if rng.random() < 0.2 else []
        target = self.add_formal(type_, batch + [m, n], rng.choice(["out", "out", "inout"]))
        if target in self.readable:
            self.readable.remove(target)
        beside = self.add_let(type_, target.extents) if rng.random() < 0.6 else None
        free = self.variables(target.extents)
        i, j = free[-2:]
        l = Variable(self.fresh("k"), k)
        factors = []
        for pair in ([i, l], [l, j]):
            rng.shuffle(pair)
            over = (free[:-2] if rng.random() < 0.8 else []) + pair
            formal = self.add_formal(type_, [v.extent for v in over], "in")
            factors.append(Term("%s[%s]" % (formal.name, ", ".join(v.name for v in over)), type_, 64, element(formal.name, [v.value for v in over])))
        a, b = (self.clamped(x, 4) for x in factors) if rng.random() < 0.3 else factors
        product = Term("%s * %s" % (a.text, b.text), type_, a.bound * b.bound, lambda state: wrap(a.value(state) * b.value(state), type_))
        total = Term("sum(%s: %s)" % (l.name, product.text), type_, product.bound * MOST if type_ in FLOATS else LARGEST[type_],
                     reduction("sum", l.name, lambda state: 0, lambda state: k.size(state.dims), product, type_))
        own = Term("%s[%s]" % (target.name, ", ".join(v.name for v in free)), type_, target.bound, element(target.name, [v.value for v in free]))
        add = target.role == "inout" and type_ == "i32" and rng.random() < 0.7
        value = total if add or rng.random() < 0.3 else self.binary(type_, total, self.expression(type_, 1, free, own if target.role == "inout" else None))
        if beside:
            element_of = Term("%s[%s]" % (beside.name, ", ".join(v.name for v in free)), type_, beside.bound, element(beside.name, [v.value for v in free]))
            value = self.binary(type_, *rng.sample([value, element_of], 2))
        value = self.fit(value, type_)
        self.lines.append("%s %s %s;" % (own.text, "+=" if add else "=", value.text))
        self.steps.append(self.assign(target, [v.value for v in free], free, value, add))
        self.readable.append(target)

    def add_number(self):
        type_ = self.type()
        t = Tensor(self.fresh("s"), type_, [], "let")
        value = self.fit(self.expression(type_, 3, []), type_)
        self.lines.append("let %s = %s;" % (t.name, self.typed(value)))

        def step(state):
            state.tensors[t.name] = np.asarray(np.asarray(value.value(state)).reshape(()), DTYPES[type_])
        self.steps.append(step)
        self.readable.append(t)

    def add_scan(self):
        """h[0] = e; for t in 1 .. N { h[t] = e with h[t - 1]; }"""
        dim = self.rng.choice(self.dims)
        others = self.extents((0, 1)) if not self.elementwise else []
        target = self.add_formal(self.rng.choice(["f32", "f64", "i32", "i64"]), [Extent(dim)] + others, "out")
        self.at_least_one.add(dim)
        free = self.variables(others)
        first = self.fit(self.expression(target.type, 2, free), target.type)
        tail = "".join(", " + v.name for v in free)
        self.lines.append("%s[0%s] = %s;" % (target.name, tail, first.text))
        self.steps.append(self.assign(target, [lambda state: 0] + [v.value for v in free], free, first))
        free = self.variables(others)
        tail = "".join(", " + v.name for v in free)
        t = Variable(self.fresh("t"), Extent(dim), stated=True, whole=False)
        before = Term("%s[%s - 1%s]" % (target.name, t.name, tail), target.type, target.bound,
                      element(target.name, [lambda state: state.vars[t.name] - 1] + [v.value for v in free]))
        value = self.fit(self.binary(target.type, before, self.expression(target.type, 2, [t] + free)), target.type)
        self.lines.append("for %s in 1 .. %s { %s[%s%s] = %s; }" % (t.name, dim, target.name, t.name, tail, value.text))
        store = self.assign(target, [t.value] + [v.value for v in free], free, value)
        self.steps.append(self.loop(t, 1, store))
        self.readable.append(target)

    @staticmethod
    def loop(t, begin, *steps):
        def step(state):
            for n in range(begin, t.extent.size(state.dims)):
                state.bind(t.name, n, n + 1)
                for inner in steps:
                    inner(state)
                state.release(t.name)
        return step

    def add_late(self):
        """for i in 1 .. N { let t[i] = e; } for j in 0 .. N { y[j] = select(j >= 1, t[j], 0); }"""
        dim, type_ = self.rng.choice(self.dims), self.rng.choice(["f32", "f64", "i32", "i64"])
        self.at_least_one.add(dim)
        t = Tensor(self.fresh("t"), type_, [Extent(dim)], "let")
        i = Variable(self.fresh("i"), Extent(dim), stated=True, whole=False)
        value = self.fit(self.expression(type_, 2, [i]), type_)
        self.lines.append("for %s in 1 .. %s { let %s[%s] = %s; }" % (i.name, dim, t.name, i.name, self.typed(value)))
        store = self.loop(i, 1, self.assign(t, [i.value], [], value))

        def step(state):
            state.tensors[t.name] = np.zeros([state.dims[dim]], DTYPES[type_])
            store(state)
        self.steps.append(step)
        target = self.add_formal(type_, [Extent(dim)], "out")
        j, zero = Variable(self.fresh("j"), Extent(dim), stated=True), "0.0" if type_ in FLOATS else "0"
        read = Term("select(%s >= 1, %s[%s], %s)" % (j.name, t.name, j.name, zero), type_, t.bound, element(t.name, [j.value]))
        value = self.fit(self.binary(type_, read, self.expression(type_, 2, [j])), type_)
        self.lines.append("for %s in 0 .. %s { %s[%s] = %s; }" % (j.name, dim, target.name, j.name, value.text))
        self.steps.append(self.assign(target, [j.value], [j], value))
        self.readable.append(target)

    def add_halves(self):
        """y[d] and y[d + D] side by side."""
        self.two_parts(lambda d, dim: [(d.name, d.value), ("%s + %s" % (d.name, dim), lambda state: state.vars[d.name] + state.dims[dim])], True)

    def add_pairs(self):
        """y[2 * d] and y[2 * d + 1]."""
        self.two_parts(lambda d, dim: [("2 * " + d.name, lambda state: 2 * state.vars[d.name]),
                                       ("2 * %s + 1" % d.name, lambda state: 2 * state.vars[d.name] + 1)], self.rng.random() < 0.5)

    def two_parts(self, places, stated):
        dim = self.rng.choice(self.dims)
        others = self.extents((0, 0, 1))
        target = self.add_formal(self.type(), others + [Extent(dim, 2)], "out")
        d = Variable(self.fresh("d"), Extent(dim), stated, is_only_alone=not stated)
        for n, (text, index) in enumerate(places(d, dim)):
            free = self.variables(others)
            value = self.fit(self.expression(target.type, 2, free + [d]), target.type)
            line = "%s[%s] = %s;" % (target.name, ", ".join([v.name for v in free] + [text]), value.text)
            self.lines.append("for %s in 0 .. %s { %s }" % (d.name, dim, line) if stated else line)
            self.steps.append(self.assign(target, [v.value for v in free] + [index], free + [d], value))
        self.readable.append(target)

    def add_scatter(self):
        """c[at[r], j] += e"""
        extents = self.extents((1, 2))
        target = self.add_formal(self.rng.choice(["f32", "f64", "i32", "i64", "f32"]), extents, "inout")
        self.readable.remove(target)
        rows = Extent(self.rng.choice(self.dims))
        at = self.index_tensor(rows, extents[0])
        if at:
            r = Variable(self.fresh("r"), rows)
            free = [r] + self.variables(extents[1:])
            value = self.expression(target.type, 2, free)
            if target.type in FLOATS:
                value = self.clamped(value, 1)
                target.bound += 500
            self.lines.append("%s[%s] += %s;" % (target.name, ", ".join(["%s[%s]" % (at.name, r.name)] + [v.name for v in free[1:]]), value.text))
            self.steps.append(self.assign(target, [element(at.name, [r.value])] + [v.value for v in free[1:]], free, value, True))
        self.readable.append(target)

    def add_loop(self):
        """for i in 0 .. M { some statements, which read what the iteration, or an earlier one, has written }"""
        dim = self.rng.choice(self.dims)
        i = Variable(self.fresh("i"), Extent(dim), stated=True)
        lines, steps, seen = [], [], []
        for _ in range(self.rng.choice([1, 2, 2, 3])):
            is_let = self.rng.random() < 0.4
            others = self.extents((0, 1, 1))
            type_ = self.type()
            extents = [Extent(dim)] + others
            target = Tensor(self.fresh("t"), type_, extents, "let") if is_let else self.add_formal(type_, extents, "out")
            free = self.variables(others)
            value = self.expression(type_, self.rng.choice([1, 2, 3]), [i] + free)
            for t, rank in seen:
                if t.type == type_ and len(t.extents) == 1 and self.rng.random() < 0.7:
                    value = self.binary(type_, value, Term("%s[%s]" % (t.name, i.name), t.type, t.bound, element(t.name, [i.value])))
            if not is_let and not others and type_ in ("f32", "i32", "i64", "f64") and self.rng.random() < 0.4:
                back = self.rng.choice([1, 2])
                read = Term("select(%s >= %d, %s[%s - %d], %s)" % (i.name, back, target.name, i.name, back, "1.0" if type_ in FLOATS else "1"), type_, target.bound,
                            self.guarded(target, i, back))
                value = self.binary(type_, value, read)
            value = self.fit(value, type_)
            unstated = [v for v in free if is_let and v.name not in value.alone]
            left = "%s[%s]" % (target.name, ", ".join(v.name for v in [i] + free))
            text = "%s%s = %s;" % ("let " if is_let else "", left, self.typed(value) if is_let else value.text)
            for v in reversed(unstated):
                text = "for %s in 0 .. %s { %s }" % (v.name, v.extent.text, text)
            lines.append("  " + text)
            store = self.assign(target, [i.value] + [v.value for v in free], free, value)
            steps.append((target, store))
            seen.append((target, len(extents)))
        self.lines += ["for %s in 0 .. %s {" % (i.name, dim)] + lines + ["}"]
        loop = self.loop(i, 0, *[s for _, s in steps])

        def step(state):
            for t, _ in steps:
                if t.role == "let":
                    state.tensors[t.name] = np.zeros([e.size(state.dims) for e in t.extents], DTYPES[t.type])
            loop(state)
        self.steps.append(step)
        self.readable += [t for t, _ in steps]

    @staticmethod
    def guarded(target, i, back):
        def value(state):
            at = state.vars[i.name]
            array = state.tensors[target.name]
            return np.where(at >= back, array[np.clip(at - back, 0, max(0, array.shape[0] - 1))] if array.size else 0, 1)
        return value
