"""Steps are written once: Python takes the same ones as machine code does, on doubles, on longer numbers and on complex ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.integrate import METHODS
from bellcrank.machine.steps.in_python import TrajectoryInPython
from bellcrank.machine.steps.trajectory import Trajectory
from bellcrank.run.first_step import prepare

IN_PYTHON = partial(TrajectoryInPython, number=np.float64)
LONGER = partial(TrajectoryInPython, number=np.longdouble)


def run(name: str, method: str, duration: float, made: Any, moved: Any = 0.0, rtol: float = 1e-8) -> Any:
    """A run from the model's start, with the first coordinate moved; three samples."""
    model, scheme = bc.load(name), METHODS[method]
    dynamics, q, v = bc.compile(model), model.initial_q, model.initial_v
    times, tau, u = np.linspace(0.0, duration, 4), np.zeros(model.nv), np.zeros(model.input_width)
    start = {"q": q, "v": v, "t": np.array(0.0), "tau": tau, "u": u, "a": dynamics.acceleration(q, v, tau)}
    trajectory = prepare(dynamics, scheme, start, times, rtol, rtol, None, made=made)
    trajectory.arrays["y"][0] += moved
    trajectory.set_count("project", int(bool(model.closures)))
    if not scheme.adaptive:
        trajectory.set_count("substeps", 2)
        trajectory.set_real("h", duration / 6)
    trajectory.advance(10_000)
    assert trajectory.status == 0
    assert trajectory.sampled == 3
    return trajectory


RUNS = (("double_pendulum", "dop853", 0.3), ("heavy_top", "rk4", 0.1), ("four_bar", "dopri5", 0.04), ("crane", "dopri5", 0.1))


@pytest.mark.parametrize(("name", "method", "duration"), RUNS)
def test_python_takes_the_steps_of_machine_code(name, method, duration):
    """Steps, evaluations, samples and works: quaternions, closed loops with projection, force elements. What differs is rounding:
    of the sums in a kernel, and of the powers in the control of the step. On longer numbers only that of machine code is left."""
    code = run(name, method, duration, Trajectory)
    for made in (IN_PYTHON, LONGER):
        found = run(name, method, duration, made)
        for count in ("steps", "rejected"):
            assert found.real(count) == code.real(count) > -1.0
        assert found.count("evaluations") == code.count("evaluations") > 10
        for ours, theirs in zip(found.samples()[:3], code.samples()[:3], strict=True):
            np.testing.assert_allclose(ours.astype(float), theirs, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.state()[2].astype(float), code.state()[2], rtol=1e-9, atol=1e-9)


def test_rounding_of_machine_code_is_what_longer_numbers_leave_out():
    """Fixed steps of a pendulum: the state on 64 bits of mantissa is no double, and the nearest one is a few roundings away from
    what machine code found, since 18 steps of numbers of size 1 to 10 have rounding errors of a few 1e-15."""
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("no numbers longer than doubles here")
    code, longer = (run("double_pendulum", "rk4", 0.1, made) for made in (Trajectory, LONGER))
    q = longer.state()[0]
    assert np.any(q != q.astype(float))
    np.testing.assert_allclose(q.astype(float), code.state()[0], rtol=0, atol=5e-15)


def test_a_complex_step_differentiates_a_run():
    """By the first angle at the start, without the loss of digits of differences, which agree to their own error of h^2 = 1e-10."""
    along = run("double_pendulum", "rk4", 0.3, partial(TrajectoryInPython, number=np.complex128), moved=1e-30j)
    before, after = (run("double_pendulum", "rk4", 0.3, Trajectory, moved=h) for h in (-1e-5, 1e-5))
    for k in (0, 1):
        differences = (after.state()[k] - before.state()[k]) / 2e-5
        np.testing.assert_allclose(along.state()[k].imag / 1e-30, differences, rtol=1e-7, atol=1e-8)
        assert np.abs(differences).max() > 0.1
