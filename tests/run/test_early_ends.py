"""Runs that cannot go on, and arguments that cannot be: the message says where, and what was computed is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.dynamics import Dynamics
from bellcrank.joints import make_joint
from bellcrank.machine.steps.trajectory import Trajectory
from bellcrank.model import Model
from bellcrank.model.generators import chain, random_tree


def elbow_without_mass():
    """A massless upper arm: the motion towards the stretched position has no end there, since nothing resists."""
    hinge = make_joint("revolute", axis=(0, 0, 1))
    return Model(
        name="arm",
        joint_names=("shoulder", "elbow"),
        body_names=("upper", "lower"),
        parents=(-1, 0),
        joints=(hinge, hinge),
        position=[[0, 0, 0], [1, 0, 0]],
        mass=[0.0, 1.0],
        center=[[0, 0, 0], [1, 0, 0]],
        inertia=np.zeros((2, 3, 3)),
        armature=np.zeros(2),
        gravity=np.zeros(3),
        given_q=[0.0, 1.0],
        given_v=[0.0, -2.0],
    )


def test_a_step_that_collapses_ends_the_run_by_name_and_keeps_it():
    with pytest.raises(
        bc.SimulationError, match=r"'arm' stopped at t = 0\.\d+ s: v of (shoulder|elbow) changes too fast"
    ) as stop:
        bc.simulate(elbow_without_mass(), 1.0, step=0.01)
    run = stop.value.run
    assert 0.1 < run.values("time")[-1] < 1.0
    assert len(run.values("time")) > 10
    assert np.isfinite(run.values("q")).all()
    assert run.stopped is not None and run.stopped in str(stop.value)


@pytest.mark.parametrize("speed", [1e20, 1e100, 1e150])
def test_an_absurd_speed_ends_the_run_at_once(speed):
    """Accepted steps that the time does not notice would go on for ever."""
    with pytest.raises(bc.SimulationError, match=r"stopped at t = .* s: [qv] of joint\d") as stop:
        bc.simulate(chain(3), 1.0, v=np.full(3, speed))
    assert stop.value.run.values("time")[0] == 0.0


def test_a_first_step_is_found_where_the_trial_for_it_overflows(monkeypatch):
    """The trial is the only batch of one. A step of zero would come out of it, and no run."""
    real, trials = Dynamics.acceleration, []

    def acceleration(self, q, *rest, **options):
        a = real(self, q, *rest, **options)
        if np.shape(q)[:-1] == (1,):
            trials.append(a.copy())
            a[:] = np.inf
        return a

    model = bc.load("double_pendulum")
    expected = bc.simulate(model, 0.5, step=0.1, rtol=1e-11, atol=1e-11)
    monkeypatch.setattr(Dynamics, "acceleration", acceleration)
    run = bc.simulate(model, 0.5, step=0.1, rtol=1e-11, atol=1e-11)
    assert len(trials) == 1
    np.testing.assert_allclose(run.values("q"), expected.values("q"), rtol=0, atol=1e-9)


def test_a_speed_beyond_numbers_is_refused_before_the_first_step():
    with pytest.raises(bc.DynamicsError, match="too large for double precision"):
        bc.simulate(chain(3), 1.0, v=np.full(3, 1e200))


def test_a_fixed_step_that_overflows_names_the_coordinate_and_keeps_the_samples():
    """Steps of 10 s at 1e80 rad/s: centrifugal terms square the speed at every stage."""
    with pytest.raises(bc.SimulationError, match=r"[qv] of joint\d is no longer a finite number") as stop:
        bc.simulate(chain(3), 100.0, step=10.0, method="rk4", v=np.full(3, 1e80))
    run = stop.value.run
    assert np.isfinite(run.values("q")).all() and run.values("time")[0] == 0.0


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_ctrl_c_keeps_what_was_computed(method, monkeypatch):
    real, calls = Trajectory.advance, []

    def advance(self, budget):
        calls.append(budget)
        if len(calls) > 3:
            raise KeyboardInterrupt
        real(self, 20)

    monkeypatch.setattr(Trajectory, "advance", advance)
    with pytest.raises(bc.SimulationError, match="interrupted at t = ") as stop:
        bc.simulate(bc.load("double_pendulum"), 10.0, step=0.01, method=method)
    run = stop.value.run
    assert run.settings["steps"] == 60
    assert 0.0 < run.values("time")[-1] < 10.0
    assert np.isfinite(run.values("v")).all()
    assert (np.diff(run.values("time")) > 0).all()


def test_what_is_kept_of_a_stopped_run_is_the_same_as_of_a_whole_one():
    model = bc.load("double_pendulum")
    with pytest.MonkeyPatch.context() as patch:
        real, calls = Trajectory.advance, []

        def advance(self, budget):
            if calls:
                raise KeyboardInterrupt
            calls.append(budget)
            real(self, 50)

        patch.setattr(Trajectory, "advance", advance)
        with pytest.raises(bc.SimulationError) as stop:
            bc.simulate(model, 5.0, step=0.01)
    kept = stop.value.run.values("q")[:-1]
    whole = bc.simulate(model, 5.0, step=0.01).values("q")
    np.testing.assert_array_equal(kept, whole[: len(kept)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": -1.0}, "duration must be a positive number; it is -1.0"),
        ({"duration": 0.0}, "duration must be a positive number"),
        ({"duration": np.inf}, "duration must be a positive number; it is inf"),
        ({"step": 0.0}, "step must be a positive number; it is 0.0"),
        ({"step": 1e-12}, "samples of model .* of memory, and a run may take"),
        ({"duration": 10**400}, "duration must be a positive number; it is 1000"),
        ({"step": 10**5000}, "step must be a positive number; it is a value of type int that is too large"),
        ({"rtol": 0.0}, "rtol must be a positive number; it is 0.0"),
        ({"max_steps": None}, "max_steps must be a positive number; it is None"),
        ({"atol": -1e-9}, "atol must be a positive number"),
        ({"max_step": np.nan}, "max_step must be a positive number; it is nan"),
        ({"method": "dopri"}, "there is no method 'dopri' .did you mean 'dopri5'"),
        ({"method": "euler"}, "use one of auto, rk4, dopri5"),
        ({"formulation": "mass_matrx"}, "did you mean 'mass_matrix'"),
        ({"q": [0.0]}, r"q has shape \(1,\)"),
        ({"v": np.zeros((2, 4))}, "v must be one state"),
        ({"tau": ["much"] * 4}, "tau must be numbers"),
        ({"q": [0.0, 1.0, 1.0, 0.0, 0.0]}, "the quaternion of joint 'joint2' has length 1.41421"),
        ({"v": [0.0, np.nan, 0.0, 0.0]}, "v of 'joint2.wx' is nan"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(options, message):
    model = two_joints()
    with pytest.raises(bc.StateError, match=message):
        bc.simulate(model, **({"duration": 1.0} | options))


def two_joints():
    """A hinge, then a ball: nq = 5, nv = 4."""
    model = random_tree(2, 0, ("revolute",))
    joints = (model.joints[0], make_joint("spherical"))
    return replace(model, joints=joints, armature=np.zeros(4), given_q=[0, 1, 0, 0, 0], given_v=np.zeros(4))


def test_a_model_without_a_duration_asks_for_one():
    with pytest.raises(bc.StateError, match="has no duration: give duration"):
        bc.simulate(chain(2))


def test_a_quaternion_that_is_nearly_unit_is_made_unit():
    model = two_joints()
    run = bc.simulate(model, 0.1, q=[0.0, 1.0 + 5e-7, 0.0, 0.0, 0.0])
    assert run.values("q")[0].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
