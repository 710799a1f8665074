"""arithmetic.py - operators, casts and built-in functions of numbers, as the language defines them.

Idea       integers are Python's, with a Fault where 64 bits would not hold the result; f32 is np.float32, f64 is float.
Invariant  the operands are numbers already: nothing here evaluates an expression.
Tests      every random program
"""
import numpy as np

from . import syntax
from .faults import Fault
from .values import narrow

COMPARISONS = syntax.LEVELS[syntax.COMPARE]
CASTS = ("i64", "f64", "f32", "bool")
REAL = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "pow": np.power, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
        "floor": np.floor, "ceil": np.ceil, "round": np.rint}
LOW, HIGH = -(1 << 63), (1 << 63) - 1


def fitting(value, line):
    if not LOW <= value <= HIGH:
        raise Fault("E15", line, "%d does not fit in 64 bits" % value)
    return value


def is_f64(value):
    return isinstance(value, float) and not isinstance(value, np.float32)


def type_of_number(value):
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, int):
        return "i64"
    return "f32" if isinstance(value, np.float32) else "f64"


def common_type(types):
    return next(t for t in ("f64", "f32", "i64", "bool") if t in types)


def unary(op, value, line):
    if op == "!":
        return not value
    if op == "~":
        return ~value
    return fitting(-value, line) if isinstance(value, int) else -value


def binary(op, a, b, line):
    """All but && and ||, whose right side may be left out."""
    if not (isinstance(a, int) and isinstance(b, int)):  # C's usual conversions
        both = float if is_f64(a) or is_f64(b) else np.float32
        a, b = both(a), both(b)
    if op in COMPARISONS:
        return bool({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])
    return integers(op, a, b, line) if isinstance(a, int) else reals(op, a, b)


def reals(op, a, b):
    with np.errstate(all="ignore"):
        if op == "/":
            return np.divide(a, b) if isinstance(a, np.float32) else float(np.divide(a, b))
        return {"+": a + b, "-": a - b, "*": a * b}[op] if op != "%" else None


def integers(op, a, b, line):
    if op in "/%":
        if b == 0:
            raise Fault("E15", line, "division by zero")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return fitting(quotient, line) if op == "/" else a - quotient * b
    if op in ("<<", ">>"):
        if not 0 <= b <= 63:
            raise Fault("E15", line, "a shift by %d" % b)
        return fitting(a << b, line) if op == "<<" else a >> b
    if op in "|^&":
        return {"|": a | b, "^": a ^ b, "&": a & b}[op]
    return fitting({"+": a + b, "-": a - b, "*": a * b}[op], line)


def cast(value, name, line):
    if name == "bool":
        return bool(value != 0)
    if name == "i64":
        if isinstance(value, (float, np.floating)) and not -2.0 ** 63 <= float(value) < 2.0 ** 63:
            raise Fault("E15", line, "%r does not fit in 64 bits" % value)
        return int(value)
    return float(value) if name == "f64" else np.float32(value)


def function(name, values, line):
    """A built-in function of numbers."""
    if name in CASTS:
        return cast(values[0], name, line)
    if name in REAL:
        with np.errstate(all="ignore"):
            return float(REAL[name](*(float(v) for v in values)))
    if name in ("min", "max") and not all(isinstance(v, int) for v in values):
        wide = any(is_f64(v) for v in values)
        values = [narrow(v, "f64" if wide else "f32") for v in values]
    if name == "ceil_div":
        if values[1] == 0:
            raise Fault("E15", line, "division by zero")
        return fitting(-(-values[0] // values[1]), line)
    if name == "log2":
        if values[0] < 1:
            raise Fault("E15", line, "log2 of %d" % values[0])
        return values[0].bit_length() - 1
    return fitting(abs(values[0]), line) if name == "abs" and isinstance(values[0], int) else \
        {"min": min, "max": max, "abs": abs}[name](*values)
