"""matrix.py - the rows product and cholesky: matrix.pto beside StarPU-MPI and ScaLAPACK, each at its best block and grid.

Idea     The loop of a rival's steps is one product or factorisation after another, so its first, which touches memory, is in both runs.
         A block that does not divide the size is not tried."""
import expected
from measure import Rival, a_step, best
from rivals import PLACEMENTS

GRIDS = ["1x2", "2x1"]
GOAL_FROM = 4096
ARRAYS = {"product": "ABC", "cholesky": "SL"}


def ours(bench, entry, block, grid):
    program = bench.rivals.ours("matrix", "tiles", "-DT=%d" % block)
    words = [program, "--entry", entry, "--quiet", "--dim", "n=%d" % bench.size]
    for array in ARRAYS[entry]:
        words += ["--input", array + "=zeros", "--dist", "%s=%dx%d:%s" % (array, block, block, grid)]

    def command(count, file):
        output = ["--output", "%s=%s" % (ARRAYS[entry][-1], file)] if file else []
        return bench.rivals.launcher + words + ["--set", "count=%d" % count] + output
    return Rival("ours, tile %d on %s" % (block, grid), command)


def words_of_peer(bench, program, entry, block, grid):
    return lambda count, file: [program, entry, str(bench.size), str(block), *grid.split("x"), str(count), file or "-"]


def scalapack(bench, entry, block, grid):
    words = words_of_peer(bench, bench.rivals.scalapack(), entry, block, grid)
    return Rival("ScaLAPACK, block %d on %s" % (block, grid), lambda count, file: bench.rivals.launcher + words(count, file))


def starpu(bench, entry, block, grid, placement, scheduler):
    words = words_of_peer(bench, bench.rivals.starpu("starpu_matrix", "tiles"), entry, block, grid)
    return Rival("StarPU-MPI, tile %d on %s, %s, %s" % (block, grid, placement, scheduler),
                 lambda count, file: bench.rivals.launcher_of(placement) + words(count, file),
                 {**bench.rivals.environment_of(placement), "STARPU_SCHED": scheduler})


def row(bench, entry, flops, want, schedulers):
    blocks = [block for block in bench.blocks if bench.size % block == 0]
    if not blocks or not bench.rivals.work("tiles"):
        return
    # Five seconds of a processor of 30 GFLOP/s, and at least two: with less, the start of MPI decided which block was best.
    long, short = 2 + 2 * max(1, round(1.5e11 / flops / 2)), 2
    chosen = []
    for make, is_there, more in ((ours, True, {}), (scalapack, bench.rivals.scalapack(), {}),
                                 (starpu, bench.rivals.starpu("starpu_matrix", "tiles"), dict(placement=list(PLACEMENTS), scheduler=schedulers))):
        if is_there:
            choices = dict(block=blocks, grid=GRIDS, **more)
            made = lambda **options: make(bench, entry, **options)  # noqa: E731
            chosen.append(made(**best(made, choices, long, short)))
    found = [rival for rival in chosen
             if expected.right(rival, 2, want, bench.rivals.folder, "F" if rival.name.startswith("ScaLAPACK") else "C", entry == "cholesky")]
    most = 1 if bench.size >= GOAL_FROM else None
    bench.table(entry, a_step(bench.rounds, long, short, found), [("ScaLAPACK", 1, most, "not slower from n = %d, wall" % GOAL_FROM)])


def product(bench):
    row(bench, "product", 2 * bench.size ** 3, expected.product(2, bench.size), ["lws"])


def cholesky(bench):
    row(bench, "cholesky", bench.size ** 3 / 3, expected.cholesky(2, bench.size), ["lws", "prio"])
