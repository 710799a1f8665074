"""choose.py - which of all possible mutants are in the lists: about as many for each folder as its code is long, of every operator.

Idea       candidates are taken in the order of their names, which are digests, so the choice is random and the same every time; what was
           in the list stays as long as it applies, with its mark.
Invariant  a candidate compiles, and its machine code is not that of the tree (but for `order`, where one machine's code says nothing).
Tests      self_test.py
"""
import collections
import glob
import hashlib
import os
import subprocess

import entries
import operators
import relink

# Files without behaviour of their own, or where a mutant says nothing about a run: times of the clock, pages for people.
LEFT_OUT = ("runtime/report/page.c",)
SHARE = {"compare": 20, "negate": 18, "logic": 14, "drop": 18, "arithmetic": 14, "constant": 10, "join": 30, "order": 6}


def candidates(root, folder):
    """Every possible entry of the folder, by operator, in the order of their names."""
    found = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True)):
        name = os.path.relpath(path, root)
        if name in LEFT_OUT:
            continue
        with open(path) as file:
            for m in operators.mutants(file.read()):
                found[m.operator].append(entries.Entry(name, m.function, m.operator, [m.old], [m.new], m.nth))
    for of_one in found.values():
        of_one.sort(key=lambda e: e.name)
    return found


def machine_code(command, source, text, folder):
    """A digest of the object file of this text; None: it does not compile.  command: of compile_commands.json, for the file `source`."""
    obj = os.path.join(folder, "mutant.o")
    if not relink.compile_text(command, source, text, obj, folder)[0]:
        return None
    subprocess.run(["strip", "-x", obj], check=True)
    with open(obj, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Compiler:
    def __init__(self, space):
        self.space, self.clean, self.commands = space, {}, relink.commands_of(space.build)

    def is_another_program(self, entry):
        source = os.path.join(self.space.source, entry.path)
        clean = self.space.read(entry.path)
        changed = entry.apply(clean)
        if changed is None or source not in self.commands:
            return False
        if entry.path not in self.clean:
            self.clean[entry.path] = machine_code(self.commands[source], source, clean, self.space.build)
        code = machine_code(self.commands[source], source, changed, self.space.build)
        return code is not None and (code != self.clean[entry.path] or entry.operator == "order")


def choose(old, found, count, is_another_program):
    """`count` entries: those of the list that apply, then candidates by operator, round-robin, up to the operator's share."""
    chosen = list(old)
    names = {e.name for e in chosen}
    taken = collections.Counter(e.operator for e in chosen)
    total = sum(SHARE.values())
    at = collections.Counter()
    while len(chosen) < count:
        open_ones = [o for o in SHARE if at[o] < len(found[o]) and taken[o] * total < SHARE[o] * count]
        if not open_ones:
            open_ones = [o for o in SHARE if o != "order" and at[o] < len(found[o])]
        if not open_ones:
            break
        operator = min(open_ones, key=lambda o: taken[o] / SHARE[o])
        entry = found[operator][at[operator]]
        at[operator] += 1
        if entry.name not in names and is_another_program(entry):
            names.add(entry.name)
            chosen.append(entry)
            taken[operator] += 1
    return chosen


def regenerate(root, space, folder, lists, size):
    by_hand = os.path.join(folder, "by-hand.list")
    entries.write(by_hand, entries.read(by_hand), entries.comments_of(by_hand))   # new ones get their names
    space.make(["ptoc", "pto_runtime"])   # the headers that the build makes
    compiler = Compiler(space)
    generated = [name for name in lists if name != "by-hand"]
    lines = {name: sum(text.count("\n") for text in texts_of(root, name)) for name in generated}
    for name in generated:
        path = os.path.join(folder, name + ".list")
        before = entries.read(path)
        old = [e for e in before if applies(e, root)]
        count = round(size * lines[name] / sum(lines.values()))
        chosen = choose(old, candidates(root, name), count, compiler.is_another_program)
        chosen.sort(key=lambda e: (e.path, e.function, e.name))
        entries.write(path, chosen, entries.comments_of(path))
        print("%s: %d mutants, %d of them new, %d no longer apply" % (name, len(chosen), len(chosen) - len(old), len(before) - len(old)))
        for e in before:
            if e not in old and e.mark:
                print("  its mark is gone: [%s] %s %s: %s" % (e.name, e.path, e.function, e.mark))


def applies(entry, root):
    path = os.path.join(root, entry.path)
    if not os.path.exists(path):
        return False
    with open(path) as file:
        return entry.place(file.read()) is not None


def texts_of(root, folder):
    for path in glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True):
        with open(path) as file:
            yield file.read()
