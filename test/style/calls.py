#!/usr/bin/python3
"""calls.py LAYERS OBJECT ... - do the calls between files of the runtime point downwards, and in no circle?

Idea       an object says which names it defines and which it wants (nm), so functions that a header of a lower folder declares and a higher
           folder defines are found too.  Calls through a table, which the caller is handed, point upwards on purpose and are not seen.
Exit code  0: yes; 1: no, with a line for each call, or there is no object; 77: there is no nm.
"""
import importlib.util
import os
import shutil
import subprocess
import sys


def names_of(objects):
    """{object: (the names that it wants, those that it defines for others)}"""
    names = {path: (set(), set()) for path in objects}
    for line in subprocess.check_output(["nm", "-A", "-P", *objects], text=True).splitlines() if objects else ():
        path, name, kind = line.split()[:3]
        wanted, defined = names[path[:-1]]
        if kind == "U":
            wanted.add(name)
        elif kind in "TDBRVWC":
            defined.add(name)
    return names


def calls_between(objects):
    """{file: {file that it needs: the names}}"""
    names = {os.path.normpath(path).rsplit(".dir/", 1)[-1].rsplit(".o", 1)[0]: found for path, found in names_of(objects).items()}
    home = {name: path for path, (_, defined) in names.items() for name in defined}
    calls = {path: {} for path in names}
    for path, (wanted, _) in names.items():
        for name in sorted(wanted & home.keys()):
            calls[path].setdefault(home[name], []).append(name)
    return calls


def circles(calls):
    """Files of which each needs the others: Tarjan's strongly connected components of more than one."""
    number, low, stack, found = {}, {}, [], []

    def visit(at):
        number[at] = low[at] = len(number)
        stack.append(at)
        for other in calls[at]:
            if other not in number:
                visit(other)
            if other in stack:
                low[at] = min(low[at], low[other])
        if low[at] == number[at]:
            component = stack[stack.index(at):]
            del stack[stack.index(at):]
            if len(component) > 1:
                found.append(component)

    for path in calls:
        if path not in number:
            visit(path)
    return found


def main():
    if not shutil.which("nm"):
        sys.exit(77)
    spec = importlib.util.spec_from_file_location("layers", sys.argv[1])
    layers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(layers)
    order = next(row for row in layers.LAYERS if row[0].startswith("runtime/"))
    calls = calls_between(sys.argv[2:])
    problems = [] if calls else ["no object was given"]
    problems += [f"{a} calls {b} ({names[0]}), which stands above it" for a in calls for b, names in calls[a].items()
                if layers.layer_of("runtime/" + b, order) > layers.layer_of("runtime/" + a, order)]
    problems += [f"{a} calls {b} ({calls[a][b][0]}) in a circle" for circle in circles(calls) for a in circle for b in circle
                 if b in calls[a]]
    print("\n".join(problems) or f"{len(calls)} files: no call points upwards, and no circle")
    return 1 if problems else 0


sys.exit(main())
