#!/usr/bin/env python3
"""instructions.py - counts the instructions a task by callgrind and compares them with bench/instructions.txt.

Idea     times on a shared machine move by half; counts of one thread do not move at all.  `at submit` is the engine serial: every task
         is executed inline.  `deferred` is the engine timing with one worker: tasks, edges, map and scheduler do all they do, and the
         window is full.  Nothing that two cores do to each other is counted: that is what bench/run is for.
Fails    when a row is more than 3 % worse than the record, or is not in it.  --write makes the record anew: say in the commit why.
         A row that is more than 3 % better is reported, and should be recorded too: else the next change may lose it again.
Exit     0, 1, or 77 where the record says nothing about this build."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(HERE, "instructions.txt")
ALLOWED = 1.03
NINE = ["bgemm512", "indep", "chain", "bgemm", "stencil", "wave2d", "fan", "random", "tree"]
GRIDS = ["wave2d4", "wave2d256"]
TILES = ["chain", "stencil", "wave2d256"]
MODES = {"at submit": {"BENCH_ENGINE": "serial"}, "deferred": {"BENCH_ENGINE": "timing", "BENCH_DEFER": "1"}}
TASKS = 4096
HEAD = """# Instructions a task, by callgrind: what one thread executes for submit, dispatch and completion, the stream of tasks included.
# Made by bench/instructions.py --write (gcc 12, x86_64, preset release); compared by the test `instructions`, which allows 3 % more.
# wave2d<n> sweeps n x n tiles of one buffer.  The program `tiles` is `capi` with cells that are tiles of a matrix.
# program   mode       graph       instructions
"""


def count(programs, program, mode, graphs):
    """{graph: instructions a task} of one program."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=%s/out" % folder,
                   os.path.join(programs, program + "_counted"), str(TASKS), "1"] + graphs
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", **MODES[mode]}  # a larger environment would move the stack
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit("%s failed:\n%s%s" % (" ".join(command), run.stdout, run.stderr))
        rows = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            row = re.search(r"^desc: Trigger: Client Request: (\S+) (\d+)$", text, re.M)
            if row:
                total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
                rows[row.group(1)] = int(total.group(1)) / int(row.group(2))
        missing = set(graphs) - set(rows)
        if missing:
            sys.exit("callgrind wrote nothing for %s" % ", ".join(sorted(missing)))
        return rows


def count_all(programs):
    rows = {}
    for program in ("generated", "capi", "tiles"):
        for mode in MODES:
            graphs = TILES if program == "tiles" else NINE + (GRIDS if (program, mode) == ("capi", "deferred") else [])
            counted = count(programs, program, mode, graphs)
            rows.update({(program, mode, graph): counted[graph] for graph in graphs})
    return rows


def read_record():
    rows = {}
    with open(RECORD, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                program, mode, graph, value = re.split(r"  +", line.strip())
                rows[program, mode, graph] = float(value)
    return rows


def write_record(rows):
    with open(RECORD, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for (program, mode, graph), value in rows.items():
            file.write("%-10s  %-9s  %-10s  %7.1f\n" % (program, mode, graph, value))


def compare(rows, record):
    worse = 0
    for row, value in rows.items():
        name = "%-10s %-9s %-10s" % row
        if row not in record:
            print("%s %7.1f instructions a task: not in the record" % (name, value))
            worse += 1
            continue
        ratio = value / record[row]
        verdict = "WORSE" if ratio > ALLOWED else "better" if ratio * ALLOWED < 1 else ""
        worse += ratio > ALLOWED
        print("%s %7.1f  record %7.1f  %+5.1f %%  %s" % (name, value, record[row], (ratio - 1) * 100, verdict))
    if worse:
        print("\n%d rows cost more than 3 %% more instructions than bench/instructions.txt says.  If that is the price of something that\n"
              "is wanted, run  bench/instructions.py --write --programs <build>/bench/bin  and say in the commit what it buys." % worse)
    return worse == 0


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--programs", default=os.path.join(HERE, "..", "build", "release", "bench", "bin"),
                         help="the folder of capi_counted and the others")
    options.add_argument("--not-for", default="", help="why the record says nothing about this build")
    options.add_argument("--write", action="store_true", help="make the record anew")
    chosen = options.parse_args()
    if chosen.not_for:
        print("skipped:", chosen.not_for)
        return 77
    rows = count_all(chosen.programs)
    if chosen.write:
        write_record(rows)
        return 0
    return 0 if compare(rows, read_record()) else 1


if __name__ == "__main__":
    sys.exit(main())
