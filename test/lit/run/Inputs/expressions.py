"""Random programs of scalar expressions, run and compared with an evaluation in Python: values, order of calls, failures.

Usage: expressions.py PTOC FIRST LAST: seeds FIRST .. LAST - 1, in the current folder.  Every call prints, so its place among the others
shows.  An expression is a pair of its text and a function from the state to its value.
"""
import operator
import random
import subprocess
import sys

HOST = [3, 1, 4, 1, 5, 9, 2, 6]
DEVICE = [2, 7, 1, 8, 2, 8, 1, 8]
HEAD = """kernel fill_m(out m: i64[8]) on cpu { static const int64_t d[8] = {2, 7, 1, 8, 2, 8, 1, 8}; memcpy(m, d, sizeof d); }
kernel set<N>(out a: i64[N], v: i64) on cpu { for (int64_t i = 0; i < N; i++) a[i] = v; }
orch id(k: i64) -> i64 { return k; }
orch say(k: i64) -> i64 { print "say", k; return k; }
orch yes(k: i64) -> bool { print "yes", k; return k % 2 == 0; }
orch mk(k: i64) -> i64[k] { print "mk", k; let t: i64[k]; assert k > 0; set(out t, k * 10); return t; }
orch first<N>(in t: i64[N], k: i64) -> i64 { print "first", k; return await t[0] + k; }
export orch f(n: i64, host p: i64[8], in x: f32[8]) {
  let m: i64[8]; fill_m(out m);
  var v = 1;
"""


class Failure(Exception):
    """The run fails here."""


def quotient(a, b):
    if b == 0:
        raise Failure
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": quotient, "%": lambda a, b: a - b * quotient(a, b)}
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


def element(array, i):
    if not 0 <= i < len(array):
        raise Failure
    return array[i]


def logged(state, text, value):
    state["log"].append("%s %d" % (text, value))
    return value


def make(state, k):
    if k < 0:  # an extent of the result: before the call
        raise Failure
    logged(state, "mk", k)
    if k < 1:
        raise Failure
    return 10 * k


def inside(r, depth, n, low=0):
    """Nearly always from low to low + n - 1."""
    t, f = integer(r, depth)
    if r.random() < 0.05:
        return t, f
    return "abs(%s) %% %d + %d" % (t, n, low), lambda s: abs(f(s)) % n + low


def integer(r, depth):
    kind = r.randrange(11 if depth > 0 else 3)
    if kind == 0:
        c = r.randrange(-3, 6)
        return ("id(%d)" if r.random() < 0.8 else "(%d)") % c, lambda s: c
    if kind == 1:
        return "n", lambda s: s["n"]
    if kind == 2:
        return "v", lambda s: s["v"]
    if kind == 3:
        t, f = integer(r, depth - 1)
        return "say(%s)" % t, lambda s: logged(s, "say", f(s))
    if kind in (4, 5):
        t, f = inside(r, depth - 1, 8)
        return ("p[%s]" if kind == 4 else "await m[%s]") % t, lambda s: element(HOST if kind == 4 else DEVICE, f(s))
    if kind == 6:
        several, name = [integer(r, depth - 1) for _ in range(r.randrange(2, 4))], r.choice(["min", "max"])
        return "%s(%s)" % (name, ", ".join(t for t, _ in several)), lambda s: {"min": min, "max": max}[name]([f(s) for _, f in several])
    if kind == 7:
        t, f = integer(r, depth - 1)
        return "-(%s)" % t, lambda s: -f(s)
    if kind == 8:
        t, f = inside(r, depth - 1, 4, 1)
        return "await mk(%s)[0]" % t, lambda s: make(s, f(s))
    if kind == 9:
        (t, f), (u, g) = inside(r, depth - 1, 4, 1), integer(r, depth - 1)

        def first(s):
            made = make(s, f(s))
            return made + logged(s, "first", g(s))
        return "first(mk(%s), %s)" % (t, u), first
    op, (t, f) = r.choice("+-*/%"), integer(r, depth - 1)
    u, g = inside(r, depth - 1, 4, 1) if op in "/%" else integer(r, depth - 1)
    return "(%s %s (%s))" % (t, op, u), lambda s: ARITHMETIC[op](f(s), g(s))


def boolean(r, depth):
    kind = r.randrange(7 if depth > 0 else 1)
    if kind <= 1:
        op, (t, f), (u, g) = r.choice(list(COMPARE)), integer(r, max(0, depth - 1)), integer(r, max(0, depth - 1))
        return "%s %s %s" % (t, op, u), lambda s: COMPARE[op](f(s), g(s))
    if kind == 2:
        t, f = boolean(r, depth - 1)
        return "!(%s)" % t, lambda s: not f(s)
    if kind == 3:
        t, f = integer(r, depth - 1)
        return "yes(%s)" % t, lambda s: logged(s, "yes", f(s)) % 2 == 0
    (t, f), (u, g) = boolean(r, depth - 1), boolean(r, depth - 1)
    if kind == 4:
        return "((%s) && (%s))" % (t, u), lambda s: f(s) and g(s)
    return "((%s) || (%s))" % (t, u), lambda s: f(s) or g(s)


def text_of(value):
    return str(value).lower()


class Program:
    def __init__(self, r):
        self.r, self.names = r, 0

    def name(self):
        self.names += 1
        return "a%d" % self.names

    def block(self, depth, count):
        several = [self.statement(depth) for _ in range(count)]

        def run(s):
            for _, f in several:
                f(s)
        return "\n".join(t for t, _ in several), run

    def statement(self, depth):
        r = self.r
        kind = r.randrange(10 if depth > 0 else 4)
        return [self.show, self.show, self.assign, self.slice, self.branch, self.branch, self.loop, self.loop, self.count, self.match][kind](depth)

    def show(self, _):
        several = [integer(self.r, 3) if self.r.random() < 0.7 else boolean(self.r, 2) for _ in range(self.r.randrange(1, 4))]
        return ("print %s;" % ", ".join(t for t, _ in several),
                lambda s: s["log"].append(" ".join([text_of(f(s)) for _, f in several])))

    def assign(self, _):
        t, f = integer(self.r, 3)
        return "v = %s;" % t, lambda s: s.update(v=f(s))

    def slice(self, _):
        (t, f), name = inside(self.r, 2, 8), self.name()

        def run(s):
            element(HOST, f(s))
            s["log"].append("f32[1]")
        return "let %s = x[%s +: 1]; print %s;" % (name, t, name), run

    def branch(self, depth):
        (t, f), (u, g) = boolean(self.r, 3), boolean(self.r, 2)
        (a, run_a), (b, run_b) = self.block(depth - 1, 2), self.block(depth - 1, 1)

        def run(s):
            if f(s):
                run_a(s)
            elif g(s):
                run_b(s)
        return "if %s {\n%s\n} else if %s {\n%s\n}" % (t, a, u, b), run

    def loop(self, depth):
        (t, f), (u, g), (w, h), (a, run_a) = boolean(self.r, 3), boolean(self.r, 1), boolean(self.r, 1), self.block(depth - 1, 2)
        name, is_do = self.name(), self.r.random() < 0.5

        def run(s):
            iterations = 0
            while is_do and iterations == 0 or iterations < 3 and f(s):
                iterations += 1
                if g(s):
                    continue
                if h(s):
                    break
                run_a(s)
        inner = "%s = %s + 1;\nif %s { continue; }\nif %s { break; }\n%s" % (name, name, u, w, a)
        cond = "%s < 3 && (%s)" % (name, t)
        return "var %s = 0;\n" % name + ("do {\n%s\n} while %s;" % (inner, cond) if is_do else "while %s {\n%s\n}" % (cond, inner)), run

    def count(self, depth):
        (t, f), (u, g), (w, h) = integer(self.r, 2), integer(self.r, 2), inside(self.r, 2, 3, 1)
        (a, run_a), name = self.block(depth - 1, 1), self.name()

        def run(s):
            low, high, step = f(s), g(s), h(s)
            if step == 0:
                raise Failure
            for i in range(low, high, step):
                if abs(i) > 20:
                    break
                logged(s, "i", i)
                run_a(s)
        return "for %s in %s .. %s step %s {\nif abs(%s) > 20 { break; }\nprint \"i\", %s;\n%s\n}" % (name, t, u, w, name, name, a), run

    def match(self, depth):
        (t, f), arms, (o, run_o) = integer(self.r, 2), [], self.block(depth - 1, 1)
        for _ in range(self.r.randrange(1, 4)):
            arms.append(([integer(self.r, 2) for _ in range(self.r.randrange(1, 3))], self.block(depth - 1, 1)))

        def run(s):
            value = f(s)
            for several, (_, run_a) in arms:
                if any(logged(s, "say", g(s)) == value for _, g in several):
                    return run_a(s)
            return run_o(s)
        text = "\n".join("%s => {\n%s\n}" % (", ".join("say(%s)" % u for u, _ in several), a) for several, (a, _) in arms)
        return "match %s {\n%s\nelse => {\n%s\n}\n}" % (t, text, o), run


def check(ptoc, seed):
    r = random.Random(seed)
    body, run = Program(r).block(2, 6)
    state, failed = {"n": r.randrange(-2, 5), "v": 1, "log": []}, False
    try:
        run(state)
    except Failure:
        failed = True
    name = "e%d" % seed
    with open(name + ".pto", "w") as f:
        f.write(HEAD + body + "\n}\n")
    built = subprocess.run([ptoc, "build", "-w", "-O0", name + ".pto", "-o", name], capture_output=True, text=True)
    if built.returncode == 1 and ("error[E05]" in built.stderr or "error[E15]" in built.stderr):
        return "refused"  # it fails for certain, if that place is reached
    assert built.returncode == 0, (seed, built.stderr)
    for engine in "serial", "threads":
        args = ["./" + name, "--engine", engine, "--set", "n=%d" % state["n"], "--input", "p=p.npy", "--input", "x=zeros"]
        got = subprocess.run(args, capture_output=True, text=True)
        assert failed == (got.returncode != 0), (seed, engine, failed, got.stderr)
        assert got.stdout.splitlines() == state["log"], (seed, engine, got.stdout.splitlines(), state["log"])
    return "failed as it should" if failed else "same"


if __name__ == "__main__":
    results = [check(sys.argv[1], seed) for seed in range(int(sys.argv[2]), int(sys.argv[3]))]
    for text in sorted(set(results)):
        print(text, results.count(text))
