"""Tables of two arguments over any number: tensor products of straight lines, or of natural cubic splines.

A grid of n by m values takes, from ``start``, its n and m abscissae and its values row by row; a cubic one then also their
second derivatives along x, along y, and along both. In an interval [x_i, x_i+1] of length h, with B = (x - x_i)/h, A = 1 - B,
a spline is A y_i + B y_i+1 + (h^2/6) ((A^3 - A) y''_i + (B^3 - B) y''_i+1); the product takes this along x and along y. Behind
them stand the breaks of x and those of y: how many there are, and where, with room for all abscissae.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from .functions import gather, less, select
from .interpolation import second_derivatives
from .spline import interval, signs_of_breaks
from .symbol import Number

Rows = list[list[Number]]


class GridLookup(NamedTuple):
    """How a grid is looked up: steps of bisection along both arguments, what is done outside, whether it is cubic, and how many
    numbers tell its breaks along each argument apart (``grid_gates``)."""

    steps: tuple[int, int]
    outside: str
    cubic: bool
    gates: tuple[int, int] = (0, 0)


def grid_rows(x: Sequence[Number], y: Sequence[Number], values: Sequence[Sequence[Number]], cubic: bool) -> list[Number]:
    z = [list(row) for row in values]
    layers = [z]
    if cubic:
        along_x = _transposed([_bends(x, column) for column in _transposed(z)])
        layers += [along_x, [_bends(y, row) for row in z], [_bends(y, row) for row in along_x]]
    return [*x, *y, *(value for layer in layers for row in layer for value in row)]


def _bends(x: Sequence[Number], y: Sequence[Number]) -> list[Number]:
    h = [b - a for a, b in itertools.pairwise(x)]
    return second_derivatives(h, [(b - a) / width for a, b, width in zip(y, y[1:], h, strict=False)])


def _transposed(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def on_grid(pool: Any, start: Number, size: tuple[Number, Number], how: GridLookup, at: tuple[Number, Number]) -> Number:
    """The value at (x, y). Outside it is not a number ("error"), or that of the nearest place of the edge ("clamp")."""
    n, m = size
    (i, along_x, out_x), (j, along_y, out_y) = (
        _weights(pool, first, count, steps, x, how.cubic)
        for first, count, steps, x in zip((start, start + n), size, how.steps, at, strict=True)
    )
    first = start + n + m + i * m + j
    total: Number = 0.0
    for layer in range(4 if how.cubic else 1):
        bent_x, bent_y = layer in (1, 3), layer in (2, 3)
        for p in range(2):
            for r in range(2):
                entry = gather(pool, first + (float(layer) * n * m + float(p) * m + float(r)), inside=True)
                total = total + along_x[bent_x][p] * along_y[bent_y][r] * entry
    if how.outside == "clamp":
        return total
    return select(out_x, float("nan"), select(out_y, float("nan"), total))


def grid_gates(
    pool: Any, start: Number, size: tuple[Number, Number], how: GridLookup, at: tuple[Number, Number]
) -> list[Number]:
    """Numbers of which one changes its sign at every break of x or of y that is crossed (numbers.spline.gates)."""
    n, m = size
    of_x = start + n + m + (4.0 if how.cubic else 1.0) * n * m
    of_y = of_x + 1.0 + n
    return [
        sign
        for first, bits, x in zip((of_x, of_y), how.gates, at, strict=True)
        for sign in signs_of_breaks(pool, first, bits, x)
    ]


def _weights(pool: Any, start: Number, count: Number, steps: int, x: Number, cubic: bool) -> tuple[Number, Any, Any]:
    """The interval, the weights of its two values and of their two second derivatives, and whether x is outside."""
    last = count - 1.0
    low, high = gather(pool, start, inside=True), gather(pool, start + last, inside=True)
    inside = select(less(x, low), low, select(less(high, x), high, x))
    i = interval(pool, start, last, steps, inside)
    left, right = gather(pool, start + i, inside=True), gather(pool, start + i + 1.0, inside=True)
    h = right - left
    b = (inside - left) / h
    a = 1.0 - b
    sixth = h * h * (1.0 / 6.0)
    bends = (sixth * (a * a * a - a), sixth * (b * b * b - b)) if cubic else (0.0, 0.0)
    outside = less(0.5, select(less(x, low), 1.0, select(less(high, x), 1.0, 0.0)))
    return i, ((a, b), bends), outside
