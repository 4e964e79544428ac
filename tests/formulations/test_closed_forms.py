"""Mechanisms whose motion is known by hand, in every formulation."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS

from .mechanisms import build

NAMES = [tuple(name.partition(":")[::2]) for name in FORMULATIONS]


@pytest.fixture(params=NAMES, ids=FORMULATIONS)
def compiled(request):
    name, option = request.param
    return lambda model: bc.compile(model, name, reference=option or None)


def test_a_pendulum_falls_by_its_weight_and_length(compiled):
    """A point mass at l: q'' = -(g/l) sin q."""
    model = build([("revolute", (0, 1, 0))], center=[[0, 0, -0.7]], mass=[3.0], inertia=np.zeros((1, 3, 3)))
    a = compiled(model).acceleration([0.4], [5.0])
    assert a[0] == pytest.approx(-9.81 / 0.7 * np.sin(0.4), rel=1e-14)


def test_a_thrown_body_falls_and_keeps_turning(compiled):
    """In body axes: R^T g - w x v; a sphere keeps its spin."""
    model = build(["free"])
    v = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0])
    q = np.array([4.0, 5.0, 6.0, np.cos(0.3), 0.0, 0.0, np.sin(0.3)])
    a = compiled(model).acceleration(q, v)
    gravity = np.array([0, 0, -9.81])  # about z, so in body axes too
    largest = (q[:3] @ q[:3]) * np.linalg.norm(v[3:])  # r^2 w: what momenta about the ground's origin are made of
    np.testing.assert_allclose(a, [*(gravity - np.cross(v[3:], v[:3])), 0, 0, 0], atol=2e-16 * largest)


def test_a_symmetric_top_precesses_about_its_axis(compiled):
    """Euler without moment: wx' = (A - C)/A wy wz, wy' = -(A - C)/A wx wz, wz' = 0."""
    A, C = 2.0, 0.5
    model = build(["spherical"], inertia=[np.diag([A, A, C])])
    wx, wy, wz = w = np.array([0.3, -0.4, 20.0])
    a = compiled(model).acceleration([1, 0, 0, 0], w)
    np.testing.assert_allclose(a, [(A - C) / A * wy * wz, -(A - C) / A * wx * wz, 0], atol=1e-14)


def test_a_block_slides_down_an_incline(compiled):
    """g sin(angle), whatever the mass; and the ground carries m g cos(angle) across."""
    angle = 0.5
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    model = build([("prismatic", tuple(down))], mass=[4.0])
    dynamics = compiled(model)
    a = dynamics.acceleration([2.0], [-1.0])
    assert a[0] == pytest.approx(9.81 * np.sin(angle), rel=1e-14)
    force = dynamics.reactions([2.0], [-1.0], a)[0, :3]
    assert np.linalg.norm(force) == pytest.approx(4.0 * 9.81 * np.cos(angle), rel=1e-14)
    assert force @ down == pytest.approx(0.0, abs=1e-14)


def test_a_rotor_behind_a_gear_slows_the_start(compiled):
    """tau = (J + armature) q''."""
    model = build([("revolute", (0, 0, 1))], inertia=[np.diag([1.0, 1.0, 2.0])], armature=[3.0])
    assert compiled(model).acceleration([0.3], [1.0], [10.0])[0] == pytest.approx(2.0, rel=1e-14)


def test_a_bead_on_a_turning_rod_is_thrown_outward(compiled):
    """Point mass m on a slider at r on a rod of inertia J: r'' = w^2 r,  (J + m r^2) w' = -2 m r r' w."""
    J, m, r, rate, w = 0.8, 1.5, 2.0, 0.7, 3.0
    inertia = [np.diag([0.0, J, J]), np.zeros((3, 3))]
    kinds = [("revolute", (0, 0, 1)), ("prismatic", (1, 0, 0))]
    model = build(kinds, inertia=inertia, mass=[1.0, m], gravity=np.zeros(3))
    a = compiled(model).acceleration([0.9, r], [w, rate])
    np.testing.assert_allclose(a, [-2 * m * r * rate * w / (J + m * r**2), w**2 * r], rtol=1e-14)


def test_what_is_fixed_to_ground_is_held_by_it(compiled):
    """No coordinates at all: the reactions still carry the weights."""
    model = build(["fixed", "fixed"], position=[[1, 0, 0], [1, 0, 0]], mass=[2.0, 3.0])
    dynamics = compiled(model)
    assert dynamics.acceleration([], []).shape == (0,)
    np.testing.assert_allclose(dynamics.reactions([], [], [])[0], [0, 0, 5 * 9.81, 0, -3 * 9.81, 0], rtol=1e-14)
