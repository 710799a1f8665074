"""run.py - mutants of the product: is there a suite that notices?

usage: ./dev test mutants [--sample N | --all] [--seed S] [--minutes M] [--jobs J] [--only REGEX] [--at-least PERCENT]
       ./dev test mutants --all --continue             what the last run has not done; its results count
       ./dev test mutants --regenerate [--size N]      renew the lists; names and marks stay
       ./dev test mutants --marked                     do the suites kill a mutant that is marked equivalent?
       ./dev test mutants --keep-killers               write down which test killed which mutant, killers.txt
       ./dev test mutants --coverage                   learn which tests execute which lines of the runtime: later runs ask those first
Idea       a mutant is one change of one line in a copy of the tree; the suites of suites.py run until one fails: the test that killed it
           the last time, then the likely ones, and those are the tests that execute the line (coverage.py).  The short suites are asked about every mutant before the long ones are about any.
           A suite that hangs has failed.  A suite has to pass without a mutant, too, or the run ends: a short one before it is asked
           the first time, which says how long it may take, the others when they fail the first time.
           One object is compiled and one binary a suite is linked (relink.py).  Of a compiler's mutant those tests run for which it
           prints something else, and those of which that is not known (probe.py).
Gives      build/mutants/report.txt: each mutant with its killer, each survivor with its difference.  The score is the killed among those
           that compile and are not marked.  Exit code 1: below --at-least, where one survivor of a sample is always allowed; 2: a wrong call,
           or the tree itself fails.  With --minutes a small sample is no error, and the mutant at which the time was over is not counted.
Tests      self_test.py
"""
import argparse
import collections
import difflib
import hashlib
import os
import queue
import re
import signal
import sys
import threading
import time

import choose
import coverage
import entries
import killers
import probe
import suites
import workspace

HERE = os.path.dirname(os.path.abspath(__file__))
KILLERS = os.path.join(HERE, "killers.txt")
LISTS = ("by-hand", "proofs", "runtime", "codegen", "frontend")

SHORT, LONG = 0, 1   # the stages of a campaign
COVERING_SECONDS = 90   # for the tests that execute the line of one mutant; then the suites are asked as for any other
LINK_SECONDS = 1        # what it takes to ask one, beside its own time
TOGETHER = 4            # tests of lit that are asked at once
UNFINISHED = "not finished"   # the time was over; it is not counted, and --continue takes it again
Result = collections.namedtuple("Result", "entry verdict suite seconds text")


class BrokenTree(Exception):
    """A suite fails, or the build does, without a mutant."""


class Campaign:
    """Mutants of one tree.  known: the suites that exist; suites_for(path, known, operator) says which of them to run.
    killed_by: the test that killed a mutant the last time, by the mutant's name.  covered: which tests execute its line."""

    def __init__(self, workspaces, known, suites_for=suites.suites_for, say=print, results=(), quick=False, keep=lambda result: None, killed_by=None,
                 covered=None):
        self.workspaces, self.known, self.suites_for, self.say, self.keep = workspaces, known, suites_for, say, keep
        self.killed_by, self.covered = killed_by or {}, covered or coverage.Coverage()
        self.results, self.trusted = list(results), set()
        self.probes, self.quick = {}, quick
        self.built = collections.defaultdict(set)   # a workspace: targets that are those of the clean tree
        self.asked = collections.defaultdict(set)   # the name of a mutant: suites that it has passed in the short stage
        self.cost = {}   # a suite: the seconds in which it passes, of a machine that does nothing else
        self.lock, self.learning = threading.Lock(), threading.Lock()

    def run(self, chosen):
        done = {r.entry.name for r in self.results}
        waiting = queue.PriorityQueue()
        for number, entry in enumerate(chosen):
            if entry.name not in done:
                waiting.put((SHORT, number))
        failures = []

        def work(space):
            try:
                while not failures:
                    space.time_left()
                    stage, number = waiting.get_nowait()
                    if not self.one(space, chosen[number], stage, len(chosen)):
                        waiting.put((LONG, number))
            except (queue.Empty, workspace.OutOfTime):
                pass
            except BaseException as failure:   # the other workers end, and the caller sees it
                failures.append(failure)
        threads = [threading.Thread(target=work, args=(space,), daemon=True) for space in self.workspaces]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:   # an interrupt ends what runs
            for space in self.workspaces:
                space.stop()
        if failures:
            raise failures[0]
        return self.results

    def one(self, space, entry, stage, count):
        """False: the suites of this stage have passed, and the next has some more."""
        begin = time.time()
        clean = space.read_clean(entry.path)
        changed = entry.apply(clean)
        if changed is None:
            verdict, suite, text = "does not apply", "", ""
        else:
            try:
                verdict, suite, text = self.judge(space, entry, changed, stage)
            except workspace.OutOfTime:
                verdict, suite, text = UNFINISHED, "", ""
            if verdict == "survived" and stage == SHORT and not self.quick:
                return False
            if verdict == "killed":
                suite = exact(suite, text)
                self.confirm(space, suite)
        result = Result(entry, verdict, killers.text_of(suite) if suite else "", time.time() - begin, text)
        with self.lock:
            self.results.append(result)
            self.keep(result)
            self.say("%4d/%d [%s] %s %s %s: %s%s (%.0f s)" % (len(self.results), count, entry.name, entry.path, entry.function, entry.operator, verdict,
                                                              how(result), result.seconds))
        return True

    def judge(self, space, entry, changed, stage):
        """(verdict, the suite that killed it or None, its output)"""
        compiles, text = space.relink.compile(entry.path, changed)
        if compiles is False:
            return "does not compile", None, text
        known = self.killed_by.get(entry.name) if stage == SHORT else None
        first = suite_named(known, self.known, space) if known else None
        if first:
            passed, text = self.ask(space, entry, changed, first, compiles)
            if passed is False:
                return "killed", first, text
        if compiles and is_of_the_compiler(entry.path) and "lit_codegen" in self.known:
            return self.judge_compiler(space, entry, changed, stage)
        for suite in self.of_stage(space, entry, stage):
            passed, text = self.ask(space, entry, changed, suite, compiles)
            if passed is None:
                return "does not compile", None, text
            if not passed:
                return "killed", suite, text
        return "survived", None, ""

    def of_stage(self, space, entry, stage):
        """The suites of a stage.  Where the tests that execute the line are known, they are the short stage, and the unit tests that do not
        come after the long suites."""
        found = self.ordered(entry)
        if entry.operator == "order" or not self.covered.knows(entry):
            return [suite for suite in found if suite.is_slow == (stage == LONG)]
        if stage == SHORT:
            covering = self.covering(space, entry)
            self.asked[entry.name] = {suite.name for suite in covering if not suite.tests}
            return covering + [suite for suite in found if self.quick and not suite.is_slow]
        return sorted((suite for suite in found if suite.name not in self.asked[entry.name]), key=lambda suite: not suite.is_slow)

    def covering(self, space, entry):
        """The tests that execute the line: those that have killed mutants of the same file come first, then the shortest, as many as there is
        time for; tests of lit a few at once."""
        near = self.near(entry, str)
        found, left = [], COVERING_SECONDS
        for name, seconds in sorted(self.covered.tests_of(entry), key=lambda test: -near[test[0]]):
            suite = suite_named(name, self.known, space)
            if not suite or seconds > left:
                continue
            left -= seconds + LINK_SECONDS
            if suite.tests and found and 0 < len(found[-1].tests) < TOGETHER:
                found[-1] = found[-1]._replace(tests=found[-1].tests + suite.tests)
            else:
                found.append(suite)
        return found

    def ask(self, space, entry, changed, suite, compiles):
        """(does the suite pass, its output); None: the mutant does not compile."""
        if compiles and suite.name.startswith("test_") and is_of_the_product(entry.path) and \
                not any(space.relink.is_linked_into(t) for t in suite.targets):
            return True, ""
        self.make_clean(space, suite.targets)
        if not suite.is_slow and suite.name not in self.cost:
            begin = time.time()
            self.confirm(space, suite)
            self.cost[suite.name] = (time.time() - begin) / workspace.load()
        try:
            built = True
            if not compiles or not space.relink.take(suite.links or suite.targets):
                space.relink.restore()
                space.write(entry.path, changed)
                self.built[space].clear()
                built, text = space.make(suite.targets)
                if not built and re.search(r"\berror:|multiple definition|undefined reference", text) and os.path.basename(entry.path) in text:
                    return None, text
            if not built:
                return False, text
            if suite.tests:
                failed, text = space.lit(suite.tests)
                return not failed, text
            return space.suite(suite._replace(seconds=min(suite.seconds, max(10, 8 * self.cost.get(suite.name, suite.seconds)))), thorough=False)
        finally:
            space.relink.restore()
            if space.read(entry.path) == changed:
                space.write(entry.path, space.read_clean(entry.path))

    def make_clean(self, space, targets):
        """Ninja is not asked again what it has built, as long as no mutant was built by it."""
        if not self.built[space].issuperset(targets):
            built, text = space.make(targets)
            if not built:
                raise BrokenTree("the tree cannot be built:\n" + text[-3000:])
            self.built[space].update(targets)

    def ordered(self, entry):
        """Suites that have killed mutants of the same file come first, then those of the same folder, then the shortest."""
        near = self.near(entry, killers.suite_name)
        found = self.suites_for(entry.path, self.known, entry.operator)
        return found if entry.operator == "order" else sorted(found, key=lambda suite: (suite.is_slow, -near[suite.name], self.cost.get(suite.name, 0)))

    def near(self, entry, name_of):
        """How often a suite, or a test of lit, has killed mutants: of the same file counts most, then of the same folder."""
        found = collections.Counter()
        for r in self.results:
            if r.verdict == "killed" and r.entry.operator != "order":
                same_folder = os.path.dirname(r.entry.path) == os.path.dirname(entry.path)
                found[name_of(r.suite)] += same_folder + 10 * (r.entry.path == entry.path)
        return found

    def judge_compiler(self, space, entry, changed, stage):
        """Tests for which ptoc prints something else, then those of which that is not known, then the suites of random programs."""
        asked = self.probe_of(space)
        try:
            if not space.relink.take(("ptoc",)):
                return "does not compile", None, "it cannot be linked"
            for tests in asked.differing(4, self.near(entry, killers.test_of)) if stage == SHORT else ():
                failed, text = space.lit(tests)
                if failed:
                    return "killed", suites.only(failed), text
            failed, text = space.lit(asked.opaque) if stage == LONG else (None, "")
            if failed:
                return "killed", suites.only(failed), text
            for suite in self.suites_for(entry.path, self.known, entry.operator):
                if suite.name not in asked.suites() and suite.is_slow == (stage == LONG):
                    passed, text = space.suite(suite, thorough=False) if suite.is_slow else self.ask(space, entry, changed, suite, True)
                    if not passed:
                        return "killed", suite, text
            return "survived", None, ""
        finally:
            space.relink.restore()

    def probe_of(self, space):
        if space not in self.probes:
            built, text = space.make(suites.PROGRAMS + ("fuzz_seeds", "stub_new", "stub_old", "tile_mock"))
            if not built:
                raise BrokenTree("the tree cannot be built:\n" + text[-3000:])
            found = probe.Probe(space)
            with self.learning:
                found.learn(next(iter(self.probes.values()), None))
                self.probes[space] = found
        return self.probes[space]

    def confirm(self, space, suite):
        """A suite, or a test of lit, that fails without a mutant, too, proves nothing; each is asked once."""
        what = suite.tests or suite.name
        if what in self.trusted:
            return
        for _ in range(2):   # once more: another program may have had all processors for a while
            passed, text = space.make(suite.targets)
            if passed and suite.tests:
                failed, text = space.lit(suite.tests)
                passed = not failed
            elif passed:
                passed, text = space.suite(suite)
            if passed:
                self.trusted.add(what)
                return
        raise BrokenTree("%s fails without a mutant:\n%s" % (suite.name, text[-3000:]))


def is_of_the_compiler(path):
    return path.startswith(("codegen/", "frontend/"))


def is_of_the_product(path):
    return path.startswith(("runtime/", "codegen/", "frontend/"))


def exact(suite, text):
    """The test of lit that failed, where the suite is one of lit."""
    failed = workspace.failed_test(text) if suite.name.startswith("lit_") and len(suite.tests) != 1 else None
    return suites.only(failed) if failed else suite


def suite_named(text, known, space):
    """The suite of killers.txt, where it is still there."""
    name, test = killers.suite_name(text), killers.test_of(text)
    if name not in known or test and not os.path.exists(os.path.join(space.source, "test", "lit", test)):
        return None
    return suites.only(test) if test else suites.suite(name)


def difference(entry, root):
    """The mutant as a patch; empty: it does not apply."""
    path = os.path.join(root, entry.path)
    with open(path) as file:
        clean = file.read()
    changed = entry.apply(clean)
    return "".join(difflib.unified_diff(clean.splitlines(True), (changed or clean).splitlines(True), "a/" + entry.path, "b/" + entry.path))


def how(result):
    if not result.suite:
        return ""
    return " by %s%s" % (result.suite, ", which took too long" if workspace.TOO_LONG in result.text or "Reached timeout" in result.text else "")


def score_of(results):
    """(killed, survived) and the percentage of the killed."""
    killed = sum(1 for r in results if r.verdict == "killed")
    survived = sum(1 for r in results if r.verdict == "survived")
    return killed, survived, 100.0 * killed / max(1, killed + survived)


def is_enough(results, percent, is_sample):
    killed, survived, score = score_of(results)
    return score >= percent or (is_sample and survived <= 1)


def survivors(results, root):
    """What each survivor changes, for the reader of a run that has no report at hand."""
    return ["survived: [%s]\n%s" % (r.entry.name, difference(r.entry, root)) for r in results if r.verdict == "survived"]


def report(path, results, root, title):
    killed, survived, score = score_of(results)
    by_suite = collections.Counter(killers.suite_name(r.suite) for r in results if r.verdict == "killed")
    by_folder = collections.Counter((r.entry.path.split("/")[0], r.verdict) for r in results)
    lines = [title, "%d mutants: %d killed, %d survived, score %.1f %%" % (killed + survived, killed, survived, score)]
    lines += ["%s: %d killed, %d survived" % (folder, by_folder[folder, "killed"], by_folder[folder, "survived"])
              for folder in sorted({f for f, _ in by_folder})]
    lines += ["", "killed by"] + ["%6d %s" % (n, name) for name, n in by_suite.most_common()] + [""]
    for r in sorted(results, key=lambda r: (r.verdict != "survived", r.entry.path, r.entry.name)):
        lines.append("[%s] %s %s %s: %s%s (%.0f s)" % (r.entry.name, r.entry.path, r.entry.function, r.entry.operator, r.verdict,
                                                       how(r), r.seconds))
        if r.verdict == "survived":
            lines += [difference(r.entry, root), ""]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return lines[1:lines.index("")]


def read_results(path, known):
    """Results of an earlier run, of entries that are still in the lists."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    by_name = {e.name: e for e in known}
    return [Result(by_name[name], verdict, suite, float(seconds), text) for name, verdict, suite, seconds, text in rows if name in by_name]


def write_results(path, results):
    with open(path + ".new", "w") as file:
        file.write("".join(row_of(r) for r in results))
    os.replace(path + ".new", path)


def row_of(result):
    if result.verdict == UNFINISHED:
        return ""
    text = workspace.TOO_LONG if "too long" in how(result) else ""
    return "\t".join([result.entry.name, result.verdict, result.suite, "%.1f" % result.seconds, text]) + "\n"


def append_result(path, result):
    """A run that is killed loses nothing."""
    with open(path, "a") as file:
        file.write(row_of(result))


def read_lists(folder=HERE, names=LISTS):
    return [entry for name in names for entry in entries.read(os.path.join(folder, name + ".list"))]


def keep_killers(path):
    """Those of the last run, and those that were known before of mutants that are still in the lists."""
    known = read_lists()
    names, found = {e.name for e in known}, killers.read(KILLERS)
    found.update({r.entry.name: r.suite for r in read_results(path, known)
                  if r.verdict == "killed" and (killers.test_of(r.suite) or not r.suite.startswith("lit_"))})
    killers.write(KILLERS, {name: text for name, text in found.items() if name in names})
    return 0


def record_coverage(space, path):
    try:
        wrong = coverage.build(space)
        if wrong:
            sys.exit("the tree cannot be built:\n" + wrong)
        coverage.record(space, path, known_suites(space), lambda line: print(line, flush=True))
    except workspace.OutOfTime:
        print("the time was over; another --coverage goes on")
    finally:
        space.stop()
    return 0


def known_suites(space):
    code, text = space.run(["ctest", "-N"], 60)
    return re.findall(r"Test +#\d+: (\S+)", text)


def options(arguments):
    p = argparse.ArgumentParser(prog="./dev test mutants", description=__doc__.split("\n")[0])
    p.add_argument("--sample", type=int, default=40, help="how many mutants (default 40)")
    p.add_argument("--all", action="store_true", help="every mutant of the lists")
    p.add_argument("--seed", type=int, default=1, help="which sample (default 1)")
    p.add_argument("--minutes", type=float, help="end after so many minutes, the build among them; the sample is as large as fits")
    p.add_argument("--jobs", type=int, default=2, help="copies of the tree, each with one build (default 2)")
    p.add_argument("--only", help="mutants whose name, file, function or operator this expression is found in")
    p.add_argument("--list", choices=LISTS, help="mutants of one list; proofs: each inequality of the compiler's proofs, off by one")
    p.add_argument("--continue", action="store_true", dest="goes_on", help="leave out what the last run has done, and count its results")
    p.add_argument("--quick", action="store_true", help="without the suites that take long: a survivor is one that has to be looked at")
    p.add_argument("--keep-killers", action="store_true", help="write what the last run knows of them to the tree, and run nothing")
    p.add_argument("--coverage", action="store_true", help="run each test of the runtime once and write down which lines it executes, and no mutant")
    p.add_argument("--marked", action="store_true", help="run those that are marked equivalent: none may be killed")
    p.add_argument("--at-least", type=float, default=97, help="the least score, in percent (default 97)")
    p.add_argument("--regenerate", action="store_true", help="renew the lists from the source")
    p.add_argument("--size", type=int, default=600, help="with --regenerate: how many generated mutants (default 600)")
    p.add_argument("--root", default=os.path.join(HERE, "..", ".."), help=argparse.SUPPRESS)
    return p.parse_args(arguments)


def main(arguments):
    given = options(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin, root = time.time(), os.path.realpath(given.root)
    folder = os.path.join(root, "build", "mutants")
    deadline = begin + 60 * given.minutes if given.minutes else None
    spaces = [workspace.Workspace(root, os.path.join(folder, str(n)), max(1, 2 // given.jobs), deadline=deadline) for n in range(given.jobs)]
    chosen = [e for e in read_lists(names=[given.list] if given.list else LISTS) if bool(e.mark) == given.marked]
    if given.only:
        chosen = [e for e in chosen if re.search(given.only, "%s %s %s %s" % (e.name, e.path, e.function, e.operator))]
    # By digests, so that a list that has changed in places gives nearly the same sample.
    chosen.sort(key=lambda e: hashlib.sha256(("%d %s" % (given.seed, e.name)).encode()).digest())
    if not (given.all or given.only or given.list or given.marked or given.minutes):
        chosen = chosen[:given.sample]
    done_path = os.path.join(folder, "results.txt")
    if given.keep_killers:
        return keep_killers(done_path)
    covered_path = os.path.join(folder, "coverage.json")
    if given.coverage:
        space = workspace.Workspace(root, os.path.join(folder, "coverage"), 2, coverage.CONFIGURE, deadline)
        return record_coverage(space, covered_path)
    try:
        for space in spaces:
            wrong = space.prepare()
            if wrong:
                sys.exit("the tree cannot be built:\n" + wrong)
        known = known_suites(spaces[0])
    except workspace.OutOfTime:
        print("%g minutes were over before the first mutant" % given.minutes)
        return 0
    if given.regenerate:
        choose.regenerate(root, spaces[0], HERE, LISTS, given.size)
        return 0
    done = read_results(done_path, chosen) if given.goes_on else []
    write_results(done_path, done)
    campaign = Campaign(spaces, known, suites.suites_for, lambda line: print(line, flush=True), done, given.quick,
                        lambda result: append_result(done_path, result), killers.read(KILLERS), coverage.read(covered_path))
    try:
        results = campaign.run(chosen)
    except BrokenTree as broken:
        print(broken, file=sys.stderr)
        return 2
    finally:
        write_results(done_path, campaign.results)
    title = "%d of %d mutants, seed %d, %.0f s" % (len(results), len(chosen), given.seed, time.time() - begin)
    path = os.path.join(folder, "report.txt")
    print("\n".join(survivors(results, root) + [title] + report(path, results, root, title) + ["report: " + path]))
    if given.marked:
        return 1 if any(r.verdict == "killed" for r in results) else 0
    return 0 if is_enough(results, given.at_least, len(results) < len(chosen) or not given.all) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
