#!/usr/bin/python3
"""check_plans.py PTOC WIRE FOLDER - what is planned for N ranks is what N ranks do.

Idea       a product and a stencil are planned by one process and run by several: --stats names the same messages and bytes.  The traces of the
           plan name each message twice, as it leaves and as it comes; and no rank waits for one that leaves later than it can.
Exit code  0: yes.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_options import PROGRAM, SIDE, SWEEPS, TILE  # pylint: disable=wrong-import-position
from checks import RANKS, Check, follow, run  # pylint: disable=wrong-import-position

COUNTS = re.compile(r"^(?:Messages|Bytes sent): (\d+) total", re.M)


class Replay:
    """Each rank does one line after the other; a wait needs its message, and nothing else waits."""

    def __init__(self, folder):
        with open(os.path.join(folder, "traces.txt"), encoding="ascii") as f:
            names = f.read().split()
        self.lines = [[line.split() for line in open(os.path.join(folder, name), encoding="ascii")] for name in names]
        self.sent, self.received, self.cycles = {}, {}, 0

    def step(self, rank, words):
        if words[1] == "compute":
            self.cycles += int(words[2])
        if words[1] == "isend":
            assert (rank, words[2], words[3]) not in self.sent
            self.sent[rank, words[2], words[3]] = words[4]
        if words[1] == "irecv":
            assert (words[2], rank, words[3]) not in self.received
            self.received[words[2], rank, words[3]] = words[4]
        return words[1] != "wait" or (words[2], words[3], words[4]) in self.sent

    def run(self):
        at, moves = [0] * len(self.lines), True
        while moves:
            moves = False
            for rank, lines in enumerate(self.lines):
                while at[rank] < len(lines) and self.step(lines[at[rank]][0], lines[at[rank]]):
                    assert lines[at[rank]][0] == str(rank)
                    at[rank] += 1
                    moves = True
        return all(at[rank] == len(lines) and lines[-1][1] == "finalize" for rank, lines in enumerate(self.lines)) and self.sent == self.received


class Plans(Check):
    def __init__(self, ptoc, wire, folder):
        super().__init__(ptoc, wire, folder, "plans", PROGRAM, SIDE)

    def planned(self, entry, *options):
        sweeps = ["--set", "sweeps=%d" % SWEEPS] if entry == "stencil" else []
        return run([self.program, "--entry", entry, "--engine", "graph", "--dim", "n=%d" % SIDE, "--stats"] + sweeps + list(options))

    def real(self, entry, ranks):
        arrays = "ABC" if entry == "multiply" else "CD"
        inputs = [word for name in arrays for word in ("--input", "%s=%s" % (name, self.path(name)))]
        sweeps = ["--set", "sweeps=%d" % SWEEPS] if entry == "stencil" else []
        return run([sys.executable, RANKS, self.wire, str(ranks), self.program, "--entry", entry, "--stats"] + inputs + sweeps)

    def same_messages(self, entry, ranks):
        traces = os.path.join(self.folder, "%s-%d" % (entry, ranks))
        plan, done = self.planned(entry, "--ranks", str(ranks), "--traces", traces), self.real(entry, ranks)
        wanted = COUNTS.findall(done[1])
        self.expect("%s on %d ranks" % (entry, ranks), plan[0] == 0 and len(wanted) == 2 and COUNTS.findall(plan[1]) == wanted, plan, done)
        replay = Replay(traces)
        self.expect("the traces of %s on %d ranks do not end" % (entry, ranks), replay.run())
        named = [str(len(replay.sent)), str(sum(int(size) for size in replay.sent.values()))]
        self.expect("the traces of %s on %d ranks name other messages" % (entry, ranks), named == wanted, named, wanted)
        tasks = (SIDE // TILE) ** 3 if entry == "multiply" else 2 * SWEEPS * (SIDE // TILE) ** 2
        self.expect("the traces of %s on %d ranks: %d cycles" % (entry, ranks, replay.cycles), replay.cycles == tasks)

    def messages(self):
        for entry in ("multiply", "stencil"):
            for ranks in (2, 4):
                self.same_messages(entry, ranks)

    def predictions(self):
        """A product on 4 ranks: its time is that of a quarter of the tasks, and grows with the network."""
        find, times = re.compile(r"^Predicted: (\d+) cycles, efficiency ([0-9.]+)$", re.M), []
        for options in ([], ["--net", "100,1e9"], ["--net", "100,64"], ["--net", "100,64"]):
            code, out, err = self.planned("multiply", "--ranks", "4", *options)
            self.expect("a prediction", code == 0 and find.search(out), code, out, err)
            times.append(int(find.search(out).group(1)))
        quarter = (SIDE // TILE) ** 3 // 4
        self.expect("times", times[0] == quarter < times[1] < times[2] == times[3], times)
        code, out, err = run([self.program, "--entry", "multiply", "--engine", "timing", "--skip-kernels", "--dim", "n=%d" % SIDE, "--ranks", "4", "--net",
                              "100,64", "--stats"])
        self.expect("timing", code == 0 and int(find.search(out).group(1)) == times[2], code, out, err)

    def graph(self):
        folder, source = os.path.join(self.folder, "ti"), os.path.join(self.folder, "plans.pto")
        command = [self.ptoc, "graph", source, "--entry", "multiply", "--dim", "n=%d" % SIDE, "--format=ti"]
        code, out, err = run(command + ["--ranks", "2", "-o", folder])
        self.expect("ptoc graph --format=ti", code == 0 and len(Replay(folder).lines) == 2, code, out, err)
        code, out, err = run(command)
        self.expect("without ranks", code == 2 and "it needs --ranks N and -o FOLDER" in err, code, out, err)

    def refused(self, text, *options, code=2):
        result = self.planned("multiply", *options)
        self.expect("%s: exit code %d, %s" % (options, code, text), result[0] == code and text in result[2], *result)

    def refusals(self):
        self.refused("--net needs --ranks N and the engine timing or graph, in one process", "--net", "1,1")
        self.refused("--traces needs --ranks N", "--traces", self.folder)
        self.refused("--ranks 5000: at most 4096 are planned", "--ranks", "5000")
        self.refused("cannot write the traces in /nowhere/traces", "--ranks", "2", "--traces", "/nowhere/traces", code=4)
        for wrong in ("1", "1,", ",1", "-1,1", "1,0", "1,x", "x,1"):
            self.refused("--net '%s': cycles of a message and bytes a cycle" % wrong, "--ranks", "2", "--net", wrong)


if __name__ == "__main__":
    follow(Plans, Plans.messages, Plans.predictions, Plans.graph, Plans.refusals)
