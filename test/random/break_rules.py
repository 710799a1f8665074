"""break_rules.py - a random valid program in which exactly one rule is broken: one message, of that id, at that line.

usage: break_rules.py --ptoc PTOC [--programs 60] [--seed 1] [--std FOLDER] [--work FOLDER]
Idea       generate.py calls the breaker between the statements that it writes.  At one of these places, or in a declaration of its own,
           the breaker writes a few lines of which one, marked // BAD, breaks one rule; or it changes a call that is there.
Invariant  everything else stays valid, so a second message is one too many.
Tests      itself: test/random/CMakeLists.txt (random_broken)
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import generate
import rules_of_jumps  # noqa: adds its rules
from rules import DECLARATIONS, MARK, RULES, Place

HERE = os.path.dirname(os.path.abspath(__file__))
class Breaker:
    """Breaks one rule at the statement number `at` of the program, or in a declaration, or in a call that is there."""

    def __init__(self, rng):
        self.rng = rng
        self.kind = rng.choices(["statement", "declaration", "change"], [7, 3, 2])[0]
        self.at = rng.randint(0, 12)
        self.done = None
        self.undo = None

    def repair(self, maker):
        """The program without what breaks the rule."""
        if self.undo:
            home, now, before = self.undo
            at = maker.texts[home].index(now)
            maker.texts[home][at:at + 1] = [before] if before else []
        for texts in maker.texts.values():
            for i, text in enumerate(texts):
                texts[i] = "\n".join(line for line in text.split("\n") if not line.endswith(MARK))

    def point(self, maker, writer, last=False):
        if self.kind != "statement" or self.done:
            return
        self.at -= 1
        if self.at > 0 and not last:
            return
        for _ in range(30):
            id_, function = self.rng.choice(RULES)
            count = len(writer.lines)
            if function(Place(writer, self.rng)):
                self.done = (id_, function.__name__)
                return
            del writer.lines[count:]

    def finish(self, file):
        """After the whole program is there."""
        maker = file.makers[0]
        if self.kind == "declaration" and not self.done:
            id_, text, kernel = self.rng.choice(DECLARATIONS)
            home = self.rng.choice(["main", "main", "lib"])
            element = self.rng.choice(maker.types)
            if kernel:
                file.kernels[home][kernel, (element,)] = True
            text = text.replace("%BAD", MARK).replace("T[", element + "[")
            maker.texts[home].insert(self.rng.randint(0, len(maker.texts[home])), text)
            self.undo = (home, text, None)
            self.done = (id_, text.split("\n")[0])
        elif self.kind == "change":
            self.change(maker)

    CALL = re.compile(r"^(\s+)((?:lib\.)?(?:mix|bump|copy|plus|ramp|fill|twin|gate|pile|tally|total|cast|halo|outer|flip)\d?\()(.*)\);$")

    def change(self, maker):
        places = []
        for home, texts in maker.texts.items():
            for i, text in enumerate(texts):
                for j, line in enumerate(text.split("\n")):
                    if self.CALL.match(line) and "//" not in line:
                        places.append((home, i, j))
        if not places:
            return
        home, i, j = self.rng.choice(places)
        lines, before = maker.texts[home][i].split("\n"), maker.texts[home][i]
        indent, head, args = self.CALL.match(lines[j]).groups()
        how = self.rng.choice(["name", "count", "marker"])
        if how == "name":
            id_, line = "E01", indent + "zz_" + head.replace("lib.", "") + args + ");"
        elif how == "count":
            id_, line = "E17", indent + head + args + ", 1);"
        else:
            marks = list(re.finditer(r"\b(out|inout|acc) ", args))
            if not marks:
                return
            found = self.rng.choice(marks)
            other = self.rng.choice([m for m in ("", "out ", "inout ", "acc ") if m != found.group()])
            id_, line = "E08", indent + head + args[:found.start()] + other + args[found.end():] + ");"
        lines[j] = line + MARK
        maker.texts[home][i] = "\n".join(lines)
        self.undo = (home, maker.texts[home][i], before)
        self.done = (id_, "changed " + how)


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--ptoc", required=True)
    p.add_argument("--programs", type=int, default=60, help="PTO_RANDOM of the environment goes before")
    p.add_argument("--seed", type=int, default=1, help="PTO_SEED of the environment goes before")
    p.add_argument("--work", default="broken-programs")
    p.add_argument("--only", type=int)
    given = p.parse_args()
    given.programs, given.seed = int(os.environ.get("PTO_RANDOM", given.programs)), int(os.environ.get("PTO_SEED", given.seed))
    return given


def make(seed):
    """A file and what was broken in it; None where no rule could be."""
    breaker = Breaker(random.Random("break/%d" % seed))
    file = generate.File(seed, 1, breaker)
    breaker.finish(file)
    return file, breaker


def is_refused_anyway(ptoc, file, breaker, folder):
    """Is something else proved wrong, in a branch that cannot be reached?  The generator knows less than the compiler."""
    breaker.repair(file.makers[0])
    os.makedirs(os.path.join(folder, "repaired"), exist_ok=True)
    for home in ("main", "lib"):
        with open(os.path.join(folder, "repaired", home + ".pto"), "w") as out:
            out.write(file.text(home))
    return messages(ptoc, os.path.join(folder, "repaired", "main.pto"))[0] != 0


def messages(ptoc, path):
    done = subprocess.run([ptoc, "check", "-w", "--diag=json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          timeout=60)
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return done.returncode, [m for m in found if m.get("severity", m.get("level")) == "error"], done.stderr


def main():
    given = options()
    begin, count, wrong, skipped, dead, seed = time.time(), 0, 0, 0, 0, given.seed
    by_id = collections.Counter()
    while (count < given.programs if given.only is None else seed == given.seed) and wrong < 40:
        file, breaker = make(seed if given.only is None else given.only)
        seed += 1
        if not breaker.done:
            skipped += 1
            continue
        count += 1
        id_, what = breaker.done
        by_id[id_] += 1
        folder = os.path.join(given.work, "seed%d" % (seed - 1 if given.only is None else given.only))
        shutil.rmtree(folder, ignore_errors=True)      # of a run that was stopped
        os.makedirs(folder)
        expected = None
        for home in ("main", "lib"):
            text = file.text(home)
            with open(os.path.join(folder, home + ".pto"), "w") as out:
                out.write(text)
            for n, line in enumerate(text.split("\n"), 1):
                if line.endswith(MARK):
                    expected = (home + ".pto", n)
        status, errors, text = messages(given.ptoc, os.path.join(folder, "main.pto"))
        got = [(m["id"], os.path.basename(m["file"]), m["line"]) for m in errors]
        if status != 1 or got != [(id_,) + expected]:
            if status == 1 and is_refused_anyway(given.ptoc, file, breaker, folder):
                dead, count = dead + 1, count - 1
                by_id[id_] -= 1
                continue
            wrong += 1
            print("WRONG %s (%s): expected %s at %s:%d, status %d\n%s" % (folder, what, id_, expected[0], expected[1], status, text[:1500]), flush=True)
        else:
            for home in ("main", "lib"):
                os.remove(os.path.join(folder, home + ".pto"))
            os.rmdir(folder)
    print("%d broken programs, %d with another message (%.0f s; seeds %d..%d; not counted: %d that no rule fitted, %d refused without the broken line; %s)" % (
        count, wrong, time.time() - begin, given.seed, seed - 1, skipped, dead, " ".join("%s:%d" % k for k in sorted(by_id.items()))))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
