#!/usr/bin/python3
"""check_pages.py PTOC WIRE FOLDER - what --stats says of pages beside cells, and the advice where ranks share pages.

Idea       the pages that a rank touches are followed here: those of its cells, and those of the pieces that it receives.  --stats must name the
           same numbers.  Where a row of a cell is shorter than a page there is advice, with --stats or without, and what it advises ends it.  Where
           rows are long there is none, however many copies a rank has.
Exit code  0: yes.
"""
import os
import re
import resource
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, Check, follow, read, run  # pylint: disable=wrong-import-position

ROWS, COLS, TILE, W, FLOAT = 256, 4096, 64, 1024, 4
PAGE, BYTES = resource.getpagesize(), ROWS * COLS * FLOAT
TILES = [(i, j) for i in range(ROWS // TILE) for j in range(COLS // TILE)]
ADVICE = re.compile(r"^Advice: the pages of '(\w)' take (\d+) bytes on all ranks, and it has (\d+): a row of its cells has (\d+) bytes and a page (\d+), "
                    r"so ranks share pages: tiles with rows of a page or more, or --dist (\S+)$", re.M)

PROGRAM = """
const T = 64;
const W = 1024;
kernel add(in a: f32[T, T], in next: f32[T, T], out c: f32[T, T]) {
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) c[i * c_stride[0] + j] = a[i * a_stride[0] + j] + next[i * next_stride[0] + j];
}
kernel late(in a: f32[T, T], out c: f32[T, T]) {
    extern int usleep(unsigned us);
    usleep(100000);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) c[i * c_stride[0] + j] = a[i * a_stride[0] + j];
}
kernel look(in a: f32[T, T], inout s: f32[1]) { s[0] += a[0] + a[a_stride[0]]; }
export orch shift<m, n>(in A: f32[m, n], out C: f32[m, n]) {
    assert m % T == 0 && n % T == 0;
    view At = A tiled [T, T];
    view Ct = C tiled [T, T];
    for i in 0 .. m / T { for j in 0 .. n / T { add(At[i, j], At[i, min(j + 1, n / T - 1)], out Ct[i, j]); } }
}
export orch last<m, n>(in A: f32[m, n], out C: f32[m, n]) {
    assert m % T == 0 && n % T == 0;
    view At = A tiled [T, T];
    view Ct = C tiled [T, T];
    for i in 0 .. m / T { for j in 0 .. n / T { if (j < 4) { late(At[i, j], out Ct[i, j]); } } }
}
kernel copy(in a: f32[T, W], out c: f32[T, W]) {
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < W; j++) c[i * c_stride[0] + j] = a[i * a_stride[0] + j];
}
kernel find(in c: f32[T, W], inout s: f32[1]) { s[0] += c[0] + c[c_stride[0]]; }
export orch rows<m, n>(in A: f32[m, n], out C: f32[m, n], inout s: f32[2]) {
    assert m % T == 0 && n % W == 0;
    view At = A tiled [T, W];
    view Ct = C tiled [T, W];
    for i in 0 .. m / T { for j in 0 .. n / W { copy(At[i, j], out Ct[i, j]); } }
    for r in 0 .. 2 { for i in 0 .. m / T { for j in 0 .. n / W { @at(r) find(At[i, j], inout s[r +: 1]); @at(r) find(Ct[i, j], inout s[r +: 1]); } } }
}
export orch every<m, n>(in A: f32[m, n], inout s: f32[2]) {
    assert m % T == 0 && n % T == 0;
    view At = A tiled [T, T];
    for r in 0 .. 2 { for i in 0 .. m / T { for j in 0 .. n / T { @at(r) look(At[i, j], inout s[r +: 1]); } } }
}
"""


def pages(low, high):
    """Of a box of the array, whose first byte begins a page."""
    found = set()
    for row in range(low[0], high[0]):
        at = row * COLS * FLOAT
        found |= set(range((at + low[1] * FLOAT) // PAGE, (at + high[1] * FLOAT - 1) // PAGE + 1))
    return found


def pages_of(tiles):
    return set().union(*(pages((i * TILE, j * TILE), ((i + 1) * TILE, (j + 1) * TILE)) for i, j in tiles))


def huge():
    """Are pages given many at a time?  Then a rank has more of them."""
    try:
        return "[never]" not in read("/sys/kernel/mm/transparent_hugepage/shmem_enabled").decode() and \
               "[advise]" not in read("/sys/kernel/mm/transparent_hugepage/shmem_enabled").decode()
    except OSError:
        return False


class Pages(Check):
    def __init__(self, ptoc, wire, folder):
        super().__init__(ptoc, wire, folder, "pages", PROGRAM, TILE)
        numpy.save(self.path("wide"), numpy.random.default_rng(7).standard_normal((ROWS, COLS)).astype(numpy.float32))
        self.alone = {}
        for entry in ("shift", "last", "rows"):
            out, err = self.ran(entry, 1, [])
            self.expect("%s on one rank has statistics of pages, or advice" % entry, "Bytes of" not in out and "Advice" not in out + err and err == "", out, err)
            self.alone[entry] = read(self.path("out"))

    def ran(self, entry, ranks, options, source=None):
        """Output and errors; the result is the one of one rank."""
        output = self.path("out")
        if os.path.exists(output):
            os.remove(output)
        words = (["--input", "s=zeros"] if entry in ("every", "rows") else []) + (["--output", "C=" + output] if entry != "every" else [])
        launcher = [] if ranks == 1 else [sys.executable, RANKS, self.wire, str(ranks)]
        code, out, err = run(launcher + [self.program, "--entry", entry, "--input", "A=" + (source or self.path("wide"))] + words + options)
        self.expect("%s %s on %d ranks" % (entry, options, ranks), code == 0, code, out, err)
        if entry in self.alone and source is None and os.path.exists(output):
            self.expect("%s %s on %d ranks: other results" % (entry, options, ranks), read(output) == self.alone[entry])
        return out, err

    def line(self, name, numbers, out):
        """Of the ranks, as --stats shows them."""
        low, high = min(numbers), max(numbers)
        wanted = "%s: %d total, least %d (rank %d), mean %.1f, most %d (rank %d)\n" % (
            name, sum(numbers), low, numbers.index(low), sum(numbers) / len(numbers), high, numbers.index(high))
        self.expect("not this line: " + wanted, wanted in out, out)

    def lines(self, owned, touched, out):
        self.line("Bytes of cells", owned, out)
        if huge():
            return
        self.line("Bytes of pages touched for cells and copies", [PAGE * n for n in touched], out)

    def advised(self, names, out):
        """The advice is about these arrays; what it advises."""
        found = ADVICE.findall(out)
        self.expect("advice about '%s'" % names, "".join(f[0] for f in found) == names and out.count("so ranks share pages") == len(names), out)
        for f in found:
            self.expect("its numbers", huge() or f[1:5] == (str(2 * BYTES), str(BYTES), str(TILE * FLOAT), str(PAGE)), f)
        return [word for f in found for word in ("--dist", f[5])]

    def tiles(self):
        """Cells are the tiles, dealt to two ranks by columns: each page has cells of both."""
        out, err = self.ran("shift", 2, ["--stats"])
        half = BYTES // 2
        both = 2 * len(pages_of(TILES))  # of A and of C; what a rank receives lies in the same pages
        self.lines([2 * half, 2 * half], [both, both], out)
        self.expect("on standard error", err == "", err)
        longer = self.advised("AC", out)
        self.expect("longer rows", longer == ["--dist", "A=64x1024:1x2", "--dist", "C=64x1024:1x2"] or PAGE != 4096, longer)
        out, err = self.ran("shift", 2, [])
        self.expect("unasked", out == "" and self.advised("AC", err) == longer, out, err)
        self.as_advised(longer)
        self.as_advised(["--dist", "A=:2x1", "--dist", "C=:2x1"])

    def as_advised(self, longer):
        out, err = self.ran("shift", 2, longer)
        self.expect("advice behind advice", out == err == "", out, err)
        out, err = self.ran("shift", 2, ["--stats"] + longer)
        self.expect("advice behind advice", "so ranks share pages" not in out + err, out, err)
        cell = [COLS // 4, 2] if "1x2" in longer[1] else None
        home = (lambda i, j: j * TILE // cell[0] % 2) if cell else (lambda i, j: i * TILE // (ROWS // 2))
        touched = []
        for rank in range(2):
            mine = {(i, j) for i, j in TILES if home(i, j) == rank}
            right = {(i, min(j + 1, COLS // TILE - 1)) for i, j in mine}
            touched.append(len(pages_of(mine | right)) + len(pages_of(mine)))
        self.lines([BYTES, BYTES], touched, out)

    def other_rows(self):
        """Rows of the array that are too short for longer cells: bands.  Rows that begin anywhere in a page: cells of four pages."""
        for rows, cols, longer in ((1024, 1024, "512x1024:2x1"), (TILE, 257 * TILE, "64x4096:1x2")) if PAGE == 4096 else ():
            numpy.save(self.path("other"), numpy.ones((rows, cols), numpy.float32))
            err = self.ran("shift", 2, [], self.path("other"))[1]
            self.expect("advice about %d x %d" % (rows, cols), [f[5] for f in ADVICE.findall(err)] == ["A=" + longer, "C=" + longer], err)
            err = self.ran("shift", 2, ["--dist", "A=" + longer, "--dist", "C=" + longer], self.path("other"))[1]
            self.expect("advice behind advice about %d x %d" % (rows, cols), err == "" or huge(), err)

    def spared(self):
        """On four ranks each has 1 MiB more than its cells of A, and of C."""
        out, _ = self.ran("shift", 4, ["--stats"])
        self.expect("advice about 1 MiB", "so ranks share pages" not in out or huge(), out)
        self.line("Bytes of cells", [BYTES // 2] * 4, out)
        self.expect("advice about 1 MiB", self.ran("shift", 4, [])[1] == "" or huge())

    def joined(self):
        """Cells with short rows, whose neighbours are the same rank's, have long ones together: a rank that reads all has copies of all, for which no row is
        a remedy."""
        for dist, advice in (("A=64x64:2x1", ""), ("A=:2x1", ""), ("A=64x64:1x2", "A")):
            out, _ = self.ran("every", 2, ["--stats", "--dist", dist])
            self.lines([BYTES // 2] * 2, [len(pages_of(TILES))] * 2, out)
            self.advised(advice, out)

    def given_back(self):
        """Copies of an input and of an output, whose rows fill pages: those that are forgotten have no memory."""
        for copies, factor in (("0", 1), ("32M", 2)):
            out, err = self.ran("rows", 2, ["--stats", "--copies", copies])
            self.expect("copies forgotten", ("Bytes of copies forgotten: 0 total" in out) == (copies != "0"), out)
            self.expect("advice where rows fill pages", "share pages" not in out + err, out, err)
            self.line("Bytes of cells", [BYTES] * 2, out)
            if W * FLOAT % PAGE == 0 and not huge():
                self.line("Bytes of pages touched for cells and copies", [factor * BYTES] * 2, out)

    def not_reserved(self):
        """Made data is there as a whole before the run, and so is what --everywhere says."""
        out, err = self.ran("shift", 2, ["--stats", "--dim", "m=%d" % ROWS, "--dim", "n=%d" % COLS], "random")
        self.line("Bytes of cells", [BYTES // 2] * 2, out)
        self.advised("C", out + err)
        for options in (["--everywhere", "16M"], ["--check"]):
            out, err = self.ran("shift", 2, ["--stats"] + options)
            self.expect("pages with %s" % options, "Bytes of cells" not in out and "share pages" not in out + err, out, err)

    def collected(self):
        """Rank 0 gets the results, which touches all, after it has counted; and it counts when its tasks have ended."""
        mine = [{(i, j) for i, j in TILES if i * TILE // (ROWS // 2) == rank} for rank in range(2)]
        written = [{(i, j) for i, j in tiles if j < 4} for tiles in mine]
        halves = ["--dist", "A=:2x1", "--dist", "C=:2x1"]
        for words in (["--output", "C=" + self.path("out")], ["--output", "C=" + os.path.join(self.folder, "out.npz")]):
            for engine in ("threads", "serial"):
                code, out, err = run([sys.executable, RANKS, self.wire, "2", self.program, "--entry", "last", "--input", "A=" + self.path("wide"), "--stats",
                                      "--engine", engine] + words + halves)
                self.expect("last %s" % words, code == 0 and ("Messages for the results: 0 total" in out) == ("npz" not in words[1]), code, out, err)
                self.lines([BYTES] * 2, [len(pages_of(mine[rank])) + len(pages_of(written[rank])) for rank in range(2)], out)


if __name__ == "__main__":
    follow(Pages, Pages.tiles, Pages.other_rows, Pages.spared, Pages.joined, Pages.given_back, Pages.not_reserved, Pages.collected)
