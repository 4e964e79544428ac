"""Runs through time: what is kept, what the samples are, and that nothing depends on how it is computed."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank.defaults import TOLERANCE
from bellcrank.formulations import FORMULATIONS
from bellcrank.joints import make_joint
from bellcrank.machine.steps.trajectory import Trajectory
from bellcrank.model import Model
from bellcrank.model.generators import chain, random_state, random_tree
from bellcrank.run.arguments import sample_times


@pytest.fixture(scope="module")
def double_pendulum():
    return bc.load("double_pendulum")


@pytest.fixture(scope="module")
def pendulum():
    return bc.load("pendulum")


def test_the_double_pendulum_keeps_its_energy_for_twenty_seconds(double_pendulum):
    """Measured: 2.7e-8 at 1e-9 (the default), 2.5e-10 at 1e-11, 2.1e-11 at 1e-12, of the largest kinetic energy."""
    assert bc.simulate(double_pendulum, 20.0).energy_error < 1e-7
    assert bc.simulate(double_pendulum, 20.0, rtol=1e-11, atol=1e-11).energy_error < 1e-9
    assert bc.simulate(double_pendulum, 20.0, rtol=1e-12, atol=1e-12).energy_error < 1e-10


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "four_bar"])
def test_by_default_a_run_is_a_hundred_times_better_than_what_a_plot_shows(name):
    """A plot shows a thousandth of its range: 1e-5 is wanted, 3e-8, 1e-8 and 2e-7 measured over the models' own durations."""
    model = bc.load(name)
    run, exact = bc.simulate(model), bc.simulate(model, rtol=1e-12, atol=1e-12)
    q, wanted = run.values("q"), exact.values("q")
    assert (np.abs(q - wanted).max(axis=0) < 1e-5 * np.ptp(wanted, axis=0)).all()
    assert run.energy_error < 1e-5


def test_there_is_one_default_tolerance():
    defaults = [inspect.signature(f).parameters for f in (bc.simulate, bc.simulate_many, bc.compare_methods)]
    assert {given[name].default for given in defaults for name in ("rtol", "atol")} == {TOLERANCE}


@pytest.mark.parametrize("options", [{"rtol": 1e-5, "atol": 1e-5}, {"method": "rk4", "max_step": 0.01}], ids=["dopri5", "rk4"])
def test_quaternions_stay_unit_over_a_long_tumble(options, monkeypatch):
    """100 s, some 80 to 220 turns of each body. The state inside the machine code is looked at: samples are made unit again."""
    seen, real = [], Trajectory.advance

    def advance(self, budget):
        real(self, 500)
        seen.append(self.state()[0])

    monkeypatch.setattr(Trajectory, "advance", advance)
    model = random_tree(6, 1, ("spherical",), free_root=True)
    q, v = random_state(model, 1)
    run = bc.simulate(model, 100.0, step=0.1, q=q, v=5 * v, **options)
    assert len(seen) > 5
    for joint, start in zip(model.joints, model.q_index, strict=True):
        at = start + joint.quaternion
        for states in (np.array(seen), run.values("q")):
            np.testing.assert_allclose(np.linalg.norm(states[:, at : at + 4], axis=1), 1.0, rtol=0, atol=1e-15)


def test_a_spinning_free_body_keeps_its_momentum():
    """Without gravity, over 10 s at a tolerance of 1e-11."""
    model = free_body(gravity=np.zeros(3))
    run = bc.simulate(model, 10.0, v=[1.0, 2.0, 3.0, 0.1, 6.0, 0.2], rtol=1e-11, atol=1e-11)
    angular, linear = run.values("angular"), run.values("linear")
    np.testing.assert_allclose(linear, np.broadcast_to(linear[0], linear.shape), atol=1e-8 * np.abs(linear).max())
    np.testing.assert_allclose(angular, np.broadcast_to(angular[0], angular.shape), atol=1e-8 * np.abs(angular).max())


def free_body(**given):
    joint = make_joint("free")
    arrays = {
        "position": np.zeros((1, 3)),
        "mass": [2.0],
        "center": np.zeros((1, 3)),
        "inertia": [np.diag([1.0, 2.0, 2.5])],
        "armature": np.zeros(6),
        "gravity": (0.0, 0.0, -9.81),
        "given_q": joint.neutral,
        "given_v": np.zeros(6),
    }
    return Model(
        name="stone", joint_names=("flight",), body_names=("stone",), parents=(-1,), joints=(joint,), **(arrays | given)
    )


def test_a_thrown_stone_flies_on_a_parabola():
    run = bc.simulate(free_body(), 2.0, v=[3.0, 0.0, 10.0, 0.0, 0.0, 4.0])
    t = run.values("time")
    z = 10.0 * t - 9.81 * t**2 / 2
    np.testing.assert_allclose(run.values("positions")[:, 0, 2], z, atol=1e-9)


def test_a_constant_effort_does_work_that_becomes_energy(double_pendulum):
    """tau . (q - q0) = E - E0."""
    tau = np.array([20.0, -8.0])
    run = bc.simulate(double_pendulum, 3.0, tau=tau)
    q, total = run.values("q"), run.values("total")
    np.testing.assert_allclose((q - q[0]) @ tau, total - total[0], atol=1e-8 * run.values("kinetic").max())


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_every_formulation_gives_the_same_run(name, method):
    """On balls and a free base; 0.5 s, so that chaos has no time to grow. Steps in momenta are others than in velocities."""
    model = random_tree(4, 3, free_root=True, armature=True)
    q, v = random_state(model, 5)
    formulation, _, option = name.partition(":")
    options = {"method": method, "q": q, "v": v, "step": 0.01, "max_step": 0.0025}
    run = bc.simulate(model, 0.5, formulation=formulation, reference=option or None, **options)
    expected = bc.simulate(model, 0.5, **options)
    size = np.abs(expected.values("v")).max()
    np.testing.assert_allclose(run.values("q"), expected.values("q"), rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(run.values("v"), expected.values("v"), rtol=0, atol=1e-9 * size)
    assert run.settings["formulation"] == formulation and run.settings["reference"] == (option or None)


def test_accelerations_in_a_run_are_those_of_its_states(pendulum):
    run = bc.simulate(pendulum, 1.0, step=0.1)
    np.testing.assert_allclose(run.values("a"), -9.81 * np.sin(run.values("q")), atol=1e-14 * 10)


def test_what_cannot_move_can_still_be_run():
    """No coordinates: a run of nothing, with the weight on the bolt at every sample."""
    joint = make_joint("fixed")
    names = {"name": "bracket", "joint_names": ("bolt",), "body_names": ("bracket",), "parents": (-1,), "joints": (joint,)}
    arrays = {"position": np.zeros((1, 3)), "mass": [2.0], "center": np.zeros((1, 3)), "inertia": [np.eye(3)]}
    model = Model(**names, **arrays, armature=[], gravity=(0, 0, -9.81), given_q=[], given_v=[])
    for method in ("dopri5", "rk4"):
        run = bc.simulate(model, 1.0, step=0.25, method=method)
        assert run.values("q").shape == (5, 0)
        np.testing.assert_allclose(run.values("reactions")[:, 0, 2], 2 * 9.81, rtol=1e-14)


# Samples ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
@pytest.mark.parametrize(
    ("duration", "step", "expected"),
    [
        (1.0, 0.25, [0, 0.25, 0.5, 0.75, 1.0]),
        (0.9, 0.25, [0, 0.25, 0.5, 0.75, 0.9]),
        (0.4, 0.25, [0, 0.25, 0.4]),
        (0.49975, 0.25, [0, 0.25, 0.49975]),
        (0.5, 2.0, [0, 0.5]),
        (0.3, 0.1, [0, 0.1, 0.2, 0.3]),
    ],
    ids=[
        "whole",
        "shorter last",
        "shorter second",
        "hardly shorter second",
        "step longer than the run",
        "not a binary fraction",
    ],
)
def test_samples_are_at_the_asked_times_and_right_there(pendulum, method, duration, step, expected):
    run = bc.simulate(pendulum, duration, step=step, method=method, max_step=1e-3)
    np.testing.assert_allclose(run.values("time"), expected, rtol=0, atol=1e-15)
    assert run.values("time")[-1] == duration
    for t, q in zip(expected[1:], run.values("q")[1:], strict=True):
        alone = bc.simulate(pendulum, t, step=t, rtol=1e-13, atol=1e-13).values("q")[-1]
        np.testing.assert_allclose(q, alone, rtol=0, atol=1e-9)


def test_rk4_takes_equal_steps_no_longer_than_asked(pendulum):
    """0.1 s in steps of at most 0.03 s: four of 0.025 s; the last interval of 0.05 s takes two."""
    run = bc.simulate(pendulum, 0.25, step=0.1, method="rk4", max_step=0.03)
    assert run.settings["steps"] == 4 + 4 + 2
    assert run.settings["evaluations"] == 4 * run.settings["steps"]


def test_the_samples_do_not_change_the_steps(double_pendulum):
    """Dense output: asking more often costs no evaluation."""
    few, many = (bc.simulate(double_pendulum, 1.0, step=step) for step in (1.0, 0.001))
    assert few.settings["evaluations"] == many.settings["evaluations"]
    np.testing.assert_array_equal(few.values("q")[-1], many.values("q")[-1])


def test_a_model_knows_its_own_duration_and_step(pendulum):
    run = bc.simulate(pendulum)
    assert run.values("time")[-1] == pendulum.duration and len(run.values("time")) == 1001


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_sample_times_go_from_zero_to_the_end(duration, step):
    step = min(step, duration)
    times = sample_times(duration, step)
    intervals = np.diff(times)
    assert times[0] == 0.0 and times[-1] == duration
    assert (intervals > 0).all()
    np.testing.assert_allclose(intervals[:-1], step, rtol=1e-9)
    assert intervals[-1] <= step * (1 + 1e-9)


def test_a_long_run_in_pieces_is_the_same_run(double_pendulum, monkeypatch):
    """The machine code is called for so many steps at a time: how many must not show."""
    for method in ("dopri5", "rk4"):
        whole = bc.simulate(double_pendulum, 2.0, step=0.01, method=method)
        with monkeypatch.context() as patch:
            patch.setattr("bellcrank.run.compiled._FIRST_PIECE", 3)
            pieces = bc.simulate(double_pendulum, 2.0, step=0.01, method=method)
        np.testing.assert_array_equal(pieces.values("q"), whole.values("q"))


def test_two_runs_of_one_model_are_equal_to_the_last_bit():
    model = chain(4)
    runs = [bc.simulate(model, 1.0, step=0.1) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].values("q"), runs[1].values("q"))
