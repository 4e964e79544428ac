"""Sums of squares P = sum of w w^T as triangles, R^T R = P, by plane rotations: nothing is squared; solutions of P x = right.

Where the first rows w have nothing along an axis, as of bars that lie exactly along it, R has a kink there (the length of what
will be added) although P has none, and where they have rounding only, the derivatives of R are as large as its inverse. So R is
never differentiated: on numbers with tangents the entry (i, j) of a triangle has the value R_ij and the tangents of P_ij, and

    P x = right    gives    P dx = d(right) - dP x

with the values of R alone. A complex number counts as a value and one tangent, as complex steps have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..numbers import Dual, Number, less, select, sqrt
from .small import summed

Rows = Sequence[Sequence[Number]]

_TINY, _NOTICED = 1e-300, 1e-280


def with_row(R: Rows, w: Sequence[Number]) -> list[list[Number]]:
    """The triangle of P + w w^T.   sqrt and 1/x for each w"""
    kind = _kind([*w, *(x for row in R for x in row)])
    if kind is None:
        return _rotated(R, w)
    value, tangents, joined = kind
    new = with_row([[value(x) for x in row] for row in R], [value(x) for x in w])

    def entry(i: int, j: int) -> Number:
        pairs = zip(tangents(R[i][j]), tangents(w[i]), tangents(w[j]), strict=True)
        return joined(new[i][j], [old + (a * value(w[j]) + value(w[i]) * b) for old, a, b in pairs])

    return [[0.0] * i + [entry(i, j) for j in range(i, len(w))] for i in range(len(w))]


def solved(R: Rows, right: Sequence[Number]) -> list[Number]:
    """x of P x = right."""
    kind = _kind([*right, *(x for row in R for x in row)])
    if kind is None:
        return _backward(R, forward(R, right))
    value, tangents, joined = kind
    values = [[value(x) for x in row] for row in R]
    x = solved(values, [value(b) for b in right])
    dP = [[tangents(R[min(i, j)][max(i, j)]) for j in range(len(x))] for i in range(len(x))]
    changes = []
    for k in range(len(tangents(right[0]))):
        pushed = [tangents(b)[k] - summed(dP[i][j][k] * x[j] for j in range(len(x))) for i, b in enumerate(right)]
        changes.append(solved(values, pushed))
    return [joined(a, list(along)) for a, along in zip(x, zip(*changes, strict=True), strict=True)]


def forward(R: Rows, right: Sequence[Number]) -> list[Number]:
    """R^-T right, of plain numbers."""
    z: list[Number] = []
    for i in range(len(right)):
        z.append((right[i] - summed(R[k][i] * z[k] for k in range(i))) / R[i][i])
    return z


def values(R: Rows) -> list[list[Number]]:
    """R itself, without tangents."""
    kind = _kind([x for row in R for x in row])
    return [list(row) for row in R] if kind is None else values([[kind[0](x) for x in row] for row in R])


def _rotated(R: Rows, w: Sequence[Number]) -> list[list[Number]]:
    new, w = [list(row) for row in R], list(w)
    for i, row in enumerate(new):
        if _is_nothing(w[i]):
            continue
        if _is_nothing(row[i]):  # nor is anything else in the row
            new[i] = [0.0] * i + w[i:]
            return new
        square = row[i] * row[i] + w[i] * w[i]
        length = sqrt(square + _TINY)
        inverse = 1.0 / length
        there = less(_NOTICED, square)  # else nothing has been added to the row yet, nor is now
        cosine, sine = select(there, row[i] * inverse, 1.0), select(there, w[i] * inverse, 0.0)
        row[i] = length
        for j in range(i + 1, len(w)):
            row[j], w[j] = cosine * row[j] + sine * w[j], cosine * w[j] - sine * row[j]
    return new


def _is_nothing(x: Number) -> bool:
    return isinstance(x, float) and x == 0


def _backward(R: Rows, z: Sequence[Number]) -> list[Number]:
    """R^-1 z."""
    x = list(z)
    for i in reversed(range(len(x))):
        x[i] = (x[i] - summed(R[i][k] * x[k] for k in range(i + 1, len(x)))) / R[i][i]
    return x


Kind = tuple[Callable[[Number], Number], Callable[[Number], Sequence[Number]], Callable[[Number, Sequence[Number]], Number]]
"""Of numbers with tangents: the value of one, its tangents, and a number with both."""


def _kind(numbers: Sequence[Number]) -> Kind | None:
    duals = [x for x in numbers if isinstance(x, Dual)]
    if duals:
        return _of_dual(max(duals, key=lambda x: x.level))
    if any(isinstance(x, complex) for x in numbers):
        return (lambda x: x.real), (lambda x: [x.imag]), lambda value, tangents: complex(value, tangents[0])
    return None


def _of_dual(like: Dual) -> Kind:
    def has(x: Number) -> bool:
        return isinstance(x, Dual) and x.level == like.level

    nothing = (0.0,) * len(like.tangents)
    return (lambda x: x.value if has(x) else x), (lambda x: x.tangents if has(x) else nothing), type(like)
