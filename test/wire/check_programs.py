#!/usr/bin/python3
"""check_programs.py PTOC WIRE FOLDER [EXAMPLE|all ...]
check_programs.py PTOC mpi FOLDER LAUNCHER... - programs that ptoc has built do the same on several ranks as on one.

Idea       some examples, or all, run on 3 ranks, and rank 0 compares its results with the serial engine (--check); some programs are run
           alone and on ranks, and what they print, write and end with must be the same byte for byte.
Exit code  0: yes.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import HERE, RANKS, ROOT, begin, build, end, read, run  # pylint: disable=wrong-import-position

PRINTS = """
kernel double_up<N>(in x: f32[N], out y: f32[N]) { for (int64_t i = 0; i < N; i++) y[i] = 2 * x[i] + (float)i; }
kernel total<N>(in x: f32[N], inout sum: f32[1]) { for (int64_t i = 0; i < N; i++) sum[0] += x[i]; }
export orch prints<n>(in x: f32[n], out y: f32[n], inout sum: f32[1]) {
    assert n % 4 == 0;
    for i in 0..4 {
        let a = double_up(x[i * (n / 4) .. (i + 1) * (n / 4)]);
        y[i * (n / 4) .. (i + 1) * (n / 4)] = double_up(a);
        total(y[i * (n / 4) .. (i + 1) * (n / 4)], inout sum);
        let s = await sum[0];
        print "after ", i, ": ", s;
    }
}
"""

FAILS = """
kernel fails(in x: f32[4], out y: f32[4]) { y[0] = x[0]; return x[0] > 2 ? 7 : 0; }
export orch fails_late(in x: f32[8, 4], out y: f32[8, 4]) {
    for i in 0..8 { y[i] = fails(x[i]); }
}
"""

FOLDS = """
kernel total<N>(in x: u32[N], acc s: u32[1] by sum) { for (int64_t i = 0; i < N; i++) s[0] += x[i]; }
export orch folds(in A: u32[3072], inout s: u32[1]) {
    @dist(ranks()) view a = A tiled [256];
    for i in 0 .. 48 { total(a[i % 12], acc s); }
}
"""

# A tensor of the heap is written in pieces by all ranks; of `hole` and `waits` one piece is not.
UNWRITTEN = """
kernel copy<N>(in x: f32[N], out y: f32[N]) { for (int64_t i = 0; i < N; i++) y[i] = x[i]; }
kernel total<N>(in x: f32[N], acc s: f32[N] by sum) { for (int64_t i = 0; i < N; i++) s[i] += x[i]; }
export orch hole(in x: f32[24, 8], out y: f32[24, 8]) {
    @dist(ranks(), 1) let t: f32[24, 8];
    for i in 0 .. 24 { if i != 17 { copy(x[i], out t[i]); } }
    for i in 0 .. 24 { copy(t[23 - i], out y[i]); }
}
export orch full(in x: f32[24, 8], out y: f32[24, 8]) {
    let t: f32[24, 8];
    for i in 0 .. 24 { copy(x[i], out t[i]); }
    for i in 0 .. 24 { let a: f32[8]; copy(t[23 - i], out a); copy(a, out y[i]); }
}
export orch sums(in x: f32[24, 8], out y: f32[24, 8]) {
    let t: f32[2, 8];
    for i in 0 .. 2 { copy(x[i], out t[i]); }
    for i in 0 .. 24 { total(x[i], acc t[i % 2]); }
    for i in 0 .. 24 { copy(t[i % 2], out y[i]); }
}
export orch waits(in x: f32[24, 8], out y: f32[24, 8]) {
    let t: f32[24, 8];
    for i in 0 .. 24 { if i != 17 { copy(x[i], out t[i]); } }
    for i in 0 .. 24 { if await t[i, 3] > -1.0 { copy(x[i], out y[i]); } }
}
"""

# Where it fails, each rank has small messages under way.
FAILS_FAST = """
kernel adds<N>(inout y: u32[N], in x: u32[N], at: i64, last: i64) { if (at == last) return 7; y[0] += x[0]; }
export orch fails_fast(inout A: u32[64], last: i64) {
    @dist(ranks()) view a = A tiled [8];
    for s in 0 .. 100 { for i in 0 .. 8 { adds(inout a[i], a[(i + 3) % 8], s * 8 + i, last); } }
}
"""

# Rank 0 runs the first of two tasks, and is stopped by it before the other one fails.
STOPS = """
kernel stops(in x: f32[4], out y: f32[4]) {
    extern int getpid(void), kill(int pid, int number), usleep(unsigned us), access(const char *path, int mode), creat(const char *path, unsigned mode);
    extern char *getenv(const char *name);
    y[0] = x[0];
    if (x[0] < 1) { creat(getenv("FLAG"), 384); kill(getpid(), 19); }
    for (int k = 0; x[0] > 1 && k < 20000 && access(getenv("FLAG"), 0) != 0; k++) usleep(1000);
    return x[0] > 1 ? 7 : 0;
}
export orch stop(in x: f32[2, 4], out y: f32[2, 4]) { for i in 0 .. 2 { y[i] = stops(x[i]); } }
"""

# Rank 1 stops at its task, for which rank 0 waits.  The signal may come to another thread first, so the kernel goes on for a while.
HALTS = """
kernel halts(inout x: f32[4]) {
    extern int getpid(void), kill(int pid, int number), usleep(unsigned us);
    if (x[0] > 1 && kill(getpid(), 19) == 0) usleep(10000000);
}
kernel take(in x: f32[4], inout y: f32[4]) { y[0] += x[0]; }
export orch halt(inout x: f32[2, 4]) { for i in 0 .. 2 { halts(inout x[i]); } take(x[1], inout x[0]); }
"""

LATE = os.path.join(HERE, "late.py")


def compare(what, alone, ranked):
    """The launcher of MPI has something to say of every exit code, so the errors of the ranks are only part of its output."""
    if alone[:2] + alone[3:] == ranked[:2] + ranked[3:] and alone[2] in ranked[2] and ranked[2].count("error") <= alone[2].count("error"):
        return True
    print("%s\n  alone: %s\n  ranks: %s" % (what, alone, ranked))
    return False


def same_prints(ptoc, launcher, folder):
    program, good = build(ptoc, folder, "prints", PRINTS), True
    data = ["--input", "x=iota", "--input", "sum=zeros"]
    cases = {"large": (data + ["--dim", "n=4096"], 0), "small": (data + ["--dim", "n=400", "--engine", "serial", "--window", "2"], 0),
             "assert": (data + ["--dim", "n=6"], 1), "option": (["--nothing"], 2),
             "missing": (["--input", "x=" + os.path.join(folder, "missing.npy"), "--input", "sum=zeros"], 4)}
    for name, (options, code) in cases.items():
        outcome = []
        for who, start in (("alone", []), ("ranked", launcher)):
            output = os.path.join(folder, who + ".npy")
            if os.path.exists(output):
                os.remove(output)
            result = run(start + [program] + options + (["--output", "y=" + output] if code != 2 else []))
            outcome.append(result + (read(output) if os.path.exists(output) else None,))
        good &= compare(name, outcome[0], outcome[1])
        if outcome[0][0] != code or (code == 0 and "after 3" not in outcome[0][1].replace("  ", " ")):
            print("%s: not what the test means: %s" % (name, outcome[0]))
            good = False
    options = [program] + data + ["--dim", "n=4096"]
    return compare("the line of each output", run(options), run(launcher + options)) and good


def same_failures(ptoc, launcher, folder):
    program = build(ptoc, folder, "fails", FAILS)
    code, out, err = run(launcher + [program, "--input", "x=iota"])
    good = code == 1 and "kernel 'fails' failed: it returned 7" in err and err.count("error") == 1
    if not good:
        print("a failing kernel: exit code %d\n%s%s" % (code, out, err))
    code, out, err = run([program, "--input", "x=iota"], PTO_WIRE="/nowhere/libwire.so")
    if code != 2 or "started as one of several ranks, which it cannot join" not in err:
        good = False
        print("no wire: exit code %d\n%s%s" % (code, out, err))
    return good


def same_unwritten(ptoc, launcher, folder):
    """A checked run finds a read of what no rank has written, where it finds it on one; and nothing else."""
    program, good = build(ptoc, folder, "unwritten", UNWRITTEN), True
    for name, code, text in [("hole", 1, "[E06]: parameter 0 of kernel 'copy': nothing was written there before it is read"), ("full", 0, "y: f32[24, 8]"),
                             ("sums", 0, "y: f32[24, 8]"), ("waits", 1, "[E13]: nothing was written here before it is awaited")]:
        for engine in ["serial", "threads"]:
            options = [program, "--entry", name, "--input", "x=iota", "--checked", "--engine", engine]
            alone, ranked = run(options), run(launcher + options)
            good &= compare("%s on %s" % (name, engine), alone, ranked)
            if alone[0] != code or text not in alone[1] + alone[2]:
                print("%s: not what the test means: %s" % (name, alone))
                good = False
    return good


def failing_fast(ptoc, launcher, folder):
    """The launcher ends with the exit code of the ranks, however they meet: that of MPICH kills those that are left."""
    program, options = build(ptoc, folder, "fails_fast", FAILS_FAST), ["--input", "A=zeros", "--set", "last=100"]
    outcomes = [run(launcher[:-1] + ["4", program] + options) for _ in range(20)]
    wrong = [x for x in outcomes if x[0] != 1 or x[2].count("kernel 'adds' failed: it returned 7 (task 100)") != 1]
    if wrong:
        print("%d of 20 runs that fail fast end otherwise: %s" % (len(wrong), wrong[0]))
    return not wrong


def counted_tasks(ptoc, launcher, folder):
    """Tasks are those of the program, of one rank and of all: not its messages, and not the folds of accumulators."""
    program = build(ptoc, folder, "folds", FOLDS)
    code, out, err = run(launcher + [program, "--input", "A=iota", "--input", "s=zeros", "--stats"])
    ranks = re.search(r"^Ranks: (\d)$", out, re.M)
    each = 48 // int(ranks.group(1)) if ranks else 0
    good = code == 0 and each and all(re.search(line, out, re.M) for line in (
        "^Tasks of ranks: 48 total, least %d " % each, r"^Tasks: %d( |$)" % each, "^Folds: [1-9]", "^Messages: [1-9]"))
    if not good:
        print("tasks that are counted: exit code %d\n%s%s" % (code, out, err))
    return good


def late_errors(ptoc, launcher, folder):
    """The others wait until rank 0 has printed, however long that takes: a launcher may end all ranks when one has ended with an error."""
    program, good = build(ptoc, folder, "late", PRINTS), True
    late = launcher + [sys.executable, "-B", LATE, "3", program, "--input", "sum=zeros"]
    for what, options, wanted in (("assert", ["--input", "x=iota", "--dim", "n=6"], (1, "assertion failed: n % 4 == 0")),
                                  ("missing", ["--input", "x=" + os.path.join(folder, "missing.npy")], (4, "cannot open"))):
        code, out, err = run(late + options)
        if code != wanted[0] or err.count(wanted[1]) != 1:
            good = False
            print("%s, and rank 0 prints late: exit code %d\n%s%s" % (what, code, out, err))
    return good


def stopped(ptoc, launcher, folder):
    """Rank 0 no longer answers: another one reports what has failed, and the job ends."""
    program, flag = build(ptoc, folder, "stops", STOPS), os.path.join(folder, "flag")
    if os.path.exists(flag):
        os.remove(flag)
    code, out, err = run(launcher + [program, "--input", "x=iota", "--grace", "0.2"], FLAG=flag)
    if code != 0 and "kernel 'stops' failed: it returned 7" in err and "rank 0 does not end either" in err:
        return True
    print("rank 0 was stopped: exit code %d\n%s%s" % (code, out, err))
    return False


def halted(ptoc, launcher, folder):
    """A rank no longer answers, and nothing has failed: the watchdog of rank 0 names it, and the job ends."""
    program = build(ptoc, folder, "halts", HALTS)
    code, out, err = run(launcher + [program, "--input", "x=iota", "--grace", "0.2", "--watchdog", "0.5"])
    lines = ("nothing has happened for 0.5 s, and rank 1 does not answer:\n", "\n  rank 0: waits for a message from rank 1, for task 2 at ",
             "halts.pto:7:", "\n  rank 1: it does not answer", "a rank does not end, so the job ends without results")
    if code == 1 and all(line in err for line in lines):
        return True
    print("rank 1 has halted: exit code %d\n%s%s" % (code, out, err))
    return False


def examples(ptoc, launcher, folder, names):
    good = True
    for name in names:
        code, out, err = run([sys.executable, "-B", os.path.join(ROOT, "scripts", "examples.py"), ptoc, name, os.path.join(folder, "examples"),
                              "--seed", "7", "--with=--check", "--with=--check --engine serial --window 4", "--launch", " ".join(launcher)])
        if code != 0:
            print(out + err)
            good = False
    return good


def main():
    ptoc, wire, folder = begin()
    if wire == "mpi":
        launcher, names = sys.argv[4:], ["vadd", "chol"]
    else:
        launcher, names = [sys.executable, RANKS, wire, "3"], sys.argv[4:] or ["vadd", "chol", "flash", "jacobi", "mergesort"]
    good = same_prints(ptoc, launcher, folder)
    good &= same_failures(ptoc, launcher, folder)
    good &= same_unwritten(ptoc, launcher, folder)
    good &= counted_tasks(ptoc, launcher, folder)
    good &= late_errors(ptoc, launcher, folder)
    if wire == "mpi":
        good &= failing_fast(ptoc, launcher, folder)
        good &= stopped(ptoc, launcher, folder)
        good &= halted(ptoc, launcher, folder)
    good &= examples(ptoc, launcher, folder, names)
    end(good)


if __name__ == "__main__":
    main()
