"""Displacements of a configuration, on joints with quaternions too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.model.manifold import carried, displaced, rate_matrix, velocity_matrix

from .mechanisms import any_tree


@pytest.fixture(scope="module", params=[5, 6])
def case(request):
    model = any_tree(request.param)
    assert {joint.quaternion is None for joint in model.joints} == {True, False}
    return model, bc.compile(model)


def test_a_displacement_is_the_motion_at_constant_velocity_for_one_second(case):
    """The reference is integrated to 1e-12."""
    model, dyn = case
    q, d = model.initial_q, 2.0 * model.initial_v
    end = solve_ivp(lambda t, y: dyn.rates(y, d), (0, 1), q, rtol=1e-12, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(displaced(model, q, d), end, atol=1e-11)


def test_many_displacements_at_once_are_each_by_itself(case):
    model, _ = case
    many = np.array([0.0, 1e-9, 0.01, 0.5])[:, None] * model.initial_v
    each = [displaced(model, model.initial_q, d) for d in many]
    np.testing.assert_allclose(displaced(model, model.initial_q, many), each, rtol=0, atol=1e-15)


def test_rates_are_linear_in_the_velocity_and_invertible(case):
    model, dyn = case
    E = rate_matrix(model, model.initial_q)
    np.testing.assert_allclose(E @ model.initial_v, dyn.rates(model.initial_q, model.initial_v), atol=1e-14)
    np.testing.assert_allclose(velocity_matrix(model, model.initial_q) @ E, np.eye(model.nv), atol=1e-14)


def test_a_neighbouring_motion_drifts_as_its_own_axes_turn(case):
    """d' = dv + Z d: a displaced motion at the same v after a short time, compared to the undisturbed one.

    Central differences of second order over h = 1e-3 and displacements of 1e-4: errors of 1e-6 of the largest entry.
    """
    model, _ = case
    q, v, h, size = model.initial_q, model.initial_v, 1e-3, 1e-4
    Z = carried(model, v)
    for d in size * np.eye(model.nv):
        begun = displaced(model, q, d)
        rates = []
        for sign in (1, -1):
            apart = displaced(model, begun, sign * h * v) - displaced(model, displaced(model, q, sign * h * v), d)
            rates.append(velocity_matrix(model, begun) @ apart / (sign * h))
        np.testing.assert_allclose(np.mean(rates, axis=0) / size, Z @ d / size, atol=2e-3 * (1 + np.abs(Z).max()))
