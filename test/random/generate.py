"""generate.py - random valid .pto programs.

Idea       a program is written from the top, and at each point the generator knows every name: the shape of a tensor as a linear form
           of the names that are visible, the least and the greatest value of an integer.  So indices are in bounds, extents that have
           to be equal are the same form, and a tensor is filled completely where it is made, for all sizes within the bounds.
Owner      Writer is one function being written, Maker is one entry with the functions that it calls, File collects entries.
Invariant  a program is valid by construction; driver.py drops the few whose arguments overlap (the interpreter says so).
Tests      test/random/driver.py runs them; break_rules.py breaks one rule at a random place.
"""
import random

import random_kernels as library

BOUND = 10 ** 12
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
REALS = ("f16", "f32", "f64")
ALL_TYPES = INTEGERS + REALS + ("bool", "bf16")


class Lin:
    """A linear form of integer names, with the least and the greatest value that it can have."""

    def __init__(self, terms, const, low, high):
        self.terms, self.const, self.low, self.high = {n: c for n, c in terms.items() if c}, const, low, high
        self.key = (tuple(sorted(self.terms.items())), const)

    @staticmethod
    def number(n):
        return Lin({}, n, n, n)

    def plus(self, other):
        if isinstance(other, int):
            return Lin(self.terms, self.const + other, self.low + other, self.high + other)
        terms = dict(self.terms)
        for n, c in other.terms.items():
            terms[n] = terms.get(n, 0) + c
        return Lin(terms, self.const + other.const, self.low + other.low, self.high + other.high)

    def times(self, k):
        ends = sorted((self.low * k, self.high * k))
        return Lin({n: c * k for n, c in self.terms.items()}, self.const * k, *ends)

    def is_number(self):
        return not self.terms

    def text(self, rng=None):
        parts = ["%s%s" % ("" if c == 1 else "-" if c == -1 else "%d * " % c, n) for n, c in sorted(self.terms.items(), key=lambda t: -t[1])]
        if rng and len(parts) > 1 and rng.random() < 0.5 and self.terms[sorted(self.terms)[0]] > 0:
            parts.sort(key=lambda p: p.startswith("-"))
        if self.const or not parts:
            if rng and parts and rng.random() < 0.2:  # the same number written as two
                extra = rng.randint(1, 3)
                parts += [str(self.const + extra), str(-extra)]
            else:
                parts.append(str(self.const))
        text = parts[0]
        for p in parts[1:]:
            text += " - " + p[1:] if p.startswith("-") else " + " + p
        return text

    def operand(self, rng=None):
        text = self.text(rng)
        return text if text.replace("_", "").isalnum() else "(%s)" % text


class Tensor:
    """A region that can be named: text is an expression for it."""

    def __init__(self, text, element, shape, root, writable, kind, solid=False, level=0):
        self.text, self.element, self.root, self.writable = text, element, root, writable
        self.shape = [e if e.low >= 0 else Lin(e.terms, e.const, 0, max(0, e.high)) for e in shape]
        self.kind = kind        # local, formal, view
        self.solid = solid      # certainly contiguous
        self.level = level      # how many blocks deep it was made
        self.loops = 0          # in how many loops it was made

    def rank(self):
        return len(self.shape)


class StructType:
    """struct name<N>: tensors whose extents are forms of N, integers, and perhaps another struct of N."""

    def __init__(self, name, home, fields):
        self.name, self.home, self.fields = name, home, fields   # (field, element, shape) or (field, StructType) or (field, "i64", None)

    def leaves(self, argument):
        """(path, element type, shape) of each tensor and (path, "i64", None) of each integer, where N is the form given."""
        for field in self.fields:
            if isinstance(field[1], StructType):
                for path, element, shape in field[1].leaves(argument):
                    yield field[0] + "." + path, element, shape
            elif field[2] is None:
                yield field
            else:
                yield field[0], field[1], [argument.times(e.terms.get("N", 0)).plus(e.const) for e in field[2]]

    def text(self):
        lines = []
        for field in self.fields:
            if isinstance(field[1], StructType):
                lines.append("  %s: %s[N];" % (field[0], field[1].name))
            else:
                lines.append("  %s: %s%s;" % (field[0], field[1], "[%s]" % ", ".join(e.text() for e in field[2]) if field[2] else ""))
        return "\n".join(["struct %s<N> {" % self.name] + lines + ["}"])


class Structure:
    """A name of a struct type and what it stands for."""

    def __init__(self, text, type_, argument, leaves, integers, writable, kind, loops):
        self.text, self.type, self.argument, self.leaves, self.integers = text, type_, argument, leaves, integers
        self.writable, self.kind, self.loops = writable, kind, loops

    def roots(self):
        return [t.root for t in self.leaves]


class Scalar:
    def __init__(self, text, type_, low=0, high=0, kind="let", below=None, level=0):
        self.text, self.type, self.low, self.high, self.kind, self.below, self.level = text, type_, low, high, kind, below, level


class Function:
    """What a caller has to know: formals as (direction, name, element or scalar type, extents as Lin or None, low, high)."""

    def __init__(self, name, home, dims, formals, result=None, result_type=None, cost=1, needs=()):
        self.name, self.home, self.dims, self.formals = name, home, dims, formals
        self.result, self.result_type, self.cost, self.needs = result, result_type, cost, needs


class Writer:
    """One function body: lines, and what is visible where the next line goes."""

    def __init__(self, maker, home):
        self.maker, self.rng, self.home = maker, maker.rng, home
        self.lines, self.indent = [], 1
        self.tensors, self.scalars, self.grids, self.structs = [], [], [], []
        self.loops = 0
        self.in_loop_here = False
        self.weight = 1          # how often this line may run, roughly
        self.may_return = None   # a text that leaves the function, once every out is written
        self.budget = 0

    # ---- text ----
    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def fresh(self, stem):
        return self.maker.fresh(stem)

    def open(self, text):
        self.emit(text)
        self.indent += 1
        return (list(self.tensors), list(self.scalars), list(self.grids), list(self.structs))

    def close(self, saved, text="}"):
        """The names of the block go; what was dropped or moved in it is gone outside too."""
        alive = set(map(id, self.tensors))
        tensors, scalars, grids, structs = saved
        ended = set(map(id, structs)) - set(map(id, self.structs))
        self.structs = [v for v in structs if id(v) not in ended]
        gone = tuple(v.text + "." for v in structs if id(v) in ended)
        self.scalars = [s for s in scalars if not s.text.startswith(gone)]
        self.tensors = [t for t in tensors if id(t) in alive]
        self.grids = [g for g in grids if any(t.root == g[1].root for t in self.tensors)]
        self.indent -= 1
        self.emit(text)

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return self.rng.choice(items)

    # ---- integers ----
    def int_leaf(self):
        r, choices = self.rng, []
        for s in self.scalars + self.maker.globals(self.home):
            if s.type == "i64":
                choices.append((s.text, s.low, s.high))
        k = r.randint(0, 9)
        if k < 4 and choices:
            return r.choice(choices)
        if k == 4:
            element = self.await_element(INTEGERS)
            if element:
                return element[:3]
        if k == 5:
            t = [t for t in self.tensors if t.kind != "grid"]
            if t:
                t = r.choice(t)
                d = r.randrange(t.rank())
                return "dim(%s, %d)" % (t.text, d), t.shape[d].low, t.shape[d].high
        if k == 6:
            call = self.scalar_call("i64")
            if call:
                return call
        n = r.choice([0, 1, 2, 3, 5, 7, 10, 64, 1000, 65536]) if r.random() < 0.6 else r.randint(0, 200)
        text = hex(n) if r.random() < 0.1 else "%d_%03d" % (n // 1000, n % 1000) if n >= 1000 else str(n)
        return text, n, n

    def int_expr(self, depth=2, limit=BOUND):
        """text that is safe as an operand, least, greatest"""
        r = self.rng
        if depth == 0 or r.random() < 0.25:
            return self.int_leaf()
        a, al, ah = self.int_expr(depth - 1, limit)
        op = r.choice(["+", "-", "*", "/", "%", "min", "max", "abs", "neg", "ceil_div", "log2"])
        if op == "abs":
            return "abs(%s)" % a, 0 if al <= 0 <= ah else min(abs(al), abs(ah)), max(abs(al), abs(ah))
        if op == "neg":
            return "(-%s)" % a, -ah, -al
        if op == "log2":
            return "log2(max(1, %s))" % a, 0, max(0, max(1, ah).bit_length() - 1)
        if op in "/%" or op == "ceil_div":
            k = r.choice([1, 2, 3, 4, 7, 10, -2, -3, -7])
            if op == "ceil_div":
                k = abs(k)
                return "ceil_div(%s, %d)" % (a, k), -(-al // k), -(-ah // k)
            if op == "/":
                ends = [trunc_div(al, k), trunc_div(ah, k)]
                return "(%s / %s)" % (a, k if k > 0 else "(%d)" % k), min(ends), max(ends)
            m = abs(k) - 1
            return "(%s %% %s)" % (a, k if k > 0 else "(%d)" % k), 0 if al >= 0 else -m, 0 if ah <= 0 else m
        b, bl, bh = self.int_expr(depth - 1, limit)
        if op == "min":
            return "min(%s, %s)" % (a, b), min(al, bl), min(ah, bh)
        if op == "max":
            return "max(%s, %s)" % (a, b), max(al, bl), max(ah, bh)
        ends = [x + y for x in (al, ah) for y in (bl, bh)] if op == "+" else \
            [x - y for x in (al, ah) for y in (bl, bh)] if op == "-" else [x * y for x in (al, ah) for y in (bl, bh)]
        if max(map(abs, ends)) > limit:
            return a, al, ah
        return "(%s %s %s)" % (a, op, b), min(ends), max(ends)

    def small_int(self, modulus):
        """In 0 .. modulus - 1."""
        text, low, high = self.int_expr(1)
        if 0 <= low and high < modulus:
            return text
        return "%s %% %d" % (text if low >= 0 else "abs(%s)" % text, modulus)

    # ---- reals and bools ----
    def real_expr(self, depth=2):
        """text, type, greatest magnitude"""
        r = self.rng
        if depth == 0 or r.random() < 0.3:
            reals = [s for s in self.scalars + self.maker.globals(self.home) if s.type in ("f64", "f32")]
            if reals and r.random() < 0.5:
                s = r.choice(reals)
                return s.text, s.type, s.high
            if r.random() < 0.3:
                element = self.await_element(("f32", "f64", "f16"))
                if element:
                    return element[0], "f32" if element[3] != "f64" else "f64", 112
            return r.choice(["0.5", "2.5", "1.0e2", "0.25", "3.75", "1e1", "0.1"]), "f64", 100
        a, at, am = self.real_expr(depth - 1)
        op = r.choice(["+", "-", "*", "int", "/", "sqrt", "abs", "min", "neg"])
        if op == "int":
            b, bl, bh = self.int_expr(1, 10 ** 6)
            if max(abs(bl), abs(bh)) > 10 ** 6:
                return a, at, am
            return "(%s + %s)" % (a, b), at, am + max(abs(bl), abs(bh))
        if op == "/":
            return "(%s / %s)" % (a, r.choice(["2", "4.0", "3", "8.0"])), at if r.random() < 0 else "f64", am
        if op == "sqrt":
            return "sqrt(abs(%s))" % a, "f64", am + 1
        if op == "abs":
            return "abs(%s)" % a, at, am
        if op == "neg":
            return "(-%s)" % a, at, am
        b, bt, bm = self.real_expr(depth - 1)
        wide = "f64" if "f64" in (at, bt) else "f32"
        if op == "min":
            return "%s(%s, %s)" % (r.choice(["min", "max"]), a, b), wide, max(am, bm)
        magnitude = am * bm if op == "*" else am + bm
        if magnitude > 10 ** 9:
            return a, at, am
        return "(%s %s %s)" % (a, op, b), wide, magnitude

    def condition(self, depth=2):
        r, k = self.rng, self.rng.randint(0, 9)
        if depth and k < 3:
            return "(%s %s %s)" % (self.condition(depth - 1), r.choice(["&&", "||"]), self.condition(depth - 1))
        if depth and k == 3:
            return "!%s" % self.condition(0) if r.random() < 0.5 else "!(%s)" % self.condition(depth - 1)
        bools = [s for s in self.scalars + self.maker.globals(self.home) if s.type == "bool"]
        if k == 4 and bools:
            return r.choice(bools).text
        if k == 5:
            element = self.await_element(("bool",))
            if element:
                return "(%s)" % element[0] if depth == 0 else element[0]
        op = r.choice(["==", "!=", "<", "<=", ">", ">="])
        if k == 6:
            return "(%s %s %s)" % (self.real_expr(1)[0], op, self.real_expr(1)[0])
        for _ in range(4):  # true in some runs and false in others, or the compiler may know better what stands behind it
            (a, al, ah), (b, bl, bh) = self.int_expr(1), self.int_expr(1)
            if not any(c.isalpha() for c in a + b) or al <= bh and bl <= ah and (al < ah or bl < bh) and ah > bl and bh > al:
                return "(%s %s %s)" % (a, op, b)
        return r.choice(["true", "false", "(%d %s %d)" % (r.randint(0, 3), op, r.randint(0, 3))])

    def await_element(self, types):
        """text, least, greatest, element type; or None"""
        found = [t for t in self.tensors if t.element in types and all(e.low >= 1 for e in t.shape) and t.kind not in ("array", "cells")]
        if not found or self.maker.awaits <= 0:
            return None
        t = self.pick(found)
        self.maker.awaits -= 1
        index = ", ".join(self.point(e, simple=self.chance(0.6)) for e in t.shape)
        return "await %s[%s]" % (t.text, index), 0, 1 if t.element == "bool" else 112, t.element

    def scalar_call(self, type_):
        found = [f for f in self.maker.callable(self) if isinstance(f.result, tuple) and f.result_type == type_ and f.cost * self.weight < 60]
        if not found or self.maker.calls <= 0:
            return None
        f = self.pick(found)
        self.maker.calls -= 1
        args = self.arguments(f, simple=True)
        if args is None:
            return None
        return "%s(%s)" % (self.maker.name_of(f, self.home), ", ".join(args)), f.result[0], f.result[1]

    # ---- indices ----
    def point(self, extent, simple=False):
        """An index in 0 .. extent - 1; the extent is at least 1."""
        r = self.rng
        loops = [s for s in self.scalars if s.below is not None and s.below.key == extent.key]
        k = r.randint(0, 9)
        if loops and k < 5:
            s = r.choice(loops)
            return s.text if k < 4 else "%s - 1 - %s" % (extent.text(r), s.text)
        if k == 5 and not extent.is_number():
            return extent.plus(-1).text(r)
        if k == 6 and not simple:
            text, low, _ = self.int_expr(1)
            return "%s %% %s" % (text if low >= 0 else "abs(%s)" % text, extent.operand(r))
        if k == 7 and not simple:
            text, low, _ = self.int_leaf()
            return "min(%s, %s)" % (text if low >= 0 else "abs(%s)" % text, extent.plus(-1).text(r))
        return str(r.randint(0, extent.low - 1))

    def span(self, extent):
        """A range of it: text, width as Lin.  Lines that it needs are written first."""
        r, k = self.rng, self.rng.randint(0, 11)
        if k == 0:
            return ":", extent
        if k == 1:
            return "0 .. %s" % extent.text(r), extent
        if k == 2:
            low = r.randint(0, extent.low)
            return "%d .. %s" % (low, extent.text(r)), extent.plus(-low)
        if k == 3:
            high = r.randint(0, extent.low)
            return "0 .. %s" % extent.plus(-high).text(r), extent.plus(-high)
        if k == 4 and self.chance(0.5):
            h = self.define_half(extent)
            return r.choice([("0 .. %s" % h.text(), h), ("%s .. 2 * %s" % (h.text(), h.text()), h), ("%s +: %s" % (h.text(), h.text()), h)])
        if k == 5:
            loops = [s for s in self.scalars if s.below is not None and s.below.key == extent.key]
            if loops:
                s = r.choice(loops)
                return "%s +: 1" % s.text, Lin.number(1)
        width = r.randint(1 if extent.low else 0, extent.low)
        if self.chance(0.06):
            width = 0
        if k == 6:
            text, low, _ = self.int_expr(1)
            start = "%s %% %s" % (text if low >= 0 else "abs(%s)" % text, extent.plus(1 - width).operand(r))
            return "%s +: %d" % (start, width), Lin.number(width)
        low = r.randint(0, extent.low - width)
        return r.choice(["%d .. %d" % (low, low + width), "%d +: %d" % (low, width)]), Lin.number(width)

    def define_half(self, extent):
        name = self.fresh("h")
        self.emit("let %s = %s / 2;" % (name, extent.operand(self.rng)))
        self.scalars.append(Scalar(name, "i64", extent.low // 2, extent.high // 2))
        return Lin({name: 1}, 0, extent.low // 2, extent.high // 2)

    def place_of(self, width, extent):
        """An index of a dimension of extent whose width is the form given, or None."""
        r, options = self.rng, []
        if width.key == extent.key:
            options += [":", ":", "0 .. %s" % extent.text(r), "0 +: %s" % extent.text(r)]
        if width.high <= extent.low:
            low = r.randint(0, extent.low - width.high)
            options.append("%d +: %s" % (low, width.text(r)))
            if not extent.is_number() or not width.is_number():
                options.append("%s +: %s" % (extent.plus(width.times(-1)).text(r), width.text(r)))
            if low == 0 or width.is_number():
                options.append("%d .. %s" % (low, width.plus(low).text(r)))
        for s in self.scalars:
            if s.below is not None and s.below.key == extent.key and isinstance(s.kind, tuple) and s.kind[0] == "piece" \
                    and Lin({s.kind[1]: 1}, 0, 0, 0).key == width.key:
                options.append("%s +: %s" % (s.text, width.text()))
        return r.choice(options) if options else None

    # ---- regions ----
    def region_like(self, shape, element, avoid, writable=False):
        """The text of a region of that shape and element type whose root is none of avoid; or None."""
        r = self.rng
        candidates = [t for t in self.tensors if t.element == element and t.root not in avoid and t.rank() >= len(shape)
                      and (t.writable or not writable)]
        r.shuffle(candidates)
        for t in candidates:
            found = self.fit(t, shape)
            if found:
                return Tensor(found, element, shape, t.root, t.writable, "view", t.solid and found == t.text)
        return None

    def fit(self, t, shape):
        if t.kind in ("array", "cells"):
            return t.text if [e.key for e in t.shape] == [e.key for e in shape] else None
        extra = t.rank() - len(shape)
        if extra and any(e.low < 1 for e in t.shape[:1]):
            return None
        for _ in range(3):
            drop = set(self.rng.sample(range(t.rank()), extra))
            index, d = [], 0
            for n, extent in enumerate(t.shape):
                if n in drop:
                    if extent.low < 1:
                        break
                    index.append(self.point(extent))
                else:
                    place = self.place_of(shape[d], extent)
                    if place is None:
                        break
                    index.append(place)
                    d += 1
            else:
                if all(i == ":" for i in index) and self.chance(0.9):
                    return t.text
                while len(index) > 1 and index[-1] == ":" and self.chance(0.5):
                    index.pop()
                if extra and all(n in drop for n in range(extra)) and self.chance(0.3) and len(index) > extra:
                    return "%s[%s][%s]" % (t.text, ", ".join(index[:extra]), ", ".join(index[extra:]))
                return "%s[%s]" % (t.text, ", ".join(index))
        return None

    def subregion(self, writable=False, element=None, rank=None, avoid=()):
        """A random region of a random tensor."""
        found = [t for t in self.tensors if (t.writable or not writable) and (element is None or t.element == element)
                 and t.kind not in ("array", "cells") and t.root not in avoid and (rank is None or t.rank() >= rank)]
        if not found:
            return None
        t = self.pick(found)
        if rank is None and self.chance(0.35) or rank == t.rank() and self.chance(0.4):
            return t
        drop = t.rank() - rank if rank is not None else self.rng.randint(0, t.rank() - 1)
        dropped = set(self.rng.sample(range(t.rank()), drop))
        if any(t.shape[d].low < 1 for d in dropped):
            return t if rank is None or rank == t.rank() else None
        index, shape = [], []
        for d, extent in enumerate(t.shape):
            if d in dropped:
                index.append(self.point(extent))
            else:
                text, width = self.span(extent)
                index.append(text)
                shape.append(width)
        return Tensor("%s[%s]" % (t.text, ", ".join(index)), t.element, shape, t.root, t.writable, "view")

    def operand(self, shape, element, avoid, depth=0):
        """A region to read: one that is there, the value of a call, or a new tensor."""
        r = self.rng
        if depth < 2 and r.random() < 0.12:
            value = self.call_value(shape, element, avoid, depth + 1)
            if value:
                return value
        region = self.region_like(shape, element, avoid) if r.random() < 0.9 else None
        if region:
            return region.text
        return self.new_tensor(shape, element).text

    def kernel_name(self, stem, *types):
        return self.maker.use_kernel(stem, types, self.home)

    def shape_text(self, shape):
        return "[%s]" % ", ".join(e.text(self.rng) for e in shape)

    # ---- making tensors ----
    def declare(self, name, element, shape):
        t = Tensor(name, element, shape, self.maker.new_root(), True, "local", True, self.indent)
        t.loops = self.loops
        return t

    def new_tensor(self, shape, element):
        """A new local tensor, filled."""
        name = self.fresh("t")
        t = self.declare(name, element, shape)
        r = self.rng
        k = r.randint(0, 9)
        if k == 0:
            value = self.call_value(shape, element, (), 1)
            if value:
                self.emit("let %s = %s;" % (name, value))
                self.tensors.append(t)
                return t
        self.emit("let %s: %s%s;" % (name, element, self.shape_text(shape)))
        self.fill(t)
        self.tensors.append(t)
        return t

    def fill(self, t, depth=0):
        """Every element is written; t is not among the visible tensors meanwhile."""
        r, rank = self.rng, t.rank()
        k = r.randint(0, 13) if depth < 2 else 0
        avoid = (t.root,)
        if k == 1:
            value = self.call_value(t.shape, t.element, avoid, 1)
            if value:
                self.emit("%s = %s;" % (t.text, value))
                return
        if k == 2:
            saved = self.open("if %s {" % self.condition())
            self.fill(t, depth + 1)
            self.close(saved, "} else {")
            self.indent += 1
            self.fill(t, depth + 1)
            self.close(saved)
            return
        if k == 3 and self.weight <= 8 and t.shape[0].high <= 8:
            self.fill_rows(t, depth)
            return
        if k == 4 and self.weight <= 8:
            self.fill_pieces(t)
            return
        if k == 5 and self.weight <= 8:
            self.fill_tiles(t)
            return
        if k == 6 and rank == 1:
            h = self.define_half(t.shape[0])
            for text, width in (("0 .. %s" % h.text(), h), ("%s .. %s" % (h.text(), t.shape[0].text()), t.shape[0].plus(h.times(-1)))):
                part = Tensor("%s[%s]" % (t.text, text), t.element, [width], t.root, True, "view")
                self.fill_whole(part, avoid)
            return
        if k == 7:
            names = self.match_arms()
            if names:
                value, arms = names
                saved = self.open("match %s {" % value)
                for arm in arms:
                    inner = self.open("%s => {" % arm)
                    self.fill(t, depth + 1)
                    self.close(inner)
                self.close(saved)
                return
        if k == 8:
            saved = self.open(self.pick(["{", 'scope "fill" {', "do {"]))
            is_do = self.lines[-1].strip() == "do {"
            self.fill(t, depth + 1)
            self.close(saved, "} while false;" if is_do else "}")
            return
        self.fill_whole(t, avoid)

    def match_arms(self):
        value, low, high = self.int_expr(1)
        if high - low < 3:
            return None
        low = self.rng.randint(low, max(low, min(0, high - 8)))
        values = sorted(self.rng.sample(range(low, min(high, low + 12) + 1), 3))
        cut = self.rng.randint(1, 2)
        join = lambda vs: ", ".join(map(str, vs))
        return value, [join(values[:cut]), join(values[cut:]), "else"]

    def fill_whole(self, t, avoid):
        """One call that overwrites all of t."""
        r, rank, e = self.rng, t.rank(), t.element
        stem = r.choice(["ramp", "ramp", "fill", "copy", "plus", "gate", "cast"]) + str(rank)
        if rank == 2 and r.random() < 0.25:
            stem = r.choice(["turn", "outer", "halo2"])
        if rank == 1 and r.random() < 0.2:
            stem = r.choice(["halo1", "rows", "pairs"])
        out = t.text
        if stem[:4] in ("ramp", "fill"):
            self.call_line(stem, [e], [], out, [self.int_expr(1)[0]], first=True)
        elif stem.startswith("copy"):
            self.call_line(stem, [e], [self.operand(t.shape, e, avoid)], out, [])
        elif stem.startswith("cast"):
            other = self.maker.other_type(e)
            self.call_line(stem, [other, e], [self.operand(t.shape, other, avoid)], out, [])
        elif stem.startswith("plus"):
            self.call_line(stem, [e], [self.operand(t.shape, e, avoid), self.operand(t.shape, e, avoid)], out, [])
        elif stem.startswith("gate"):
            self.call_line(stem, [e], [self.operand(t.shape, e, avoid), self.operand(t.shape, e, avoid)], out,
                           [self.condition(1), self.real_expr(1)[0]])
        elif stem == "turn":
            self.call_line(stem, [e], [self.operand(t.shape[::-1], e, avoid)], out, [])
        elif stem == "outer":
            self.call_line(stem, [e], [self.operand([d], e, avoid) for d in t.shape], out, [])
        elif stem.startswith("halo"):
            self.call_line(stem, [e], [self.operand([d.plus(2) for d in t.shape], e, avoid)], out, [])
        elif stem == "rows":
            self.call_line(stem, [e], [self.operand([t.shape[0], Lin.number(r.randint(0, 4))], e, avoid)], out, [])
        elif stem == "pairs":
            self.call_line(stem, [e], [self.operand([t.shape[0].times(2)], e, avoid)], out, [])

    def attribute(self):
        k = self.rng.randint(0, 30)
        return "@priority(%d) " % self.rng.randint(-3, 9) if k == 0 else '@name("step") ' if k == 1 else ""

    def call_line(self, stem, types, ins, out, scalars, first=False):
        name = self.kernel_name(stem, *types)
        inner = ins + scalars
        if stem.startswith("ramp") or stem.startswith("fill") or len(types) > 1 or self.chance(0.7):
            args = (["out " + out] + scalars) if first else ins + ["out " + out] + scalars
            self.emit("%s%s(%s);" % (self.attribute(), name, ", ".join(args)))
        else:
            self.emit("%s%s = %s(%s);" % (self.attribute(), out, name, ", ".join(inner)))

    def fill_rows(self, t, depth):
        """A loop over the first dimension, upwards or downwards."""
        r, i, n = self.rng, self.fresh("i"), t.shape[0]
        head = "for %s in 0 .. %s {" % (i, n.text(r)) if r.random() < 0.7 else \
            "for %s in %s .. -1 step -1 {" % (i, n.plus(-1).text(r))
        saved = self.loop(head, n.high)
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), "loop", n))
        if t.rank() == 1:
            part = Tensor("%s[%s +: 1]" % (t.text, i), t.element, [Lin.number(1)], t.root, True, "view")
        else:
            part = Tensor("%s[%s]" % (t.text, i), t.element, t.shape[1:], t.root, True, "view")
        self.fill(part, depth + 1)
        self.close_loop(saved, n.high)

    def fill_pieces(self, t):
        r, i, w, n = self.rng, self.fresh("i"), self.fresh("w"), t.shape[0]
        piece = r.randint(1, 5)
        saved = self.loop("for %s in 0 .. %s step %d {" % (i, n.text(r), piece), n.high // piece + 1)
        self.emit("let %s = min(%d, %s - %s);" % (w, piece, n.operand(r), i))
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), ("piece", w), n))
        self.scalars.append(Scalar(w, "i64", 1, piece))
        shape = [Lin({w: 1}, 0, 1, piece)] + t.shape[1:]
        part = Tensor("%s[%s +: %s]" % (t.text, i, w), t.element, shape, t.root, True, "view")
        self.fill_whole(part, (t.root,))
        self.close_loop(saved, n.high // piece + 1)

    def fill_tiles(self, t):
        r, g = self.rng, self.fresh("g")
        tile = [r.randint(1, 4) for _ in t.shape]
        self.emit("view %s = %s tiled [%s];" % (g, t.text, ", ".join(map(str, tile))))
        names, saved, runs = [], [], 1
        for d, n in enumerate(t.shape):
            i = self.fresh("k")
            count = -(-n.high // tile[d])
            runs *= max(1, count)
            head = r.choice(["0 .. dim(%s, %d)" % (g, d), "0 .. ceil_div(%s, %d)" % (n.text(r), tile[d])])
            saved.append((self.loop("for %s in %s {" % (i, head), count), count))
            self.scalars.append(Scalar(i, "i64", 0, max(0, count - 1), "loop"))
            names.append(i)
        self.call_line("ramp%d" % t.rank(), [t.element], [], "%s[%s]" % (g, ", ".join(names)), [self.int_expr(1)[0]], first=True)
        for s, count in reversed(saved):
            self.close_loop(s, count)

    def loop(self, head, runs):
        saved = self.open(head)
        self.loops += 1
        self.weight *= max(1, runs)
        return saved

    def close_loop(self, saved, runs, text="}"):
        self.close(saved, text)
        self.loops -= 1
        self.weight = max(1, self.weight // max(1, runs))

    # ---- calls that have a value ----
    def call_value(self, shape, element, avoid, depth):
        """A call whose result is a new tensor of that shape; what it reads is none of avoid."""
        r, rank = self.rng, len(shape)
        functions = [f for f in self.maker.callable(self) if isinstance(f.result, list) and f.result_type == element
                     and len(f.result) == rank and f.cost * self.weight < 60]
        if functions and self.chance(0.6) and self.maker.calls > 0:
            f = self.pick(functions)
            self.maker.calls -= 1
            args = self.arguments(f, result=shape, avoid=avoid, reads_only=True)
            if args is not None:
                return "%s(%s)" % (self.maker.name_of(f, self.home), ", ".join(args))
        stem = r.choice(["copy", "plus", "gate", "plus"]) + str(rank)
        if rank == 1 and shape[0].key == Lin.number(1).key:
            stem = r.choice(["total1", "total2"])
        elif rank == 2 and r.random() < 0.2:
            stem = r.choice(["turn", "outer"])
        name = self.kernel_name(stem, element)
        if stem == "turn":
            return "%s(%s)" % (name, self.operand(shape[::-1], element, avoid, depth))
        if stem == "outer":
            return "%s(%s, %s)" % (name, self.operand(shape[:1], element, avoid, depth), self.operand(shape[1:], element, avoid, depth))
        if stem.startswith("total"):
            source = self.subregion(element=element, rank=int(stem[-1]), avoid=avoid)
            return "%s(%s)" % (name, source.text) if source else None
        a = self.operand(shape, element, avoid, depth)
        if stem.startswith("copy"):
            return "%s(%s)" % (name, a)
        b = self.operand(shape, element, avoid, depth)
        if stem.startswith("gate"):
            return "%s(%s, %s, %s, %s)" % (name, a, b, self.condition(1), self.real_expr(1)[0])
        return "%s(%s, %s)" % (name, a, b)

    def arguments(self, f, result=None, avoid=(), simple=False, reads_only=False):
        """The arguments of a function of the program: what is written overlaps nothing; None if they cannot be found."""
        dims, args, used, written = {}, [], list(avoid), list(avoid)
        if reads_only and any(d in ("out", "inout", "acc", "own") for d, *_ in f.formals):
            return None
        if result is not None:
            for want, have in zip(f.result, result):
                if not self.match_extent(want, have, f, dims):
                    return None
        taken = []
        for direction, name, type_, extents, low, high in f.formals:
            if extents is None:
                if name in dims:  # a scalar that the shape of the result has fixed
                    text, value_low, value_high = dims[name].text(self.rng), dims[name].low, dims[name].high
                elif type_ == "bool":
                    args.append(self.condition(1))
                    continue
                elif type_ in ("f64", "f32"):
                    text, _, magnitude = self.real_expr(1)
                    args.append(text if magnitude <= 10 ** 6 else "0.5")
                    continue
                else:
                    text, value_low, value_high = self.int_expr(1) if self.chance(0.5) else (str(self.rng.randint(low, high)), low, high)
                    if value_low < low or value_high > high:
                        text = self.bounded(text, value_low, low, high)
                        value_low, value_high = low, high
                if value_low < low or value_high > high:
                    return None
                args.append(text)
                continue
            if direction == "host":
                hosts = [t for t in self.maker.hosts_of(self) if t.element == type_ and t.shape[0].key == extents[0].key]
                if not hosts:
                    return None
                args.append(self.pick(hosts).text)
                continue
            writes = direction in ("out", "inout", "acc", "own")
            bad = used if writes else written
            if isinstance(type_, StructType):
                v = self.struct_argument(f, dims, direction, type_, extents, bad)
                if v is None:
                    return None
                (written if writes else taken).extend(v.roots())
                used.extend(v.roots())
                args.append(("" if direction in ("in", None) else direction + " ") + v.text)
                if direction == "own":
                    self.forget_struct(v)
                continue
            t = self.argument(f, dims, direction, type_, extents, bad)
            if t is None:
                return None
            (written if writes else taken).append(t.root)
            used.append(t.root)
            args.append(("" if direction in ("in", None) else direction + " ") + t.text)
            if direction == "own":
                self.forget(t.root)
        for d, (low, high) in f.dims.items():
            if d not in dims or dims[d].low < low or dims[d].high > high:
                return None
        return args

    def bounded(self, text, value_low, low, high):
        """An expression in low .. high made of any other."""
        inner = "%s %% %d" % (text if value_low >= 0 else "abs(%s)" % text, high - low + 1)
        return inner if low == 0 else "%d + %s" % (low, inner) if low > 0 else "%s - %d" % (inner, -low)

    def match_extent(self, want, have, f, dims):
        """want is a form of one dimension variable or scalar of f, with factor 1; have is the caller's."""
        if want.is_number():
            return want.key == have.key
        (name, factor), = want.terms.items()
        if factor != 1:
            return False
        value = have.plus(-want.const)
        if name in dims:
            return dims[name].key == value.key
        limits = f.dims.get(name) or next(((low, high) for _, n, _, e, low, high in f.formals if n == name and e is None), None)
        if limits is None or value.low < limits[0] or value.high > limits[1]:
            return False
        dims[name] = value
        return True

    def argument(self, f, dims, direction, element, extents, avoid):
        r, writes = self.rng, direction in ("out", "inout", "acc")
        if direction == "own":
            shape = self.concrete(f, dims, extents)
            return self.new_tensor(shape, element) if shape and self.chance(0.5) else self.movable(f, dims, element, extents)
        for _ in range(6):
            if all(n in dims for e in extents for n in e.terms):
                break
            t = self.subregion(writes, element, len(extents), avoid)
            if t is None:
                break
            attempt = dict(dims)
            if all(self.match_extent(w, h, f, attempt) for w, h in zip(extents, t.shape)):
                dims.update(attempt)
                return t
        shape = self.concrete(f, dims, extents)
        if shape is None:
            return None
        t = self.region_like(shape, element, avoid, writes) if r.random() < 0.9 else None
        return t or self.new_tensor(shape, element)

    def struct_argument(self, f, dims, direction, type_, extents, avoid):
        found = [v for v in self.structs if v.type is type_ and not set(v.roots()) & set(avoid) and (v.writable or direction in ("in", None))
                 and (direction != "own" or v.kind == "local" and v.loops == self.loops)]
        self.rng.shuffle(found)
        for v in found:
            attempt = dict(dims)
            if self.match_extent(extents[0], v.argument, f, attempt):
                dims.update(attempt)
                return v
        shape = self.concrete(f, dims, extents)
        return self.new_struct(type_, shape[0]) if shape else None

    def concrete(self, f, dims, extents):
        """The shape, where dimension variables not yet bound get a value."""
        shape = []
        for e in extents:
            total = Lin.number(e.const)
            for n, c in e.terms.items():
                if n not in dims:
                    limits = f.dims.get(n)
                    if limits is None:
                        return None
                    dims[n] = Lin.number(self.rng.randint(*limits))
                total = total.plus(dims[n].times(c))
            shape.append(total)
        return shape

    def can_end(self, t):
        """A whole local of this block or of one around it, with no loop in between."""
        return t.kind == "local" and t.loops == self.loops

    def movable(self, f, dims, element, extents):
        for t in self.tensors:
            if self.can_end(t) and t.element == element and t.rank() == len(extents) and self.chance(0.5):
                attempt = dict(dims)
                if all(self.match_extent(w, h, f, attempt) for w, h in zip(extents, t.shape)):
                    dims.update(attempt)
                    return t
        shape = self.concrete(f, dims, extents)
        return self.new_tensor(shape, element) if shape else None

    def forget(self, root):
        self.tensors = [t for t in self.tensors if t.root != root]
        self.grids = [g for g in self.grids if g[1].root != root]
        self.structs = [v for v in self.structs if root not in v.roots()]

    # ---- structs and arrays ----
    def see_struct(self, text, type_, argument, writable, kind, solid=False):
        """A struct variable; its leaves become visible by show_struct."""
        leaves, integers = [], []
        for path, element, shape in type_.leaves(argument):
            if shape is None:
                if kind != "entry":
                    integers.append(Scalar("%s.%s" % (text, path), "i64", -100, 100, "field" if writable else "let"))
                continue
            t = Tensor("%s.%s" % (text, path), element, shape, self.maker.new_root(), writable, "field", solid)
            leaves.append(t)
        return Structure(text, type_, argument, leaves, integers, writable, kind, self.loops)

    def show_struct(self, v):
        self.tensors += v.leaves
        self.scalars += v.integers
        self.structs.append(v)
        return v

    def fill_struct(self, v):
        """Every leaf is written; then they can be read."""
        for t in v.leaves:
            self.fill(t)
        for s in v.integers:
            self.emit("%s = (%s) %% 101;" % (s.text, self.int_expr(1)[0]))
        return self.show_struct(v)

    def struct_type(self):
        found = [t for t in self.maker.structs if self.home == "main" or t.home == "lib"]
        return self.pick(found) if found else None

    def struct_text(self, type_, argument):
        return "%s[%s]" % (("lib." if type_.home == "lib" and self.home == "main" else "") + type_.name, argument.text(self.rng))

    def new_struct(self, type_, argument):
        name = self.fresh("c")
        v = self.see_struct(name, type_, argument, True, "local")
        makers = [f for f in self.maker.callable(self) if f.result_type is type_ and f.cost * self.weight < 60]
        if makers and self.chance(0.5):
            f = self.pick(makers)
            args = self.arguments(f, result=[argument], reads_only=True)
            if args is not None:
                self.emit("let %s = %s(%s);" % (name, self.maker.name_of(f, self.home), ", ".join(args)))
                return self.show_struct(v)
        self.emit("let %s: %s;" % (name, self.struct_text(type_, argument)))
        return self.fill_struct(v)

    def small_extent(self):
        found = [e for t in self.tensors for e in t.shape if e.high <= 12] + [Lin.number(self.rng.randint(0, 5))]
        return self.pick(found)

    def do_struct(self):
        type_ = self.struct_type()
        if type_ is None:
            return self.do_update()
        k = self.rng.randint(0, 7)
        known = [v for v in self.structs if v.type is type_]
        if k <= 2 or not known:
            self.new_struct(type_, self.small_extent())
            return
        v = self.pick(known)
        if k == 3:
            ended = [v for v in known if v.kind == "local" and v.loops == self.loops]
            if ended:
                v = self.pick(ended)
                self.emit("drop %s;" % v.text)
                self.forget_struct(v)
        elif k == 4 and v.writable:
            makers = [f for f in self.maker.callable(self) if f.result_type is type_ and f.cost * self.weight < 60]
            if makers:
                f = self.pick(makers)
                args = self.arguments(f, result=[v.argument], avoid=v.roots(), reads_only=True)
                if args is not None:
                    self.emit("%s = %s(%s);" % (v.text, self.maker.name_of(f, self.home), ", ".join(args)))
        elif k == 5:
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, v.text))
            leaves = [Tensor(name + t.text[len(v.text):], t.element, t.shape, t.root, t.writable, "view") for t in v.leaves]
            self.show_struct(Structure(name, type_, v.argument, leaves, [], v.writable, "view", self.loops))
        elif k == 6:
            self.emit("print %s, %s;" % (self.int_expr(1)[0], self.pick(v.leaves).text))
        else:
            self.do_call()

    def forget_struct(self, v):
        for root in v.roots():
            self.forget(root)
        self.scalars = [s for s in self.scalars if not s.text.startswith(v.text + ".")]
        self.structs = [u for u in self.structs if u is not v]

    def do_array(self):
        """An array of tensors, filled element by element; or of integers."""
        r, name, count = self.rng, self.fresh("r"), self.rng.randint(1, 4)
        if r.random() < 0.5:
            self.emit("let %s: array[%d] of i64;" % (name, count))
            if r.random() < 0.6 and self.weight <= 8:
                i = self.fresh("i")
                saved = self.loop("for %s in 0 .. dim(%s, 0) {" % (i, name), count)
                self.scalars.append(Scalar(i, "i64", 0, count - 1, "loop"))
                self.emit("%s[%s] = abs(%s) %% 101;" % (name, i, self.int_expr(2)[0]))
                self.close_loop(saved, count)
            for i in range(count):
                self.scalars.append(Scalar("%s[%d]" % (name, i), "i64", 0, 100, "cell"))
            view = Tensor(name, "i64", [Lin.number(count)], self.maker.new_root(), False, "cells")
            if "i64" in self.maker.types:
                self.tensors.append(view)
            return
        element, shape = r.choice(self.maker.types), [self.small_extent() for _ in range(r.randint(1, 2))]
        self.emit("let %s: array[%d] of %s%s;" % (name, count, element, self.shape_text(shape)))
        root = self.maker.new_root()
        if r.random() < 0.5 and self.weight <= 8:
            i = self.fresh("i")
            saved = self.loop("for %s in 0 .. %d {" % (i, count), count)
            self.scalars.append(Scalar(i, "i64", 0, count - 1, "loop"))
            self.fill(Tensor("%s[%s]" % (name, i), element, shape, root, True, "view"))
            self.close_loop(saved, count)
        else:
            for i in range(count):
                self.fill(Tensor("%s[%d]" % (name, i), element, shape, root, True, "view"))
        for i in range(count):
            if r.random() < 0.6:
                self.tensors.append(Tensor("%s[%d]" % (name, i), element, shape, root, True, "view"))
        whole = Tensor(name, element, [Lin.number(count)] + shape, root, True, "array")
        self.tensors.append(whole)

    # ---- statements ----
    def body(self, count):
        for _ in range(count):
            self.statement()

    STATEMENTS = [("update", 12), ("make", 6), ("view", 4), ("tiles", 4), ("rows", 4), ("neighbours", 3), ("branch", 4), ("repeat", 3),
                  ("match", 2), ("scalar", 5), ("assign", 4), ("show", 4), ("claim", 2), ("call", 6), ("drop", 2), ("block", 2),
                  ("gather", 3), ("library", 2), ("leave", 2), ("halo", 2), ("twin", 2), ("pieces", 3), ("product", 2), ("solid", 2),
                  ("tile_ranges", 2), ("struct", 5), ("array", 3)]

    def statement(self):
        if self.maker.size <= 0:
            return
        self.maker.size -= 1
        self.maker.point_reached(self)
        names, weights = zip(*self.STATEMENTS)
        getattr(self, "do_" + self.rng.choices(names, weights)[0])()

    def nested(self, most=3):
        self.body(self.rng.randint(1, most))

    def do_update(self):
        c = self.subregion(writable=True)
        if c is None:
            return self.do_make()
        r = self.rng
        if c.rank() > 3:
            return
        rank, stem = c.rank(), r.choice(["mix", "mix", "bump", "fill", "copy", "plus"])
        if stem == "bump":
            self.emit("%s%s(inout %s, %s);" % (self.attribute(), self.kernel_name("bump%d" % rank, c.element), c.text, self.bounded_real()))
        elif stem == "mix":
            a = self.operand(c.shape, c.element, (c.root,))
            self.emit("%s%s(%s, inout %s, %s);" % (self.attribute(), self.kernel_name("mix%d" % rank, c.element), a, c.text, self.int_expr(1)[0]))
        else:
            self.fill_whole(c, (c.root,))

    def bounded_real(self):
        text, _, magnitude = self.real_expr(1)
        return text if magnitude < 10 ** 9 else "1.5"

    def do_make(self):
        r = self.rng
        element = r.choice(self.maker.types)
        extents = [s for t in self.tensors for s in t.shape] + [Lin.number(r.randint(0 if r.random() < 0.1 else 1, 6))]
        shape = [r.choice(extents) for _ in range(r.choice([1, 1, 2, 2, 3]))]
        if prod_high(shape) <= 400:
            self.new_tensor(shape, element)

    def do_view(self):
        t = self.subregion()
        if t is None or t.kind != "view":
            return
        name = self.fresh("v")
        self.emit("let %s = %s;" % (name, t.text))
        view = Tensor(name, t.element, t.shape, t.root, t.writable, "view")
        view.loops = self.loops
        self.tensors.append(view)

    def do_tiles(self):
        """A loop over the tiles of a tensor, perhaps of two tensors tiled alike, or of one tensor in two ways."""
        r = self.rng
        t = self.subregion(writable=True)
        if t is None or t.rank() > 2 or self.weight > 4:
            return
        tile, g = [r.randint(1, 4) for _ in t.shape], self.fresh("g")
        other = self.region_like(t.shape, t.element, (t.root,)) if r.random() < 0.6 else None
        self.emit("view %s = %s tiled [%s];" % (g, t.text, ", ".join(map(str, tile))))
        if other:
            o = self.fresh("g")
            self.emit("view %s = %s tiled [%s];" % (o, other.text, ", ".join(map(str, tile))))
        names, saved = [], []
        for d, n in enumerate(t.shape):
            i, count = self.fresh("k"), -(-n.high // tile[d])
            bounds = "0 .. dim(%s, %d)" % (g, d) if r.random() < 0.7 else "dim(%s, %d) - 1 .. -1 step -1" % (g, d)
            saved.append((self.loop("for %s in %s {" % (i, bounds), count), count))
            self.scalars.append(Scalar(i, "i64", 0, max(0, count - 1), "loop"))
            names.append(i)
        at = "[%s]" % ", ".join(names)
        if other:
            self.emit("%s(%s%s, inout %s%s, %s);" % (self.kernel_name("mix%d" % t.rank(), t.element), o, at, g, at, self.int_expr(1)[0]))
        else:
            self.emit("%s(inout %s%s, %s);" % (self.kernel_name("bump%d" % t.rank(), t.element), g, at, self.bounded_real()))
        if r.random() < 0.3:
            p = self.fresh("p")
            self.emit("let %s = %s(%s%s);" % (p, self.kernel_name("copy%d" % t.rank(), t.element), g, at))
            self.emit("%s(%s, inout %s%s, 2);" % (self.kernel_name("mix%d" % t.rank(), t.element), p, g, at))
        if r.random() < 0.3:
            self.nested(1)
        for s, count in reversed(saved):
            self.close_loop(s, count)

    def do_tile_ranges(self):
        t = self.subregion(writable=True)
        if t is None or t.rank() > 2:
            return
        r, g = self.rng, self.fresh("g")
        tile = [r.randint(1, 4) for _ in t.shape]
        self.emit("view %s = %s tiled [%s];" % (g, t.text, ", ".join(map(str, tile))))
        index = []
        for n, w in zip(t.shape, tile):
            tiles = -(-n.low // w)
            low = r.randint(0, tiles)
            index.append(r.choice([":", "%d .. %d" % (low, r.randint(low, tiles)), "%d +: %d" % (0, tiles)]))
        self.emit("%s(inout %s[%s], %s);" % (self.kernel_name("bump%d" % t.rank(), t.element), g, ", ".join(index), self.bounded_real()))

    def do_rows(self):
        """A loop whose variable indexes."""
        r = self.rng
        t = self.subregion()
        if t is None or self.weight > 6:
            return
        n, i = r.choice(t.shape), self.fresh("i")
        form = r.randint(0, 3)
        step = r.randint(1, 3)
        head = ["0 .. %s" % n.text(r), "%s .. -1 step -1" % n.plus(-1).text(r), "0 .. %s step %d" % (n.text(r), step),
                "%s .. -1 step -%d" % (n.plus(-1).text(r), step)][form]
        saved = self.loop("for %s in %s {" % (i, head), n.high)
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), "loop", n))
        self.loop_body(3)
        self.close_loop(saved, n.high)

    def loop_body(self, most):
        """Statements, with perhaps a way out or back in the middle."""
        self.nested(most)
        if self.chance(0.35):
            saved = self.open("if %s {" % self.condition(1))
            if self.chance(0.4):
                self.nested(1)
            self.emit(self.pick(["break;", "continue;"]))
            self.close(saved)
            self.nested(1)

    def do_neighbours(self):
        """Disjoint regions of one tensor as `in` and `inout` of one call."""
        r = self.rng
        found = [t for t in self.tensors if t.writable and t.rank() <= 3 and t.kind != "array"]
        if not found or self.weight > 8:
            return
        t = r.choice(found)
        d = r.randrange(t.rank())
        n = t.shape[d]
        if t.rank() == 1 and r.random() < 0.6:
            h = self.define_half(n)
            a, b = "%s[0 .. %s]" % (t.text, h.text()), "%s[%s .. 2 * %s]" % (t.text, h.text(), h.text())
            if r.random() < 0.5:
                a, b = b, a
            self.emit("%s(%s, inout %s, %s);" % (self.kernel_name("mix1", t.element), a, b, self.int_expr(1)[0]))
            return
        i = self.fresh("i")
        down = r.random() < 0.3
        head = "%s .. 0 step -1" % n.plus(-1).text(r) if down else "1 .. %s" % n.text(r)
        saved = self.loop("for %s in %s {" % (i, head), n.high)
        self.scalars.append(Scalar(i, "i64", 1, max(1, n.high - 1), "loop", n))
        at = lambda x: "%s[%s]" % (t.text, ", ".join((x if t.rank() > 1 else x + " +: 1") if e == d else ":" for e in range(t.rank())))
        name = self.kernel_name("mix%d" % max(1, t.rank() - 1), t.element)
        pair = [at(i), at("%s - 1" % i)]
        if r.random() < 0.5:
            pair.reverse()
        self.emit("%s(%s, inout %s, %s);" % (name, pair[0], pair[1], i))
        self.close_loop(saved, n.high)

    def do_branch(self):
        forms = self.rng.randint(0, 2)
        first, second = self.condition(), self.condition()
        saved = self.open("if %s {" % first)
        self.nested(2)
        if self.may_return and self.chance(0.15):
            self.emit(self.may_return(self))
        if forms == 0:
            self.close(saved)
            return
        if forms == 2:
            self.close(saved, "} else if %s {" % second)
            self.indent += 1
            self.nested(1)
        self.close(saved, "} else {")
        self.indent += 1
        self.nested(2)
        self.close(saved)

    def do_match(self):
        found = self.match_arms()
        if found is None:
            return
        value, arms = found
        if self.chance(0.3):
            arms = arms[:2]
        outer = self.open("match %s {" % value)
        for arm in arms:
            saved = self.open("%s => {" % arm)
            if self.chance(0.8):
                self.nested(2)
            self.close(saved)
        self.close(outer)

    def do_repeat(self):
        """while and do, with a counter that ends them."""
        r = self.rng
        if self.weight > 8:
            return
        v, times = self.fresh("n"), r.randint(0, 4)
        self.emit("var %s = 0;" % v)
        kind = r.choice(["while", "do", "true"])
        more = " && %s" % self.condition(1) if r.random() < 0.5 else ""
        head = {"while": "while %s < %d%s {" % (v, times, more), "do": "do {", "true": "while true {"}[kind]
        saved = self.loop(head, times + 1)
        self.scalars.append(Scalar(v, "i64", 0, times + 1, "counter"))
        if kind == "true":
            self.emit("if %s >= %d { break; }" % (v, times))
        self.emit("%s = %s + 1;" % (v, v))
        self.loop_body(2)
        tail = "} while %s < %d;" % (v, times)
        self.close_loop(saved, times + 1, tail if kind == "do" else "}")
        self.scalars.append(Scalar(v, "i64", 0, times + 1, "counter"))

    def do_scalar(self):
        r, k = self.rng, self.rng.randint(0, 5)
        if k <= 1:
            name = self.fresh("s")
            text, low, high = self.int_expr(3)
            self.emit("let %s%s = %s;" % (name, self.pick(["", ": i64"]), text))
            self.scalars.append(Scalar(name, "i64", low, high))
        elif k <= 3:
            name = self.fresh("m")
            text, low, high = self.int_expr(2)
            self.emit("var %s = %s %% 1001;" % (name, text if text[0] == "(" or text.isalnum() else "(%s)" % text))
            self.scalars.append(Scalar(name, "i64", -1000, 1000, "var"))
        elif k == 4:
            name = self.fresh("b")
            self.emit("%s %s%s = %s;" % (self.pick(["let", "let"]), name, self.pick(["", ": bool"]), self.condition(2)))
            self.scalars.append(Scalar(name, "bool"))
        else:
            name = self.fresh("x")
            text, type_, magnitude = self.real_expr(2)
            annotated = r.choice(["", ": f64", ": f32"])
            type_ = annotated[2:] or None
            if type_ is None:  # what the expression has is the compiler's to say: only used where both are the same
                annotated, type_ = ": f64", "f64"
            self.emit("let %s%s = %s;" % (name, annotated, text))
            self.scalars.append(Scalar(name, type_, 0, magnitude))

    def do_assign(self):
        found = [s for s in self.scalars if s.kind in ("var", "field", "cell")]
        if not found:
            return self.do_scalar()
        s = self.pick(found)
        text, _, _ = self.int_expr(2)
        self.emit({"var": "%s = (%s) %% 1001;", "field": "%s = (%s) %% 101;", "cell": "%s = abs(%s) %% 101;"}[s.kind] % (s.text, text))

    def do_show(self):
        values = []
        for _ in range(self.rng.randint(1, 3)):
            k = self.rng.randint(0, 6)
            if k == 0:
                values.append('"text %d%%"' % self.rng.randint(0, 9))
            elif k == 1:
                values.append(self.condition(1))
            elif k == 2:
                values.append(self.real_expr(1)[0])
            elif k == 3 and self.tensors:
                values.append(self.pick(self.tensors).text)
            elif k == 4:
                element = self.await_element(INTEGERS + REALS + ("bool",))
                values.append(element[0] if element else "1")
            else:
                values.append(self.int_expr(2)[0])
        self.emit("print %s;" % ", ".join(values))

    def do_claim(self):
        text, low, high = self.int_expr(1)
        claim = self.pick(["%s >= %d" % (text, low), "%s <= %d" % (text, high), "%s == %s" % (text, text), "%s < %d || true" % (text, high)])
        if "await" in text or "(" in text and self.chance(0.5):
            claim = "%s <= %d" % (text, high)
        self.emit("assert %s%s;" % (claim, self.pick(["", ', "claim"'])))

    def do_call(self):
        found = [f for f in self.maker.callable(self) if f.result_type is None and f.cost * self.weight < 80]
        if not found or self.maker.calls <= 0:
            return self.do_update()
        f = self.pick(found)
        self.maker.calls -= 1
        args = self.arguments(f)
        if args is not None:
            self.emit("%s%s(%s);" % ("", self.maker.name_of(f, self.home), ", ".join(args)))

    def do_drop(self):
        found = [t for t in self.tensors if self.can_end(t)]
        if found:
            t = self.pick(found)
            self.emit("drop %s;" % t.text)
            self.forget(t.root)

    def do_block(self):
        saved = self.open(self.pick(["{", 'scope "part" {', "scope {"]))
        self.nested(3)
        self.close(saved)

    def do_gather(self):
        """Reductions and acc."""
        r = self.rng
        a = self.subregion()
        if a is None or a.rank() > 3:
            return
        s = self.region_like([Lin.number(1)], a.element, (a.root,), writable=True)
        if s is None or r.random() < 0.3:
            s = self.new_tensor([Lin.number(1)], a.element)
        if r.random() < 0.6:
            for _ in range(r.randint(1, 3)):
                self.emit("%s(%s, acc %s);" % (self.kernel_name("tally%d" % a.rank(), a.element), a.text, s.text))
        else:
            c = self.region_like(a.shape, a.element, (a.root,), writable=True)
            if c:
                self.emit("%s(%s, acc %s);" % (self.kernel_name("pile%d" % a.rank(), a.element), a.text, c.text))
            self.emit("%s(%s, out %s);" % (self.kernel_name("total%d" % a.rank(), a.element), a.text, s.text))

    def do_library(self):
        """Kernels of std/tile.pto; their values grow, so a last call makes them small again."""
        r = self.rng
        element = [e for e in self.maker.types if e in ("f32", "f64")]
        if not element:
            return
        c = self.subregion(writable=True, element=r.choice(element), rank=2)
        if c is None:
            return
        m, n = c.shape
        avoid = (c.root,)
        op = r.choice(["add", "mul", "gemm", "gemm_nt", "gemm_acc", "add_to", "scale", "axpy", "copy", "transpose", "fill"])
        k = Lin.number(r.randint(0, 3))
        get = lambda *shape: self.operand(list(shape), c.element, avoid)
        text = {"add": lambda: "add(%s, %s, out %s)" % (get(m, n), get(m, n), c.text),
                "mul": lambda: "mul(%s, %s, out %s)" % (get(m, n), get(m, n), c.text),
                "gemm": lambda: "gemm(%s, %s, out %s)" % (get(m, k), get(k, n), c.text),
                "gemm_nt": lambda: "gemm_nt(%s, %s, out %s)" % (get(m, k), get(n, k), c.text),
                "gemm_acc": lambda: "gemm_acc(%s, %s, inout %s)" % (get(m, k), get(k, n), c.text),
                "add_to": lambda: "add_to(%s, inout %s)" % (get(m, n), c.text),
                "scale": lambda: "scale(%s, out %s, %d)" % (get(m, n), c.text, r.randint(0, 5)),
                "axpy": lambda: "axpy(%s, inout %s, %d.0)" % (get(m, n), c.text, r.randint(0, 5)),
                "copy": lambda: "copy(%s, out %s)" % (get(m, n), c.text),
                "transpose": lambda: "transpose(%s, out %s)" % (get(n, m), c.text),
                "fill": lambda: "fill(out %s, %d)" % (c.text, r.randint(0, 50))}[op]()
        self.emit("tile.%s;" % text)
        self.emit("%s(inout %s, 3);" % (self.kernel_name("bump2", c.element), c.text))

    def do_leave(self):
        if self.may_return and self.chance(0.5):
            self.emit("if %s { %s }" % (self.condition(1), self.may_return(self)))

    def do_halo(self):
        """v of the inside of u, piece by piece."""
        r = self.rng
        u = self.subregion(rank=1)
        if u is None or u.rank() != 1 or u.shape[0].low < 2 or self.weight > 6:
            return
        inside = u.shape[0].plus(-2)
        v = self.region_like([inside], u.element, (u.root,), writable=True) or self.new_tensor([inside], u.element)
        i, w, piece = self.fresh("i"), self.fresh("w"), r.randint(1, 4)
        if not u.text.isalnum():
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, u.text))
            u = Tensor(name, u.element, u.shape, u.root, u.writable, "view")
        if not v.text.isalnum():
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, v.text))
            v = Tensor(name, v.element, v.shape, v.root, v.writable, "view")
        saved = self.loop("for %s in 0 .. %s step %d {" % (i, inside.text(r), piece), inside.high // piece + 1)
        self.emit("let %s = min(%d, %s - %s);" % (w, piece, inside.operand(), i))
        self.emit("%s(%s[%s +: %s + 2], out %s[%s +: %s]);" % (self.kernel_name("halo1", u.element), u.text, i, w, v.text, i, w))
        self.close_loop(saved, inside.high // piece + 1)

    def do_twin(self):
        a = self.subregion()
        if a is None or a.rank() > 3:
            return
        b = self.region_like(a.shape, a.element, (a.root,), writable=True) or self.new_tensor(a.shape, a.element)
        c = self.region_like(a.shape, a.element, (a.root, b.root), writable=True) or self.new_tensor(a.shape, a.element)
        self.emit("%s(%s, out %s, out %s);" % (self.kernel_name("twin%d" % a.rank(), a.element), a.text, b.text, c.text))

    def do_pieces(self):
        """Pieces of two tensors alike; the last is ragged."""
        r = self.rng
        t = self.subregion(writable=True)
        if t is None or self.weight > 6 or t.rank() > 3:
            return
        d = r.randrange(t.rank())
        n, i, w, piece = t.shape[d], self.fresh("i"), self.fresh("w"), r.randint(1, 5)
        if not t.text.isalnum():
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, t.text))
            t = Tensor(name, t.element, t.shape, t.root, t.writable, "view")
        saved = self.loop("for %s in 0 .. %s step %d {" % (i, n.text(r), piece), n.high // piece + 1)
        self.emit("let %s = min(%d, %s - %s);" % (w, piece, n.operand(), i))
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), ("piece", w), n))
        self.scalars.append(Scalar(w, "i64", 1, piece))
        shape = [Lin({w: 1}, 0, 1, piece) if e == d else t.shape[e] for e in range(t.rank())]
        at = "[%s]" % ", ".join("%s +: %s" % (i, w) if e == d else ":" for e in range(t.rank()))
        a = self.operand(shape, t.element, (t.root,))
        self.emit("%s(%s, inout %s%s, %s);" % (self.kernel_name("mix%d" % t.rank(), t.element), a, t.text, at, i))
        self.close_loop(saved, n.high // piece + 1)

    def do_product(self):
        c = self.subregion(writable=True, rank=2)
        if c is None or prod_high(c.shape) > 200:
            return
        k = self.pick([s for t in self.tensors for s in t.shape] + [Lin.number(2)])
        a, b = (self.operand(s, c.element, (c.root,)) for s in ([c.shape[0], k], [k, c.shape[1]]))
        self.emit("%s(%s, %s, inout %s);" % (self.kernel_name("prod", c.element), a, b, c.text))

    def do_solid(self):
        found = [t for t in self.tensors if t.solid and t.writable and t.rank() <= 3]
        if found:
            t = self.pick(found)
            self.emit("%s(inout %s);" % (self.kernel_name("flat%d" % t.rank(), t.element), t.text))


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def prod_high(shape):
    total = 1
    for e in shape:
        total *= max(1, e.high)
    return total


class Maker:
    """One entry, with the functions that it calls and the values that it is run with."""

    def __init__(self, rng, prefix, file, breaker=None):
        self.rng, self.prefix, self.file = rng, prefix, file
        self.count, self.roots = 0, 0
        self.functions, self.texts = [], {"main": [], "lib": []}
        self.types = rng.sample(ALL_TYPES, 2) if rng.random() < 0.5 else rng.sample(["f32", "f64", "i32", "i64"], 2)
        self.scope_globals = {"main": [], "lib": []}
        self.settings, self.size, self.awaits, self.calls = {}, 0, 0, 0
        self.breaker = breaker
        self.structs = []

    def point_reached(self, writer):
        if self.breaker:
            self.breaker.point(self, writer)

    def fresh(self, stem):
        self.count += 1
        return "%s%d" % (stem, self.count)

    def new_root(self):
        self.roots += 1
        return self.roots

    def other_type(self, element):
        return self.types[0] if element == self.types[1] else self.types[1]

    def globals(self, home):
        return self.scope_globals[home]

    def callable(self, writer):
        return [f for f in self.functions if writer.home == "main" or f.home == "lib"]

    def hosts_of(self, writer):
        return getattr(writer, "hosts", [])

    def name_of(self, f, home):
        return "lib." + f.name if home == "main" and f.home == "lib" else f.name

    def use_kernel(self, stem, types, home):
        return self.file.use_kernel(stem, tuple(types), home)

    # ---- declarations ----
    def make_globals(self):
        r, p = self.rng, self.prefix
        for home in ("main", "lib"):
            path = "lib." if home == "lib" else ""
            for _ in range(r.randint(0, 2)):
                name, n = "%s_C%d" % (p, self.count), r.randint(-9, 40)
                self.count += 1
                self.texts[home].append("const %s%s = %s;" % (name, r.choice(["", ": i64"]), n))
                self.add_global(home, path, Scalar(name, "i64", n, n, "const"))
            for _ in range(r.randint(0, 2)):
                name, kind = "%s_p%d" % (p, self.count), r.choice(["i64", "i64", "f64", "bool", "f32"])
                self.count += 1
                if kind == "i64":
                    default, value = r.randint(-20, 20), r.randint(-20, 20)
                    s = Scalar(name, kind, -20, 20, "param")
                elif kind == "bool":
                    default, value = r.choice(["true", "false"]), r.choice(["true", "false"])
                    s = Scalar(name, kind, kind="param")
                else:
                    default, value = r.choice(["0.5", "-2.25", "10.0"]), r.choice(["0.75", "3.5"])
                    s = Scalar(name, kind, 0, 10, "param")
                self.texts[home].append("param %s: %s = %s;" % (name, kind, default))
                if r.random() < 0.6:
                    self.settings[path + name] = value
                self.add_global(home, path, s)

    def add_global(self, home, path, s):
        self.scope_globals[home].append(s)
        if home == "lib":
            self.scope_globals["main"].append(Scalar(path + s.text, s.type, s.low, s.high, s.kind))

    def program(self):
        r = self.rng
        self.make_globals()
        if r.random() < 0.35:
            self.make_structs()
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            self.make_function()
        self.make_entry()

    def make_function(self):
        r = self.rng
        home = "lib" if r.random() < 0.25 else "main"
        kinds = ["work", "work", "result", "result", "number", "tree", "descend", "halve", "own", "count"]
        if [t for t in self.structs if home == "main" or t.home == "lib"]:
            kinds += ["struct_work", "struct_work", "struct_result", "struct_result"]
        kind = r.choice(kinds)
        name = "%s_f%d" % (self.prefix, self.count)
        self.count += 1
        getattr(self, "make_" + kind)(name, home)

    def make_structs(self):
        r = self.rng
        home = "lib" if r.random() < 0.3 else "main"
        n = Lin({"N": 1}, 0, 0, 12)
        extents = lambda: [r.choice([n, n, n.plus(1), n.times(2), Lin.number(r.randint(1, 4))]) for _ in range(r.randint(1, 2))]
        for i in range(r.randint(1, 2)):
            fields = [("f%d" % k, r.choice(self.types), extents()) for k in range(r.randint(1, 3))]
            if i == 1:
                fields.insert(r.randint(0, len(fields)), ("inner", self.structs[0]))
            if r.random() < 0.4:
                fields.append(("k", "i64", None))
            self.structs.append(StructType("%s_S%d" % (self.prefix, i), home, fields))
            self.texts[home].append(self.structs[-1].text())

    def struct_of(self, home):
        return self.rng.choice([t for t in self.structs if home == "main" or t.home == "lib"])

    def make_struct_work(self, name, home):
        """A function on structs in every direction."""
        r = self.rng
        w, type_ = self.new_writer(home, r.randint(2, 6)), self.struct_of(home)
        dims = {"N": (0, 6) if r.random() < 0.3 else (1, 8)}
        self.see_dims(w, dims)
        n = Lin({"N": 1}, 0, *dims["N"])
        formals, outs = [], []
        for direction in [r.choice(["in", "inout", "inout", "out", "own"]) for _ in range(r.randint(1, 2))]:
            formals.append((direction, self.fresh("c"), type_, [n], 0, 0))
            v = w.see_struct(formals[-1][1], type_, n, direction in ("inout", "out"), "formal")
            if direction == "out":
                outs.append(v)
            else:
                w.show_struct(v)
        for v in outs:
            w.fill_struct(v)
        more, _ = self.formals(w, {}, ["in"] * r.randint(0, 1))
        formals += more + self.scalar_formals(w, r.randint(0, 1))
        w.may_return = lambda writer: "return;"
        w.body(r.randint(1, 4))
        self.finish(w, home, self.head(name, dims, formals, "", home), Function(name, home, dims, formals, cost=6))

    def make_struct_result(self, name, home):
        """A function that returns a struct."""
        r = self.rng
        w, type_ = self.new_writer(home, r.randint(1, 4)), self.struct_of(home)
        dims, formals = {"N": (1, 8)}, []
        n = Lin({"N": 1}, 0, 1, 8)
        if r.random() < 0.5:
            formals, _ = self.formals(w, dims, ["in"])
            self.see_dims(w, dims)
        else:
            formals.append((None, "N", "i64", None, 1, 8))
            w.scalars.append(Scalar("N", "i64", 1, 8, "formal"))
            dims = {}
        makers = [f for f in self.callable(w) if f.result_type is type_]
        value = None
        if makers and r.random() < 0.3:
            f = r.choice(makers)
            args = w.arguments(f, result=[n], reads_only=True)
            value = args and "%s(%s)" % (self.name_of(f, home), ", ".join(args))
        if value is None:
            v = w.new_struct(type_, n)
            v.kind = "result"
            w.body(r.randint(0, 3))
            value = v.text
        w.emit("return %s;" % value)
        self.finish(w, home, self.head(name, dims, formals, " -> " + w.struct_text(type_, n)), Function(name, home, dims, formals, [n], type_, cost=5))

    def new_writer(self, home, size):
        w = Writer(self, home)
        self.size, self.awaits, self.calls = size, 2, 2
        return w

    def dims(self, count):
        """Dimension variables with the values that they may have."""
        r = self.rng
        found = {}
        for name in r.sample(["N", "K", "L", "W"], count):
            low = r.choice([0, 1, 2, 2, 3, 4])
            found[name] = (low, low + r.choice([0, 2, 5, 8]))
        return found

    def shape(self, dims, rank):
        r, shape = self.rng, []
        for _ in range(rank):
            if dims and r.random() < 0.8:
                n = r.choice(sorted(dims))
                e = Lin({n: 1}, 0, *dims[n])
                shape.append(e.plus(r.choice([0, 0, 0, 1, 2])))
            else:
                shape.append(Lin.number(r.randint(1, 5)))
        return shape

    def formals(self, w, dims, directions):
        """Formals whose extents determine every dimension variable, as tensors that the writer sees."""
        r, formals, outs = self.rng, [], []
        missing = sorted(dims)
        for i, direction in enumerate(directions):
            element = r.choice(self.types)
            shape = self.shape(dims, r.choice([1, 1, 2, 2, 3]))
            if i == 0 and missing:
                shape = [Lin({n: 1}, 0, *dims[n]) for n in missing] + shape[:1] * r.randint(0, 3 - len(missing))
            name = self.fresh("a")
            formals.append((direction, name, element, shape, 0, 0))
            t = Tensor(name, element, shape, self.new_root(), direction in ("out", "inout"), "formal")
            if direction == "out":
                outs.append(t)
            elif direction == "acc":
                pass
            else:
                w.tensors.append(t)
        return formals, outs

    def scalar_formals(self, w, count):
        r, formals = self.rng, []
        for _ in range(count):
            kind, name = r.choice(["i64", "i64", "bool", "f64", "f32"]), self.fresh("q")
            low, high = (r.choice([(0, 5), (-4, 9), (1, 3)])) if kind == "i64" else (0, 10 ** 6)
            formals.append((None, name, kind, None, low, high))
            w.scalars.append(Scalar(name, kind, low, high, "formal"))
        return formals

    def see_dims(self, w, dims):
        for n, (low, high) in dims.items():
            w.scalars.append(Scalar(n, "i64", low, high, "dim"))

    def head(self, name, dims, formals, result="", home="main"):
        texts = []
        for direction, n, type_, shape, _, _ in formals:
            if isinstance(type_, StructType):
                module = "lib." if type_.home == "lib" and home == "main" else ""
                texts.append("%s %s: %s%s[%s]" % (direction, n, module, type_.name, shape[0].text(self.rng)))
            elif shape is None:
                texts.append("%s: %s" % (n, type_))
            else:
                word = "" if direction == "in" and self.rng.random() < 0.3 else direction + " "
                texts.append("%s%s: %s[%s]" % (word, n, type_, ", ".join(e.text(self.rng) for e in shape)))
        generics = "<%s>" % ", ".join(sorted(dims)) if dims else ""
        return "orch %s%s(%s)%s {" % (name, generics, ", ".join(texts), result)

    def finish(self, w, home, head, f):
        self.texts[home].append("\n".join([head] + w.lines + ["}"]))
        if f:
            self.functions.append(f)

    def make_work(self, name, home):
        """A function that changes what it is given."""
        r = self.rng
        w, dims = self.new_writer(home, r.randint(3, 8)), self.dims(r.randint(0, 2))
        self.see_dims(w, dims)
        directions = [r.choice(["in", "inout"])] + [r.choice(["in", "inout", "out", "acc"]) for _ in range(r.randint(1, 2))]
        formals, outs = self.formals(w, dims, directions)
        formals += self.scalar_formals(w, r.randint(0, 2))
        for t in outs:
            w.fill(t)
            w.tensors.append(t)
        for direction, n, element, shape, _, _ in formals:
            if direction == "acc":
                source = w.operand(shape, element, ())
                w.emit("%s(%s, acc %s);" % (w.kernel_name("pile%d" % len(shape), element), source, n))
        w.may_return = lambda writer: "return;"
        w.body(r.randint(1, 4))
        self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=5))

    def make_result(self, name, home):
        """A function that returns a tensor: a local, the value of a call, or one of several."""
        r = self.rng
        w, dims = self.new_writer(home, r.randint(2, 7)), self.dims(r.randint(0, 2))
        self.see_dims(w, dims)
        formals, _ = self.formals(w, dims, ["in"] * r.randint(1 if dims else 0, 2))
        formals += self.scalar_formals(w, r.randint(0, 1))
        sizes = dict(dims)
        if r.random() < 0.4:  # an extent that a scalar gives
            n = self.fresh("n")
            formals.append((None, n, "i64", None, 0, 6))
            w.scalars.append(Scalar(n, "i64", 0, 6, "formal"))
            sizes[n] = (0, 6)
        element = r.choice(self.types)
        shape = self.shape(sizes, r.choice([1, 1, 2, 2]))
        shape = [e for e in shape]
        result = " -> %s[%s]" % (element, ", ".join(e.text(r) for e in shape))

        def back(writer):
            if writer.chance(0.5):
                value = writer.call_value(shape, element, (), 1)
                if value:
                    return "return %s;" % value
            t = writer.new_tensor(shape, element)
            return "return %s;" % t.text

        if r.random() < 0.5:
            w.body(r.randint(0, 2))
            saved = w.open("if %s {" % w.condition())
            w.emit(back(w))
            w.close(saved)
            w.body(r.randint(0, 2))
            w.emit(back(w))
        else:
            t = w.new_tensor(shape, element)
            keep = t.loops
            t.kind = "result"  # neither dropped nor moved
            w.body(r.randint(1, 4))
            t.loops = keep
            w.emit("return %s;" % t.text)
        self.finish(w, home, self.head(name, dims, formals, result), Function(name, home, dims, formals, shape, element, cost=4))

    def make_number(self, name, home):
        """A function whose value is an integer."""
        r = self.rng
        w, dims = self.new_writer(home, r.randint(1, 4)), self.dims(r.randint(0, 1))
        self.see_dims(w, dims)
        formals, _ = self.formals(w, dims, ["in"] * (1 if dims else r.randint(0, 1)))
        formals += self.scalar_formals(w, r.randint(1, 2))
        w.body(r.randint(0, 2))
        if r.random() < 0.3:
            w.emit("if %s { return %d; }" % (w.condition(1), r.randint(-100, 100)))
        w.emit("return (%s) %% 101;" % w.int_expr(2)[0])
        self.finish(w, home, self.head(name, dims, formals, " -> i64"), Function(name, home, dims, formals, (-100, 100), "i64", cost=3))

    def make_tree(self, name, home):
        """Recursion over halves that returns one element."""
        r, element = self.rng, self.rng.choice(self.types)
        k = lambda stem: self.use_kernel(stem, [element], home)
        leaf, cut = r.randint(1, 3), r.choice(["N / 2", "N / 3", "(N + 1) / 2"])
        if leaf == 1 and cut == "N / 3":
            leaf = 2
        lines = ["orch %s<N>(in x: %s[N]) -> %s[1] {" % (name, element, element), "  if N <= %d {" % leaf,
                 "    return %s(x);" % k("total1"), "  }", "  let h = %s;" % cut, "  let l = %s(x[0 .. h]);" % name]
        if r.random() < 0.5:
            lines += ["  return %s(l, %s(x[h .. N]));" % (k("plus1"), name)]
        else:
            lines += ["  let r = %s(x[h .. N]);" % name, "  %s(l, inout r, N);" % k("mix1"), "  return r;"]
        self.texts[home].append("\n".join(lines + ["}"]))
        self.functions.append(Function(name, home, {"N": (0, 12)}, [("in", "x", element, [Lin({"N": 1}, 0, 0, 12)], 0, 0)],
                                       [Lin.number(1)], element, cost=15))

    def make_descend(self, name, home):
        """Recursion that counts down, with work before or after."""
        r = self.rng
        w, dims = self.new_writer(home, 4), self.dims(r.randint(0, 1))
        self.see_dims(w, dims)
        formals, _ = self.formals(w, dims, ["inout"] + ["in"] * r.randint(0, 1))
        n = self.fresh("n")
        formals.append((None, n, "i64", None, 0, 4))
        w.scalars.append(Scalar(n, "i64", 0, 4, "formal"))
        args = ", ".join([("inout " if d == "inout" else "") + f for d, f, *_ in formals[:-1]] + ["%s - 1" % n])
        w.emit("if %s <= 0 { return; }" % n)
        w.body(r.randint(1, 2))
        w.emit("%s(%s);" % (name, args))
        w.body(r.randint(0, 1))
        self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=12))

    def make_halve(self, name, home):
        """Recursion on two disjoint halves of one tensor."""
        r, element = self.rng, self.rng.choice(self.types)
        k = lambda stem: self.use_kernel(stem, [element], home)
        lines = ["orch %s<N>(inout x: %s[N], d: i64) {" % (name, element), "  if N <= %d { %s(inout x, d); return; }" % (r.randint(1, 3), k("bump1")),
                 "  let h = N / 2;", "  %s(inout x[0 .. h], d + 1);" % name, "  %s(inout x[h .. N], d + 2);" % name,
                 "  %s(x[0 .. h], inout x[h .. 2 * h], d);" % k("mix1")]
        if r.random() < 0.5:
            lines.append("  %s(inout x[h / 2 +: h], 2);" % k("bump1"))
        self.texts[home].append("\n".join(lines + ["}"]))
        self.functions.append(Function(name, home, {"N": (0, 12)}, [("inout", "x", element, [Lin({"N": 1}, 0, 0, 12)], 0, 0),
                                                                    (None, "d", "i64", None, -5, 5)], cost=15))

    def make_own(self, name, home):
        """Takes a tensor over; may drop it."""
        r = self.rng
        w, dims = self.new_writer(home, 3), self.dims(1)
        self.see_dims(w, dims)
        (n, limits), = dims.items()
        element, shape = r.choice(self.types), [Lin({n: 1}, 0, *limits)]
        t, y = self.fresh("a"), self.fresh("a")
        formals = [("own", t, element, shape, 0, 0), (r.choice(["out", "inout"]), y, element, shape, 0, 0)]
        owned = Tensor(t, element, shape, self.new_root(), r.random() < 0.5, "own")
        place = Tensor(y, element, shape, self.new_root(), True, "formal")
        w.tensors.append(owned)
        w.emit("%s(%s, %s %s%s);" % (w.kernel_name("copy1" if formals[1][0] == "out" else "mix1", element), t, formals[1][0], y,
                                     "" if formals[1][0] == "out" else ", 3"))
        w.tensors.append(place)
        owned.writable = False
        w.body(r.randint(0, 2))
        if r.random() < 0.4:
            w.emit("drop %s;" % t)
            w.forget(owned.root)
            w.body(1)
        self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=4))

    def make_count(self, name, home):
        """Recursion on integers, perhaps of two functions that call each other."""
        r = self.rng
        if r.random() < 0.5:
            self.texts[home].append("orch %s(n: i64, m: i64) -> i64 {\n  if n <= 1 { return (m + n) %% 101; }\n"
                                    "  return (%s(n - 1, m + 1) * %d + %s(n - 2, m)) %% 101;\n}" % (name, name, r.randint(2, 9), name))
        else:
            self.texts[home].append("orch %s(n: i64, m: i64) -> i64 {\n  if n <= 0 { return m %% 101; }\n  return %s_b(n - 1, m);\n}\n"
                                    "orch %s_b(n: i64, m: i64) -> i64 {\n  if n <= 0 { return -m %% 101; }\n  return %s(n - 1, m + %d);\n}"
                                    % (name, name, name, name, r.randint(1, 30)))
        formals = [(None, "n", "i64", None, 0, 6), (None, "m", "i64", None, -1000, 1000)]
        self.functions.append(Function(name, home, {}, formals, (-100, 100), "i64", cost=6))

    # ---- the entry ----
    def make_entry(self):
        r = self.rng
        w, dims = self.new_writer("main", r.randint(6, 22)), self.dims(r.randint(0, 3))
        self.awaits, self.calls = 5, 6
        self.see_dims(w, dims)
        directions = [r.choice(["in", "inout"])] + [r.choice(["in", "inout", "out"]) for _ in range(r.randint(1, 3))]
        if all(d == "in" for d in directions):
            directions[-1] = "out"
        formals, outs = self.formals(w, dims, directions)
        for t in w.tensors + outs:
            t.solid = True
        bundle = [t for t in self.structs if all(shape for _, _, shape in t.leaves(Lin.number(1)))]
        struct_outs = []
        if bundle and dims and r.random() < 0.5:
            n = r.choice(sorted(dims))
            type_, direction, name = r.choice(bundle), r.choice(["in", "inout", "out"]), self.fresh("c")
            argument = Lin({n: 1}, 0, *dims[n])
            formals.append((direction, name, type_, [argument], 0, 0))
            v = w.see_struct(name, type_, argument, direction != "in", "entry", True)
            if direction == "out":
                struct_outs.append(v)
            else:
                w.show_struct(v)
        formals += self.scalar_formals(w, r.randint(0, 2))
        self.dim_values = {n: r.randint(*limits) for n, limits in dims.items()}
        self.inputs = []   # name, element, concrete shape
        concrete = lambda shape: tuple(e.const + sum(c * self.dim_values[d] for d, c in e.terms.items()) for e in shape)
        for direction, n, element, shape, low, high in formals:
            if isinstance(element, StructType):
                if direction != "out":
                    self.inputs += [("%s.%s" % (n, path), e, concrete(s)) for path, e, s in element.leaves(shape[0])]
            elif shape is None:
                self.settings[n] = {"i64": str(r.randint(low, min(high, 100))), "bool": r.choice(["true", "false"])}.get(element, "2.5")
            elif direction != "out":
                self.inputs.append((n, element, concrete(shape)))
        w.hosts = []
        if r.random() < 0.3:
            n, length = self.fresh("o"), r.randint(1, 5)
            host = Tensor(n, "i64", [Lin.number(length)], self.new_root(), False, "host")
            w.hosts.append(host)
            formals.append(("host", n, "i64", host.shape, 0, 0))
            self.inputs.append((n, "i64", (length,)))
            for i in range(length):
                w.scalars.append(Scalar("%s[%d]" % (n, i), "i64", 0, 112, "host"))
        self.entry = "%s_main" % self.prefix
        for t in outs:
            w.fill(t)
            w.tensors.append(t)
        for v in struct_outs:
            w.fill_struct(v)
        w.may_return = lambda writer: "return;"
        w.body(r.randint(4, 14))
        if self.breaker:
            self.breaker.point(self, w, last=True)
        self.finish(w, "main", "export " + self.head(self.entry, dims, formals), None)


class File:
    """Several entries in one .pto file with its module, so that one compile serves many programs."""

    def __init__(self, seed, count, breaker=None):
        self.seed = seed
        self.rng = random.Random(seed)
        self.kernels = {"main": {}, "lib": {}}
        self.homes = {}
        self.makers = []
        for i in range(count):
            maker = Maker(random.Random("%s/%d" % (seed, i)), "e%d" % i, self, breaker)
            maker.program()
            self.makers.append(maker)

    def use_kernel(self, stem, types, home):
        where = "lib" if home == "lib" else self.homes.setdefault(stem, "lib" if self.rng.random() < 0.2 else "main")
        self.kernels[where][stem, types] = True
        return "lib." + stem if where == "lib" and home == "main" else stem

    def text(self, home, makers=None):
        makers = self.makers if makers is None else makers
        parts = ["// random program of seed %s" % self.seed]
        parts.append('import "std/tile.pto" as tile;')
        if home == "main":
            parts.append('import "lib.pto" as lib;')
        parts += [library.text_of(stem, types) for stem, types in sorted(self.kernels[home])]
        for maker in makers:
            parts += maker.texts[home]
        return "\n".join(parts) + "\n"
