"""Triangles of sums of squares: solutions, and their derivatives where a row adds nothing along an axis."""

import numpy as np
import pytest

from bellcrank.numbers import Dual, Rate
from bellcrank.spatial.triangle import solved, values, with_row

ROWS = np.array([[0.0, 1.0, 2.0], [0.0, 0.5, -1.0], [0.7, 0.2, 0.1], [0.3, -0.4, 0.9]])  # the first axis comes last
CHANGES = np.random.default_rng(1).normal(size=ROWS.shape)
RIGHT = [1.0, -2.0, 0.5]


def solution(rows):
    R = [[0.0] * 3 for _ in range(3)]
    for w in rows:
        R = with_row(R, w)
    return R, solved(R, RIGHT)


def exact():
    """P x = right, and P dx = -dP x."""
    P, dP = ROWS.T @ ROWS, CHANGES.T @ ROWS + ROWS.T @ CHANGES
    x = np.linalg.solve(P, RIGHT)
    return x, -np.linalg.solve(P, dP @ x)


def test_the_square_of_the_triangle_is_the_sum_of_squares():
    R, x = solution(ROWS.tolist())
    np.testing.assert_allclose(np.transpose(R) @ np.array(R), ROWS.T @ ROWS, rtol=1e-14)
    np.testing.assert_allclose(x, exact()[0], rtol=1e-14)


@pytest.mark.parametrize("kind", [Dual, Rate])
def test_solutions_have_derivatives_where_the_triangle_has_none(kind):
    """Also over complex numbers, whose imaginary parts are derivatives too."""
    x, dx = exact()
    _, found = solution([[kind(a, [d]) for a, d in zip(*pair, strict=True)] for pair in zip(ROWS, CHANGES, strict=True)])
    np.testing.assert_allclose([a.value for a in found], x, rtol=1e-14)
    np.testing.assert_allclose([a.tangents[0] for a in found], dx, rtol=1e-13)
    steps = ROWS + 1e-30j * CHANGES
    _, both = solution([[kind(a, [0.0]) for a in row] for row in steps])
    np.testing.assert_allclose([a.value.imag / 1e-30 for a in both], dx, rtol=1e-13)


def test_its_values_are_without_tangents():
    R, _ = solution([[Dual(a, [1.0]) for a in row] for row in ROWS])
    np.testing.assert_allclose(values(R), solution(ROWS.tolist())[0], rtol=1e-15)
