"""What the methods are made of: impulses, factors, drifts, and the way between joint coordinates and free bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import DynamicsError
from bellcrank.model.manifold import Drift, displaced
from bellcrank.papers.huang.maximal import Bodies, Converter, quaternion_of
from bellcrank.papers.huang.ties import all_ties
from bellcrank.singular.factors import Metric, factored
from bellcrank.singular.impacts.impulse import impulse
from tests.closed_linkages import four_bar

from .cases import loaded
from .test_reaction_taylor import KINDS


def test_an_impact_keeps_the_momentum_of_what_stays_free_and_loses_the_energy_it_tells():
    model = four_bar()
    dynamics, v = bc.compile(model, optimisation=0), np.array([3.0, -1.0, 2.0])
    q = model.initial_q
    found = impulse(dynamics, q, v)
    M, G = dynamics.mass_matrix(q), dynamics.closure_jacobian(q)
    free = model.initial_v / np.linalg.norm(model.initial_v)
    np.testing.assert_allclose(G @ found.v, 0.0, atol=1e-14)
    np.testing.assert_allclose(M @ (found.v - v), G.T @ found.multipliers, atol=1e-13)
    assert free @ M @ (found.v - v) == pytest.approx(0.0, abs=1e-13)
    assert found.energy == pytest.approx(0.5 * (found.v - v) @ M @ (found.v - v), rel=1e-12)


def test_an_impact_of_velocities_that_fit_changes_nothing():
    model = four_bar()
    found = impulse(bc.compile(model, optimisation=0), model.initial_q, model.initial_v)
    np.testing.assert_allclose(found.v, model.initial_v, rtol=0, atol=1e-14)
    assert abs(found.energy) < 1e-13


def test_a_mass_matrix_that_is_not_positive_is_refused():
    with pytest.raises(DynamicsError, match="not positive definite"):
        Metric.of(np.array([[1.0, 0.0], [0.0, 0.0]]))


def test_rows_that_are_not_finite_are_refused():
    with pytest.raises(DynamicsError, match="not finite"):
        factored(np.array([[1.0, np.nan], [0.0, 1.0]]), 1e-7)


def test_a_direction_about_to_be_lost_is_kept_only_where_it_belongs_to_the_regular_rank():
    A = np.diag([1.0, 1e-9])
    assert factored(A, 1e-7).kept == 1
    assert factored(A, 1e-7, regular=2).kept == 2
    assert factored(np.diag([1.0, 1e-15]), 1e-7, regular=2).kept == 1


def test_drifts_are_displacements():
    model, given = loaded(8, 5, ("spherical",), free_root=True)
    assert any(joint.quaternion is not None for joint in model.joints)
    for size in (1e-9, 1e-3, 0.3):
        d = size * np.random.default_rng(1).normal(size=model.nv)
        np.testing.assert_allclose(Drift(model)(given["q"], d), displaced(model, given["q"], d), rtol=0, atol=1e-15)


@pytest.mark.parametrize("kinds", KINDS, ids=" and ".join)
def test_free_bodies_and_joint_coordinates_are_two_ways_to_say_a_state(kinds):
    model, given = loaded(6, 4, kinds, plain=True, free_root=True)
    dynamics, q, v = bc.compile(model, optimisation=0), given["q"], given["v"]
    converter = Converter(dynamics)
    bodies = converter.bodies(q, v, given["t"])
    back = converter.coordinates(Bodies(*(x[None] for x in bodies)), q)
    np.testing.assert_allclose(back[0][0], q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(back[1][0], v, rtol=0, atol=1e-13)
    linear, angular = dynamics.momentum(q, v)
    own = np.einsum("nij,njk,nk->i", bodies.axes, model.inertia, bodies.w)
    np.testing.assert_allclose((model.mass[:, None] * bodies.v).sum(0), linear, rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.cross(bodies.r, model.mass[:, None] * bodies.v).sum(0) + own, angular, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kinds", KINDS, ids=" and ".join)
def test_ties_hold_in_states_of_the_mechanism_and_their_rows_are_their_derivatives(kinds):
    """Rows against differences of the errors along a motion of all bodies that tears the joints apart."""
    model, given = loaded(6, 4, kinds, plain=True, free_root=True)
    dynamics = bc.compile(model, optimisation=0)
    bodies = Converter(dynamics).bodies(given["q"], given["v"], given["t"])
    ties = all_ties(model, 1.0)

    def placed(r, R):
        return ties.placed(np.vstack([r, np.zeros(3)]), np.concatenate([R, np.eye(3)[None]]))

    at = placed(bodies.r, bodies.axes)
    assert np.abs(ties.errors(at)).max() < 1e-14
    rng, h = np.random.default_rng(2), 1e-6
    v, w = rng.normal(size=(2, model.n + 1, 3))
    v[-1] = w[-1] = 0.0
    rows = ties.wrenches(at)
    rates = (rows.force * (v[ties.b] - v[ties.a])[ties.tie]).sum(1)
    rates += (rows.moment_a * w[ties.a][ties.tie]).sum(1) + (rows.moment_b * w[ties.b][ties.tie]).sum(1)
    spin = np.array([np.cross(np.eye(3), x) for x in w[:-1]])
    ends = [ties.errors(placed(bodies.r + s * h * v[:-1], bodies.axes + s * h * spin @ bodies.axes)) for s in (1, -1)]
    np.testing.assert_allclose(rates, (ends[0] - ends[1]) / (2 * h), rtol=0, atol=1e-8)


def test_quaternions_of_half_turns_are_found():
    for axis in np.eye(3):
        R = 2 * np.outer(axis, axis) - np.eye(3)
        np.testing.assert_allclose(np.abs(quaternion_of(R)), [0.0, *axis], atol=1e-15)


def test_bars_without_loops_have_nothing_to_jump_onto():
    model = replace(four_bar(), closures=())
    v = np.array([1.0, 2.0, 3.0])
    assert impulse(bc.compile(model, optimisation=0), model.initial_q, v).v.tolist() == v.tolist()
