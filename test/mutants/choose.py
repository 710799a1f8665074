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
import re
import subprocess

import entries
import operators
import relink

# Files without behaviour of their own, or where a mutant says nothing about a run: times of the clock, pages for people.
LEFT_OUT = ("runtime/report/page.c",)
# The proofs of the compiler: an index stays inside, an output is covered.  Each inequality of them is in proofs.list, off by one.
PROOFS = ("frontend/sema/facts.c", "frontend/sema/facts_conditions.c", "frontend/sema/fact_list.c",
          *("frontend/sema/equations/%s.c" % name for name in ("accesses", "bounds", "coverage", "ranges", "reductions", "scopes", "writes")))
ORDER_OF_SIZES = re.compile(r"(_order|difference)\([^()]*(\([^()]*\)[^()]*)*, $")   # a <= b + N is given or asked as f(a, b, N)
LIMITS = re.compile(r"\b(work|left|depth|steps|MAX_\w+|64)\b")
SHARE = {"compare": 20, "negate": 18, "logic": 14, "drop": 18, "arithmetic": 14, "constant": 10, "join": 30, "order": 6}


def candidates(root, folder, known=()):
    """Every possible entry of the folder but those known, by operator, in the order of their names."""
    found = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True)):
        name = os.path.relpath(path, root)
        if name in LEFT_OUT:
            continue
        with open(path) as file:
            for m in operators.mutants(file.read()):
                entry = entries.Entry(name, m.function, m.operator, [m.old], [m.new], m.nth)
                if entry.name not in known:
                    found[m.operator].append(entry)
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
    proofs = regenerate_proofs(root, folder, compiler.is_another_program)
    generated = [name for name in lists if name not in ("by-hand", "proofs")]
    lines = {name: sum(text.count("\n") for text in texts_of(root, name)) for name in generated}
    for name in generated:
        path = os.path.join(folder, name + ".list")
        before = entries.read(path)
        old = [e for e in before if applies(e, root) and e.name not in proofs]
        count = round(size * lines[name] / sum(lines.values()))
        chosen = choose(old, candidates(root, name, proofs), count, compiler.is_another_program)
        chosen.sort(key=lambda e: (e.path, e.function, e.name))
        entries.write(path, chosen, entries.comments_of(path))
        print("%s: %d mutants, %d of them new, %d no longer apply" % (name, len(chosen), len(chosen) - len(old), len(before) - len(old)))
        for e in before:
            if e not in old and e.name not in proofs and e.mark:
                print("  its mark is gone: [%s] %s %s: %s" % (e.name, e.path, e.function, e.mark))


def applies(entry, root):
    path = os.path.join(root, entry.path)
    if not os.path.exists(path):
        return False
    with open(path) as file:
        return entry.place(file.read()) is not None


def is_inequality(entry):
    """Is the change an inequality that is off by one?  The head of a `for` is none of a proof, nor is a limit of the work for one."""
    old, new = entry.old[0], entry.new[0]
    if old.startswith("for (") or LIMITS.search(old):
        return False
    at = len(os.path.commonprefix([old, new]))
    if entry.operator == "compare":
        return "<" in old[at - 1:at + 1] or ">" in old[at - 1:at + 1]
    return entry.operator == "constant" and old[at + 1:at + 2] == ")" and bool(ORDER_OF_SIZES.search(old[:at]))


def inequalities(root):
    """Every entry of PROOFS that is one, in the order of the files."""
    found = candidates(root, os.path.commonpath(PROOFS))
    chosen = [e for e in found["compare"] + found["constant"] if e.path in PROOFS and not e.old[0].startswith("for (") and is_inequality(e)]
    return sorted(chosen, key=lambda e: (e.path, e.function, e.name))


def regenerate_proofs(root, folder, is_another_program):
    path = os.path.join(folder, "proofs.list")
    marks = {e.name: e.mark for e in entries.read(path)}
    chosen = [e for e in inequalities(root) if is_another_program(e)]
    for e in chosen:
        e.mark = marks.pop(e.name, None)
    entries.write(path, chosen, entries.comments_of(path))
    print("proofs: %d mutants" % len(chosen))
    for name, mark in marks.items():
        if mark:
            print("  its mark is gone: [%s]: %s" % (name, mark))
    return {e.name for e in chosen}


def texts_of(root, folder):
    for path in glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True):
        with open(path) as file:
            yield file.read()
