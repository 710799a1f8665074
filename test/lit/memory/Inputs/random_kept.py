"""Random programs of one path, with vars that get other values in loops and blocks while second names keep what they had: with --plan=ring
`need` completes, with the result of a large heap; a granule less is E14, and does not complete.

usage: random_kept.py PTOC FOLDER FIRST_SEED COUNT
"""
import os
import random
import subprocess
import sys

import numpy as np

from bounds_text import bounds_of_entries

HEAD = """\
kernel make<N>(out y: u32[N], v: i64) on cpu { for (int64_t i = 0; i < N; i++) y[i] = (uint32_t)(v + 3 * i); }
kernel next<N, M>(in x: u32[M], out y: u32[N]) on cpu { for (int64_t i = 0; i < N; i++) y[i] = x[i % M] * 5 + 1; }
kernel both<N, M, K>(in a: u32[N], in b: u32[M], out y: u32[K]) on cpu { for (int64_t i = 0; i < K; i++) y[i] = a[i % N] + 7 * b[i % M]; }
kernel onto<N, M>(in x: u32[N], inout y: u32[M]) on cpu { for (int64_t i = 0; i < M; i++) y[i] = y[i] * 31 + x[i % N]; }
"""


class Gen:
    def __init__(self, rng):
        self.rng, self.count = rng, 0

    def fresh(self, letter):
        self.count += 1
        return "%s%d" % (letter, self.count)

    def block(self, sizes, kept, count, depth, tab):
        """sizes: what may be read, vars (v...) also written.  kept: vars that have a second name, of which each has one at most."""
        sizes, kept, out = dict(sizes), set(kept), []
        for _ in range(count):
            r, a, b = self.rng.random(), self.rng.choice(list(sizes)), self.rng.choice(list(sizes))
            v = self.rng.choice([s for s in sizes if s[0] == "v"])
            if r < 0.3:
                out.append("%s%s = next(%s);" % (tab, v, a) if self.rng.random() < 0.5 else "%s%s = both(%s, %s);" % (tab, v, a, b))
            elif r < 0.5 and v not in kept:
                t = self.fresh("t")
                out += ["%slet %s = %s;" % (tab, t, v), "%s%s = next(%s);" % (tab, v, a)]
                sizes[t] = sizes[v]
                kept.add(v)
            elif r < 0.6:
                c = self.fresh("c")
                sizes[c] = 16 * self.rng.randint(1, 4)
                out.append("%slet %s: u32[%d];  both(%s, %s, out %s);" % (tab, c, sizes[c], a, b, c))
            elif r < 0.8 and depth > 0:
                head = "{" if self.rng.random() < 0.4 else "for i%d in 0 .. %d {" % (depth, self.rng.randint(2, 3))
                out += [tab + head] + self.block(sizes, kept, self.rng.randint(1, 4), depth - 1, tab + "  ") + [tab + "}"]
            else:
                out.append("%sonto(%s, inout z);" % (tab, a))
        return out


def entry(seed):
    gen = Gen(random.Random(seed))
    sizes, lines = {}, []
    for _ in range(gen.rng.randint(1, 3)):
        v = gen.fresh("v")
        sizes[v] = 16 * gen.rng.randint(1, 4)
        lines.append("  var %s: u32[%d] = make(%d);" % (v, sizes[v], gen.rng.randint(0, 99)))
    lines += gen.block(sizes, (), gen.rng.randint(3, 9), 2, "  ") + ["  onto(%s, inout z);" % v for v in sizes]
    return "export orch m%d(inout z: u32[4]) {\n%s\n}\n" % (seed, "\n".join(lines))


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace")


def result(binary, name, heap, engine):
    z = binary + ".npy"
    code, said = call([binary, "--quiet", "--entry", name, "--engine", engine, "--rings", "1", "--heap", str(heap), "--input", "z=ones",
                       "--output", "z=" + z])
    return np.load(z).tobytes() if code == 0 else said


def main():
    ptoc, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    source, alone, binary = (os.path.join(folder, name) for name in ("kept.pto", "alone.pto", "kept"))
    entries = {"m%d" % seed: entry(seed) for seed in range(first, first + count)}
    text = HEAD + "".join(entries.values())
    with open(source, "w") as f:
        f.write(text)
    code, said = call([ptoc, "build", "-w", "-O0", "--plan=ring", source, "-o", binary])
    if code != 0:
        sys.exit(said)
    code, said = call([ptoc, "build", "-w", "--plan=ring", "--emit=bounds", source, "-o", "-"])
    need = {name: b.need for name, b in bounds_of_entries(said).items()}
    for name, part in entries.items():
        expected = result(binary, name, "16M", "serial")
        for engine in ("serial", "threads"):
            if result(binary, name, need[name], engine) != expected:
                sys.exit("%s, --engine %s, does not complete in %d bytes, or with another result\n%s" % (name, engine, need[name], part))
        with open(alone, "w") as f:
            f.write(HEAD + part)
        if need[name] > 64 and "E14" not in call([ptoc, "check", "-w", alone, "--heap", str(need[name] - 64), "--rings", "1"])[1]:
            sys.exit("%s: no E14 in %d bytes\n%s" % (name, need[name] - 64, part))
        if need[name] > 64 and result(binary, name, need[name] - 64, "serial") == expected:
            sys.exit("%s completes in %d bytes\n%s" % (name, need[name] - 64, part))
    print("random kept: %d programs, %d keep a value" % (count, sum("let t" in part for part in entries.values())))


if __name__ == "__main__":
    main()
