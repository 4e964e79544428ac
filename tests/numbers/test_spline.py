"""Natural splines on every kind of number, against scipy's: value, slope, bend, and area."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bellcrank.numbers.spline import halvings, spline, spline_rows

from .kinds import DUALS, SIMPLE

RNG = np.random.default_rng(3)
POINTS = {n: (np.sort(RNG.uniform(-2, 3, n)), RNG.uniform(-1, 1, n)) for n in (2, 3, 4, 5, 8, 9, 16, 17, 50)}


def places(x):
    """Inside every interval, and on every point."""
    return np.sort(np.concatenate([x, (x[1:] + x[:-1]) / 2, RNG.uniform(x[0], x[-1], 20)]))


def evaluated(kind, x, y, at, clamp, start=0):
    pool = np.concatenate([np.full(start, 7.0), spline_rows(x, y), np.full(3, -5.0)])

    def f(table, z):
        return tuple(spline(table, float(start), float(len(x)), halvings(len(x)), z, clamp=clamp))

    return np.asarray(kind.run(f, at, table=pool), dtype=float)


def scipys(x, y, at):
    curve = CubicSpline(x, y, bc_type="natural")
    return np.array([curve(at), curve(at, 1), curve(at, 2), curve.antiderivative()(at)])


@pytest.mark.parametrize("n", POINTS)
@pytest.mark.parametrize("kind", SIMPLE, ids=lambda kind: kind.name)
def test_inside_it_is_scipys_natural_spline(kind, n):
    """To rounding of the largest bend, which is of order 1e3 where points are close."""
    x, y = POINTS[n]
    at = places(x)
    expected = scipys(x, y, at)
    found = evaluated(kind, x, y, at, clamp=n % 2 == 0, start=n)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("n", [2, 5, 17])
@pytest.mark.parametrize("kind", DUALS, ids=lambda kind: kind.name)
def test_slopes_by_dual_numbers_are_the_slopes_it_says(kind, n):
    """d value = slope, d slope = bend, d area = value."""
    x, y = POINTS[n]
    at = RNG.uniform(x[0], x[-1], 20)

    def f(table, z):
        return tuple(spline(table, 0.0, float(n), halvings(n), z, clamp=True))

    value, slope, _, area = np.asarray(kind.jacobian(f, at, table=spline_rows(x, y)), dtype=float)[:, 0]
    expected = scipys(x, y, at)
    small = {"rtol": 0, "atol": 1e-10 * max(1.0, np.abs(expected).max())}
    np.testing.assert_allclose(value, expected[1], **small)
    np.testing.assert_allclose(slope, expected[2], **small)
    np.testing.assert_allclose(area, expected[0], **small)


@pytest.mark.parametrize("kind", SIMPLE, ids=lambda kind: kind.name)
def test_beyond_the_ends_it_is_held_or_no_number(kind):
    x, y = POINTS[5]
    at = np.array([x[0] - 2.0, x[0] - 1e-9, x[-1] + 1e-9, x[-1] + 2.0])
    value, slope, bend, area = evaluated(kind, x, y, at, clamp=True)
    np.testing.assert_allclose(value, [y[0], y[0], y[-1], y[-1]], rtol=1e-15)
    assert not slope.any() and not bend.any()
    whole = scipys(x, y, x[-1])[3]
    np.testing.assert_allclose(area, [-2 * y[0], -1e-9 * y[0], whole + 1e-9 * y[-1], whole + 2 * y[-1]], rtol=0, atol=1e-12)
    assert np.isnan(evaluated(kind, x, y, at, clamp=False)).all()


@pytest.mark.parametrize("kind", [kind for kind in SIMPLE if kind.real], ids=lambda kind: kind.name)
@pytest.mark.parametrize("clamp", [True, False])
def test_no_number_gives_no_number(kind, clamp):
    x, y = POINTS[5]
    assert np.isnan(evaluated(kind, x, y, np.array([np.nan, 0.0]), clamp)[0, 0])


def test_two_points_make_a_line():
    found = evaluated(SIMPLE[0], np.array([1.0, 3.0]), np.array([2.0, 6.0]), np.array([1.0, 1.5, 3.0]), clamp=False)
    np.testing.assert_allclose(found, [[2, 3, 6], [2, 2, 2], [0, 0, 0], [0, 1.25, 8]], rtol=0, atol=1e-15)


def test_bisection_takes_the_logarithm_of_the_intervals():
    assert [halvings(n) for n in (2, 3, 4, 5, 9, 17, 1000)] == [1, 2, 2, 3, 4, 5, 10]
