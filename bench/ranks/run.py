#!/usr/bin/env python3
"""run.py - what several ranks cost, each figure beside its goal.

    ./dev bench ranks [--rounds 5] [--mpi mpich] [row ...]      rows: chain halo apart predicted

chain      a message a step between two ranks, beside a ping-pong written with MPI
halo       bands of 256 rows, a row from each neighbour a sweep, beside the same written with MPI
apart      tasks that need nothing of each other: two ranks beside one process with two workers
predicted  the product of docs/distributed.md on 1,024 ranks

Idea     the programs alternate, and each is run long and short: the difference is that of the steps, without start and end.  Figures are medians of
         processor time of all ranks, and of wall time.  A goal that is not met is shown and ends it with status 1.
Needs    the preset release with the library over MPI; mpicc and mpirun of the same MPI, Open MPI or MPICH.  --mpi NAME takes mpicc.NAME and mpirun.NAME,
         as Debian calls them where both are installed."""
import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
ROWS = 4096


def spent(command):
    """Seconds of processors and of the wall."""
    before, since = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    wall, after = time.monotonic() - since, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def a_step(rounds, long, short, *commands):
    """For each command, a function of a count: microseconds of processors and of the wall a step."""
    found = [([], []) for _ in commands]
    for _ in range(rounds):
        for command, (cpu, wall) in zip(commands, found):
            many, few = spent(command(long)), spent(command(short))
            cpu.append((many[0] - few[0]) / (long - short) * 1e6)
            wall.append((many[1] - few[1]) / (long - short) * 1e6)
    return [(statistics.median(cpu), statistics.median(wall)) for cpu, wall in found]


def launcher_of(mpirun):
    """Two ranks.  Ranks of Open MPI spin while they wait, unless they yield; it asks before it runs as root."""
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout if shutil.which(mpirun) else ""
    options = ["--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"] if "Open MPI" in version or "OpenRTE" in version else []
    return [mpirun] + options + ["-np", "2"]


class Bench:
    def __init__(self, build, rounds, mpi):
        self.rounds, self.good, self.folder = rounds, True, os.path.join(build, "bench", "ranks")
        os.makedirs(self.folder, exist_ok=True)
        self.ptoc = os.path.join(build, "bin", "ptoc")
        self.program, self.peer = os.path.join(self.folder, "ranks"), os.path.join(self.folder, "by_hand")
        subprocess.run([self.ptoc, "build", "-w", os.path.join(HERE, "ranks.pto"), "-o", self.program], check=True)
        self.mpicc, mpirun = ["%s.%s" % (name, mpi) if mpi else name for name in ("mpicc", "mpirun")]
        self.launcher = launcher_of(mpirun)

    def peer_is_made(self):
        if not shutil.which(self.mpicc) or not shutil.which(self.launcher[0]):
            print("# no %s or no %s (Debian: libopenmpi-dev openmpi-bin, or mpich)" % (self.mpicc, self.launcher[0]))
            return False
        subprocess.run([self.mpicc, "-O2", os.path.join(HERE, "by_hand.c"), "-o", self.peer], check=True)
        return True

    def ours(self, entry, ranks, *options):
        arrays = {"chain": ["x=zeros"], "halo": ["A=zeros", "B=zeros"], "apart": ["X=zeros", "Y=zeros"]}[entry]
        words = [self.program, "--entry", entry, "--quiet"] + [w for a in arrays for w in ("--input", a)] + list(options)
        words += [] if entry == "chain" else ["--dim", "n=%d" % ROWS]
        return lambda count: (self.launcher if ranks > 1 else []) + words + ["--set", "count=%d" % count]

    def row(self, name, figure, goal, is_met):
        self.good &= is_met
        print("%-10s %-90s %-34s %s" % (name, figure, goal, "met" if is_met else "NOT MET"), flush=True)

    def compared(self, name, ours, peer, most, goal):
        self.row(name, "processors %.2f us against %.2f us a step, %.2f times; wall %.2f against %.2f us" % (
            ours[0], peer[0], ours[0] / peer[0], ours[1], peer[1]), goal, ours[0] <= most * peer[0])

    def chain(self):
        if self.peer_is_made():
            by_hand = lambda count: self.launcher + [self.peer, "chain", str(count), "0"]
            ours, peer = a_step(self.rounds, 40000, 2000, self.ours("chain", 2, "--dist", "x=4:1"), by_hand)  # one home: two cells are two messages a step
            self.compared("chain", ours, peer, 3, "3 times by hand")

    def halo(self):
        if self.peer_is_made():
            by_hand = lambda count: self.launcher + [self.peer, "halo", str(count), str(ROWS)]
            half = "%dx2048:2x1" % (ROWS // 2)
            ours, peer = a_step(self.rounds, 202, 2, self.ours("halo", 2, "--dist", "A=" + half, "--dist", "B=" + half), by_hand)
            self.compared("halo", ours, peer, 1.05, "within 5 % of by hand")

    def apart(self):
        half = "%dx2048:2x1" % (ROWS // 2)
        ranked = self.ours("apart", 2, "--workers", "cpu=1", "--dist", "X=" + half, "--dist", "Y=" + half)
        ours, alone = a_step(self.rounds, 22, 2, ranked, self.ours("apart", 1, "--workers", "cpu=2"))
        self.row("apart", "processors %.0f us against %.0f us a step, efficiency %.3f; wall %.0f against %.0f us" % (
            ours[0], alone[0], alone[0] / ours[0], ours[1], alone[1]), "0.97 of one process", alone[0] >= 0.97 * ours[0])

    def predicted(self):
        words = ["run", os.path.join(HERE, "product.pto"), "--engine", "timing", "--skip-kernels", "--ranks", "1024", "--dim", "n=65536", "--net", "2000,25"]
        done = subprocess.run([self.ptoc] + words + ["--stats"], capture_output=True, text=True, check=True)
        efficiency = float(re.search(r"efficiency ([0-9.]+)", done.stdout).group(1))
        self.row("predicted", "efficiency %.3f of 262,144 tasks on 1,024 ranks" % efficiency, "0.9", efficiency >= 0.9)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--build", default=os.path.join(TOP, "build", "release"))
    p.add_argument("--mpi", default="", help="openmpi or mpich; default: that of mpirun")
    p.add_argument("rows", nargs="*", default=["chain", "halo", "apart", "predicted"])
    given = p.parse_args()
    bench = Bench(given.build, given.rounds, given.mpi)
    for row in given.rows:
        getattr(bench, row)()
    sys.exit(0 if bench.good else 1)


if __name__ == "__main__":
    main()
