"""killers.py - which test killed a mutant the last time: it is asked first.

Idea       a line is the name of a mutant and its killer, a suite or, of a suite of lit, the test: `3f2a91c0 lit_sema:sema/views.pto`.  It is
           a guess that saves time and proves nothing: a killer is asked again each time.
Owner      killers.txt, written by ./dev test mutants --keep-killers.
Tests      self_test.py
"""
import os


def suite_name(text):
    return text.split(":")[0]


def test_of(text):
    """The test of lit; empty: all of the suite."""
    return text.partition(":")[2]


def text_of(suite):
    return suite.name + (":" + suite.tests[0] if len(suite.tests) == 1 else "")


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return dict(line.split() for line in file if line.strip())


def write(path, found):
    with open(path + ".new", "w") as file:
        file.write("".join("%s %s\n" % pair for pair in sorted(found.items())))
    os.replace(path + ".new", path)
