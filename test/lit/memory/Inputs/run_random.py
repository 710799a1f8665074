"""Builds random programs and runs each on every engine, with tiny windows, against NumPy, in a heap of what --emit=bounds calls need,
which must do; in one of a granule less each ends, right or refused; more than what it calls peak must never be in use.

usage: run_random.py PTOC FOLDER FIRST_SEED COUNT [build options...]
"""
import os
import random
import re
import subprocess
import sys

import numpy as np

from programs import Program

ENGINES = ("serial", "threads", "timing", "process")


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout.decode(errors="replace")


def fail(seed, program, command, text):
    sys.exit("seed %d: %s\n%s\n%s" % (seed, " ".join(command), text, program))


def bounds(ptoc, source, options):
    """Bytes of need and of peak; the programs have constant sizes."""
    code, said = call([ptoc, "build", "-w", "--emit=bounds", source, "-o", "-"] + options)
    text = said[said.index("export orch main"):].split("  scope")[0]
    if code != 0 or "not known" in text:
        sys.exit("no bounds: " + said)
    return section(text, "need"), section(text, "peak")


def section(text, name):
    found = re.search(r"^  %s  .*?(?=^  [nsp]|\Z)" % name, text, re.M | re.S)
    return max(int(x) for x in re.findall(r"(\d+) bytes?(?::|$)", found.group(0), re.M)) if found else 0


def main():
    ptoc, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    source, binary = os.path.join(folder, "p.pto"), os.path.join(folder, "p")
    z_in, z_out = os.path.join(folder, "z.npy"), os.path.join(folder, "z.out.npy")
    np.seterr(over="ignore")
    np.save(z_in, np.array([7], np.uint32))
    runs = refused = moved = 0
    for seed in range(first, first + count):
        program, rng = Program(seed), random.Random(seed)
        text = program.text()
        with open(source, "w") as f:
            f.write(text)
        command = [ptoc, "build", "-w", "-O0", source, "-o", binary] + sys.argv[5:]
        code, said = call(command)
        if code != 0:
            fail(seed, text, command, said)
        need, peak = bounds(ptoc, source, sys.argv[5:])
        for engine in ENGINES:
            n, least = rng.randint(0, 7), max(need, 64)
            command = [binary, "--quiet", "--engine", engine, "--window", str(rng.choice((2, 4, 16, 64))), "--rings", "1",
                       "--stats", "--deps", str(rng.choice((2, 8, 64))), "--tensormap", str(rng.choice((2, 16, 256))),
                       "--set", "n=%d" % n, "--input", "z=" + z_in, "--output", "z=" + z_out]
            for heap in [least] + [least - 64] * (least > 64):
                code, said = call(command + ["--heap", str(heap)])
                if heap < least and code != 0 and "heap" in said:
                    refused += 1
                    continue
                if code != 0:
                    fail(seed, text, command + ["--heap", str(heap)], said)
                used = int(re.search(r"Heap Ring: +(\d+) /", said).group(1))
                if used > peak:
                    fail(seed, text, command, "%d bytes in use, and the peak is %d" % (used, peak))
                got, expected = int(np.load(z_out)[0]), program.run(n, 7)
                if got != expected:
                    fail(seed, text, command, "got %d, expected %d" % (got, expected))
                moved += "Moved: " in said
                runs += 1
    print("random programs: %d runs ok, %d refused, buffers were moved in %d" % (runs, refused, moved))


main()
