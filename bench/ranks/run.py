#!/usr/bin/env python3
"""run.py - what several ranks cost, beside MPI by hand, StarPU-MPI and ScaLAPACK, each figure beside its goal.

    ./dev bench ranks [--rounds 5] [--size 1024] [--mpi mpich] [row ...]      rows: chain halo grain product cholesky apart predicted

chain      a message a step between two ranks, beside a ping-pong written with MPI, and StarPU-MPI
halo       bands of 256 rows, a row from each neighbour a sweep, beside the same
grain      a stencil of 8 cells: how long a task is when half of the time of two ranks is useful, beside the same
product    of matrices of f64, beside pdgemm of ScaLAPACK and StarPU-MPI, over one BLAS, each at its best block, grid and threads
cholesky   the same beside pdpotrf
apart      tasks that need nothing of each other: two ranks beside one process with two workers
predicted  the product of docs/distributed.md on 1,024 ranks

Idea     measure.py; every result is compared with NumPy's first.  Processor time is that of all ranks: StarPU-MPI and MPI by hand ask for messages
         without a pause and have that in it, so wall time stands beside it.  A goal that is not met is shown and ends it with status 1.
Needs    the preset release with the library over MPI; mpicc and mpirun of the same MPI, Open MPI or MPICH.  --mpi NAME takes mpicc.NAME and mpirun.NAME,
         as Debian calls them where both are installed.  A peer that is not installed is named once, with its package."""
import argparse
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
sys.path.append(HERE)
import grain  # noqa: E402
import matrix  # noqa: E402
import steps  # noqa: E402
from measure import Rival, a_step  # noqa: E402
from rivals import Rivals  # noqa: E402


class Bench:
    """What all rows are given: the options, the programs, and the table."""

    def __init__(self, options):
        self.rounds, self.size, self.blocks, self.divide, self.good = options.rounds, options.size, options.blocks, options.divide, True
        self.rivals = Rivals(os.path.abspath(options.build), options.mpi)

    def steps(self, long, short):
        """Of the two runs that are compared."""
        return long // self.divide, short // self.divide

    def line(self, row, name, figure, goal="", is_met=None):
        self.good &= is_met is not False
        verdict = "" if is_met is None else "met" if is_met else "NOT MET"
        print("%-10s %-48s %-66s %-36s %s" % (row, name, figure, goal, verdict), flush=True)

    def table(self, row, figures, goals=()):
        """A line a rival.  figures: {name: (microseconds of processors, of the wall)}, ours first; goals: (name, 0 or 1, most times, text)."""
        first = next(iter(figures), None)
        for name, mine in figures.items():
            text = "processors %10.2f us  wall %10.2f us" % mine
            goal, is_met = "", None
            if name != first:
                text += "  ours %.2f, %.2f times" % tuple(figures[first][i] / mine[i] for i in range(2))
            for start, which, most, words in goals:
                if name != first and name.startswith(start):
                    goal, is_met = words, None if most is None else figures[first][which] <= most * mine[which]
            self.line(row, name, text, goal, is_met)


def apart(bench):
    half = ["--dist", "X=2048x2048:2x1", "--dist", "Y=2048x2048:2x1"]
    words = [bench.rivals.ours("ranks", "steps"), "--entry", "apart", "--quiet", "--input", "X=zeros", "--input", "Y=zeros", "--dim", "n=4096"]
    ranked = Rival("ours", lambda count, _: bench.rivals.launcher + words + half + ["--workers", "cpu=1", "--set", "count=%d" % count])
    alone = Rival("ours, one process", lambda count, _: words + ["--workers", "cpu=2", "--set", "count=%d" % count])
    found = a_step(bench.rounds, *bench.steps(22, 2), [ranked, alone])
    bench.table("apart", found, [("ours, one process", 0, 1 / 0.97, "0.97 of one process, processors")])


def predicted(bench):
    words = ["run", os.path.join(HERE, "product.pto"), "--engine", "timing", "--skip-kernels", "--ranks", "1024", "--dim", "n=65536", "--net", "2000,25"]
    done = subprocess.run([bench.rivals.ptoc] + words + ["--stats"], capture_output=True, text=True, check=True)
    efficiency = float(re.search(r"efficiency ([0-9.]+)", done.stdout).group(1))
    bench.line("predicted", "ours", "efficiency %.3f of 262,144 tasks on 1,024 ranks" % efficiency, "0.9", efficiency >= 0.9)


ROWS = dict(chain=steps.chain, halo=steps.halo, grain=grain.row, product=matrix.product, cholesky=matrix.cholesky, apart=apart, predicted=predicted)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--size", type=int, default=1024, help="of the matrices of product and cholesky, up to 4096 and more")
    p.add_argument("--blocks", type=lambda text: [int(b) for b in text.split(",")], default=[128, 64, 256, 512], help="tiles and blocks that are tried there")
    p.add_argument("--divide", type=int, default=1, help="so many times fewer steps, to see that a row runs where a machine has other work")
    p.add_argument("--build", default=os.path.join(TOP, "build", "release"))
    p.add_argument("--mpi", default="", help="openmpi or mpich; default: that of mpirun")
    p.add_argument("rows", nargs="*", default=list(ROWS))
    given = p.parse_args()
    unknown = set(given.rows) - set(ROWS)
    if unknown:
        sys.exit("no row %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(ROWS)))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what runs is ended, too
    bench = Bench(given)
    print("# %s; load %.1f when it began; medians of %d rounds" % (bench.rivals.blas, os.getloadavg()[0], given.rounds), flush=True)
    for row in given.rows:
        ROWS[row](bench)
    sys.exit(0 if bench.good else 1)


if __name__ == "__main__":
    main()
