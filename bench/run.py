#!/usr/bin/env python3
"""run.py - measures our runtime beside every peer that is installed, and prints tables.

    bench/run.py [graphs] [metg] [counts] [windows] [grids] [costs] [memory] [large]     default: graphs metg costs memory large

graphs   the nine graphs of empty tasks, ns a task, minimum / median, on 1 core and on 2; ratios to each peer; the goals, of tasks that are
         executed inline and of deferred ones apart; --defer: the deferred path only, with its costs
metg     stencil with tasks of 50 ns to 100 us on 2 cores: efficiency, and the length at which it is 50 %
counts   1,000,000 tasks against 100,000
windows  the deferred path by size of the window
grids    4 x 4 to 256 x 256 tiles of one buffer
costs    submitting and completing apart, on the deferred path
memory   the peak of memory at 10^5 and at 10^7 tasks
large    products, Cholesky and attention on real kernels at tiles of 16 to 256: large.pto, OpenMP tasks, a schedule by hand, OpenBLAS

Idea     programs alternate: each round starts every program once, so that a machine that is slow for a while is slow for all.
         Every start checks its graph against program order first; what is wrong gets no figure.
Needs    our programs: `ninja bench_floor bench_capi bench_generated` in the build folder, preset release.  `./dev bench` does it all."""
import argparse
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402
from half_point import half_point  # noqa: E402

NINE = ["bgemm512", "indep", "chain", "bgemm", "stencil", "wave2d", "fan", "random", "tree"]
GOALS = {1: dict(bgemm512=25, bgemm=25, indep=15, chain=15, stencil=50, wave2d=50, random=50, fan=30, tree=30),
         2: dict(bgemm512=30, bgemm=30, indep=15, chain=20, stencil=60, wave2d=60, random=60, fan=35, tree=35)}
# Everything through the window: the whole of a task, and its two sides apart.
DEFERRED_GOALS = {1: dict(bgemm=30, stencil=40), 2: {**dict.fromkeys(NINE, 40), "random": 60}}
SUBMIT_GOALS = dict(bgemm512=20, bgemm=20, chain=20, indep=20, stencil=30, wave2d=30, random=30)
COMPLETE_GOALS = dict.fromkeys(NINE, 20)
LENGTHS = [50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 100000]


class Samples:
    """Figures by key, of any number of rounds."""

    def __init__(self):
        self.of = {}

    def add(self, key, value):
        self.of.setdefault(key, []).append(value)

    def least(self, key):
        return min(self.of[key]) if key in self.of else math.nan

    def median(self, key):
        return statistics.median(self.of[key]) if key in self.of else math.nan

    def text(self, key):
        return "%.0f / %.0f" % (self.least(key), self.median(key)) if key in self.of else "-"


def print_table(title, head, lines):
    print("\n### %s\n" % title)
    widths = [max(len(str(line[i])) for line in [head] + lines) for i in range(len(head))]
    for n, line in enumerate([head] + lines):
        print("| " + " | ".join(str(v).ljust(widths[i]) for i, v in enumerate(line)) + " |")
        if n == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    sys.stdout.flush()


def rounds_of(options, what):
    for i in range(options.rounds):
        if sys.stderr.isatty():
            print("\r%s: round %d of %d " % (what, i + 1, options.rounds), end="", file=sys.stderr)
        yield i
    if sys.stderr.isatty():
        print("\r" + " " * 50 + "\r", end="", file=sys.stderr)


# ---- the nine graphs ---------------------------------------------------------------------------------------------------------

def graph_arguments(row, cores, options):
    words = []
    for graph in options.graph:
        tasks = 512 if graph == "bgemm512" else options.tasks // row.slow
        if cores == 1:
            tasks = min(tasks, row.few.get(graph, tasks))
        words.append("%s:0:%d" % (graph, tasks))
    return words


def sample_graphs(rows, cores, options):
    samples = Samples()
    for _ in rounds_of(options, "graphs, %d core%s" % (cores, "s"[:cores - 1])):
        for row in rows:
            words = graph_arguments(row, cores, options)
            small = [w for w in words if w.startswith("bgemm512")]
            large = [w for w in words if w not in small]
            for chosen, runs in ((small, 20 * options.runs), (large, options.runs)):
                if chosen:
                    for graph, tasks, _, all_ns, _, _ in programs.run(row, cores, 512, runs, chosen):
                        samples.add((row.name, graph), all_ns / tasks)
    return samples


def show_graphs(rows, cores, samples, options):
    lines = [[row.name, row.finds] + [samples.text((row.name, g)) for g in options.graph] for row in rows]
    print_table("%d core%s, ns a task, minimum / median" % (cores, "s"[:cores - 1]), ["", "dependences"] + options.graph, lines)
    for base in [row.name for row in rows if row.name in GOAL_ROWS]:
        show_ratios(base, rows, cores, samples, options)


def show_ratios(base, rows, cores, samples, options):
    ours = {g: samples.median((base, g)) for g in options.graph}
    lines = []
    for row in rows:
        if not row.is_ours:
            ratios = [samples.median((row.name, g)) / ours[g] for g in options.graph]
            lines.append([row.name] + ["%.1f" % r for r in ratios])
    if not lines:
        return
    print_table("%d core%s: how many times longer than `%s`, medians" % (cores, "s"[:cores - 1], base), [""] + options.graph, lines)
    behind = [(row.name, g) for row in rows for g in options.graph
              if not row.is_ours and samples.median((row.name, g)) < ours[g]]
    print("\nbehind a peer: " + (", ".join("%s on %s" % pair for pair in behind) if behind else "nowhere"))


# The row whose figures are compared: its path, the row of the C API on the same path, the goals of that path.
GOAL_ROWS = {"ptoc": ("executed inline", "C API", GOALS), "ptoc --defer": ("deferred", "C API, deferred", DEFERRED_GOALS)}


def show_goals(name, by_cores, options):
    path, other, goals = GOAL_ROWS[name]
    lines = []
    for cores, samples in by_cores.items():
        for graph in options.graph:
            if graph not in goals[cores]:
                continue
            goal, figures = goals[cores][graph], [samples.least((row, graph)) for row in (name, other)]
            lines.append([cores, graph, goal] + ["%.0f" % f for f in figures] + ["yes" if figures[0] <= goal else "no"])
    print_table("goals of tasks that are %s, ns a task, minima" % path, ["cores", "graph", "goal", name, other, name + " meets it"], lines)


def graphs(rows, options):
    chosen = [row for row in rows if not options.defer or not row.is_ours or row.environment]
    by_cores = {cores: sample_graphs(chosen, cores, options) for cores in options.cores}
    for cores, samples in by_cores.items():
        show_graphs(chosen, cores, samples, options)
    for name in GOAL_ROWS:
        if any(row.name == name for row in chosen):
            show_goals(name, by_cores, options)
    if options.defer:
        costs(rows, options)


# ---- METG ----------------------------------------------------------------------------------------------------------------------

def metg(rows, options):
    cores = max(options.cores)
    chosen = [row for row in rows if row.finds != "nobody"]
    for row in [r for r in chosen if r.is_ours]:
        two = programs.Row(row.name + ", %d workers" % cores, row.program, row.finds, {**row.environment, "BENCH_WORKERS": str(cores)},
                           is_ours=True)
        chosen.insert(chosen.index(row) + 1, two)
    samples = Samples()
    words = ["stencil:%d:%d" % (length, min(64000, options.metg_ns // length)) for length in LENGTHS]
    for _ in rounds_of(options, "metg"):
        for row in chosen:
            # two runs: before each length the check calls other bodies, whose times are those of the first strips
            for _, tasks, length, all_ns, _, _ in programs.run(row, cores, 64000, 2, words):
                samples.add((row.name, length), all_ns / (tasks * length))
    lines = []
    for row in chosen:
        efficiency = [1 / (cores * samples.least((row.name, length))) for length in LENGTHS]
        half = half_point(LENGTHS, efficiency)
        lines.append([row.name] + ["%.0f %%" % (100 * e) for e in efficiency] +
                     ["%.2f us" % (half / 1000) if half else "over %g us" % (LENGTHS[-1] / 1000)])
    print_table("efficiency on %d cores, stencil of 64 columns, best of %d" % (cores, options.rounds),
                [""] + ["%g us" % (length / 1000) for length in LENGTHS] + ["METG(50 %)"], lines)


# ---- the other questions ---------------------------------------------------------------------------------------------------------

def our_rows(rows):
    return [row for row in rows if row.is_ours and row.finds == "runtime"]


def sweep(title, rows, options, cores, columns, words_of, environment_of=lambda column: {}):
    """A table of ns a task: rows by columns, each column a setting."""
    samples = Samples()
    for _ in rounds_of(options, title):
        for column in columns:
            for row in rows:
                set_row = programs.Row(row.name, row.program, row.finds, {**row.environment, **environment_of(column)}, row.threads,
                                       row.is_ours)
                for graph, tasks, _, all_ns, _, _ in programs.run(set_row, cores, options.tasks, options.runs, words_of(column)):
                    samples.add((row.name, column, graph.rstrip("0123456789")), all_ns / tasks)
    names = sorted({key[2] for key in samples.of})
    lines = [[row.name, graph] + [samples.text((row.name, c, graph)) for c in columns]
             for row in rows for graph in names]
    print_table(title + ", %d cores, ns a task, minimum / median" % cores, ["", "graph"] + [str(c) for c in columns], lines)


def counts(rows, options):
    chosen = [row for row in rows if row.slow == 1 and row.finds != "nobody"]
    sweep("tasks of one run", chosen, options, max(options.cores), [100000, 1000000],
          lambda n: ["%s:0:%d" % (g, n) for g in ("chain", "bgemm", "stencil", "tree")])


def windows(rows, options):
    deferred = [row for row in our_rows(rows) if row.environment]
    sweep("slots of the window", deferred, options, max(options.cores), [64, 256, 1024, 4096, 16384, 65536],
          lambda n: ["bgemm", "stencil"], lambda n: {"BENCH_WINDOW": str(n)})


def grids(rows, options):
    sweep("tiles of one buffer, a side", our_rows(rows), options, max(options.cores), [4, 16, 64, 256], lambda n: ["wave2d%d" % n])


def costs(rows, options):
    """A gate holds all tasks up until the last submit has returned, so that each side works alone.  All must fit the window, and these
    graphs have more tasks, which do so in strips only.  The end of a run takes some 28 us, whatever it has done."""
    long = ("bgemm", "fan")
    gated = [row for row in our_rows(rows) if row.environment]
    submit, complete = Samples(), Samples()
    for _ in rounds_of(options, "costs"):
        for row in gated:
            words = ["%s:0:3840" % g for g in NINE if row.name.startswith("ptoc") or g not in long]
            alone = programs.Row(row.name, row.program, row.finds, {**row.environment, "BENCH_GATE": "1", "BENCH_WINDOW": "4096"}, is_ours=True)
            for graph, tasks, _, all_ns, submit_ns, _ in programs.run(alone, max(options.cores), 3840, 12, words):
                submit.add((row.name, graph), submit_ns / tasks)
                complete.add((row.name, graph), (all_ns - submit_ns) / tasks)
    for side, samples, goals in (("submit", submit, SUBMIT_GOALS), ("dispatch and complete", complete, COMPLETE_GOALS)):
        lines = [[row.name] + [samples.text((row.name, n)) for n in NINE] for row in gated]
        lines.append(["goals"] + [str(goals.get(n, "-")) for n in NINE])
        print_table("deferred path, 3,840 tasks, %s alone, ns a task, minimum / median" % side, [""] + NINE, lines)


def memory(rows, options):
    lines = []
    few, many = 10**5, options.many
    for row in our_rows(rows):
        for graph in ("chain", "stencil"):
            peak = [programs.run(row, max(options.cores), n, 1, [graph], timeout=1800) for n in (few, many)]
            if all(peak):
                kib = [p[0][5] for p in peak]
                lines.append([row.name, graph, kib[0], kib[1], "%.2f" % ((kib[1] - kib[0]) * 1024 / (many - few))])
    print_table("peak of memory", ["", "graph", "KiB at 10^5 tasks", "KiB at %.0e tasks" % many, "bytes for each task more"], lines)


TILES = [16, 32, 64, 128, 256]


def large(rows, options):
    cores = max(options.cores)
    chosen = programs.large(os.path.join(options.build, "bench"))
    samples = Samples()
    for _ in rounds_of(options, "large"):
        for problem in ("gemm", "cholesky", "attention"):
            for tile in TILES:
                for row in chosen:
                    for _, _, ns in programs.run_large(row, cores, options.runs, ["%s:%d" % (problem, tile)]):
                        samples.add((row.name, problem, tile), ns / 1e6)
    lines = []
    for problem in ("gemm", "cholesky", "attention"):
        for row in chosen:
            keys = [(row.name, problem, tile) for tile in TILES]
            ratio = [samples.median(key) / samples.median(("by hand",) + key[1:]) for key in keys]
            if keys[0] in samples.of:
                lines.append([problem, row.name] + ["%.1f / %.1f (%.2f)" % (samples.least(k), samples.median(k), r)
                                                    for k, r in zip(keys, ratio)])
    print_table("%d cores, ms, minimum / median (to the schedule by hand, medians)" % cores, ["", ""] + ["tile %d" % t for t in TILES], lines)


PARTS = dict(graphs=graphs, metg=metg, counts=counts, windows=windows, grids=grids, costs=costs, memory=memory, large=large)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("part", nargs="*", help=", ".join(PARTS) + ", or all")
    options.add_argument("--build", default=os.path.join(programs.HERE, "..", "build", "release"), help="the build folder (preset release)")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--runs", type=int, default=3, help="timed runs in each start of a program")
    options.add_argument("--tasks", type=int, default=100000)
    options.add_argument("--many", type=int, default=10**7, help="memory: the larger number of tasks")
    options.add_argument("--metg-ns", type=int, default=200000000, help="metg: kernel time of one run")
    options.add_argument("--cores", type=lambda text: [int(c) for c in text.split(",")], default=[1, 2])
    options.add_argument("--graph", type=lambda text: text.split(","), default=NINE)
    options.add_argument("--no-peers", action="store_true")
    options.add_argument("--defer", action="store_true", help="graphs: the deferred path only, and its costs")
    chosen = options.parse_args()
    parts = chosen.part or ["graphs", "metg", "costs", "memory", "large"]
    parts = list(PARTS) if parts == ["all"] else parts
    for part in parts:
        if part not in PARTS:
            options.error("no part '%s'; there are %s" % (part, ", ".join(PARTS)))
    folder = os.path.join(chosen.build, "bench")
    if not os.path.exists(os.path.join(folder, "bin", "capi")):
        options.error("no programs in %s: build the targets bench_floor, bench_capi and bench_generated" % folder)
    available = os.sched_getaffinity(0)
    chosen.cores = [c for c in chosen.cores if set(range(c)) <= available]
    print("machine: %d processors, load %.1f when it began; every cell is checked against program order first" %
          (len(available), os.getloadavg()[0]))
    if len(available) > 1:
        print("a line of memory goes from one processor to the other and back in %s ns (least), %s (median): rows of two cores follow it" %
              programs.line(folder))
    rows = programs.ours(folder) + ([] if chosen.no_peers else programs.peers(folder))
    for part in parts:
        PARTS[part](rows, chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
