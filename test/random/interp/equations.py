"""equations.py - the dimension variables of a call, from the extents of its arguments.

Idea       each declared extent equals the extent of the argument.  A name alone is known at once; an extent with one
           unknown is linear in it, so its values at 0 and at 1 say the rest; then every equation must hold.
Owner      bind_dims() adds to `bound`; the extents are evaluated by the caller.
Tests      every random program
"""
from .faults import Fault
from .type_trees import extents_of, names_of


class Shapes:
    """Known extents of one formal: of the whole, or of parts with their own types."""

    def __init__(self, whole, parts):
        self.whole, self.parts = whole, parts


def bind_dims(decl, shaped, bound, line, extent_with):
    """shaped: formals with their Shapes.  extent_with(extent, dims): its value with these dimension variables."""
    pairs = extents_and_values(shaped, line)
    for extent, n in pairs:
        if extent.kind == "name" and extent.name in decl.generics:
            bound.setdefault(extent.name, int(n))
    while solve_one(decl, pairs, bound, line, extent_with):
        pass
    for extent, n in pairs:
        if all(d in bound for d in decl.generics if d in names_of(extent)) and extent_with(extent, bound) != n:
            raise Fault("E04", line, "an extent is %d, expected %d" % (n, extent_with(extent, bound)))


def extents_and_values(shaped, line):
    pairs = []
    for formal, shapes in shaped:
        if shapes.whole is not None:
            pairs += list(zip(extents_of(formal.type), shapes.whole))
            if len(extents_of(formal.type)) != len(shapes.whole):
                raise Fault("E03", line, "'%s' has another rank" % formal.name)
        for extents, shape in shapes.parts:
            pairs += list(zip(extents, shape))
    return pairs


def solve_one(decl, pairs, bound, line, extent_with):
    """One pass over the equations: was a variable found?"""
    changed = False
    for extent, n in pairs:
        unknown = [d for d in decl.generics if d in names_of(extent) and d not in bound]
        if len(unknown) == 1:
            f0, f1 = (extent_with(extent, {**bound, unknown[0]: x}) for x in (0, 1))
            if f1 == f0 or (int(n) - f0) % (f1 - f0):
                raise Fault("E04", line, "no '%s' makes an extent of %d" % (unknown[0], n))
            bound[unknown[0]] = (int(n) - f0) // (f1 - f0)
            changed = True
    return changed
