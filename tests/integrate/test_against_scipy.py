"""Adaptive runs beside scipy's, around the same compiled right-hand side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.model.generators import chain, random_state, random_tree


def scipys(model, q, v, duration, times, **options):
    dynamics = bc.compile(model)
    nq = model.nq

    def slope(t, y):
        return np.concatenate([dynamics.rates(y[:nq], y[nq:]), dynamics.acceleration(y[:nq], y[nq:])])

    return solve_ivp(slope, (0.0, duration), np.concatenate([q, v]), t_eval=times, **options)


@pytest.mark.parametrize(
    "model",
    [chain(3), random_tree(4, 3, free_root=True), bc.load("double_pendulum")],
    ids=["chain", "free tree", "double pendulum"],
)
def test_a_run_agrees_with_dop853_to_the_tolerance(model):
    """A local tolerance of 1e-10 over 1 s of a lively motion: the global error is some ten to hundred times that."""
    q, v = random_state(model, 2)
    run = bc.simulate(model, 1.0, step=0.1, q=q, v=v, rtol=1e-10, atol=1e-10)
    other = scipys(model, q, v, 1.0, run.values("time"), method="DOP853", rtol=1e-13, atol=1e-13)
    found = np.hstack([run.values("q"), run.values("v")])
    np.testing.assert_allclose(found, other.y.T, rtol=0, atol=1e-8 * np.abs(other.y).max())


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8])
def test_a_run_takes_as_many_evaluations_as_rk45(tolerance):
    """The same method with the same error control: within 30 %."""
    model = chain(5)
    q, v = random_state(model, 1)
    run = bc.simulate(model, 2.0, step=0.1, q=q, v=v, rtol=tolerance, atol=tolerance)
    other = scipys(model, q, v, 2.0, None, method="RK45", rtol=tolerance, atol=tolerance)
    assert run.settings["evaluations"] == pytest.approx(other.nfev, rel=0.3)
