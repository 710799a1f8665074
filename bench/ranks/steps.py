"""steps.py - the rows chain and halo, and the programs that grain shares with them: steps.c by ptoc, by hand, and on StarPU-MPI"""
import expected
from measure import Rival, a_step, best
from rivals import PLACEMENTS

HALO_ROWS = 4096
FEWER = 200  # steps of StarPU-MPI in chain


def starpu(bench, entry, size, placement, fewer):
    rivals = bench.rivals
    program = rivals.starpu("starpu_steps", "steps")
    return Rival("StarPU-MPI, " + placement,
                 lambda count, file: rivals.launcher_of(placement) + [program, entry, str(count), str(size), file or "-"],
                 rivals.environment_of(placement), fewer)


def best_placement(bench, entry, size, fewer, long, short):
    """Of StarPU-MPI's threads, or None: it is not there."""
    if not bench.rivals.starpu("starpu_steps", "steps"):
        return None
    return best(lambda placement: starpu(bench, entry, size, placement, fewer), dict(placement=list(PLACEMENTS)), *bench.steps(long, short))["placement"]


def programs(bench, entry, size, words, placement, fewer):
    """The rivals of a row that are there.  words: the options of ours; StarPU-MPI gets so many times fewer steps, because each takes longer."""
    rivals, result = bench.rivals, "x" if entry == "chain" else "A"
    program, by_hand = rivals.ours("ranks", "steps"), rivals.by_hand()

    def ours(count, file):
        output = ["--output", "%s=%s" % (result, file)] if file else []
        return rivals.launcher + [program, "--entry", entry, "--quiet", "--set", "count=%d" % count] + words + output

    made = [Rival("ours", ours)] if program else []
    if by_hand:
        made.append(Rival("by hand", lambda count, file: rivals.launcher + [by_hand, entry, str(count), str(size), file or "-"]))
    return made + ([starpu(bench, entry, size, placement, fewer)] if placement else [])


def are_right(bench, found, count, want):
    return [rival for rival in found if expected.right(rival, count, want, bench.rivals.folder)]


def chain(bench):
    placement = best_placement(bench, "chain", 0, FEWER, 20000, 2000)
    # One home: two cells are two messages a step.
    found = are_right(bench, programs(bench, "chain", 0, ["--input", "x=zeros", "--dist", "x=4:1"], placement, FEWER), 100, expected.chain(100))
    bench.table("chain", a_step(bench.rounds, *bench.steps(200000, 2000), found), [("by hand", 0, 3, "3 times by hand, processors")])


def halo(bench):
    placement = best_placement(bench, "halo", HALO_ROWS, 1, 40, 2)
    half = "%dx2048:2x1" % (HALO_ROWS // 2)
    words = ["--input", "A=" + bench.rivals.saved("halo", expected.halo(0, HALO_ROWS)), "--input", "B=zeros", "--dist", "A=" + half, "--dist", "B=" + half]
    found = are_right(bench, programs(bench, "halo", HALO_ROWS, words, placement, 1), 4, expected.halo(4, HALO_ROWS))
    bench.table("halo", a_step(bench.rounds, *bench.steps(1002, 2), found), [("by hand", 0, 1.05, "within 5 % of by hand, processors")])
