"""coverage.py - which tests execute the line that a mutant changes: they are asked first, the shortest first.

Idea       one build of the tree counts executed lines (gcc --coverage).  Each unit test and each test of lit that runs programs runs alone
           in it; what gcov says then is kept as one set of tests for each line of the runtime, found by the function and the text of the
           line as a mutant is.  A map that is older than the source still serves, because a line that is not in it has no tests.
Owner      Coverage, build/mutants/coverage.json, written by ./dev test mutants --coverage, which goes on where it was stopped.
Invariant  it is an order and never a verdict: a process that ends by _exit() or a signal counts nothing, so the tests that are not said to
           execute a line are asked, too, before a mutant survives.
Tests      self_test.py
"""
import collections
import hashlib
import json
import os
import subprocess
import time

import suites
import workspace

FLAGS = "-w --coverage"
CONFIGURE = [word.replace("-w", FLAGS) if word.endswith("_FLAGS=-w") else word for word in workspace.CONFIGURE]
FOLDERS = ("host", "run", "build", "ascend", "oracle")   # of test/lit: programs run there
SOURCES = "runtime/"
NAMED = [name for prefix, names in suites.MAP if prefix.startswith("runtime") for name in names]


class Coverage:
    """tests: [name as in killers.txt, its seconds]; lines: a file, a function, the text of a line: the set of tests as bits of a number."""

    def __init__(self, digest="", tests=(), lines=None):
        self.digest, self.tests, self.lines = digest, list(tests), lines or {}

    def mask(self, entry):
        return self.lines.get(entry.path, {}).get(entry.function, {}).get(entry.old[0].strip())

    def knows(self, entry):
        return self.mask(entry) is not None

    def tests_of(self, entry):
        """[name, seconds] of the tests that execute the first line of the mutant, the shortest first; empty: none does, or it is not known."""
        mask = self.mask(entry) or 0
        return sorted((test for n, test in enumerate(self.tests) if mask >> n & 1), key=lambda test: test[1])

    def add(self, name, seconds, functions, executed, text_of):
        """functions: (path, name, first line, last line); executed: {(path, line): is it}.  A line that gcov does not name belongs to the
        statement above it."""
        bit = 1 << len(self.tests)
        self.tests.append([name, seconds])
        for path, function, first, last in functions:
            found, is_executed = self.lines.setdefault(path, {}).setdefault(function, {}), False
            for number, text in enumerate(text_of(path)[first - 1:last], first):
                is_executed = executed.get((path, number), is_executed)
                found[text.strip()] = found.get(text.strip(), 0) | (bit if is_executed else 0)

    def write(self, path):
        with open(path + ".new", "w") as file:
            json.dump([self.digest, self.tests, self.lines], file)
        os.replace(path + ".new", path)


def read(path):
    if not os.path.exists(path):
        return Coverage()
    with open(path) as file:
        return Coverage(*json.load(file))


def digest_of(space):
    """Of the sources that are counted."""
    found = hashlib.sha256()
    for folder, folders, names in os.walk(os.path.join(space.source, SOURCES)):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                found.update(file.read())
    return found.hexdigest()


def build(space):
    """None, or why it cannot be done.  The archive gets the counters' library, because a program that ptoc builds names no --coverage."""
    wrong = space.prepare()
    if wrong:
        return wrong
    built, text = space.make(["all"])
    if not built:
        return text[-3000:]
    library = subprocess.run(["gcc", "-print-file-name=libgcov.a"], stdout=subprocess.PIPE).stdout.decode().strip()
    parts = os.path.join(space.folder, "libgcov")
    os.makedirs(parts, exist_ok=True)
    subprocess.run(["ar", "x", library], cwd=parts, check=True)
    subprocess.run(["ar", "r", os.path.join(space.build, "lib", "libpto_runtime.a")] + sorted(os.listdir(parts)), cwd=parts, check=True,
                   stderr=subprocess.DEVNULL)
    return None


def tests_of_the_runtime(space, known):
    """Names as in killers.txt: the unit tests and what suites.py asks about the runtime, then single tests of lit."""
    units = [name for name in known if name.startswith("test_") and not name.startswith("test_kernels")]
    whole = [name for name in dict.fromkeys(units + NAMED) if name in known and not name.startswith(("lit_", "random_", "check_"))]
    for folder in FOLDERS:
        names = sorted(os.listdir(os.path.join(space.source, "test", "lit", folder)))
        whole += ["lit_%s:%s/%s" % (folder, folder, name) for name in names if name.endswith((".pto", ".test"))]
    return whole


def counters(space):
    return [os.path.join(folder, name) for folder, _, names in os.walk(space.build) for name in names if name.endswith(".gcda")]


def executed_lines(space):
    """(functions, {(path, line): is it executed}) of the sources, by the counters that a test has left."""
    paths = [path for path in counters(space) if "/%s" % SOURCES in path[len(space.build):]]
    if not paths:
        return [], {}
    done = subprocess.run(["gcov", "--json-format", "--stdout"] + paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=space.build)
    functions, executed = set(), collections.defaultdict(bool)
    for text in done.stdout.decode().splitlines():
        for file in json.loads(text)["files"] if text.startswith("{") else ():
            path = os.path.relpath(os.path.join(space.source, file["file"]), space.source)
            if path.startswith(SOURCES):
                functions |= {(path, f["name"], f["start_line"], f["end_line"]) for f in file["functions"]}
                for line in file["lines"]:
                    executed[path, line["line_number"]] |= line["count"] > 0
    return sorted(functions), executed


def record(space, path, known, say):
    """Runs each test that is not in the file yet.  One that fails here is left out, because it proves little there."""
    found, digest = read(path), digest_of(space)
    if found.digest != digest:
        found = Coverage(digest)
    have = {name for name, _ in found.tests}
    for name in tests_of_the_runtime(space, known):
        if name in have:
            continue
        for old in counters(space):
            os.remove(old)
        begin, (suite, _, test) = time.time(), name.partition(":")
        passed = not space.lit([test])[0] if test else space.suite(suites.suite(suite))[0]
        seconds = round(time.time() - begin, 2)
        if passed:
            found.add(name, seconds, *executed_lines(space), lambda of: space.read_clean(of).split("\n"))
            found.write(path)
        say("%s %s: %.1f s" % ("executes" if passed else "fails, left out:", name, seconds))
    return found
