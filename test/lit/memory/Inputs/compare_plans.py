"""Random programs under every --plan: the same results, and `free` orders no two tasks that `ring` leaves unordered.

usage: compare_plans.py PTOC FOLDER FIRST_SEED COUNT
Orders are compared as what must come before what at the end, over any number of edges; `min` may order more, and somewhere does.
"""
import json
import os
import subprocess
import sys

import numpy as np

from programs import Program

PLANS = ("ring", "free", "min", "budget=1K")


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


def main():
    ptoc, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    source, binary, graph = (os.path.join(folder, name) for name in ("p.pto", "p", "g.json"))
    z_in, z_out = os.path.join(folder, "z.npy"), os.path.join(folder, "z.out.npy")
    np.seterr(over="ignore")
    np.save(z_in, np.array([7], np.uint32))
    frames, reuses, waits = 0, 0, 0
    for seed in range(first, first + count):
        program = Program(seed, depth=seed % 3)
        with open(source, "w") as f:
            f.write(program.text())
        orders = {}
        for plan in PLANS:
            build = [ptoc, "build", "-w", "-O0", "--plan=" + plan, source]
            code, said = call(build + ["-o", binary])
            if code == 0:
                code, said = call([binary, "--quiet", "--checked", "--engine", "serial", "--set", "n=3", "--input", "z=" + z_in,
                                   "--output", "z=" + z_out, "--graph", graph])
            if code != 0:
                sys.exit("seed %d, %s: %s\n%s" % (seed, plan, said, program.text()))
            got, expected = int(np.load(z_out)[0]), program.run(3, 7)
            if got != expected:
                sys.exit("seed %d, %s: got %d, expected %d\n%s" % (seed, plan, got, expected, program.text()))
            orders[plan] = order(graph)
            if plan == "free":
                text = call(build + ["--emit=memory", "-o", "-"])[1]
                frames += text.count("without reuse")
                reuses += sum(line.split()[1] != line.split()[-2] for line in text.splitlines() if "without reuse" in line)
        if orders["free"] != orders["ring"]:
            sys.exit("seed %d: --plan=free orders what --plan=ring does not\n%s" % (seed, program.text()))
        if any(r & ~m for r, m in zip(orders["ring"], orders["min"])):
            sys.exit("seed %d: --plan=min loses an order\n%s" % (seed, program.text()))
        waits += orders["min"] != orders["ring"]
    if not frames or not reuses or not waits:
        sys.exit("nothing was tested: %d frames, %d of them with reuse, %d programs in which min waits" % (frames, reuses, waits))
    print("plans: ok, %d frames, %d with reuse, %d programs in which min waits" % (frames, reuses, waits))


main()
