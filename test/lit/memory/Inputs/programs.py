"""Random programs of tensors with short and long lifetimes, and what they compute.

A program is a tree of statements; text() prints it as .pto, Machine runs it on NumPy.  All arithmetic is of u32, so that every
order that keeps the meaning gives the same bytes.  Tensors of several sizes are declared in blocks, loops and branches, read whole
or in pieces, changed in place, dropped by hand, made by functions and by calls inside calls; loops end early, branches await.
"""
import random

import numpy as np

SIZES = (4, 16, 40, 100, 333)

HEAD = """\
kernel make<N>(out a: u32[N], v: i64) on cpu { for (int64_t i = 0; i < N; i++) a[i * a_stride[0]] = (uint32_t)(v + 3 * i); }
kernel comb<N>(in a: u32[N], in b: u32[N], out c: u32[N]) on vector
{ for (int64_t i = 0; i < N; i++) c[i * c_stride[0]] = a[i * a_stride[0]] * 5 + b[i * b_stride[0]] + 1; }
kernel inc<N>(inout a: u32[N], v: i64) on cube { for (int64_t i = 0; i < N; i++) a[i * a_stride[0]] = a[i * a_stride[0]] * 3 + (uint32_t)v; }
kernel mix<N>(in a: u32[N], inout b: u32[N]) on vector { for (int64_t i = 0; i < N; i++) b[i * b_stride[0]] += 7 * a[i * a_stride[0]]; }
kernel fold<N>(in a: u32[N], inout z: u32[1]) on cpu { for (int64_t i = 0; i < N; i++) z[0] = z[0] * 31 + a[i * a_stride[0]]; }
"""


class Gen:
    """Prints while it runs nothing; the statements are kept as nested lists for Machine."""

    def __init__(self, rng, functions):
        self.rng, self.functions, self.names = rng, functions, 0

    def fresh(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    def pick(self, env, size=None):
        names = [n for n, s in env.items() if size is None or s == size]
        return self.rng.choice(names) if names else None

    def value(self, env, size, depth):
        """An expression that makes a new tensor of that size, or None."""
        a = self.pick(env, size)
        if a is None:
            return None
        inner = [self.value(env, size, depth - 1) if depth > 0 and self.rng.random() < 0.35 else ("name", self.pick(env, size))
                 for _ in range(2)]
        if self.functions and self.rng.random() < 0.3:
            return ("call", self.rng.choice(self.functions), inner[0], inner[1])
        return ("comb", inner[0], inner[1])

    def condition(self, env, loops):
        r = self.rng.random()
        if loops and r < 0.4:
            return ("loop", loops[-1], self.rng.randint(0, 3))
        if r < 0.6 and env:
            return ("await", self.pick(env), self.rng.randint(2, 3))
        return ("n", self.rng.randint(1, 4))

    def block(self, env, depth, loops, in_loop, count):
        env, own, out = dict(env), [], []
        for _ in range(count):
            r = self.rng.random()
            size = self.rng.choice(SIZES)
            if r < 0.16 or not env:
                name = self.fresh("t")
                out.append(("make", name, size, self.rng.randint(0, 99)))
                env[name] = size
                own.append(name)
            elif r < 0.36:
                size = self.rng.choice(list(env.values()))
                value = self.value(env, size, 2)
                name = self.fresh("t")
                out.append(("let", name, value))
                env[name] = size
                own.append(name)
            elif r < 0.46:
                out.append(("inc", self.pick(env), self.rng.randint(0, 9)))
            elif r < 0.56:
                a, b = self.pick(env), self.pick(env)
                if a != b:
                    w = self.rng.randint(1, min(env[a], env[b]))
                    out.append(("mix", a, self.rng.randint(0, env[a] - w), b, self.rng.randint(0, env[b] - w), w))
            elif r < 0.62:
                out.append(("fold", self.pick(env)))
            elif r < 0.66 and own:
                name = own.pop(self.rng.randrange(len(own)))
                out.append(("drop", name))
                del env[name]
            elif r < 0.70 and in_loop:
                out.append(("if", self.condition(env, loops), [(self.rng.choice(("break", "continue")),)], None))
            elif depth > 0 and r < 0.80:
                then = self.block(env, depth - 1, loops, in_loop, self.rng.randint(1, 4))
                other = self.block(env, depth - 1, loops, in_loop, self.rng.randint(1, 4)) if self.rng.random() < 0.5 else None
                out.append(("if", self.condition(env, loops), then, other))
            elif depth > 0 and r < 0.90:
                var = self.fresh("i")
                out.append(("for", var, self.rng.randint(0, 4), self.block(env, depth - 1, loops + [var], True, self.rng.randint(1, 5))))
            elif depth > 0 and r < 0.95:
                arms = [self.block(env, depth - 1, loops, in_loop, self.rng.randint(0, 3)) for _ in range(self.rng.randint(1, 3))]
                out.append(("match", self.rng.randint(1, 3), arms, self.rng.random() < 0.6))
            elif depth > 0:
                out.append(("scope", self.block(env, depth - 1, loops, in_loop, self.rng.randint(1, 4))))
        return out


class Program:
    def __init__(self, seed, depth=3):
        """depth: of blocks in blocks; 0 is a straight line in which each value is made from the last few."""
        rng = random.Random(seed)
        self.functions = []
        for k in range(rng.randint(0, 2)):
            gen = Gen(rng, [f for f, _ in self.functions])
            self.functions.append(("f%d" % k, gen.block({"a": "N", "b": "N"}, 0, [], False, 0) + self.body_of_function(gen, rng)))
        gen = Gen(rng, [f for f, _ in self.functions])
        self.main = gen.block({}, depth, [], False, rng.randint(6, 16)) if depth > 0 else self.line(rng)

    def line(self, rng):
        size, reach, out, names = rng.choice(SIZES), rng.randint(1, 2), [], []
        for k in range(rng.randint(4, 14)):
            name = "t%d" % k
            if not names or (reach > 1 and rng.random() < 0.15):
                out.append(("make", name, size, rng.randint(0, 99)))
            else:
                out.append(("let", name, ("comb",) + tuple(("name", rng.choice(names[-reach:])) for _ in range(2))))
            names.append(name)
            if rng.random() < 0.15:
                out.append(("inc", rng.choice(names[-reach:]), rng.randint(0, 9)))
            if rng.random() < 0.15:
                out.append(("fold", rng.choice(names[-reach:])))
        return out + [("fold", names[-1])]

    def body_of_function(self, gen, rng):
        """Of a function (a, b) -> tensor of their size: a chain of lets."""
        names, out = ["a", "b"], []
        for _ in range(rng.randint(0, 4)):
            name = gen.fresh("t")
            out.append(("let", name, ("comb", ("name", rng.choice(names)), ("name", rng.choice(names)))))
            names.append(name)
        callee = rng.choice(gen.functions) if gen.functions and rng.random() < 0.5 else None
        last = (("name", rng.choice(names)), ("name", rng.choice(names)))
        return out + [("return", ("call", callee) + last if callee else ("comb",) + last)]

    # ---- text ----

    def text(self):
        out = [HEAD]
        for name, body in self.functions:
            out.append("orch %s<N>(in a: u32[N], in b: u32[N]) -> u32[N] {" % name)
            out += lines(body, 1)
            out.append("}")
        out.append("export orch main(n: i64, inout z: u32[1]) {")
        out += lines(self.main, 1)
        out.append("}")
        return "\n".join(out) + "\n"

    # ---- meaning ----

    def run(self, n, z):
        return Machine(dict(self.functions), n).main(self.main, z)


def expression(v):
    if v[0] == "name":
        return v[1]
    function, arguments = ("comb", v[1:]) if v[0] == "comb" else (v[1], v[2:])
    return "%s(%s)" % (function, ", ".join(expression(a) for a in arguments))


def condition(c):
    if c[0] == "loop":
        return "%s == %d" % (c[1], c[2])
    if c[0] == "await":
        return "await %s[0] %% %d == 0" % (c[1], c[2])
    return "n > %d" % c[1]


def lines(body, depth):
    tab, out = "  " * depth, []
    for s in body:
        kind = s[0]
        if kind == "make":
            out.append("%slet %s: u32[%d];  make(out %s, %d);" % (tab, s[1], s[2], s[1], s[3]))
        elif kind == "let":
            out.append("%slet %s = %s;" % (tab, s[1], expression(s[2])))
        elif kind == "inc":
            out.append("%sinc(inout %s, n + %d);" % (tab, s[1], s[2]))
        elif kind == "mix":
            out.append("%smix(%s[%d +: %d], inout %s[%d +: %d]);" % (tab, s[1], s[2], s[5], s[3], s[4], s[5]))
        elif kind == "fold":
            out.append("%sfold(%s, inout z);" % (tab, s[1]))
        elif kind in ("break", "continue"):
            out.append("%s%s;" % (tab, kind))
        elif kind == "drop":
            out.append("%sdrop %s;" % (tab, s[1]))
        elif kind == "return":
            out.append("%sreturn %s;" % (tab, expression(s[1])))
        elif kind == "if":
            out.append("%sif %s {" % (tab, condition(s[1])))
            out += lines(s[2], depth + 1)
            if s[3] is not None:
                out.append("%s} else {" % tab)
                out += lines(s[3], depth + 1)
            out.append("%s}" % tab)
        elif kind == "for":
            out.append("%sfor %s in 0 .. %d {" % (tab, s[1], s[2]))
            out += lines(s[3], depth + 1)
            out.append("%s}" % tab)
        elif kind == "match":
            out.append("%smatch n %% 4 {" % tab)
            for k, arm in enumerate(s[2]):
                out.append("%s  %d => {" % (tab, k))
                out += lines(arm, depth + 2)
                out.append("%s  }" % tab)
            if s[3]:
                out.append("%s  else => { }" % tab)
            out.append("%s}" % tab)
        elif kind == "scope":
            out.append("%sscope \"s\" {" % tab)
            out += lines(s[1], depth + 1)
            out.append("%s}" % tab)
    return out


class Leave(Exception):
    pass


class Machine:
    def __init__(self, functions, n):
        self.functions, self.n = functions, n

    def value(self, v, env):
        if v[0] == "name":
            return env[v[1]]
        if v[0] == "comb":
            return self.value(v[1], env) * np.uint32(5) + self.value(v[2], env) + np.uint32(1)
        inner = {"a": self.value(v[2], env), "b": self.value(v[3], env)}
        for s in self.functions[v[1]]:
            if s[0] == "return":
                return self.value(s[1], inner)
            inner[s[1]] = self.value(s[2], inner)

    def holds(self, c, env):
        if c[0] == "loop":
            return env[c[1]] == c[2]
        if c[0] == "await":
            return int(env[c[1]][0]) % c[2] == 0
        return self.n > c[1]

    def main(self, body, z):
        self.z = int(z)
        self.block(body, {})
        return self.z

    def block(self, body, outer):
        env = dict(outer)
        for s in body:
            kind = s[0]
            if kind == "make":
                env[s[1]] = (s[3] + 3 * np.arange(s[2], dtype=np.int64)).astype(np.uint32)
            elif kind == "let":
                env[s[1]] = self.value(s[2], env)
            elif kind == "inc":
                env[s[1]][:] = env[s[1]] * np.uint32(3) + np.uint32(self.n + s[2])
            elif kind == "mix":
                env[s[3]][s[4]:s[4] + s[5]] += np.uint32(7) * env[s[1]][s[2]:s[2] + s[5]]
            elif kind == "fold":
                for x in env[s[1]].tolist():
                    self.z = (self.z * 31 + x) & 0xffffffff
            elif kind in ("break", "continue"):
                raise Leave(kind)
            elif kind == "if":
                if self.holds(s[1], env):
                    self.block(s[2], env)
                elif s[3] is not None:
                    self.block(s[3], env)
            elif kind == "for":
                for i in range(s[2]):
                    env[s[1]] = i
                    try:
                        self.block(s[3], env)
                    except Leave as way:
                        if way.args[0] == "break":
                            break
            elif kind == "match":
                if self.n % 4 < len(s[2]):
                    self.block(s[2][self.n % 4], env)
            elif kind == "scope":
                self.block(s[1], env)
