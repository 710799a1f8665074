#!/usr/bin/python3
"""std_costs.py PTOC FOLDER - the cost found of each kernel by index of std/ beside the cost that is written there.

Idea       the kernels with `cost` and `=>` are copied to a file for each module, a generic one for f32 (or i64), and --emit=kernels prints what
           the compiler finds.  Both are evaluated for extents of 64 and 512.  The cost counts arithmetic: what only moves elements costs nothing
           and what runs one element after another costs as if it did not, so those need `cost`; they are listed here."""
import pathlib
import re
import subprocess
import sys

PTOC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
STD = pathlib.Path(__file__).resolve().parents[4] / "kernels" / "std"
MOVES = {"copy", "fill", "fill2", "transpose", "take", "gather", "put", "scatter", "embedding"}
IN_ORDER = {"scan", "add_at"}
HEAD = re.compile(r"^kernel (\w+)<[^>]*>\([^{]*?\bcost ([^={]+?)(?: where [^={]+)?\s*=> (?:\{.*\}|\{\n.*?^\})$", re.M | re.S)


def value(text, extent):
    names = {"ceil_div": lambda a, b: -(-a // b), "max": max, "min": min, "BR": 64}
    return eval(re.sub(r"\b[A-Z]\b", str(extent), text).replace("/", "//"), names)


apart = count = 0
for module in sorted(STD.glob("*.pto")):
    kernels = []
    for text in re.split(r"\n(?=kernel |orch |//|struct |const |export |@|\n)", module.read_text()):
        found = HEAD.match(text.strip())
        if not found:
            continue
        is_int = "E: int" in text
        plain = re.sub(r"\bE\b", "i64" if is_int else "f32", re.sub(r"E: \w+, ", "", text.strip()))
        kernels.append((found[1], found[2], plain.replace("kernel %s<" % found[1], "kernel k%d<" % len(kernels), 1)))
    if not kernels:
        continue
    constants = re.findall(r"^const .*;$", module.read_text(), re.M)
    (FOLDER / module.name).write_text("\n".join(constants + [k[2] for k in kernels]) + "\n")
    printed = subprocess.run([PTOC, "build", "--emit=kernels", FOLDER / module.name], capture_output=True, text=True, check=True).stdout
    costs = dict(re.findall(r"^/\* (k\d+), .* cost (.*)$", printed, re.M))
    for i, (name, written, _) in enumerate(kernels):
        count += 1
        ratios = [value(costs["k%d" % i], extent) / value(written, extent) for extent in (64, 512)]
        if all(1 / 4 <= ratio <= 4 for ratio in ratios) == (name in MOVES | IN_ORDER):
            print("APART", module.stem, name, "found", costs["k%d" % i], "written", written, "ratios %.2f %.2f" % tuple(ratios))
            apart += 1
print("%d kernels, %d apart" % (count, apart))
