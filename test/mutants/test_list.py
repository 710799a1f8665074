"""test_list.py - the lists of mutants belong to the tree: what does not apply any more is named.

A line that changes takes its mutants with it, so one in twenty may be out of date before `./dev test mutants --regenerate` is due; not
one that is written by hand or marked, because a proof that is about other lines proves nothing."""
import os
import sys

import choose
import entries
import run

LEAST, FOLDERS = 500, ("runtime", "codegen", "frontend")


def main():
    root, wrong = os.path.join(run.HERE, "..", ".."), []
    by_hand = {e.name for e in entries.read(os.path.join(run.HERE, "by-hand.list"))}
    known = run.read_lists()
    stale = [e for e in known if not choose.applies(e, root)]
    for e in stale:
        print("does not apply: [%s] %s %s: %s" % (e.name, e.path, e.function, " / ".join(e.old)))
    wrong += ["it is %s: mend it in the list" % ("marked" if e.mark else "by hand") for e in stale if e.mark or e.name in by_hand]
    if len(stale) * 20 > len(known):
        wrong.append("%d of %d mutants do not apply: run ./dev test mutants --regenerate" % (len(stale), len(known)))
    if len({e.name for e in known}) != len(known):
        wrong.append("two mutants have one name")
    if len(known) < LEAST:
        wrong.append("%d mutants, at least %d expected" % (len(known), LEAST))
    wrong += ["no mutant of " + f for f in FOLDERS if not any(e.path.startswith(f + "/") for e in known)]
    marked = sum(1 for e in known if e.mark)
    print("%d mutants, %d marked equivalent, %d out of date" % (len(known), marked, len(stale)))
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
