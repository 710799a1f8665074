"""probe.py - which lit tests can notice a mutant of the compiler: those for which a mutated ptoc prints something else.

Idea       the calls of ptoc in the RUN lines are made without their tests, in some seconds; a call that builds or runs a program prints
           the C text instead.  Tests whose calls print the same are not asked first.
Owner      Probe, one for each copy of the tree.
Invariant  it only orders: a mutant is killed by a test that fails, never by a difference.
Tests      self_test.py
"""
import glob
import hashlib
import os
import re
import shlex
import signal
import subprocess

import workspace

SECONDS = 4
FOLDERS = ("accepted", "build", "codegen", "diag", "fmt", "lexer", "memory", "oracle", "parse", "reject", "run", "sema", "ascend", "host")


def calls_of(text):
    """The words behind %ptoc of every RUN line, as far as they can be called without a shell."""
    lines = [line for line in re.findall(r"RUN:(.*)", text)]
    joined = "\n".join(lines).replace("\\\n", " ")
    for part in re.split(r"\n|\||&&|;", joined):
        found = re.search(r"%ptoc\s+(.*)", part)
        if not found or "%{" in part or "*" in part:
            continue
        try:
            words = shlex.split(re.sub(r"\d?>&?\s*\S+|<\s*\S+", " ", found.group(1)))
        except ValueError:
            continue
        if words:
            yield words


def printing(words):
    """The same call, but what it makes is text on its output."""
    verb = words[0]
    if verb not in ("run", "build"):
        return words
    kept, skip = [], False
    for word in words[1:]:
        if skip or word in ("-o", "--input", "--output", "--set", "--workers", "--engine", "--heap", "--window", "--entry"):
            skip = not skip
            continue
        if not word.endswith((".c", ".so", ".o")) and not re.match(r"--(input|output|set|workers|engine|heap|window)=", word):
            kept.append(word)
    emit = [] if any(w.startswith("--emit") for w in kept) else ["--emit=c"]
    return ["build"] + emit + kept + ["-o", "-"]


class Probe:
    def __init__(self, space):
        self.space = space
        self.ptoc = os.path.join(space.build, "bin", "ptoc")
        self.calls = []   # (test, words)
        self.clean = None
        for folder in FOLDERS:
            for test in sorted(glob.glob(os.path.join(space.source, "test", "lit", folder, "*.pto"))
                               + glob.glob(os.path.join(space.source, "test", "lit", folder, "*.test"))):
                with open(test, errors="replace") as file:
                    for words in calls_of(file.read()):
                        self.calls.append((test, printing([self.place(w, test) for w in words])))

    def place(self, word, test):
        for short, long in (("%source", self.space.source), ("%examples", os.path.join(self.space.source, "examples")),
                            ("%inputs", os.path.join(self.space.source, "test", "lit", "Inputs")), ("%S", os.path.dirname(test)), ("%s", test),
                            ("%t", os.path.join(self.space.folder, "probed"))):
            word = word.replace(short, long)
        return word

    def outputs(self):
        """What each call prints; after two that do not end, only the calls so far."""
        found = []
        for _, words in self.calls:
            self.space.time_left()
            if found.count(None) == 2:
                break
            try:
                done = subprocess.run([self.ptoc] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                      timeout=SECONDS * workspace.load(), cwd=self.space.folder, preexec_fn=lambda: workspace.limit_processor(SECONDS))
                ended = done.returncode != -signal.SIGKILL
                found.append((done.returncode, hashlib.sha256(done.stdout).digest()) if ended else None)
            except subprocess.TimeoutExpired:
                found.append(None)
        return found

    def learn(self):
        """What the tree itself prints; the tree has been built."""
        if self.clean is None:
            self.clean = self.outputs()
            again = self.outputs()
            self.calls = [c for c, a, b in zip(self.calls, self.clean, again) if a == b]
            self.clean = [a for a, b in zip(self.clean, again) if a == b]

    def tests(self):
        """The tests of which a call prints something else now, those with the fewest calls first."""
        found = {}
        for (test, _), before, now in zip(self.calls, self.clean, self.outputs()):
            if before != now:
                found[test] = found.get(test, 0) + 1
        folder = lambda test: FOLDERS.index(os.path.basename(os.path.dirname(test)))
        return sorted(found, key=lambda test: (folder(test) in (FOLDERS.index("run"), FOLDERS.index("memory")), test.endswith(".test"), test))
