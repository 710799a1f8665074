"""rules.py - the rules of the language that break_rules.py breaks, each by a few lines of which one is marked.

Idea       a rule writes lines at a Place, and the marked one breaks it in every program; a declaration brings its own function.
Owner      RULES, DECLARATIONS; rules_of_jumps.py adds to them.
Tests      break_rules.py
"""
MARK = " // BAD"


class Place:
    """Where lines can be written, and what is visible there."""

    def __init__(self, writer, rng):
        self.w, self.rng = writer, rng
        self.n = 0

    def say(self, text):
        self.w.emit(text)

    def bad(self, text):
        self.w.emit(text + MARK)
        return True

    def name(self):
        return self.w.fresh("z")

    def tensor(self, **want):
        """A visible tensor whose smallest extents and other properties are as wanted, or None."""
        found = [t for t in self.w.tensors if 1 <= t.rank() <= 3 and t.kind not in ("array", "cells") and (not want.get("writable") or t.writable)
                 and t.rank() in want.get("ranks", (1, 2, 3)) and t.shape[0].low >= want.get("low", 0)
                 and ("kind" not in want or t.kind == want["kind"])]
        return self.rng.choice(found) if found else None

    def local(self, shape, filled=True):
        """A new tensor of constant extents."""
        name, element = self.name(), self.rng.choice(self.w.maker.types)
        self.say("let %s: %s[%s];" % (name, element, ", ".join(map(str, shape))))
        if filled:
            self.say("%s(out %s, %d);" % (self.kernel("ramp%d" % len(shape), element), name, self.rng.randint(0, 9)))
        return name, element

    def kernel(self, stem, *types):
        return self.w.kernel_name(stem, *types)

    def bump(self, t, text=None, mark="inout "):
        return "%s(%s%s, 1.5);" % (self.kernel("bump%d" % t.rank(), t.element), mark, text or t.text)


RULES = []


def rule(id_):
    def add(function):
        RULES.append((id_, function))
        return function
    return add


# ---- statements --------------------------------------------------------------------------------------------------------------


@rule("E00")
def syntax(p):
    return p.bad(p.rng.choice(["let = 3;", "print 1 +;", "for i in 0 4 { print i; }", "if { print 1; }", "print 1 < 2 < 3;"]))


@rule("E01")
def unknown_kernel(p):
    t = p.tensor(writable=True)
    return t and p.bad("nosuch%d(inout %s);" % (p.rng.randint(1, 9), t.text))


@rule("E01")
def unknown_scalar(p):
    return p.bad(p.rng.choice(["print zz_a + 1;", "let %s = 2 * zz_b;" % p.name(), "if zz_c > 1 { print 1; }",
                               "for i in 0 .. zz_d { print i; }", "while zz_e { }", "assert zz_f == 1;"]))


@rule("E01")
def unknown_argument(p):
    element = p.rng.choice(p.w.maker.types)
    return p.bad("%s(inout zz_t, 1.0);" % p.kernel("bump1", element))


@rule("E01")
def unknown_module(p):
    return p.bad(p.rng.choice(["nomod.run(1);", "print nomod.value;"]))


@rule("E01")
def unknown_in_module(p):
    return p.bad(p.rng.choice(["print tile.nosuch;", "tile.nosuch(1);"]))


@rule("E01")
def unknown_type(p):
    return p.bad("let %s: f33[4];" % p.name())


@rule("E02")
def wrong_elements(p):
    a, b = p.w.maker.types[:2]
    x, y = p.name(), p.name()
    p.say("let %s: %s[3];" % (x, a))
    p.say("%s(out %s, 1);" % (p.kernel("ramp1", a), x))
    p.say("let %s: %s[3];" % (y, b))
    p.kernel("copy1", b)
    return p.bad("%s(%s, out %s);" % (p.kernel("copy1", a), x, y))


@rule("E02")
def wrong_scalar(p):
    return p.bad(p.rng.choice(["let %s: i64 = 1.5;" % p.name(), "if 1 { print 1; }", "print true + 1;", "while 2.5 { }", "assert 3;",
                               "let %s: bool = 1;" % p.name(), "print 5.5 % 2;", "print !3;", "print -true;", "print true < false;",
                               "for i in 0 .. 2.5 { print i; }", "print log2(true);", "print 1 && true;"]))


@rule("E02")
def wrong_index(p):
    t = p.tensor(low=2)
    return t and p.bad("let %s = %s[1.5 .. 2];" % (p.name(), t.text))


@rule("E03")
def wrong_rank(p):
    t = p.tensor(writable=True)
    return t and p.bad("%s(inout %s, 1.5);" % (p.kernel("bump%d" % (t.rank() % 3 + 1), t.element), t.text))


@rule("E03")
def too_many_indices(p):
    t = p.tensor()
    return t and p.bad("let %s = %s[%s];" % (p.name(), t.text, ", ".join([":"] * (t.rank() + 1))))


@rule("E03")
def no_such_dimension(p):
    t = p.tensor()
    return t and p.bad("print dim(%s, %d);" % (t.text, t.rank() + p.rng.randint(0, 3)))


@rule("E03")
def wrong_tiles(p):
    t = p.tensor()
    return t and p.bad("view %s = %s tiled [%s];" % (p.name(), t.text, ", ".join(["2"] * (t.rank() + 1))))


@rule("E04")
def wrong_extent(p):
    t = p.tensor()
    if not t:
        return None
    q, d = p.name(), p.rng.randrange(t.rank())
    shape = [e.plus(p.rng.randint(1, 3)) if i == d else e for i, e in enumerate(t.shape)]
    p.say("let %s: %s[%s];" % (q, t.element, ", ".join(e.text() for e in shape)))
    return p.bad("%s(%s, out %s);" % (p.kernel("copy%d" % t.rank(), t.element), t.text, q))


@rule("E04")
def wrong_slices(p):
    q, element = p.local([6])
    k = p.rng.randint(1, 2)
    return p.bad("%s(%s[0 .. %d], inout %s[3 .. %d], 1);" % (p.kernel("mix1", element), q, k, q, 3 + k + p.rng.choice([-1, 1])))


@rule("E04")
def other_dimension(p):
    dims = [s.text for s in p.w.scalars if s.kind == "dim"]
    if len(dims) < 2:
        return None
    a, b = p.rng.sample(dims, 2)
    element, x, y = p.rng.choice(p.w.maker.types), p.name(), p.name()
    p.say("let %s: %s[%s];" % (x, element, a))
    p.say("%s(out %s, 1);" % (p.kernel("ramp1", element), x))
    p.say("let %s: %s[%s];" % (y, element, b))
    return p.bad("%s = %s(%s);" % (y, p.kernel("copy1", element), x))


@rule("E05")
def index_behind(p):
    t = p.tensor()
    if not t:
        return None
    if t.rank() == 1:
        return p.bad("print await %s[%s];" % (t.text, t.shape[0].text()))
    return p.bad("let %s = %s[%s];" % (p.name(), t.text, t.shape[0].plus(p.rng.randint(0, 2)).text()))


@rule("E05")
def index_before(p):
    t = p.tensor(ranks=(2, 3))
    return t and p.bad("let %s = %s[-%d];" % (p.name(), t.text, p.rng.randint(1, 4)))


@rule("E05")
def slice_behind(p):
    t = p.tensor(low=1)
    if not t:
        return None
    e = t.shape[0]
    return p.bad("let %s = %s[%s];" % (p.name(), t.text, p.rng.choice([
        "0 .. %s" % e.plus(1).text(), "1 +: %s" % e.text(), "%s .. %s" % (e.text(), e.plus(2).text()), "-1 .. 1"])))


@rule("E05")
def tile_behind(p):
    q, element = p.local([5, 5])
    g = p.name()
    p.say("view %s = %s tiled [2, 3];" % (g, q))
    return p.bad("%s(inout %s[%s], 2.0);" % (p.kernel("bump2", element), g, p.rng.choice(["3, 0", "0, 2", "-1, 1"])))


@rule("E06")
def never_written(p):
    q, element = p.local([p.rng.randint(1, 5)], filled=False)
    c = p.name()
    if p.rng.random() < 0.5:
        return p.bad("%s(inout %s, 2.0);" % (p.kernel("bump1", element), q))
    return p.bad("let %s = %s(%s);" % (c, p.kernel("copy1", element), q))


@rule("E06")
def never_written_symbolic(p):
    t = p.tensor(writable=True)
    if not t:
        return None
    q = p.name()
    p.say("let %s: %s[%s];" % (q, t.element, ", ".join(e.text() for e in t.shape)))
    return p.bad("%s(%s, inout %s, 4);" % (p.kernel("mix%d" % t.rank(), t.element), q, t.text))


@rule("E06")
def other_part_written(p):
    if p.w.indent > 1:  # in a loop that makes no iteration nothing is missing
        return None
    q, element = p.local([6], filled=False)
    p.say("%s(out %s[0 .. 3], 1);" % (p.kernel("ramp1", element), q))
    return p.bad("%s(inout %s[%d .. 6], 1.0);" % (p.kernel("bump1", element), q, p.rng.randint(3, 5)))


@rule("E08")
def marker_missing(p):
    t = p.tensor(writable=True)
    return t and p.bad(p.bump(t, mark=p.rng.choice(["", "out ", "acc ", "own "])))


@rule("E08")
def marker_too_many(p):
    t = p.tensor(writable=True)
    if not t:
        return None
    return p.bad("let %s = %s(%s %s);" % (p.name(), p.kernel("copy%d" % t.rank(), t.element), p.rng.choice(["inout", "out", "acc"]), t.text))


@rule("E08")
def write_through_in(p):
    found = [t for t in p.w.tensors if t.kind == "formal" and not t.writable and 1 <= t.rank() <= 3]
    if not found:
        return None
    t = p.rng.choice(found)
    if p.rng.random() < 0.5:
        return p.bad(p.bump(t))
    return p.bad("%s(out %s, 3);" % (p.kernel("fill%d" % t.rank(), t.element), t.text))


@rule("E09")
def overlap_whole(p):
    t = p.tensor(writable=True, low=1)
    if not t or any(e.low < 1 for e in t.shape):
        return None
    if p.rng.random() < 0.4:
        return p.bad("%s = %s(%s);" % (t.text, p.kernel("copy%d" % t.rank(), t.element), t.text))
    return p.bad("%s(%s, inout %s, 1);" % (p.kernel("mix%d" % t.rank(), t.element), t.text, t.text))


@rule("E09")
def overlap_slices(p):
    t = p.tensor(writable=True, low=5)
    if not t or any(e.low < 1 for e in t.shape):
        return None
    k = p.rng.randint(0, 2)
    return p.bad("%s(%s[0 .. 3], inout %s[%d .. %d], 1);" % (p.kernel("mix%d" % t.rank(), t.element), t.text, t.text, k, k + 3))


@rule("E09")
def overlap_outs(p):
    q, element = p.local([3])
    x = p.name()
    p.say("let %s: %s[3];" % (x, element))
    return p.bad("%s(%s, out %s, out %s[0 .. 3]);" % (p.kernel("twin1", element), q, x, x))


@rule("E11")
def use_after_drop(p):
    q, element = p.local([3])
    p.say("drop %s;" % q)
    return p.bad(p.rng.choice(["%s(inout %s, 1.0);" % (p.kernel("bump1", element), q), "print await %s[0];" % q, "drop %s;" % q]))


@rule("E11")
def drop_borrowed(p):
    t = p.tensor(kind="formal")
    return t and p.bad("drop %s;" % t.text)


@rule("E11")
def closed_block(p):
    q = p.name()
    p.say("{ let %s = 1; print %s; }" % (q, q))
    return p.bad("print %s;" % q)


@rule("E11")
def use_after_move(p):
    q, element = p.local([2])
    eat = "%s_eat" % p.w.maker.prefix
    p.w.maker.texts[p.w.home].append("orch %s(own t: %s[2]) { print await t[0]; }" % (eat, element))
    p.say("%s(own %s);" % (eat, q))
    return p.bad(p.rng.choice(["%s(inout %s, 1.0);" % (p.kernel("bump1", element), q), "%s(own %s);" % (eat, q)]))


@rule("E11")
def view_of_dropped(p):
    q, element = p.local([4])
    v = p.name()
    p.say("let %s = %s[0 .. 2];" % (v, q))
    p.say("drop %s;" % q)
    return p.bad("%s(inout %s, 1.0);" % (p.kernel("bump1", element), v))


@rule("E13")
def await_unwritten(p):
    q, _ = p.local([p.rng.randint(1, 4)], filled=False)
    return p.bad(p.rng.choice(["print await %s[0];", "print 1, await %s[0];"]) % q)


@rule("E15")
def impossible_arithmetic(p):
    return p.bad(p.rng.choice([
        "print 1 / 0;", "print 7 % (2 - 2);", "print 9223372036854775807 + 1;", "let %s: f32[2 - 3];" % p.name(),
        "for i in 0 .. 3 step 0 { print i; }", "print 9223372036854775808;", "print 4611686018427387904 * 2;",
        "print ceil_div(5, 0);", "let %s = 3 - 9223372036854775807 - 9;" % p.name(), "print log2(0);", "print 1 << 64;",
        "print 1 << 63;", "print 3 >> -1;", "print 1 << 2 - 3;"]))


@rule("E15")
def negative_slice(p):
    t = p.tensor(low=3)
    return t and p.bad("let %s = %s[3 .. 2];" % (p.name(), t.text))


@rule("E15")
def empty_tile(p):
    t = p.tensor()
    return t and p.bad("view %s = %s tiled [%s];" % (p.name(), t.text, ", ".join(["0"] + ["2"] * (t.rank() - 1))))


@rule("E15")
def division_by_zero_with_names(p):
    names = [s.text for s in p.w.scalars if s.type == "i64" and s.kind in ("dim", "loop", "formal")]
    return names and p.bad("print %s / 0;" % p.rng.choice(names))


@rule("E16")
def twice_in_block(p):
    q = p.name()
    p.say("let %s = 1;" % q)
    return p.bad(p.rng.choice(["let %s = 2;", "var %s = 2;", "let %s: f32[2];"]) % q)


@rule("E17")
def wrong_count(p):
    t = p.tensor(writable=True)
    if not t:
        return None
    name = p.kernel("bump%d" % t.rank(), t.element)
    return p.bad(p.rng.choice(["%s(inout %s);", "%s(inout %s, 1.0, 2);"]) % (name, t.text))


@rule("E17")
def wrong_builtin_count(p):
    return p.bad(p.rng.choice(["print min(1);", "print abs(1, 2);", "print ceil_div(1);", "print sqrt();"]))


@rule("E17")
def unknown_attribute(p):
    t = p.tensor(writable=True)
    return t and p.bad("@%s(1) %s" % (p.rng.choice(["speed", "prio", "unroll"]), p.bump(t)))


@rule("E18")
def gaps(p):
    q, element = p.local([4, 5])
    return p.bad("%s(inout %s[%s]);" % (p.kernel("flat2", element), q, p.rng.choice([":, 0 .. 3", "1 .. 3, 1 .. 5", "0 +: 2, 2 +: 2"])))


@rule("E18")
def column(p):
    q, element = p.local([4, 5])
    return p.bad("%s(inout %s[:, %d]);" % (p.kernel("flat1", element), q, p.rng.randint(0, 4)))


@rule("E19")
def jump_outside(p):
    return p.w.loops == 0 and p.bad(p.rng.choice(["break;", "continue;"]))


@rule("E19")
def assign_let(p):
    q = p.name()
    p.say("let %s = 1;" % q)
    return p.bad("%s = 2;" % q)


@rule("E19")
def element_without_await(p):
    t = p.tensor(low=1)
    return t and all(e.low >= 1 for e in t.shape) and p.bad("print %s[%s];" % (t.text, ", ".join(["0"] * t.rank())))


@rule("E19")
def no_value(p):
    return p.bad("let %s;" % p.name())


@rule("E19")
def no_call(p):
    t = p.tensor()
    return t and p.bad("%s;" % t.text)


@rule("E19")
def tensor_assignment(p):
    q, element = p.local([3])
    x = p.name()
    p.say("let %s: %s[3];" % (x, element))
    return p.bad("%s = %s;" % (x, q))


@rule("E19")
def kernel_as_value(p):
    return p.bad("print %s;" % p.kernel("copy1", p.w.maker.types[0]))


@rule("E19")
def loop_variable(p):
    i = p.name()
    p.say("for %s in 0 .. 2 {" % i)
    p.bad("  %s = 1;" % i)
    p.say("}")
    return True


@rule("E20")
def false_assert(p):
    return p.bad(p.rng.choice(["static_assert 1 == 2;", "assert 2 < 1, \"no\";", "static_assert false;", "assert min(3, 4) == 4;"]))


@rule("E20")
def false_extent(p):
    t = p.tensor()
    return t and p.bad("%s dim(%s, 0) < 0;" % (p.rng.choice(["assert", "static_assert"]), t.text))


# ---- declarations: an own function, kernel, const ... of which one line is wrong ---------------------------------------------------

DECLARATIONS = [
    ("E07", "orch zz_f(out y: T[3], b: bool) {%BAD\n  if b { return; }\n  fill1(out y, 1);\n}", "fill1"),
    ("E07", "orch zz_f(out y: T[3]) {%BAD\n  print dim(y, 0);\n}", None),
    ("E07", "orch zz_f(out y: T[3], n: i64) {%BAD\n  if n > 2 { fill1(out y, 1); } else if n > 0 { fill1(out y, 2); }\n}", "fill1"),
    ("E07", "orch zz_f(out y: T[3], n: i64) {%BAD\n  match n { 1 => { fill1(out y, 1); } 2 => { fill1(out y, 2); } }\n}", "fill1"),
    ("E10", "orch zz_f() -> T[2] {\n  let q: T[4];\n  fill1(out q, 1);\n  let v = q[0 .. 2];\n  return v;%BAD\n}", "fill1"),
    ("E10", "orch zz_f(in x: T[2]) -> T[2] {\n  return x;%BAD\n}", None),
    ("E10", "orch zz_f(inout x: T[2]) -> T[2] {\n  return x;%BAD\n}", None),
    ("E10", "orch zz_f() -> T[2] {\n  let q: T[2];\n  fill1(out q, 1);\n  drop q;\n  return q;%BAD\n}", "fill1"),
    ("E12", "kernel zz_k(out a: f32[1]) on gpu%BAD\n{ a[0] = 1; }", None),
    ("E12", "kernel zz_k(out a: f32[1]) on vectr%BAD\n{ a[0] = 1; }", None),
    ("E15", "const ZZ = 9223372036854775807 + 1;%BAD", None),
    ("E15", "const ZZ = 5 / (3 - 3);%BAD", None),
    ("E16", "const ZZ = 1;\nconst ZZ = 2;%BAD", None),
    ("E16", "const ZZ = 1;\nparam ZZ: i64 = 2;%BAD", None),
    ("E16", "orch zz_f() { print 1; }\norch zz_f() { print 2; }%BAD", None),
    ("E16", "orch zz_f(a: i64, a: i64) { print a; }%BAD", None),
    ("E16", "kernel zz_k(inout a: f32[1]) on cpu { a[0] = 1; }\nkernel zz_k(inout b: f32[1]) on cpu { b[0] = 1; }%BAD", None),
    ("E16", 'import "no/such/file.pto" as zz;%BAD', None),
    ("E19", "orch zz_f(n: i64) -> i64 {\n  if n > 0 { return 1; }\n}%BAD", None),
    ("E19", "orch zz_f(n: i64) {\n  return n;%BAD\n}", None),
    ("E19", "orch zz_f(n: i64) -> i64 {\n  return;%BAD\n}", None),
    ("E19", "orch zz_v(n: i64) { print n; }\norch zz_f() {\n  let q = zz_v(1);%BAD\n}", None),
    ("E20", "static_assert 3 > 4;%BAD", None),
    ("E20", "const ZZ = 64;\nstatic_assert ZZ % 48 == 0, \"no\";%BAD", None),
    ("E20", "kernel zz_k<N>(inout a: T[N]) on cpu where N <= 4 { (void)a_stride; }\n"
            "orch zz_f(inout x: T[5]) {\n  zz_k(inout x);%BAD\n}", None),
    ("E02", "orch zz_f(a: f32) -> i64 {\n  return a;%BAD\n}", None),
    ("E01", "orch zz_f(in a: Missing[3]) { print 1; }%BAD", None),
    ("E01", "orch zz_f(in a: f32[ZZ_NO]) { print a; }%BAD", None),
    ("E04", "orch zz_f(in a: T[3]) -> T[4] {\n  return copy1(a);%BAD\n}", "copy1"),
    ("E04", "kernel zz_k<N, M>(inout a: f32[N]) on cpu%BAD\n{ (void)a; }", None),
    ("E08", "orch zz_f(in n: i64) { print n; }%BAD", None),
    ("E01", "struct ZzS<N> { a: f32[N]; }\norch zz_f(in s: ZzS[2]) {\n  print s.b;%BAD\n}", None),
]
