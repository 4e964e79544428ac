"""Efforts, powers and reactions of a given motion."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Table
from tests.formulations.mechanisms import build

from .mechanisms import GRAVITY, any_tree, governor, oscillator, pendulum

TIMES = np.linspace(0.0, 1.0, 41)


def swing(t):
    return 0.4 * np.sin(3 * t), 1.2 * np.cos(3 * t), -3.6 * np.sin(3 * t)


def torque(t, length=0.7):
    """m l^2 q'' + m g l sin q."""
    q, _, a = swing(t)
    return length**2 * a + GRAVITY * length * np.sin(q)


@pytest.mark.parametrize(
    ("motion", "tolerance"),
    [
        pytest.param(swing, 1e-13, id="function with derivatives"),
        pytest.param(lambda t: swing(t)[0], 1e-7, id="function: a quintic spline through 1000 points"),
        pytest.param(swing(TIMES)[0], 1e-4, id="array at the times: h = 1/40, error h^4 and larger at the ends"),
        pytest.param((np.linspace(-1, 2, 301), swing(np.linspace(-1, 2, 301))[0]), 1e-7, id="table: h = 1/100, ends far away"),
        pytest.param(
            Table(*(tuple(x) for x in (np.linspace(-1, 2, 301), swing(np.linspace(-1, 2, 301))[0]))), 1e-7, id="Table"
        ),
    ],
)
def test_a_pendulum_is_swung_by_its_torque(motion, tolerance):
    found = bc.inverse_motion(pendulum(), {"joint1": motion}, TIMES)
    expected = torque(TIMES)
    np.testing.assert_allclose(found.effort[:, 0], expected, atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(found.power[:, 0], expected * swing(TIMES)[1], atol=10 * tolerance)
    assert found.effort_unit.item() == "N m" and found.power.units == "W"


def test_a_coordinate_that_is_held_takes_its_static_effort():
    found = bc.inverse_motion(pendulum(), {"joint1": 0.5}, [0.0])
    assert found.effort.item() == pytest.approx(GRAVITY * 0.7 * np.sin(0.5), rel=1e-14)
    assert found.power.item() == 0.0
    np.testing.assert_allclose(found.reactions[0, 0, :3], [0, 0, GRAVITY], atol=1e-13)


def test_the_efforts_of_a_run_are_those_that_drove_it():
    """Inverse after forward dynamics, every joint and force: rounding only, with the run's own q, v, a."""
    model = any_tree(5)
    tau = np.linspace(-1, 1, model.nv)
    run = bc.simulate(model, 0.3, step=0.01, tau=tau, inputs=[0.7])
    found = bc.inverse_motion(model, run, inputs=[0.7])
    np.testing.assert_allclose(found.effort, np.tile(tau, (len(found.time), 1)), atol=1e-11)


def test_quaternions_are_splined_and_differentiated():
    """The same from samples of q alone, with signs of quaternions at random (q and -q are one rotation).

    Second derivatives of a quintic spline have errors of h^4: half the interval, a sixteenth of the error, roughly.
    """
    model = any_tree(5)
    tau = np.linspace(-1, 1, model.nv)
    inside, errors = np.linspace(0.1, 0.2, 21), []
    for step in (0.01, 0.005):
        run = bc.simulate(model, 0.3, step=step, tau=tau, rtol=1e-11, atol=1e-11)
        found = bc.inverse_motion(model, sampled(model, run), inside)
        errors.append(np.abs(found.effort.values - tau).max())
    assert errors[1] < 0.01 and 8 < errors[0] / errors[1] < 64


def sampled(model, run):
    """Tables of every joint's coordinates."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(run.values("time")), 1))
    motion = {}
    for joint, name, at in zip(model.joints, model.joint_names, model.q_index, strict=True):
        q = run.values("q")[:, at : at + joint.nq].copy()
        if joint.quaternion is not None:
            q[:, joint.quaternion :] *= signs
        if joint.nq:
            motion[name] = (run.values("time"), q if joint.nq > 1 else q[:, 0])
    return motion


def test_a_driven_joint_says_what_its_drive_gives():
    """A governor with its ball moved inward: moment about the vertical d/dt(m l^2 w sin^2 q) = 2 m l^2 w sin q cos q q'."""
    w, length = 6.0, 0.7
    found = bc.inverse_motion(governor(w), {"joint2": swing}, TIMES)
    q, v, _ = swing(TIMES)
    np.testing.assert_allclose(found.drives[:, 0], 2 * length**2 * w * np.sin(q) * np.cos(q) * v, atol=1e-12)


def test_a_joint_may_be_given_as_a_whole_or_by_coordinates():
    model = build([("planar", (0, 0, 1), (1, 0, 0))])
    whole = bc.inverse_motion(model, {"joint1": lambda t: ([t, t**2, 0.0], [1.0, 2 * t, 0.0], [0.0, 2.0, 0.0])}, TIMES)
    parts = {"joint1.x": lambda t: (t, 1.0, 0.0), "joint1.y": lambda t: (t**2, 2 * t, 2.0), "joint1.angle": 0.0}
    np.testing.assert_array_equal(whole.effort, bc.inverse_motion(model, parts, TIMES).effort)
    np.testing.assert_allclose(whole.effort, np.tile([0.0, 2.0, 0.0], (len(TIMES), 1)), atol=1e-13)


ONE = (TIMES, swing(TIMES)[0])


@pytest.mark.parametrize(
    ("motion", "times", "message"),
    [
        ({"joint1": 0.0}, None, "give the times, in seconds"),
        ({"joint1": 0.0}, [0.0, 0.0], "times must be finite numbers that increase"),
        ({"joint1": 0.0}, [np.nan], "times must be finite numbers that increase"),
        ({}, TIMES, "there is no motion for 'joint1': give each coordinate one function"),
        ({"joint2": 0.0}, TIMES, "'joint2', which is not a free joint or coordinate of 'by hand' .did you mean 'joint1'"),
        ({"joint1": "up"}, TIMES, "the motion of 'joint1' must be numbers or a function of time; it is 'up'"),
        ({"joint1": np.zeros(7)}, TIMES, r"the motion of 'joint1' has shape \(7,\); give 1 number"),
        ({"joint1": (TIMES, np.zeros(7))}, TIMES, "they must agree"),
        ({"joint1": (TIMES[:3], np.zeros(3))}, [0.0], "has 3 points; accelerations need 4 at least"),
        ({"joint1": (TIMES[::-1], np.zeros(41))}, TIMES, "the times of the motion of 'joint1' must increase"),
        ({"joint1": ONE}, [0.5, 1.5], "given from 0 to 1 s; t = 1.5 s is outside"),
        ({"joint1": lambda t: t}, [0.5], "at one time only: let the function give"),
        ({"joint1": lambda t: (t, [1.0, 2.0], 0.0)}, TIMES, r"must give \(x, x', x''\) of 1 number"),
        ({"joint1": np.nan}, TIMES, "the motion of 'joint1' is not finite at t = 0 s"),
    ],
)
def test_a_motion_that_cannot_be_is_refused(motion, times, message):
    with pytest.raises(bc.StateError, match=message):
        bc.inverse_motion(pendulum(), motion, times)


def test_a_coordinate_given_twice_is_refused():
    model = build([("cylindrical", (0, 0, 1))])
    with pytest.raises(bc.StateError, match=r"there is two motions for 'joint1\.slide'|two motions for 'joint1.slide'"):
        bc.inverse_motion(model, {"joint1": [0.0, 0.0], "joint1.slide": 0.0}, TIMES)


def test_a_quaternion_that_vanishes_is_refused():
    with pytest.raises(bc.StateError, match="the quaternion of joint 'joint1' vanishes on the way"):
        bc.inverse_motion(build(["spherical"]), {"joint1": [0.0, 0.0, 0.0, 0.0]}, TIMES)


def test_a_run_has_its_own_times_and_model():
    run = bc.simulate(pendulum(), 0.1)
    with pytest.raises(bc.StateError, match="a run has its own times"):
        bc.inverse_motion(pendulum(), run, TIMES)
    with pytest.raises(bc.StateError, match="whose coordinates are not those of 'by hand'"):
        bc.inverse_motion(build(["spherical"]), run)


def test_efforts_that_are_not_finite_are_told_with_their_time():
    """The points of a spring meet where the slide is at zero."""
    from .mechanisms import element

    values = {"stiffness": 1.0, "damping": 0.0, "length": 0.0, "preload": 0.0}
    tie = element("tie", "spring_damper", values, body_a=0, body_b=-1)
    model = build([("prismatic", (1, 0, 0))], elements=(tie,))
    with pytest.raises(bc.DynamicsError, match="the efforts are not finite at t = 0.5 s"):
        bc.inverse_motion(model, {"joint1": lambda t: (t - 0.5, 1.0, 0.0)}, [0.0, 0.5, 1.0, 1.5])


def test_springs_of_the_model_help():
    """effort = m a + k x."""
    found = bc.inverse_motion(oscillator(2.0, 50.0, 0.0), {"joint1": swing}, TIMES)
    q, _, a = swing(TIMES)
    np.testing.assert_allclose(found.effort[:, 0], 2 * a + 50 * q, atol=1e-12)
