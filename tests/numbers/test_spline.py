"""Curves through tables on every kind of number, against scipy's: value, slope, bend, and area."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import Akima1DInterpolator, CubicSpline, PchipInterpolator

from bellcrank.numbers.interpolation import curve_rows
from bellcrank.numbers.spline import Lookup, halvings, spline

from .kinds import DUALS, SIMPLE

RNG = np.random.default_rng(3)
POINTS = {n: (np.sort(RNG.uniform(-2, 3, n)), RNG.uniform(-1, 1, n)) for n in (2, 3, 4, 5, 8, 9, 16, 17, 50)}


def places(x):
    """Inside every interval, and on every point."""
    return np.sort(np.concatenate([x, (x[1:] + x[:-1]) / 2, RNG.uniform(x[0], x[-1], 20)]))


def evaluated(kind, x, y, at, outside, start=0, how="cubic"):
    rows = curve_rows(x, y, how, outside == "periodic")
    pool = np.concatenate([np.full(start, 7.0), rows, np.full(3, -5.0)])

    def f(table, z):
        return tuple(spline(table, float(start), float(len(x)), Lookup(halvings(len(x)), outside, how == "previous"), z))

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
    found = evaluated(kind, x, y, at, "clamp" if n % 2 == 0 else "error", start=n)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("n", [2, 5, 17])
@pytest.mark.parametrize("kind", DUALS, ids=lambda kind: kind.name)
def test_slopes_by_dual_numbers_are_the_slopes_it_says(kind, n):
    """d value = slope, d slope = bend, d area = value."""
    x, y = POINTS[n]
    at = RNG.uniform(x[0], x[-1], 20)

    def f(table, z):
        return tuple(spline(table, 0.0, float(n), Lookup(halvings(n), "clamp"), z))

    value, slope, _, area = np.asarray(kind.jacobian(f, at, table=np.array(curve_rows(x, y))), dtype=float)[:, 0]
    expected = scipys(x, y, at)
    small = {"rtol": 0, "atol": 1e-10 * max(1.0, np.abs(expected).max())}
    np.testing.assert_allclose(value, expected[1], **small)
    np.testing.assert_allclose(slope, expected[2], **small)
    np.testing.assert_allclose(area, expected[0], **small)


@pytest.mark.parametrize("kind", SIMPLE, ids=lambda kind: kind.name)
def test_beyond_the_ends_it_is_held_or_no_number(kind):
    x, y = POINTS[5]
    at = np.array([x[0] - 2.0, x[0] - 1e-9, x[-1] + 1e-9, x[-1] + 2.0])
    value, slope, bend, area = evaluated(kind, x, y, at, "clamp")
    np.testing.assert_allclose(value, [y[0], y[0], y[-1], y[-1]], rtol=1e-15)
    assert not slope.any() and not bend.any()
    whole = scipys(x, y, x[-1])[3]
    np.testing.assert_allclose(area, [-2 * y[0], -1e-9 * y[0], whole + 1e-9 * y[-1], whole + 2 * y[-1]], rtol=0, atol=1e-12)
    assert np.isnan(evaluated(kind, x, y, at, "error")).all()


@pytest.mark.parametrize("kind", [kind for kind in SIMPLE if kind.real], ids=lambda kind: kind.name)
@pytest.mark.parametrize("outside", ["error", "clamp", "extrapolate", "periodic"])
def test_no_number_gives_no_number(kind, outside):
    x, y = POINTS[5]
    assert np.isnan(evaluated(kind, x, y, np.array([np.nan, 0.0]), outside)[0, 0])


def test_two_points_make_a_line():
    found = evaluated(SIMPLE[0], np.array([1.0, 3.0]), np.array([2.0, 6.0]), np.array([1.0, 1.5, 3.0]), "error")
    np.testing.assert_allclose(found, [[2, 3, 6], [2, 2, 2], [0, 0, 0], [0, 1.25, 8]], rtol=0, atol=1e-15)


def test_bisection_takes_the_logarithm_of_the_intervals():
    assert [halvings(n) for n in (2, 3, 4, 5, 9, 17, 1000)] == [1, 2, 2, 3, 4, 5, 10]


SCIPYS = {
    "pchip": PchipInterpolator,
    "akima": Akima1DInterpolator,
    "cubic": lambda x, y: CubicSpline(x, y, bc_type="natural"),
}


@pytest.mark.parametrize("n", [2, 3, 4, 17])
@pytest.mark.parametrize("how", SCIPYS)
def test_every_interpolation_is_scipys(how, n):
    """Points of a random table, where slopes change their sign; to rounding of the largest bend."""
    x, y = POINTS[n]
    at = places(x)[1:-1]
    curve = SCIPYS[how](x, y) if n > 2 else SCIPYS["cubic"](x, y)
    expected = np.array([curve(at), curve(at, 1), curve(at, 2), curve.antiderivative()(at)])
    found = evaluated(SIMPLE[0], x, y, at, "error", how=how)
    inside = ~np.isin(at, x)  # bends of pchip and akima jump at the points
    np.testing.assert_allclose(found[:, inside], expected[:, inside], rtol=0, atol=1e-11 * np.abs(expected).max())


def test_straight_lines_and_steps():
    x, y = np.array([0.0, 1.0, 3.0]), np.array([2.0, 4.0, 0.0])
    at = np.array([0.0, 0.5, 1.0, 2.0, 3.0])
    found = evaluated(SIMPLE[0], x, y, at, "error", how="linear")
    np.testing.assert_allclose(found, [[2, 3, 4, 2, 0], [2, 2, -2, -2, -2], [0] * 5, [0, 1.25, 3, 6, 7]])
    found = evaluated(SIMPLE[0], x, y, at, "error", how="previous")
    np.testing.assert_allclose(found, [[2, 2, 4, 4, 0], [0] * 5, [0] * 5, [0, 1, 2, 6, 10]])


@pytest.mark.parametrize("kind", SIMPLE, ids=lambda kind: kind.name)
@pytest.mark.parametrize("how", ["linear", "pchip", "akima", "cubic"])
def test_beyond_its_ends_a_curve_goes_on_along_its_tangent_or_repeats_itself(kind, how):
    x, y = POINTS[9][0], np.append(POINTS[9][1][:-1], POINTS[9][1][0])
    past, period = 0.7, x[-1] - x[0]
    ends = evaluated(kind, x, y, x[[0, -1]], "extrapolate", how=how)
    found = evaluated(kind, x, y, x[[0, -1]] + [-past, past], "extrapolate", how=how)
    np.testing.assert_allclose(found[0], ends[0] + ends[1] * [-past, past], rtol=1e-9)
    np.testing.assert_allclose(found[1], ends[1], rtol=1e-12)
    at = places(x)[1:-1]
    one, other = (evaluated(kind, x, y, at + k * period, "periodic", how=how) for k in (0, -3))
    inside = ~np.isin(at, x)
    np.testing.assert_allclose(one[:3, inside], other[:3, inside], rtol=0, atol=1e-9 * np.abs(one).max())
    area = evaluated(kind, x, y, x[-1:] - 1e-13, "periodic", how=how)[3, 0]
    np.testing.assert_allclose(one[3] - other[3], 3 * area, rtol=0, atol=1e-9 * np.abs(one[3]).max() + 1e-9)


@pytest.mark.parametrize("n", [3, 4, 9])
def test_a_periodic_cubic_is_scipys_periodic_spline(n):
    x, y = POINTS[n][0], np.append(POINTS[n][1][:-1], POINTS[n][1][0])
    at = places(x)[1:-1]
    curve = CubicSpline(x, y, bc_type="periodic")
    found = evaluated(SIMPLE[0], x, y, at, "periodic")
    np.testing.assert_allclose(found[1], curve(at, 1), rtol=0, atol=1e-11 * np.abs(found[1]).max())
