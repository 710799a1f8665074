"""Reads what `ptoc build --emit=bounds` prints, where sizes are constants or made of names with known values."""
import re


class Bound:
    """Bytes, or None where they are not known before the run; safe is need where nothing else is said.  iteration: the bytes that all loops of unknown trip count add to peak when each makes one iteration."""

    def __init__(self, lines, values):
        self.need, self.safe, self.peak = (largest(lines, name, values) for name in ("need", "safe", "peak"))
        if not any(line.startswith("  safe") for line in lines):
            self.safe = self.need
        iterations = [re.match(r"  and   (.*?) bytes? for every iteration", line) for line in lines]
        self.iteration = sum(value_of(found.group(1), values) for found in iterations if found)


def ceil_div(a, b):
    return -(-a // b)


def value_of(text, values):
    text = text.replace("/", "//")
    return int(eval(text, {"__builtins__": {}}, dict(values, min=min, max=max, ceil_div=ceil_div, abs=abs,
                                                     log2=lambda n: n.bit_length() - 1)))


def largest(lines, name, values):
    """Of `  need  A bytes: line 3  f(x)` and the lines `  or    B bytes` behind it."""
    found, inside = [], False
    for line in lines:
        inside = line.startswith("  " + name) or (inside and re.match("  (or|and) ", line))
        if not inside or "for every iteration" in line:
            continue
        if "not known" in line or "level of recursion" in line:
            return None
        found.append(value_of(re.match(r"  \w+ +(.*?) bytes?(:|$)", line).group(1), values))
    return max(found) if found else None


def bounds_of_entries(text, values={}):
    """Name of each exported function -> Bound."""
    bounds = {}
    for part in re.split(r"\n\n+", text):
        lines = part.split("\n")
        name = re.search(r"export orch (\w+)", lines[0])
        if name:
            bounds[name.group(1)] = Bound(lines, values)
    return bounds
