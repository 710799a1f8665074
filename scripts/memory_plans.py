"""Every example under every --plan: the same results, the same order of tasks, and the heap that --emit=bounds promises.

usage: memory_plans.py PTOC FOLDER [--only NAME,NAME] [--seed N] [--size N] [--runs N]
For each example (sizes are random for a seed, larger with --size):
    plans    ring, free, min and a budget give the same bytes, which are right; `free` orders two tasks, over any number of edges, exactly
             where `ring` does, and `min` loses no order; a wait that a plan adds (W07) is reported under min and budget only
    need     a heap of exactly `need` bytes suffices, on the engines serial and threads, with small and large windows; with one unit
             less the run says so and ends
    peak     no run has more in use; of loops that only the run ends, iterations are counted by what the example prints
Tasks are matched by the order in which they are submitted.  Exit code 1: one of these does not hold.
"""
import argparse
import json
import os
import re
import subprocess
import sys

import numpy as np

import cases
from bounds_text import bounds_of_entries
from memory_table import GRANULE, call, peak_of, sizes_of, source_of

PLANS = ("ring", "free", "min", "budget=1K")
RUNS = (["--engine", "serial"],
        ["--engine", "threads", "--defer", "--window", "1024", "--workers", "cube=2,vector=2,cpu=1"],
        ["--engine", "threads", "--defer", "--window", "4"],
        ["--engine", "threads"])

def order(path):
    """For each task, by number of submission, all that is before it, as a number with a bit for each; and what it is."""
    before, names = [], []
    for task in json.load(open(path))["tasks"]:
        mine = 0
        for edge in task["after"]:
            mine |= before[edge["task"]] | 1 << edge["task"]
        before.append(mine)
        names.append(task["kernel"])
    return before, names


class Example:
    def __init__(self, ptoc, make, folder, seed, size):
        self.ptoc, self.name, self.folder = ptoc, make.__name__, os.path.join(folder, make.__name__)
        os.makedirs(self.folder, exist_ok=True)
        self.case = cases.Case(self.folder, np.random.default_rng(seed), size)
        self.error, self.limit = make(self.case)
        self.faults, self.same, self.first = [], {}, {}  # same: C -> the plan whose program it is; first: plan -> that plan

    def fault(self, text):
        self.faults.append(text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, plan):
        """How many warnings W07.  Plans that give the same C have one program, that of the first."""
        source, text = ["build", "--plan=" + plan, source_of(self.name), "-o"], self.path("program.c")
        code, said = call([self.ptoc, *source, text, "--emit=c"])
        if code == 0:
            with open(text) as f:
                self.first[plan] = self.same.setdefault(f.read(), plan)
        if code == 0 and self.first[plan] == plan:
            code, said = call([self.ptoc, *source, self.path(plan), "--cpu=native", "-O0"])
        if code != 0:
            sys.exit("%s, --plan=%s: %s" % (self.name, plan, said))
        return len(re.findall(r"warning\[W07\]", said))

    def run(self, plan, options):
        for name in self.case.outputs:
            if os.path.exists(self.case.path(name + ".out")):
                os.remove(self.case.path(name + ".out"))
        return call([self.path(self.first[plan]), "--quiet", "--stats"] + self.case.arguments + options)

    def outputs(self):
        return [self.case.got(name).tobytes() for name in self.case.outputs]

    def is_right(self, what, code, said):
        if code != 0:
            self.fault("%s: %s" % (what, said.strip()[:400]))
        elif self.error() > self.limit:
            self.fault("%s: wrong" % what)
        return code == 0

    def plans(self):
        waits, orders, results = {}, {}, {}
        for plan in PLANS:
            waits[plan] = self.build(plan)
            if self.first[plan] != plan:
                orders[plan] = orders[self.first[plan]]
                continue
            if not self.is_right("--plan=" + plan, *self.run(plan, ["--engine", "serial", "--graph", self.path("g.json")])):
                return
            orders[plan], results[plan] = order(self.path("g.json")), self.outputs()
            if results[plan] != results["ring"]:
                self.fault("--plan=%s gives something else than ring" % plan)
            if orders[plan][1] != orders["ring"][1]:
                self.fault("--plan=%s submits other tasks than ring" % plan)
        self.tasks, self.waits, self.more = len(orders["ring"][1]), waits["min"], orders["min"] != orders["ring"]
        if orders["free"] != orders["ring"]:
            self.fault("--plan=free orders what ring does not, or loses an order")
        if any(r & ~m for r, m in zip(orders["ring"][0], orders["min"][0])):
            self.fault("--plan=min loses an order")
        if waits["ring"] or waits["free"]:
            self.fault("W07 under ring or free")
        if self.more and not waits["min"]:
            self.fault("--plan=min waits and W07 does not say so")

    def bound(self):
        code, said = call([self.ptoc, "build", "-w", "--emit=bounds", source_of(self.name), "-o", "-"])
        bound, = bounds_of_entries(said, sizes_of(self.name, self.case)).values()
        return bound

    def heaps(self, runs):
        bound = self.bound()
        self.need, self.peak, self.used = bound.need, bound.peak, 0
        heap = max(bound.need or 0, GRANULE)
        for options in RUNS * runs:
            if bound.need is not None:
                what = "a heap of need, %d bytes, %s" % (heap, " ".join(options))
                self.is_right(what, *self.run("free", options + ["--rings", "1", "--heap", str(heap)]))
                self.smaller(heap, options)
            code, said = self.run("free", options)
            self.is_right(" ".join(options), code, said)
            found = re.search(r"Heap Ring: +(\d+) /", said)
            used = int(found.group(1)) if found else 0
            self.used = max(self.used, used)
            self.peak = peak_of(self.name, bound, said)
            if self.peak is not None and used > self.peak:
                self.fault("%d bytes in use, and the peak is %d" % (used, self.peak))

    def smaller(self, heap, options):
        """One unit less: a heap is cut into segments, 1,024 at most as long as they are small."""
        unit = GRANULE
        while unit < 64 * 1024 and heap // unit > 1024:
            unit *= 2
        heap -= unit
        if heap <= 0:
            return
        try:
            code, said = self.run("free", options + ["--rings", "1", "--heap", str(heap)])
        except subprocess.TimeoutExpired:
            self.fault("a heap of %d bytes hangs, %s" % (heap, " ".join(options)))
            return
        if code == 0 or not re.search("heap", said):
            self.fault("a heap of %d bytes, less than need, is not refused, %s" % (heap, " ".join(options)))


def text_of(value):
    return "not known" if value is None else "{:,}".format(value)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ptoc")
    p.add_argument("folder")
    p.add_argument("--only")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--size", type=int, default=0)
    p.add_argument("--runs", type=int, default=1)
    a = p.parse_args()
    bad = done = needs = waits = 0
    for make in cases.ALL:
        if a.only and make.__name__ not in a.only.split(","):
            continue
        e = Example(a.ptoc, make, a.folder, a.seed, a.size)
        e.plans()
        e.heaps(a.runs)
        print("%-12s %s tasks, min adds %s waits, need %s, in use at most %s, peak %s" % (
            e.name, e.tasks, e.waits, text_of(e.need), text_of(e.used), text_of(e.peak)), *e.faults, flush=True)
        bad, done, needs, waits = bad + len(e.faults), done + 1, needs + (e.need is not None), waits + e.more
    print("%d examples, %d with a need, %d in which min orders more, %d faults" % (done, needs, waits, bad))
    sys.exit(1 if bad or not done else 0)


if __name__ == "__main__":
    main()
