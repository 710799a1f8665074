"""How much heap the examples need, by what the compiler does about memory, and how near --emit=bounds comes to it.

usage: memory_table.py PTOC FOLDER [--only NAME,NAME] [--seed N] [--write FILE.md]

Each example runs on instant workers (engine serial), which free what they can at once, in smaller and smaller heaps of one ring: the least
that suffices is found by bisection.
    all        every tensor lives to the end of the run: neither scopes nor releases
    scopes     a tensor lives to the end of the block that names it
    release    ... to its last use: --plan=ring
    free, min  with frames
`need` is what the compiler prints, with the sizes of the run put in; `ratio` is need by the least heap of --plan=free.  Exit code 1: a heap of
`need` does not suffice, a smaller heap than the least one is not refused, a ratio is above 1.25, or more than `peak` is in use.
"""
import argparse
import os
import re
import subprocess
import sys

import numpy as np

import cases
from bounds_text import bounds_of_entries

GRANULE, LARGEST_RATIO = 64, 1.25
STEPS = {"jacobi": ("sweeps", 2), "cg": ("steps", 1), "pcg": ("steps", 1), "kmeans": ("rounds", 1),
         "pagerank": ("rounds", 2)}  # what is printed, and how much an iteration adds
NO_RELEASE = "#include <pto/pto_program.h>\n#define pto_release(rt, buffer) ((void)(buffer))\n#define pto_drop(rt, tensor) ((void)(tensor))\n"
NO_SCOPES = (NO_RELEASE + "#define pto_scope_begin(rt) pto_scope_current(rt)\n#define pto_scope_end(rt) ((void)0)\n"
             "#define pto_result_scope(rt) pto_scope_current(rt)\n")
WAYS = (("all", "ring", NO_SCOPES), ("scopes", "ring", NO_RELEASE), ("release", "ring", ""), ("free", "free", ""), ("min", "min", ""))


def call(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, **more)
    return done.returncode, done.stdout.decode(errors="replace")


def source_of(name):
    return os.path.join(cases.EXAMPLES, name + ".pto")


def build(ptoc, name, folder, way, plan, prelude):
    program, include = os.path.join(folder, way), os.path.join(folder, way + ".h")
    with open(include, "w") as f:
        f.write(prelude)
    environment = dict(os.environ)
    if prelude:
        environment["CC"] = "%s -include %s" % (environment.get("CC", "cc"), include)
    code, said = call([ptoc, "build", "--cpu=native", "-w", "-O0", "--plan=" + plan, source_of(name), "-o", program], env=environment)
    if code != 0:
        sys.exit("%s, %s: %s" % (name, way, said))
    return program


class Runs:
    """Of one program on one input."""

    def __init__(self, program, arguments):
        self.command = [program, "--quiet", "--engine", "serial", "--rings", "1"] + arguments

    def suffices(self, heap):
        code, said = call(self.command + ["--heap", str(heap)])
        if code != 0 and not re.search("heap", said):
            sys.exit(" ".join(self.command) + "\n" + said)
        return code == 0

    def least(self):
        """In granules; 0: no heap is used, though every run has one granule."""
        code, said = call(self.command + ["--heap", "1G", "--stats"])
        used = int(re.search(r"Heap Ring: +(\d+) /", said).group(1)) if code == 0 else sys.exit(said)
        if used == 0:
            return 0
        low, high = 0, -(-used // GRANULE)
        while not self.suffices(high * GRANULE):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.suffices(middle * GRANULE) else (middle, high)
        return high * GRANULE


def sizes_of(name, case):
    """Values of the names that bounds are made of: dimension variables from the arrays, scalars and params."""
    text = open(source_of(name)).read()
    values = {n: int(v) for n, v in re.findall(r"^param (\w+): i64 = (\d+);", text, re.M)}
    values.update(re.findall(r"^const (\w+) = (\d+);", text, re.M))
    values = {n: int(v) for n, v in values.items()}
    head = re.search(r"export orch \w+(?:<[^>]*>)?\((.*?)\)\s*(?:->[^{]*)?\{", text, re.S).group(1)
    for formal, shape in re.findall(r"(\w+): \w+\[([^\]]*)\]", head):
        if not os.path.exists(case.path(formal)):
            continue
        for extent, term in zip(np.load(case.path(formal), mmap_mode="r").shape, shape.split(",")):
            found = re.fullmatch(r"\s*([A-Za-z]\w*)(?: \+ (\d+))?\s*", term)
            if found and found.group(1) not in values:
                values[found.group(1)] = extent - int(found.group(2) or 0)
    values.update(case.sizes)
    return values


def peak_of(name, bound, said):
    """Of a run that said this: how often its loops turned, it prints.  None: not known."""
    word, step = STEPS.get(name, ("no loop that only the run ends", 1))
    iterations = max([int(n) for n in re.findall(r"^%s (\d+)" % word, said, re.M)] or [0]) // step
    return None if bound.peak is None else bound.peak + iterations * bound.iteration


def measure(ptoc, example, folder, seed):
    name = example.__name__
    folder = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    case = cases.Case(folder, np.random.default_rng(seed), 0)
    example(case)
    row, faults, programs = {"name": name}, [], {}
    for way, plan, prelude in WAYS:
        programs[way] = build(ptoc, name, folder, way, plan, prelude)
        row[way] = Runs(programs[way], case.arguments).least()
    code, said = call([ptoc, "build", "-w", "--emit=bounds", source_of(name), "-o", "-"])
    bound, = bounds_of_entries(said, sizes_of(name, case)).values()
    free = Runs(programs["free"], case.arguments)
    row["need"], row["peak"] = bound.need, bound.peak
    row["ratio"] = bound.need / row["free"] if bound.need and row["free"] else None
    if bound.need and not free.suffices(bound.need):
        faults.append("a heap of need, %d bytes, does not suffice" % bound.need)
    if row["free"] > GRANULE and free.suffices(row["free"] - GRANULE):
        faults.append("less than the least heap suffices")
    if row["ratio"] and row["ratio"] > LARGEST_RATIO:
        faults.append("need is %.2f times the least heap" % row["ratio"])
    for options in (["--window", "1024"], ["--window", "4", "--workers", "cube=2,vector=2"]):
        said = call([programs["free"], "--quiet", "--defer", "--stats"] + options + case.arguments)[1]
        used = int(re.search(r"Heap Ring: +(\d+) /", said).group(1))
        peak = peak_of(name, bound, said)
        if peak is not None and used > peak:
            faults.append("%d bytes in use, and the peak is %d" % (used, peak))
    print("%-12s %s" % (name, "  ".join("%s %s" % (k, text_of(v)) for k, v in row.items() if k != "name")), *faults, flush=True)
    return row, faults


def text_of(value):
    return "" if value is None else "%.2f" % value if isinstance(value, float) else "{:,}".format(value)


def table(rows):
    columns = [way for way, _, _ in WAYS] + ["need", "ratio"]
    lines = ["| example | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for row in rows:
        lines.append("| %s | %s |" % (row["name"], " | ".join(text_of(row[c]) for c in columns)))
    return "\n".join(lines) + "\n"


def write(path, text):
    """Between the two marks of the file."""
    page = open(path).read()
    begin, end = "<!-- memory_table.py -->\n", "<!-- end -->\n"
    page = page[:page.index(begin) + len(begin)] + text + page[page.index(end):]
    with open(path, "w") as f:
        f.write(page)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ptoc")
    p.add_argument("folder")
    p.add_argument("--only")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--write")
    a = p.parse_args()
    chosen = [e for e in cases.ALL if not a.only or e.__name__ in a.only.split(",")]
    measured = [measure(a.ptoc, e, a.folder, a.seed) for e in chosen]
    if a.write:
        write(a.write, table([row for row, _ in measured]))
    bad = sum(len(faults) for _, faults in measured)
    print("%d examples, %d faults" % (len(measured), bad))
    sys.exit(1 if bad or not measured else 0)


if __name__ == "__main__":
    main()
