"""forms.py - what a writer of random programs knows: integers with bounds, regions, structs, scalars, functions.

Idea       an extent is a linear form of the names that are visible, with the least and the greatest value that it can have: equal forms are
           equal extents, and an index below the least value is in bounds.
Tests      every random program
"""
BOUND = 10 ** 12
MAX_RANK, MAX_PARAMS = 8, 64
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
        self.given = leaves if kind == "var" else []  # which become other tensors by an assignment

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
        self.structure = None  # of a result whose dimension the run decides


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def prod_high(shape):
    total = 1
    for e in shape:
        total *= max(1, e.high)
    return total
