"""Natural cubic splines over any number: tables of time, of elongation, of anything.

A spline of n points takes 4 n numbers of a pool, from ``start``: abscissae, values, second derivatives, areas up to each
point. The interval is found by bisection without branches; how many halvings that takes is structure, the points are data.
On [x_i, x_i+1], h its length, with a = x_i+1 - x and b = x - x_i:

    y = (m_i a^3 + m_i+1 b^3)/(6 h) + (y_i/h - m_i h/6) a + (y_i+1/h - m_i+1 h/6) b
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .functions import gather, less, select
from .symbol import Number
from .variable import as_array


class Curve(NamedTuple):
    """A value, its first two derivatives, and the area under the curve from its first point."""

    value: Number
    slope: Number
    bend: Number
    area: Number = 0.0


def spline_rows(x: Sequence[float], y: Sequence[float]) -> NDArray[np.float64]:
    """The 4 n numbers of a natural spline through the points: a tridiagonal system for the second derivatives."""
    xs, ys = as_array(x), as_array(y)
    h = np.diff(xs)
    m = [0.0, *_bends(h, 6 * np.diff(np.diff(ys) / h)), 0.0] if len(xs) > 2 else [0.0] * len(xs)
    bends = as_array(m)
    pieces = h * (ys[:-1] + ys[1:]) / 2 - h**3 * (bends[:-1] + bends[1:]) / 24
    return np.concatenate([xs, ys, bends, [0.0], np.cumsum(pieces)])


def _bends(h: NDArray[Any], right: NDArray[Any]) -> Any:
    """h_i-1 m_i-1 + 2 (h_i-1 + h_i) m_i + h_i m_i+1 = right_i between the ends, where m is zero."""
    from scipy.linalg import solve_banded

    diagonal = 2 * (h[:-1] + h[1:])
    if right.dtype != object:
        above, below = np.append(0.0, h[1:-1]), np.append(h[1:-1], 0.0)
        return solve_banded((1, 1), np.stack([above, diagonal, below]), right)
    d, r = list(diagonal), list(right)
    for i in range(1, len(d)):  # on any number
        factor = h[i] / d[i - 1]
        d[i], r[i] = d[i] - factor * h[i], r[i] - factor * r[i - 1]
    for i in reversed(range(len(d))):
        r[i] = (r[i] - h[i + 1] * r[i + 1] if i + 1 < len(d) else r[i]) / d[i]
    return r


def halvings(count: int) -> int:
    """Steps of bisection that find one of count - 1 intervals."""
    return max(1, int(count - 1).bit_length())


def spline(pool: Any, start: Number, count: Number, steps: int, x: Number, *, clamp: bool) -> Curve:
    """The spline at x. Outside its points: the end's value and no slope (clamp), or not a number."""
    last = count - 1.0
    low, high = gather(pool, start), gather(pool, start + last)
    below, above = less(x, low), less(high, x)
    inside = select(below, low, select(above, high, x))
    i = _interval(pool, start, last, steps, inside)
    left, right = gather(pool, start + i), gather(pool, start + i + 1.0)
    y0, y1 = (gather(pool, start + count + i + k) for k in (0.0, 1.0))
    m0, m1 = (gather(pool, start + count + count + i + k) for k in (0.0, 1.0))
    h = right - left
    a, b = right - inside, inside - left
    sixth = 1.0 / 6.0
    value = ((m0 * a * a * a + m1 * b * b * b) * sixth + y0 * a + y1 * b) / h - (m0 * a + m1 * b) * h * sixth
    slope = ((m1 * b * b - m0 * a * a) * 0.5 + y1 - y0) / h - (m1 - m0) * h * sixth
    bend = (m0 * a + m1 * b) / h
    hh, aa, bb = h * h, a * a, b * b
    area = gather(pool, start + count + count + count + i)
    area = area + ((y0 - m0 * hh * sixth) * (hh - aa) + (y1 - m1 * hh * sixth) * bb) * 0.5 / h
    area = area + (m0 * (hh * hh - aa * aa) + m1 * bb * bb) * (0.25 * sixth) / h
    outside = 0.0 if clamp else float("nan")
    slope, bend = (select(below, outside, select(above, outside, d)) for d in (slope, bend))
    if clamp:
        return Curve(value, slope, bend, area + value * (x - inside))
    value, area = (select(below, outside, select(above, outside, d)) for d in (value, area))
    return Curve(value, slope, bend, area)


def _interval(pool: Any, start: Number, last: Number, steps: int, x: Number) -> Number:
    """Largest i <= last - 1 with x_i <= x, by adding falling powers of two."""
    i: Number = 0.0
    for step in reversed(range(steps)):
        trial = i + float(2**step)
        fits = less(trial, last)
        below = less(x, gather(pool, start + select(fits, trial, 0.0)))
        i = select(fits, select(below, i, trial), i)
    return i
