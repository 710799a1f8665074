"""values.py - the values of names and expressions: tensors, elements, grids of tiles, structs, numbers.

Idea       a tensor is a NumPy array beside a mask of the same shape, which says which elements were written; views of
           both are views of NumPy.  A number is an int, a float, a np.float32 or a bool.
Invariant  views of one tensor share its Lifetime, so that a drop or a move ends all of them.
Tests      every random program
"""
import math

import numpy as np

from .faults import Fault

ELEMENTS = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16,
            "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
            "bool": np.bool_}
WRITTEN = ("out", "inout", "acc")


class Lifetime:
    """Of the storage that views share."""

    def __init__(self):
        self.ended = None


class Tensor:
    """A region; arrays counts the leading dimensions that are an array's, all of them for an array of scalars."""

    def __init__(self, element, data, mask, lifetime, arrays=0, host=False, scalars=False):
        self.element, self.data, self.mask, self.lifetime = element, data, mask, lifetime
        self.arrays, self.host, self.scalars = arrays, host, scalars

    def part(self, key, arrays):
        return Tensor(self.element, self.data[key], self.mask[key], self.lifetime, arrays, self.host, self.scalars)

    def viewed(self, change):
        """The same elements in another order or shape: change(array) is a view of the array."""
        data, mask = change(self.data), change(self.mask)
        return Tensor(self.element, data, mask, self.lifetime, self.arrays, self.host, self.scalars)

    def text(self):
        shape = self.data.shape
        lead = "".join("array[%d] of " % n for n in shape[:self.arrays])
        rest = "[%s]" % ", ".join(map(str, shape[self.arrays:])) if len(shape) > self.arrays else ""
        return lead + self.element + rest


class Element:
    """One element: a value behind await, at once where it is the orchestrator's."""

    def __init__(self, tensor, key):
        self.tensor, self.key = tensor, key


class Grid:
    """A tensor in tiles; shape counts the tiles of each dimension."""

    def __init__(self, tensor, tile):
        self.tensor, self.tile = tensor, tile
        self.shape = tuple(-(-n // t) for n, t in zip(tensor.data.shape, tile))


class Struct:
    """args: the values of its dimension variables; fields: by name."""

    def __init__(self, decl, args, fields):
        self.decl, self.args, self.fields = decl, args, fields


# ---- tensors ----


def new_tensor(element, shape, arrays=0, scalars=False):
    data = np.zeros(shape, ELEMENTS[element])
    if not scalars:  # an element that is read unwritten is to be seen
        data.view(np.uint8).fill(0xA5) if element != "bool" else data.fill(True)
    return Tensor(element, data, np.full(shape, scalars), Lifetime(), arrays, False, scalars)


def given_tensor(element, data, host=False, arrays=0, scalars=False):
    return Tensor(element, data, np.ones(data.shape, bool), Lifetime(), arrays, host, scalars)


def tensors_of(value):
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Struct):
        return [t for field in value.fields.values() for t in tensors_of(field)]
    return []


def live(value, line):
    """The tensor, if it is one and was neither dropped nor moved."""
    if not isinstance(value, Tensor):
        raise Fault("E02", line, "%r is no tensor" % (value,))
    if value.lifetime.ended:
        raise Fault("E11", line, "the tensor was %s" % value.lifetime.ended)
    return value


def moved(value):
    """An own argument in the callee: the caller's names for it are dead."""
    if isinstance(value, Struct):
        return Struct(value.decl, value.args, {f: moved(v) for f, v in value.fields.items()})
    if not isinstance(value, Tensor):
        return value
    copy = Tensor(value.element, value.data, value.mask, Lifetime(), value.arrays, value.host, value.scalars)
    value.lifetime.ended = "moved"
    return copy


def moved_element(value):
    """Of an array, whose others stay: nothing of it is read again."""
    if isinstance(value, Struct):
        return Struct(value.decl, value.args, {f: moved_element(v) for f, v in value.fields.items()})
    if not isinstance(value, Tensor):
        return scalar_of(value)
    data, mask = value.data.copy(), value.mask.copy()
    copy = Tensor(value.element, data, mask, Lifetime(), value.arrays, value.host, value.scalars)
    value.mask[...] = False
    return copy


# ---- structs ----


def own_struct(value):
    """The same tensors, in a struct whose fields can be assigned for themselves."""
    if not isinstance(value, Struct):
        return value
    return Struct(value.decl, value.args, {f: own_struct(v) for f, v in value.fields.items()})


def scalar_of(value):
    """Of a field of a struct, which an array of structs holds as an element."""
    return value.tensor.data[value.key].item() if isinstance(value, Element) else value


def set_scalar(struct, name, value):
    place = struct.fields[name]
    if isinstance(place, Element):
        place.tensor.data[place.key] = value
    else:
        struct.fields[name] = value


def copy_scalars(to, of):
    for name, value in of.fields.items():
        if isinstance(value, Struct):
            copy_scalars(to.fields[name], value)
        elif not isinstance(value, Tensor):
            set_scalar(to, name, scalar_of(value))


# ---- numbers ----


def narrow(value, type_):
    if type_ == "f32":
        return np.float32(value)
    return float(value) if type_ == "f64" else value


def element_value(place, line):
    tensor = live(place.tensor, line)
    if not tensor.mask[place.key]:
        raise Fault("E06", line, "an element that nothing wrote is read")
    value = tensor.data[place.key]
    if tensor.element == "bool":
        return bool(value)
    if tensor.element == "bf16":
        return np.array([int(value) << 16], np.uint32).view(np.float32)[0]
    if tensor.element in ("f32", "f16"):
        return np.float32(value)
    return float(value) if tensor.element == "f64" else int(value)


def read(value, line):
    """An element is read; anything else is itself."""
    return element_value(value, line) if isinstance(value, Element) else value


# ---- texts ----


def real_text(value):
    """The shortest of %.6g (f32) or %.15g and more digits that reads back as the same number."""
    if isinstance(value, np.float32):
        texts = ("%.*g" % (digits, float(value)) for digits in range(6, 10))
        return next((t for t in texts if np.float32(t) == value), text_of_digits(float(value), 9))
    texts = ("%.*g" % (digits, value) for digits in range(15, 18))
    return next((t for t in texts if float(t) == value), text_of_digits(value, 17))


def text_of_digits(value, digits):
    return "nan" if math.isnan(value) else "%.*g" % (digits, value)


def value_text(value):
    """As print shows it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Tensor):
        return value.text()
    return str(value) if isinstance(value, int) else real_text(value)
