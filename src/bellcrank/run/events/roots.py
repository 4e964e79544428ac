"""All crossings of a quantity in a step, 0 to 1.

The quantity is interpolated in Chebyshev's points, more and more of them until the interpolant has converged, in halves of the
step where that takes too many. A coordinate is a polynomial there, of lower degree than the first interpolant: dense output.
Between the extrema of the interpolant the quantity goes one way only, and crosses its value once or not at all.

L. N. Trefethen, Approximation Theory and Approximation Practice, 2013, ch. 18
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Array = NDArray[np.float64]
Quantity = Callable[[Array], Array]  # at places of the step

_DEGREES = (8, 16, 32)
_CONVERGED = 1e-10  # the last two coefficients, of the largest
_MOST_HALVINGS = 5
_REAL = 1e-6  # imaginary parts of extrema that are real but for rounding
_PARTS, _ROUNDS = 16, 13  # 16^-13 is rounding


def one_way(quantity: Quantity, low: float = 0.0, high: float = 1.0, halvings: int = 0) -> Array:
    """Places from low to high between which the quantity goes one way; only these two if it stays on one side of zero."""
    for degree in _DEGREES:
        nodes, fit = _fit(degree)
        values = quantity(0.5 * (low + high) + 0.5 * (high - low) * nodes)
        if not np.isfinite(values).all():
            return np.array([low, high])
        coefficients = fit @ values
        largest = np.abs(coefficients).max()
        if np.abs(coefficients[-2:]).max() <= _CONVERGED * largest:
            if 2 * abs(coefficients[0]) > np.abs(coefficients).sum():  # it stays on one side of zero
                return np.array([low, high])
            return 0.5 * (low + high) + 0.5 * (high - low) * _extrema(coefficients, largest)
    if halvings == _MOST_HALVINGS:
        return np.linspace(low, high, _DEGREES[-1] + 1)
    middle = 0.5 * (low + high)
    return np.union1d(one_way(quantity, low, middle, halvings + 1), one_way(quantity, middle, high, halvings + 1))


@cache
def _fit(degree: int) -> tuple[Array, Array]:
    """Chebyshev's points, and the matrix that turns values there into coefficients."""
    nodes = np.cos(np.pi * np.arange(degree, -1, -1) / degree)
    return nodes, np.asarray(np.linalg.inv(chebyshev.chebvander(nodes, degree)))


def _extrema(coefficients: Array, largest: float) -> Array:
    """Places of the extrema of a series on [-1, 1], and the ends."""
    slope = chebyshev.chebder(chebyshev.chebtrim(coefficients, 1e-15 * largest))
    found = chebyshev.chebroots(chebyshev.chebtrim(slope, 1e-15 * np.abs(slope).max(initial=0.0)))
    real = found.real[np.abs(found.imag) <= _REAL]
    return np.array([-1.0, *np.sort(real[(real > -1.0) & (real < 1.0)]), 1.0])


def crossings(quantity: Quantity, *, up: bool, down: bool, on_value: bool = False) -> list[float]:
    """The places where the quantity crosses zero upward or downward, or both; just after it, to rounding.

    A quantity that begins on its value (``on_value``: but for rounding) has not crossed it.
    """
    places = one_way(quantity)
    values = quantity(places)
    if on_value:
        values[0] = 0.0
    kept = values != 0.0  # where an extremum is zero the quantity touches it, or goes on through it
    kept[[0, -1]] = True
    places, values = places[kept], values[kept]
    found = []
    for (low, before), (high, after) in pairwise(zip(places.tolist(), values.tolist(), strict=True)):
        if (up and before < 0 <= after) or (down and before > 0 >= after):
            found.append(narrowed(quantity, low, high, negative=before < 0)[1])
    return found


def narrowed(quantity: Quantity, low: float, high: float, *, negative: bool) -> tuple[float, float]:
    """The places before and behind a change of sign, from ``negative`` or to it, as near as rounding allows."""
    for _ in range(_ROUNDS):
        places = np.linspace(low, high, _PARTS + 1)
        values = quantity(places[1:-1])
        behind = np.append((values == 0) | ((values < 0) != negative), True)
        first = int(np.argmax(behind))
        low, high = float(places[first]), float(places[first + 1])
    return low, high
