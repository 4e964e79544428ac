"""Radau IIA with three stages: order five, L-stable, for stiff models; collocation, with dense output of order three.

The embedded method of order three adds the slope at the start with the weight of A's real eigenvalue gamma, so that its
estimate can be filtered by the matrix that Newton's method has at hand: error = (1 - h gamma J)^-1 h sum_i error_i k_i.
"""

from math import sqrt

from .runge_kutta import Row, RungeKutta

_R = sqrt(6)
_C = ((4 - _R) / 10, (4 + _R) / 10, 1.0)
_A = (
    ((88 - 7 * _R) / 360, (296 - 169 * _R) / 1800, (-2 + 3 * _R) / 225),
    ((296 + 169 * _R) / 1800, (88 + 7 * _R) / 360, (-2 - 3 * _R) / 225),
    ((16 - _R) / 36, (16 + _R) / 36, 1 / 9),
)
_GAMMA = (6 + 81 ** (1 / 3) - 9 ** (1 / 3)) / 30
_E = tuple(_GAMMA / 3 * e for e in (-13 - 7 * _R, -13 + 7 * _R, -1))  # of the increments of the stages, h A k


def _collocation(i: int) -> Row:
    """The integral of Lagrange's polynomial of stage i, from 0 to x: coefficients of x, x^2, x^3."""
    a, b = (c for j, c in enumerate(_C) if j != i)
    scale = (_C[i] - a) * (_C[i] - b)
    return a * b / scale, -(a + b) / 2 / scale, 1 / 3 / scale


RADAU = RungeKutta(
    name="radau",
    order=5,
    citation="E. Hairer & G. Wanner, Solving Ordinary Differential Equations II, 1996, IV.5 and IV.8",
    c=_C,
    A=_A,
    b=_A[-1],
    error=(*(sum(e * row[j] for e, row in zip(_E, _A, strict=True)) for j in range(3)), _GAMMA),
    estimate=3,
    dense=(_collocation(0), _collocation(1), _collocation(2), (0.0, 0.0, 0.0)),
)
