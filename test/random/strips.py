"""strips.py - random loops that are handed over in strips, against the engine that runs one task after the other.

usage: strips.py --ptoc PTOC [--programs 50] [--seed 1] [--repeat 4] [--work FOLDER] [--only SEED] [--wire WIRE]
A program has loops of one to three calls each, up and down and by random steps, whose views move by random constant steps, forward or
back, apart or over each other; the last piece of a dimension may be shorter, and bodies have numbers and tensors of their own.  All
arrays are integers of 64 bits that wrap, and no kernel commutes with another, so a task that runs too early shows in the result.  The
engine `threads` runs it with several windows and numbers of workers, and leaves the arrays that the engine `serial` leaves.  A check in
which no run had a strip has tested nothing, and fails; on one processor there are none, and the exit code is 77.  A difference keeps the
folder of its program and ends with exit code 1.
--wire: each run is of 2 to 7 ranks, with random distributions, three times: ranks skip their loops in strips; none does (--defer); some do.
The arrays are those of one process, and all three runs have the same messages, bytes, tasks and buffers.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, COLUMNS = 48, 64
ARRAYS = "xyz"
TILES = [(4, 8), (4, 8), (8, 16), (1, 16), (ROWS, 2), (4, COLUMNS), (3, 5)]
RUNS = [["--workers", "vector=2"], ["--workers", "vector=3", "--window", "2"], ["--workers", "vector=1", "--window", "4"], ["--window", "16"],
        ["--workers", "vector=2", "--defer"]]
LONGEST = 240
WIRE_RUNS = [("skipped", {}, []), ("single", {}, ["--defer"]), ("mixed", {"PTO_LOCAL_LAST": "--progress>--defer"}, ["--progress"])]
# What all three have in common, beside times and what depends on them.
COMMON = re.compile(r"^(?:Ranks|Messages.*|Bytes sent|Pieces that.*|Bytes of copies.*|Bytes of cells|Tasks of ranks|Tasks|Allocations|Scopes): .*", re.M)
STRIPS = re.compile(r"^Strips: [1-9]", re.M)

KERNELS = """
kernel mix<R, C>(in a: u64[R, C], in b: u64[R, C], inout o: u64[R, C], k: i64) on vector {
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) {
      uint64_t *p = &o[i * o_stride[0] + j * o_stride[1]];
      *p = *p * 5 + 3 * a[i * a_stride[0] + j * a_stride[1]] + b[i * b_stride[0] + j * b_stride[1]] + (uint64_t)k;
    }
}
kernel scale<R, C>(in a: u64[R, C], out o: u64[R, C]) on vector {
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++) o[i * o_stride[0] + j * o_stride[1]] = a[i * a_stride[0] + j * a_stride[1]] * 7 + 1;
}
"""


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--ptoc", required=True)
    p.add_argument("--programs", type=int, default=50, help="PTO_RANDOM of the environment goes before")
    p.add_argument("--seed", type=int, default=1, help="PTO_SEED of the environment goes before")
    p.add_argument("--repeat", type=int, default=4, help="so often a program goes through its loops; a build with PTO_TINY makes strips at once, "
                   "others when they have timed the kernels")
    p.add_argument("--work", default="random-strips")
    p.add_argument("--wire", help="the wire of test/wire: every run is on several ranks")
    p.add_argument("--only", type=int, help="this seed alone; its folder is kept")
    given = p.parse_args()
    given.programs, given.seed = int(os.environ.get("PTO_RANDOM", given.programs)), int(os.environ.get("PTO_SEED", given.seed))
    return given


class Loops:
    """A program of loops, decided by its seed."""

    def __init__(self, seed, own_kernels):
        self.rng, self.own_kernels = random.Random(seed), own_kernels

    def interval(self, head, iterations, extent, length):
        """`length` elements of a dimension, which move by a constant step; None: they do not fit into it."""
        rng, (first, by) = self.rng, head
        sign = rng.choice([0, 1, 1, 1, -1])
        step = sign * rng.choice([1, 1, 1, 2]) if abs(by) > 1 else sign * rng.choice([length, length, length, 1, 2 * length, length + 1])
        moves = step * by  # from one iteration to the next
        span = abs(moves) * (iterations - 1) + length
        if span > extent:
            return None
        base = rng.randrange(0, extent - span + 1)
        if rng.random() < 0.6:
            base -= base % length
        if moves < 0:
            base += -moves * (iterations - 1)
        base -= step * first  # where i is 0
        return "%d +: %d" % (base, length) if step == 0 else "(%d) %s i * %d +: %d" % (base, "+" if step > 0 else "-", abs(step), length)

    def view(self, array, head, iterations, tile):
        for _ in range(200):
            rows, columns = self.interval(head, iterations, ROWS, tile[0]), self.interval(head, iterations, COLUMNS, tile[1])
            if rows and columns:
                return "%s[%s, %s]" % (array, rows, columns)
        return None

    def call(self, head, iterations, tile):
        rng = self.rng
        read, written = rng.sample(ARRAYS, 2)
        a, b, o = (self.view(array, head, iterations, tile) for array in (read, read, written))
        if not (a and b and o):
            return None
        if rng.random() < 0.7:
            return "mix(%s, %s, inout %s, %s);" % (a, b, o, rng.choice(["i", "7", "n", "i * 3 - 2"]))
        return "scale(%s, out %s);" % (a, o)

    def loop(self):
        rng = self.rng
        if rng.random() < 0.4:
            return self.ragged_loop()
        iterations, tile = rng.randrange(2, 16), rng.choice(TILES)
        first, by = rng.choice([(0, 1), (0, 1), (rng.randrange(-9, 9), rng.choice([1, 2, 3, tile[0], tile[1], -1, -1, -2, -tile[0]]))])
        end = first + iterations * by - rng.randrange(0, abs(by)) * (1 if by > 0 else -1)
        calls = [call for call in (self.call((first, by), iterations, tile) for _ in range(rng.randrange(1, 4))) if call]
        priority = rng.choice(["", "", "@priority(i) ", "@priority(3) "])
        step = "" if by == 1 and rng.random() < 0.8 else " step %d" % by
        stop = "if i %s %d { break; } " % (rng.choice([">", ">="]), rng.randrange(first, end + 2)) if by > 0 and rng.random() < 0.2 else ""
        return "    for i in %d .. %d%s { %s%s }\n" % (first, end, step, stop, " ".join(priority + call for call in calls)) if calls else ""

    def ragged_loop(self):
        """Over pieces of a dimension, the last of which may be shorter."""
        rng = self.rng
        by_rows = rng.random() < 0.5
        extent, across = (ROWS, COLUMNS) if by_rows else (COLUMNS, ROWS)
        by = rng.choice([1, 2, 3, 4, 5, 7, 8])
        high = rng.randrange(1, extent + 1)
        low = rng.choice([0, 0, 0, rng.randrange(0, high)])
        named, of_body = rng.random() < 0.7, rng.random() < 0.3
        width = rng.choice([1, 4, 5, across])
        length = "w" if named else "min(%d, %d - i)" % (by, high)
        lets = "let w = min(%d, %d - i); " % ((by, high) if rng.random() < 0.8 else (rng.randrange(1, by + 1), high)) if named else ""
        if named and rng.random() < 0.3:
            lets += "let at = i * 2 - %d; " % rng.randrange(0, 9)
        if named and rng.random() < 0.4:  # another number that ends elsewhere
            lets += "let v = min(%d, %d - i); " % (rng.randrange(1, 12), rng.randrange(-2, extent + 9))
        number = "v" if "v = " in lets else "at" if "at = " in lets else rng.choice(["i", "7", "w" if named else "n", "i * 3 - 2"])

        def view(array, low_of=None):
            base = rng.randrange(0, across - width + 1)
            along, fixed = "%s +: %s" % (low_of or "i", length), "%d +: %d" % (base, width)
            return "%s[%s, %s]" % ((array, along, fixed) if by_rows else (array, fixed, along))

        calls = []
        if of_body:
            read, written = rng.sample(ARRAYS, 2)
            lets += "let t: u64[%s, %s]; " % ((length, width) if by_rows else (width, length))
            calls.append("scale(%s, out t);" % view(read))
            calls.append("mix(t, %s, inout %s, %s);" % (view(read), view(written), number))
        for _ in range(rng.randrange(0 if of_body else 1, 3)):
            read, written = rng.sample(ARRAYS, 2)
            calls.append("mix(%s, %s, inout %s, %s);" % (view(read), view(read, "0" if rng.random() < 0.3 else None), view(written), number))
        return "    for i in %d .. %d step %d { %s%s }\n" % (low, high, by, lets, " ".join(calls))

    def text(self):
        formals = ", ".join("inout %s: u64[%d, %d]" % (a, ROWS, COLUMNS) for a in ARRAYS)
        loops = [self.loop() for _ in range(self.rng.randrange(3, 9))]
        kernels = KERNELS
        if self.own_kernels:  # so a loop knows its tasks again the next time
            kernels = "".join(re.sub(r"kernel (\w+)<", r"kernel \g<1>%d<" % n, KERNELS) for n in range(len(loops)))
            loops = [re.sub(r"\b(mix|scale)\(", r"\g<1>%d(" % n, loop) for n, loop in enumerate(loops)]
        loops = "".join(loops)
        return kernels + "export orch main(%s, n: i64) {\n  for s in 0 .. n {\n%s  }\n}\n" % (formals, loops)


class Wrong(Exception):
    pass


class Check:
    """One program in a folder of its own."""

    def __init__(self, given, seed):
        self.given, self.seed, self.runs, self.with_strips = given, seed, 0, 0
        self.folder = os.path.join(given.work, "seed%d" % seed)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self):
        """Raises Wrong."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        with open(self.path("main.pto"), "w") as f:
            f.write(Loops(self.seed, bool(self.given.wire)).text())
        self.start([self.given.ptoc, "build", "-w", "-O1", self.path("main.pto"), "-o", self.path("program")])
        values = np.random.default_rng(self.seed)
        for a in ARRAYS:
            np.save(self.path(a + ".npy"), values.integers(0, 2**63, (ROWS, COLUMNS), dtype=np.uint64))
        self.expected = self.outputs(["--engine", "serial"])
        if self.given.wire:
            self.run_ranks()
        else:
            for more in RUNS:
                self.compare(["--engine", "threads"] + more, counts=True)
        if self.given.only is None:
            shutil.rmtree(self.folder)

    def compare(self, words, **how):
        got = self.outputs(words, **how)
        for a in ARRAYS:
            places = [tuple(p) for p in np.argwhere(got[a] != self.expected[a])[:3]]
            if places:
                raise Wrong("%s: %s differs at %s" % (" ".join(words), a, places))

    def run_ranks(self):
        rng = random.Random("%d/ranks" % self.seed)
        ranks = rng.choice([2, 3, 4, 7])
        words = ["--engine", rng.choice(["threads", "serial"]), "--window", str(rng.choice([4, 16, 1024])), "--everywhere", "0",
                 "--copies", str(rng.choice([1000, 1 << 20, 1 << 20]))]
        grid = "%dx%d" % (rng.randint(1, 4), rng.randint(1, 4))
        for a in ARRAYS:
            if rng.random() < 0.8:
                cells = "%dx%d" % (rng.choice([4, 4, 8, 16, ROWS, 3]), rng.choice([8, 8, 16, COLUMNS, 5]))
                words += ["--dist", "%s=%s:%s" % (a, cells, grid if rng.random() < 0.7 else "1x2")]
        launcher = [sys.executable, os.path.join(HERE, "..", "wire", "ranks.py"), self.given.wire, str(ranks)]
        common = {}
        for name, more, own in WIRE_RUNS:
            env = dict(os.environ, PTO_LOCAL_SEED=str(rng.randint(1, 10**6)), PTO_LOCAL_LATEST=str(rng.choice([0, 3])), **more)
            env["PTO_LOCAL_FROM"] = str(rng.randrange(1, ranks))
            self.compare(words + own, launcher=launcher, env=env)
            common[name] = COMMON.findall(self.said)
            if common[name] != common["skipped"]:
                raise Wrong("%s, %d ranks, %s:\n%s\nskipped:\n%s" % (" ".join(words), ranks, name, "\n".join(common[name]), "\n".join(common["skipped"])))

    def start(self, words, env=None):
        try:
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=LONGEST, env=env)
        except subprocess.TimeoutExpired:
            raise Wrong("does not end: %s" % " ".join(words))
        if done.returncode != 0:
            raise Wrong("exit code %d: %s\n%s" % (done.returncode, " ".join(words), done.stdout[-2000:]))
        return done.stdout

    def outputs(self, words, counts=False, launcher=(), env=None):
        files = [word for a in ARRAYS for word in ("--input", "%s=%s" % (a, self.path(a + ".npy")), "--output", "%s=%s" % (a, self.path(a + ".out.npy")))]
        self.said = self.start(list(launcher) + [self.path("program"), "--set", "n=%d" % self.given.repeat, "--stats"] + files + words, env)
        self.runs += bool(counts or launcher)
        self.with_strips += bool(counts and STRIPS.search(self.said))
        return {a: np.load(self.path(a + ".out.npy")) for a in ARRAYS}


def main():
    given = options()
    if not given.wire and len(os.sched_getaffinity(0)) < 2:
        sys.exit(77)
    begin, programs, runs, with_strips, wrong = time.time(), 0, 0, 0, 0
    for seed in [given.only] if given.only is not None else range(given.seed, given.seed + given.programs):
        check = Check(given, seed)
        try:
            check.run()
        except Wrong as why:
            wrong += 1
            print("DIFFERENCE seed %d: %s" % (seed, why), flush=True)
        programs, runs, with_strips = programs + 1, runs + check.runs, with_strips + check.with_strips
        if wrong >= 20:
            break
    had = "" if given.wire else "; %d of %d runs had strips" % (with_strips, runs)
    print("%d programs, %d runs, %d differences (%.0f s)%s" % (programs, runs, wrong, time.time() - begin, had))
    sys.exit(1 if wrong or not (with_strips or given.wire) else 0)


if __name__ == "__main__":
    main()
