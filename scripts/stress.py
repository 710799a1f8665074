"""Runs bgemm and treesum over and over on random schedules and compares every result, byte for byte, with engine serial.

Each repetition draws worker counts, window, heap and pools from (seed, repetition), so one can be repeated alone:
--seed S --first R --repetitions 1.  A run that does not end in time is a failure.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

K = 1024
# name, arguments of the program, output, heaps that suffice (bytes of each ring)
BGEMM_HEAPS = (16 * K, 32 * K, 64 * K, 256 * K, 1024 * K)
TREESUM_HEAPS = (4 * K, 16 * K, 64 * K, 1024 * K)


class Job:
    def __init__(self, program, inputs, output, heaps):
        self.program, self.inputs, self.output, self.heaps = program, inputs, output, heaps
        self.expected = None

    def command(self, result, options):
        command = [self.program, "--quiet"] + options
        for name, path in self.inputs:
            command += ["--input", "%s=%s" % (name, path)]
        return command + ["--output", "%s=%s" % (self.output, result)]


def save(folder, name, rng, shape):
    path = os.path.join(folder, name + ".npy")
    np.save(path, (2 * rng.random(shape) - 1).astype(np.float32))
    return path


def make_jobs(prefix, source, folder):
    programs = {}
    for name in ("bgemm", "treesum"):
        programs[name] = os.path.join(folder, name)
        subprocess.run([os.path.join(prefix, "bin", "ptoc"), "build", "--cpu=native", os.path.join(source, "examples", name + ".pto"),
                        "-o", programs[name]], check=True)
    rng = np.random.default_rng(1)
    jobs = {"bgemm": [], "treesum": []}
    for b, m, n, k in ((4, 256, 256, 256), (1, 128, 64, 192), (3, 64, 64, 256)):
        tag = "_%d_%d_%d_%d" % (b, m, n, k)
        inputs = [("A", save(folder, "A" + tag, rng, (b, m, k))), ("B", save(folder, "B" + tag, rng, (b, k, n))),
                  ("C", save(folder, "C" + tag, rng, (b, m, n)))]
        jobs["bgemm"].append(Job(programs["bgemm"], inputs, "C", BGEMM_HEAPS))
    for n in (1, 65536, 65537, 262144, 400003, 4000003):
        jobs["treesum"].append(Job(programs["treesum"], [("x", save(folder, "x_%d" % n, rng, (n,)))], "s", TREESUM_HEAPS))
    return jobs


def draw_options(rng, job):
    workers = ",".join("%s=%d" % (t, rng.randint(1, 16)) for t in ("cube", "vector", "cpu", "accel"))
    options = ["--engine", "threads", "--defer", "--workers", workers]
    if rng.random() < 0.8:
        options += ["--window", str(2 ** rng.randint(1, 10))]
    if rng.random() < 0.8:
        options += ["--heap", str(rng.choice(job.heaps))]
    if rng.random() < 0.5:
        options += ["--deps", str(2 ** rng.randint(1, 10))]
    if rng.random() < 0.5:
        options += ["--tensormap", str(2 ** rng.randint(1, 10))]
    return options


def run(job, result, options, timeout):
    """None when the bytes are those of engine serial, else what went wrong."""
    command = job.command(result, options)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        return "no end after %d s: %s" % (timeout, " ".join(command))
    if done.returncode != 0:
        return "exit code %d: %s\n%s" % (done.returncode, " ".join(command), done.stdout.decode(errors="replace"))
    with open(result, "rb") as f:
        got = f.read()
    if job.expected is None:
        job.expected = got
    if got != job.expected:
        return "result differs from engine serial: %s" % " ".join(command)
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("prefix", help="build folder or installation")
    p.add_argument("--repetitions", type=int, help="default: PTO_STRESS_REPETITIONS of the environment, else --usual")
    p.add_argument("--usual", type=int, default=100)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--timeout", type=int, default=120, help="seconds for one run")
    a = p.parse_args()
    if a.repetitions is None:
        a.repetitions = int(os.environ.get("PTO_STRESS_REPETITIONS") or a.usual)
    seed = a.seed if a.seed is not None else random.SystemRandom().randrange(1 << 32)
    print("seed %d, %d repetitions" % (seed, a.repetitions), flush=True)
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with tempfile.TemporaryDirectory(prefix="stress") as folder:
        jobs = make_jobs(os.path.abspath(a.prefix), source, folder)
        for kind in jobs.values():
            for job in kind:
                wrong = run(job, os.path.join(folder, "serial.npy"), ["--engine", "serial"], a.timeout)
                if wrong:
                    print("FAIL: " + wrong)
                    return 1

        def repeat(repetition):
            rng = random.Random("%d %d" % (seed, repetition))
            for name, kind in jobs.items():
                job = rng.choice(kind)
                wrong = run(job, os.path.join(folder, "%d.npy" % repetition), draw_options(rng, job), a.timeout)
                if wrong:
                    return "repetition %d of seed %d: %s" % (repetition, seed, wrong)
            os.remove(os.path.join(folder, "%d.npy" % repetition))
            return None

        start, failures = time.monotonic(), 0
        with ThreadPoolExecutor(a.jobs) as pool:
            for i, wrong in enumerate(pool.map(repeat, range(a.first, a.first + a.repetitions)), 1):
                if wrong:
                    failures += 1
                    print("FAIL: " + wrong, flush=True)
                if i % 500 == 0:
                    print("%d repetitions, %.0f s" % (i, time.monotonic() - start), flush=True)
    print("%d repetitions of bgemm and treesum, %d failed" % (a.repetitions, failures))
    return 1 if failures else 0


sys.exit(main())
