#!/usr/bin/python3
"""check_programs.py PTOC WIRE FOLDER [EXAMPLE|all ...]
check_programs.py PTOC mpi FOLDER LAUNCHER... - programs that ptoc has built do the same on several ranks as on one.

Idea       some examples, or all, run on 3 ranks, and rank 0 compares its results with the serial engine (--check); some programs are run
           alone and on ranks, and what they print, write and end with must be the same byte for byte.
Exit code  0: yes.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
RANKS = os.path.join(HERE, "ranks.py")

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


MARK, LONGEST, LINGERING = "PTO_TEST_RUN", 200, 10


def left_by(mark):
    """The processes that a run has started and that have not ended: its environment names it.  A launcher gives its ranks groups and sessions of
    their own."""
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                if mark in f.read().split(b"\0"):
                    left.append(int(pid))
        except OSError:  # it has ended, or belongs to somebody else
            pass
    return left


def end_all(mark):
    for pid in left_by(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run(command, folder=None, **variables):
    """Exit code, output and errors.  They go to files: a process that outlives the program would keep a pipe open.  A program that hangs, or leaves a
    process behind, ends the test, with what was printed until then."""
    name = "%d.%d" % (os.getpid(), time.monotonic_ns())
    mark = ("%s=%s" % (MARK, name)).encode()
    wrong = None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with subprocess.Popen(command, stdout=out, stderr=err, cwd=folder, env=dict(os.environ, **variables, **{MARK: name})) as program:
            try:
                program.wait(LONGEST)
                until = time.monotonic() + LINGERING
                while left_by(mark) and time.monotonic() < until:
                    time.sleep(0.05)
                if left_by(mark):
                    wrong = "leaves a process behind"
            except subprocess.TimeoutExpired:
                wrong = "hangs"
            end_all(mark)
        texts = []
        for text in (out, err):
            text.seek(0)
            texts.append(text.read().decode())
    if wrong:
        sys.exit("%s: %s\n%s\n%s" % (wrong, " ".join(command), *texts))
    return program.returncode, texts[0], texts[1]


def build(ptoc, folder, name, text):
    source = os.path.join(folder, name + ".pto")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    program = os.path.join(folder, name)
    code, out, err = run([ptoc, "build", "-O0", "-w", source, "-o", program])
    if code != 0:
        sys.exit("%s: %s%s" % (name, out, err))
    return program


def compare(what, alone, ranked):
    """The launcher of MPI has something to say of every exit code, so the errors of the ranks are only part of its output."""
    if alone[:2] + alone[3:] == ranked[:2] + ranked[3:] and alone[2] in ranked[2] and ranked[2].count("error") <= alone[2].count("error"):
        return True
    print("%s\n  alone: %s\n  ranks: %s" % (what, alone, ranked))
    return False


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Check:
    """What was expected of one program, in a folder with four random matrices A to D; `good`: all of it was so."""

    def __init__(self, ptoc, wire, folder, name, text, side):
        self.ptoc, self.wire, self.folder, self.good = ptoc, wire, folder, True
        self.program = build(ptoc, folder, name, text)
        random = numpy.random.default_rng(5)
        for array in "ABCD":
            numpy.save(self.path(array), random.standard_normal((side, side)).astype(numpy.float32))

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def expect(self, what, is_so, *details):
        if not is_so:
            self.good = False
            print(what, *details, sep="\n  ")


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
    ptoc, wire, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    os.environ.update(PTO_LOCAL_SEED="5", PTO_LOCAL_LATEST="3")
    if wire == "mpi":
        launcher, names = sys.argv[4:], ["vadd", "chol"]
    else:
        launcher, names = [sys.executable, RANKS, wire, "3"], sys.argv[4:] or ["vadd", "chol", "flash", "jacobi", "mergesort"]
    good = same_prints(ptoc, launcher, folder)
    good &= same_failures(ptoc, launcher, folder)
    good &= examples(ptoc, launcher, folder, names)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
