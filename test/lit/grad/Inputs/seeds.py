"""seeds.py - programs made from seeds, one after the other: the command line of random_*.py, and what a seed that fails leaves.

Idea       the command line is PTOC FIRST COUNT FOLDER; a program that passes is removed, one that fails stays in the folder and ends the run.
"""
import argparse
import pathlib


def parser(about):
    made = argparse.ArgumentParser(description=about.splitlines()[0])
    made.add_argument("ptoc")
    made.add_argument("first", type=int)
    made.add_argument("count", type=int)
    made.add_argument("folder", type=pathlib.Path)
    made.add_argument("--all", action="store_true", help="go on after a seed that fails")
    return made


def failing(args, stem, text, check):
    """The seeds that fail.  text(seed) returns the program, check(path, seed) the reason why it fails, or None."""
    args.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for seed in range(args.first, args.first + args.count):
        path = args.folder / f"{stem}-{seed}.pto"
        path.write_text(text(seed))
        wrong = check(path, seed)
        if not wrong:
            path.unlink()
            continue
        failed.append(seed)
        print(f"seed {seed}: {wrong}", flush=True)
        if not args.all:
            break
    return failed
