"""overloads.py - the kernel that a call means, of several of one name or of a generic one.

Idea       the element types of the arguments and of the place choose; a generic kernel is copied with the types of a
           call.
Tests      every random program
"""
import copy

from random_kernels import CLASSES

from .faults import Fault
from .values import Tensor


def overload(kernels, values, place, line):
    """place: of the result, None where a new tensor is made."""
    for k in kernels:
        formals = list(k.formals)
        if len(values) < len(formals):
            formals = [f for f in formals if f.direction != "out"]
        fits = [f.type.name == v.element for f, v in zip(formals, values) if isinstance(v, Tensor)]
        result = [f for f in k.formals if f.direction == "out"]
        is_given = not isinstance(place, Tensor) or len(values) == len(k.formals)
        if all(fits) and (is_given or result[0].type.name == place.element):
            return k
    for k in kernels:
        found = k.elements and instance(k, values, place)
        if found:
            return found
    raise Fault("E02", line, "no kernel '%s' takes these element types" % kernels[0].name)


def instance(kernel, values, place):
    """A generic kernel with the element types of a call; None: they do not fit."""
    outs = [i for i, f in enumerate(kernel.formals) if f.direction == "out"]
    skip = outs[:1] if len(values) < len(kernel.formals) else []
    given = [f for i, f in enumerate(kernel.formals) if i not in skip]
    pairs = list(zip(given, values)) + [(kernel.formals[i], place) for i in skip]
    bound = {}
    for formal, value in pairs:
        if not isinstance(value, Tensor):
            continue
        name = formal.type.name
        want = bound.setdefault(name, value.element) if name in kernel.elements else name
        if want != value.element or (name in kernel.elements and want not in CLASSES[kernel.elements[name]]):
            return None
    if len(bound) < len(kernel.elements):
        return None
    made = copy.copy(kernel)
    made.formals = [copy.copy(f) for f in kernel.formals]
    for formal in made.formals:
        formal.type = copy.copy(formal.type)
        formal.type.name = bound.get(formal.type.name, formal.type.name)
    return made
