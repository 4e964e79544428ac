"""RATTLE extrapolated through a change point, and the velocities that a motion follows there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.singular import Extrapolation, Tolerance
from bellcrank.singular.impacts.cone import independent, quadratic_forms, toward_cone
from bellcrank.singular.impacts.impulse import started
from bellcrank.singular.quantities import Quantities
from bellcrank.singular.settling import Settling
from tests.closed_linkages import parallelogram

from .cases import exact_turn, lopsided, start, turning, two_four_bars

SPEED = 6.0


def interval(model, tolerance, length=0.03, max_step=None, regular=lambda q, t, report: True):
    given = start(model, v=turning(model, SPEED)) | {"t": np.array(0.0)}
    passing = Extrapolation(bc.compile(model, optimisation=0), given, Tolerance(tolerance, tolerance, 1.0), max_step, regular)
    return passing(length, 1.0)


@pytest.mark.parametrize("make", [lopsided, two_four_bars])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_errors_are_within_the_tolerance_at_the_end_and_between(make, tolerance):
    """From 0.05 rad before the flat position to 0.13 rad beyond."""
    model = make(-0.05)
    found = interval(model, tolerance)
    assert found.error <= 1.0 and found.problem is None and len(found.report.passages) == 1
    for t in (found.end, 0.4 * found.end, 0.05 / SPEED):
        angle, speed = exact_turn(model, -0.05, SPEED, t)
        q, v, _ = found.at(t)
        assert abs(q[0] - 0.05 - angle) < 10 * tolerance
        assert abs(v[0] - speed) < 10 * SPEED * tolerance


def test_steps_are_no_longer_than_the_longest():
    found = interval(lopsided(-0.05), 1e-3, max_step=1e-3)
    assert np.diff(found.nodes).max() <= 1e-3 * (1 + 1e-9)
    assert found.end == pytest.approx(0.03)


def test_an_interval_ends_in_a_regular_position():
    """The flat position comes at 0.05/6 s: an interval that would end there is longer."""
    model = replace(lopsided(-0.05), gravity=np.zeros(3))
    found = interval(model, 1e-6, length=0.05 / SPEED, regular=lambda q, t, report: abs(q[0] - 0.05) > 0.02)
    assert found.end == pytest.approx(1.5 * 0.05 / SPEED)


def test_an_interval_too_long_for_the_tolerance_is_halved():
    """More than a turn of the cranks under a heavy weight."""
    model = lopsided(-0.05)
    model = replace(model, gravity=10 * model.gravity)
    found = interval(model, 1e-9, length=1.0)
    assert found.error <= 1.0 and found.end < 1.0
    q, v, _ = found.at(found.end)
    np.testing.assert_allclose([q[0] - 0.05, v[0]], exact_turn(model, -0.05, SPEED, found.end), rtol=0, atol=1e-7)


def test_a_state_in_a_singular_position_is_moved_only_as_far_as_it_may_be_wrong():
    """Cranks 1e-6 rad apart, beside the flat position: the closures cannot tell that from a step of the other branch."""
    model = lopsided(0.0)
    settling = Settling(bc.compile(model, optimisation=0), start(model))
    for angle in (0.0, 1e-5):
        q = angle * turning(model, 1.0) + [0.0, 1e-9, 0.0]
        moved, _ = settling(q, turning(model, 1.0), 0.0, 1e-12)
        np.testing.assert_allclose(moved, q, rtol=0, atol=2e-9)
        closed, v = settling(0.5 * turning(model, 1.0) + [0.0, 1e-3, 0.0], turning(model, 1.0) + [0.0, 0.1, 0.0], 0.0, 1e-12)
        position, rate = settling._quantities.closure(closed, v, 0.0).T
        assert np.abs(position).max() < 1e-14 and np.abs(rate).max() < 1e-14


# Velocities that a motion follows -------------------------------------------------------------------------------------------


def test_forms_are_found_from_their_values():
    rng = np.random.default_rng(1)
    C = rng.normal(size=(2, 4, 4))
    C = C + C.transpose(0, 2, 1)
    found = quadratic_forms(lambda x: np.einsum("bi,kij,bj->bk", x, C, x), 4)
    np.testing.assert_allclose(found, C, rtol=0, atol=1e-14)
    forms, mixed = independent(np.concatenate([C, C[:1] + C[1:]]), 1e-9)
    assert len(forms) == 2
    np.testing.assert_allclose(np.einsum("km,kij->mij", mixed, np.concatenate([C, C[:1] + C[1:]])), forms, atol=1e-13)


def test_a_cone_is_met_near_where_one_looks_and_not_where_there_is_none():
    lines = np.array([[[1.0, 0.0], [0.0, -1.0]]])
    np.testing.assert_allclose(np.abs(toward_cone(lines, np.array([2.0, 1.5]))), np.sqrt(0.5), atol=1e-12)
    assert toward_cone(np.array([np.eye(2)]), np.array([1.0, 0.3])) is None
    touching = np.array([[[0.0, 0.0], [0.0, 1.0]]])  # y^2 = 0
    np.testing.assert_allclose(np.abs(toward_cone(touching, np.array([1.0, 1.0]))), [1.0, 0.0], atol=1e-4)


@pytest.mark.parametrize("more", [0, 3])
def test_an_impact_in_a_flat_parallelogram_keeps_the_momentum_along_its_branch(more):
    """With more cranks more equations are lost at once, and only the parallel motion goes on."""
    model = parallelogram(more, angle=0.0)
    quantities = Quantities(bc.compile(model, optimisation=0), np.zeros(model.nv), np.zeros(0))
    along, q = turning(model, 1.0), model.initial_q
    v, impact = started(quantities, q, along + np.linspace(0.0, 0.2, model.nv), 0.0)
    M = quantities.mass(q, 0.0)
    before = along + np.linspace(0.0, 0.2, model.nv)
    np.testing.assert_allclose(v, (before @ M @ along) / (along @ M @ along) * along, rtol=0, atol=1e-8)
    assert impact.energy == pytest.approx(0.5 * (before @ M @ before - v @ M @ v)) and impact.energy > 0
    again, nothing = started(quantities, q, v, 0.0)
    np.testing.assert_allclose(again, v, rtol=0, atol=1e-14)
    assert nothing is None
