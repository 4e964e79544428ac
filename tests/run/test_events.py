"""Events: when something crosses a value, the run notes it or stops there."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import Event
from bellcrank.machine.steps.trajectory import Trajectory
from bellcrank.model import PrescribedMotion
from bellcrank.model.generators import random_state, random_tree
from tests.oracles.numbers import oracle
from tests.results.mechanisms import HINGE_Y, SLIDE_X, joint_element, make, pendulum, polynomial

PERIOD = oracle("simple_pendulum")["period"]  # 2.367841947576237 s, by elliptic integrals
TIGHT = {"rtol": 1e-12, "atol": 1e-12}
METHODS = ["dopri5", "dop853"]


@pytest.fixture(scope="module")
def swing():
    """Let go at rest from the horizontal: it hangs after a quarter of a period, then every half."""
    return bc.load("pendulum")


@pytest.mark.parametrize("method", METHODS)
def test_the_pendulum_hangs_at_odd_quarters_of_its_period(swing, method):
    """Over two periods at a tolerance of 1e-12. Measured: 3e-12 s (dopri5), 6e-13 s (dop853)."""
    run = bc.simulate(swing, 2 * PERIOD, method=method, events=[Event("hinge", then="mark", name="has_parent")], **TIGHT)
    assert [crossing.event for crossing in run.crossings] == ["has_parent"] * 4
    times = [crossing.time for crossing in run.crossings]
    np.testing.assert_allclose(times, PERIOD * np.array([1, 3, 5, 7]) / 4, rtol=0, atol=2e-11)
    assert run.values("time")[-1] == 2 * PERIOD
    for crossing in run.crossings:
        assert abs(crossing.q[0]) < 1e-14
        assert abs(crossing.v[0]) == pytest.approx(np.sqrt(2 * 9.81), rel=1e-10)  # all of the height is speed


@pytest.mark.parametrize(("direction", "quarters"), [("up", [1, 5]), ("down", [3, 7]), ("both", [1, 3, 5, 7])])
def test_a_crossing_has_a_direction(swing, direction, quarters):
    assert swing.initial_q[0] < 0
    run = bc.simulate(swing, 2 * PERIOD, events=[Event("hinge", direction=direction, then="mark")], **TIGHT)
    np.testing.assert_allclose([c.time for c in run.crossings], PERIOD * np.array(quarters) / 4, rtol=0, atol=1e-10)
    assert all(c.event == "hinge crosses 0" for c in run.crossings)


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_ends_the_run_where_it_happens(swing, method):
    """The end is one more sample, and the samples before it are those of the whole run."""
    options = {"step": 0.1, "method": method, **TIGHT}
    run = bc.simulate(swing, 2.0, events=[Event("hinge")], **options)
    whole = bc.simulate(swing, 2.0, **options)
    assert run.stopped is None  # nothing went wrong
    np.testing.assert_allclose(run.values("time"), [0, 0.1, 0.2, 0.3, 0.4, 0.5, PERIOD / 4], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(run.values("q")[:6], whole.values("q")[:6])
    assert run.values("time")[-1] == run.crossings[0].time
    np.testing.assert_allclose(run.values("q")[-1], run.crossings[0].q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.values("v")[-1], run.crossings[0].v, rtol=0, atol=1e-14)
    assert len(run.crossings) == 1


@pytest.mark.parametrize("method", METHODS)
def test_watching_does_not_change_the_run(swing, method):
    watched = bc.simulate(swing, 3.0, step=0.1, method=method, events=[Event("hinge", then="mark")])
    alone = bc.simulate(swing, 3.0, step=0.1, method=method)
    np.testing.assert_array_equal(watched.values("q"), alone.values("q"))
    np.testing.assert_array_equal(watched.values("v"), alone.values("v"))
    assert watched.settings["steps"] == alone.settings["steps"]


@pytest.mark.parametrize("method", METHODS)
def test_the_works_of_a_stopped_run_are_those_until_the_stop(method):
    """Inside the last step too, where they come from dense output: measured 2e-11 and 1e-10 of the kinetic energy."""
    model = pendulum(elements=(joint_element("drag", "damper", damping=0.4),))
    run = bc.simulate(model, 3.0, step=0.1, method=method, events=[Event("j0", 0.1)], rtol=1e-11, atol=1e-11)
    assert run.values("q")[-1, 0] == pytest.approx(0.1, abs=1e-12)
    assert run.energy_error < 1e-9


def test_a_stop_at_a_sample_is_that_sample():
    """x = t^2 crosses 1 at 1 s, which is also asked for: no time is there twice."""
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 0, 1.0),)), None), given_v=[1.0])
    run = bc.simulate(model, 2.0, step=0.25, events=[Event(lambda t, q, v: t, 1.0)])
    times = run.values("time")
    np.testing.assert_allclose(times[:4], [0, 0.25, 0.5, 0.75])
    assert times[-1] == pytest.approx(1.0, abs=1e-15) and (np.diff(times) > 0).all()


def constant_speed():
    """One unit of way in one unit of time: any step is exact, so that a single one takes the whole run."""
    return make(SLIDE_X, given_v=[1.0])


@pytest.mark.parametrize("method", METHODS)
def test_events_in_one_step_come_in_the_order_of_their_times(method):
    events = [Event("j0", value, then="mark", name=str(value)) for value in (0.7, 0.5, 0.9, 0.6)]
    run = bc.simulate(constant_speed(), 1000.0, method=method, events=events)
    assert run.settings["steps"] < 20
    assert [crossing.event for crossing in run.crossings] == ["0.5", "0.6", "0.7", "0.9"]
    np.testing.assert_allclose([c.time for c in run.crossings], [0.5, 0.6, 0.7, 0.9], rtol=1e-12)


def test_a_stop_hides_what_would_have_come_after_it_in_the_step():
    events = [
        Event("j0", 700.0, then="mark", name="late"),
        Event("j0", 600.0, name="stop"),
        Event("j0", 500.0, then="mark", name="early"),
    ]
    run = bc.simulate(constant_speed(), 1000.0, step=1.0, events=events)
    assert [crossing.event for crossing in run.crossings] == ["early", "stop"]
    assert run.values("time")[-1] == pytest.approx(600.0, rel=1e-13)
    np.testing.assert_allclose(run.values("q")[:, 0], run.values("time"), rtol=1e-12)


def test_an_event_may_be_a_function_of_time_and_state(swing):
    """The kinetic energy of the bob passes half of its greatest, m g L/2, where it has fallen half of its height."""
    run = bc.simulate(swing, PERIOD / 2, events=[Event(lambda t, q, v: v[0] ** 2 / 2, 9.81 / 2, "up", "mark")], **TIGHT)
    assert [np.cos(c.q[0]) for c in run.crossings] == pytest.approx([0.5], abs=1e-10)
    assert run.crossings[0].event == "the given function crosses 4.905"


def test_velocities_and_parts_of_joints_have_names():
    model = random_tree(2, 1, ("revolute",), free_root=True)
    free, hinge = (
        next(n for n, j in zip(model.joint_names, model.joints, strict=True) if j.kind == kind) for kind in ("free", "revolute")
    )
    q, v = random_state(model, 1)
    run = bc.simulate(model, 1.0, q=q, v=v)
    for name, function in {
        f"{free}.vx": lambda t, q, v: v[model.v_names.index(f"{free}.vx")],
        f"{free}.z": lambda t, q, v: q[model.q_names.index(f"{free}.z")],
        f"{free}.qw": lambda t, q, v: q[model.q_names.index(f"{free}.qw")],
        f"{hinge}.v": lambda t, q, v: v[model.v_names.index(hinge)],
    }.items():
        level = np.median([function(0.0, *state) for state in zip(run.values("q"), run.values("v"), strict=True)])
        pair = [Event(name, level, then="mark"), Event(function, level, then="mark")]
        crossings = bc.simulate(model, 1.0, q=q, v=v, events=pair).crossings
        assert crossings and [c.time for c in crossings[::2]] == [c.time for c in crossings[1::2]]


def test_what_starts_on_its_value_has_not_crossed_it(swing):
    """It is at rest at the start: the speed leaves zero upwards, and comes back to it at half the period."""
    run = bc.simulate(swing, 0.75 * PERIOD, events=[Event("hinge.v", then="mark")], **TIGHT)
    assert [c.time for c in run.crossings] == pytest.approx([PERIOD / 2], abs=1e-10)


@pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # Huang's method is dissipative, and says so
@pytest.mark.parametrize("method", ["rattle", "reaction_taylor"])
def test_methods_of_singular_positions_watch_events_and_end_a_step_where_one_ends_the_run(swing, method):
    every_step = bc.simulate(swing, PERIOD, step=0.01, method=method)
    t, kinetic = every_step.values("time"), every_step.values("kinetic")
    level = float(kinetic.max()) / 2
    events = [Event("hinge", then="mark"), Event("energy.kinetic", level, then="mark"), Event("hinge.v", 0.1, "down")]
    run = bc.simulate(swing, PERIOD, step=0.05, max_step=0.01, method=method, events=events)
    end = run.crossings[-1].time
    watched = [every_step.values("q")[:, 0], kinetic - level, every_step.values("v")[:, 0] - 0.1]
    for event, x in zip(events, watched, strict=True):
        sides = (x[:-1] > 0) != (x[1:] > 0) if event is not events[2] else (x[:-1] > 0) & (x[1:] <= 0)
        k = np.flatnonzero(sides & (t[:-1] < end))
        found = [c.time for c in run.crossings if c.event == event.title]
        # straight lines between samples 0.01 s apart are off by h^2 x'' / 8 x', less than 1e-4 s here
        np.testing.assert_allclose(found, t[k] - x[k] * 0.01 / (x[k + 1] - x[k]), atol=1e-3)
        assert found
    assert run.values("time")[-1] == end < PERIOD
    assert run.values("v")[-1, 0] == pytest.approx(0.1, abs=1e-3)
    on = bc.simulate(swing, 0.1, after=run, max_step=0.01, method=method, events=events[2:])
    assert on.crossings == () and on.values("time")[-1] == pytest.approx(end + 0.1)


def test_events_of_a_driven_model_know_the_time():
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 0, 1.0),)), None), given_v=[1.0])
    first = bc.simulate(model, 1.0)
    run = bc.simulate(model, 2.0, after=first, events=[Event(lambda t, q, v: t, 1.7), Event("j1", 1.6, then="mark")])
    assert [c.time for c in run.crossings] == pytest.approx([1.6, 1.7], abs=1e-9)
    assert run.values("time")[0] == 1.0 and run.values("time")[-1] == pytest.approx(1.7, abs=1e-14)


@pytest.mark.parametrize(
    ("events", "options", "message"),
    [
        (
            [Event("hing")],
            {},
            r"an event watches 'hing', which is not a coordinate, velocity or measure of 'simple pendulum' \(did you mean 'hinge'\?\)",
        ),
        ([Event("hinge.w")], {}, r"did you mean 'hinge.v'"),
        ([Event("zzz")], {}, r"watches 'zzz', which is not a coordinate, velocity or measure of 'simple pendulum'$"),
        ([Event("hinge", direction="sideways")], {}, "event 'hinge crosses 0': direction is up, down or both"),
        ([Event("hinge", then="jump", name="e")], {}, "event 'e': .* then is stop or mark"),
    ],
    ids=["near", "near velocity", "unknown", "direction", "then"],
)
def test_an_event_that_cannot_be_watched_is_refused(swing, events, options, message):
    with pytest.raises(bc.StateError, match=message):
        bc.simulate(swing, 1.0, events=events, **options)


def test_ctrl_c_in_a_watched_run_keeps_what_was_computed(swing, monkeypatch):
    """A watched run comes back to the host after every step; the keys may be pressed there, too."""
    presses = iter(range(40))

    def pressed(t, q, v):
        if next(presses, None) is None:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(bc.SimulationError, match=r"interrupted at t = ") as stop:
        bc.simulate(swing, 5.0, step=0.01, events=[Event("hinge", then="mark"), Event(pressed)])
    run = stop.value.run
    alone = bc.simulate(swing, 5.0, step=0.01).values("q")
    times = run.values("time")
    assert 0 < times[-1] < 5.0 and (np.diff(times) > 0).all()
    np.testing.assert_array_equal(run.values("q")[:-1], alone[: len(times) - 1])

    real, calls = Trajectory.advance, []

    def advance(self, budget):
        calls.append(budget)
        if len(calls) > 60:
            raise KeyboardInterrupt
        real(self, budget)

    monkeypatch.setattr(Trajectory, "advance", advance)
    with pytest.raises(bc.SimulationError, match=r"interrupted") as stop:
        bc.simulate(swing, 5.0, step=0.01, events=[Event("hinge", then="mark")])
    assert len(stop.value.run.crossings) <= 1
    assert np.isfinite(stop.value.run.values("q")).all()


BOB = """
format = 1
name = "bob"
gravity = [0, -9.81, 0]
[parameters]
level = 0.0
[bodies.bob]
point_mass = { at = [1, 0, 0], mass = 1.0 }
[joints.hinge]
type = "revolute"
parent = "ground"
child = "bob"
point = [0, 0, 0]
axis = "z"
[measures.tip]
type = "position"
body = "bob"
point = [1, 0, 0]
component = "x"
"""


@pytest.mark.parametrize("of", ["tip", "=tip - level", "hinge.a", "=momentum.y"])
def test_a_measure_a_path_and_a_formula_can_be_watched(of):
    """The tip of a pendulum of 1 m, released level, is at its lowest after a quarter period."""
    run = bc.simulate(bc.load(BOB), 1.0, rtol=1e-9, atol=1e-9, events=[bc.Event(of, 0.0, then="stop")])
    assert run.crossings[0].time == pytest.approx(2.367841947576237 / 4, abs=1e-8)  # IFToMM A01


def test_the_force_in_a_joint_can_be_watched_with_its_direction():
    """A bob that has fallen by s pulls its hinge along the arm by 3 m g sin s: by 1.5 m g after 30 degrees."""
    pull = "=-(hinge.fx*cos(hinge) + hinge.fy*sin(hinge))"
    events = [bc.Event(pull, 1.5 * 9.81, "up"), bc.Event(pull, 2.0, "down", then="mark")]
    run = bc.simulate(bc.load(BOB), 1.0, rtol=1e-9, atol=1e-9, events=events)
    assert [crossing.event for crossing in run.crossings] == [events[0].title]
    assert run.crossings[0].q[0] == pytest.approx(-np.pi / 6, abs=1e-7)


def test_a_formula_that_cannot_be_watched_says_so_before_the_run():
    for text, message in (("=tip +", "ends too early"), ("=tipp", "is not a measure; did you mean tip")):
        with pytest.raises(bc.StateError, match=message):
            bc.simulate(bc.load(BOB), 1.0, events=[bc.Event(text)])
