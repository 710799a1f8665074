"""check.py - random kernels in index notation: what ptoc makes of them against NumPy.

usage: check.py --ptoc PTOC [--programs 50] [--seed 1] [--work FOLDER] [--only SEED]
A program has an entry that calls one to five kernels with views of every kind.  It is built with a random plan and run with small windows on
every level of the processor; every output must be equal.  Some programs have indices that may be outside: one that reads outside must be
refused or fail, and never end well.  A difference leaves the program and its data in a folder and ends with exit code 1.
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

from program import Program
from terms import TooLong

# The compiler says so of what cannot be checked before the kernel writes; the generator does not know when that is.
LATE = "is checked before the kernel writes anything"
ENGINES = [[], ["--engine", "serial"], ["--window", "2"], ["--engine", "process"], ["--defer"]]
OUTSIDE = re.compile(r"reaches|is out of bounds|is -?\d+, '\w+' has \d+ ")


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--ptoc", required=True)
    p.add_argument("--programs", type=int, default=50, help="PTO_RANDOM of the environment goes before")
    p.add_argument("--seed", type=int, default=1, help="PTO_SEED of the environment goes before")
    p.add_argument("--work", default="random-by-index")
    p.add_argument("--ascend", metavar="TREE,HEADERS,STUB", help="kernels of which AscendC is made: the programs run on the backend ascend, over the "
                   "stand-in of its header in TREE/test/ascend/mock and the stub of its library in STUB (not run on Ascend); HEADERS: kernels/ascend")
    p.add_argument("--only", type=int, help="this seed alone; its folder is kept")
    given = p.parse_args()
    given.programs, given.seed = int(os.environ.get("PTO_RANDOM", given.programs)), int(os.environ.get("PTO_SEED", given.seed))
    return given


def levels():
    """The levels of --cpu= that this processor has."""
    with open("/proc/cpuinfo") as f:
        flags = f.read()
    return ["base"] + ["v3"] * ("avx2" in flags) + ["v4"] * ("avx512vl" in flags)


class Wrong(Exception):
    pass


class Late(Exception):
    pass


class Refused(Exception):
    """An index that may be outside: the compiler refuses it, or the run fails."""


class Check:
    """One program in a folder of its own."""

    def __init__(self, given, seed):
        self.given, self.rng = given, random.Random("%d/run" % seed)
        self.folder = os.path.join(given.work, "seed%d" % seed)
        self.program = Program(seed, bool(given.ascend))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self):
        """Raises Wrong, Refused, Late or TooLong."""
        with np.errstate(all="ignore"):
            self.expected = self.program.expected()
        for name, array in self.expected.items():
            if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
                raise Wrong("the generator left the whole numbers in %s" % name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.build()
        for array in self.program.arrays.values():
            if array.role in ("in", "inout"):
                np.save(self.path(array.name + ".npy"), array.data)
        if self.given.ascend:
            self.run_on_device()
        else:
            for level in levels():
                self.run_on(["--cpu=" + level] + self.rng.choice(ENGINES))
        if self.given.only is None:
            shutil.rmtree(self.folder)

    def build(self):
        with open(self.path("main.pto"), "w") as f:
            f.write(self.program.text())
        words = [self.given.ptoc, "build", "-w", self.path("main.pto"), "-o", self.path("program")]
        level = self.rng.choice(["-O2", "-O2", "-O1"])
        words += ["-O0", "--cpu=native"] if self.given.ascend else [level]  # on a device none of its own kernels runs
        words += self.rng.choice([[], [], ["--plan=apart"], ["--plan=min"], ["--no-fma"], ["--checked"]] if not self.given.ascend else [["--plan=apart"]])
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0 and LATE in done.stdout and done.stdout.count("error[") == done.stdout.count(LATE):
            raise Late
        if self.program.may_fail and done.returncode == 1 and done.stdout.count("error[") == done.stdout.count("error[E05]") > 0:
            raise Refused
        if done.returncode != 0:
            raise Wrong("cannot be built: %s\n%s" % (" ".join(words), done.stdout[-3000:]))

    def run_on_device(self):
        tree, headers, stub = self.given.ascend.split(",")
        words = [self.given.ptoc, "build", "-w", "--emit=ascendc", "--plan=apart", self.path("main.pto")]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode == 1 and done.stderr.count("error[") == done.stderr.count("error[E12]") > 0:
            raise Late  # no instruction does it
        names = re.findall(r"^ \*     \[(\w+)\]$", done.stdout, re.M)
        with open(self.path("kernels.cpp"), "w") as f:
            f.write(done.stdout + "".join("MOCK_KERNEL(%s)\n" % n for n in names))
        with open(self.path("map.ini"), "w") as f:
            f.write("".join("[%s]\nobject = kernels.so\nfunction = device_%s\nengine = vector\n" % (n, n) for n in names))
        words = ["g++", "-std=c++17", "-ffp-contract=off", "-O0", "-fPIC", "-shared", "-I" + tree + "/test/ascend/mock", "-I" + headers,
                 self.path("kernels.cpp"), "-o", self.path("kernels.so")]
        made = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0 or made.returncode != 0:
            raise Wrong("no AscendC: %s%s" % (done.stderr[-2000:], made.stdout[-2000:]))
        self.run_on(["--backend", "ascend", "--kernels", self.path("map.ini")], {"LD_LIBRARY_PATH": stub, "PTO_MOCK_BLOCKS": str(self.rng.choice([1, 2, 3, 5]))})

    def run_on(self, options, more={}):
        words = [self.path("program"), "--quiet"] + self.program.options(lambda name: self.path(name + ".npy")) + options
        try:
            done = subprocess.run(words, env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=120)
        except subprocess.TimeoutExpired:
            raise Wrong("does not end: %s" % " ".join(words))
        if self.program.may_fail and done.returncode == 1 and OUTSIDE.search(done.stdout):
            raise Refused
        if done.returncode != 0:
            raise Wrong("exit code %d: %s\n%s" % (done.returncode, " ".join(words), done.stdout[-2000:]))
        if self.program.has_fault:
            raise Wrong("a kernel reads outside, and the run ends well: %s" % " ".join(words))
        for name, want in self.expected.items():
            got = np.load(self.path(name + ".out.npy"))
            if got.shape != want.shape or got.dtype != want.dtype:
                raise Wrong("%s\n%s is %s%s, expected %s%s" % (" ".join(words), name, got.dtype, got.shape, want.dtype, want.shape))
            places = [tuple(p) for p in np.argwhere(got != want)[:3]]
            if places or not np.array_equal(got, want):
                raise Wrong("%s\n%s differs at %s: %s, expected %s" % (" ".join(words), name, places, [got[p] for p in places], [want[p] for p in places]))


def main():
    given = options()
    begin, right, refused, late, long, wrong = time.time(), 0, 0, 0, 0, 0
    for seed in [given.only] if given.only is not None else range(given.seed, given.seed + given.programs):
        try:
            Check(given, seed).run()
            right += 1
        except Refused:
            refused += 1
        except Late:
            late += 1
        except TooLong:
            long += 1
        except Wrong as why:
            wrong += 1
            print("DIFFERENCE seed %d: %s" % (seed, why), flush=True)
        if wrong >= 20:
            break
    print("%d programs, %d differences (%.0f s; %d failed by an index that may be outside; not run: %d that would take long, "
          "%d whose index is known too late)" % (right + refused + wrong, wrong, time.time() - begin, refused, long, late))
    sys.exit(1 if wrong or not right else 0)


if __name__ == "__main__":
    main()
