"""The linkages of the gallery: what they are made of, that they close where they are drawn, and how many ways they can move."""

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import outward_order

# bodies, coordinates v, closures, equations, degrees of freedom at the start
LINKAGES = {
    "slider_crank": (3, 3, 1, 5, 1),
    "engine": (3, 3, 1, 5, 1),
    "four_bar": (3, 3, 1, 5, 1),
    "n_four_bar": (5, 5, 2, 10, 1),
    "parallelogram": (3, 3, 1, 5, 1),
    "five_bar": (4, 4, 1, 5, 2),
    "quarter_car": (5, 10, 3, 9, 1),
    "stewart": (7, 9, 2, 6, 3),
    "squeezer": (7, 7, 3, 15, 1),
    "bricard": (5, 5, 1, 5, 1),
    "strandbeest": (13, 12, 6, 30, 0),
    "excavator": (8, 7, 4, 12, 1),
}
linkages = pytest.mark.parametrize("name", LINKAGES)


@linkages
def test_a_linkage_is_made_of_what_it_says(name):
    model = bc.load(name)
    assert (model.n, model.nv, len(model.closures), model.closure_index[-1]) == LINKAGES[name][:4]


@linkages
def test_a_linkage_closes_in_the_design_position(name):
    """Every body is parallel to the world there, so that points only have to be added up; a few roundings of 1e-16 m."""
    model = bc.load(name)
    origin = np.zeros((model.n + 1, 3))
    for i in outward_order(model.parents):
        origin[i] = origin[model.parents[i]] + model.position[i]
    for closure in model.closures:
        gap = origin[closure.body_b] + closure.point_b - origin[closure.body_a] - closure.point_a
        wanted = 0.0 if closure.motion is None else sine(closure.motion.laws[0], 0.0)
        assert np.linalg.norm(gap) == pytest.approx(wanted, abs=1e-14), closure.name


def sine(law, t):
    offset, amplitude, frequency, phase = law.values
    return offset + amplitude * math.sin(2 * math.pi * frequency * t + phase)


@linkages
def test_a_linkage_moves_in_as_many_ways_as_expected(name):
    model = bc.load(name)
    G = bc.compile(model).closure_jacobian(model.neutral_q)
    assert model.nv - np.linalg.matrix_rank(G, tol=1e-9) == LINKAGES[name][4]


@linkages
def test_the_start_of_a_linkage_is_drawn_so_that_its_coordinates_are_zero(name):
    model = bc.load(name)
    np.testing.assert_array_equal(model.initial_q, model.neutral_q)


def consistent(model, dynamics, row, speed):
    """Velocities that keep the loops closed, one of them given."""
    G = dynamics.closure_jacobian(model.initial_q)
    system = np.vstack([G, np.eye(model.nv)[[row]]])
    return np.linalg.lstsq(system, np.r_[np.zeros(len(G)), speed], rcond=None)[0]


def test_the_four_bar_starts_with_its_25_joules():
    model = bc.load("four_bar")
    dynamics = bc.compile(model)
    assert sum(dynamics.energy(model.initial_q, consistent(model, dynamics, 0, 6.0))) == pytest.approx(25, abs=0.5)
    np.testing.assert_allclose(model.mass, [0.5, 1.8, 1.2])
    np.testing.assert_allclose(model.inertia[:, 2, 2], model.mass * np.array([0.5, 1.8, 1.2]) ** 2 / 12)
    spin = [np.linalg.eigvalsh(inertia)[0] for inertia in model.inertia]
    np.testing.assert_allclose(spin, 1e-3, rtol=1e-12)


def test_the_bricard_linkage_keeps_one_redundant_equation_wherever_it_goes():
    """A full turn of its path, by steps along the one direction that its equations leave free, first with its first joint."""
    model = bc.load("bricard")
    dynamics = bc.compile(model)
    q, before = np.array(model.initial_q), np.eye(5)[0]
    for _ in range(60):
        values, along = np.linalg.svd(dynamics.closure_jacobian(q))[1:]
        assert values[4] < 1e-12 and values[3] > 0.4
        before = along[4] * (1 if along[4] @ before >= 0 else -1)
        q = q + 0.2 * before
        for _ in range(4):
            q = q - np.linalg.lstsq(dynamics.closure_jacobian(q), dynamics.closure(q, 0 * q)[0], rcond=1e-7)[0]
        assert abs(dynamics.closure(q, 0 * q)[0]).max() < 1e-12


def test_the_mirrored_leg_of_the_strandbeest_is_the_mirror_image():
    model = bc.load("strandbeest")
    rows = {name: i for i, name in enumerate(model.body_names)}
    for left in [name for name in rows if name.startswith("left.")]:
        a, b = rows[left], rows[left.replace("left.", "right.")]
        np.testing.assert_allclose(model.center[a] * [-1, 1, 1], model.center[b], atol=1e-14)
