"""The order of the compiled integrators, measured: how the error of a pendulum shrinks with the step.

The reference is the same run at a tolerance of 1e-14, good to about 1e-13.
"""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc


@pytest.fixture(scope="module")
def pendulum():
    return bc.load("pendulum")


@pytest.fixture(scope="module")
def exact(pendulum):
    return last(bc.simulate(pendulum, 1.0, step=1.0, rtol=1e-14, atol=1e-14))


def last(run):
    return np.concatenate([run.values("q")[-1], run.values("v")[-1]])


def slope(steps, errors):
    """Of log(error) over log(step), by least squares."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def test_rk4_is_of_order_four(pendulum, exact):
    steps = 1.0 / np.array([40, 80, 160, 320])
    runs = [bc.simulate(pendulum, 1.0, step=1.0, method="rk4", max_step=h) for h in steps]
    errors = [np.abs(last(run) - exact).max() for run in runs]
    assert slope(steps, errors) == pytest.approx(4.0, abs=0.15)


def fixed_steps(model, h, samples):
    """Dormand-Prince at a fixed step: tolerances that accept every step, and a largest step that binds at once."""
    return bc.simulate(model, 1.0, step=samples, method="dopri5", rtol=1e3, atol=1e3, max_step=h)


def test_dormand_prince_is_of_order_five(pendulum, exact):
    steps = 1.0 / np.array([40, 80, 160])
    runs = [fixed_steps(pendulum, h, 1.0) for h in steps]
    assert all(run.settings["steps"] >= 1 / h - 1 for run, h in zip(runs, steps, strict=True))
    errors = [np.abs(last(run) - exact).max() for run in runs]
    assert slope(steps, errors) == pytest.approx(5.0, abs=0.3)


def test_dense_output_is_of_order_four(pendulum):
    """It meets the conditions up to order four (test_coefficients), so its error inside a step is of the fifth power of h.

    The steps themselves are of order five, so a slope of five is what is left; one order less would show here as four.
    """
    interval = 0.0137  # falls anywhere in the steps
    exact = bc.simulate(pendulum, 1.0, step=interval, rtol=1e-14, atol=1e-14, max_step=0.002).values("q")
    steps = 1.0 / np.array([10, 20, 40, 80])
    errors = [np.abs(fixed_steps(pendulum, h, interval).values("q") - exact).max() for h in steps]
    assert slope(steps, errors) == pytest.approx(5.0, abs=0.3)
