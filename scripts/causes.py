"""causes.py PTOC FOLDER [NAME ...] - where the time of the examples went: in each run the causes of each row add up to the time of the run.

Prints     the largest difference of a row from the wall time (the cycles, with `timing`), in percent; the exit code is 1 if one is above 1 %.
"""
import json
import os
import re
import subprocess
import sys

import numpy as np

import cases

ENGINES = ("threads", "serial", "process", "timing")
MOST = 1.0  # percent


def look(program, case, engine, folder):
    trace = os.path.join(folder, "trace.json")
    r = subprocess.run([program, *case.arguments, "--engine", engine, "--trace", trace, "--stats", "--quiet"], capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit("%s on %s: %s" % (program, engine, r.stderr))
    wall, unit = re.search(r"^Where the time went \(([0-9.]+) (ms|cycles)\):", r.stdout, re.M).groups()
    wall = float(wall) * (1e6 if unit == "ms" else 1)
    with open(trace, encoding="utf-8") as f:
        rows = json.load(f)["otherData"]["causes"]
    worst = 0
    for name, row in rows.items():
        whole = wall * (int(name.split(" x ")[1]) if " x " in name else 1)
        worst = max(worst, abs(sum(row.values()) - whole) / whole * 100 if whole else 0)
    return worst


def main():
    ptoc, folder, *names = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    worst, runs = 0, 0
    for make in [e for e in cases.ALL if not names or e.__name__ in names]:
        program = os.path.join(folder, make.__name__)
        subprocess.run([ptoc, "build", "--cpu=native", os.path.join(cases.EXAMPLES, make.__name__ + ".pto"), "-o", program], check=True)
        case = cases.Case(folder, np.random.default_rng(1), 0)
        make(case)
        for engine in ENGINES:
            percent = look(program, case, engine, folder)
            worst, runs = max(worst, percent), runs + 1
            if percent > MOST:
                print("%s on %s: %.2f %%" % (make.__name__, engine, percent))
    print("%d runs, %.3f %% at most" % (runs, worst))
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
