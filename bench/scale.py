#!/usr/bin/env python3
"""scale.py - how many workers one orchestrator and one scheduler can feed, by simulation: tables and docs/scale.svg.

Idea     the engine timing simulates any number of workers; a cycle is a nanosecond here.  What a task costs the orchestrator and the
         scheduler is not simulated but given: measured by `bench/run.py costs` on the deferred path.  The two work at the same time on
         cores of their own, so the slower one sets the pace: that is the submit cost of the simulation.
Needs    ptoc of a build (--build)."""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DISPATCH = 100  # ns from ready to running: a line of cache handed from core to core, twice
LENGTHS = [500, 1000, 2000, 3000, 5000, 7000, 10000, 15000, 20000, 30000, 50000, 100000]
WORKERS = [9, 18, 36, 72, 144, 288, 576, 999]  # a third are cubes
COLOURS = ["#1b5e9e", "#c2410c", "#15803d", "#7c3aed", "#6b7280"]


class Simulator:
    def __init__(self, build, folder):
        self.program = os.path.join(folder, "scale")
        subprocess.run([os.path.join(build, "bin", "ptoc"), "build", "-w", os.path.join(HERE, "scale.pto"), "-o", self.program], check=True)

    def utilisation(self, entry, length, submit, cubes, vectors, window=1024):
        """Of the cubes and of the vectors, from 0 to 1."""
        size = ["--set", "n=%d" % max(20000 // 3, 30 * (cubes + vectors))] if entry == "independent" else \
            ["--dim", "M=16", "--dim", "K=32"] + [w for name in "abc" for w in ("--input", name + "=zeros")]
        command = [self.program, "--entry", entry, "--set", "len=%d" % length, "--engine", "timing", "--skip-kernels", "--quiet", "--stats",
                   "--workers", "cube=%d,vector=%d,cpu=1,accel=1" % (cubes, vectors), "--submit-cycles", str(submit),
                   "--dispatch-cycles", str(DISPATCH), "--window", str(window)] + size
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found = dict(re.findall(r"^Utilisation (\w+): ([\d.]+)%", run.stdout + run.stderr, re.M))
        return float(found["cube"]) / 100, float(found["vector"]) / 100

    def least_length(self, submit, workers, wanted=0.9):
        """The shortest independent task that keeps so many workers busy for so much of the time, to 2 %."""
        low, high = 10, 10**7
        while high > low * 1.02:
            middle = int(math.sqrt(low * high))
            busy = min(self.utilisation("independent", middle, submit, workers // 3, workers * 2 // 3, 8192))
            low, high = (low, middle) if busy >= wanted else (middle, high)
        return high


# ---- a plot ---------------------------------------------------------------------------------------------------------------------

def plot(x0, y0, title, x_title, x_range, x_ticks, y_title, y_range, y_ticks, y_is_log, curves):
    """A panel of 420 x 300: curves is [(name, [(x, y)])]; x is logarithmic."""
    def place(v, span, size, is_log):
        low, high = (math.log(s) for s in span) if is_log else span
        return ((math.log(v) if is_log else v) - low) / (high - low) * size
    width, height = 300, 210
    out = ['<g transform="translate(%d,%d)">' % (x0, y0),
           '<text x="%d" y="-14" font-weight="bold" text-anchor="middle">%s</text>' % (width / 2, title)]
    for value, text in x_ticks:
        x = place(value, x_range, width, True)
        out.append('<path d="M%.1f 0V%d" stroke="#e5e7eb"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x, height, x, height + 15, text))
    for value, text in y_ticks:
        y = height - place(value, y_range, height, y_is_log)
        out.append('<path d="M0 %.1fH%d" stroke="#e5e7eb"/><text x="-6" y="%.1f" text-anchor="end">%s</text>' % (y, width, y + 4, text))
    out.append('<rect width="%d" height="%d" fill="none" stroke="#6b7280"/>' % (width, height))
    out.append('<text x="%d" y="%d" text-anchor="middle">%s</text>' % (width / 2, height + 32, x_title))
    out.append('<text transform="translate(-42,%d) rotate(-90)" text-anchor="middle">%s</text>' % (height / 2, y_title))
    for n, (name, points) in enumerate(curves):
        path = " ".join("%s%.1f %.1f" % ("L" if i else "M", place(x, x_range, width, True), height - place(y, y_range, height, y_is_log))
                        for i, (x, y) in enumerate(points))
        out.append('<path d="%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, COLOURS[n]))
        out.append('<path d="M%d %dh18" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>' %
                   (width + 10, 12 + 17 * n, COLOURS[n], width + 33, 16 + 17 * n, name))
    return "\n".join(out + ["</g>"])


def micro(ns):
    return "%g us" % (ns / 1000)


def print_table(title, head, lines):
    print("\n### %s\n" % title)
    for n, line in enumerate([head] + lines):
        print("| " + " | ".join(str(v) for v in line) + " |")
        if n == 0:
            print("|" + "---|" * len(head))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"))
    options.add_argument("--submit-ns", type=int, default=85, help="orchestrator, a task of bgemm512")
    options.add_argument("--complete-ns", type=int, default=70, help="scheduler, the same")
    options.add_argument("--svg", default=os.path.join(HERE, "..", "docs", "scale.svg"))
    chosen = options.parse_args()
    pace = max(chosen.submit_ns, chosen.complete_ns)
    paces = [("one core for both roles: %d ns a task" % (chosen.submit_ns + chosen.complete_ns), chosen.submit_ns + chosen.complete_ns),
             ("as measured: %d ns" % pace, pace), ("two orchestrators: %d ns" % (pace // 2), pace // 2),
             ("the goal for submits: 30 ns", 30), ("edges replayed: 10 ns", 10)]
    with tempfile.TemporaryDirectory() as folder:
        sim = Simulator(chosen.build, folder)
        fed = [(name, [(n, min(sim.utilisation("independent", n, ns, 24, 48))) for n in LENGTHS]) for name, ns in paces]
        least = [(name, [(w, sim.least_length(ns, w)) for w in WORKERS]) for name, ns in paces]
        shapes = [("product, window %d" % w, [(n, sim.utilisation("product", n, pace, 24, 48, w)[0]) for n in LENGTHS])
                  for w in (256, 1024, 4096)]
        shapes.append(("interleaved, window 1024", [(n, sim.utilisation("interleaved", n, pace, 24, 48)[0]) for n in LENGTHS]))
    percent = lambda points: ["%.0f %%" % (100 * y) for _, y in points]
    print_table("24 cubes and 48 vectors, independent tasks: how much of the time the workers run kernels", ["a task"] + [micro(n) for n in LENGTHS],
                [[name] + percent(points) for name, points in fed])
    print_table("shortest task that keeps so many workers busy 90 % of the time, window 8192", ["workers"] + [str(w) for w in WORKERS],
                [[name] + ["%.1f us" % (y / 1000) for _, y in points] for name, points in least])
    print_table("a blocked product on 24 cubes and 48 vectors, %d ns a task: how busy the cubes are" % pace, [""] + [micro(n) for n in LENGTHS],
                [[name] + percent(points) for name, points in shapes])
    tens = [(0.2 * k, "%d %%" % (20 * k)) for k in range(6)]
    lengths = [(n, micro(n)) for n in (500, 2000, 10000, 50000)]
    panels = [plot(70, 40, "24 cubes, 48 vectors, independent tasks", "length of a task", (500, 100000), lengths, "workers busy", (0, 1), tens,
                   False, fed),
              plot(70, 360, "shortest task that keeps them 90 % busy", "workers", (9, 999), [(w, str(w)) for w in (9, 36, 144, 576)],
                   "length of a task", (50, 500000), [(10**k, micro(10**k)) for k in range(2, 6)], True, least),
              plot(70, 680, "a blocked product: how busy 24 cubes are", "length of a task", (500, 100000), lengths, "cubes busy", (0, 1), tens,
                   False, shapes)]
    with open(chosen.svg, "w", encoding="utf-8") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="640" height="960" font-family="sans-serif" font-size="12">\n'
                   '<rect width="640" height="960" fill="white"/>\n%s\n</svg>\n' % "\n".join(panels))
    return 0


if __name__ == "__main__":
    sys.exit(main())
