"""Runs that go on from others, and runs that tell how far they are."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.machine.steps.trajectory import Trajectory
from bellcrank.model import Element, Law, PrescribedMotion, Table
from bellcrank.model.generators import random_state, random_tree
from tests.closed_linkages import bricard
from tests.results.mechanisms import HINGE_Y, SLIDE_X, make
from tests.run.test_stiffness import arm

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def shaken():
    """A pendulum on a carriage that follows a sine, with a motor after a table of time."""
    motor = Element("motor", "joint_effort", {"value": 0.0}, joint=1, table=Table((0.0, 1.0, 2.0, 4.0), (0.0, 2.0, -1.0, 0.5)))
    sine = Law("sine", (0.0, 0.3, 0.7, 0.4))
    arrays = {"center": [[0, 0, 0], [0, 0, -1.0]], "gravity": (0, 0, -9.81), "given_q": [0.5]}
    return make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((sine,)), None), elements=(motor,), **arrays)


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_a_run_in_two_parts_is_the_run_in_one(method):
    """Driven motion and tables go on at their own time. The parts share no step: they agree to the tolerance, or to h^4."""
    model, options = shaken(), {"step": 0.1, "method": method, **TIGHT} | ({"max_step": 1e-3} if method == "rk4" else {})
    whole = bc.simulate(model, 3.0, **options)
    first = bc.simulate(model, 1.2, **options)
    second = bc.simulate(model, 1.8, after=first, **options)
    assert second.values("time")[0] == first.values("time")[-1] == 1.2
    np.testing.assert_allclose(second.values("time"), whole.values("time")[12:], rtol=0, atol=1e-14)
    for name in ("q", "v", "a"):
        np.testing.assert_allclose(second.values(name), whole.values(name)[12:], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(second.values("q")[0], first.values("q")[-1])
    assert second.energy_error < 1e-9
    gain = whole.values("work")[-1] - whole.values("work")[12]
    np.testing.assert_allclose(second.values("work")[-1], gain, rtol=0, atol=1e-9)


def test_tumbling_bodies_go_on_with_their_quaternions():
    model = random_tree(4, 3, ("spherical", "revolute"), free_root=True)
    q, v = random_state(model, 2)
    whole = bc.simulate(model, 1.0, step=0.1, q=q, v=v, **TIGHT)
    first = bc.simulate(model, 0.5, step=0.1, q=q, v=v, **TIGHT)
    second = bc.simulate(model, 0.5, step=0.1, after=first, **TIGHT)
    np.testing.assert_allclose(second.values("q"), whole.values("q")[5:], rtol=0, atol=1e-9)


def test_a_run_that_an_event_stopped_can_go_on():
    model = shaken()
    whole = bc.simulate(model, 2.0, step=2.0, **TIGHT)
    first = bc.simulate(model, 2.0, events=[bc.Event("j1", 0.0)], **TIGHT)
    now = first.values("time")[-1]
    assert 0 < now < 2.0
    second = bc.simulate(model, 2.0 - now, after=first, **TIGHT)
    np.testing.assert_allclose(second.values("q")[-1], whole.values("q")[-1], rtol=0, atol=1e-9)


def test_a_restart_may_change_the_state():
    """A blow: the time goes on, the velocity is another."""
    first = bc.simulate(shaken(), 1.0)
    second = bc.simulate(shaken(), 1.0, after=first, v=[5.0])
    assert second.values("time")[0] == 1.0 and second.values("v")[0] == [5.0]
    np.testing.assert_array_equal(second.values("q")[0], first.values("q")[-1])


@pytest.mark.parametrize("options", [{"method": "dopri5"}, {"method": "dop853"}, {"method": "rk4", "max_step": 1e-3}], ids=str)
def test_progress_grows_to_one(options, monkeypatch):
    monkeypatch.setattr("bellcrank.run.compiled._FIRST_PIECE", 5)
    monkeypatch.setattr("bellcrank.run.compiled._PIECE_SECONDS", 0.0)  # pieces do not grow
    first = bc.simulate(shaken(), 0.5)
    for after in (None, first):
        told = []
        run = bc.simulate(shaken(), 2.0, step=0.3, after=after, progress=told.append, **options)
        assert len(told) > 3 and (np.diff(told) >= 0).all()
        assert told[0] > 0 and told[-1] == pytest.approx(1.0, abs=1e-12)
        assert run.values("time")[-1] == pytest.approx(2.0 if after is None else 2.5)


def test_progress_of_a_run_that_is_watched():
    told = []
    bc.simulate(shaken(), 2.0, events=[bc.Event("j1", then="mark")], progress=told.append)
    assert (np.diff(told) >= 0).all() and told[-1] == 1.0


def test_an_interrupt_in_the_callback_keeps_the_run():
    def told(fraction):
        raise KeyboardInterrupt

    with pytest.raises(bc.SimulationError, match="interrupted at t = ") as stop:
        bc.simulate(shaken(), 2.0, step=0.01, progress=told)
    assert len(stop.value.run.values("time")) >= 2


def test_ctrl_c_while_told_of_progress(monkeypatch):
    real, calls = Trajectory.advance, []

    def advance(self, budget):
        calls.append(budget)
        if len(calls) > 2:
            raise KeyboardInterrupt
        real(self, 10)

    monkeypatch.setattr(Trajectory, "advance", advance)
    told = []
    with pytest.raises(bc.SimulationError, match="interrupted") as stop:
        bc.simulate(shaken(), 2.0, step=0.01, progress=told.append)
    assert len(told) == 2 and stop.value.run.values("time")[-1] == pytest.approx(2.0 * told[-1])


@pytest.mark.filterwarnings("ignore::bellcrank.errors.BellcrankWarning")
@pytest.mark.parametrize(
    ("parts", "model", "duration", "options"),
    [
        ("one_run", arm(1e5), 1.0, {}),  # auto leaves it to radau
        ("loops.passing", "parallelogram", 0.6, {"on_singular": "pass"}),
        ("loops.row_choice", bricard(), 1.1, {}),
    ],
)
def test_an_interrupt_between_two_parts_of_a_run_keeps_the_first(parts, model, duration, options, monkeypatch):
    def from_last(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"bellcrank.run.{parts}.from_last", from_last)
    with pytest.raises(bc.SimulationError, match="interrupted at t = ") as stop:
        bc.simulate(bc.load(model) if isinstance(model, str) else model, duration, step=1e-3, **options)
    times = stop.value.run.values("time")
    assert stop.value.run.interrupted and len(times) > 1 and 0 < times[-1] < duration
