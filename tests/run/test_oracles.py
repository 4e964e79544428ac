"""Published problems, from the model files of the gallery to the numbers of tests/oracles."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from ..oracles.numbers import oracle

TIGHT = {"rtol": 1e-13, "atol": 1e-13}


def at(run, times):
    """Rows of the samples at the given times."""
    return [int(np.argmin(np.abs(run.values("time") - t))) for t in times]


def test_the_pendulum_is_on_jacobis_elliptic_functions():
    """phi from straight down, as the hinge of the model file. Ten seconds are four periods; the oracle is exact."""
    expected = oracle("simple_pendulum")
    phi = np.array(expected["values"])[:, expected["columns"].index("phi")]
    speed = np.array(expected["values"])[:, expected["columns"].index("phidot")]
    run = bc.simulate(bc.load("pendulum"), 10.0, step=0.01, **TIGHT)
    rows = at(run, expected["times"])
    np.testing.assert_allclose(run.values("q")[rows, 0], phi, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.values("v")[rows, 0], speed, rtol=0, atol=1e-10)


def test_the_pendulum_comes_back_after_its_period():
    period = oracle("simple_pendulum")["period"]
    run = bc.simulate(bc.load("pendulum"), period, step=period, **TIGHT)
    np.testing.assert_allclose(run.values("q")[-1], run.values("q")[0], atol=1e-10)
    np.testing.assert_allclose(run.values("v")[-1], 0.0, atol=1e-10)


@pytest.mark.parametrize("case", ["A_horizontal_rest", "B", "C_theta_equal_moving"])
def test_the_double_pendulum_swings_as_lagrange_says(case):
    """The oracle's angles are absolute, those of the model file relative: elbow = theta2 - theta1."""
    expected = oracle("huang_double_pendulum")
    entry = expected["cases"][case]
    relative = np.array([[1, 0], [-1, 1]])
    states = np.array(entry["state"])
    q, v = states[:, :2] @ relative.T, states[:, 2:] @ relative.T
    model = bc.load("double_pendulum")
    a = bc.compile(model).acceleration(q[0], v[0])
    np.testing.assert_allclose(a, relative @ entry["thetadd_t0"], rtol=1e-12)
    run = bc.simulate(model, 2.0, step=0.05, q=q[0], v=v[0], **TIGHT)
    rows = at(run, expected["times"])
    np.testing.assert_allclose(run.values("q")[rows], q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.values("v")[rows], v, rtol=0, atol=1e-8)


def test_the_gallery_starts_the_double_pendulum_as_case_b():
    first = oracle("huang_double_pendulum")["cases"]["B"]["initial"]
    model = bc.load("double_pendulum")
    np.testing.assert_allclose(model.initial_q, [first[0], first[1] - first[0]], rtol=1e-15)
    np.testing.assert_allclose(model.initial_v, [first[2], first[3] - first[2]], rtol=1e-15)


def test_the_heavy_top_nutates_as_published():
    """The oracle knows its own error: 2.1e-9 by tolerance. Quaternions are compared up to their sign."""
    expected = oracle("heavy_top")
    run = bc.simulate(bc.load("heavy_top"), 2.0, step=0.05, **TIGHT)
    rows = at(run, expected["times"])
    q, known = run.values("q")[rows], np.array(expected["quat_wxyz"])
    q = q * np.sign((q * known).sum(axis=1))[:, None]
    np.testing.assert_allclose(q, known, rtol=0, atol=1e-8)
    # Angular velocities are of the size of the spin, 150 rad/s.
    np.testing.assert_allclose(run.values("v")[rows], expected["W_body"], rtol=0, atol=1e-8 * 150)
    center = run.values("positions")[rows, 0] + run.values("rotations")[rows, 0] @ np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(center, expected["com"], rtol=0, atol=1e-8)


def test_the_heavy_top_agrees_with_the_published_digits():
    """Exudyn's heavyTop.py at t = 0.2 s, five digits."""
    run = bc.simulate(bc.load("heavy_top"), 0.2, step=0.1, **TIGHT)
    np.testing.assert_allclose(run.values("q")[-1], [-0.70828, 0.43878, 0.54573, 0.0894], atol=6e-6)
