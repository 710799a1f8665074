#!/usr/bin/python3
"""check_options.py PTOC WIRE FOLDER mpi|none - the options of ranks, and how many messages and bytes programs need.

Idea       a product and a stencil are followed here, task by task, with nothing but the definition of homes and copies: which piece a rank lacks
           is one message.  `--stats` must name the same numbers.  With each option the results are those of one process, byte for byte; what is
           wrong is refused with its exit code.
Exit code  0: yes.
"""
import os
import re
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, Check, follow, read, run  # pylint: disable=wrong-import-position

TILE, SIDE, SWEEPS = 64, 512, 3
TILES, BYTES = SIDE // TILE, TILE * TILE * 4

PROGRAM = """
const T = 64;
const W = 16384;
kernel product(in a: f32[T, T], in b: f32[T, T], inout c: f32[T, T]) {
    for (int64_t i = 0; i < T; i++)
        for (int64_t k = 0; k < T; k++)
            for (int64_t j = 0; j < T; j++) c[i * c_stride[0] + j] += a[i * a_stride[0] + k] * b[k * b_stride[0] + j];
}
kernel mean(in left: f32[T, T], in here: f32[T, T], in right: f32[T, T], out to: f32[T, T]) {
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++)
            to[i * to_stride[0] + j] = (left[i * left_stride[0] + T - 1] + here[i * here_stride[0] + j] + right[i * right_stride[0]]) / 3;
}
kernel one(in x: f32[4], out y: f32[4], i: i64, fails: i64, hangs: i64, dies: i64, stops: i64) {
    extern int getpid(void), kill(int pid, int number), usleep(unsigned us), access(const char *path, int mode), creat(const char *path, unsigned mode);
    extern char *getenv(const char *name);
    volatile int64_t is_stuck = i == hangs;
    if (i == dies) kill(getpid(), 9);
    if (i == stops) kill(getpid(), 2);
    if (is_stuck) creat(getenv("STUCK"), 384);
    while (is_stuck) usleep(1000);
    for (int k = 0; i == fails && hangs >= 0 && k < 20000 && access(getenv("STUCK"), 0) != 0; k++) usleep(1000);
    y[0] = x[0];
    return i == fails ? 7 : 0;
}
kernel look(in a: f32[1, W], inout s: f32[1]) { for (int64_t i = 0; i < W; i++) s[0] += a[i]; }
export orch scan<n>(in A: f32[n, W], inout s: f32[1]) { for i in 0 .. n { @at(0) look(A[i +: 1, :], inout s); } }
kernel add(in a: f32[2, W], inout b: f32[1, W]) { for (int64_t i = 0; i < W; i++) b[i] += a[i] - a[W + i] * 0.5f; }
export orch again<n>(inout A: f32[n, W]) { for r in 0 .. 3 { for i in 2 .. n { @at(i / 2 + r) add(A[i - 2 +: 2, :], inout A[i +: 1, :]); } } }
export orch steps(in x: f32[8, 4], out y: f32[8, 4], fails: i64, hangs: i64, dies: i64, stops: i64) {
    @dist(8, 1) view rows = y tiled [1, 4];
    for i in 0 .. 8 { y[i] = one(x[i], i, fails, hangs, dies, stops); }
}
kernel slow(inout y: f32[4]) { extern int usleep(unsigned us); usleep(20000); y[0] += 1; }
export orch late(inout x: f32[8, 4], n: i64) {
    for i in 0 .. 8 { @at(0) slow(inout x[i]); }
    print n;
    slow(inout x[n]);
}
kernel works(in a: f32[4], inout b: f32[4]) { extern int usleep(unsigned us); usleep(20000); b[0] += a[0]; }
kernel takes(in a: f32[4], inout b: f32[4]) { b[0] += a[0]; }
export orch alternate(inout x: f32[2, 4], n: i64) { for i in 0 .. n { works(x[0], inout x[1]); takes(x[1], inout x[0]); } }
export orch both(inout x: f32[6, 4], n: i64) { for i in 0 .. n { works(x[0], inout x[1]); works(x[4], inout x[2]); takes(x[1], inout x[0]); } }
kernel next<N>(in x: f32[N], out y: f32[N]) { y[0] = x[0] + 1; }
export orch held<N>(in x: f32[N], out y: f32[N]) { let first = next(x); let second = next(first); next(second, out y); next(first, out y); }
export orch multiply<n>(in A: f32[n, n], in B: f32[n, n], inout C: f32[n, n]) {
    assert n % T == 0;
    view At = A tiled [T, T];
    view Bt = B tiled [T, T];
    view Ct = C tiled [T, T];
    for i in 0 .. n / T { for j in 0 .. n / T { for k in 0 .. n / T { product(At[i, k], Bt[k, j], inout Ct[i, j]); } } }
}
export orch stencil<n>(inout C: f32[n, n], inout D: f32[n, n], sweeps: i64) {
    assert n % T == 0;
    view Ct = C tiled [T, T];
    view Dt = D tiled [T, T];
    for s in 0 .. sweeps {
        for i in 0 .. n / T { for j in 0 .. n / T { mean(Ct[i, max(j - 1, 0)], Ct[i, j], Ct[i, min(j + 1, n / T - 1)], out Dt[i, j]); } }
        for i in 0 .. n / T { for j in 0 .. n / T { mean(Dt[i, j], Dt[i, j], Dt[i, j], out Ct[i, j]); } }
    }
}
"""


def grid(ranks):
    rows = max(p for p in range(1, ranks + 1) if ranks % p == 0 and p * p <= ranks)
    return rows, ranks // rows


def messages(tasks, home):
    """Each task: the pieces that it reads, and the one that it writes.  All first bytes lie at the homes."""
    copies, count = set(), 0
    for reads, written in tasks:
        rank = home(written)
        for piece in reads:
            if home(piece) != rank and (piece, rank) not in copies:
                copies.add((piece, rank))
                count += 1
        copies = {(piece, holder) for piece, holder in copies if piece != written}
    return count


def product_tasks():
    n = range(TILES)
    return [([("A", i, k), ("B", k, j), ("C", i, j)], ("C", i, j)) for i in n for j in n for k in n]


def stencil_tasks():
    tasks, n = [], range(TILES)
    for _ in range(SWEEPS):
        tasks += [([("C", i, max(j - 1, 0)), ("C", i, j), ("C", i, min(j + 1, TILES - 1))], ("D", i, j)) for i in n for j in n]
        tasks += [([("D", i, j)], ("C", i, j)) for i in n for j in n]
    return tasks


class Options(Check):
    def __init__(self, ptoc, wire, folder):
        super().__init__(ptoc, wire, folder, "options", PROGRAM, SIDE, "-O2")  # it multiplies matrices some fifty times
        self.has_mpi = sys.argv[4] == "mpi"
        self.outputs = {entry: self.results(entry, [], 1) for entry in ("multiply", "stencil")}

    def launcher(self, ranks):
        return [] if ranks == 1 else [sys.executable, RANKS, self.wire, str(ranks)]

    def command(self, entry, options):
        arrays = "ABC" if entry == "multiply" else "CD"
        inputs = [word for name in arrays for word in ("--input", "%s=%s" % (name, self.path(name)))]
        return [self.program, "--entry", entry] + inputs + ([] if entry == "multiply" else ["--set", "sweeps=%d" % SWEEPS]) + options

    def results(self, entry, options, ranks):
        self.stats = ""
        output = self.path("out")
        if os.path.exists(output):
            os.remove(output)
        code, out, err = run(self.launcher(ranks) + self.command(entry, options + ["--output", "C=" + output]))
        self.expect("%s %s on %d ranks" % (entry, options, ranks), code == 0 and os.path.exists(output), code, out, err)
        self.stats = out
        return read(output) if os.path.exists(output) else None

    def same(self, entry, options, ranks):
        self.expect("%s %s on %d ranks: other results" % (entry, options, ranks), self.results(entry, options, ranks) == self.outputs[entry])

    def counted(self, entry, options, ranks, tasks, home):
        wanted = messages(tasks, home)
        self.same(entry, options + ["--stats"], ranks)
        numbers = [int(n) for n in re.findall(r"^(?:Messages|Bytes sent): (\d+) total", self.stats, re.M)]
        self.expect("%s %s on %d ranks: messages, bytes" % (entry, options, ranks), numbers == [wanted, wanted * BYTES], numbers, wanted)
        return wanted

    def spread(self):
        """Three bands of one grid row: rank 0 has twice the tiles of the others' together, and --stats names it."""
        self.same("multiply", ["--stats", "--dist", "C=64x64:4x1"], 3)
        tasks = re.search(r"^Tasks of ranks: 512 total, least (\d+) \(rank (\d)\), mean 170.7, most (\d+) \(rank (\d)\)$", self.stats, re.M)
        self.expect("tasks of ranks", tasks and tasks.groups() == ("128", "1", "256", "0"), self.stats)
        self.expect("time in kernels", re.search(r"^Microseconds in kernels: [1-9]", self.stats, re.M) and
                    re.search(r"^Imbalance of kernels: [12]\.\d\d \(", self.stats, re.M), self.stats)
        self.expect("no advice", "Advice: there are more messages" not in self.stats and "more --copies" not in self.stats, self.stats)
        self.same("multiply", ["--stats", "--copies", "0", "--dist", "B=32x32:2x2"], 2)
        self.expect("advice", "Advice: there are more messages than tasks" in self.stats and "more --copies" in self.stats, self.stats)

    def spread_of(self, line, out):
        """Of a line of two ranks: that of each."""
        found = re.search(r"^" + line + r": (?:\d+ total, )?least (\d+) \(rank (\d)\), mean [\d.]+, most (\d+) \(rank (\d)\)$", out, re.M)
        self.expect("no line " + line, found, out)
        if not found or (found[2] == found[4] and found[1] != found[3]):
            return {0: 0, 1: 0}
        return {0: int(found[1]), 1: int(found[1])} | {int(found[2]): int(found[1]), int(found[4]): int(found[3])} # alike: one is both

    def counted_of(self, entry, count, options):
        code, out, err = run(self.launcher(2) + [self.program, "--entry", entry, "--input", "x=iota", "--set", "n=%d" % count, "--stats"] + options)
        self.expect("%s %s" % (entry, options), code == 0, code, out, err)
        return out

    def waits(self):
        """Rank 0 waits for each task of rank 1, some 20 ms; that is neither the time of a kernel nor of rank 1.  A worker that runs a kernel does not wait."""
        count = 40
        for engine in ("threads", "serial"):
            out = self.counted_of("alternate", count, ["--engine", engine])
            waited = self.spread_of(r"  for [34]\d of 'takes'", out)[0]
            kernels, run_us = self.spread_of("Microseconds in kernels", out), self.spread_of("Microseconds of the run", out)
            self.expect("waits of %s" % engine, count * 10000 <= waited <= run_us[0] and kernels[1] >= count * 19000 and kernels[0] < kernels[1], out)
            self.expect("all waits of %s" % engine, self.spread_of("Microseconds that workers waited for transfers", out)[0] >= waited, out)
            for advice in ("workers have waited for transfers, most for 'takes' on rank 0: @at", "rank 1 has most of the work", "a message has 16 bytes on average"):
                self.expect("advice of %s: %s" % (engine, advice), out.count("Advice: " + advice) == 1, out)
        for few, advised in ((15, 0), (16, 1)):  # from 16 tasks a rank on, times say something
            out = self.counted_of("alternate", few, [])
            found = out.count("Advice: rank 1 has most of the work")
            self.expect("advice of %d tasks" % (2 * few), found == advised, out)
        out = self.counted_of("both", count, ["--workers", "vector=1"])
        waited, kernels = self.spread_of("Microseconds that workers waited for transfers", out), self.spread_of("Microseconds in kernels", out)
        run_us = self.spread_of("Microseconds of the run", out)
        self.expect("more than the time of one worker", kernels[0] >= count * 20000 and kernels[0] + waited[0] <= run_us[0], out)

    def lines(self):
        """What --stats says of one process, least, mean and most over the ranks."""
        self.same("multiply", ["--stats", "--window", "4"], 3)
        for line in (r"In use at most, task ring: least 4 \(rank 0\), mean 4\.0, most 4 \(rank 0\)", r"Stalls of the task ring: [1-9]\d* total, least",
                     r"Microseconds stalled: [1-9]\d* total, least", r"Dependence edges on tasks still to complete: \d+ total, least",
                     r"Microseconds of the run: least [1-9]\d* \(rank \d\), mean [\d.]+, most"):
            self.expect("no line " + line, len(re.findall("^" + line, self.stats, re.M)) == 1, self.stats)
        self.expect("a line of nothing", "Stalls of the heap ring" not in self.stats, self.stats)
        self.same("multiply", ["--stats"], 2)  # each of 32 tiles of A is needed for 4 tiles of C, and sent once
        self.expect("a saved piece counts once, where it is needed", self.spread_of("Pieces that a copy has saved", self.stats) == {0: 96, 1: 96}, self.stats)
        square = "a grid of 2x2 needs fewer messages: --dist A=:2x2, @dist(2, 2)"
        self.same("multiply", ["--stats", "--copies", "0", "--dist", "A=64x64:4x1"], 4)
        self.expect("no advice for a grid", square in self.stats, self.stats)
        self.same("multiply", ["--stats", "--copies", "0"], 4)
        self.expect("advice for a square grid", "needs fewer messages" not in self.stats, self.stats)

    def refused(self, options, text, ranks=1, code=2):
        result = run(self.launcher(ranks) + self.command("multiply", options))
        self.expect("%s on %d ranks" % (options, ranks), result[0] == code and text in result[2] and result[2].count("error") == 1, *result)

    def other_wire(self):
        """PTO_WIRE names a wire that joins fewer processes than the launcher has started."""
        for launcher in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
            for options in ([], ["--ranks", "2"]):
                output = self.path("unjoined")
                code, out, err = run(self.launcher(2) + self.command("multiply", options + ["--output", "C=" + output]), **{launcher: "3"})
                self.expect("another wire, %s" % launcher, code == 2 and err.count("has started 3 processes, and MPI knows 2: they belong to different MPIs") == 2
                            and not os.path.exists(output), code, out, err)

    def counts(self):
        for ranks in (2, 3, 4):
            rows, cols = grid(ranks)
            cyclic = lambda piece, rows=rows, cols=cols: piece[1] % rows * cols + piece[2] % cols
            count = self.counted("multiply", [], ranks, product_tasks(), cyclic)
            self.expect("the formula", count == TILES * TILES * (rows + cols - 2), count)
        blocks = lambda piece: piece[2] // (TILES // 2)
        halves = ["--dist", "C=%dx%d:1x2" % (SIDE, SIDE // 2), "--dist", "D=:1x2"]
        count = self.counted("stencil", halves, 2, stencil_tasks(), blocks)
        self.expect("16 a sweep", count == 16 * SWEEPS, count)

    def options(self):
        for ranks, options in ((3, ["--copies", "0", "--window", "2"]), (3, ["--sends", "1", "--window", "2"]), (2, ["--everywhere", "16M"]),
                               (7, ["--dist", "A=100x30:3x2", "--dist", "C=:2x3"]), (2, ["--ranks", "2", "--copies", "20K"]),
                               (3, ["--engine", "serial", "--dist", "B=7x512:5x1"])):
            self.same("multiply", options, ranks)
        self.same("stencil", ["--dist", "C=100x70:2x2", "--window", "4"], 4)
        self.same("stencil", ["--dist", "C=100x70:2x2"], 1)

    def in_place(self):
        """Each rank writes its cells; where a rank does not see the file, or rank 0 needs the result, rank 0 has all of it."""
        output, link = self.path("out"), os.path.join(self.folder, "linked", "out.npy")
        os.makedirs(os.path.dirname(link), exist_ok=True)
        for words, messages in ((["--output", "C=" + output], 0), (["--output", "C=" + link], 1), (["--output", "C=" + output, "--check"], 1),
                                (["--output", "C=" + os.path.join(self.folder, "out.npz")], 1), (["--quiet"], 0), ([], 1)):
            for made in (output, link):
                if os.path.lexists(made):
                    os.remove(made)
            os.symlink(os.path.join("..", os.path.basename(output)), link)
            code, out, err = run(self.launcher(3) + self.command("multiply", words + ["--stats"]))
            found = re.findall(r"^Messages for the results: (\d+) total", out, re.M)
            self.expect("in place: %s" % words, code == 0 and len(found) == 1 and min(int(found[0]), 1) == messages, code, out, err)
            if os.path.exists(output):
                self.expect("in place: %s: other results" % words, read(output) == self.outputs["multiply"])
            self.expect("in place: a file is left", not [f for f in os.listdir(self.folder) if ".pto-" in f])

    def refusals(self):
        self.refused(["--ranks", "4"], "--ranks 4, but this is one process: start it with 'mpirun -np 4', or give --ranks to 'ptoc run'")
        self.refused(["--ranks", "3"], "--ranks 3, but the launcher has started 2", ranks=2)
        self.refused(["--ranks", "0"], "--ranks must be at least 1")
        self.refused(["--sends", "0"], "--sends must be at least 1")
        self.refused(["--dist", "Z=:1x2"], "--dist: there is no array 'Z'")
        for wrong, what in (("64x64:0x2", "ranks"), (":2x0", "ranks"), ("0x0:0x0", "ranks"), ("64x0:1x2", "elements of a cell")):
            self.refused(["--dist", "A=" + wrong], "--dist A=%s: 0 is no number of %s: at least 1 is expected" % (wrong, what))
        for wrong in (":2", "64:2x2", "0:0x0", "64x64", "x64:1x2", "64x:1x2", "64x64:2x2x", ":99999999999999999999x1", "64x64:2y2"):
            self.refused(["--dist", "A=" + wrong], "--dist A=%s: 'A' has 2 dimensions" % wrong)
        self.refused(["--dist", "A=:4294967296x4294967296"], "the grid is too large")
        numpy.save(self.path("short"), numpy.zeros((SIDE, SIDE), numpy.float32))
        with open(self.path("short"), "r+b") as f:
            f.truncate(SIDE * SIDE)
        self.refused(["--input", "C=" + self.path("short")], "twice")

    def other(self, entry, words, before, after, code, text):
        """The last of three ranks has `after` where the others have `before`: none runs."""
        output = self.path("other")
        result = run(self.launcher(3) + [self.program, "--entry", entry, "--output"] + [words[0] % output] + words[1:], PTO_LOCAL_LAST=before + ">" + after)
        self.expect("%s: %s and %s" % (entry, before, after),
                    result[0] == code and text in result[2] and result[2].count("error") == 1 and not os.path.exists(output), *result)

    def unlike(self):
        rows, fewer, first = self.path("rows"), self.path("fewer"), ["y=%s", "--input", "x=" + self.path("small")]
        steps = first + [word for name in ("fails", "hangs", "dies", "stops") for word in ("--set", name + "=-1")]
        numpy.save(fewer, numpy.zeros((38, 16384), numpy.float32))
        numpy.save(self.path("small"), numpy.zeros((8, 4), numpy.float32))
        self.other("steps", steps, "dies=-1", "dies=-2", 2, "ranks 0 and 2 differ in the scalar 'dies': -1 and -2: start all ranks alike")
        self.other("late", ["x=%s", "--input", "x=zeros", "--set", "n=1"], "late", "both", 2, "ranks 0 and 2 differ in the entry 'late': start all ranks alike")
        self.other("steps", steps + ["--copies", "1M"], "1M", "2M", 2, "ranks 0 and 2 differ in the option '--copies': 1048576 and 2097152")
        self.other("steps", steps + ["--heap=64M"], "--heap=64M", "--quiet", 2, "ranks 0 and 2 differ in the option '--heap': 67108864 and default: start")
        self.other("steps", steps + ["--quiet"], "--quiet", "--help", 2, "--help is given to some of the ranks, and not to all")
        code, out, err = run(self.launcher(3) + [self.program, "--help"])
        self.expect("help of all", code == 0 and out.count("usage: ") == 1 and err == "", code, out, err)
        self.other("again", ["A=%s", "--input", "A=" + rows, "--dist", "A=:3x1"], "A=:3x1", "A=:1x3", 2, "ranks 0 and 2 differ in --dist of 'A'")
        self.other("again", ["A=%s", "--input", "A=" + rows], "A=" + rows, "A=" + fewer, 4, "fewer.npy is f32[38, 16384], and f32[40, 16384] on rank 0 (on rank 2, ")
        self.other("steps", steps, "x=" + self.path("small"), "x=zeros", 2, "ranks 0 and 2 differ in the inputs of 'steps'")
        made = ["y=%s", "--input", "x=random:1"] + steps[3:]
        self.other("steps", made, "x=random:1", "x=random:2", 2, "ranks 0 and 2 differ in the seed of 'x': 1 and 2: start all ranks alike")
        self.other("steps", made, "x=random:1", "x=random", 2, "ranks 0 and 2 differ in the seed of 'x': 1 and 0")
        lost = self.path("lost")
        for option, path in (("--output", lost), ("--expect", self.path("small"))):
            word = "%s=y=%s" % (option, path)
            for first, last, text in (("--quiet", word, "0 and 1"), (word, "--quiet", "1 and 0")):
                result = run(self.launcher(3) + [self.program, "--entry", "steps"] + made[1:] + [first], PTO_LOCAL_LAST=first + ">" + last)
                self.expect("%s, and %s on rank 2" % (first, last), result[0] == 2 and "ranks 0 and 2 differ in %s of 'y': %s" % (option, text) in result[2]
                            and not os.path.exists(lost), *result)
        self.other("steps", steps + ["--rings=2"], "--rings=2", "--quiet", 2, "ranks 0 and 2 differ in the option '--rings': 2 and default: start")
        self.other("steps", steps + ["--cpu=base"], "--cpu=base", "--quiet", 2, "ranks 0 and 2 differ in the option '--cpu': start")
        with open(self.path("small"), "rb") as whole, open(self.path("half"), "wb") as half:
            half.write(whole.read()[:-4])
        self.other("steps", steps, "x=" + self.path("small"), "x=" + self.path("half"), 4, "(on rank 2, ")

    def stops(self, launcher, code, *texts, options=(), **steps):
        """A rank fails, hangs or dies: all end, and the first says why."""
        values = [word for name in ("fails", "hangs", "dies", "stops") for word in ("--set", "%s=%d" % (name, steps.get(name, -1)))]
        output = self.path("stopped")
        command = launcher + [self.program, "--entry", "steps", "--input", "x=iota", "--grace", "1", "--output", "y=" + output] + values + list(options)
        for _ in range(3):  # mpirun of Open MPI 4.1 may crash in its own end, when all ranks have ended
            if os.path.exists(self.path("stuck")):
                os.remove(self.path("stuck"))
            result = run(command, STUCK=self.path("stuck"))
            if "PMIx_server_finalize" not in result[2]:
                break
        # Nobody ends the ranks of the wire for tests when the first has ended, so the others report the failure as well.
        later = result[2].count("rank 0 does not end either") if RANKS in launcher else 0
        self.expect("%s: exit code %d, %s" % (steps, code, texts),
                    result[0] == code and all(1 <= result[2].count(t) <= 1 + later for t in texts) and not os.path.exists(output), *result)
        return result[2]

    def failures(self):
        failed, stuck = "kernel 'one' failed: it returned 7", "these kernels of rank %d have not returned:\n  kernel 'one'"
        launchers = [self.launcher(3)]
        if self.has_mpi:
            launchers.append(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3"])
        for launcher in launchers:
            self.stops(launcher, 1, failed, fails=5)
            self.stops(launcher, 1, failed, stuck % 1, "a rank does not end, so the job ends without results", fails=5, hangs=4)
            err = self.stops(launcher, 1, failed, stuck % 0, fails=5, hangs=3)
            self.expect("the failure comes first", 0 <= err.find(failed) < err.find(stuck % 0), err)
            self.stops(launcher, 130, "error: the run was cancelled", stops=4)
            self.stops(launcher, 1, "no task finished for 4 s while these ran", " (on rank 1, ", "  rank 0: the program has come to its end, and waits for all ranks",
                       "  rank 1: kernel 'one' (task 4, ", options=["--watchdog", "4"], hangs=4)
        for number in range(8):
            self.stops(launchers[0], 1, failed, "(task", fails=number)
        if self.has_mpi:
            for number in (1, 4, 7):  # each rank
                self.stops(launchers[1], 137, dies=number)
            self.other_launcher()
        for launcher in launchers:
            self.first_fails(launcher)
            self.fails_late(launcher)
            self.full_heap(launcher)

    def first_fails(self, launcher):
        """Rank 0 alone ends with an error, behind a run without one; the others do not wait for it, nor it for them."""
        numpy.save(self.path("wrong"), numpy.full((8, 4), 9, numpy.float32))
        steps = [word for name in ("fails", "hangs", "dies", "stops") for word in ("--set", name + "=-1")]
        result = run(launcher + [self.program, "--entry", "steps", "--input", "x=iota", "--expect", "y=" + self.path("wrong")] + steps)
        self.expect("--expect fails", result[0] == 1 and "wrong.npy has 9" in result[2], *result)

    def full_heap(self, launcher):
        """The tensor that fills the heap has its name on the rank that executes its producer, and on all others."""
        command = [self.program, "--entry", "held", "--input", "x=iota", "--dim", "N=16", "--heap", "64", "--rings", "1"]
        for words in (command, launcher + command):
            code, out, err = run(words)
            self.expect("a full heap", code == 1 and "the largest 'first' with 64 bytes" in err, code, out, err)

    def fails_late(self, launcher):
        """A check that fails on all ranks is nobody's own, and what stands before it is printed, also where rank 0 comes to it last."""
        result = run(launcher + [self.program, "--entry", "late", "--input", "x=iota", "--set", "n=9", "--window", "2", "--defer"])
        self.expect("a check behind a print", result[0] == 1 and result[1] == "9\n" and "index 9 is out of bounds" in result[2]
                    and "on rank" not in result[2], *result)

    def memory(self):
        """Rank 0 looks at 64 MiB of rank 1, and keeps 1 MiB of it, and what the tasks of its window use."""
        rows, peak, peaks = 2048, self.path("peak"), []
        numpy.save(self.path("large"), numpy.ones((rows, 16384), numpy.float32))
        numpy.save(self.path("sum"), numpy.full(1, 16777216, numpy.float32))  # where adding 1 no longer changes it
        for copies in ("1M", "1G"):
            code, out, err = run(self.launcher(2) + [self.program, "--entry", "scan", "--input", "A=" + self.path("large"), "--input", "s=zeros", "--copies",
                                                     copies, "--dist", "A=1x16384:2x1", "--window", "64", "--expect", "s=" + self.path("sum")], PTO_LOCAL_PEAK=peak)
            self.expect("a scan", code == 0, code, out, err)
            with open(peak, encoding="ascii") as f:
                peaks.append(int(f.read()))
        self.expect("peaks of %s KiB: copies are not given back" % peaks, peaks[1] - peaks[0] > 56 << 10)

    def given_back(self):
        """Rows of 16 pages that are forgotten, received again and written by others."""
        outputs = []
        numpy.save(self.path("rows"), numpy.random.default_rng(6).standard_normal((40, 16384)).astype(numpy.float32))
        for ranks, options in ((1, []), (2, ["--copies", "0"]), (3, ["--copies", "70K", "--window", "4"]), (4, ["--copies", "200K", "--engine", "serial"]),
                               (7, ["--copies", "64K", "--sends", "1", "--dist", "A=1x5000:4x2"])):
            output = self.path("again")
            result = run(self.launcher(ranks) + [self.program, "--entry", "again", "--input", "A=" + self.path("rows"), "--output", "A=" + output] + options)
            self.expect("again on %d ranks" % ranks, result[0] == 0, *result)
            outputs.append(read(output))
        self.expect("rows that were given back differ", all(o == outputs[0] for o in outputs))

    def other_launcher(self):
        """MPI does not know what the environment says: the launcher is that of another MPI.  Open MPI starts a daemon for a process without a launcher
        unless it is isolated."""
        code, out, err = run([self.program, "--entry", "steps", "--input", "x=iota"], OMPI_COMM_WORLD_SIZE="2", OMPI_MCA_ess_singleton_isolated="1")
        self.expect("another MPI", code == 2 and "has started 2 processes, and MPI knows 1: they belong to different MPIs" in err, code, out, err)

    def ptoc_run(self):
        source = os.path.join(self.folder, "options.pto")
        arguments = [word for word in self.command("multiply", [])[1:]]
        code, out, err = run([self.ptoc, "run", source, "--ranks", "2"] + arguments, OMPI_COMM_WORLD_SIZE="2")
        self.expect("under a launcher", code == 2 and "'mpirun -np 2 PROGRAM'" in err, code, out, err)
        if not self.has_mpi:
            return
        output = self.path("run")
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        code, out, err = run([self.ptoc, "run", source, "--ranks", "2"] + arguments + ["--stats", "--output", "C=" + output], **allowed)
        self.expect("ptoc run --ranks 2", code == 0 and "Ranks: 2\nMessages: 64 total" in out, code, out, err)
        self.expect("ptoc run --ranks 2: other results", code == 0 and read(output) == self.outputs["multiply"])


if __name__ == "__main__":
    follow(Options, Options.counts, Options.spread, Options.waits, Options.lines, Options.options, Options.in_place, Options.refusals, Options.other_wire, Options.memory, Options.given_back,
           Options.unlike, Options.failures, Options.ptoc_run)
