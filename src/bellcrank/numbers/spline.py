"""Tables of one argument over any number: curves through points, each piece a cubic.

A curve of n points takes 6 n numbers of a pool, from ``start``: abscissae, then for each point the coefficients of
y = c0 + c1 b + c2 b^2 + c3 b^3, b = x - x_i, of the piece behind it, and the area up to it. The last point has the value
and the slope at the end. Behind them stand its breaks: how many there are, and where. The interval is found by a search
without branches; how many bits it has is structure, the points are data. The coefficients are made by
numbers.interpolation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .functions import floor, gather, less, maximum, minimum, negated, select
from .symbol import Number

PARTS = 6  # numbers of each point


class Curve(NamedTuple):
    """A value, its first two derivatives, and the area under the curve from its first point."""

    value: Number
    slope: Number
    bend: Number
    area: Number = 0.0


class Lookup(NamedTuple):
    """How a curve is looked up: steps of bisection, what is done outside, whether it jumps at its points, and how many numbers
    tell its breaks apart (``gates``)."""

    steps: int
    outside: str = "error"
    jumps: bool = False
    gates: int = 0


def halvings(count: int) -> int:
    """Steps of bisection that find one of count - 1 intervals."""
    return max(1, int(count - 1).bit_length())


def spline(pool: Any, start: Number, count: Number, how: Lookup, x: Number) -> Curve:
    """The curve at x. Outside its points it is not a number ("error"), keeps the value of its end ("clamp"), goes on along
    the tangent there ("extrapolate"), or repeats itself ("periodic")."""
    last = count - 1.0
    low, high = gather(pool, start, inside=True), gather(pool, start + last, inside=True)
    turns: Number = 0.0
    if how.outside == "periodic":
        turns = floor((x - low) / (high - low))
        x = x - turns * (high - low)
    below, above = less(x, low), less(high, x)
    inside = select(below, low, select(above, high, x))
    i = interval(pool, start, last, how.steps, inside)
    c0, c1, c2, c3, area = (gather(pool, start + (k * count + i), inside=True) for k in range(1, PARTS))
    b = inside - gather(pool, start + i, inside=True)
    curve = Curve(
        c0 + b * (c1 + b * (c2 + b * c3)),
        c1 + b * (2.0 * c2 + (3.0 * b) * c3),
        2.0 * c2 + (6.0 * b) * c3,
        area + b * (c0 + b * (0.5 * c1 + b * (c2 * (1.0 / 3.0) + b * (0.25 * c3)))),
    )
    if how.jumps:  # at its last point it has the last value
        arrived = negated(less(x, high))
        curve = Curve(select(arrived, gather(pool, start + (count + last), inside=True), curve.value), 0.0, 0.0, curve.area)
    if how.outside == "periodic":
        return curve._replace(area=curve.area + turns * gather(pool, start + (5.0 * count + last), inside=True))
    return _beyond(how.outside, curve, x - inside, (below, above))


def _beyond(outside: str, at_end: Curve, past: Number, sides: tuple[Any, Any]) -> Curve:
    """The curve ``past`` its nearer end, where it is ``at_end``; inside, past is zero."""
    below, above = sides

    def there(x: Number, inside: Number) -> Number:
        return select(below, x, select(above, x, inside))

    if outside == "error":
        return Curve(*[there(float("nan"), part) for part in at_end])
    slope = 0.0 if outside == "clamp" else at_end.slope
    value = at_end.value + slope * past
    area = at_end.area + past * (at_end.value + 0.5 * slope * past)
    return Curve(value, there(slope, at_end.slope), there(0.0, at_end.bend), area)


def interval(pool: Any, start: Number, last: Number, steps: int, x: Number) -> Number:
    """Largest i <= last - 1 with x_i <= x. Two bits of i at a time: three points that do not wait for each other."""
    i: Number = 0.0
    for low in reversed(range(0, steps, 2)):
        step = float(2**low)
        passed: Number = 0.0
        for k in range(1, 4 if low + 1 < steps else 2):
            trial = i + k * step
            fits = less(trial, last)
            below = less(x, gather(pool, start + select(fits, trial, 0.0), inside=True))
            passed = passed + select(fits, select(below, 0.0, step), 0.0)
        i = i + passed
    return i


def gates(pool: Any, start: Number, count: Number, how: Lookup, x: Number) -> list[Number]:
    """Numbers of which exactly one changes its sign at every break of the curve that x crosses.

    Their signs are the bits of the number of breaks below x, in Gray's code: whatever breaks x has crossed from one place to
    another, one of the signs differs. Each is as large as the way to the nearest break.
    """
    turns: Number = 0.0
    if how.gates and how.outside == "periodic":
        low, high = gather(pool, start, inside=True), gather(pool, start + (count - 1.0), inside=True)
        turns = floor((x - low) / (high - low))
        x = x - turns * (high - low)
    return signs_of_breaks(pool, start + float(PARTS) * count, how.gates, x, turns)


def signs_of_breaks(pool: Any, start: Number, bits: int, x: Number, turns: Number = 0.0) -> list[Number]:
    """``gates`` of breaks in a row of the pool: how many they are, then where; x has passed all of them ``turns`` times."""
    if not bits:
        return []
    breaks, first = gather(pool, start, inside=True), start + 1.0
    i = interval(pool, first, breaks, bits, x)
    left, right = gather(pool, first + i, inside=True), gather(pool, first + minimum(i + 1.0, breaks - 1.0), inside=True)
    below, behind = less(x, left), less(breaks - 1.5, i)
    away = select(below, left - x, select(behind, x - left, minimum(x - left, right - x)))
    passed = turns * breaks + select(below, 0.0, i + 1.0)
    return [_gray_sign(passed, bit) * maximum(away, 1e-300) for bit in range(bits)]


def _gray_sign(number: Number, bit: int) -> Number:
    """1 or -1, by a bit of an integer in Gray's code."""
    half = floor((number + float(2**bit)) * 0.5 ** (bit + 1))
    return 1.0 - 2.0 * (half - 2.0 * floor(0.5 * half))
