#!/usr/bin/python3
"""top_level.py SOURCE - does the top folder of the source tree hold the names of two lists, and no others?

Idea       git lists the tracked paths.  A new file or folder at the top is added to FILES or FOLDERS.
Exit code  0: yes; 1: no, with a line for each name; 77: this is no repository, such as a source package.
"""
import argparse
import pathlib
import subprocess
import sys

FOLDERS = {".ci", "bench", "cmake", "codegen", "debian", "docs", "editor", "examples", "frontend", "kernels", "python", "runtime",
           "scripts", "test", "tools"}
FILES = {".clang-format", ".editorconfig", ".gitignore", "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "README.md", "dev"}


def tracked(root):
    """The paths that git tracks, or None outside of a repository of our own."""
    if not (root / ".git").exists():
        return None
    try:
        listed = subprocess.run(["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    if listed.returncode:
        sys.exit(f"git cannot list {root}: {listed.stderr.strip()}")
    return listed.stdout.split("\0")[:-1]


def problems(paths):
    folders = {path.split("/")[0] for path in paths if "/" in path}
    files = {path for path in paths if "/" not in path}
    for kind, found, meant in [("folder", folders, FOLDERS), ("file", files, FILES)]:
        yield from (f"{name}: the {kind} does not belong at the top of the tree" for name in sorted(found - meant))
        yield from (f"{name}: the list has a {kind} that is not tracked" for name in sorted(meant - found))


def self_test():
    """A stray file, a stray folder and a lost file are each found."""
    fine = [f"{folder}/x" for folder in FOLDERS] + list(FILES)
    assert list(problems(fine)) == []
    for paths in [fine + ["inp.pto"], fine + ["tmp/x"], [path for path in fine if path != "README.md"]]:
        assert len(list(problems(paths))) == 1, paths[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    root = parser.parse_args().source.resolve()
    self_test()
    paths = tracked(root)
    if paths is None:
        sys.exit(77)
    found = list(problems(paths))
    if found:
        sys.exit("\n".join(found + [f"a name that is meant to be there has its place in {pathlib.Path(__file__).name}"]))


main()
