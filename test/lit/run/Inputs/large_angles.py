"""Arguments of all exponents for sin and cos, and what large-angles.pto has to make of them."""
import fractions
import math
import random
import sys

import numpy as np


def make(path):
    r = random.Random(5)
    values = [r.choice((1, -1)) * r.uniform(1, 2) * 2.0**e for e in range(-40, 1024, 3)]
    values += [2.0**30, math.nextafter(2.0**30, 2**31), 1e22, 6381956970095103 * 2.0**797, 0.0, -0.0]
    values += [math.inf, -math.inf, math.nan]
    np.save(path, np.array(values))


BITS = 1400  # after the point, of pi; the system's own functions are wrong by 8 ulp where the result is nearly 0


def arctan_of_1_over(n):
    term = total = (1 << BITS) // n
    k = 1
    while term:
        term //= -n * n
        k += 2
        total += term // k
    return total


HALF_PI = 2 * (4 * arctan_of_1_over(5) - arctan_of_1_over(239))


def quarters(x):
    """The nearest multiple of pi/2, and the rest, as an integer times 2^-BITS."""
    numerator, denominator = x.as_integer_ratio()
    # the rest is exact to 2^-BITS, and pi to some hundred units of that for each of 2^1024 multiples: 360 bits are left
    exact = (numerator << BITS) // denominator
    n = (exact + HALF_PI // 2) // HALF_PI
    return n, exact - n * HALF_PI


def sine(x, shift=0):
    if not math.isfinite(x):
        return math.nan
    if x == 0 and shift == 0:
        return x
    n, rest = quarters(x)
    n += shift
    k = 1 - (n & 1)
    term = total = rest if k else 1 << BITS
    while abs(term) >= 4:
        term = -term * rest * rest >> 2 * BITS
        term //= (k + 1) * (k + 2)
        k += 2
        total += term
    return float(fractions.Fraction(-total if n & 2 else total, 1 << BITS))


def cosine(x):
    return sine(x, 1)


def of(function, x):
    return np.array([function(v) for v in x.tolist()])


def is_close(got, want, bits, ulp):
    with np.errstate(invalid="ignore"):
        unit = 2.0 ** (np.frexp(want)[1] - bits)
        close = (np.isnan(want) & np.isnan(got)) | (got == want) | (abs(got - want) <= ulp * unit)
    assert close.all(), (got[~close], want[~close])


def bf16(x):
    bits = x.astype("f4").view("u4")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype("u4").view("f4")
    return np.where(np.isnan(x), x, rounded).astype("f8")


def check(x, o, p):
    s, c = of(sine, x), of(cosine, x)
    is_close(o[0], s, 53, 4)
    is_close(o[1], c, 53, 4)
    with np.errstate(invalid="ignore"):
        is_close(o[2], x + s, 53, 4)
    is_close(o[3], c, 53, 4)
    is_close(o[4], of(cosine, 2 * x) * s, 53, 16)
    is_close(o[5], np.where(abs(x) < 1, 7.0, s), 53, 4)
    is_close(o[6], c, 53, 4)
    with np.errstate(over="ignore"):
        single = x.astype("f4").astype("f8")
    is_close(p[0].astype("f8"), of(sine, single), 24, 4)
    is_close(p[1].astype("f8"), of(cosine, bf16(single)), 8, 4)


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    check(*(np.load(path) for path in sys.argv[2:]))
