"""Random programs that move tensors and structs into functions, over several calls and in branches: with --plan=ring `need` is the least heap.
In a heap of `need` every path completes, on every engine, with the results of a large heap; with a granule less some path is refused, and
where there is one path only, ptoc refuses the program with E14.  Without `own` no program needs more: what is used for the last time is moved
by itself.

usage: random_moves.py PTOC FOLDER FIRST_SEED COUNT
"""
import os
import random
import re
import subprocess
import sys

import numpy as np

from bounds_text import bounds_of_entries

ENGINES = ("serial", "threads", "timing", "process")
SIZES = (4, 16, 40, 100, 333)
HEAD = """\
struct Pair<N> { a: u32[N]; b: u32[2 * N]; }
kernel make<N>(out a: u32[N], v: i64) on cpu { for (int64_t i = 0; i < N; i++) a[i * a_stride[0]] = (uint32_t)(v + 3 * i); }
kernel comb<N, M, K>(in a: u32[N], in b: u32[M], out c: u32[K]) on vector
{ for (int64_t i = 0; i < K; i++) c[i * c_stride[0]] = a[(i % N) * a_stride[0]] * 5 + b[(i % M) * b_stride[0]] + 1; }
kernel fold<N>(in a: u32[N], inout z: u32[1]) on cpu { for (int64_t i = 0; i < N; i++) z[0] = z[0] * 31 + a[i * a_stride[0]]; }
"""


class Gen:
    """own: what may be moved: name -> (extent, is_struct); seen: tensors that may be read."""

    def __init__(self, rng, functions, branches):
        self.rng, self.functions, self.branches, self.names = rng, functions, branches, 0

    def fresh(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    def tensors(self, env):
        return [t for name, (_, pair) in env.items() for t in ((name + ".a", name + ".b") if pair else (name,))]

    def block(self, env, extents, count, depth, tab):
        out, env = [], dict(env)
        for _ in range(count):
            r, read = self.rng.random(), self.tensors(env)
            extent = self.rng.choice(extents)
            if r < 0.25 or not read:
                name = self.fresh("t")
                out.append("%slet %s: u32[%s];  make(out %s, %d);" % (tab, name, extent, name, self.rng.randint(0, 99)))
                env[name] = (extent, False)
            elif r < 0.35:
                name = self.fresh("p")
                out.append("%slet %s: Pair[%s];  make(out %s.a, 1);  make(out %s.b, 2);" % (tab, name, extent, name, name))
                env[name] = (extent, True)
            elif r < 0.5:
                name = self.fresh("t")
                out.append("%slet %s: u32[%s];  comb(%s, %s, out %s);" % (tab, name, extent, self.rng.choice(read), self.rng.choice(read), name))
                env[name] = (extent, False)
            elif r < 0.6:
                out.append("%sfold(%s, inout z);" % (tab, self.rng.choice(read)))
            elif r < 0.9 and self.functions:
                out += self.call(env, tab)
            elif depth > 0 and self.branches:
                out.append("%sif n %% 2 == %d {" % (tab, self.rng.randint(0, 1)))
                kept = dict(env)
                out += self.block(kept, extents, self.rng.randint(1, 3), depth - 1, tab + "  ")
                out.append("%s} else {" % tab)
                out += self.block(kept, extents, self.rng.randint(1, 3), depth - 1, tab + "  ")
                out.append("%s}" % tab)
                moved = set(re.findall(r"own (\w+)", "\n".join(out)))
                env = {name: what for name, what in env.items() if name not in moved}
        return out

    def call(self, env, tab):
        name, formals = self.rng.choice(self.functions)
        arguments, taken, borrowed = [], [], set()
        for is_own, pair in formals:
            fits = [n for n, (_, p) in env.items() if p == pair and n not in taken and (n not in borrowed or not is_own)]
            if not fits:
                return []
            chosen = self.rng.choice(fits)
            arguments.append(("own " if is_own else "") + chosen)
            (taken.append if is_own else borrowed.add)(chosen)
        for n in taken:
            del env[n]
        return ["%s%s(%s, n, inout z);" % (tab, name, ", ".join(arguments))]


def program(seed):
    rng = random.Random(seed)
    functions, text, branches = [], [HEAD], seed % 3 == 0
    for k in range(rng.randint(1, 4)):
        gen = Gen(rng, list(functions), branches)
        formals = [(rng.random() < 0.7, rng.random() < 0.3) for _ in range(rng.randint(1, 3))]
        names = ["a%d" % i for i in range(len(formals))]
        env = {n: ("N%d" % i, pair) for i, (n, (own, pair)) in enumerate(zip(names, formals)) if own}
        extents = ["N%d" % i for i in range(len(formals))] + ["16"]
        body = gen.block(env, extents, rng.randint(1, 6), 1, "  ")
        text.append("orch f%d<%s>(%s, n: i64, inout z: u32[1]) {\n%s\n}" % (
            k, ", ".join("N%d" % i for i in range(len(formals))),
            ", ".join("%s %s: %s[N%d]" % ("own" if own else "in", n, "Pair" if pair else "u32", i) for i, (n, (own, pair)) in enumerate(zip(names, formals))),
            "\n".join(body)))
        functions.append(("f%d" % k, formals))
    body = Gen(rng, functions, branches).block({}, [str(s) for s in SIZES], rng.randint(4, 12), 2, "  ")
    text.append("export orch main(n: i64, inout z: u32[1]) {\n%s\n}\n" % "\n".join(body))
    return "\n".join(text), branches and "if n" in "\n".join(text)


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace")


class Case:
    def __init__(self, ptoc, folder, seed):
        self.ptoc, self.seed = ptoc, seed
        self.source, self.binary = os.path.join(folder, "p%d.pto" % seed), os.path.join(folder, "p%d" % seed)
        self.z = os.path.join(folder, "z%d.npy" % seed)
        self.text, self.has_branches = program(seed)
        with open(self.source, "w") as f:
            f.write(self.text)

    def fail(self, why):
        sys.exit("seed %d: %s\n%s" % (self.seed, why, self.text))

    def run(self, n, heap, engine):
        """Bytes of the result; None: the heap is too small."""
        code, said = call([self.binary, "--quiet", "--engine", engine, "--rings", "1", "--heap", str(heap), "--set", "n=%d" % n,
                           "--input", "z=ones", "--output", "z=" + self.z])
        if code == 0:
            return np.load(self.z).tobytes()
        return None if "heap" in said else self.fail(said)

    def check_without_own(self, need):
        """The moves are inferred."""
        source, binary = self.source[:-4] + "_in.pto", self.binary + "_in"
        with open(source, "w") as f:
            f.write(re.sub(r"\bown ", "", self.text))
        code, said = call([self.ptoc, "build", "-w", "--plan=ring", "--emit=bounds", source, "-o", "-"])
        least = bounds_of_entries(said)["main"].need
        if least > need:
            self.fail("needs %d bytes without own, %d with it" % (least, need))
        code, said = call([self.ptoc, "build", "-w", "-O0", "--plan=ring", source, "-o", binary])
        if code != 0:
            self.fail(said)
        for n in (0, 1) if self.has_branches else (0,):
            expected, self.binary = self.run(n, "16M", "serial"), binary
            for heap in {max(need, 64), max(least, 64)}:
                if self.run(n, heap, "threads") != expected:
                    self.fail("n = %d, without own, does not complete in %d bytes, or with another result" % (n, heap))
            if least > 64 and not self.has_branches and self.run(n, least - 64, "serial"):
                self.fail("completes without own in %d bytes" % (least - 64))
            self.binary = self.binary[:-3]

    def check(self):
        code, said = call([self.ptoc, "build", "-w", "-O0", "--plan=ring", self.source, "-o", self.binary])
        if code != 0:
            self.fail(said)
        code, said = call([self.ptoc, "build", "-w", "--plan=ring", "--emit=bounds", self.source, "-o", "-"])
        need = bounds_of_entries(said)["main"].need
        values = (0, 1) if self.has_branches else (0,)
        for n in values:
            expected = self.run(n, "16M", "serial")
            for engine in ENGINES:
                if self.run(n, max(need, 64), engine) != expected:
                    self.fail("n = %d, --engine %s, does not complete in %d bytes, or with another result" % (n, engine, need))
        self.check_without_own(need)
        if need <= 64:
            return 0
        least = ["--heap", str(need - 64), "--plan=ring", "--rings", "1"]
        code, said = call([self.ptoc, "build", "-w", self.source, "-o", os.devnull, "--emit=c"] + least)
        if code == 0 and not self.has_branches:
            self.fail("no E14 in %d bytes" % (need - 64))
        if code != 0 and "E14" not in said:
            self.fail(said)
        if all(self.run(n, need - 64, "serial") for n in values) and not self.has_branches:
            self.fail("completes in %d bytes" % (need - 64))
        return 1


def main():
    ptoc, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    cases = [Case(ptoc, folder, seed) for seed in range(first, first + count)]
    checked = sum(case.check() for case in cases)
    moves = sum(case.text.count("own ") > 0 for case in cases)
    print("random moves: %d programs, need is the least heap in %d, %d move" % (count, checked, moves))


if __name__ == "__main__":
    main()
