"""workspace.py - a copy of the source tree with a build of its own, in which one file at a time is another one.

Idea       a copy below the build folder is built and run; the checkout is only read.  Where relink.py cannot help, Ninja compiles
           the changed file and links again what a suite needs, nothing else.
Owner      Workspace.
Invariant  between two mutants the copy is equal to the source tree.  What a suite started is dead when run() returns.  A limit is of
           wall time for a machine that has its processors for itself; where others use them, it grows with the load, because a mutant
           is not killed by a slow machine.
Tests      self_test.py
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import relink

CONFIGURE = ["cmake", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Mutants", "-DCMAKE_C_FLAGS_MUTANTS=-O1", "-DCMAKE_CXX_FLAGS_MUTANTS=-O1",
             "-DCMAKE_C_FLAGS=-w", "-DCMAKE_CXX_FLAGS=-w", "-DPTO_CHECK=1"]
BUILD_SECONDS = 900
LIT = "/usr/lib/llvm-14/build/utils/lit/lit.py"
TOO_LONG = "it takes too long"
LIT_SECONDS = 30      # of one file
CPU_SECONDS = 120     # of one process
LIT_CPU_SECONDS = 8   # of one process of a few lit tests: a compiler that does not end is found by them first


def load():
    """How many programs there are for each processor, at least 1."""
    return max(1, os.getloadavg()[0] / os.cpu_count())


def failed_test(text):
    """The first test of lit that failed, like "sema/views.pto", by what lit printed; None: none did."""
    found = re.search(r"^(?:\d+: )?(?:FAIL|TIMEOUT|XPASS|UNRESOLVED): ptoc :: (\S+)", text, re.M)
    return found.group(1) if found else None


def limit_processor(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


class OutOfTime(Exception):
    """The deadline of the workspace has passed; nothing that it started runs any more."""


class Workspace:
    def __init__(self, root, folder, jobs=1, configure=CONFIGURE, deadline=None):
        self.root, self.folder, self.jobs, self.deadline = root, folder, jobs, deadline
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        self.configure = configure
        self.process = None   # what runs now
        self.clean = {}       # texts of files that were mutants once
        self.relink = relink.Relink(self)

    # ---- the copy ----
    def synchronize(self):
        """The copy becomes equal to the files that git knows or would take."""
        listed = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "-co", "--exclude-standard"], stdout=subprocess.PIPE, check=True)
        names = {n for n in os.fsdecode(listed.stdout).split("\0") if n and os.path.lexists(os.path.join(self.root, n))}
        for folder, _, files in os.walk(self.source):
            for name in files:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.source) not in names:
                    os.remove(path)
        for name in sorted(names):
            self.copy(name)

    def copy(self, name):
        """A file keeps its time where it is the same already, so that nothing is compiled for it."""
        of, to = os.path.join(self.root, name), os.path.join(self.source, name)
        if os.path.islink(of):
            if not os.path.lexists(to):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                os.symlink(os.readlink(of), to)
            return
        with open(of, "rb") as file:
            data = file.read()
        if os.path.exists(to):
            with open(to, "rb") as file:
                if file.read() == data:
                    return
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as file:
            file.write(data)
        shutil.copymode(of, to)

    def read(self, name):
        with open(os.path.join(self.source, name)) as file:
            return file.read()

    def read_clean(self, name):
        """The text without a mutant, as it was when the copy was made; empty: there is no such file."""
        if name not in self.clean:
            self.clean[name] = self.read(name) if os.path.exists(os.path.join(self.source, name)) else ""
        return self.clean[name]

    def write(self, name, text):
        with open(os.path.join(self.source, name), "w") as file:
            file.write(text)

    # ---- builds and suites ----
    def prepare(self):
        """None, or why the tree cannot be built."""
        os.makedirs(self.build, exist_ok=True)
        self.relink.recover()
        self.synchronize()
        code, text = self.run(self.configure + ["-S", self.source, "-B", self.build], BUILD_SECONDS)
        return None if code == 0 else text[-3000:]

    def make(self, targets):
        """(has it been built, what was printed)"""
        code, text = self.run(["ninja", "-C", self.build, "-j%d" % self.jobs] + list(targets), BUILD_SECONDS)
        return code == 0, text

    def suite(self, suite, thorough=True):
        """(has it passed, what was printed); a suite that takes too long has not."""
        environment = dict(os.environ, PTO_MUTANTS="1", **suite.environment)
        environment["LIT_OPTS"] = "-j%d%s" % (self.jobs, "" if thorough else " --max-failures=1")
        environment["PTO_LIT_SECONDS"] = "%d" % ((suite.file_seconds or LIT_SECONDS) * load())
        code, text = self.run(["ctest", "-V", "--timeout", "100000", "-R", "^%s$" % suite.name], suite.seconds * load(), environment)
        return code == 0, text if code is not None else text + "\n" + TOO_LONG

    def lit(self, tests):
        """(the test that fails, like "sema/views.pto", or None; its output)"""
        build = os.path.join(self.build, "test", "lit")
        names = [os.path.join(build, os.path.relpath(os.path.join(self.source, "test", "lit", t), os.path.join(self.source, "test", "lit"))) for t in tests]
        environment = dict(os.environ, PTO_MUTANTS="1", PTO_LIT_SECONDS="%d" % (LIT_SECONDS * load()))
        code, text = self.run(["/usr/bin/python3", LIT, "-v", "-j%d" % max(2, self.jobs), "--max-failures=1"] + names,
                              (60 + 10 * len(tests)) * load(), environment, LIT_CPU_SECONDS)
        return failed_test(text), text

    def time_left(self):
        """Seconds until the deadline, more than 0; OutOfTime behind it."""
        left = self.deadline - time.time() if self.deadline else float("inf")
        if left <= 0:
            raise OutOfTime()
        return left

    def run(self, command, seconds, environment=None, cpu_seconds=CPU_SECONDS):
        """(exit code, output); None instead of a code: it took too long and was killed with all that it started.
        cpu_seconds: what each process may use of a processor."""
        left = self.time_left()
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=self.build,
                                       env=environment, start_new_session=True, preexec_fn=lambda: limit_processor(cpu_seconds))
            self.process = process
            try:
                code = process.wait(min(seconds, left))
            except subprocess.TimeoutExpired:
                if left < seconds:
                    raise OutOfTime() from None
                code = None
            finally:
                self.stop()
            output.seek(0)
            return code, output.read()

    def stop(self):
        """Ends everything in the session of the process, also what has gone into a group of its own."""
        process, self.process = self.process, None
        if process is None:
            return
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open("/proc/%s/stat" % name) as file:
                        session = int(file.read().rsplit(")", 1)[1].split()[3])
                    if session == process.pid:
                        os.kill(int(name), signal.SIGKILL)
                except (OSError, ValueError):
                    pass
        process.wait()
