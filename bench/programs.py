"""programs.py - what can be measured here: our programs as CMake built them, the peers whose compiler and library are installed.

Idea     a Row is a program with an environment; it prints the lines of harness.h.  A missing peer is reported once, by package."""
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "peers")


@dataclass
class Row:
    name: str
    program: str
    finds: str                      # who finds the dependences
    environment: dict = field(default_factory=dict)
    threads: str = ""               # the variable that says how many threads run tasks
    is_ours: bool = False
    slow: int = 1                   # gets so many times fewer tasks
    few: dict = field(default_factory=dict)  # graph: at most so many tasks on one core

    def settings(self, cores):
        return {**os.environ, **self.environment, **({self.threads: str(cores)} if self.threads else {})}


def ours(folder):
    def row(name, program, finds, **environment):
        return Row(name, os.path.join(folder, "bin", program), finds, environment, is_ours=True)
    return [row("ptoc", "generated", "runtime"),
            row("ptoc --defer", "generated", "runtime", BENCH_DEFER="1"),
            row("C API", "capi", "runtime"),
            row("C API, deferred", "capi", "runtime", BENCH_DEFER="1"),
            row("no runtime", "floor", "nobody")]


def line(folder):
    """(least, median) ns of a line's trip between processors 0 and 1."""
    return tuple(subprocess.run([os.path.join(folder, "bin", "line")], capture_output=True, text=True, check=True).stdout.split())


def compiled(folder, name, command, package):
    """The peer's program, or None; a compiler or a library that is not there is no error."""
    out = os.path.join(folder, "peers", name)
    os.makedirs(os.path.dirname(out), exist_ok=True)
    if not shutil.which(command[0]):
        print("# no %s: %s is not installed (Debian: %s)" % (name, command[0], package), file=sys.stderr)
        return None
    run = subprocess.run(command[:1] + ["-O2"] + command[1:] + ["-o", out], cwd=PEERS, capture_output=True, text=True)
    if run.returncode != 0:
        reason = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip()[:200])
        print("# no %s: %s (Debian: %s)" % (name, reason, package), file=sys.stderr)
        return None
    return out


def pkg_config(library):
    if not shutil.which("pkg-config"):
        return []
    run = subprocess.run(["pkg-config", "--cflags", "--libs", library], capture_output=True, text=True)
    return shlex.split(run.stdout) if run.returncode == 0 else []


def peers(folder):
    clang = next((c for c in ["clang"] + ["clang-%d" % v for v in range(21, 13, -1)] if shutil.which(c)), "clang")
    # libgomp on one thread walks the readers of an address: quadratic where a region has many, so these graphs get few tasks.
    quadratic = {"stencil": 10000, "wave2d": 10000, "fan": 10000}
    made = [
        ("libgomp", ["gcc", "-std=gnu11", "-fopenmp", "omp.c"], "gcc",
         dict(finds="runtime", threads="OMP_NUM_THREADS", environment={"OMP_PROC_BIND": "true"}, few=quadratic)),
        ("libomp", [clang, "-std=gnu11", "-fopenmp=libomp", "omp.c"], "clang-14 libomp-14-dev",
         dict(finds="runtime", threads="OMP_NUM_THREADS", environment={"OMP_PROC_BIND": "true"})),
        ("oneTBB flow graph", ["g++", "-std=c++17", "tbb.cpp", "-ltbb"], "g++ libtbb-dev", dict(finds="given", threads="PEER_THREADS")),
        ("StarPU", ["gcc", "-std=gnu11", "starpu.c"] + pkg_config("starpu-1.3"), "libstarpu-dev pkg-config",
         dict(finds="runtime", threads="STARPU_NCPU", environment={"STARPU_SILENT": "1"}, slow=10)),
    ]
    rows = []
    for name, command, package, how in made:
        program = compiled(folder, name.split()[0].lower(), command, package)
        if program:
            rows.append(Row(name, program, **how))
    return rows


def large(folder):
    """The programs of bench/large that were built: without BLAS there are none."""
    made = [Row("ptoc", "large_ours", "runtime", is_ours=True), Row("by hand", "large_threads", "nobody"),
            Row("libgomp", "large_omp", "runtime", {"OMP_PROC_BIND": "true", "OMP_MAX_TASK_PRIORITY": "1000"}, threads="OMP_NUM_THREADS"),
            Row("OpenBLAS", "large_library", "nobody")]
    for row in made:
        row.program = os.path.join(folder, "bin", row.program)
    return [row for row in made if os.path.exists(row.program)]


def run_large(row, cores, runs, words):
    """[(problem, tile, ns)]"""
    command = ["taskset", "-c", ",".join(str(c) for c in range(cores)), row.program, str(runs)] + words
    done = subprocess.run(command, env={**row.settings(cores), "LARGE_THREADS": str(cores)}, capture_output=True, text=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    if done.returncode != 0 or any(line[-1] != "ok" for line in lines):
        print("# %s: WRONG results or failed: %s" % (row.name, done.stderr.strip()[:300]), file=sys.stderr)
    return [(line[0], int(line[1]), int(line[2])) for line in lines if line[-1] == "ok"]


def run(row, cores, tasks, runs, graphs, timeout=600):
    """[(graph, tasks, length_ns, all_ns, submit_ns, peak_kib)] of one start of the program on so many processors."""
    command = ["taskset", "-c", ",".join(str(c) for c in range(cores)), row.program, str(tasks), str(runs)] + graphs
    try:
        done = subprocess.run(command, env=row.settings(cores), capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        print("# %s on %d: %s took more than %d s" % (row.name, cores, " ".join(graphs), timeout), file=sys.stderr)
        return []
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    wrong = {line[0] for line in lines if line[-1] != "ok"}
    if wrong or done.returncode != 0:
        print("# %s on %d: WRONG results: %s %s" % (row.name, cores, sorted(wrong), done.stderr.strip()[:300]), file=sys.stderr)
    return [(line[0],) + tuple(int(v) for v in line[1:6]) for line in lines if line[-1] == "ok"]
