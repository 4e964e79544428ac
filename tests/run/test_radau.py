"""Radau IIA in machine code: its order, stiff motions, loops, rotations, stops, events, lanes; Newton's method with springs that
are far too stiff for iterations without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
from tests.analyses.mechanisms import any_tree, damper, element, spring
from tests.formulations.mechanisms import build

MODELS = Path(__file__).parents[2] / "models"
SLIDE = ("prismatic", (0, 0, 1))
HINGE = ("revolute", (0, 1, 0))
BALL = "spherical"


def last(run):
    return np.concatenate([run.values("q")[-1], run.values("v")[-1]])


def convergence(model, duration, tolerances, reference):
    """Slope of log(error) over log(mean step), at the end of runs of several tolerances."""
    runs = [bc.simulate(model, duration, step=duration, method="radau", rtol=tol, atol=tol) for tol in tolerances]
    errors = [np.abs(last(run) - reference).max() for run in runs]
    return np.polyfit(np.log([1.0 / run.settings["steps"] for run in runs]), np.log(errors), 1)[0], errors


def test_it_is_of_order_five():
    """The reference is dop853's at 1e-14; errors from 1e-6 to 1e-11 are far from rounding."""
    model = bc.load("pendulum")
    exact = last(bc.simulate(model, 1.0, step=1.0, method="dop853", rtol=1e-14, atol=1e-14))
    order, _ = convergence(model, 1.0, [1e-6, 1e-7, 1e-8, 1e-9, 1e-10], exact)
    assert order == pytest.approx(5.0, abs=0.4)


def follower():
    """A light mass that follows a slow oscillator on a spring of rate 1e6/s: Prothero & Robinson's problem as a mechanism."""
    elements = (spring(0, 10.0), spring(1, 1e8), damper(1, 1e3))
    return build([SLIDE, SLIDE], mass=[1.0, 1e-3], elements=elements, given_q=[0.1, 0.0])


def test_in_the_stiff_limit_the_order_falls_no_further_than_to_that_of_the_stages():
    """Stages are of order three; errors stay below the tolerance all the same."""
    model, tolerances = follower(), [1e-5, 1e-6, 1e-7, 1e-8]
    exact = last(bc.simulate(model, 1.0, step=1.0, method="radau", rtol=1e-12, atol=1e-12))
    order, errors = convergence(model, 1.0, tolerances, exact)
    assert order > 2.7 and (np.array(errors) < 10 * np.array(tolerances)).all()


def relaxing(c):
    """x'' = c (v/sqrt(v^2 + 0.09) - v) - x: pushed on at low speed, braked at high speed, as van der Pol's oscillator is."""
    push = element("push", "joint_friction", {"effort": -c, "velocity": 0.3}, joint=0, dof=0)
    return build([SLIDE], mass=[1.0], gravity=np.zeros(3), elements=(spring(0, 1.0), damper(0, c), push), given_v=[1.0])


def test_relaxation_oscillations_are_those_of_scipys_radau():
    """Slow ways along a branch, and jumps of the velocity at rates of 1000/s between them."""
    model, end = relaxing(1e3), 4000.0
    dyn, times = bc.compile(model), np.linspace(0, end, 41)
    run = bc.simulate(model, end, step=100.0, method="radau", rtol=1e-8, atol=1e-8)

    def slope(t, y):
        return np.concatenate([y[1:], dyn.acceleration(y[:1], y[1:])])

    def jacobian(t, y):
        J = dyn.jacobians(y[:1], y[1:])
        return np.array([[0.0, 1.0], [J.dq[0, 0], J.dv[0, 0]]])

    other = solve_ivp(slope, (0, end), [0.0, 1.0], method="Radau", jac=jacobian, t_eval=times, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.values("q")[:, 0], other.y[0], atol=1e-4)  # of 400 m
    assert other.y[1].max() > 0.3 and other.y[1].min() < -0.3  # it has jumped
    assert run.settings["steps"] < 2000


@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers", "canonical_momenta"])
def test_a_pendulum_with_its_rod_as_a_closure_moves_as_a_pendulum(formulation):
    """x^2 + z^2 = 1 of a mass on two slides, as an index-3 problem would have it: to the tolerance, with the rod kept."""
    text = """
format = 1
name = "mass on a rod"
[bodies.carriage]
mass = 0.0
center = [0, 0, 0]
inertia = [0, 0, 0]
[bodies.bob]
point_mass = { at = [1, 0, 0], mass = 1 }
[joints.across]
type = "prismatic"
parent = "ground"
child = "carriage"
point = [1, 0, 0]
axis = "x"
[joints.up]
type = "prismatic"
parent = "carriage"
child = "bob"
point = [1, 0, 0]
axis = "z"
[constraints.rod]
type = "distance"
from = { body = "ground", point = [0, 0, 0] }
to = { body = "bob", at = [0, 0, 0] }
[initial]
up = { v = 1.0 }
"""
    run = bc.simulate(bc.load(text), 2.0, step=0.1, method="radau", formulation=formulation)
    x, z = 1 + run.values("q")[:, 0], run.values("q")[:, 1]
    hinge = build([("revolute", (0, -1, 0))], center=[[1, 0, 0]], mass=[1.0], inertia=np.zeros((1, 3, 3)), given_v=[1.0])
    angle = bc.simulate(hinge, 2.0, step=0.1, method="dop853", rtol=1e-12, atol=1e-12).values("q")[:, 0]
    np.testing.assert_allclose(np.column_stack([x, z]), np.column_stack([np.cos(angle), np.sin(angle)]), atol=2e-8)
    assert np.abs(x**2 + z**2 - 1).max() < 1e-12 and run.energy_error < 1e-7


def test_every_joint_rotations_among_them_moves_as_by_dop853():
    """Newton's method works on displacements of joints with quaternions; few Jacobians show that theirs is exact."""
    model = any_tree(5)
    run = bc.simulate(model, 0.5, step=0.1, inputs=[0.7], method="radau")
    exact = bc.simulate(model, 0.5, step=0.1, inputs=[0.7], method="dop853", rtol=1e-12, atol=1e-12)
    for name in ("q", "v", "work"):
        known = exact.values(name)
        np.testing.assert_allclose(run.values(name), known, atol=2e-8 * max(1.0, np.abs(known).max()))
    many = bc.simulate_many(model, 0.5, step=0.1, inputs=[[0.7], [0.7], [0.1]], method="radau")
    np.testing.assert_allclose(many.q_values[0], exact.values("q"), atol=2e-8 * np.abs(exact.values("q")).max())


def test_loops_with_stiff_springs_take_few_steps_alone_and_in_lanes():
    """The four-bar with a bearing that damps at 1e4/s: the same motion by radau and, in lanes, from three speeds."""
    rust = '\n[dampers.rust]\njoint = "crank_pivot"\ndamping = 2e4\n'
    model = bc.load((MODELS / "four_bar.toml").read_text() + rust)
    run = bc.simulate(model, 0.2, step=0.02, method="radau")
    explicit = bc.simulate(model, 0.2, step=0.02, method="dopri5")
    np.testing.assert_allclose(run.values("q"), explicit.values("q"), atol=1e-7)
    assert run.settings["steps"] < explicit.settings["steps"] / 5 and run.closure_error[0] < 1e-12
    many = bc.simulate_many(model, 0.2, step=0.02, method="radau", v={"crank_pivot": [6.0, 5.0, 4.0]})
    assert (many.status == 0).all()
    np.testing.assert_allclose(many.q_values[0], run.values("q"), atol=1e-7)


def test_stops_and_pulses_end_its_steps():
    """A block thrown up against a stop, and a motor's pulse in a table: as dop853 has them, with the steps that it needs."""
    stop = """
[stops.ceiling]
joint = "rail"
lower = -100
upper = 5
stiffness = 1e5
damping = 0
"""
    block = """
format = 1
[bodies.block]
point_mass = { at = [0, 0, 0], mass = 1 }
[joints.rail]
type = "prismatic"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "z"
[initial]
rail = { v = 10.0 }
"""
    pulse = '[motors.kick]\njoint = "rail"\ntable = [[0, 0], [1.0, 0], [1.01, 50], [1.02, 0], [3, 0]]\n'
    model = bc.load(block + stop + pulse)
    events = [bc.Event("rail", 0.0, direction="down", then="mark")]
    runs = [bc.simulate(model, 2.0, method=method, events=events) for method in ("radau", "dop853")]
    np.testing.assert_allclose(*(run.values("q") for run in runs), atol=1e-6)
    times = [[crossing.time for crossing in run.crossings] for run in runs]
    assert len(times[0]) == 1 and times[0] == pytest.approx(times[1], abs=1e-7)


@pytest.mark.parametrize(("method", "evaluations"), [("implicit_midpoint", 8), ("midpoint4", 40), ("gauss4", 16)])
def test_very_stiff_springs_do_not_stop_methods_of_fixed_step(method, evaluations):
    """h^2 k/m = 1e5: iterations without a Jacobian would not converge. The energy is kept, by few evaluations a step."""
    model = build([SLIDE, HINGE], mass=[1.0, 1.0], elements=(spring(0, 1e9), spring(1, 1e8)), given_q=[1e-3, 1e-2])
    run = bc.simulate(model, 1.0, step=0.1, method=method, max_step=0.01)
    assert run.energy_error < 1e-8 and run.settings["evaluations"] < 100 * evaluations
    assert run.settings["jacobians"] < 30


@pytest.mark.parametrize("second", [SLIDE, BALL])
@pytest.mark.filterwarnings("ignore:tau or inputs are Python functions")
def test_stiff_controllers_in_python_are_taken_as_stiff_dampers_of_the_model_are(second):
    """Their slopes are part of the Jacobian: as many steps as with dampers; explicit methods take 10^5."""
    gain, width = 1e6, 1 if second is SLIDE else 3
    dampers = [damper(0, gain), *(damper(1, gain, dof) for dof in range(width))]
    given = {"mass": [1.0, 1.0], "center": [[0.1, 0, 0]] * 2, "given_v": [0.3] * (1 + width)}
    damped = build([HINGE, second], **given, elements=tuple(dampers))
    expected = bc.simulate(damped, 1.0, step=0.1, method="radau")
    for method in ("radau", "auto"):
        run = bc.simulate(build([HINGE, second], **given), 1.0, step=0.1, method=method, tau=lambda t, q, v: -gain * v)
        np.testing.assert_allclose(run.values("q"), expected.values("q"), rtol=0, atol=1e-9)
        assert run.settings["steps"] < 2 * expected.settings["steps"] + 20
        assert run.settings["methods"][-1][1] == "radau"


def test_a_motion_without_end_stops_with_the_joint_that_spoils_it():
    """A massless upper arm: nothing resists at the stretched position."""
    arrays = {"mass": [0.0, 1.0], "inertia": np.zeros((2, 3, 3)), "gravity": np.zeros(3), "given_q": [0.0, 1.0]}
    where = {"position": [[0, 0, 0], [1, 0, 0]], "center": [[0, 0, 0], [1, 0, 0]], "given_v": [0.0, -2.0]}
    model = build([("revolute", (0, 0, 1))] * 2, **arrays, **where)
    with pytest.raises(bc.SimulationError, match="radau would need a step below") as caught:
        bc.simulate(model, 1.0, method="radau", rtol=1e-6, atol=1e-6)
    assert 0.1 < caught.value.run.values("time")[-1] < 1.0
