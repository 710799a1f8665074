"""terms.py - random equations are made of terms: each is a text and a function in NumPy.

Idea       a term knows its text, its type, a bound of its absolute value and how to compute itself for all values of its index variables at
           once: an index variable is an array that varies along an axis of its own, and a reduction reduces its axis.  Floats hold whole
           numbers below the bound of their type only, so that every order of additions and every fused product has the same result.
Owner      State: the index variables that are bound while a kernel is computed.
Invariant  value() reads no element outside of a tensor: an index is cut to the extent.  Where the kernel would read that element, the state
           notes a fault: not in the arm that a select does not choose, nor outside of a range.
Tests      test/random/by_index/check.py
"""
import numpy as np

AXES = 6         # index variables that are bound at one time, at most
MOST_WORK = 3e6  # values of a term
FLOATS = {"f16": 2 ** 9, "f32": 2 ** 22, "f64": 2 ** 45}  # whole numbers up to here are exact, and so is a sum of two
INTS = {"i8": 7, "u8": 8, "i16": 15, "i32": 31, "u32": 32, "i64": 63}
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32,
          "u32": np.uint32, "i64": np.int64, "bool": np.bool_}
LARGEST = {**FLOATS, **{t: 2 ** bits for t, bits in INTS.items()}, "bool": 1}


class Term:
    """alone: index variables that index a dimension alone, so that their range follows from it."""

    def __init__(self, text, type_, bound, value, alone=frozenset(), literal=False):
        self.text, self.type, self.bound, self.value, self.alone, self.literal = text, type_, bound, value, frozenset(alone), literal


def wrap(values, type_):
    """As the type holds them: integers modulo 2^w."""
    if type_ in INTS:
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(DTYPES[type_]).astype(np.int64)
    return values


class Extent:
    """factor * name + rest; name "" is a constant."""

    def __init__(self, name, factor=1, rest=0):
        self.name, self.factor, self.rest = name, factor if name else 0, rest
        text = ("%d * %s" % (factor, name) if factor != 1 else name) if name else ""
        self.text = (text + " + %d" % rest if rest else text) if text else str(rest)

    def __eq__(self, other):
        return self.text == other.text

    def __hash__(self):
        return hash(self.text)

    def size(self, dims):
        return self.factor * dims.get(self.name, 0) + self.rest

    def plus(self, n):
        return Extent(self.name, self.factor, self.rest + n)

    def times(self, n):
        return Extent(self.name, n * self.factor, n * self.rest)


class TooLong(Exception):
    """Some term has too many values for a test."""


class State:
    """While a kernel is computed: extents, tensors, index variables, and the conditions under which a term is read."""

    def __init__(self, dims, tensors, scalars):
        self.dims, self.tensors, self.scalars, self.vars, self.depth = dims, tensors, scalars, {}, 0
        self.conditions, self.has_fault = [], False

    def under(self, condition, term):
        """The value of a term that is read only where the condition holds."""
        self.conditions.append(np.asarray(condition))
        value = term.value(self)
        self.conditions.pop()
        return value

    def note_fault(self, where):
        """where: the index is outside there."""
        if not self.has_fault and where.any():
            for condition in [*self.conditions, *(np.ones(v.shape, bool) for v in self.vars.values())]:
                where = np.logical_and(where, condition)
            self.has_fault = bool(where.any())

    def bind(self, name, low, high):
        """A new axis on which the variable is low .. high."""
        shape = [1] * AXES
        shape[self.depth] = max(0, high - low)
        self.vars[name] = np.arange(low, max(low, high), dtype=np.int64).reshape(shape)
        self.depth += 1
        if np.prod([max(1.0, v.size) for v in self.vars.values()]) > MOST_WORK:
            raise TooLong

    def release(self, name):
        del self.vars[name]
        self.depth -= 1


def element(tensor, indices):
    """value() of tensor[indices]."""
    def value(state):
        array = state.tensors[tensor]
        at = [np.asarray(index(state)) for index in indices]
        for a, n in zip(at, array.shape):
            state.note_fault((a < 0) | (a >= n))
        if array.size == 0:
            shape = np.broadcast_shapes(*[a.shape for a in at]) if at else ()
            return np.zeros(shape, array.dtype)
        return array[tuple(np.clip(a, 0, n - 1) for a, n in zip(at, array.shape))]
    return value


IDENTITY = {"sum": 0, "prod": 1, "any": False, "all": True}


def identity(op, type_):
    if op in IDENTITY:
        return IDENTITY[op]
    if type_ in FLOATS:
        return -np.inf if op == "max" else np.inf
    info = np.iinfo(DTYPES[type_])
    return info.min if op == "max" else info.max


def reduction(op, name, low, high, body, type_):
    """value() of op(name in low .. high: body); low and high are functions of the state."""
    def value(state):
        first, last = np.asarray(low(state)), np.asarray(high(state))
        begin, end = (int(first.min()), int(last.max())) if first.size and last.size else (0, 0)
        axis = state.depth
        state.bind(name, begin, end)
        at = state.vars[name]
        inside = (at >= first) & (at < last)
        values = np.asarray(state.under(inside, body))
        state.release(name)
        shape = np.broadcast_shapes(values.shape, inside.shape)
        values, inside = np.broadcast_to(values, shape), np.broadcast_to(inside, shape)
        if op in ("argmax", "argmin"):
            worst = -np.inf if op == "argmax" else np.inf
            chosen = np.where(inside, values.astype(np.float64), worst)
            best = (chosen.argmax if op == "argmax" else chosen.argmin)(axis=axis, keepdims=True)
            return best.astype(np.int64) + begin
        neutral = identity(op, type_)
        if type_ in INTS:
            values = values.astype(np.int64)
        values = np.where(inside, values, neutral)
        how = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "any": np.logical_or, "all": np.logical_and}[op]
        with np.errstate(over="ignore"):
            result = how.reduce(values, axis=axis, keepdims=True, initial=neutral if type_ not in INTS else np.int64(neutral))
        return wrap(result, type_)
    return value
