"""Dormand & Prince 8(5,3) in machine code: its order, its dense output, and scipy's run beside it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp

import bellcrank as bc
from bellcrank.integrate import METHODS
from bellcrank.model.generators import chain, random_state, random_tree


@pytest.fixture(scope="module")
def pendulum():
    return bc.load("pendulum")


def fixed_steps(model, h, samples, duration=1.0):
    """Tolerances that accept every step, and a largest step that binds at once."""
    return bc.simulate(model, duration, step=samples, method="dop853", rtol=1e3, atol=1e3, max_step=h)


def slope(steps, errors):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def test_it_is_of_order_eight(pendulum):
    """Measured: 7.99, with errors from 9e-8 down to 3e-11; the reference, at 1e-14, is good to 1e-13."""
    exact = bc.simulate(pendulum, 1.0, step=1.0, rtol=1e-14, atol=1e-14, method="dop853")
    steps = 1.0 / np.array([5, 7, 10, 14])
    runs = [fixed_steps(pendulum, h, 1.0) for h in steps]
    errors = [max(np.abs(run.values(x)[-1] - exact.values(x)[-1]).max() for x in "qv") for run in runs]
    assert slope(steps, errors) == pytest.approx(8.0, abs=0.6)


def test_dense_output_is_of_order_seven(pendulum):
    """Between the ends of steps; the error inside a step is of the eighth power of h, like what the steps leave.

    Measured: 7.8.
    """
    interval = 0.0137
    exact = bc.simulate(pendulum, 1.0, step=interval, rtol=1e-14, atol=1e-14, method="dop853", max_step=0.01).values("q")
    steps = 1.0 / np.array([5, 7, 10, 14])
    errors = [np.abs(fixed_steps(pendulum, h, interval).values("q") - exact).max() for h in steps]
    assert slope(steps, errors) == pytest.approx(8.0, abs=0.8)


def test_dense_output_is_smooth_from_step_to_step():
    """At the ends of a step: its values, and the slopes of the first and of the thirteenth stage."""
    rows = np.array(METHODS["dop853"].dense)
    first, last = np.eye(16)[0], np.eye(16)[12]
    np.testing.assert_allclose(rows[:, 0], first, atol=1e-12)
    np.testing.assert_allclose(rows @ np.arange(1, 8), last, atol=1e-11)  # coefficients of order 1e3 cancel
    np.testing.assert_allclose(rows.sum(axis=1), [*METHODS["dop853"].b, 0, 0, 0, 0], atol=1e-11)


def scipys(model, q, v, duration, **options):
    dynamics = bc.compile(model)
    nq = model.nq

    def rhs(t, y):
        return np.concatenate([dynamics.rates(y[:nq], y[nq:]), dynamics.acceleration(y[:nq], y[nq:])])

    return solve_ivp(rhs, (0.0, duration), np.concatenate([q, v]), method="DOP853", **options)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("model", [chain(5), chain(8, seed=2)], ids=["five", "eight"])
def test_it_takes_scipys_steps(model, tolerance):
    """The same coefficients, error norm, first step and control: evaluations within one per cent, and the same end.

    Without samples on the way, since each step that holds one takes three evaluations more. Measured: step for step the same,
    and one evaluation more (three for the sample at the end; scipy counts two for the first slope and step).
    """
    q, v = random_state(model, 1)
    run = bc.simulate(model, 2.0, step=2.0, q=q, v=v, method="dop853", rtol=tolerance, atol=tolerance)
    other = scipys(model, q, v, 2.0, rtol=tolerance, atol=tolerance)
    assert run.settings["evaluations"] == pytest.approx(other.nfev, rel=0.01)
    assert run.settings["steps"] == pytest.approx(len(other.t) - 1, rel=0.01)
    end = np.concatenate([run.values("q")[-1], run.values("v")[-1]])
    np.testing.assert_allclose(end, other.y[:, -1], rtol=0, atol=max(100 * tolerance, 1e-9) * np.abs(other.y).max())


def test_samples_inside_the_steps_are_scipys():
    """One step each of the same length from the same state: scipy's interpolant, to rounding of its nested form."""
    model = random_tree(4, 3, free_root=True)
    dynamics, nq = bc.compile(model), random_state(model, 2)[0].size
    q, v = random_state(model, 2)

    def rhs(t, y):
        return np.concatenate([dynamics.rates(y[:nq], y[nq:]), dynamics.acceleration(y[:nq], y[nq:])])

    h = 0.05
    solver = DOP853(rhs, 0.0, np.concatenate([q, v]), h, first_step=h, rtol=1e3, atol=1e3)
    solver.step()
    assert solver.t == h
    times = np.linspace(0, h, 11)
    expected = solver.dense_output()(times).T
    run = bc.simulate(model, h, step=h / 10, q=q, v=v, method="dop853", rtol=1e3, atol=1e3)
    if run.settings["steps"] == 1:
        np.testing.assert_allclose(run.values("v"), expected[:, nq:], rtol=0, atol=1e-12 * np.abs(expected).max())
    exact = bc.simulate(model, h, step=h / 10, q=q, v=v, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(run.values("v"), exact.values("v"), rtol=0, atol=1e-8 * np.abs(expected).max())


def test_it_needs_fewer_evaluations_at_tight_tolerances(pendulum):
    runs = [bc.simulate(pendulum, 10.0, step=10.0, method=method, rtol=1e-12, atol=1e-12) for method in ("dop853", "dopri5")]
    assert runs[0].settings["evaluations"] < 0.4 * runs[1].settings["evaluations"]
    np.testing.assert_allclose(runs[0].values("q")[-1], runs[1].values("q")[-1], rtol=0, atol=1e-9)
