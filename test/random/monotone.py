"""monotone.py - random programs in every heap from the least to twice what they use: once a heap size completes, each larger one does.

usage: monotone.py --ptoc PTOC [--programs 300] [--seed 1] [--per-file 10] [--steps 60] [--plans ring,free,...] [--std FOLDER] [--work FOLDER]
Each program is built under every plan, plain and with --checked, and runs with one ring in heaps that differ by one granule: at most --steps
of them, from the largest that is too small on, and those behind at random.  Results must be those of the interpreter in every heap, and a run
that does not complete must say that the heap is the reason.  A difference leaves the program in its folder and ends with exit code 1.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time

import driver
import generate
import interp

GRANULE = 64
TOO_SMALL = re.compile(r"deadlock: the heap|but a heap ring has")


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--ptoc", required=True)
    p.add_argument("--programs", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--per-file", type=int, default=10)
    p.add_argument("--steps", type=int, default=60, help="heaps for each program, plan and mode")
    p.add_argument("--plans", default="ring,free,min,budget=300,budget=1K")
    p.add_argument("--std", default=os.path.join(driver.HERE, "..", "..", "kernels"))
    p.add_argument("--work", default="monotone-programs")
    p.add_argument("--only", help="SEED/INDEX: this one program, alone in its file")
    return p.parse_args()


def done(command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Sweep:
    def __init__(self, given):
        self.given, self.std = given, [os.path.abspath(given.std)]
        self.programs = self.heaps = self.runs = self.differences = 0

    def report(self, folder, case, text, command):
        self.differences += 1
        print("DIFFERENCE %s, program %d/%d: %s\n%s" % (folder, case.seed, case.index, text, " ".join(command)), flush=True)

    def file(self, seed, only=None):
        made = generate.File(seed, self.given.per_file)
        folder = os.path.join(self.given.work, "seed%d" % seed)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        wanted = range(len(made.makers)) if only is None else [only]
        self.write(folder, made, [made.makers[i] for i in wanted])
        program = interp.Program(os.path.join(folder, "main.pto"), self.std)
        cases = [driver.Case(seed, i, made.makers[i]) for i in wanted]
        cases = [c for c in cases if not c.interpret(program)][:self.given.programs - self.programs]
        before = self.differences
        if cases and not self.sweep(folder, made, cases):
            for case in cases:  # one that ptoc refuses is driver.py's business
                self.sweep(folder, made, [case])
        if self.differences == before:
            shutil.rmtree(folder)

    @staticmethod
    def write(folder, made, makers):
        for home in ("main", "lib"):
            with open(os.path.join(folder, home + ".pto"), "w") as file:
                file.write(made.text(home, makers))

    def sweep(self, folder, made, cases):
        """false: they are refused."""
        self.write(folder, made, [c.maker for c in cases])
        binary, text, seen = os.path.join(folder, "program"), os.path.join(folder, "program.c"), set()
        for plan in self.given.plans.split(","):
            for checked in (False, True):
                build = [self.given.ptoc, "build", "-w", "--plan=" + plan, os.path.join(folder, "main.pto"), *["--checked"] * checked]
                if not done(build + ["--emit=c", "-o", text]):
                    return False
                with open(text) as made_c:
                    same = made_c.read()
                if same in seen:  # another plan that gave the same program
                    continue
                seen.add(same)
                if not done(build + ["--cpu=native", "-O0", "-o", binary]):
                    return False
                for case in cases:
                    self.heaps_of(folder, case, plan, checked, binary)
        self.programs += len(cases)
        return True

    def heaps_of(self, folder, case, plan, checked, binary):
        rng = random.Random("%d/%d/%s/%s" % (case.seed, case.index, plan, checked))
        command = case.command(binary, folder)
        used = self.used(command, folder, case)
        if used is None:
            return
        largest = max(2, 2 * used // GRANULE)
        low, high = 0, largest  # somewhere between is the least that completes, if all is well
        while high - low > 1:
            middle = (low + high) // 2
            if self.completes(rng, command, folder, case, middle):
                high = middle
            else:
                low = middle
        near = list(range(max(1, high - 4), min(largest, high + self.given.steps)))
        rest = [n for n in range(1, largest + 1) if n not in near]
        least = None
        for heap in sorted(near + rng.sample(rest, min(len(rest), self.given.steps // 2))):
            self.heaps += 1
            done = self.completes(rng, command, folder, case, heap)
            if done and least is None:
                least = heap
            if not done and least is not None:
                self.report(folder, case, "--plan=%s%s completes in %d bytes and not in %d" % (
                    plan, ", checked," * checked, least * GRANULE, heap * GRANULE), command)
                return

    def used(self, command, folder, case):
        """Bytes that a run in a large heap lays at most; None: it fails."""
        done = subprocess.run(command + ["--stats", "--engine", "serial"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode != 0:
            self.report(folder, case, "fails: " + done.stderr[-600:], command)
            return None
        found = re.search(r"Heap Ring: +(\d+) /", done.stdout + done.stderr)
        return int(found.group(1)) if found else 0

    def completes(self, rng, command, folder, case, heap):
        words = rng.choice((["--engine", "serial"], ["--engine", "serial"], ["--engine", "timing"], ["--engine", "threads"],
                            ["--engine", "threads", "--defer", "--window", str(rng.choice((2, 8, 64)))]))
        full = command + words + ["--rings", "1", "--heap", str(heap * GRANULE)]
        self.runs += 1
        try:
            done = subprocess.run(full, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        except subprocess.TimeoutExpired:
            self.report(folder, case, "does not end", full)
            return True
        if done.returncode != 0 and TOO_SMALL.search(done.stderr):
            return False
        wrong = case.compare(done, folder)
        if wrong:
            self.report(folder, case, wrong, full)
        return True


def main():
    given = options()
    sweep, seed, begin = Sweep(given), given.seed, time.time()
    if given.only:
        seed, index = map(int, given.only.split("/"))
        sweep.file(seed, index)
    while not given.only and sweep.programs < given.programs and sweep.differences < 20:
        sweep.file(seed)
        seed += 1
    print("%d programs, %d heaps, %d runs, %d differences (%.0f s; seeds %d..%d)" % (
        sweep.programs, sweep.heaps, sweep.runs, sweep.differences, time.time() - begin, given.seed, seed - 1))
    sys.exit(1 if sweep.differences or not sweep.programs else 0)


if __name__ == "__main__":
    main()
