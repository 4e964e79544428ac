"""What a run may take: memory, steps, patience; and what it says when it is not to be trusted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankWarning, SimulationError, StateError
from bellcrank.machine.steps.declared import ENDLESS, INTERRUPTED
from bellcrank.machine.steps.lanes import runs as lane_runs
from bellcrank.model import Element
from bellcrank.run.checks import horizon as horizons
from bellcrank.run.checks.horizon import EndNotInSight, Horizon

PERIOD = 2.367841947576237  # s, of the gallery's pendulum


def test_samples_that_do_not_fit_into_memory_are_refused_before_the_run(monkeypatch):
    """The bound is one of bytes: what is too much for many coordinates fits for few."""
    monkeypatch.setattr("bellcrank.run.checks.size.largest", lambda: 3 << 20)
    assert len(bc.simulate(bc.load("pendulum"), 1.0, step=1e-3).values("time")) == 1001
    with pytest.raises(
        StateError, match=r"1001 samples of model 'humanoid', .* take about .* MB of memory, and a run may take 3 MB"
    ):
        bc.simulate(bc.load("humanoid"), 1.0, step=1e-3)
    with pytest.raises(StateError, match=r"400 runs of 101 samples .* or start fewer runs at a time"):
        bc.simulate_many(bc.load("pendulum"), 1.0, step=0.01, q=np.zeros((400, 1)))


def test_the_number_of_fixed_steps_is_known_before_the_run():
    with pytest.raises(StateError, match=r"rk4 would take 1e\+12 steps of 1e-12 s, and a run may take 100000000"):
        bc.simulate(bc.load("pendulum"), 1.0, method="rk4", max_step=1e-12)


@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_a_run_stops_at_its_limit_of_steps_and_keeps_what_is_done(method):
    with pytest.raises(SimulationError, match=r"it has taken \d+ steps, which is the limit.* max_steps \(now 50\)") as caught:
        bc.simulate(bc.load("pendulum"), 10.0, step=0.01, method=method, max_steps=50)
    run = caught.value.run
    assert 0.0 < run.final_state().t < 10.0 and run.energy_error < 1e-6


def test_a_run_whose_end_is_not_in_sight_says_so_long_before_its_limit():
    """A pendulum of 1e-9 kg m2 on a spring of 1e12 N m/rad: 1e10 rad/s, for one second."""
    text = """
format = 1
name = "wrong unit"
gravity = [0, 0, 0]
[bodies.arm]
mass = 1.0
center = [0, 0, 0]
inertia = [1e-9, 1e-9, 1e-9]
[joints.hinge]
type = "revolute"
parent = "ground"
child = "arm"
point = [0, 0, 0]
axis = "z"
[springs.stiff]
joint = "hinge"
stiffness = 1e12
[initial]
hinge = 0.1
"""
    model = bc.load(text)
    with pytest.raises(SimulationError, match=r"its end is out of reach. After \d+ steps it would take about .* more"):
        bc.simulate(model, 1.0, max_steps=100_000_000)
    runs = bc.simulate_many(model, 1.0, q=np.array([[0.1], [0.2]]), max_steps=100_000_000)
    assert (runs.status == ENDLESS).all() and "its end is out of reach" in runs.messages[0]


def test_many_runs_take_no_more_steps_than_they_may():
    runs = bc.simulate_many(bc.load("pendulum"), 10.0, q=np.array([[0.1], [0.2]]), max_steps=50)
    assert (runs.status == ENDLESS).all() and [x["steps"] + x["rejected"] for x in runs.per_run] == [50, 50]


def test_the_pace_is_that_of_the_last_steps_and_is_told_before_it_is_hopeless():
    sight = Horizon(0.0, 1.0, max_steps=1000, look_after=10)
    sight.look(0.5, 10)  # 10 steps for a half
    with pytest.warns(BellcrankWarning, match=r"the run is at t = 0.501 s, and its end is out of reach"):
        sight.look(0.501, 20)  # 5,000 to go
    with pytest.raises(EndNotInSight, match="about 5e\\+04 more, about 8 minutes"):
        sight.look(0.5011, 30, cost=0.01)
    with pytest.raises(EndNotInSight, match="steps without end"):
        Horizon(0.0, 1.0, look_after=10).look(0.0, 10)
    assert horizons.HOPELESS > 1


def test_many_runs_that_are_interrupted_keep_what_is_done(monkeypatch):
    def press(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(lane_runs, "wait", lambda jobs, timeout=None: press() if timeout else [job.result() for job in jobs])
    with pytest.raises(SimulationError, match=r"interrupted when \d+ runs? of 9 had arrived") as caught:
        bc.simulate_many(bc.load("double_pendulum"), 1e4, step=10.0, q=np.linspace(0.1, 2.0, 18).reshape(9, 2))
    runs = caught.value.run
    assert set(runs.status) <= {0, INTERRUPTED} and (runs.status == INTERRUPTED).any()
    assert all("it was interrupted" in message for message, status in zip(runs.messages, runs.status, strict=True) if status)


def test_a_run_whose_energy_does_not_add_up_warns_wherever_it_is_looked_at():
    with pytest.warns(
        BellcrankWarning, match="'double pendulum': the energy balance does not close: its error is .* do not trust"
    ):
        run = bc.simulate(bc.load("double_pendulum"), 5.0, step=0.2, method="rk4")
    assert run.energy_error > 1e-3 and "do not trust this run" in run.summary().doubt


def test_a_good_run_whose_samples_fall_on_rest_has_a_small_energy_error():
    """At the turning points of a pendulum neither kinetic nor potential energy tell what flows between them."""
    run = bc.simulate(bc.load("pendulum"), 4 * PERIOD, step=PERIOD)
    assert run.values("kinetic").max() < 1e-9
    assert run.settings["peak_kinetic"] == pytest.approx(9.81, rel=1e-3)
    assert run.energy_error < 1e-7


def test_numbers_of_a_run_that_are_not_finite_are_told_with_their_names_and_times():
    run = bc.simulate(bc.load("double_pendulum"), 0.1, step=0.05)
    run.values("v")[1, 1] = 1e200  # whose square is no number
    with (
        np.errstate(all="ignore"),
        pytest.warns(
            BellcrankWarning, match=r"wrench of the parent .* of 'shoulder', 'elbow' at t = 0.05 s: not finite numbers"
        ),
    ):
        run.reactions
    run.values("a")[2, 1] = np.nan
    assert any("joint accelerations of 'elbow' at t = 0.1 s" in words for words in run.summary().not_finite)


def pushed(effort, **stop):
    """1 kg on a slide, with a stop if one is given."""
    m = bc.Mechanism("pushed", gravity=(0, 0, 0))
    m.table("pulse", [(0, 0), (5, 0), (5.05, 100), (5.1, 0), (10, 0)], interpolation="linear")
    m.sphere("block", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "block", point=(0, 0, 0), axis="x")
    m.motor("motor", "slide", effort)
    model = m.build()
    bumper = Element("bumper", "joint_stop", {"lower": -np.inf, **stop}, joint=0, dof=0)
    return replace(model, elements=(*model.elements, bumper)) if stop else model


SPEED = np.sqrt(40.0)  # m/s after 20 m
CONTACT = (np.pi + 2 * np.arctan(1 / (100 * SPEED))) / 100  # s on a stop of 100 rad/s
STOP = {"upper": 20.0, "stiffness": 1e4, "damping": 0.0}


@pytest.mark.filterwarnings("ignore:.*energy balance does not close")  # by the trapezoidal rule over such steps
@pytest.mark.parametrize(
    ("method", "effort", "stop", "speed", "tolerance"),
    [
        ("rattle", "=if(t > 5 and t < 5.1, 50, 0)", {}, 5.0, 1e-9),
        ("reaction_taylor", "=if(t > 5 and t < 5.1, 50, 0)", {}, 5.0, 1e-9),
        ("rattle", "=pulse(t)", {}, 5.0, 1e-9),
        ("rattle", "=if(slide.q > 3, -1, 1)", {}, 10 - 4 * np.sqrt(6), 1e-6),
        ("reaction_taylor", "=if(slide.q > 3, -1, 1)", {}, 10 - 4 * np.sqrt(6), 1e-2),
        ("rattle", "=1", STOP, 10 - 2 * SPEED - CONTACT, 3e-4),
    ],
)
def test_methods_of_singular_positions_end_their_steps_where_forces_begin_and_end(method, effort, stop, speed, tolerance):
    """Steps of 0.3 s, in which the forces are constant or linear; 5 ms where a stop throws the block back."""
    run = bc.simulate(pushed(effort, **stop), 10.0, step=10.0, method=method, max_step=5e-3 if stop else 0.3)
    np.testing.assert_allclose(run.values("v")[-1], speed, rtol=tolerance)
