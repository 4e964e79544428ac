"""Closed loops with thin rods and point masses: what has no inertia in a direction is moved by its loop, or by nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import DynamicsError
from bellcrank.joints import make_joint
from bellcrank.model.generators import chain

from .. import closed_reference as ref
from ..closed import between, design_points
from ..closed_states import moving

A, B, C, D = np.array([[0.0, 0.0, 0.0], [0.1, 0.3, 0.35], [1.1, 0.4, 0.9], [1.2, 0.1, 0.1]])


def linkage(kind, radius=None):
    """Crank, coupler and rocker; the coupler turns in a ball at B, and at C in a joint of this kind, which closes the loop."""
    m = bc.Mechanism("spatial four-bar")
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        m.rod(name, tuple(start), tuple(end), mass=1.0, radius=radius)
    across = np.cross(C - B, (0.3, 1.0, 0.2))
    axes = {"axis": tuple(across), "axis2": tuple(np.cross(across, C - B))} if kind == "universal" else {}
    m.joint("A", "revolute", "ground", "crank", tuple(A), axis=(1.0, 0.2, 0.1))
    m.joint("B", "spherical", "crank", "coupler", tuple(B))
    m.joint("C", kind, "coupler", "rocker", tuple(C), cut=True, **axes)
    m.joint("D", "revolute", "ground", "rocker", tuple(D), axis=(0.2, 1.0, 0.3))
    return m.build()


@pytest.mark.parametrize("formulation", ["auto", "canonical_momenta", "multipliers"])
def test_a_thin_rod_between_two_balls_spins_about_itself_as_it_likes(formulation):
    """Rounding would be divided by rounding."""
    dynamics = bc.compile(linkage("spherical"), formulation, optimisation=0)
    q, v = dynamics.model.initial_q, dynamics.model.initial_v
    wanted = r'^model .* joint "B" moves body "coupler" without any inertia in one of its directions'
    with pytest.raises(DynamicsError, match=wanted):
        dynamics.acceleration(q, v)
    with pytest.raises(DynamicsError, match=wanted):
        dynamics.acceleration(np.array([q, q]), np.array([v, v]))
    for derived in (dynamics.jacobians, dynamics.multipliers):
        with pytest.raises(DynamicsError, match=wanted):
            derived(q, v)
    with pytest.raises(DynamicsError, match=wanted):
        bc.simulate(dynamics.model, 0.1, formulation=formulation)


def agrees(model, **options):
    state = moving(model, 1, reach=0.1)
    expected = ref.closed(model, state)
    found = bc.compile(model, optimisation=0, **options).acceleration(**state)
    small = 1e-13 * expected.solution.amplification * float(np.abs(expected.a).max())
    np.testing.assert_allclose(found, expected.a.astype(float), rtol=0, atol=small)


def test_a_rod_with_a_radius_spins_as_its_inertia_says():
    agrees(linkage("spherical", radius=0.01))
    agrees(linkage("spherical", radius=0.01), formulation="multipliers")


def test_a_universal_joint_at_its_end_turns_a_thin_rod():
    """With the loop open nothing resists the rod's spin: the multipliers, which divide by its inertia, say so."""
    model = linkage("universal")
    agrees(model)
    dynamics = bc.compile(model, "multipliers", optimisation=0)
    with pytest.raises(DynamicsError, match='the multipliers take the motion with all loops open, and then joint "B" moves'):
        dynamics.acceleration(model.initial_q, model.initial_v)


@pytest.mark.parametrize("last", ["spherical", "planar"])
def test_a_long_chain_with_a_point_mass_at_its_end_is_not_left_to_the_multipliers(last):
    """Few equations on many joints, which the multipliers would be quicker at; the body turns about its point mass as its
    planar joint lets it, in another combination of its coordinates at every position."""
    model = chain(20, kind="spherical")
    axes = {"axis": (0.3, -0.5, 0.8), "axis2": (0.8, 0.0, -0.3)} if last == "planar" else {}
    joint = make_joint(last, **axes)
    parts = {"joints": (*model.joints[:-1], joint), "given_q": [*model.given_q[:-4], *joint.neutral]}
    model = replace(model, **parts, inertia=np.concatenate([model.inertia[:-1], np.zeros((1, 3, 3))]))
    origins = design_points(model)
    lock = between("lock", -1, 19, origins[19] + (0.2, 0.1, 0.3), origins, "universal", (1, 0, 0), axis2=(0, 1, 0))
    model = replace(model, closures=(lock,))
    assert bc.compile(model, optimisation=0).formulation == "coordinate_reduction"
    agrees(model)


def test_a_thin_rod_along_the_first_axis_of_its_universal_joint_is_resisted_once_it_has_turned():
    """At an angle b about the second axis its moment about the first is m L^2/3 sin^2 b; efforts alone, no gravity."""
    m = bc.Mechanism("rod", gravity=(0.0, 0.0, 0.0))
    m.rod("rod", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), mass=1.0)
    m.joint("hooke", "universal", "ground", "rod", (0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), axis2=(0.0, 0.0, 1.0))
    a = bc.compile(m.build(), optimisation=0).acceleration([0.3, 0.4], [0.0, 0.0], [0.2, 0.5])
    np.testing.assert_allclose(a, [3 * 0.2 / np.sin(0.4) ** 2, 3 * 0.5], rtol=1e-13)
