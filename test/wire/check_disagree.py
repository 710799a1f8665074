#!/usr/bin/python3
"""check_disagree.py PTOC WIRE FOLDER
check_disagree.py PTOC mpi FOLDER LAUNCHER... - two ranks whose host data differ are found, with the line of the first step that differs.

Idea       the numbers `ops` of rank 1 are others than those of rank 0, so it submits other tasks: both ranks wait for messages that no rank sends, in a window
           that is full; messages have other sizes than their receives; views differ in what no byte shows; a rank ends its program first, or with an error.
           Ranks that agree, and are slow or stopped for longer than a standstill takes, come to their end.
Exit code  0: yes.
"""
import os
import re
import signal
import sys
import threading
import time

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, begin, build, end, run  # pylint: disable=wrong-import-position

PROGRAM = """
kernel mix<M, N, P, Q>(in a: u32[P, Q], inout c: u32[M, N]) { c[0] += (uint32_t)(P * 100 + Q + a_stride[0]) + (P > 0 && Q > 0 ? a[0] : 0); }
kernel fill<N>(out a: u32[N]) { for (int64_t i = 0; i < N; i++) a[i] = 1; }
kernel slow(in a: u32[1, 64], inout c: u32[1, 64], ms: i64) {
    extern int usleep(unsigned us);
    usleep((unsigned)ms * 1000);
    c[0] += a[0];
}
export orch waits(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  @dist(2, 1) view Ab = A tiled [32, 64];
  @dist(2, 1) view Cb = C tiled [32, 64];
  mix(A[ops[0] .. ops[0] + 1, 0 .. 4], inout C[63 .. 64, 0 .. 1]);
  for i in 0 .. 3000 { mix(A[63 .. 64, 0 .. 1], inout C[63 .. 64, 0 .. 1]); }
}
export orch sizes(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  @dist(2, 1) view Ab = A tiled [32, 64];
  @dist(2, 1) view Cb = C tiled [32, 64];
  mix(A[0 .. 1, 0 .. ops[0]], inout C[63 .. 64, 0 .. 1]);
}
export orch large(in B: u32[512, 512], inout D: u32[512, 512], host ops: i64[2]) {
  @dist(2, 1) view Bb = B tiled [256, 512];
  @dist(2, 1) view Db = D tiled [256, 512];
  mix(B[0 .. ops[0], :], inout D[511 .. 512, 0 .. 1]);
}
export orch empty(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  let p: u32[ops[1], 0];
  mix(p, inout C[63 .. 64, 1 .. 2]);
}
export orch made(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  let p: u32[ops[1]];
  fill(out p);
}
export orch one(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  mix(A[0 .. 1 step ops[1], 0 .. 1], inout C[63 .. 64, 0 .. 1]);
}
export orch tile(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  @dist(2, 1) view Ab = A tiled [32, 64];
  @dist(2, 1) view Cb = C tiled [32, 64];
  for i in 0 .. 5 { mix(A[0 .. 1 step 3, 0 .. 1], inout C[63 .. 64, i .. i + 1]); }
  for i in 0 .. 5 { mix(A[0 .. 1 step 2 + i / 4 * (ops[1] - 1), 0 .. 1], inout C[63 .. 64, i .. i + 1]); }
}
export orch ends(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  for i in 0 .. ops[1] { mix(A[63 .. 64, 0 .. 1], inout C[63 .. 64, 1 .. 2]); }
}
export orch fails(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  @dist(2, 1) view Ab = A tiled [32, 64];
  @dist(2, 1) view Cb = C tiled [32, 64];
  assert ops[0] == 4;
  for i in 0 .. 100 { mix(A[0 .. 1, i % 64 .. i % 64 + 1], inout C[63 .. 64, 0 .. 1]); mix(A[63 .. 64, i % 64 .. i % 64 + 1], inout C[0 .. 1, 0 .. 1]); }
}
export orch goes_on(in A: u32[64, 64], inout C: u32[64, 64], host ops: i64[2]) {
  for i in 0 .. 6 { slow(A[i % 2 * 32 +: 1, :], inout C[(i + 1) % 2 * 32 +: 1, :], ops[0]); slow(C[i % 2 * 32 +: 1, :], inout C[(i + 1) % 2 * 32 +: 1, :], 0); }
}
"""
LINES = PROGRAM.split("\n")
STOPPED = 3


def line_of(text):
    return next(n + 1 for n, line in enumerate(LINES) if text in line)


# Entry, ops of rank 0 and of rank 1, a text of the line, and what the message says.
CASES = [
    ("waits", (40, 0), (4, 0), "mix(A[ops[0]", "the first element of parameter 0 is 2560 and 256"),
    ("waits", (4, 0), (40, 0), "mix(A[ops[0]", "the first element of parameter 0 is 256 and 2560"),
    ("sizes", (4, 0), (8, 0), "0 .. ops[0]], inout C", "extent 1 of parameter 0 is 4 and 8"),
    ("sizes", (8, 0), (4, 0), "0 .. ops[0]], inout C", "extent 1 of parameter 0 is 8 and 4"),
    ("large", (200, 0), (1, 0), "mix(B[0", "extent 0 of parameter 0 is 200 and 1"),
    ("large", (1, 0), (200, 0), "mix(B[0", "extent 0 of parameter 0 is 1 and 200"),
    ("empty", (4, 4), (4, 5), "mix(p", "extent 0 of parameter 0 is 4 and 5"),
    ("made", (4, 4), (4, 5), "fill(out p", "extent 0 of the new buffer of parameter 0 is 4 and 5"),
    ("one", (4, 1), (4, 2), "step ops[1]", "another form of parameter 0"),
    ("tile", (4, 1), (4, 2), "step 2 + i", "stride 0 of parameter 0 is 128 and 192"),
    ("ends", (4, 4), (4, 5), "in 0 .. ops[1]", "the program asks for the end of the program and a task"),
    ("ends", (4, 5), (4, 4), "in 0 .. ops[1]", "the program asks for a task and the end of the program"),
    ("fails", (4, 0), (5, 0), None, None),
    ("fails", (5, 0), (4, 0), None, None),
]


class Disagree:
    def __init__(self, ptoc, launcher, folder):
        self.launcher, self.folder, self.good = launcher, folder, True
        self.program = build(ptoc, folder, "disagree", PROGRAM)
        random = numpy.random.default_rng(5)
        for name, side in (("A", 64), ("C", 64), ("B", 512), ("D", 512)):
            numpy.save(self.path(name), random.integers(0, 1000, (side, side), dtype=numpy.uint32))

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def command(self, entry, first, second, options):
        for name, ops in (("first", first), ("second", second)):
            numpy.save(self.path(name), numpy.array(ops, dtype=numpy.int64))
        arrays = "BD" if entry == "large" else "AC"
        words = [word for name in arrays for word in ("--input", "%s=%s" % (name, self.path(name)))] + ["--everywhere", "0"]
        ranks = [[self.program, "--entry", entry] + words + options + ["--input", "ops=" + self.path(name)] for name in ("first", "second")]
        if self.launcher[0] == sys.executable:
            return self.launcher + ["2"] + ranks[0], "ops=%s>ops=%s" % (self.path("first"), self.path("second"))
        return self.launcher + ["-n", "1"] + ranks[0] + [":", "-n", "1"] + ranks[1], ">"

    def expect(self, what, is_so, *details):
        if not is_so:
            self.good = False
            print(what, *details, sep="\n  ")

    def finds(self, case, options):
        entry, first, second, text, says = case
        command, last = self.command(entry, first, second, options)
        code, out, err = run(command, PTO_LOCAL_LAST=last)
        where = "disagree.pto:%d:" % line_of(text or "assert ops")
        good = code == 1 and where in err and len(re.findall(r" error(\[E\d+\])?:", err)) == 1
        if says:
            good = good and "error: ranks 0 and 1 disagree at step " in err and says in err
        self.expect("%s %s" % (case, options), good, code, out, err)

    def goes_on(self, ms, options, stops=False):
        """Ranks that agree: kernels take longer than a standstill, or a rank is stopped for so long."""
        command, last = self.command("goes_on", (ms, 0), (ms, 0), options)
        waker = threading.Thread(target=self.stop_one) if stops else None
        if waker:
            waker.start()
        code, out, err = run(command, PTO_LOCAL_LAST=last)
        if waker:
            waker.join()
        self.expect("goes on %d %s" % (ms, options), code == 0, code, out, err)

    def stop_one(self):
        """The process of a rank, for STOPPED seconds, when its program runs."""
        time.sleep(1)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    words = f.read().split(b"\0")
                if words[0] == self.program.encode() and b"ops=" + self.path("first").encode() not in words:
                    os.kill(int(pid), signal.SIGSTOP)
                    time.sleep(STOPPED)
                    os.kill(int(pid), signal.SIGCONT)
                    return
            except OSError:
                pass


def main():
    ptoc, wire, folder = begin()
    launcher = sys.argv[4:] if wire == "mpi" else [sys.executable, RANKS, wire]
    check = Disagree(ptoc, launcher, folder)
    few = wire == "mpi"
    for case in CASES:
        for options in ([["--window", "4"]] if few else [["--window", "2"], ["--window", "4", "--engine", "serial"], []]):
            check.finds(case, options)
    check.finds(CASES[0], ["--engine", "serial"])
    if not few:
        check.goes_on(2500, ["--window", "2"])
        check.goes_on(2500, ["--engine", "serial"])
        check.goes_on(400, ["--window", "4"], stops=True)
    end(check.good)


if __name__ == "__main__":
    main()
