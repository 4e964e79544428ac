"""Tables of one argument over any number: curves through points, each piece a cubic.

A curve of n points takes 6 n numbers of a pool, from ``start``: abscissae, then for each point the coefficients of
y = c0 + c1 b + c2 b^2 + c3 b^3, b = x - x_i, of the piece behind it, and the area up to it. The last point has the value
and the slope at the end. The interval is found by bisection without branches; how many halvings that takes is structure, the
points are data. The coefficients are made by numbers.interpolation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .functions import floor, gather, less, negated, select
from .symbol import Number

PARTS = 6  # numbers of each point


class Curve(NamedTuple):
    """A value, its first two derivatives, and the area under the curve from its first point."""

    value: Number
    slope: Number
    bend: Number
    area: Number = 0.0


class Lookup(NamedTuple):
    """How a curve is looked up: steps of bisection, what is done outside, whether it jumps or has kinks at its points."""

    steps: int
    outside: str = "error"
    jumps: bool = False
    kinked: bool = False


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
    """Largest i <= last - 1 with x_i <= x, by adding falling powers of two."""
    i: Number = 0.0
    for step in reversed(range(steps)):
        trial = i + float(2**step)
        fits = less(trial, last)
        below = less(x, gather(pool, start + select(fits, trial, 0.0), inside=True))
        i = select(fits, select(below, i, trial), i)
    return i


def corners(pool: Any, start: Number, count: Number, how: Lookup, x: Number) -> Number:
    """A number that changes its sign at every point of the curve that x crosses."""
    last = count - 1.0
    low, high = gather(pool, start, inside=True), gather(pool, start + last, inside=True)
    if how.outside == "periodic":
        turns = floor((x - low) / (high - low))
        x, odd = x - turns * (high - low), turns * last
    else:
        odd = 0.0
    i = interval(pool, start, last, how.steps, x)
    left, right = gather(pool, start + i, inside=True), gather(pool, start + i + 1.0, inside=True)
    odd = odd + i
    parity = 1.0 - 2.0 * (odd - 2.0 * floor(0.5 * odd))
    return parity * select(
        less(x, left), x - left, select(less(right, x), right - x, (x - left) * (right - x) / (right - left))
    )
