"""sin, cos and atan2 in machine code, against integer arithmetic: accuracy, hard arguments, and what is not finite.

Measured on 2e7 random arguments: sin and cos within 0.86, atan2 within 1.9 units in the last place.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from bellcrank.numbers import atan2, sincos
from tests.numbers import exact
from tests.numbers.traced import Traced

LANES = (1, 4)
lanes = pytest.mark.parametrize("lanes", LANES, ids=["double", "4 x double"])
HARDEST = 6381956970095103 * 2.0**797  # of all doubles the nearest to a multiple of pi/2 (Muller et al., Handbook, 2010)


@cache
def machine(function, lanes):
    return Traced(sincos, 1, lanes) if function == "sincos" else Traced(lambda y, x: (atan2(y, x),), 2, lanes)


def worst(x, lanes):
    sines, cosines = machine("sincos", lanes)(x)
    errors = []
    for argument, s, c in zip(x.tolist(), sines.tolist(), cosines.tolist(), strict=True):
        exact_s, exact_c = exact.sincos(argument)
        errors += [(exact.ulps(s, exact_s), argument), (exact.ulps(c, exact_c), argument)]
    return max(errors)


def near_multiples_of_half_pi(largest, count, seed):
    rng = np.random.default_rng(seed)
    k = np.concatenate([np.arange(1, 100), rng.integers(100, int(largest / 1.6), count)])
    base = k * (math.pi / 2)
    return np.concatenate([base + step * np.spacing(base) for step in (-2, -1, 0, 1, 2)] + [base * (1 + 1e-9), -base])


def arguments(name):
    rng = np.random.default_rng(11)
    return {
        "small": np.concatenate([rng.uniform(-1, 1, 500), 10.0 ** rng.uniform(-10, 0, 300)]),
        "a few turns": rng.uniform(-20, 20, 1000),
        "up to 1e6": rng.uniform(-1e6, 1e6, 1000),
        "near multiples of pi/2": near_multiples_of_half_pi(1e6, 300, 5),
        "around the bound of the common path": 2.0**22 * np.array([1 - 1e-15, 1.0, 1 + 1e-15, -1.0, -1.1, 0.999]),
        "1e6 to 1e9": np.concatenate([10 ** rng.uniform(6, 9, 200), near_multiples_of_half_pi(1e9, 50, 6)]),
        "1e9 to 1e300": np.append(10 ** rng.uniform(9, 300, 200), [1e300, -1e22]),
    }[name]


RANGES = ["small", "a few turns", "up to 1e6", "near multiples of pi/2", "around the bound of the common path", "1e6 to 1e9", "1e9 to 1e300"]  # fmt: skip


def test_the_reference_is_right():
    """sin(1e22) = -0.8522008497671888018 is a known hard case (Ng, 1992); pi/2 is as Python prints it."""
    s, _ = exact.sincos(1e22)
    assert s / 2**exact.BITS == pytest.approx(-0.8522008497671888018, rel=1e-15)
    assert exact.half_pi(60) / 2**60 == math.pi / 2
    s, c = exact.sincos(0.7)
    assert abs(s * s + c * c - (1 << 2 * exact.BITS)) < 1 << (exact.BITS + 8)


@lanes
@pytest.mark.parametrize("which", RANGES)
def test_sine_and_cosine_are_within_a_unit_in_the_last_place(which, lanes):
    error, argument = worst(arguments(which), lanes)
    assert error <= 1.0, f"{error} ulp at {argument!r}"


@lanes
def test_the_hardest_double_is_left_to_the_c_library(lanes):
    """cos = -4.68716592425462761112e-19 (Muller et al.); glibc's own answer is off by 8 ulp, which is 1.8e-15."""
    assert machine("sincos", lanes)([HARDEST])[1, 0] == pytest.approx(-4.68716592425462761112e-19, rel=1e-14)


@lanes
def test_sine_of_tiny_numbers_is_the_number_and_zeros_keep_their_sign(lanes):
    x = np.array([5e-324, 1e-310, -1e-300, 1e-20, -1e-9, 0.0, -0.0])
    s, c = machine("sincos", lanes)(x)
    np.testing.assert_array_equal(s[:6], x[:6])
    np.testing.assert_array_equal(c, 1.0)
    assert s[6] == 0.0  # of either sign: numbers without signed zeros


@lanes
def test_sine_and_cosine_of_what_is_not_finite_are_nan(lanes):
    assert np.isnan(machine("sincos", lanes)([np.inf, -np.inf, np.nan, np.inf])).all()


@pytest.mark.parametrize("strange", [1e300, 1e7, np.inf, np.nan])
def test_a_strange_lane_leaves_its_neighbours_as_they_were(strange):
    rng = np.random.default_rng(3)
    x = rng.uniform(-1e6, 1e6, 4000)
    disturbed = x.copy()
    disturbed[::4] = strange
    others = np.arange(len(x)) % 4 != 0
    function = machine("sincos", 4)
    np.testing.assert_array_equal(function(disturbed)[:, others], function(x)[:, others])
    alone = machine("sincos", 1)([strange])
    np.testing.assert_array_equal(function(disturbed)[:, :1], alone)


def test_lanes_give_bit_for_bit_what_one_state_gives():
    x = np.random.default_rng(4).uniform(-1e6, 1e6, 10000)
    np.testing.assert_array_equal(machine("sincos", 4)(x), machine("sincos", 1)(x))
    np.testing.assert_array_equal(machine("atan2", 4)(x, x[::-1]), machine("atan2", 1)(x, x[::-1]))


def points(name):
    rng = np.random.default_rng(12)
    angle = rng.uniform(-np.pi, np.pi, 1500)
    if name == "all quadrants":
        radius = 10 ** rng.uniform(-3, 3, 1500)
        return radius * np.sin(angle), radius * np.cos(angle)
    if name == "near the axes and diagonals":
        near = np.repeat(np.arange(-4, 5) * np.pi / 4, 60) + rng.choice([-1, 1], 540) * 10 ** rng.uniform(-16, -1, 540)
        return np.sin(near), np.cos(near)
    if name == "sides of very different size":
        return tuple(rng.choice([-1, 1], 500) * 10 ** rng.uniform(-8, 8, 500) for _ in range(2))
    edge = np.array([1.7e308, 1.1e308, 9e307, 1e300, -1.7e308])
    tiny = np.array([2.3e-308, 3e-308, -1e-307, 5e-308, 4e-308])
    return np.concatenate([edge, tiny, edge]), np.concatenate([edge[::-1], tiny[::-1], -np.abs(edge) * 0.7])


@lanes
@pytest.mark.parametrize(
    "which", ["all quadrants", "near the axes and diagonals", "sides of very different size", "near overflow and underflow"]
)
def test_the_angle_of_a_point_is_within_two_units_in_the_last_place(which, lanes):
    y, x = points(which)
    (found,) = machine("atan2", lanes)(y, x)
    normal = np.abs(found) > 1e-300  # below, the unit itself loses meaning
    error = max(
        exact.angle_ulps(*state) for state in zip(found[normal].tolist(), y[normal].tolist(), x[normal].tolist(), strict=True)
    )
    assert error <= 2.0 and normal.sum() > 0


@lanes
def test_the_angle_of_a_very_flat_point_is_its_slope(lanes):
    """atan t = t (1 - t^2/3): equal to a rounding error for t < 1e-9."""
    rng = np.random.default_rng(13)
    x, slope = 10 ** rng.uniform(-100, 100, 400), rng.choice([-1, 1], 400) * 10 ** rng.uniform(-150, -9, 400)
    (found,) = machine("atan2", lanes)(x * slope, x)
    np.testing.assert_allclose(found, x * slope / x, rtol=4.5e-16)


@lanes
def test_the_angle_on_axes_zeros_and_infinities_is_that_of_numpy(lanes):
    """Exact multiples of pi/4, with numpy's signs; 2 ulp where one side is an ordinary number."""
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308])
    y, x = (g.ravel() for g in np.meshgrid(special, special))
    (found,) = machine("atan2", lanes)(y, x)
    with np.errstate(under="ignore"):
        expected = np.arctan2(y, x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    good = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[good]), np.signbit(expected[good]))
    np.testing.assert_allclose(found[good], expected[good], rtol=4.5e-16, atol=0)
