"""Applies every fix of every message of many programs, each by itself, and compiles again: the message has to be gone.

usage: check_fixes.py PREFIX FOLDER PROGRAM-OR-FOLDER...      FOLDER: for the changed copies

Of a folder with pages (.md) the programs in them are taken.
"""
import glob
import os
import re
import sys

import diagnostics


def programs_of(root):
    """(name, text, options) of each."""
    for path in [root] if root.endswith(".pto") else sorted(glob.glob(os.path.join(root, "*.pto"))):
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
            yield os.path.basename(path), f.read(), ["-I", os.path.dirname(path)]
    for path in sorted(glob.glob(os.path.join(root, "*.md"))):
        with open(path, encoding="utf-8") as f:
            for i, text in enumerate(re.findall(r"^```pto[^\n]*\n(.*?)^```$", f.read(), re.S | re.M)):
                yield "%s-%d.pto" % (os.path.basename(path)[:-3], i), text, []


def main():
    prefix, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    wrong, fixes, programs = [], 0, 0
    for root in sys.argv[3:]:
        for name, text, options in programs_of(root):
            copy = os.path.join(folder, name)
            with open(copy, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
                f.write(text)
            ptoc = os.path.join(prefix, "bin", "ptoc")
            found, count = diagnostics.fixes_wrong(ptoc, copy, diagnostics.run_json(ptoc, copy, options)[1], options)
            wrong += found
            fixes += count
            programs += count > 0
            os.remove(copy)
    print("\n".join(wrong) or "%d fixes of %d programs hold" % (fixes, programs))
    return 1 if wrong else 0


sys.exit(main())
