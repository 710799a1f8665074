"""self_test.py - the mutator notices what it is for: a known mutant is killed, a known equivalent one survives, a hang is a kill, a tree
that fails by itself is no proof.  A project of two files, in a temporary folder, takes the place of the product."""
import os
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import choose
import coverage
import entries
import killers
import operators
import probe
import run
import suites
import workspace

LEAF = """#include "leaf.h"
/* if (a < b) in a comment */
static int helper(int a) { return a * 3; }
int least(int a, int b)
{
    if (a < b) return a;
    return b;
}
int count(int n)
{
    int steps = 0;
    for (int i = 0; i < n; i++) steps += 2;
    while (n > 0) n -= 1;
    return steps + helper(n);
}
const char *name(void) { return "a < b"; }
"""
TEST_LEAF = """#include "leaf.h"
int main(void) { return least(1, 2) == 1 && least(2, 1) == 1 && count(3) == 6 ? 0 : 1; }
"""
FIRST = """int least(int a, int b);
int first(void) { return least(1, 2); }
"""
TEST_FIRST = """int first(void);
int main(void) { return first() == 1 ? 0 : 1; }
"""
LISTS = """cmake_minimum_required(VERSION 3.20)
project(mini C)
enable_testing()
add_library(leaf STATIC leaf.c)
add_executable(test_leaf test_leaf.c)
target_link_libraries(test_leaf leaf)
add_test(NAME test_leaf COMMAND test_leaf)
add_executable(test_direct test_leaf.c leaf.c)
add_test(NAME test_direct COMMAND test_direct)
add_library(two STATIC EXCLUDE_FROM_ALL first.c leaf.c)
"""


def entry(function, old, new, operator="compare", mark=None):
    return entries.Entry("leaf.c", function, operator, [old], [new], mark=mark)


KILLED = entry("least", "if (a < b) return a;", "if (a >= b) return a;")
EQUIVALENT = entry("least", "if (a < b) return a;", "if (a <= b) return a;")
HANGS = entry("count", "while (n > 0) n -= 1;", "while (n > 0) n -= 0;", "arithmetic")
NO_C = entry("least", "return b;", "return c;", "constant")
GONE = entry("least", "return d;", "return c;", "constant")


class Operators(unittest.TestCase):
    def test_what_is_changed(self):
        found = [(m.function, m.operator, m.new) for m in operators.mutants(LEAF)]
        for one in [("least", "compare", "if (a <= b) return a;"), ("least", "negate", "if (!(a < b)) return a;"),
                    ("count", "constant", "int steps = 1;"), ("count", "arithmetic", "for (int i = 0; i < n; i++) steps -= 2;"),
                    ("count", "arithmetic", "return steps - helper(n);"),
                    ("helper", "constant", "static int helper(int a) { return a * 4; }")]:
            self.assertIn(one, found)
        self.assertFalse([f for f in found if f[0] == "name"])   # strings and comments stay

    def test_calls_and_orders(self):
        text = "void f(int *p)\n{\n    store_release(p, 1, DONE);\n    while (load_seq(p, (BELL)));\n    CHECK(p != 0);\n    state_join(p, p);\n    free(p);\n    if (p) note(p);\n}\n"
        found = {(m.operator, m.old, m.new) for m in operators.mutants(text)}
        self.assertIn(("order", "store_release(p, 1, DONE);", "store_relaxed(p, 1);"), found)
        self.assertIn(("order", "while (load_seq(p, (BELL)));", "while (load_acquire(p, (BELL)));"), found)
        self.assertIn(("drop", "store_release(p, 1, DONE);", "(void)0;"), found)
        self.assertIn(("join", "state_join(p, p);", "(void)0;"), found)
        self.assertIn(("drop", "if (p) note(p);", "if (p) (void)0;"), found)
        self.assertFalse([f for f in found if f[1].startswith(("free", "CHECK"))])

    def test_the_number_of_lines_stays(self):
        for m in operators.mutants(LEAF):
            one = entries.Entry("leaf.c", m.function, m.operator, [m.old], [m.new], m.nth)
            self.assertEqual(one.apply(LEAF).count("\n"), LEAF.count("\n"))
            self.assertNotEqual(one.apply(LEAF), LEAF)


class Lists(unittest.TestCase):
    def test_written_and_read_again(self):
        marked = entry("least", "if (a < b) return a;", "if (a <= b) return a;", mark="where both are equal either of them is the least")
        text = KILLED.text() + "\n" + marked.text()
        again = entries.parse(text, "a.list")
        self.assertEqual([e.text() for e in again], [KILLED.text(), marked.text()])
        self.assertEqual(again[1].mark, marked.mark)
        self.assertNotEqual(again[0].name, again[1].name)

    def test_lines_that_move(self):
        moved = "int new_one(int x)\n{\n    return x;\n}\n" + LEAF.replace("    if", "        if")
        self.assertEqual(KILLED.apply(moved), moved.replace("if (a < b) return", "if (a >= b) return"))
        self.assertIsNone(KILLED.apply(LEAF.replace("a < b) return", "b > a) return")))

    def test_the_second_of_equal_lines(self):
        text = "int f(void)\n{\n    a();\n    b();\n    a();\n}\n"
        second = entries.Entry("leaf.c", "f", "drop", ["a();"], ["(void)0;"], 2)
        self.assertEqual(second.apply(text), "int f(void)\n{\n    a();\n    b();\n    (void)0;\n}\n")
        self.assertEqual(entries.parse(second.text(), "a.list")[0].nth, 2)

    def test_mistakes_of_a_list(self):
        for wrong in (KILLED.text().replace(KILLED.name, "00000000"), KILLED.text() + "= equivalent: so\n", "what\n", "[12345678] a.c f drop\n"):
            with self.assertRaises(ValueError):
                entries.parse(wrong, "a.list")


class Choice(unittest.TestCase):
    def test_what_is_there_stays(self):
        found = {"compare": [KILLED, EQUIVALENT], "arithmetic": [HANGS]}
        found.update({o: [] for o in choose.SHARE if o not in found})
        marked = entry("least", "return b;", "return a;", "drop", mark="a sentence that proves it all")
        self.assertEqual({e.name for e in choose.choose([marked], found, 4, lambda e: True)},
                         {marked.name, KILLED.name, EQUIVALENT.name, HANGS.name})
        self.assertNotIn(EQUIVALENT, choose.choose([], found, 3, lambda e: e is not EQUIVALENT))
        self.assertEqual(choose.choose([KILLED], found, 1, lambda e: True), [KILLED])


class Calls(unittest.TestCase):
    def test_calls_that_can_be_made(self):
        text = "// RUN: split-file %s %t\n// RUN: %ptoc check %t/a.pto | FileCheck %s\n// RUN: not %ptoc run -O --set n=3 \\\n// RUN:   %s 2>&1\n"
        self.assertEqual(list(probe.calls_of(text)), [["check", "%t/a.pto"], ["run", "-O", "--set", "n=3", "%s"]])
        self.assertFalse(probe.is_opaque(text))
        self.assertEqual(probe.printing(["run", "-O", "--set", "n=3", "a.pto"]), ["build", "--emit=c", "-O", "a.pto", "-o", "-"])
        self.assertIsNone(probe.printing(["test", "a.pto"]))

    def test_calls_that_cannot(self):
        for line in ("%python %S/Inputs/all.py %ptoc", "cat %s | %ptoc fmt - < %t", "for f in a b; do %ptoc check $f; done", "%ptoc %{options} %s"):
            self.assertTrue(probe.is_opaque("// RUN: " + line + "\n"), line)


class Covered(unittest.TestCase):
    """A map of two tests: `one` executes the condition of least() and what it returns first, `all` executes that and all of count()."""

    def setUp(self):
        self.map = coverage.Coverage("digest")
        functions = [("leaf.c", "least", 4, 8), ("leaf.c", "count", 9, 15)]
        self.map.add("all", 2.5, functions, {("leaf.c", 6): True, ("leaf.c", 7): False, ("leaf.c", 9): True}, lambda path: LEAF.split("\n"))
        self.map.add("one", 0.5, functions[:1], {("leaf.c", 6): True, ("leaf.c", 7): True}, lambda path: LEAF.split("\n"))

    def test_the_shortest_comes_first(self):
        self.assertEqual(self.map.tests_of(KILLED), [["one", 0.5], ["all", 2.5]])
        self.assertEqual(self.map.tests_of(NO_C), [["one", 0.5]])

    def test_a_line_without_a_counter_belongs_to_the_one_above_it(self):
        self.assertEqual(self.map.tests_of(HANGS), [["all", 2.5]])

    def test_a_line_that_is_not_in_the_map_has_no_tests(self):
        self.assertTrue(self.map.knows(KILLED))
        self.assertFalse(self.map.knows(GONE))
        self.assertEqual(self.map.tests_of(GONE), [])
        self.assertEqual(self.map.tests_of(entries.Entry("other.c", "least", "drop", ["return b;"], [";"])), [])

    def test_written_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "coverage.json")
            self.assertEqual(coverage.read(path).tests, [])
            self.map.write(path)
            again = coverage.read(path)
        self.assertEqual((again.digest, again.tests, again.lines), ("digest", self.map.tests, self.map.lines))


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        root = os.path.join(cls.place.name, "mini")
        os.makedirs(root)
        for name, text in (("leaf.c", LEAF), ("leaf.h", "int least(int a, int b);\nint count(int n);\n"), ("test_leaf.c", TEST_LEAF),
                           ("first.c", FIRST), ("test_first.c", TEST_FIRST),
                           ("CMakeLists.txt", LISTS)):
            with open(os.path.join(root, name), "w") as file:
                file.write(text)
        subprocess.run(["git", "init", "-q", root], check=True)
        cls.root = root
        cls.space = workspace.Workspace(root, os.path.join(cls.place.name, "copy"), 1, ["cmake", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
        wrong = cls.space.prepare()
        assert wrong is None, wrong

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def campaign(self, environment=None, name="test_leaf"):
        one = suites.Suite(name, (name,), 2 if environment is None else 20, environment or {})
        return run.Campaign([self.space], [name], lambda path, known, operator: [one], say=lambda line: None)

    def verdict(self, one):
        return self.campaign().run([one])[0]

    def test_a_known_mutant_is_killed(self):
        self.assertEqual(self.verdict(KILLED)[1:3], ("killed", "test_leaf"))

    def test_an_equivalent_one_survives(self):
        self.assertEqual(self.verdict(EQUIVALENT).verdict, "survived")

    def test_a_binary_without_an_archive_is_built(self):
        self.assertFalse(self.space.relink.compile("leaf.c", LEAF)[0] and self.space.relink.take(("test_direct",)))
        for one, verdict in ((KILLED, "killed"), (EQUIVALENT, "survived")):
            self.assertEqual(self.campaign(name="test_direct").run([one])[0].verdict, verdict)
        self.assertEqual(self.space.read("leaf.c"), LEAF)

    def test_a_linked_mutant_leaves_nothing(self):
        """Ninja finds nothing to do after it, and the binary is the clean one."""
        self.verdict(KILLED)
        self.assertIn("no work to do", self.space.make(("test_leaf",))[1])
        self.assertEqual(self.space.suite(suites.Suite("test_leaf", (), 20, {}))[0], True)
        self.assertEqual([n for n in os.listdir(self.space.build) if n.endswith((".clean", ".mutant"))], [])

    def test_who_killed_a_neighbour_comes_first(self):
        one, other, slow = [suites.Suite(name, (name,), 20, {}, is_slow=name == "slow") for name in ("one", "other", "slow")]
        campaign = run.Campaign([self.space], [], lambda path, known, operator: [one, other, slow], say=lambda line: None)
        campaign.results = [run.Result(KILLED, "killed", name, 1, "") for name in ("other", "slow")]
        self.assertEqual([s.name for s in campaign.ordered(EQUIVALENT)], ["other", "one", "slow"])

    def named(self, *names):
        """Suites that note when they are asked; those that are slow have a name that says so."""
        asked = []
        found = [suites.Suite(name, (), 20, {}, is_slow=name.startswith("slow")) for name in names]
        campaign = run.Campaign([self.space], list(names), lambda path, known, operator: found, say=lambda line: None)
        campaign.ask = lambda space, entry, changed, suite, compiles: (asked.append((entry.name, suite.name)) or suite.name != "slow_killer", "")
        campaign.confirm = lambda space, suite: None
        return campaign, asked

    def test_short_suites_are_asked_about_all_before_a_long_one(self):
        campaign, asked = self.named("slow_killer", "short")
        results = campaign.run([KILLED, EQUIVALENT])
        self.assertEqual(asked, [(KILLED.name, "short"), (EQUIVALENT.name, "short"), (KILLED.name, "slow_killer"), (EQUIVALENT.name, "slow_killer")])
        self.assertEqual([r.verdict for r in results], ["killed"] * 2)

    def test_the_last_killer_is_asked_first_and_proves_nothing(self):
        campaign, asked = self.named("slow_killer", "short")
        campaign.killed_by = {KILLED.name: "slow_killer", EQUIVALENT.name: "gone"}
        with unittest.mock.patch.object(suites, "suite", lambda name: suites.Suite(name, (), 20, {}, True)):
            campaign.run([KILLED, EQUIVALENT])
        self.assertEqual(asked[0], (KILLED.name, "slow_killer"))
        self.assertEqual([suite for name, suite in asked if name == EQUIVALENT.name], ["short", "slow_killer"])

    def test_tests_that_execute_the_line_come_first_and_no_other_is_left_out(self):
        campaign, asked = self.named("slow_killer", "short", "test_one", "test_other")
        campaign.covered.add("test_other", 1, [("leaf.c", "least", 4, 8)], {("leaf.c", 5): True}, lambda path: LEAF.split("\n"))
        campaign.covered.add("test_one", 2, [("leaf.c", "least", 4, 8)], {("leaf.c", 5): True}, lambda path: LEAF.split("\n"))
        campaign.run([EQUIVALENT])
        self.assertEqual([suite for _, suite in asked], ["test_other", "test_one", "slow_killer"])
        campaign, asked = self.named("slow", "short", "test_one", "test_other")
        campaign.covered.add("test_other", 1, [("leaf.c", "least", 4, 8)], {("leaf.c", 5): True}, lambda path: LEAF.split("\n"))
        campaign.run([EQUIVALENT])
        self.assertEqual([suite for _, suite in asked], ["test_other", "slow", "short", "test_one"])

    def test_tests_of_lit_that_execute_the_line_are_asked_a_few_at_once(self):
        campaign, _ = self.named("lit_run")
        everywhere = [("leaf.c", "least", 4, 8)], {("leaf.c", 5): True}, lambda path: LEAF.split("\n")
        for number in range(run.TOGETHER + 1):
            campaign.covered.add("lit_run:run/%d.pto" % number, 1 + number, *everywhere)
        campaign.covered.add("lit_run:run/long.pto", run.COVERING_SECONDS, *everywhere)
        with unittest.mock.patch.object(run, "suite_named", lambda name, known, space: suites.only(name.split(":")[-1])):
            found = campaign.covering(self.space, EQUIVALENT)
        self.assertEqual([suite.tests for suite in found], [tuple("run/%d.pto" % n for n in range(run.TOGETHER)), ("run/%d.pto" % run.TOGETHER,)])

    def test_an_archive_has_the_mutant_for_its_member(self):
        archive = os.path.join(self.space.build, "libtwo.a")
        self.assertTrue(self.space.make(("two",))[0])
        self.assertTrue(self.space.relink.compile("leaf.c", KILLED.apply(LEAF))[0] and self.space.relink.take(("two",)))
        program = os.path.join(self.place.name, "program")   # it needs the member only because of another one
        link = ["cc", os.path.join(self.space.source, "test_first.c"), archive, "-o", program]
        try:
            subprocess.run(link, check=True)
            self.assertEqual(subprocess.run([program]).returncode, 1)
        finally:
            self.space.relink.restore()
        subprocess.run(link, check=True)
        self.assertEqual(subprocess.run([program]).returncode, 0)
        self.assertIn("no work to do", self.space.make(("two",))[1])

    def test_a_killer_is_the_test_of_lit_that_failed(self):
        text = "209: PASS: ptoc :: sema/a.pto (1 of 2)\n209: FAIL: ptoc :: sema/views.pto (2 of 2)\n"
        found = run.exact(suites.suite("lit_sema"), text)
        self.assertEqual((found.tests, killers.text_of(found)), (("sema/views.pto",), "lit_sema:sema/views.pto"))
        self.assertEqual((killers.suite_name("lit_sema:a/b.pto"), killers.test_of("lit_sema:a/b.pto"), killers.test_of("test_npy")), ("lit_sema", "a/b.pto", ""))
        self.assertEqual(killers.text_of(run.exact(suites.suite("test_npy"), text)), "test_npy")
        path = os.path.join(self.place.name, "killers.txt")
        killers.write(path, {"b": "test_npy", "a": "lit_sema:sema/views.pto"})
        self.assertEqual(killers.read(path), {"a": "lit_sema:sema/views.pto", "b": "test_npy"})
        self.assertEqual(killers.read(path + ".none"), {})

    def test_a_hang_is_a_kill(self):
        result = self.verdict(HANGS)
        self.assertEqual(result.verdict, "killed")
        self.assertIn("took too long", run.how(result))
        self.assertIsNone(self.space.process)

    def test_the_run_ends_at_its_deadline(self):
        self.verdict(KILLED)   # everything is built
        self.space.deadline = time.time() + 1.5
        try:
            results = self.campaign({"LEAF": "1"}).run([HANGS, KILLED])
        finally:
            self.space.deadline = None
        self.assertEqual([(r.entry.name, r.verdict) for r in results], [(HANGS.name, run.UNFINISHED)])
        self.assertEqual(run.score_of(results)[:2], (0, 0))
        self.assertTrue(run.is_enough(results, 97, True))
        self.assertEqual(self.space.read("leaf.c"), LEAF)
        path = os.path.join(self.place.name, "unfinished.txt")
        run.write_results(path, results)
        self.assertEqual(run.read_results(path, [HANGS]), [])   # --continue takes it again

    def test_survivors_are_printed(self):
        self.assertIn("+    if (a <= b) return a;", "".join(run.survivors(self.campaign().run([KILLED, EQUIVALENT]), self.root)))

    def test_what_is_no_mutant(self):
        self.assertEqual(self.verdict(NO_C).verdict, "does not compile")
        self.assertEqual(self.verdict(GONE).verdict, "does not apply")

    def test_the_checkout_is_only_read(self):
        self.verdict(KILLED)
        with open(os.path.join(self.root, "leaf.c")) as file:
            self.assertEqual(file.read(), LEAF)
        self.assertEqual(self.space.read("leaf.c"), LEAF)

    def test_a_tree_that_fails_by_itself_is_no_proof(self):
        self.space.write("test_leaf.c", TEST_LEAF.replace("== 6", "== 7"))
        try:
            with self.assertRaises(run.BrokenTree):
                self.campaign({"LEAF": "1"}).run([KILLED])
        finally:
            self.space.write("test_leaf.c", TEST_LEAF)

    def test_score_and_report(self):
        results = self.campaign().run([KILLED, EQUIVALENT, NO_C])
        self.assertEqual(run.score_of(results), (1, 1, 50.0))
        self.assertFalse(run.is_enough(results, 97, False))
        self.assertTrue(run.is_enough(results, 97, True))   # one survivor of a sample
        self.assertFalse(run.is_enough(results + results, 97, True))
        path = os.path.join(self.place.name, "report.txt")
        run.report(path, results, self.root, "three")
        with open(path) as file:
            text = file.read()
        self.assertIn("+    if (a <= b) return a;", text)
        self.assertIn("1 killed, 1 survived, score 50.0 %", text)

    def test_results_are_kept_for_the_next_run(self):
        path = os.path.join(self.place.name, "results.txt")
        results = self.campaign().run([KILLED, EQUIVALENT])
        run.write_results(path, results[:1])
        run.append_result(path, results[1])
        again = run.read_results(path, [KILLED, EQUIVALENT, HANGS])
        self.assertEqual([r[:3] for r in again], [r[:3] for r in results])


if __name__ == "__main__":
    workspace.load = lambda: 1   # the hang ends after seconds, whatever else runs
    unittest.main()
