"""sin, cos and errors of angles in integer arithmetic: right whatever the argument, and the same on every platform."""

from __future__ import annotations

import math
from functools import cache

BITS = 200  # after the point, in reduced arguments and results; the hardest double leaves a reduced argument above 2^-62


@cache
def half_pi(bits):
    """pi/2 * 2^bits by Machin: pi/4 = 4 atan(1/5) - atan(1/239)."""

    def atan_inverse(k, one):
        total, power, n = 0, one // k, 1
        while power:
            total += power // n if n % 4 == 1 else -(power // n)
            power //= k * k
            n += 2
        return total

    one = 1 << (bits + 32)
    return (2 * (4 * atan_inverse(5, one) - atan_inverse(239, one))) >> 32


def sincos(x):
    """sin and cos of a double, times 2^BITS."""
    bits = BITS + 64 * max(0, -(-math.frexp(x)[1] // 64))  # more of pi for larger arguments
    n, d = x.as_integer_ratio()
    scaled = (n << bits) // d
    half = half_pi(bits)
    quadrant = (2 * scaled + half) // (2 * half)
    r = (scaled - quadrant * half) >> (bits - BITS)
    s, c = _series(r, r), _series(r, 1 << BITS)
    return [(s, c), (c, -s), (-s, -c), (-c, s)][quadrant % 4]


def _series(r, term):
    """r - r^3/3! + ... from the term r, and 1 - r^2/2! + ... from the term 1."""
    n, total = (1 if term == r else 0), 0
    while term not in (0, -1):
        total += term
        term = -((term * r >> BITS) * r >> BITS) // ((n + 1) * (n + 2))
        n += 2
    return total


def fixed(x):
    """A double times 2^BITS, rounded."""
    n, d = x.as_integer_ratio()
    return (n << BITS) // d


def ulps(got, exact):
    """Error of a double in units of its last place; ``exact`` is times 2^BITS."""
    return abs(fixed(got) - exact) / 2**BITS / math.ulp(exact / 2**BITS)


def angle_ulps(got, y, x):
    """Error of an angle of the point (x, y): the point turned back by it should lie on the positive x axis."""
    s, c = sincos(got)
    (ny, dy), (nx, dx) = y.as_integer_ratio(), x.as_integer_ratio()
    y, x = ny * dx, nx * dy
    across, along = y * c - x * s, x * c + y * s
    assert along > 0
    return abs(across / along) / math.ulp(got)
