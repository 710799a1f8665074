"""expressions.py - random expressions of a kernel in index notation: text, and the same in NumPy.

Idea       an expression is grown from its type; a read takes a tensor that fits, or adds a formal.  An index is a variable, an affine form that
           surely stays inside, one of a tensor of indices, or anything under a `select` that keeps it inside.
Owner      a Kernel of statements.py, whose formals, scalars and readable tensors it uses and adds to.
Invariant  a bound of every float is kept below the whole numbers that its type holds: a term that could leave them is cut by min and max.
Tests      test/random/by_index/check.py
"""
import numpy as np

from terms import DTYPES, FLOATS, INTS, LARGEST, Extent, Term, element, reduction, wrap

FORMAL_BOUND = {"f16": 8, "f32": 64, "f64": 64}  # of every float in a tensor that goes from kernel to kernel
MOST_FORMALS = 7
MOST = 140  # of an extent, at most


class Tensor:
    def __init__(self, name, type_, extents, role):
        self.name, self.type, self.extents, self.role = name, type_, extents, role  # role: in, out, inout, let
        self.bound = FORMAL_BOUND.get(type_, LARGEST[type_])
        self.indexes = None  # of one whose elements are indices: the extent they stay below

    def declaration(self):
        return "%s %s: %s[%s]" % (self.role, self.name, self.type, ", ".join(e.text for e in self.extents))


class Variable:
    """An index variable.  extent: it is 0 .. extent, or stays below it.  stated: a binder or a `for` says its range."""

    def __init__(self, name, extent, stated=False, whole=True, is_only_alone=False):
        self.name, self.extent, self.stated, self.whole, self.is_only_alone = name, extent, stated, whole, is_only_alone

    def value(self, state):
        return state.vars[self.name]


def saturated(type_):
    """A cast to an integer type: what does not fit becomes the nearest that fits."""
    info = np.iinfo(DTYPES[type_])

    def cast(values):
        values = np.asarray(values)
        if values.dtype.kind != "f":
            return np.clip(values.astype(np.int64), info.min, info.max)
        return np.clip(np.trunc(values), float(info.min), float(info.max)).astype(np.int64)
    return cast


class Expressions:
    # ---- expressions ----
    def literal(self, type_, most=5):
        rng = self.rng
        if type_ == "bool":
            b = rng.choice([True, False])
            return Term("true" if b else "false", "bool", 1, lambda state: np.bool_(b))
        n = rng.randint(0 if type_[0] == "u" else -most, most)
        text = "%d.0" % n if type_ in FLOATS else str(n)
        return Term("(%s)" % text if n < 0 else text, type_, abs(n), lambda state: np.float64(n) if type_ in FLOATS else np.int64(n), literal=True)

    def clamped(self, term, limit):
        t = term.type
        if term.bound <= limit:
            return term
        low = 0 if t[0] == "u" else -limit
        form = "%s(%d.0)" if t in FLOATS else "%s(%d)"
        return Term("min(max(%s, %s), %s)" % (self.typed(term), form % (t, low), form % (t, limit)), t, limit,
                    lambda state: np.minimum(np.maximum(term.value(state), low), limit), term.alone)

    def expression(self, type_, depth, scope, own=None):
        """own: an element that the statement writes, and may read."""
        rng = self.rng
        if own is not None and own.type == type_ and rng.random() < 0.3:
            return own
        if depth <= 0 or rng.random() < 0.08:
            return self.leaf(type_, scope)
        if type_ == "bool":
            return self.condition(depth, scope, own)
        choice = rng.random()
        if choice < 0.42:
            return self.binary(type_, self.expression(type_, depth - 1, scope, own), self.operand(type_, depth - 1, scope, own))
        if choice < 0.50:
            return self.select(type_, depth, scope, own)
        if choice < 0.60:
            return self.cast(type_, depth, scope, own)
        if choice < 0.66:
            return self.unary(type_, depth, scope, own)
        if choice < 0.86 and len(scope) < 4 and not self.elementwise:
            return self.reduce(type_, depth, scope)
        return self.leaf(type_, scope)

    def operand(self, type_, depth, scope, own):
        """The second of two: a literal is written without its type there, and an integer may be narrower."""
        narrower = [t for t in INTS if type_ in INTS and t[0] == type_[0] and INTS[t] < INTS[type_]]
        if self.rng.random() < 0.2:
            return self.literal(type_)
        if narrower and self.rng.random() < 0.25:
            narrow = self.expression(self.rng.choice(narrower), depth, scope, own)
            if not narrow.literal:
                return Term(narrow.text, type_, narrow.bound, lambda state: np.asarray(narrow.value(state), dtype=np.int64), narrow.alone)
        return self.expression(type_, depth, scope, own)

    def binary(self, type_, a, b):
        rng = self.rng
        if type_ == "bool":
            op, how = rng.choice([("&&", np.logical_and), ("||", np.logical_or)])
            return Term("(%s %s %s)" % (a.text, op, b.text), "bool", 1, lambda state: how(a.value(state), b.value(state)), a.alone | b.alone)
        op = rng.choice(["+", "+", "-", "-", "*", "*", "min", "max"] + (["/", "%", "&", "|", "^"] if type_ in INTS else []))
        a = Term(self.typed(a), a.type, a.bound, a.value, a.alone)
        if op in ("/", "%"):
            n = rng.choice([2, 3, 5, 7])
            how = (lambda x: np.sign(x) * (np.abs(x) // n)) if op == "/" else (lambda x: np.sign(x) * (np.abs(x) % n))
            return Term("(%s %s %d)" % (a.text, op, n), type_, a.bound if op == "/" else n - 1,
                        lambda state: wrap(how(np.asarray(a.value(state), dtype=np.int64)), type_), a.alone)
        if op in ("min", "max"):
            how = np.minimum if op == "min" else np.maximum
            b = Term(self.typed(b), b.type, b.bound, b.value, b.alone)
            return Term("%s(%s, %s)" % (op, a.text, b.text), type_, max(a.bound, b.bound), lambda state: how(a.value(state), b.value(state)), a.alone | b.alone)
        how = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[op]
        bound = a.bound * b.bound if op == "*" else a.bound + b.bound
        if type_ in FLOATS and bound > FLOATS[type_]:
            a, b = self.clamped(a, 5), self.clamped(b, 5)
            bound = 25 if op == "*" else 10

        def value(state):
            with np.errstate(over="ignore"):
                return wrap(how(a.value(state), b.value(state)), type_)
        if type_ in INTS:
            bound = min(bound, LARGEST[type_])
        return Term("(%s %s %s)" % (a.text, op, b.text), type_, bound, value, a.alone | b.alone)

    def unary(self, type_, depth, scope, own):
        x = self.expression(type_, depth - 1, scope, own)
        x = Term(self.typed(x), x.type, x.bound, x.value, x.alone)
        if type_ in FLOATS:
            op = self.rng.choice(["-%s", "abs(%s)", "floor(%s * %s)", "ceil(%s * %s)", "round(%s * %s)", "angle", "angle", "angle"])
            if op == "angle":
                return self.sign_of_angle(x)
            if "*" in op:
                half = "%s(0.5)" % type_
                how = {"f": np.floor, "c": np.ceil, "r": np.rint}[op[0]]
                return Term(op % (x.text, half), type_, x.bound, lambda state: how(np.asarray(x.value(state), np.float64) * 0.5), x.alone)
            how = np.negative if op[0] == "-" else np.abs
            return Term("(%s)" % (op % x.text), type_, x.bound, lambda state: how(np.asarray(x.value(state), np.float64)), x.alone)
        op, how = self.rng.choice([("(-%s)", np.negative), ("(~%s)", np.invert)])
        if type_[0] == "u":
            op, how = "(~%s)", np.invert
        return Term(op % x.text, type_, LARGEST[type_], lambda state: wrap(how(np.asarray(x.value(state), np.int64)), type_), x.alone)

    def sign_of_angle(self, x):
        """1 where sin or cos of the whole number is positive, else 0: no rounding of the function changes that."""
        factor = 2 ** 24 if x.type != "f16" and self.rng.random() < 0.3 else 1  # beyond 2^30 the function needs another reduction
        name, how = self.rng.choice([("sin", np.sin), ("cos", np.cos)])
        text = "ceil(%s(%s%s) * %s(0.5))" % (name, x.text, " * %d.0" % factor if factor > 1 else "", x.type)
        return Term(text, x.type, 1, lambda state: np.ceil(how(np.asarray(x.value(state), np.float64) * factor) * 0.5), x.alone)

    def select(self, type_, depth, scope, own):
        c = self.condition(depth - 1, scope, own)
        a, b = self.expression(type_, depth - 1, scope, own), self.expression(type_, depth - 1, scope, own)

        def value(state):
            chosen = np.asarray(c.value(state))
            return np.where(chosen, state.under(chosen, a), state.under(np.logical_not(chosen), b))
        return Term("select(%s, %s, %s)" % (c.text, self.typed(a), self.typed(b)), type_, max(a.bound, b.bound), value, c.alone | a.alone | b.alone)

    def condition(self, depth, scope, own=None):
        rng = self.rng
        kind = rng.random()
        if depth <= 0 and scope or kind < 0.3 and scope:
            v = rng.choice(scope)
            w = rng.choice(scope)
            op, how = rng.choice([("<=", np.less_equal), ("<", np.less), ("==", np.equal), ("!=", np.not_equal), (">=", np.greater_equal)])
            n = rng.choice([0, 1, 2, 3])
            if w is v:
                m = rng.choice([2, 3])
                return Term("%s %% %d %s %d" % (v.name, m, op, n), "bool", 1, lambda state: how(v.value(state) % m, n))
            return Term("(%s %s %s + %d)" % (v.name, op, w.name, n), "bool", 1, lambda state: how(v.value(state), w.value(state) + n))
        if kind < 0.45 and depth > 0:
            return self.binary("bool", self.condition(depth - 1, scope, own), self.condition(depth - 1, scope, own))
        if kind < 0.52 and depth > 0:
            x = self.condition(depth - 1, scope, own)
            return Term("(!%s)" % ("(%s)" % x.text), "bool", 1, lambda state: np.logical_not(x.value(state)), x.alone)
        if kind < 0.62 and depth > 0 and len(scope) < 4 and not self.elementwise:
            return self.reduce("bool", depth, scope)
        if kind < 0.7:
            return self.leaf("bool", scope)
        t = rng.choice(["f32", "f32", "i32", "f64", "i64", "i8"])
        a, b = self.expression(t, depth - 1, scope, own), self.operand(t, depth - 1, scope, own)
        op, how = rng.choice([("<=", np.less_equal), ("<", np.less), ("==", np.equal), ("!=", np.not_equal), (">=", np.greater_equal), (">", np.greater)])
        return Term("(%s %s %s)" % (self.typed(a), op, b.text), "bool", 1, lambda state: how(a.value(state), b.value(state)), a.alone | b.alone)

    def cast(self, type_, depth, scope, own=None):
        source = self.rng.choice([t for t in DTYPES if t != type_])
        x = self.expression(source, depth - 1, scope, own)
        limit = FLOATS.get(type_)
        if limit and x.bound > limit:
            x = self.clamped(x, 9)
        how = (lambda v: np.asarray(v, np.float64)) if limit else saturated(type_) if type_ != "bool" else (lambda v: np.asarray(v) != 0)
        bound = x.bound if limit else min(x.bound, LARGEST[type_])
        return Term("%s(%s)" % (type_, self.typed(x)), type_, bound, lambda state: how(x.value(state)), x.alone)

    def reduce(self, type_, depth, scope):
        rng = self.rng
        arg = type_ == "i64" and rng.random() < 0.4
        op = rng.choice(["argmax", "argmin"]) if arg else rng.choice(["any", "all"] if type_ == "bool" else ["sum"] * 5 + ["max", "min", "prod"])
        inner = rng.choice(["f32", "i32", "f64"]) if arg else type_
        if inner == "f16":
            op, inner = rng.choice(["max", "min"]), "f16"
        dim = rng.choice(self.dims)
        extent = Extent(dim)
        if scope and rng.random() < 0.15:
            extent = rng.choice(scope).extent
        k = Variable(self.fresh("k"), extent)
        outer = [v for v in scope if v.extent == extent]
        form = "whole"
        if outer and rng.random() < 0.25:
            form = rng.choice(["below", "upto", "from"])
        elif rng.random() < 0.06:
            form = "later"
        if op in ("max", "min", "argmax", "argmin"):
            if form not in ("whole", "upto"):
                form = "upto" if outer else "whole"  # never over nothing, whose result is no number to go on with
            if extent.rest == 0 and form == "whole":
                self.at_least_one.add(extent.name)
        inside = scope + [Variable(k.name, extent, stated=form != "whole", whole=form == "whole")]
        second = None
        if form == "whole" and not arg and len(inside) < 4 and rng.random() < 0.15:  # of two variables
            second = Variable(self.fresh("k"), Extent(rng.choice(self.dims)), stated=True)
            inside.append(second)
        body = self.expression(inner, depth - 1, inside)
        if op == "sum" and type_ in FLOATS and body.bound * MOST * (MOST if second else 1) > FLOATS[type_]:
            body = self.clamped(body, 20)
        if op == "prod" and type_ in FLOATS:
            body = self.clamped(body, 1)
        low, high = (lambda state: 0), (lambda state: extent.size(state.dims))
        head, text, alone = k.name, self.typed(body), body.alone - {k.name}
        if second:
            if op in ("max", "min"):
                self.at_least_one.add(second.extent.name)
            size = second.extent
            body = Term("", inner, body.bound * MOST if op == "sum" else body.bound,
                        reduction(op, second.name, lambda state: 0, lambda state: size.size(state.dims), body, inner), body.alone)
        if form == "later":
            head, low = "%s in 1 .. %s" % (k.name, extent.text), lambda state: 1
            if extent.rest == 0:
                self.at_least_one.add(extent.name)
        elif form != "whole":
            v = rng.choice(outer)
            if form == "below":
                head, high = "%s in 0 .. %s" % (k.name, v.name), v.value
            elif form == "upto":
                head, high = "%s in 0 .. %s + 1" % (k.name, v.name), lambda state: v.value(state) + 1
            else:
                head, low = "%s in %s .. %s" % (k.name, v.name, extent.text), v.value
        elif k.name not in body.alone or rng.random() < 0.2:
            head = "%s in 0 .. %s" % (k.name, extent.text)
        if second:
            head += ", %s in 0 .. %s" % (second.name, second.extent.text)
        bound = {"sum": body.bound * MOST, "prod": body.bound if type_ in FLOATS else LARGEST[type_], "argmax": 300, "argmin": 300}.get(op, body.bound)
        if type_ in INTS:
            bound = min(bound, LARGEST[type_])
        return Term("%s(%s: %s)" % (op, head, text), type_, bound, reduction(op, k.name, low, high, body, inner), alone)

    # ---- reads ----
    def leaf(self, type_, scope):
        rng = self.rng
        choice = rng.random()
        if choice < 0.1:
            x = self.literal(type_)
            return x if type_ == "bool" else Term(self.typed(x), type_, x.bound, x.value)
        if choice < 0.2 and scope and type_ != "bool" and type_ in ("i64", "f32", "f64", "i32"):
            v = rng.choice(scope)
            bound = 300
            return Term(v.name if type_ == "i64" else "%s(%s)" % (type_, v.name), type_, bound, v.value)
        if choice < 0.27 and type_ in ("f32", "f64", "i64", "bool"):
            return self.scalar(type_)
        fits = [t for t in self.readable if t.type == type_ and not t.indexes]
        if fits and (rng.random() < 0.6 or len(self.formals) >= MOST_FORMALS):
            return self.read(fits[-1] if rng.random() < 0.5 else rng.choice(fits), scope)
        if len(self.formals) >= MOST_FORMALS:
            x = self.literal(type_)
            return x if type_ == "bool" else Term(self.typed(x), type_, x.bound, x.value)
        extents = [v.extent for v in rng.sample(scope, rng.randint(1, min(3, len(scope))))] if scope else [self.extent()]
        if self.elementwise:
            extents = [v.extent for v in scope]
        elif rng.random() < 0.25:
            n = rng.randrange(len(extents))
            e = extents[n]
            extents[n] = rng.choice([e.plus(2), e.times(2), self.extent()])
        return self.read(self.add_formal(type_, extents, "in"), scope)

    def scalar(self, type_):
        rng = self.rng
        fits = [n for n, t in self.scalars if t == type_]
        if not fits:
            fits = [self.fresh("z")]
            self.scalars.append((fits[0], type_))
        name = rng.choice(fits)
        return Term(name, type_, 9, lambda state: state.scalars[name])

    def read(self, tensor, scope):
        texts, values, alone, guards = [], [], set(), []
        for d, extent in enumerate(tensor.extents):
            text, value, single, guard = self.index(extent, scope)
            texts.append(text)
            values.append(value)
            if single:
                alone.add(single)
            if guard:
                guards.append(guard)
        text = "%s[%s]" % (tensor.name, ", ".join(texts)) if texts else tensor.name
        inner = Term(text, tensor.type, tensor.bound, element(tensor.name, values))
        if not guards:
            return Term(text, tensor.type, tensor.bound, inner.value, alone)
        other = self.literal(tensor.type)
        condition = " && ".join(g[0] for g in guards)

        def value(state):
            inside = True
            for g in guards:
                inside = np.logical_and(inside, g[1](state))
            return np.where(inside, state.under(inside, inner), other.value(state))
        return Term("select(%s, %s, %s)" % (condition, text, self.typed(other)), tensor.type, max(tensor.bound, other.bound), value, alone)

    def index(self, extent, scope):
        """(text, value, the variable that stands alone or None, None or (condition, its value))"""
        rng = self.rng
        ways = []
        for v in scope:
            if v.extent == extent:
                ways += [(v.name, v.value, v.name if v.whole and not v.stated else None, None)] * 8
                if not v.is_only_alone:
                    ways.append(("%s - 1 - %s" % (extent.text, v.name), self.mirrored(v, extent), None, None))
            if v.is_only_alone:
                continue
            for more in (1, 2):
                if v.extent.plus(more) == extent:
                    ways += [("%s + %d" % (v.name, c), self.shifted(v, c), None, None) for c in range(1, more + 1)] * 2
            if extent.factor == 2 * v.extent.factor and extent.name == v.extent.name and v.extent.name and extent.rest == 2 * v.extent.rest:
                ways += [("2 * %s + %d" % (v.name, c), self.doubled(v, c), None, None) for c in (0, 1)] * 3
                ways += [("%s + %s" % (v.name, v.extent.text), self.beyond(v), None, None)] * 2
        scope = [v for v in scope if not v.is_only_alone]
        if extent.name == "":
            n = rng.randrange(extent.rest)
            ways += [(str(n), lambda state: n, None, None)] * 2
        if scope and (not ways or rng.random() < 0.15):
            v, c = rng.choice(scope), rng.choice([-3, -2, -1, 1, 2, 3])
            text = "%s %s %d" % (v.name, "+" if c > 0 else "-", abs(c))
            at = self.shifted(v, c)
            if self.may_fail and rng.random() < 0.4:
                return text, at, None, None
            low, high = "%s >= 0" % text, "%s < %s" % (text, extent.text)
            guard = "%s && %s" % (low, high) if rng.random() < 0.7 or not (v.extent == extent) else (low if c < 0 else high)
            return text, at, None, (guard, lambda state: np.logical_and(at(state) >= 0, at(state) < extent.size(state.dims)))
        if scope and rng.random() < 0.08 and not self.elementwise:
            v = rng.choice(scope)
            if v.whole and v.extent.name and v.extent.factor == 1 and v.extent.rest == 0:
                at = self.index_tensor(v.extent, extent)
                if at:
                    return "%s[%s]" % (at.name, v.name), element(at.name, [v.value]), None, None
        if scope and rng.random() < 0.04 and not self.elementwise:
            v, c = rng.choice(scope), rng.randint(0, 5)
            if extent.rest == 0:
                self.at_least_one.add(extent.name)
            return "(%s * 3 + %d) %% (%s)" % (v.name, c, extent.text), lambda state: (v.value(state) * 3 + c) % max(1, extent.size(state.dims)), None, None
        if not ways:
            if extent.rest == 0:
                self.at_least_one.add(extent.name)
            return "0", lambda state: 0, None, None
        return rng.choice(ways)

    def index_tensor(self, rows, below):
        """A formal of indices below an extent that is not 0."""
        for f in self.formals:
            if f.indexes and f.indexes == below and f.extents == [rows]:
                return f
        if len(self.formals) >= MOST_FORMALS + 2:
            return None
        at = self.add_formal(self.rng.choice(["i64", "i32"]), [rows], "in")
        at.indexes, at.bound = below, 300
        if below.rest == 0:
            self.at_least_one.add(below.name)
        return at

    @staticmethod
    def mirrored(v, extent):
        return lambda state: extent.size(state.dims) - 1 - v.value(state)

    @staticmethod
    def shifted(v, c):
        return lambda state: v.value(state) + c

    @staticmethod
    def doubled(v, c):
        return lambda state: 2 * v.value(state) + c

    @staticmethod
    def beyond(v):
        return lambda state: v.value(state) + v.extent.size(state.dims)
