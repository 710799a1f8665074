#!/usr/bin/python3
"""layers.py SOURCE - do includes point downwards only, and is no file too long?

Idea       LAYERS orders the folders; a file includes headers of its own layer and of those above its line, so no two folders need each
           other, and what a function can call is declared below it.
Exit code  0: yes; 1: no, with a line for each place.
"""
import argparse
import pathlib
import re
import sys

# From the bottom to the top.  The longest prefix of a path is its layer; a library of another list is never included.
LAYERS = [
    ["frontend/support", "frontend/syntax", "frontend/sema", "frontend/grad",
     "codegen", "codegen/analysis", "codegen/ir", "codegen/passes", "codegen/plan.c", "codegen/emit"],
    ["runtime/include", "runtime/shared", "runtime/debug", "runtime/depend", "runtime/memory", "runtime/registry",
     "runtime/record", "runtime/backend", "runtime/wire",
     "runtime/schedule", "runtime/submit", "runtime/engine", "runtime/device", "runtime/dist", "runtime/api", "runtime/report", "runtime/host"],
]

MOST_LINES = 600

SUFFIXES = {".c", ".h", ".cpp", ".def", ".re", ".y"}
FOLDERS = ["frontend", "codegen", "runtime", "kernels", "tools", "bench"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def layer_of(name, layers):
    """The index of the longest prefix of the path, or None."""
    fitting = [entry for entry in layers if name == entry or name.startswith(entry + "/")]
    return layers.index(max(fitting, key=len)) if fitting else None


def included(root, path, roots):
    """The files of the tree that this one includes; generated headers are not in the tree."""
    for name in INCLUDE.findall(path.read_text()):
        for folder in [path.parent] + roots:
            found = (folder / name).resolve()
            if found.is_file():
                yield found.relative_to(root).as_posix()
                break


def upward_includes(root, layers):
    libraries = sorted({entry.split("/")[0] for entry in layers})
    roots = [root / library for library in libraries]
    for path in (p for folder in roots for p in sorted(folder.rglob("*")) if p.suffix in SUFFIXES):
        name = path.relative_to(root).as_posix()
        own = layer_of(name, layers)
        if own is None:
            yield f"{name}: no line of LAYERS (test/style/layers.py) has its folder"
            continue
        for other in included(root, path, roots):
            layer = layer_of(other, layers)
            if layer is not None and layer > own:
                yield f"{name}: includes {other}, and {layers[layer]} stands above {layers[own]}"


def long_files(root):
    for path in (p for folder in FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in SUFFIXES):
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text().splitlines())
        if lines > MOST_LINES:
            yield f"{name}: {lines} lines, {MOST_LINES} at most: it is more than one idea"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    root = parser.parse_args().source.resolve()
    problems = [line for layers in LAYERS for line in upward_includes(root, layers)] + list(long_files(root))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
