#!/usr/bin/python3
"""check_chains.py PTOC WIRE FOLDER - buffers that tasks make of each other are made where the last of them is read.

Idea       tile (i, j) of C gets what a chain of tasks makes of tile (j, i) of A, so nothing but tiles of A travels, once to each rank that needs them.
           Their messages and bytes are counted here, from the program alone, and are those of plans and of runs: however the lifetimes of the buffers
           end, by the compiler, by `drop` or with the scope of a function that returns the last one.  A heap that has room for the buffers of one
           chain is enough; the tasks are then placed earlier.
Exit code  0: yes.
"""
import os
import re
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, Check, follow, run  # pylint: disable=wrong-import-position

TILES, TILE = 8, 4
SIDE = TILES * TILE
COUNTS = re.compile(r"^(?:Messages|Bytes sent): (\d+) total", re.M)
LOOP = "for (int64_t i = 0; i < M; i++) for (int64_t j = 0; j < N; j++)"
KERNELS = """
kernel first<M, N>(in a: u32[M, N], out p: u32[M, N]) on vector { LOOP p[i*p_stride[0]+j] = a[i*a_stride[0]+j] * 3u; }
kernel next<M, N>(in p: u32[M, N], in b: u32[M, N], out q: u32[M, N]) on vector {
    LOOP q[i*q_stride[0]+j] = p[i*p_stride[0]+j] * 5u + b[i*b_stride[0]+j];
}
kernel add_to<M, N>(in p: u32[M, N], inout c: u32[M, N]) on vector { LOOP c[i*c_stride[0]+j] += p[i*p_stride[0]+j]; }
""".replace("LOOP", LOOP)


def links(length, form):
    a, b = ("a", "b") if form == "returned" else ("At[j, i]", "Bt[i, j]")
    text = "    let p0 = first(%s);\n" % a
    for k in range(1, length):
        text += "    let p%d = next(p%d, %s);%s\n" % (k, k - 1, b, " drop p%d;" % (k - 1) if form == "dropped" else "")
    return text


def entry(length, form):
    name, text = "%s%d" % (form, length), ""
    chain = links(length, form) + "    add_to(p%d, inout Ct[i, j]);\n" % (length - 1)
    if form == "returned":
        text = "orch chain%d(in a: u32[%d, %d], in b: u32[%d, %d]) -> u32[%d, %d] {\n" % ((length,) + 6 * (TILE,))
        text += links(length, form) + "    return p%d;\n}\n" % (length - 1)
        chain = "    let q = chain%d(At[j, i], Bt[i, j]);\n    add_to(q, inout Ct[i, j]);\n" % length
    views = "".join("  view %st = %s tiled [%d, %d];\n" % (x, x, TILE, TILE) for x in "ABC")
    return "%sexport orch %s<N>(in A: u32[N, N], in B: u32[N, N], inout C: u32[N, N]) {\n%s  for i in 0 .. N / %d { for j in 0 .. N / %d {\n%s  } }\n}\n" % (
        text, name, views, TILE, TILE, chain)


LENGTHS, FORMS = (2, 3, 5), ("early", "dropped", "returned")
PROGRAM = KERNELS + "".join(entry(length, form) for length in LENGTHS for form in FORMS)


def counted(ranks):
    """Messages and bytes of any of them: tile (i, j) of A is needed where tile (j, i) of C lives."""
    rows = max(r for r in range(1, ranks + 1) if ranks % r == 0 and r * r <= ranks)
    home = {(i, j): (i % rows) * (ranks // rows) + j % (ranks // rows) for i in range(TILES) for j in range(TILES)}
    messages = sum(home[i, j] != home[j, i] for i, j in home)
    return [str(messages), str(messages * TILE * TILE * 4)]


class Chains(Check):
    def __init__(self, ptoc, wire, folder):
        super().__init__(ptoc, wire, folder, "chains", PROGRAM, SIDE)
        random = numpy.random.default_rng(7)
        for array in "ABC":
            numpy.save(self.path(array), random.integers(0, 1 << 32, (SIDE, SIDE), numpy.uint32))

    def options(self, length, form, *more):
        return ["--entry", "%s%d" % (form, length), "--everywhere", "0", "--stats"] + list(more)

    def plans(self):
        for ranks in (2, 3, 4, 7):
            for length in LENGTHS:
                for form in FORMS:
                    for engine in (["graph"], ["timing", "--skip-kernels"]):
                        done = run([self.program, "--ranks", str(ranks), "--dim", "N=%d" % SIDE, "--engine"] + engine + self.options(length, form))
                        self.expect("%s %d planned for %d ranks" % (form, length, ranks),
                                    done[0] == 0 and COUNTS.findall(done[1]) == counted(ranks), counted(ranks), *done)

    def result(self, length):
        a, b, c = (numpy.load(self.path(x)) for x in "ABC")
        swapped = numpy.empty_like(a)
        for i in range(TILES):
            for j in range(TILES):
                at = lambda r, s: (slice(r * TILE, (r + 1) * TILE), slice(s * TILE, (s + 1) * TILE))
                swapped[at(i, j)] = a[at(j, i)]
        made = swapped * numpy.uint32(3)
        for _ in range(1, length):
            made = made * numpy.uint32(5) + b
        return c + made

    def real(self, ranks, length, form, *more):
        out = os.path.join(self.folder, "out.npy")
        inputs = [word for x in "ABC" for word in ("--input", "%s=%s" % (x, self.path(x)))]
        done = run([sys.executable, RANKS, self.wire, str(ranks), self.program, "--output", "C=%s" % out] + inputs + self.options(length, form, *more))
        self.expect("%s %d on %d ranks %s" % (form, length, ranks, more), done[0] == 0 and (numpy.load(out) == self.result(length)).all(), *done)
        return COUNTS.findall(done[1])

    def runs(self):
        for ranks, length, form in zip((2, 3, 4, 7, 2, 3), LENGTHS + LENGTHS, FORMS + FORMS):
            found = self.real(ranks, length, form)
            self.expect("messages of %s %d on %d ranks" % (form, length, ranks), found == counted(ranks), counted(ranks), found)

    def small_heaps(self):
        """Two tiles live at once, and the result of a function beside them."""
        for form in FORMS:
            self.real(3, 5, form, "--heap", str((2 if form == "dropped" else 5) * TILE * TILE * 4))


if __name__ == "__main__":
    follow(Chains, Chains.plans, Chains.runs, Chains.small_heaps)
