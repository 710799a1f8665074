"""Random programs under every --plan: the same results; `free` orders no two tasks that `ring` leaves unordered; each completes in a
heap of what --emit=bounds calls need; and more than it calls peak is never in use.

usage: compare_plans.py PTOC FOLDER FIRST_SEED COUNT
Orders are compared as what must come before what at the end, over any number of edges; `min` may order more, and somewhere does.
BATCH programs are built as one file, each with an entry of its own; every other file with --checked, whose buffers are larger.
"""
import json
import os
import random
import re
import subprocess
import sys

import numpy as np

from bounds_text import bounds_of_entries
from programs import HEAD, Program

PLANS = ("ring", "free", "min", "budget=1K")
BATCH = 20


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def order(path):
    """For each task the set of all before it, as a number with a bit for each."""
    before = []
    for task in json.load(open(path))["tasks"]:
        mine = 0
        for edge in task["after"]:
            mine |= before[edge["task"]] | 1 << edge["task"]
        before.append(mine)
    return before


def named(program, seed):
    """Its text with names that are its own, without the kernels."""
    text = re.sub(r"\bmain\(", "p%d(" % seed, program.text()[len(HEAD):])
    return re.sub(r"\b(f\d+)(?=[(<])", r"p%d_\1" % seed, text)


class Batch:
    def __init__(self, ptoc, folder, seeds):
        self.ptoc, self.folder, self.seeds = ptoc, folder, seeds
        self.programs = {seed: Program(seed, depth=seed % 3) for seed in seeds}
        self.source, self.binary, self.graph = (os.path.join(folder, name) for name in ("p.pto", "p", "g.json"))
        self.z_in, self.z_out = os.path.join(folder, "z.npy"), os.path.join(folder, "z.out.npy")
        np.save(self.z_in, np.array([7], np.uint32))
        with open(self.source, "w") as f:
            f.write(HEAD + "\n".join(named(p, seed) for seed, p in self.programs.items()))

    def fail(self, seed, plan, why):
        sys.exit("seed %d, --plan=%s: %s\n%s" % (seed, plan, why, self.programs[seed].text()))

    def run(self, seed, plan, options):
        command = [self.binary, "--quiet", "--entry", "p%d" % seed, "--set", "n=3", "--input", "z=" + self.z_in, "--output", "z=" + self.z_out]
        code, said = call(command + options)
        if code != 0:
            self.fail(seed, plan, " ".join(command + options) + "\n" + said)
        got = int(np.load(self.z_out)[0])
        if got != self.expected[seed]:
            self.fail(seed, plan, "got %d, expected %d with %s" % (got, self.expected[seed], " ".join(options)))
        return said

    def under(self, plan):
        """Builds and runs all under one plan: what is ordered before what in each, and what --emit=memory says."""
        build = [self.ptoc, "build", "-w", "-O0", "--plan=" + plan, self.source]
        checked = plan != "ring" and self.seeds[0] // BATCH % 2 == 0 # then the program says which slots it uses
        code, said = call(build + ["-o", self.binary] + ["--checked"] * checked)
        if code != 0:
            sys.exit("seeds %s, --plan=%s: %s" % (self.seeds, plan, said))
        bounds, orders = bounds_of_entries(call(build + ["--emit=bounds", "-o", "-"])[1]), {}
        for seed in self.seeds:
            rng, bound = random.Random("%d %s" % (seed, plan)), bounds["p%d" % seed]
            self.run(seed, plan, ["--checked", "--engine", "serial", "--graph", self.graph])
            orders[seed] = order(self.graph)
            if checked:
                continue
            said = self.run(seed, plan, ["--engine", rng.choice(("threads", "timing")), "--defer", "--window", str(rng.choice((2, 4, 16, 64))),
                                         "--rings", "1", "--heap", str(max(64, bound.need)), "--stats"])
            said += self.run(seed, plan, ["--stats"])
            for used in re.findall(r"Heap Ring: +(\d+) /", said):
                if int(used) > bound.peak:
                    self.fail(seed, plan, "%s bytes in use, and the peak is %d" % (used, bound.peak))
        return orders, call(build + ["--emit=memory", "-o", "-"])[1] if plan == "free" else ""

    def compare(self):
        self.expected = {seed: p.run(3, 7) for seed, p in self.programs.items()}
        orders, texts = {}, ""
        for plan in PLANS:
            orders[plan], text = self.under(plan)
            texts += text
        for seed in self.seeds:
            if orders["free"][seed] != orders["ring"][seed]:
                self.fail(seed, "free", "orders what --plan=ring does not")
            if any(r & ~m for r, m in zip(orders["ring"][seed], orders["min"][seed])):
                self.fail(seed, "min", "loses an order")
        frames = [line for line in texts.splitlines() if "without reuse" in line]
        return np.array([len(frames), sum(line.split()[1] != line.split()[-2] for line in frames),
                         sum(orders["min"][seed] != orders["ring"][seed] for seed in self.seeds)])


def main():
    ptoc, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    np.seterr(over="ignore")
    seen, seeds = np.zeros(3, int), list(range(first, first + count))
    for at in range(0, count, BATCH):
        seen += Batch(ptoc, folder, seeds[at:at + BATCH]).compare()
        if count > 200 and at // BATCH % 10 == 9:
            print("%d programs so far: %d frames" % (at + BATCH, seen[0]), flush=True)
    if not seen.all():
        sys.exit("nothing was tested: %d frames, %d of them with reuse, %d programs in which min waits" % tuple(seen))
    print("plans: ok, %d programs, %d frames, %d with reuse, %d programs in which min waits" % (count, *seen))


if __name__ == "__main__":
    main()
