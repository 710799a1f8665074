"""type_trees.py - the tree of a type by itself: is it a scalar, which extents are declared, which names stand in them.

Invariant  no extent is evaluated here: storage.py does that.
Tests      every random program
"""
from . import syntax
from .values import ELEMENTS

SCALARS = ("i64", "f64", "f32", "bool")


def is_scalar(type_):
    return type_.kind == "type" and type_.extents is None and type_.module is None and type_.name in SCALARS


def is_struct(type_):
    return type_.kind == "type" and type_.name not in ELEMENTS


def struct_decl(module, type_):
    return (module.names[type_.module] if type_.module else module).names[type_.name]


def array_base(type_):
    while type_.kind == "array_type":
        type_ = type_.of
    return type_


def extents_of(type_):
    extents = []
    while type_.kind == "array_type":
        extents.append(type_.count)
        type_ = type_.of
    return extents + list(type_.extents or [])


def names_of(node, found=None):
    found = set() if found is None else found
    if isinstance(node, syntax.Node):
        if node.kind == "name":
            found.add(node.name)
        for part in node.__dict__.values():
            names_of(part, found)
    elif isinstance(node, (list, tuple)):
        for part in node:
            names_of(part, found)
    return found


def substitute(node, names):
    """The extents of a struct's field, with what stands for the struct's dimension variables."""
    if isinstance(node, syntax.Node):
        if node.kind == "name" and node.name in names:
            return names[node.name]
        part = lambda k, v: v if k in ("kind", "line") else substitute(v, names)
        return syntax.Node(**{k: part(k, v) for k, v in node.__dict__.items()})
    return [substitute(part, names) for part in node] if isinstance(node, list) else node
