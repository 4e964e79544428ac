"""Singular positions on the way of a run: none is missed, all are told, and passing one costs neither samples nor accuracy.

The gallery's parallelogram, on the branch of parallel cranks, is a pendulum: I w' = -M cos(angle), flat where sin(angle) = 0.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.model import Element
from bellcrank.plan.turns import LONGEST, loop_joints, turn_weights
from bellcrank.run import finished
from bellcrank.run.events import EventInputs, Watcher
from bellcrank.run.loops.passing import Passing
from bellcrank.run.loops.treatment import Loops
from bellcrank.run.system import Outcome, Passage
from bellcrank.singular import extrapolation

from ..closed import random_closed
from ..closed_linkages import four_bar

START = np.radians(50)
ALONG = np.array([1.0, -1.0, 1.0])  # of parallel cranks


@pytest.fixture(scope="module")
def linkage():
    return bc.load("parallelogram")


@pytest.fixture(scope="module")
def pendulum(linkage):
    """Angle and speed of the cranks as functions of time, for two seconds; and when they are flat."""
    inertia = ALONG @ bc.compile(linkage, optimisation=0).mass_matrix(linkage.initial_q) @ ALONG
    weight = 9.81 * 0.3 * (0.6 + 1.6)  # of the cranks at half their length, of the bar at their tips

    def flat(t, y):
        return np.sin(y[0])

    exact = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13, "dense_output": True, "events": flat}
    found = solve_ivp(lambda t, y: [y[1], -weight * np.cos(y[0]) / inertia], (0, 2.0), [START, -0.5], **exact)
    return found.sol, found.t_events[0]


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        return bc.simulate(*arguments, **options)


def error(run, pendulum):
    return np.abs(run.values("q")[:, 0] + START - pendulum[0](run.values("time"))[0]).max()


# Passed ---------------------------------------------------------------------------------------------------------------------


def test_no_sample_is_lost(linkage):
    run = quietly(linkage, 2.0, step=0.005, method="dop853", max_step=0.005, on_singular="pass")
    np.testing.assert_allclose(run.values("time"), 0.005 * np.arange(401), rtol=0, atol=1e-12)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_the_accuracy_of_passing_follows_the_tolerance_whatever_the_samples(linkage, pendulum, tolerance):
    """Five passages in two seconds; the error of the method itself grows to about 50 tolerances."""
    for step in (0.5, 0.01):
        run = quietly(linkage, 2.0, step=step, rtol=tolerance, atol=tolerance, on_singular="pass")
        assert error(run, pendulum) < 100 * tolerance
        assert run.closure_error.position < 1e-13 and run.closure_error.velocity < 1e-12
        np.testing.assert_allclose([t for t, _ in run.settings["passages"]], pendulum[1], rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("method", "formulation"), [("dopri5", "multipliers"), ("dopri5", "canonical_momenta"), ("rk4", "auto"), ("bdf", "auto")]
)
def test_every_method_and_formulation_passes(linkage, pendulum, method, formulation):
    options = {"method": method, "formulation": formulation, "rtol": 1e-7, "atol": 1e-7, "max_step": 0.01}
    run = quietly(linkage, 1.0, step=0.1, on_singular="pass", **options)
    assert len(run.values("time")) == 11 and len(run.settings["passages"]) == 2
    assert error(run, pendulum) < {"dopri5": 1e-5, "rk4": 1e-5, "bdf": 1e-3}[method]


def changed(tmp_path, *replacements):
    """The gallery's parallelogram, with its text changed."""
    text = bc.gallery()["parallelogram"].read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "linkage.toml").write_text(text)
    return bc.load(tmp_path / "linkage.toml")


def test_the_works_and_the_energy_of_a_passage_add_up(linkage):
    """A damper takes energy all the way; what it takes while rattle passes is as accurate as the rest."""
    damper = Element("friction", "joint_damper", {"damping": 0.02}, joint=0)
    run = quietly(replace(linkage, elements=(damper,)), 0.6, step=0.2, rtol=1e-11, atol=1e-11, on_singular="pass")
    assert len(run.settings["passages"]) == 2
    assert float(run.work.values[-1].sum()) < -0.05
    assert run.energy_error < 1e-9


def test_events_beside_and_in_a_singular_position_are_seen_once(linkage, pendulum):
    """Also those in a long step over it, which is taken back."""
    marks = [bc.Event("left_pivot", value=angle - START, then="mark") for angle in (0.2, 0.01, 0.0, -0.01, -0.2)]
    run = quietly(linkage, 0.4, step=0.1, rtol=1e-5, atol=1e-5, events=marks, on_singular="pass")
    assert [c.event for c in run.crossings] == [mark.title for mark in marks]
    angles, _ = pendulum[0](np.array([c.time for c in run.crossings]))
    np.testing.assert_allclose(angles, [0.2, 0.01, 0.0, -0.01, -0.2], rtol=0, atol=1e-4)


def test_an_event_may_end_a_run_in_the_midst_of_a_passage(linkage, pendulum):
    run = quietly(linkage, 0.4, step=0.1, events=[bc.Event("left_pivot", value=-START - 1e-3)], on_singular="pass")
    assert run.stopped is None
    assert pendulum[0](run.values("time")[-1])[0] == pytest.approx(-1e-3, abs=1e-8)
    np.testing.assert_allclose(run.values("time")[:-1], [0.0, 0.1, 0.2], rtol=0, atol=1e-12)


def test_a_passage_that_misses_the_tolerance_says_so(linkage, monkeypatch):
    """With steps of one length only there is nothing to tell their error by."""
    monkeypatch.setattr(extrapolation, "LEVELS", 1)
    with pytest.warns(bc.BellcrankWarning) as told:
        run = bc.simulate(linkage, 0.4, step=0.1, on_singular="pass")
    assert any("rattle missed the tolerance by a factor of" in str(w.message) for w in told)
    assert len(run.settings["passages"]) == 1 and run.energy_error < 1e-4


def test_a_mechanism_that_stays_singular_without_a_motion_to_be_found_stops_and_says_why(linkage, monkeypatch):
    monkeypatch.setattr(extrapolation, "LEVELS", 1)
    monkeypatch.setattr(Passing, "_clear", lambda *_: False)
    with pytest.raises(bc.SimulationError, match="stays in a singular configuration.*check reports it as shaky") as caught:
        quietly(linkage, 0.4, step=0.1, on_singular="pass")
    np.testing.assert_allclose(caught.value.run.values("time")[:3], [0.0, 0.1, 0.2])
    assert 0.22 < caught.value.run.values("time")[-1] < 0.2376


def test_what_rattle_says_ends_the_run_with_what_there_is(linkage, monkeypatch):
    def refuse(*_):
        raise bc.DynamicsError("no way")

    monkeypatch.setattr(extrapolation.Extrapolation, "__call__", refuse)
    with pytest.raises(bc.SimulationError, match=r"stopped at t = 0\.23\d+ s: no way\. What was computed") as caught:
        quietly(linkage, 0.4, step=0.1, on_singular="pass")
    assert len(caught.value.run.values("time")) == 4


def test_crossings_of_a_step_that_was_taken_back_are_forgotten(linkage):
    around = EventInputs(bc.compile(linkage, optimisation=0), np.zeros(linkage.nv), np.zeros(0))
    watcher = Watcher(around, [bc.Event("left_pivot", value=0.5)])
    watcher.stopped = watcher.look(0.0, 1.0, lambda x: (np.outer(x, [1, 0, 0]), np.zeros((len(x), 3))))
    assert watcher.stopped.time == pytest.approx(0.5)
    watcher.forget_after(0.25)
    assert watcher.crossings == [] and watcher.stopped is None


# Stopped --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "formulation"), [("dopri5", "canonical_momenta"), ("dopri5", "auto"), ("dop853", "multipliers")]
)
def test_long_steps_do_not_hide_a_singular_position(linkage, method, formulation):
    """Without gravity the cranks turn evenly, and steps are as long as they may be: two positions in one are one too many."""
    model = replace(linkage, gravity=np.zeros(3))
    options = {"method": method, "formulation": formulation, "rtol": 1e-3, "atol": 1e-3}
    with pytest.raises(bc.SimulationError, match="could continue in more than one way") as caught:
        bc.simulate(model, 3.0, step=1.0, v=-5.0 * ALONG, **options)
    assert 0.0 < caught.value.run.values("q")[-1, 0] + START < 2e-3  # as near as the step that is fine enough
    assert caught.value.run.settings["passages"][0][0] == pytest.approx(START / 5, abs=1e-3)


@pytest.mark.parametrize("options", [{"method": "radau"}, {"method": "bdf"}, {"tau": lambda t, q, v: np.zeros(3)}])
def test_nor_do_those_of_other_loops(linkage, options):
    model = replace(linkage, gravity=np.zeros(3))
    with pytest.raises(bc.SimulationError, match="could continue in more than one way") as caught:
        quietly(model, 3.0, step=1.0, v=-5.0 * ALONG, rtol=1e-3, atol=1e-3, **options)
    assert 0.0 < caught.value.run.values("q")[-1, 0] + START < 5e-3


def test_nor_do_those_of_many_runs(linkage):
    model = replace(linkage, gravity=np.zeros(3))
    runs = bc.simulate_many(model, 3.0, q=linkage.initial_q, v=np.outer([-4.0, -5.0], ALONG), rtol=1e-3, atol=1e-3)
    assert all("singular" in message for message in runs.messages)
    times = [float(message.split("t = ")[1].split(" s")[0]) for message in runs.messages]
    np.testing.assert_array_less(times, (START + LONGEST) / np.array([4.0, 5.0]))


@pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # its steps are long
def test_steps_of_a_fixed_length_that_could_hide_one_are_doubted():
    with pytest.warns(bc.BellcrankWarning, match=r"in a step of rk4 a coordinate .* up to 2.57 rad .* shorter max_step"):
        bc.simulate(bc.load("four_bar"), 0.7, step=0.35, method="rk4")
    with pytest.warns(bc.BellcrankWarning) as told:
        bc.simulate(bc.load("four_bar"), 0.7, step=0.35, method="rk4", tau=lambda t, q, v: np.zeros(3))
    assert any("in a step of rk4 a coordinate" in str(w.message) for w in told)


def test_only_coordinates_of_loops_are_held_to_short_turns():
    """A four-bar on a spinning table turns with it; ball joints turn by twice what their quaternions change."""
    model = random_closed(9, 2, ("spherical",))
    joints, weights = loop_joints(model), turn_weights(model, 2.0)
    closure = model.closures[0]
    ends = {closure.body_a, closure.body_b} - {-1}
    assert ends and all(end in joints or any(model.parents[j] == end for j in joints) for end in ends)
    for i, joint in enumerate(model.joints):
        part = weights[model.q_index[i] : model.q_index[i] + (0 if model.driven[i] else joint.nq)] * LONGEST
        if i not in joints:
            assert not part.any()
        elif joint.quaternion is not None:
            assert part[joint.quaternion] == 2.0
        elif joint.kind in ("revolute", "prismatic"):
            assert part.tolist() in ([1.0], [0.5], [])
    assert turn_weights(four_bar(), 1.0) == pytest.approx(np.full(3, 1 / LONGEST))


# Gone on --------------------------------------------------------------------------------------------------------------------


def test_every_passage_is_told_with_its_time(linkage, pendulum):
    with pytest.warns(bc.BellcrankWarning, match=r"t = 0\.2376, 0\.5566, 1\.075, 1\.394 and 1\.913 s") as told:
        run = bc.simulate(linkage, 2.0, method="rk4", max_step=1e-3, on_singular="warn")
    assert "check which branch" in str(told[0].message)
    np.testing.assert_allclose([t for t, _ in run.settings["passages"]], pendulum[1], rtol=0, atol=1e-5)
    assert next(value for name, value in run.summary().rows() if name == "singular").startswith("at t = 0.2375")


def test_passages_before_the_one_that_ends_a_run_are_told():
    met = (Passage(1.0, "pin"), Passage(2.0, "pin"))
    nothing = np.zeros((1, 0))
    ended = Outcome(np.array([2.0]), nothing, nothing, nothing, {}, met[1].problem(), met)
    with pytest.warns(
        bc.BellcrankWarning, match=r"singular configuration at t = 1 s, in the loop through 'pin': dopri5 continued"
    ):
        finished.warn_of_passages(ended, "dopri5", Loops(go_on=True))


def test_momenta_that_do_not_get_through_keep_what_they_have(linkage):
    """Where a step ends so near the flat position that no velocities follow from its momenta, it is taken back."""
    try:
        run = quietly(linkage, 2.0, formulation="canonical_momenta", rtol=1e-11, atol=1e-11, on_singular="warn")
    except bc.SimulationError as error:
        run = error.run
    assert len(run.values("time")) > 10 and np.isfinite(run.values("v")).all()
    assert run.energy_error < 1e-4


# Started --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"on_singular": "pass"}, {"method": "rattle", "max_step": 1e-3}])
def test_a_flat_start_with_velocities_that_no_motion_follows_is_an_impact(tmp_path, options):
    """Given one velocity, the others are the smallest that fit in first order. The impact keeps the momentum along the branch."""
    model = changed(tmp_path, ('"=deg(50)"', "0.0"), ("v = -0.5", "v = 3.0"))
    dynamics = bc.compile(model, optimisation=0)
    v, M = bc.assemble(model).v, dynamics.mass_matrix(np.zeros(3))
    after = (v @ M @ ALONG) / (ALONG @ M @ ALONG) * ALONG
    lost = 0.5 * (v @ M @ v - after @ M @ after)
    assert lost > 0.05 * 0.5 * v @ M @ v
    with pytest.warns(bc.BellcrankWarning) as told:
        run = bc.simulate(model, 0.1, **options)
    (impact,) = [str(w.message) for w in told if "an impact" in str(w.message)]
    assert "at t = 0 s did not agree with the closed loops (right_pin)" in impact and f"took {lost:.4g} J" in impact
    np.testing.assert_allclose(run.values("v")[0], after, rtol=0, atol=1e-12)
    assert run.energy_error < 1e-5
