"""Runs in which the equations that were kept are no longer the right ones: chosen again, or left to the multipliers."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics import planning
from bellcrank.dynamics.node_ranks import Survey, plan_nodes
from bellcrank.integrate import METHODS
from bellcrank.machine.steps.declared import SINGULAR
from bellcrank.model import Model
from bellcrank.plan.nodes import blocks, signatures
from bellcrank.run import simulation
from bellcrank.run.arguments import starting_state
from bellcrank.run.compiled import in_machine_code
from bellcrank.run.lanes.samples import message_of
from bellcrank.run.loops.row_choice import KeptRows
from bellcrank.run.loops.treatment import NO_LOOPS

from ..closed_linkages import Bar, bennett, bricard, linkage, meet, n_four_bar, pinned, polar, started

FLAT = np.array([1.0, -1.0, 1.0]) * (np.pi - np.radians(50))  # of the gallery's parallelogram
NOWHERE = (1e-9, 1e-9, None)


def quietly(model, duration, step=0.02, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.BellcrankWarning)
        return bc.simulate(model, duration, step=step, **options)


def nothing(t, q, v):
    return np.zeros(len(v))


@pytest.fixture(scope="module")
def swing():
    """Bricard's linkage, which has one redundant equation and is nowhere singular, from one end of its swing to the other."""
    model = bricard()
    told = "the equations .* changed: those kept of the loop through last .* chosen again"
    with pytest.warns(bc.BellcrankWarning, match=told):
        blocks = bc.simulate(model, 1.1, step=0.02)
    ways = {
        "multipliers": {"formulation": "multipliers", "method": "rk4", "max_step": 1e-3},
        "python": {"tau": nothing, "method": "rk4", "max_step": 5e-3},
        "bdf": {"formulation": "multipliers", "method": "bdf", "rtol": 1e-7, "atol": 1e-9},
    }
    return blocks, {way: quietly(model, 1.1, **options) for way, options in ways.items()}


def test_equations_of_an_overconstrained_loop_are_chosen_again_when_they_degrade(swing):
    run, _ = swing
    assert run.settings["passages"] == []
    assert [to for _, to in run.settings["row_changes"]] == ["chosen again"]
    assert run.closure_error.position < 1e-13 and run.closure_error.acceleration < 1e-8
    assert run.energy_error < 1e-9
    assert np.ptp(run.values("q"), axis=0).min() > 0.5


@pytest.mark.parametrize("way", ["multipliers", "python", "bdf"])
def test_a_loop_that_is_nowhere_singular_is_taken_through_by_all_methods(swing, way):
    """The equations that are kept at the start become dependent at t = 0.95 s."""
    expected, run = swing[0], swing[1][way]
    assert run.stopped is None and run.settings["passages"] == []
    assert [to for _, to in run.settings["row_changes"]] == ["chosen again"]
    off = {"bdf": 1e-4, "python": 1e-6, "multipliers": 1e-8}[way]  # by their tolerance, or step
    np.testing.assert_allclose(run.values("q"), expected.values("q"), atol=off)
    assert run.closure_error.position < 1e-12
    assert run.closure_error.acceleration < 1e-7  # of 1e2; nearly dependent equations would leave 1e-4 at some samples


def test_what_follows_from_states_is_computed_with_the_equations_of_their_time(swing):
    """Also of states that were read from a file, where the equations are chosen again."""
    expected, run = swing[0], swing[1]["multipliers"]
    np.testing.assert_allclose(run.values("reactions"), expected.values("reactions"), rtol=1e-6, atol=1e-6)
    bare = bc.Run(run.model, *(run.values(name) for name in ("time", "q", "v", "a")), run.settings)
    np.testing.assert_allclose(bare.values("reactions"), run.values("reactions"), rtol=1e-8, atol=1e-8)
    assert bare.closure_error.acceleration < 1e-7
    (time, _), rows = run.settings["row_changes"][0], dict(run.summary().rows())
    assert rows["equations"] == f"chosen again at t = {time:.6g} s" and rows["formulation"] == "multipliers, about the joint"


@pytest.mark.parametrize("options", [{"method": "rk4", "max_step": 5e-3}, {"rtol": 1e-5, "atol": 1e-5}])
def test_loops_that_are_open_inside_a_step_do_not_lock_the_mechanism(options):
    """Three of the five equations of Bennett's linkage are redundant as long as it is closed, and contradict a little where it
    is not. Nor does the multipliers' help seem to be needed at samples between steps, which are off by the tolerance."""
    runs = [quietly(bennett(), 0.5, formulation=name, **options) for name in ("multipliers", "coordinate_reduction")]
    np.testing.assert_allclose(runs[0].values("q"), runs[1].values("q"), atol=1e-10)
    for run in runs:
        assert run.settings["row_changes"] == []
        assert run.energy_error < (1e-9 if options.get("method") == "rk4" else 1e-4)


@pytest.fixture
def planned_at_a_singular_position():
    """A parallelogram with only one of its two equations kept, as if planned in its flat position."""
    dynamics = bc.compile(bc.load("parallelogram"))
    whole = dynamics.plan.nodes.rank
    crippled = dynamics.replanned(FLAT, 0.0)
    assert crippled.plan.nodes.rank == whole - 1
    return dynamics, crippled


def machine(dynamics, start, times, loops=NO_LOOPS):
    return in_machine_code(dynamics, METHODS["rk4"], start, times, NOWHERE, None, None, loops)


def test_a_run_that_lacks_an_equation_takes_it_in(planned_at_a_singular_position):
    dynamics, crippled = planned_at_a_singular_position
    start = starting_state(dynamics, None, dict.fromkeys(("q", "v", "tau", "u")))
    times = np.linspace(0.0, 0.1, 11)
    kept = KeptRows(crippled, machine, NO_LOOPS)
    with pytest.warns(bc.BellcrankWarning, match="1 of those of the loop through right_pin seemed redundant .* chosen again"):
        outcome = kept(start, times)
    assert [to for _, to in kept.changes] == ["chosen again"]
    np.testing.assert_array_equal(outcome.times, times)
    assert np.abs(dynamics.closure(outcome.q, outcome.v)[0]).max() < 1e-12
    expected = machine(dynamics, start, times)
    np.testing.assert_allclose(outcome.q, expected.q, atol=1e-8)


def test_a_run_whose_loops_open_goes_back_and_on_with_the_multipliers_and_says_so(monkeypatch):
    """As would be where the check of equations that were left out noticed nothing: here it has none to look at."""
    model = bc.load("parallelogram")
    start = starting_state(bc.compile(model), None, dict.fromkeys(("q", "v", "tau", "u")))
    monkeypatch.setattr(Survey, "_checked", lambda survey, i, own, agree: ((),) * len(own.kept))
    monkeypatch.setattr(planning, "plan_generic_nodes", lambda plan, dynamics: plan_nodes(plan, FLAT, 0.0))
    monkeypatch.setattr(simulation, "starting_state", lambda *_, **__: start)  # which would refuse such a plan
    run = quietly(model, 0.1)
    (first, (time, name)) = run.settings["formulations"]
    assert (first, name) == ([0.0, "coordinate_reduction"], "multipliers") and time < 0.1
    rows = dict(run.summary().rows())
    assert rows["formulation"] == f"coordinate_reduction; multipliers from t = {time:.6g} s"
    assert run.summary().as_dict()["row_changes"] == [{"event": "multipliers", "time": time}]
    assert run.closure_error.position < 1e-12


def test_accelerations_that_contradict_an_equation_that_was_left_out_are_an_error(planned_at_a_singular_position):
    """In a batch they are not numbers, for that state only: flat and at rest the two equations say the same."""
    _, crippled = planned_at_a_singular_position
    q, v = np.array([0.3, -0.3, 0.3]), np.array([1.0, -1.0, 1.0])
    for ask in (crippled.acceleration, lambda q, v: crippled.velocities(q, np.array([1.0, 0.5, -2.0]))):
        with pytest.raises(bc.DynamicsError, match='loop through "right_pin" has an equation that seemed redundant'):
            ask(q, v)
    status = np.zeros(5, dtype=int)
    a = crippled.acceleration(np.array([q, FLAT, q, q, q]), np.array([v, 0 * v, v, v, v]), status=status)
    assert status.tolist() == [2, 0, 2, 2, 2] and np.isnan(a[0]).any() and np.isfinite(a[1]).all()


def test_a_run_that_keeps_its_equations_is_left_alone(planned_at_a_singular_position):
    dynamics, _ = planned_at_a_singular_position
    start = starting_state(dynamics, None, dict.fromkeys(("q", "v", "tau", "u")))
    kept = KeptRows(dynamics, machine, NO_LOOPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept(start, np.linspace(0.0, 0.1, 11))
    assert kept.changes == []


def test_blocks_say_how_they_are(planned_at_a_singular_position):
    """Error of the closures; and what accelerations leave of an equation that was not kept although it should have been."""
    dynamics, crippled = planned_at_a_singular_position
    q, v = np.array([0.3, -0.3, 0.3]), np.array([1.0, -1.0, 1.0])
    closed, opened = dynamics.blocks(q, v), dynamics.blocks(q + [0.01, 0.0, 0.0], v)
    assert closed.pivot.shape == closed.error.shape == closed.residual.shape == (1,)
    assert closed.error.max() < 1e-15 and closed.residual.max() < 1e-12
    np.testing.assert_allclose(opened.error.max(), np.abs(dynamics.closure(q + [0.01, 0.0, 0.0], v)[0]).max(), rtol=1e-12)
    assert crippled.blocks(q, v).residual.max() > 0.1
    batch = dynamics.blocks(np.array([q, FLAT, q, q, q]), np.tile(v, (5, 1)))
    np.testing.assert_allclose(batch.pivot[:, 0], [closed.pivot[0], 0, *[closed.pivot[0]] * 3], atol=1e-15)
    with pytest.raises(bc.StateError, match="blocks are those of formulation 'coordinate_reduction'"):
        bc.compile(dynamics.model, "multipliers").blocks(q, v)


def test_blocks_that_are_taken_apart_notice_singular_positions_in_a_run(monkeypatch):
    """Cranks that stay parallel come to their flat position: steps go over it, and the lookout sees the rows turn round."""
    monkeypatch.setattr(blocks, "LARGEST", 1)
    model = n_four_bar(2)
    assert any(signature.condensed for signature in bc.compile(model).plan.nodes.signatures)
    v = np.array([-5.0 if parent < 0 else 5.0 for parent in model.parents])
    with pytest.raises(bc.SimulationError, match="could continue in more than one way") as caught:
        bc.simulate(model, 1.0, step=0.01, method="rk4", v=v)
    run = caught.value.run
    assert abs(run.values("q")[-1, 0] + 1.1) < 0.1  # cranks start at 1.1 rad
    assert run.closure_error.position < 1e-12


def trio() -> Model:
    """Two equal cranks, beside each other, and a third one elsewhere move a swing. Where the swing is at the end of what its two
    equal cranks allow, either of them may go on or go back."""
    tip, at = polar(1.0, 1.2), np.array([2.0, 0.3, 0.0])
    bars, pairs = [Bar("swing", -1, np.zeros(3), tip)], []
    for k, (foot, crank, coupler) in enumerate([(np.array([-1.8, 0.2, 0.0]), 1.1, 1.7), (at, 0.4, 1.9), (at, 0.4, 1.9)]):
        pin = meet(foot, crank, tip, coupler)
        pairs.append((len(bars) + 1, 0, tip))
        bars += [Bar(f"crank{k}", -1, foot, pin), Bar(f"coupler{k}", len(bars), pin, tip)]
    model, origins = linkage("trio", bars, gravity=(0.0, 0.0, 0.0))
    model = pinned(model, origins, pairs)
    return replace(model, given_v=started(model, 1.0))


def test_a_step_over_a_singular_position_is_seen_with_any_equations():
    """Steps of 30 ms. The equations are chosen again right before it, since others are twice as good: what comes then is compared
    with what was before."""
    with pytest.raises(bc.SimulationError, match="could continue in more than one way") as caught:
        quietly(trio(), 3.0, formulation="multipliers", method="rk4", max_step=0.03, step=0.06)
    assert 0.5 < caught.value.run.values("time")[-1] < 0.6  # at 0.591 s


@pytest.mark.parametrize("largest", [signatures.LARGEST_PART, 0])
def test_a_step_over_a_singular_position_is_seen_where_only_condensed_forms_meet(largest, monkeypatch):
    """Taken apart, the two equal cranks are children of the third one's node: what they say of the swing must agree, and they
    cease to say anything about it. With matrices as numbers and in memory."""
    monkeypatch.setattr(blocks, "LARGEST", 1)
    monkeypatch.setattr(signatures, "LARGEST_PART", largest)
    model = trio()
    assert bc.compile(model).plan.nodes.nodes[0].children == (1, 2)
    with pytest.raises(bc.SimulationError, match="could continue in more than one way"):
        quietly(model, 0.7, method="rk4", max_step=0.01)


def test_many_runs_together_say_that_they_do_not_choose_again():
    assert (
        bc.compile(bricard()).plan.nodes.interchangeable and not bc.compile(bc.load("parallelogram")).plan.nodes.interchangeable
    )
    assert "by itself, would choose others" in message_of(SINGULAR, 0.95, interchangeable=True)
    assert "others" not in message_of(SINGULAR, 0.95, interchangeable=False)
