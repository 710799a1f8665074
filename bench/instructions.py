#!/usr/bin/env python3
"""instructions.py - counts the instructions a task by callgrind and compares them with bench/instructions.txt.

Idea     times on a shared machine move by half; counts of one thread do not move at all.  `at submit` is the engine serial: every task
         is executed inline.  `deferred` is the engine timing with one worker: tasks, edges, map and scheduler do all they do, and the
         window is full.  `in strips` is the engine threads on one processor, to which loops are handed over in strips, `threads` the same
         task by task.  Nothing that two cores do to each other is counted: that is what bench/run is for.
Roles    of a few deferred rows it is also counted who executes them: the orchestrator (`submit`), the scheduler (`schedule`), the worker
         (`run`), or the simulator, which no other engine has.  A function with all that is inlined into it belongs to the file it is in.
Fails    when a row is more than 3 % worse than the record, one of the engine threads more than 10 %, or is not in it.  --write makes the record anew: say in the commit why.
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
ALLOWED, ALLOWED_OF_THREADS = 1.03, 1.10  # the latter have two threads, which wait for each other longer or shorter
NINE = ["bgemm512", "indep", "chain", "bgemm", "stencil", "wave2d", "fan", "random", "tree"]
GRIDS = ["wave2d4", "wave2d256"]
TILES = ["chain", "stencil", "wave2d256"]
CALLS = ["function", "position", "name"]
SKIPPED = ["one", "two", "three", "cells", "between", "loop-one", "loop-two", "loop-three", "loop-cells", "loop-between"]
STRIPS = ["chain", "bgemm", "stencil"]
SINGLE = ["chain", "random", "tree", "bgemm512"]
MODES = {"at submit": {"BENCH_ENGINE": "serial"}, "deferred": {"BENCH_ENGINE": "timing", "BENCH_DEFER": "1"}, "in strips": {"BENCH_DEFER": "1"},
         "threads": {"BENCH_DEFER": "1"}}
ROLES = ["submit", "schedule", "run", "simulator"]
WITH_ROLES = ("generated", "deferred", ["chain", "bgemm", "stencil"])
ROLE_OF_FILE = [("simulator", r"/engine/timing\.c$"), ("schedule", r"/runtime/schedule/"),
                ("run", r"/runtime/(backend|debug)/|/shared/task\.c$|/bench/generated\.c$|^\?\?\?$")]
TASKS = 4096
HEAD = """# Instructions a task, by callgrind: what one thread executes for submit, dispatch and completion, the stream of tasks included.
# Made by bench/instructions.py --write (gcc 12, x86_64, preset release); compared by the test `instructions`, which allows 3 % more.
# `call` is one run of an export with three arrays and a task: its own C function, and pto_program_call by position and by name.
# The rows `submit` to `simulator` are parts of the row `deferred` of that graph: who executes the instructions.
# `skipped` is a task of one, two or three tiles that another rank executes, on a rank of which nothing is asked; the cells are
# the matrices, of `cells` three tiles.  `between` is two tasks, one of which makes a buffer that the other reads, with its scope.
# The rows `in strips` and `threads` are of orchestrator, scheduler and worker together, what they do while they wait included; they
# move by 4 %.  In the latter, of the engine threads, each task is submitted by itself.
# The rows `loop-` are tasks, or pairs of them, of loops of 64 iterations that are offered in strips.
# wave2d<n> sweeps n x n tiles of one buffer.  The program `tiles` is `capi` with cells that are tiles of a matrix.
# program   mode       graph       instructions
"""


def role_of(file, function):
    if function.startswith("task_"):  # the stub of a kernel
        return "run"
    return next((role for role, pattern in ROLE_OF_FILE if re.search(pattern, file)), "submit")


def count_roles(text):
    """{role: instructions} of a file of callgrind.  Names have numbers, and are written out once.  The line behind `calls=` is what the
    callee costs.  A function is in the C file that most of its instructions are from."""
    names, file, function, is_call, costs = {}, "", "", False, {}
    for line in text.splitlines():
        name = re.match(r"(c?f)([lien])=(\(\d+\))(?: (.*))?$", line)
        if name:
            where, kind, number, full = name.groups()
            full = names.setdefault((kind == "n", number), full)
            if where == "f" and kind == "n":
                function = full
            elif where == "f":
                file = full
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[0-9+*-]", line):
            if not is_call:
                files = costs.setdefault(function, {})
                files[file] = files.get(file, 0) + int(line.split()[-1])
            is_call = False
    roles = dict.fromkeys(ROLES, 0)
    for function, files in costs.items():
        home = max(files, key=lambda name: (not name.endswith(".h"), files[name]))
        roles[role_of(home, function)] += sum(files.values())
    return roles


def stay_on_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def count(programs, program, mode, graphs):
    """{graph: instructions a task} of one program, and of some graphs {(graph, role): instructions a task}."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=%s/out" % folder,
                   os.path.join(programs, program + "_counted"), str(TASKS), "1"] + graphs
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", **MODES[mode]}  # a larger environment would move the stack
        run = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=stay_on_one_processor)
        if run.returncode != 0:
            sys.exit("%s failed:\n%s%s" % (" ".join(command), run.stdout, run.stderr))
        rows = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            row = re.search(r"^desc: Trigger: Client Request: (\S+) (\d+)$", text, re.M)
            if row:
                total = re.search(r"^totals: (\d+)", text, re.M)  # the summary is of one thread
                rows[row.group(1)] = int(total.group(1)) / int(row.group(2))
                if (program, mode) == WITH_ROLES[:2] and row.group(1) in WITH_ROLES[2]:
                    for role, instructions in count_roles(text).items():
                        rows[row.group(1), role] = instructions / int(row.group(2))
        missing = set(graphs) - set(rows)
        if missing:
            sys.exit("callgrind wrote nothing for %s" % ", ".join(sorted(missing)))
        return rows


def count_all(programs):
    rows = {}
    for program in ("generated", "capi", "tiles"):
        for mode in ("at submit", "deferred"):
            graphs = TILES if program == "tiles" else NINE + (GRIDS if (program, mode) == ("capi", "deferred") else [])
            counted = count(programs, program, mode, graphs)
            rows.update({(program, mode, graph): counted[graph] for graph in graphs})
            if (program, mode) == WITH_ROLES[:2]:
                rows.update({(program, role, graph): counted[graph, role] for graph in WITH_ROLES[2] for role in ROLES})
    for program, mode, graphs in (("generated", "in strips", STRIPS), ("capi", "threads", SINGLE), ("call", "at submit", CALLS),
                                  ("skipped", "at submit", SKIPPED)):
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
        allowed = ALLOWED_OF_THREADS if row[1] in ("in strips", "threads") else ALLOWED
        verdict = "WORSE" if ratio > allowed else "better" if ratio * allowed < 1 else ""
        worse += ratio > allowed
        print("%s %7.1f  record %7.1f  %+5.1f %%  %s" % (name, value, record[row], (ratio - 1) * 100, verdict))
    if worse:
        print("\n%d rows cost more than 3 %% more instructions than bench/instructions.txt says, or 10 %% of the engine threads.  If that is the price of something that\n"
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
