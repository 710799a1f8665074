"""program.py - a file with the modules that it imports, and the names that a call of a function sees.

Owner      Program: the modules, loaded once each.  Frame: one call of a function.
Tests      every random program
"""
import os

from . import syntax
from .faults import Fault


class Module:
    """The declarations of one file by name; kernels of one name are a list.  prefix: of its params in settings."""

    def __init__(self, path, text, loader, prefix=""):
        self.path, self.prefix = path, prefix
        self.names, self.asserts = {}, []
        for item in syntax.parse(text):
            if item.kind == "import":
                name = item.name or os.path.splitext(os.path.basename(item.path))[0]
                self.names[name] = loader(self, item.path, name)
            elif item.kind == "assert":
                self.asserts.append(item)
            elif item.kind == "kernel":
                item.module = self
                self.names.setdefault(item.name, []).append(item)
            else:
                item.module = self
                self.names[item.name] = item

    def callee(self, node):
        """What a call names: a function, or the list of the kernels of that name."""
        if node.kind == "member":
            return self.names[node.of.name].names[node.name]
        found = self.names.get(node.name)
        if found is None:
            raise Fault("E01", node.line, "unknown name '%s'" % node.name)
        return found


class Frame:
    """The names of one call of a function; dims and formals are its outermost block."""

    def __init__(self, module):
        self.module, self.blocks = module, [{}]

    def find(self, name):
        for block in reversed(self.blocks):
            if name in block:
                return block[name]
        return None

    def declare(self, name, value):
        self.blocks[-1][name] = value

    def declare_var(self, name, value):
        """A tensor or a struct that changes: assigning it makes the name another one's."""
        self.declare(name, value)
        self.blocks[-1]["var " + name] = True

    def give(self, name):
        """A field of the struct is given a tensor that exists: it changes from then on."""
        next(block for block in reversed(self.blocks) if name in block)["var " + name] = True

    def is_var(self, name):
        return next(("var " + name in block for block in reversed(self.blocks) if name in block), False)

    def assign(self, name, value):
        for block in reversed(self.blocks):
            if name in block:
                block[name] = value
                return


class Program:
    """One file and what it imports.  folders: where std/ lies."""

    def __init__(self, path, folders=()):
        self.folders, self.loaded = folders, {}
        with open(path) as file:
            self.main = Module(path, file.read(), self.load)

    def load(self, module, path, name):
        places = [os.path.dirname(module.path)] + list(self.folders) + [os.path.join(f, "std") for f in self.folders]
        for found in [os.path.join(place, path) for place in places]:
            if os.path.exists(found):
                key = os.path.realpath(found)
                if key not in self.loaded:
                    with open(found) as file:
                        self.loaded[key] = Module(found, file.read(), self.load, name + ".")
                return self.loaded[key]
        raise FileNotFoundError(path)


def setting(text, type_):
    """The value of a param or a scalar of the entry, from the command line."""
    if type_ == "bool":
        return {"true": True, "false": False, "1": True, "0": False, "True": True, "False": False}[text]
    return int(text, 0) if type_ == "i64" else float(text)
