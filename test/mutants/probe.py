"""probe.py - which lit tests can notice a mutant of the compiler: those for which a mutated ptoc prints something else.

Idea       the calls of ptoc in the RUN lines are made without their tests, in some seconds; a call that builds or runs a program prints
           the C text instead.  A test whose calls print the same goes on as before, so it need not run; a test that makes calls which
           cannot be made here (a script's, those of the program itself) is opaque and has to.
Owner      Probe, one for each copy of the tree.
Invariant  a mutant is killed by a test that fails, never by a difference.
Tests      self_test.py
"""
import concurrent.futures
import glob
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess

import workspace

SECONDS = 3     # of a processor, for one call
AT_ONCE = 2     # calls that are made at a time
FOLDERS = ("sema", "equations", "ir", "codegen", "parse", "lexer", "fmt", "diag", "reject", "accepted", "memory", "build", "oracle", "run", "ascend", "host")
LONG = ("memory", "build", "oracle", "run", "ascend", "host")   # their tests call the C compiler
NO_C = dict(os.environ, CC="true")   # a check asks the C compiler about bodies, which takes longer than all else
REFUSED = "check_rejects.py"   # a script that checks each part of a test


def run_lines(text):
    return "\n".join(re.findall(r"RUN:(.*)", text)).replace("\\\n", " ")


def calls_of(text):
    """The words behind %ptoc of every RUN line, as far as they can be called without a shell."""
    for part in re.split(r"\n|\||&&|;", run_lines(text)):
        found = re.search(r"%ptoc\s+(.*)", part)
        if not found or "%{" in part or "*" in part:
            continue
        try:
            words = shlex.split(re.sub(r"\d?>&?\s*\S+|<\s*\S+", " ", found.group(1)))
        except ValueError:
            continue
        if words:
            yield words


def is_opaque(text):
    """Does the test ask the compiler anything that calls_of() does not show?"""
    lines = run_lines(text)
    return bool(re.search(r"%python|%prefix|%scripts|\bfor \w+ in|<\s*%|\bsed\b|%\{", lines)) or lines.count("%ptoc") != len(list(calls_of(text)))


def printing(words):
    """The same call, but what it makes is text on its output; None: it makes none."""
    if words[0] in ("test", "new", "lsp", "watch") or "--watch" in words:
        return None
    if words[0] not in ("run", "build", "graph"):
        return [("-" if words[i - 1] == "-o" else word) for i, word in enumerate(words)]
    return texts(words)


def texts(words):
    """The call of `run`, `build` or `graph` that prints the C text."""
    kept, skip = [], False
    for word in words[1:]:
        if skip or word in ("-o", "--input", "--output", "--set", "--workers", "--engine", "--heap", "--window", "--entry", "--dim"):
            skip = not skip
            continue
        if not word.endswith((".c", ".so", ".o")) and not re.match(r"--(input|output|set|workers|engine|heap|window|format|tensormap)=", word):
            kept.append(word)
    emit = [] if any(w.startswith("--emit") for w in kept) else ["--emit=c"]
    return ["build"] + emit + kept + ["-o", "-"]


class Probe:
    def __init__(self, space):
        self.space = space
        self.ptoc = os.path.join(space.build, "bin", "ptoc")
        self.calls, self.opaque = [], []   # (test, words); tests
        self.clean = {}                    # the number of a call: what the tree prints
        self.files = os.path.join(space.folder, "probed")
        for folder in FOLDERS:
            for test in sorted(glob.glob(os.path.join(space.source, "test", "lit", folder, "*.pto"))
                               + glob.glob(os.path.join(space.source, "test", "lit", folder, "*.test"))):
                with open(test, errors="replace") as file:
                    text = file.read()
                if "cmake --install" in text:   # all of the tree is built for it: the suite asks it, late
                    continue
                self.split(test, text)
                parts = self.of_scripts(test, text)
                if is_opaque(text) and not parts:
                    self.opaque.append(test)
                for words in [[self.place(w, test) for w in words] for words in calls_of(text)] + parts:
                    if printing(words):
                        self.calls.append((test, printing(words)))
        self.pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)

    def of_test(self, test):
        return os.path.join(self.files, os.path.relpath(test, os.path.join(self.space.source, "test", "lit")).replace("/", "-"))

    def split(self, test, text):
        """The parts of a test that is several files, where its calls look for them."""
        if "split-file %s %t" in text or REFUSED in text:
            tool = shutil.which("split-file") or "/usr/lib/llvm-14/bin/split-file"
            shutil.rmtree(self.of_test(test), ignore_errors=True)
            os.makedirs(self.files, exist_ok=True)
            subprocess.run([tool, test, self.of_test(test)], stderr=subprocess.DEVNULL)

    def of_scripts(self, test, text):
        """The calls that a test makes through a script which calls the compiler with every file of a folder."""
        if REFUSED in text:
            return [["check", path] for path in sorted(glob.glob(os.path.join(self.of_test(test), "**", "*.pto"), recursive=True))]
        if os.path.basename(test) == "examples-compile.test":
            return [["build", "--emit=c", path] for path in sorted(glob.glob(os.path.join(self.space.source, "examples", "*.pto")))]
        return []

    def place(self, word, test):
        for short, long in (("%source", self.space.source), ("%examples", os.path.join(self.space.source, "examples")),
                            ("%inputs", os.path.join(self.space.source, "test", "lit", "Inputs")), ("%S", os.path.dirname(test)), ("%s", test),
                            ("%t", self.of_test(test))):
            word = word.replace(short, long)
        return word

    def output(self, number, environment=NO_C):
        """A digest of what the call prints; None: it does not end."""
        self.space.time_left()
        try:
            done = subprocess.run(["prlimit", "--cpu=%d" % SECONDS, self.ptoc] + self.calls[number][1], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, timeout=10 * SECONDS * workspace.load(), cwd=self.space.folder, env=environment)
            ended = done.returncode not in (-signal.SIGKILL, -signal.SIGXCPU)
            return (done.returncode, hashlib.sha256(done.stdout).digest()) if ended else None
        except subprocess.TimeoutExpired:
            return None

    def learn(self, other=None):
        """What the tree itself prints; the tree has been built.  Tests are opaque that print another text each time, or another one where
        no C compiler looks at the bodies of kernels, which takes long: `other`, of another copy of the tree, knows it already."""
        numbers = range(len(self.calls))
        again = list(self.pool.map(self.output, numbers))
        if other:
            self.clean = {n: again[n] for n in other.clean if again[n] is not None}
            self.opaque = [test.replace(other.space.source, self.space.source) for test in other.opaque]
            return
        first = list(self.pool.map(lambda n: self.output(n, os.environ), numbers))
        self.clean = {n: a for n, a, b in zip(numbers, first, again) if a == b and a is not None}
        self.opaque += sorted({self.calls[n][0] for n in numbers if n not in self.clean} - set(self.opaque))

    def suites(self):
        """The suites of lit of which every test is asked here."""
        return {"lit_" + folder for folder in FOLDERS}

    def order(self, likely):
        """Calls of likely tests come first, then one call of each test, those that take long last."""
        seen, found = {}, []
        for n in self.clean:
            test = self.calls[n][0]
            seen[test] = seen.get(test, 0) + 1
            found.append((-likely[os.path.relpath(test, os.path.join(self.space.source, "test", "lit"))], is_long(test), seen[test], n))
        return [row[-1] for row in sorted(found)]

    def differing(self, at_least, likely):
        """Lists of tests of which a call prints something else now, or does not end, as soon as there are some; in all every one, each once.
        likely: how likely a test like "sema/views.pto" is one of them, a Counter."""
        known, found = set(), []
        order = self.order(likely)
        for at in range(0, len(order), 8):
            some = order[at:at + 8]
            stuck = False
            for n, now in zip(some, self.pool.map(self.output, some)):
                test = self.calls[n][0]
                stuck |= now is None
                if now != self.clean[n] and test not in known:
                    known.add(test)
                    found.append(test)
            if len(found) >= at_least or stuck:
                yield sorted(found, key=is_long)
                found = []
        if found:
            yield sorted(found, key=is_long)


def is_long(test):
    return os.path.basename(os.path.dirname(test)) in LONG
