"""Makes input for an example, runs it, and checks the result against an independent computation.

usage: examples.py PTOC NAME[,NAME]...|all FOLDER [--seed N] [--repeat N] [--size N] [--with "RUN OPTIONS"]... [--launch "COMMAND"]...
       examples.py ... --stub FOLDER      each run on the backend ascend too, over the stub of test/ascend that is in FOLDER;
                                          `--heap least` is then about as little as the example can do with
       examples.py --list

Each example is built once, then run for every seed with every set of options.  Sizes are random for a seed, larger with --size.  Inputs
and outputs are .npy files in FOLDER; a line a run says the largest error.  Exit code 1: an error is larger than it may be.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

from cases import ALL, EXAMPLES, Case


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print("%s\n%s\nexit code %d" % (" ".join(command), done.stdout.decode(errors="replace"), done.returncode))
    return done.returncode == 0


def add_up(trace, limit=0.01):
    """The causes of each row sum up to the time of the run, which is the longest row's."""
    with open(trace, encoding="utf-8") as f:
        rows = {name: sum(row.values()) / (int(name.split(" x ")[1]) if " x " in name else 1) for name, row in json.load(f)["otherData"]["causes"].items()}
    wall = rows["orchestrator"]
    wrong = {name: total for name, total in rows.items() if abs(total - wall) > limit * wall}
    if wrong or not wall > 0 or len(rows) < 2:
        print("WRONG causes of %s: %s, wall %d" % (trace, wrong, wall))
    return not wrong


def run(program, example, folder, seed, size, options, launcher=()):
    c = Case(folder, np.random.default_rng(seed), size)
    error, limit = example(c)
    command = list(launcher) + [program] + c.arguments + options
    if not call(command) or ("--trace" in options and not add_up(options[options.index("--trace") + 1])):
        return False
    found = error()
    good = found <= limit
    print("%-12s %s error %.1e, at most %.0e, seed %d %s" % (example.__name__, "ok   " if good else "WRONG", found, limit, seed, " ".join(options)))
    if not good:
        print("  " + " ".join(command))
    return good


def with_least_heap(program, example, folder, seed, a, options):
    """`--heap least`: twice the least power of two with which the serial engine gets through on sim."""
    if "least" not in options:
        return options
    at = options.index("least")
    c = Case(folder, np.random.default_rng(seed), a.size)
    example(c)
    for power in range(12, 28):
        tried = options[:at] + [str(1 << power)] + options[at + 1:]
        if subprocess.run([program, "--engine", "serial", "--quiet"] + c.arguments + tried, capture_output=True).returncode == 0:
            return options[:at] + [str(2 << power)] + options[at + 1:]
    return options[:at] + [str(1 << 28)] + options[at + 1:]


MADE = set()  # folders of kernels; those of an earlier run may be of another compiler


def run_on_stub(ptoc, program, example, folder, seed, a, options):
    """Bit-identical to the serial engine on sim (--check), and the stub has nothing to say against it."""
    kernels, log = os.path.join(folder, "stub"), os.path.join(folder, "stub.log")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ascend_kernels.py")
    if kernels not in MADE and not call([sys.executable, script, ptoc, os.path.join(EXAMPLES, example.__name__ + ".pto"), kernels]):
        return False
    MADE.add(kernels)
    options = with_least_heap(program, example, folder, seed, a, options)
    if os.path.exists(log):
        os.remove(log)
    os.environ.update(LD_LIBRARY_PATH=a.stub, PTO_STUB_LOG=log)
    good = run(program, example, folder, seed, a.size, options + ["--backend", "ascend", "--kernels", os.path.join(kernels, "map.ini"), "--check"])
    del os.environ["LD_LIBRARY_PATH"], os.environ["PTO_STUB_LOG"]
    with open(log, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for line in lines:
        if line.startswith(("MISTAKE", "LEAK")):
            print("  " + line)
    print("  " + lines[-1])
    return good and lines[-1].startswith("# ABI stub, not run on Ascend") and lines[-1].endswith(" 0 mistakes, 0 leaks")


def is_sanitized(ptoc):
    """Is it of a build with a sanitizer?  Its checks take the C compiler twice as long with -O2."""
    with open(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(ptoc))), "share", "pto", "cflags"), encoding="utf-8") as f:
        return "-fsanitize" in f.read()


def run_all(ptoc, example, a):
    folder = os.path.join(a.folder, example.__name__)
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "program")
    # With a stub or an object it is about transfers and schedulers: the kernels of a usual build run without these options.
    plain = ["-O0"] if a.stub or a.link else ["-O1"] if is_sanitized(ptoc) else []
    plain += ["--plan=apart"] if a.stub else []  # a device has no joined kernels, see docs/ascend.md
    if not call([ptoc, "build", "-Werror", "--cpu=native", *plain, os.path.join(EXAMPLES, example.__name__ + ".pto")] + (a.link or []) + ["-o", program]):
        return False
    if a.stub:
        return all([run_on_stub(ptoc, program, example, folder, seed, a, options.split())
                    for seed in range(a.seed, a.seed + a.repeat) for options in a.options or [""]])
    return all([run(program, example, folder, seed, a.size, options.split(), launcher.split())
                for launcher in a.launcher or [""] for seed in range(a.seed, a.seed + a.repeat) for options in a.options or [""]])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--list", action="store_true")
    p.add_argument("ptoc", nargs="?")
    p.add_argument("name", nargs="?")
    p.add_argument("folder", nargs="?")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--repeat", type=int, default=1)
    p.add_argument("--size", type=int, default=0)
    p.add_argument("--stub")
    p.add_argument("--link", action="append", help="an object that every example is linked with")
    p.add_argument("--launch", dest="launcher", action="append", help="a command that is given the program and its arguments")
    p.add_argument("--with", dest="options", action="append")
    a = p.parse_args()
    if a.list:
        print("\n".join(e.__name__ for e in ALL))
        return
    if not a.folder:
        p.error("PTOC, NAME and FOLDER are needed")
    examples = {e.__name__: e for e in ALL}
    names = list(examples) if a.name == "all" else a.name.split(",")
    unknown = [name for name in names if name not in examples]
    if unknown:
        p.error("no example '%s'" % unknown[0])
    chosen = [examples[name] for name in names]
    sys.exit(0 if all([run_all(a.ptoc, e, a) for e in chosen]) else 1)


if __name__ == "__main__":
    main()
