"""Curves through points, over any number: the coefficients of their pieces (numbers.spline).

linear    straight lines                               previous  steps: the value of the point before
pchip     Fritsch & Butland 1984: no overshoot         akima     Akima 1970: little overshoot, local
cubic     natural spline (periodic: periodic spline): two continuous derivatives

pchip, akima and cubic are cubics with given slopes d at the points (Hermite): with s = (y1 - y0) / h,

    c1 = d0        c2 = (3 s - 2 d0 - d1) / h        c3 = (d0 + d1 - 2 s) / h^2
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .functions import absolute, less, select
from .symbol import Number

Numbers = list[Number]

STRAIGHT = 1e-9  # of the range of its values: how far a straight piece may be off


def curve_rows(x: Sequence[Number], y: Sequence[Number], interpolation: str = "cubic", periodic: bool = False) -> Numbers:
    """The 6 n numbers of a curve: x, c0, c1, c2, c3 and areas. A periodic one has equal values at both ends."""
    xs, ys = list(x), list(y)
    h = [b - a for a, b in itertools.pairwise(xs)]
    s = [(b - a) / width for a, b, width in zip(ys, ys[1:], h, strict=False)]
    if interpolation == "previous":
        flat = [0.0] * len(h)
        parts = [flat, flat, flat]
        end = 0.0
    elif interpolation == "linear":
        parts = [s, [0.0] * len(h), [0.0] * len(h)]
        end = s[-1]
    else:
        d = SLOPES[interpolation](h, s, periodic)
        bends = [(3.0 * si - 2.0 * d[i] - d[i + 1]) / hi for i, (hi, si) in enumerate(zip(h, s, strict=True))]
        cubes = [(d[i] + d[i + 1] - 2.0 * si) / (hi * hi) for i, (hi, si) in enumerate(zip(h, s, strict=True))]
        parts = [d[:-1], bends, cubes]
        end = d[-1]
    areas: Numbers = [0.0]
    for hi, c0, c1, c2, c3 in zip(h, ys, *parts, strict=False):
        areas.append(areas[-1] + hi * (c0 + hi * (0.5 * c1 + hi * (c2 / 3.0 + 0.25 * hi * c3))))
    return [*xs, *ys, *parts[0], end, *parts[1], 0.0, *parts[2], 0.0, *areas]


def straight_ends(rows: NDArray[np.float64], outside: str) -> tuple[int, ...]:
    """Points of a curve (its 6 n numbers) at which a straight piece begins or ends, or which is a kink or a jump.

    What lies beyond its ends counts as straight; where it is an error there is nothing to be found.
    """
    x, y, c1, c2, c3, _ = rows.reshape(6, -1)
    h, least = np.diff(x), STRAIGHT * max(float(np.ptp(y)), 1e-300)
    bent = np.maximum(np.abs(c2[:-1]) * h**2, np.abs(c3[:-1]) * h**3) > least
    ends = y[:-1] + h * (c1[:-1] + h * (c2[:-1] + h * c3[:-1]))
    slopes = c1[:-1] + h * (2 * c2[:-1] + 3 * h * c3[:-1])
    # behind each point as before it; what is before the first and behind the last is put in front and at the end
    before = {"clamp": (False, y[0], 0.0), "extrapolate": (False, y[0], c1[0])}.get(outside, (bent[-1], ends[-1], slopes[-1]))
    behind = {"clamp": (False, y[-1], 0.0), "extrapolate": (False, y[-1], slopes[-1])}.get(outside, (bent[0], y[0], c1[0]))
    changes = np.r_[before[0], bent] != np.r_[bent, behind[0]]
    jumps = np.abs(np.r_[before[1], ends] - np.r_[y[:-1], behind[1]]) > least
    kinks = np.abs(np.r_[before[2], slopes] - np.r_[c1[:-1], behind[2]]) * np.minimum(np.r_[h[0], h], np.r_[h, h[-1]]) > least
    found = np.flatnonzero(changes | jumps | kinks)
    last = len(h)
    left_out = {"error": (0, last), "periodic": (last,)}.get(outside, ())
    return tuple(int(k) for k in found if k not in left_out)


def _pchip(h: Numbers, s: Numbers, periodic: bool) -> Numbers:
    """Weighted harmonic means of the slopes on both sides, zero where they differ in sign."""
    if len(h) == 1:
        return [s[0], s[0]]

    def inner(h0: Number, h1: Number, s0: Number, s1: Number) -> Number:
        monotone = less(0.0, s0 * s1)
        w0, w1 = 2.0 * h1 + h0, h1 + 2.0 * h0
        bottom = select(monotone, w0 * s1 + w1 * s0, 1.0)
        return select(monotone, (w0 + w1) * s0 * s1 / bottom, 0.0)

    middle = [inner(h[i], h[i + 1], s[i], s[i + 1]) for i in range(len(h) - 1)]
    if periodic:
        joint = inner(h[-1], h[0], s[-1], s[0])
        return [joint, *middle, joint]
    return [_pchip_end(h[0], h[1], s[0], s[1]), *middle, _pchip_end(h[-1], h[-2], s[-1], s[-2])]


def _pchip_end(h0: Number, h1: Number, s0: Number, s1: Number) -> Number:
    """The slope at an end by a parabola through three points, kept from overshooting."""
    d = ((2.0 * h0 + h1) * s0 - h0 * s1) / (h0 + h1)
    turned = less(s0 * s1, 0.0)
    steep = select(turned, select(less(3.0 * absolute(s0), absolute(d)), 1.0, 0.0), 0.0)
    d = select(less(0.5, steep), 3.0 * s0, d)
    return select(less(0.0, d * s0), d, 0.0)


def _akima(h: Numbers, s: Numbers, periodic: bool) -> Numbers:
    """Means of the slopes on both sides, weighted by how much the slopes beyond them change."""
    if len(s) == 1:
        return [s[0], s[0]]
    if periodic:
        m = [s[-2], s[-1], *s, s[0], s[1]]
    else:
        before, after = 2.0 * s[0] - s[1], 2.0 * s[-1] - s[-2]
        m = [2.0 * before - s[0], before, *s, after, 2.0 * after - s[-1]]

    def slope(i: int) -> Number:
        left, right = absolute(m[i + 3] - m[i + 2]), absolute(m[i + 1] - m[i])
        even = less(left + right, 1e-9 * (absolute(m[i + 1]) + absolute(m[i + 2])))
        none = less(left + right, 1e-300)
        total = select(none, 1.0, left + right)
        mean = 0.5 * (m[i + 1] + m[i + 2])
        return select(none, mean, select(even, mean, (left * m[i + 1] + right * m[i + 2]) / total))

    return [slope(i) for i in range(len(s) + 1)]


def _cubic(h: Numbers, s: Numbers, periodic: bool) -> Numbers:
    """Slopes from the second derivatives m: h_i-1 m_i-1 + 2 (h_i-1 + h_i) m_i + h_i m_i+1 = 6 (s_i - s_i-1)."""
    m = second_derivatives(h, s, periodic)
    starts = [si - hi * (2.0 * m[i] + m[i + 1]) / 6.0 for i, (hi, si) in enumerate(zip(h, s, strict=True))]
    return [*starts, s[-1] + h[-1] * (m[-2] + 2.0 * m[-1]) / 6.0]


def second_derivatives(h: Numbers, s: Numbers, periodic: bool = False) -> Numbers:
    """Second derivatives of a natural or periodic cubic spline."""
    n = len(h)
    if n == 1:
        return [0.0, 0.0]
    if not periodic:
        right = [6.0 * (s[i + 1] - s[i]) for i in range(n - 1)]
        diagonal = [2.0 * (h[i] + h[i + 1]) for i in range(n - 1)]
        return [0.0, *_tridiagonal(h[1:-1], diagonal, right), 0.0]
    # unknown m_0 .. m_n-1, m_n = m_0; the corners of the matrix by the formula of Sherman & Morrison
    diagonal = [2.0 * (h[i - 1] + h[i]) for i in range(n)]
    right = [6.0 * (s[i] - s[i - 1]) for i in range(n)]
    if n == 2:
        a, b, c = diagonal[0], h[0] + h[1], diagonal[1]
        det = a * c - b * b
        first, second = (c * right[0] - b * right[1]) / det, (a * right[1] - b * right[0]) / det
        return [first, second, first]
    corner, shift = h[-1], -1.0 * diagonal[0]
    changed = [diagonal[0] - shift, *diagonal[1:-1], diagonal[-1] - corner * corner / shift]
    z = _tridiagonal(h[:-1], changed, right)
    u = _tridiagonal(h[:-1], changed, [shift, *[0.0] * (n - 2), corner])
    factor = (z[0] + corner / shift * z[-1]) / (1.0 + u[0] + corner / shift * u[-1])
    m = [zi - factor * ui for zi, ui in zip(z, u, strict=True)]
    return [*m, m[0]]


def _tridiagonal(off: Numbers, diagonal: Numbers, right: Numbers) -> Numbers:
    """A symmetric, diagonally dominant system, by elimination."""
    d, r = list(diagonal), list(right)
    for i in range(1, len(d)):
        factor = off[i - 1] / d[i - 1]
        d[i], r[i] = d[i] - factor * off[i - 1], r[i] - factor * r[i - 1]
    for i in reversed(range(len(d))):
        r[i] = (r[i] - (off[i] * r[i + 1] if i + 1 < len(d) else 0.0)) / d[i]
    return r


SLOPES: dict[str, Callable[[Numbers, Numbers, bool], Numbers]] = {"pchip": _pchip, "akima": _akima, "cubic": _cubic}
INTERPOLATIONS = ("linear", "pchip", "akima", "cubic", "previous")
