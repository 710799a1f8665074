"""Numbers that a caller gives: whole and real ones, extents, sizes in bytes.  ctypes would take an integer modulo 2**64
without a word, so each is looked at here, and a message names the argument and what it may be."""
import array
import ctypes
import operator

I64_MIN, I64_MAX, I32_MAX, U32_MAX, U64_MAX = -2**63, 2**63 - 1, 2**31 - 1, 2**32 - 1, 2**64 - 1
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LONG = 60  # characters of a value that a message shows


def _shown(value):
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "\n"
    return text if len(text) <= _LONG and "\n" not in text else f"a value of type {type(value).__name__}"


def is_truth(value):
    """Is it a bool, of Python or of NumPy, whose __index__ warns, or an array of rank 0 that holds one, which has no __index__?"""
    is_scalar = getattr(value, "shape", None) == () and str(getattr(value, "dtype", "")) in ("bool", "torch.bool")
    return is_scalar or type(value).__name__ in ("bool", "bool_")


def _is_scalar(value):
    """Is it no array, or one of rank 0?  An array of one element passes for its number in NumPy and torch."""
    return not getattr(value, "ndim", 0)


def whole_number(what, value, low=I64_MIN, high=I64_MAX, kind="an integer", error=ValueError):
    """The integer that an argument is, from low to high; messages call the argument `what` and its type `kind`."""
    try:
        number = int(value) if is_truth(value) else operator.index(value) if _is_scalar(value) else None
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{what} is {kind}, not {_shown(value)}") from None
    if not low <= number <= high:
        raise error(f"{what} is {_shown(number)}: must be from {low} to {high}")
    return number


def real_number(what, value, kind="a number"):
    """The float that an argument is; text is none, and a complex number would lose a part."""
    is_real = _is_scalar(value) and (hasattr(type(value), "__float__") or hasattr(type(value), "__index__"))
    try:
        if is_real and getattr(getattr(value, "dtype", None), "kind", None) != "c":
            return float(value)
    except OverflowError:
        raise ValueError(f"{what} is {_shown(value)}: too large for {kind}") from None
    except (TypeError, ValueError, RuntimeError):  # an array of several elements, each library in its own words
        pass
    raise TypeError(f"{what} is {kind}, not {_shown(value)}")


def size_in_bytes(what, size):
    """An integer, or "256M"."""
    if not isinstance(size, str):
        return whole_number(what, size, 0)
    unit = size[-1:].upper()
    try:
        number = int(size[:-1]) * _UNITS[unit] if unit in _UNITS else int(size)
    except ValueError:
        raise ValueError(f"{what}: {_shown(size)} is no size: a number of bytes, or a number with one of "
                         f"{', '.join(_UNITS)}, as in '256M'") from None
    if not 0 <= number <= I64_MAX:
        raise ValueError(f"{what} is {_shown(size)}: must be from 0 to {I64_MAX} bytes")
    return number


def row_numbers(what, values):
    """Many integers for the library, which looks at their range: a buffer of 64 bits each."""
    values = list(values)
    try:
        return array.array("q", values)
    except (TypeError, OverflowError):
        numbers = [whole_number(f"{what}[{i}]", value, error=IndexError) for i, value in enumerate(values)]
        return array.array("q", numbers)


def listed(arguments):
    """f(3, 4) and f((3, 4)) are the same."""
    if len(arguments) == 1:
        try:
            return list(arguments[0])
        except TypeError:  # a number
            pass
    return list(arguments)


def extents(what, shape):
    """(rank, extents for the library) of a shape."""
    numbers = [whole_number(f"{what}: extent {dim}", extent, 0) for dim, extent in enumerate(shape)]
    return len(numbers), (ctypes.c_int64 * len(numbers))(*numbers)
