"""driver.py - random programs: what ptoc makes of them against what the independent interpreter says.

usage: driver.py --ptoc PTOC [--programs 50] [--seed 1] [--runs 3] [--per-file 25] [--std FOLDER] [--work FOLDER] [--checked] [--keep]
Each program is run --runs times, each time by a random engine with random workers, window, heap, rings and pools; outputs and printed
text must be equal to the last bit.  A difference leaves the program, its data and the commands in a folder and ends with exit code 1.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time

import numpy as np

import generate
import interp
import random_kernels

HERE = os.path.dirname(os.path.abspath(__file__))


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--ptoc", required=True)
    p.add_argument("--programs", type=int, default=50, help="PTO_RANDOM of the environment goes before")
    p.add_argument("--seed", type=int, default=1, help="PTO_SEED of the environment goes before")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--per-file", type=int, default=25)
    p.add_argument("--std", default=os.path.join(HERE, "..", "..", "kernels"))
    p.add_argument("--work", default="random-programs")
    p.add_argument("--keep", action="store_true", help="keep what did not differ, too")
    p.add_argument("--plans", default="ring,free,min,budget=300,budget=100K,apart", help="values of --plan to build with, by commas")
    p.add_argument("--stub", help="folder of the stub of test/ascend: every run is on the backend ascend, over it (not run on Ascend)")
    p.add_argument("--wire", help="the wire of test/wire: every run is on several ranks, with distributions of its arrays")
    p.add_argument("--checked", action="store_true", help="every program is built with --checked: no right program may be blamed")
    p.add_argument("--only", help="SEED/INDEX: this one program, alone in its file")
    given = p.parse_args()
    given.programs, given.seed = int(os.environ.get("PTO_RANDOM", given.programs)), int(os.environ.get("PTO_SEED", given.seed))
    return given


def element_array(rng, element, shape):
    high = 2 if element == "bool" else 113
    return rng.integers(0, high, shape).astype(interp.ELEMENTS[element])


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


class Case:
    """One entry with its data and what the interpreter says of it."""

    def __init__(self, seed, index, maker):
        self.seed, self.index, self.maker = seed, index, maker
        rng = np.random.default_rng([seed, index])
        self.arrays = {n: element_array(rng, e, shape) for n, e, shape in maker.inputs}

    def interpret(self, program):
        """None, or why the program is none to run."""
        own = lambda name: "." not in name and name in self.formals() or "_p" in name
        self.settings = {k: v for k, v in self.maker.settings.items() if own(k)}
        run = interp.Run(program, self.settings, 60000, 256)
        try:
            self.expected, self.printed = run.entry(self.maker.entry, self.arrays, self.maker.dim_values)
        except interp.Fault as fault:
            return fault.id
        except interp.TooLong:
            return "long"
        self.lines, self.left_out = run.lines, run.left_out - run.evaluated
        self.texts = {home: self.text_lines(program, home) for home in ("main", "lib")}
        return None

    @staticmethod
    def text_lines(program, home):
        with open(os.path.join(os.path.dirname(program.main.path), home + ".pto")) as file:
            return file.read().split("\n")

    def is_dead(self, shift):
        """Was nothing run that one of the messages names?  shift: (file, column, text of the line) now."""
        for path, column, text in shift:
            home = path[:-4]
            for n, t in enumerate(self.texts[home], 1):
                left_out = any(at[:2] == (path, n) and at[2] <= column < at[3] for at in self.left_out)
                if t == text and (path, n) in self.lines and not left_out:
                    return False
        return True

    def formals(self):
        return [n for n in self.maker.settings]

    def command(self, binary, folder):
        command = [binary, "--quiet", "--entry", self.maker.entry]
        for key, value in self.settings.items():
            command += ["--set", "%s=%s" % (key, value)]
        for key, value in self.arrays.items():
            path = os.path.join(folder, "%s.%s.npy" % (self.maker.entry, key))
            np.save(path, value)
            command += ["--input", "%s=%s" % (key, path)]
        for key in self.expected:
            command += ["--output", "%s=%s" % (key, os.path.join(folder, "%s.%s.out.npy" % (self.maker.entry, key)))]
        return command

    def compare(self, done, folder):
        """None, or what differs."""
        if done.returncode != 0:
            return "exit code %d: %s" % (done.returncode, done.stderr.strip()[-600:])
        if done.stdout != self.printed:
            return "printed\n%sexpected\n%s" % (done.stdout, self.printed)
        for key, value in self.expected.items():
            got = np.load(os.path.join(folder, "%s.%s.out.npy" % (self.maker.entry, key)))
            if not same(got, value):
                return "output %s is\n%s\nexpected\n%s" % (key, got, value)
        return None


def configuration(rng):
    engine = rng.choice(["threads"] * 5 + ["serial", "timing", "timing", "process"])
    words = ["--engine", engine]
    if rng.random() < 0.7:
        words += ["--workers", ",".join("%s=%d" % (w, rng.choice([1, 1, 2, 3])) for w in ("cube", "vector", "cpu", "accel"))]
    if rng.random() < 0.6:
        words += ["--window", str(rng.choice([2, 4, 8, 64]))]
    if rng.random() < 0.5:
        words += ["--rings", str(rng.randint(1, 6))]
    if rng.random() < 0.4:
        words += ["--deps", str(rng.choice([2, 3, 8, 64]))]
    if rng.random() < 0.4:
        words += ["--tensormap", str(rng.choice([2, 5, 16, 128]))]
    if rng.random() < 0.5:
        words.append("--defer")  # these kernels are short: else many would be executed inline
    heap = rng.choice([4096, 16384, 65536, 1 << 20]) if rng.random() < 0.6 else None
    return words, heap


def ranked_configuration(rng, given, case):
    """How the ranks are started, and their options."""
    ranks = rng.choice([1, 2, 2, 3, 4, 7])
    words = ["--engine", rng.choice(["threads", "threads", "serial"]), "--window", str(rng.choice([2, 4, 16, 1024]))]
    words += ["--sends", str(rng.choice([1, 2, 16])), "--copies", str(rng.choice([0, 100, 1 << 20])), "--everywhere", str(rng.choice([0, 64, 65536]))]
    for name, array in case.arrays.items():
        if array.ndim > 0 and "." not in name and name[0] != "o" and rng.random() < 0.6:  # o: of the host
            cells = "x".join(str(rng.randint(1, max(1, n))) for n in array.shape) if rng.random() < 0.7 else ""
            words += ["--dist", "%s=%s:%s" % (name, cells, "x".join(str(rng.randint(1, 4)) for _ in array.shape))]
    script = os.path.join(HERE, "..", "wire", "ranks.py")
    return [sys.executable, script, given.wire, str(ranks)] if ranks > 1 else [], words


class Campaign:
    def __init__(self, given):
        self.given = given
        self.programs = self.runs = self.tasks = self.dead = self.differences = 0
        self.dropped = {}
        self.std = [os.path.abspath(given.std)]
        random_kernels.BY_INDEX = not given.stub  # a device has a function for each kernel, and none for those that are joined

    def file(self, seed, only=None):
        given = self.given
        made = generate.File(seed, given.per_file)
        folder = os.path.join(given.work, "seed%d" % seed)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        makers = made.makers if only is None else [made.makers[only]]
        self.write(folder, made, makers)
        program = interp.Program(os.path.join(folder, "main.pto"), self.std)
        cases = []
        for index, maker in enumerate(made.makers):
            if maker not in makers:
                continue
            case = Case(seed, index, maker)
            why = case.interpret(program)
            if why:
                self.dropped[why] = self.dropped.get(why, 0) + 1
            else:
                cases.append(case)
        binary = os.path.join(folder, "program")
        before = self.differences
        cases = self.build(folder, made, cases, binary)
        bad = self.differences > before
        for case in cases:
            self.programs += 1
            bad |= self.run(case, folder, binary)
        if not bad and not given.keep and os.path.exists(binary):
            shutil.rmtree(folder)

    def write(self, folder, made, makers):
        for home in ("main", "lib"):
            with open(os.path.join(folder, home + ".pto"), "w") as file:
                file.write(made.text(home, makers))

    def build(self, folder, made, cases, binary):
        """A program that is refused is a difference, and is taken out so that the others can run."""
        temporary = os.path.join(folder, "temporary")
        while cases:
            self.write(folder, made, [c.maker for c in cases])
            os.makedirs(temporary)
            words = [self.given.ptoc, "build", "--cpu=native", "-O0", "-w", os.path.join(folder, "main.pto"), "-o", binary]
            words += ["--checked"] * self.given.checked
            # In two files of three the kernels are in the program's own C file, which is compiled in half of the time.
            is_one_file = made.seed % 3 != 0
            words += ["--keep"] * is_one_file
            plans = [p for p in self.given.plans.split(",") if p]
            if plans:
                words.append("--plan=" + random.Random(made.seed).choice(plans))
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                                  env={**os.environ, "TMPDIR": temporary})
            done.stdout = re.sub(r"^ptoc: kept '.*'\n", "", done.stdout, flags=re.M)
            shutil.rmtree(temporary)
            if done.returncode == 0 and not done.stdout:
                if self.given.stub:
                    script = os.path.join(HERE, "..", "..", "scripts", "ascend_kernels.py")
                    subprocess.run([sys.executable, script, self.given.ptoc, os.path.join(folder, "main.pto"), folder, "--status"], check=True)
                return cases
            guilty = self.guilty(folder, cases, done.stdout)
            if not guilty:
                self.report(folder, "cannot be built: %s" % done.stdout[-2000:], [" ".join(words)])
                return []
            dead = [case for case in guilty if self.is_dead_code(folder, case, done.stdout)]
            if dead:
                self.dropped["dead"] = self.dropped.get("dead", 0) + len(dead)
                cases = [c for c in cases if c not in dead]
                continue
            for case in guilty:
                self.report(folder, "program %d/%d is refused:\n%s" % (case.seed, case.index, done.stdout[:2000]), [" ".join(words)])
            name = os.path.join(folder, "refused")
            os.makedirs(name, exist_ok=True)
            self.write(name, made, [c.maker for c in guilty])
            cases = [c for c in cases if c not in guilty]
        return []

    PROVED = ("E04", "E05", "E06", "E09", "E13", "E15", "E18", "E20")

    def is_dead_code(self, folder, case, text):
        """Proved wrong, in lines that no run reaches: by what a loop or a condition says there, the compiler is right."""
        named, own = [], self.lines_of(folder, case)
        for path, line, column, id_ in re.findall(r"^(\S*(?:main|lib)\.pto):(\d+):(\d+): error\[(\w+)\]", text, re.M):
            if (os.path.basename(path), int(line)) not in own:
                continue
            named.append((os.path.basename(path), int(column), own[os.path.basename(path), int(line)]))
            if id_ not in self.PROVED:
                return False
        return bool(named) and case.is_dead(named)

    def lines_of(self, folder, case):
        """(file, line) -> text of what belongs to one program."""
        own = {}
        for home in ("main", "lib"):
            with open(os.path.join(folder, home + ".pto")) as file:
                lines = file.read().split("\n")
            last = None
            for n, line in enumerate(lines, 1):
                found = re.match(r"(?:export )?(?:orch|const|param|struct) (e\d+)_", line)
                last = found.group(1) if found else last
                if last == case.maker.prefix:
                    own[home + ".pto", n] = line
        return own

    def guilty(self, folder, cases, text):
        """The programs whose lines the messages name."""
        named = {(os.path.basename(path), int(line))
                 for path, line in re.findall(r"^(\S*(?:main|lib)\.pto):(\d+):\d+: (?:error|warning)", text, re.M)}
        return [c for c in cases if named & set(self.lines_of(folder, c))]

    def run(self, case, folder, binary):
        rng = random.Random("%d/%d/runs" % (case.seed, case.index))
        command = case.command(binary, folder)
        bad = False
        for _ in range(self.given.runs):
            words, heap = configuration(rng)
            env, launcher = dict(os.environ), []
            if self.given.wire:
                (launcher, words), heap = ranked_configuration(rng, self.given, case), None
                env.update(PTO_LOCAL_SEED=str(rng.randint(1, 10**6)), PTO_LOCAL_LATEST=str(rng.choice([0, 3, 30])))
            if self.given.stub:
                words = [w if w != "process" else "threads" for w in words] + ["--backend", "ascend", "--kernels", os.path.join(folder, "map.ini")]
                env.update(LD_LIBRARY_PATH=self.given.stub, PTO_STUB_LOG=os.path.join(folder, "stub.log"))
            while True:
                full = launcher + command + words + (["--heap", str(heap)] if heap else [])
                try:
                    done = subprocess.run(full, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, errors="replace", timeout=120, env=env)
                    wrong = case.compare(done, folder) or self.stub_says(env)
                except subprocess.TimeoutExpired:
                    wrong = "does not end"
                if wrong and heap and heap < 1 << 22 and re.search("heap", wrong):  # what is live does not fit: legitimate
                    heap *= 4
                    continue
                break
            self.runs += 1
            if wrong:
                bad = True
                self.report(folder, "program %d/%d: %s" % (case.seed, case.index, wrong), [" ".join(full)])
        return bad

    @staticmethod
    def stub_says(env):
        """None, or what the stub found wrong with the last run."""
        if "PTO_STUB_LOG" not in env:
            return None
        with open(env["PTO_STUB_LOG"]) as file:
            lines = file.read().splitlines()
        os.remove(env["PTO_STUB_LOG"])
        found = [line for line in lines if line.startswith(("MISTAKE", "LEAK"))]
        return "\n".join(found) or (None if lines[-1].endswith(" 0 mistakes, 0 leaks") else lines[-1])

    def report(self, folder, text, commands):
        self.differences += 1
        message = "%s\n%s\n%s\n" % (folder, text, "\n".join(commands))
        with open(os.path.join(folder, "difference%d.txt" % self.differences), "w") as file:
            file.write(message)
        print("DIFFERENCE " + message, flush=True)


def main():
    given = options()
    campaign, seed, begin = Campaign(given), given.seed, time.time()
    if given.only:
        seed, index = map(int, given.only.split("/"))
        given.keep = True
        campaign.file(seed, index)
    else:
        while campaign.programs < given.programs and campaign.differences < 20:
            campaign.file(seed)
            seed += 1
    print("%d programs, %d runs, %d differences (%.0f s; seeds %d..%d; not run: %s)" % (
        campaign.programs, campaign.runs, campaign.differences, time.time() - begin, given.seed, seed - 1, campaign.dropped or "none"))
    sys.exit(1 if campaign.differences else 0)


if __name__ == "__main__":
    main()
