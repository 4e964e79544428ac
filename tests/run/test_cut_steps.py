"""Pulses and stops: steps end where the equations of motion are not smooth, however long they could be otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model import Element, Law, PrescribedMotion, Table
from tests.results.mechanisms import HINGE_Y, SLIDE_X, joint_element, make

ADAPTIVE = ["dopri5", "dop853"]
EXPLICIT = [*ADAPTIVE, "rk4"]
SYMPLECTIC = ["implicit_midpoint", "midpoint4", "gauss4"]
G = 9.81
pytestmark = pytest.mark.filterwarnings("ignore:the curve through the table")  # pulses as splines


# times that are known ----------------------------------------------------------------------------------------------------


def pulse(height):
    """From 5.0 to 5.1 s; beside it the spline swings out, within the half second in which there are knots."""
    times = [0.0, *(round(4.5 + 0.05 * k, 2) for k in range(23)), 10.0]
    return Table(tuple(times), tuple(height if t == 5.05 else 0.0 for t in times))


def pushed():
    return make(SLIDE_X, elements=(Element("motor", "joint_effort", {"value": 0.0}, joint=0, table=pulse(100.0)),))


def dragged():
    """A slide that jerks to 1 m and back, and a pendulum on it."""
    motion = PrescribedMotion((Law("table", table=pulse(1.0)),))
    return make(SLIDE_X, HINGE_Y, motions=(motion, None), center=[[0, 0, 0], [0, 0, -1.0]], gravity=(0, 0, -G))


def area(table):
    """Of a spline, by its own pieces."""
    return float(table.curve(np.array(table.x[-1])).area)


@pytest.mark.parametrize("method", [*EXPLICIT, "midpoint4", "gauss4"])
@pytest.mark.filterwarnings("ignore:.*divided steps")
@pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # its steps are long
def test_a_short_pulse_of_a_motor_gives_its_whole_impulse(method):
    """1 kg at rest: v is the area under the pulse, 4.97 N s, although nothing else would divide the steps."""
    run = bc.simulate(pushed(), 10.0, step=1.0, method=method)
    assert area(pulse(100.0)) == pytest.approx(4.97, abs=1e-3)
    assert run.values("v")[-1, 0] == pytest.approx(area(pulse(100.0)), rel=1e-9)
    assert method not in ADAPTIVE or run.energy_error < 1e-9


@pytest.mark.parametrize("method", ADAPTIVE)
def test_every_lane_ends_its_steps_at_the_knots(method):
    runs = bc.simulate_many(pushed(), 10.0, step=10.0, v=[[0.0], [1.0], [-3.0], [0.1], [7.0]], method=method)
    gained = runs.v.values[:, -1, 0] - runs.v.values[:, 0, 0]
    np.testing.assert_allclose(gained, area(pulse(100.0)), rtol=1e-9)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_short_jerk_of_a_driven_slide_is_felt(method):
    run = bc.simulate(dragged(), 10.0, step=10.0, method=method)
    reference = bc.simulate(dragged(), 10.0, step=10.0, method="dop853", max_step=1e-3, rtol=1e-12, atol=1e-12)
    assert abs(reference.values("v")[-1, 0]) > 0.1
    np.testing.assert_allclose(run.values("v")[-1], reference.values("v")[-1], rtol=0, atol=1e-6)
    many = bc.simulate_many(dragged(), 10.0, step=10.0, method=method)
    np.testing.assert_allclose(many.v.values[0, -1], reference.values("v")[-1], rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:inputs are tables")
@pytest.mark.parametrize("method", EXPLICIT)
def test_a_pulse_of_a_tabled_input_gives_its_whole_impulse(method):
    """A triangle of 0.1 s and 100 N: 5 N s, exactly, since between knots the force is linear in time."""
    m = bc.Mechanism("sled", inputs=["push"])
    m.body("sled", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("rail", "prismatic", "ground", "sled", (0, 0, 0), axis="x")
    m.motor("thruster", "rail", input="push")
    run = bc.simulate(m.build(), 10.0, step=10.0, method=method, inputs={"push": ([0, 5.0, 5.05, 5.1, 10], [0, 0, 100, 0, 0])})
    assert run.values("v")[-1, 0] == pytest.approx(5.0, rel=1e-12)


def test_symplectic_methods_say_that_they_divided_steps():
    with pytest.warns(bc.BellcrankWarning, match="gauss4 divided steps at 11 places"):
        bc.simulate(pushed(), 10.0, step=0.1, method="gauss4")


@pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # its steps are long
def test_a_fixed_step_returns_to_its_grid():
    """Of its knots from 4.5 to 5.6 s eleven are not on the grid of 0.1 s: as many steps more."""
    run = bc.simulate(pushed(), 10.0, step=0.1, method="rk4")
    assert run.settings["steps"] == 111
    np.testing.assert_allclose(run.values("time"), 0.1 * np.arange(101), rtol=0, atol=1e-12)


# surfaces that the state crosses -----------------------------------------------------------------------------------------


def thrown(damping=0.0, stiffness=1e5):
    """A block of 1 kg, thrown upward at 10 m/s, below a stop at 5 m."""
    stop = joint_element("stop", "stop", lower=-np.inf, upper=5.0, stiffness=stiffness, damping=damping)
    return make(("prismatic", (0, 0, 1)), gravity=(0, 0, -G), given_v=[10.0], elements=(stop,))


def height(t, stiffness=1e5, limit=5.0, v=10.0):
    """At a time after it has left the stop: up, half a period of the spring with gravity as a load, and down again."""
    speed = np.sqrt(v**2 - 2 * G * limit)
    w = np.sqrt(stiffness)
    meet = (v - speed) / G
    contact = (np.pi + 2 * np.arctan(-G / (w * speed))) / w
    fall = t - meet - contact
    return limit - speed * fall - G * fall**2 / 2


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_stop_is_not_stepped_over(method):
    """Free flight is a parabola, on which steps could be as long as one likes; it ends at -19.776 m instead of -14.145 m."""
    assert height(3.0) == pytest.approx(-19.7757965, abs=1e-6)
    run = bc.simulate(thrown(), 3.0, step=3.0, method=method)
    assert run.values("q")[-1, 0] == pytest.approx(height(3.0), abs=1e-6)
    assert run.settings["steps"] < 100
    assert run.energy_error < 1e-9


@pytest.mark.parametrize("method", ADAPTIVE)
def test_no_lane_steps_over_a_stop(method):
    """Lanes at 10 and 11 m/s meet it, at different times; those at 9 and 5 m/s do not."""
    speeds = np.array([10.0, 9.0, 11.0, 10.0, 5.0])
    runs = bc.simulate_many(thrown(), 3.0, step=3.0, v=speeds[:, None], method=method)
    expected = [height(3.0, v=v) if v**2 > 2 * G * 5 else v * 3 - G * 4.5 for v in speeds]
    np.testing.assert_allclose(runs.q.values[:, -1, 0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("method", "accuracy"), [("rk4", 1e-3), ("midpoint4", 1e-5), ("gauss4", 1e-5)])
@pytest.mark.filterwarnings("ignore:.*divided steps")
def test_fixed_steps_are_cut_at_a_stop(method, accuracy):
    """Steps of 1 ms; contact lasts 10 ms."""
    run = bc.simulate(thrown(), 3.0, step=0.1, max_step=1e-3, method=method)
    assert run.values("q")[-1, 0] == pytest.approx(height(3.0), abs=accuracy)
    assert run.settings["steps"] < 3020


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_stiff_methods_step_over_neither(method):
    run = bc.simulate(thrown(), 3.0, step=3.0, method=method)
    assert run.values("q")[-1, 0] == pytest.approx(height(3.0), abs=1e-5)
    assert bc.simulate(pushed(), 10.0, step=10.0, method=method).values("v")[-1, 0] == pytest.approx(
        area(pulse(100.0)), rel=1e-6
    )


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_damped_stop_begins_with_a_jump_of_its_force(method):
    run = bc.simulate(thrown(50.0), 3.0, step=3.0, method=method)
    reference = bc.simulate(thrown(50.0), 3.0, step=3.0, method="dop853", max_step=1e-5)
    np.testing.assert_allclose(run.values("q")[-1], reference.values("q")[-1], rtol=0, atol=2e-6)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_stop_that_is_grazed_twice_in_a_step_is_met(method):
    """The apex is 1 mm beyond the limit: in and out again within any step of free flight."""
    limit = 10.0**2 / (2 * G) - 1e-3
    stop = joint_element("stop", "stop", lower=-np.inf, upper=limit, stiffness=1e5, damping=0.0)
    model = make(("prismatic", (0, 0, 1)), gravity=(0, 0, -G), given_v=[10.0], elements=(stop,))
    run = bc.simulate(model, 3.0, step=3.0, method=method)
    assert run.values("q")[-1, 0] == pytest.approx(height(3.0, limit=limit), abs=1e-5)


def test_stops_far_away_cost_no_steps():
    far = joint_element("stop", "stop", lower=-100.0, upper=100.0, stiffness=1e5, damping=0.0)
    free = make(HINGE_Y, center=[[0, 0, -1.0]], gravity=(0, 0, -G), given_q=[1.0])
    stopped = make(HINGE_Y, center=[[0, 0, -1.0]], gravity=(0, 0, -G), given_q=[1.0], elements=(far,))
    for method in EXPLICIT:
        counts = [bc.simulate(m, 10.0, step=1.0, max_step=0.01, method=method).settings for m in (free, stopped)]
        assert counts[0]["evaluations"] == counts[1]["evaluations"]
        assert counts[0]["steps"] == counts[1]["steps"]


@pytest.mark.parametrize("limits", [{"upper": 0.5}, {"lower": -0.7, "upper": 0.5}])
def test_a_stop_on_the_joint_at_which_a_loop_is_cut_is_not_stepped_over(limits):
    """A parallelogram without weight turns at a constant rate: 10 s to the stop, and as fast back, 20 s after the start."""
    m = bc.Mechanism("parallelogram", gravity=(0, 0, 0))
    m.rod("crank", (0, 0, 0), (0, 0, 1), mass=1.0)
    m.rod("coupler", (0, 0, 1), (2, 0, 1), mass=1.0)
    m.rod("rocker", (2, 0, 0), (2, 0, 1), mass=1.0)
    m.joint("A", "revolute", "ground", "crank", point=(0, 0, 0), axis="y")
    m.joint("B", "revolute", "crank", "coupler", point=(0, 0, 1), axis="y")
    m.joint("C", "revolute", "coupler", "rocker", point=(2, 0, 1), axis="y", cut=True)
    m.joint("D", "revolute", "ground", "rocker", point=(2, 0, 0), axis="y")
    m.stop("buffer", "C", 1e6, **limits)
    m.start("A", v=0.05)
    run = bc.simulate(m.build(), 30.0, step=30.0)
    np.testing.assert_allclose(run.values("q")[-1, 0], -0.5, atol=1e-3)  # the contact takes a while
    np.testing.assert_allclose(run.values("v")[-1, 0], -0.05, rtol=1e-4)


def test_a_slow_contact_far_from_the_origin_is_not_lost_in_rounding():
    """At 100 km coordinates are known to 15 pm: the ball passes such a distance in 15 ns, over which no sign changes."""
    m = bc.Mechanism("far", gravity=(0, 0, 0))
    m.sphere("ball", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "ball", point=(0, 0, 0), axis="z")
    m.contact("floor", "ball", (0, 0, 0), 100.0, plane=("ground", (0, 0, 1e5), "z"), law="linear")
    run = bc.simulate(m.build(), 3.0, step=0.5, q=[1e5 + 1e-3], v=[-1e-3], max_steps=1000)
    left = 1.0 + np.pi / 10
    assert run.values("v")[-1, 0] == pytest.approx(1e-3, rel=1e-4)
    assert run.values("q")[-1, 0] - 1e5 == pytest.approx(1e-3 * (3.0 - left), abs=1e-7)
