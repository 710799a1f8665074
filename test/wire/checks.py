"""checks.py - what the checks of ranks have in common: a program is built, run alone and on ranks, and what does not hold is printed.

Each is started as PTOC WIRE FOLDER ...; exit code 0: all holds.
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

# A shell that does not wait for a command starts it with this signal ignored, and a program keeps that.
signal.signal(signal.SIGINT, signal.default_int_handler)

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


def build(ptoc, folder, name, text, level="-O0"):
    source = os.path.join(folder, name + ".pto")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    program = os.path.join(folder, name)
    code, out, err = run([ptoc, "build", level, "-w", source, "-o", program])
    if code != 0:
        sys.exit("%s: %s%s" % (name, out, err))
    return program


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Check:
    """What was expected of one program, in a folder with four random matrices A to D; `good`: all of it was so."""

    def __init__(self, ptoc, wire, folder, name, text, side, level="-O0"):
        self.ptoc, self.wire, self.folder, self.good = ptoc, wire, folder, True
        self.program = build(ptoc, folder, name, text, level)
        random = numpy.random.default_rng(5)
        for array in "ABCD":
            numpy.save(self.path(array), random.standard_normal((side, side)).astype(numpy.float32))

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def expect(self, what, is_so, *details):
        if not is_so:
            self.good = False
            print(what, *details, sep="\n  ")


def begin():
    """The words of the command, and the wire for tests delays messages."""
    ptoc, wire, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    os.environ.update(PTO_LOCAL_SEED="5", PTO_LOCAL_LATEST="3")
    return ptoc, wire, folder


def end(good):
    sys.exit(0 if good else 1)


def follow(make, *steps):
    """A check is made, and its steps are gone one after the other, also behind one that does not hold."""
    check = make(*begin())
    for step in steps:
        step(check)
    end(check.good)
