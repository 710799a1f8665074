"""Applies every fix of every message of many programs, each by itself, and compiles again: the message has to be gone.

usage: check_fixes.py PREFIX FOLDER PROGRAM-OR-FOLDER...      FOLDER: for the changed copies
"""
import glob
import os
import shutil
import sys

import diagnostics


def main():
    prefix, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    wrong, fixes, programs = [], 0, 0
    for root in sys.argv[3:]:
        for path in [root] if root.endswith(".pto") else sorted(glob.glob(os.path.join(root, "*.pto"))):
            copy = os.path.join(folder, os.path.basename(path))
            shutil.copyfile(path, copy)
            found, count = diagnostics.fixes_wrong(os.path.join(prefix, "bin", "ptoc"), copy, ["-I", os.path.dirname(path)])
            wrong += found
            fixes += count
            programs += count > 0
            os.remove(copy)
    print("\n".join(wrong) or "%d fixes of %d programs hold" % (fixes, programs))
    return 1 if wrong else 0


sys.exit(main())
