#!/usr/bin/python3
"""check_lit.py PTOC WIRE FOLDER [TEST ...] - the programs of test/lit/run do the same on several ranks as on one.

Idea       the RUN lines of a test say how its program is built, what its inputs are and how it is run.  Each run is made by one process and by
           several ranks: exit code, what is printed, the outputs and the first error are the same, byte for byte; an error may name its rank,
           and names the task by its number there.
           What is refused on several ranks, an engine such as `process`, is left out, and so is what shows one process: statistics, traces.
           PTO_RANKS of the environment says on how many: 3, or a list such as 2,5.  Unless tests are named, every n-th is taken of those
           that have a run for ranks, n of PTO_CORPUS_EVERY: 7, or 1 for all.
Exit code  0: yes.  The last line counts tests and runs.
"""
import glob
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, ROOT, begin, end, read, run  # pylint: disable=wrong-import-position

SHOWS_ONE_PROCESS = {"--stats", "--trace", "--report", "--graph", "--replay", "--record", "--watchdog", "--progress", "--explain"}
SERVED = {"threads", "serial"}
ERROR = re.compile(r"error[^\n]*")


def run_lines(path):
    text = open(path, encoding="utf-8").read().replace("\\\n", " ")
    return re.findall(r"^\W*RUN:(.*)$", text, re.M)


def segments(line):
    """Commands of a line, each with whether its output goes to another one."""
    for chain in re.split(r"&&|;", line):
        parts = chain.split(" | ")
        yield parts[0].strip().replace("2>&1", "").strip(), len(parts) > 1


def first_error(text):
    found = ERROR.search(text)
    return re.sub(r" \(on rank \d+, [^)]*\)| \(task \d+\)", "", found.group(0)) if found else ""


def is_program(command):
    return re.match(r"%t(\s|$)", command) and ">" not in command


def is_served(words):
    options = [part for word in words for part in (word.split("=", 1) if word.startswith("--engine=") else [word])]
    engines = {b for a, b in zip(options, options[1:]) if a == "--engine"}
    return not SHOWS_ONE_PROCESS & set(words) and not engines - SERVED


class Test:
    def __init__(self, ptoc, wire, folder, path):
        self.wire, self.runs, self.good, self.path = wire, 0, True, path
        name = os.path.join(os.path.abspath(folder), os.path.splitext(os.path.basename(path))[0])
        self.stem = name
        self.words = [("%ptoc", ptoc), ("%python", sys.executable), ("%scripts", os.path.join(ROOT, "scripts")), ("%s", os.path.abspath(path)),
                      ("%S", os.path.dirname(os.path.abspath(path))), ("%t", name)]

    def text_of(self, command):
        for word, value in self.words:
            command = command.replace(word, value)
        return command

    def commands(self):
        for line in run_lines(self.path):
            for command, is_piped in segments(line):
                yield re.sub(r"^not ", "", command), is_piped

    def is_for_ranks(self):
        return any(is_program(c) and is_served(shlex.split(c)) for c, _ in self.commands())

    def follow(self):
        for command, is_piped in self.commands():
            if not re.search(r" -O\d", command): # it is about ranks, whatever the kernels cost
                command = command.replace("%ptoc build ", "%ptoc build -O0 ")
            if is_program(command):
                self.program(shlex.split(self.text_of(command)))
            elif not is_piped and re.match(r"(%python -c|%ptoc build |rm |mkdir )", command):
                subprocess.run(self.text_of(command), shell=True, capture_output=True, check=False)
        return self.runs

    def outputs(self, words):
        paths = [w.split("=", 1)[1] for o, w in zip(words, words[1:]) if o == "--output" and "=" in w]
        return [p if p.endswith(".npy") else p + ".npy" for p in paths]

    def outcome(self, launcher, words):
        for path in self.outputs(words):
            if os.path.exists(path):
                os.remove(path)
        code, out, err = run(launcher + words)
        return code, out, first_error(err), [read(p) if os.path.exists(p) else None for p in self.outputs(words)]

    def program(self, words):
        if not os.path.exists(words[0]) or not is_served(words):
            return
        wanted = self.outcome([], words)
        for ranks in os.environ.get("PTO_RANKS", "3").split(","):
            self.runs += 1
            found = self.outcome([sys.executable, RANKS, self.wire, ranks], words)
            if found != wanted:
                self.good = False
                print("%s on %s ranks: %s\n  alone: %s\n  ranks: %s" % (os.path.basename(self.path), ranks, " ".join(words[1:]), wanted[:3], found[:3]), flush=True)


def main():
    ptoc, wire, folder = begin()
    paths = sorted(glob.glob(os.path.join(ROOT, "test", "lit", "run", "*.pto")))
    tests = [Test(ptoc, wire, folder, p) for p in paths]
    fit = [t for t in tests if t.is_for_ranks()]
    tests = [t for t in tests if os.path.basename(t.path) in sys.argv[4:]] or fit[:: int(os.environ.get("PTO_CORPUS_EVERY", "7"))]
    counts = [t.follow() for t in tests]
    print("%d tests, %d runs on ranks" % (sum(c > 0 for c in counts), sum(counts)))
    end(all(t.good for t in tests) and sum(counts) > 0)


if __name__ == "__main__":
    main()
