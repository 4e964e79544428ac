"""Force elements on coordinates: closed forms, stored energies and powers, one slider or hinge at a time."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.forces import FORCES
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model import Element, Law, PrescribedMotion, Table
from bellcrank.model.element import ELEMENTS
from bellcrank.plan import make_plan
from tests.results.mechanisms import HINGE_Y, SLIDE_X, joint_element, make, polynomial

STEP = 1e-30  # of complex steps
INF = float("inf")

SPRING = joint_element("e", "spring", stiffness=3.0, rest=0.2, preload=0.7)
DAMPER = joint_element("e", "damper", damping=0.6)
FRICTION = joint_element("e", "friction", effort=2.0, velocity=0.1)
STOP = joint_element("e", "stop", lower=-0.5, upper=1.0, stiffness=50.0, damping=4.0)
EFFORT = joint_element("e", "effort", value=1.5)
TIMED = Element("e", "joint_effort", {"value": 9.0}, joint=0, table=Table((0.0, 1.0, 2.0), (1.0, 3.0, 0.0)))
INPUT = Element("e", "joint_input", {"gain": -2.0}, joint=0, input=1)


def slider(element):
    """1 kg: its acceleration is the effort."""
    return make(SLIDE_X, elements=(element,), inputs=("idle", "volts"))


def answer(element, q, v, t=0.0, inputs=(7.0, 0.3)):
    """Stored energy, power, effort; and the acceleration must be the effort, but for fused multiply-adds."""
    dynamics = bc.compile(slider(element))
    energy, power, effort = (float(x[0]) for x in dynamics.elements([q], [v], t=t, inputs=inputs))
    assert dynamics.acceleration([q], [v], t=t, inputs=inputs)[0] == pytest.approx(effort, rel=1e-15, abs=1e-15)
    return energy, power, effort


@pytest.mark.parametrize(
    ("element", "q", "v", "effort"),
    [
        (SPRING, 0.2, 5.0, 0.7),
        (SPRING, 1.2, 0.0, 0.7 - 3.0),
        (SPRING, -0.8, 0.0, 0.7 + 3.0),
        (DAMPER, 3.0, 2.0, -1.2),
        (DAMPER, 3.0, -2.0, 1.2),
        (FRICTION, 0.0, 0.1, -2.0 / np.sqrt(2)),
        (FRICTION, 0.0, 0.0, 0.0),
        (STOP, 0.3, 9.0, 0.0),
        (STOP, 1.1, 0.0, -5.0),
        (STOP, 1.1, 0.5, -7.0),
        (STOP, 1.1, -0.5, -3.0),
        (STOP, -0.6, 0.0, 5.0),
        (STOP, -0.6, -0.5, 7.0),
        (EFFORT, 4.0, -3.0, 1.5),
        (INPUT, 4.0, -3.0, -0.6),
    ],
)
def test_the_effort_is_what_the_element_says(element, q, v, effort):
    assert answer(element, q, v)[2] == pytest.approx(effort, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("v", [0.0, 0.3, -0.3, 8.0, -8.0])
@pytest.mark.parametrize("q", [-0.7, -0.5, 0.1, 1.0, 1.4])
@pytest.mark.parametrize("element", [SPRING, DAMPER, FRICTION, STOP, EFFORT, INPUT], ids=lambda e: e.kind)
def test_the_effort_is_the_slope_of_the_energy_and_the_rest_is_the_power(element, q, v):
    """effort v + d(stored)/dt = power, the stored energy by a complex step."""
    _, power, effort = answer(element, q, v)
    plan = make_plan(slider(element))
    told = run_plain(QUANTITIES["elements"], plan, complex, q=[q + 1j * STEP], v=[v], t=[0.0], u=[7.0, 0.3])["element"]
    slope = np.imag(complex(told[0])) / STEP
    assert effort * v + slope * v == pytest.approx(power, abs=1e-13)
    if element is SPRING:
        assert effort == pytest.approx(-slope, rel=1e-14) and power == 0.0


@pytest.mark.parametrize("v", np.linspace(-20, 20, 21))
def test_a_stop_pushes_and_never_pulls(v):
    """Out of the stop fast, the damper would pull: it lets go instead."""
    for q in (-0.9, -0.5001, 1.0001, 1.3):
        energy, power, effort = answer(STOP, q, v)
        assert effort * (1 if q < 0 else -1) >= 0
        assert energy > 0 and power <= 1e-15
    assert answer(STOP, 1.3, -20.0)[2] == 0.0
    assert answer(STOP, 0.999, v) == (0.0, 0.0, 0.0)


def test_a_stop_on_one_side_leaves_the_other_free():
    one = joint_element("e", "stop", lower=-INF, upper=1.0, stiffness=50.0, damping=4.0)
    assert answer(one, -1e6, -3.0) == (0.0, 0.0, 0.0)
    assert answer(one, 1.1, 0.0)[2] == pytest.approx(-5.0)
    other = joint_element("e", "stop", lower=0.0, upper=INF, stiffness=50.0, damping=4.0)
    assert answer(other, 1e6, 3.0) == (0.0, 0.0, 0.0)


def test_what_bounces_off_a_stop_without_damping_keeps_its_speed():
    stop = joint_element("e", "stop", lower=-INF, upper=1.0, stiffness=1e4, damping=0.0)
    run = bc.simulate(slider(stop), 2.0, step=0.1, v=[1.0], rtol=1e-11, atol=1e-11)
    assert run.values("v")[-1, 0] == pytest.approx(-1.0, abs=1e-8)
    half = np.pi / 100  # half an oscillation of sqrt(k/m) = 100 rad/s in the stop
    assert run.values("q")[-1, 0] == pytest.approx(1.0 - (2.0 - 1.0 - half), abs=1e-8)


@pytest.mark.parametrize("v", [1e-9, 0.03, 0.1, 1.0, 1e6])
def test_friction_is_odd_bounded_and_takes_energy(v):
    _, power, effort = answer(FRICTION, 0.0, v)
    _, same, back = answer(FRICTION, 0.0, -v)
    assert back == -effort and same == power < 0
    assert abs(effort) <= 2.0
    assert effort == pytest.approx(-2.0 * v / np.hypot(v, 0.1), rel=1e-14)


def test_friction_brings_a_slider_to_rest_where_coulomb_says():
    """v^2/(2 F) with F = 2 from v = 1, short of the smoothing: less than 1 % at a velocity of 0.001."""
    run = bc.simulate(slider(joint_element("e", "friction", effort=2.0, velocity=1e-3)), 1.0, v=[1.0], rtol=1e-8, atol=1e-8)
    assert run.values("q")[-1, 0] == pytest.approx(0.25, rel=0.01)
    assert abs(run.values("v")[-1, 0]) < 1e-7


def test_a_table_of_time_is_a_natural_spline():
    """Through (0, 1), (1, 3), (2, 0): second derivatives 0, m, 0 with 4 m = 6 ((0 - 3) - (3 - 1)), m = -7.5."""
    assert answer(TIMED, 0.0, 0.0, t=1.0)[2] == pytest.approx(3.0, rel=1e-15)
    assert answer(TIMED, 0.0, 2.0, t=0.5)[2] == pytest.approx((1 + 3) / 2 + 7.5 / 16, rel=1e-14)
    assert answer(TIMED, 0.0, 2.0, t=0.5)[1] == pytest.approx(2 * ((1 + 3) / 2 + 7.5 / 16), rel=1e-14)


def test_a_table_of_time_holds_its_ends_or_ends_the_run():
    held = Element("e", "joint_effort", {"value": 9.0}, joint=0, table=Table((0.0, 1.0, 2.0), (1.0, 3.0, 0.5), "clamp"))
    assert answer(held, 0.0, 1.0, t=5.0)[2] == 0.5 and answer(held, 0.0, 1.0, t=-1.0)[2] == 1.0
    short = "the table of force element 'e' goes from 0 to 2 s only: make it longer, or let it keep its last value"
    with pytest.raises(bc.DynamicsError, match=short):
        bc.compile(slider(TIMED)).acceleration([0.0], [0.0], t=2.001)
    for method in ("dopri5", "dop853", "rk4"):
        with pytest.raises(bc.SimulationError, match=rf"stopped at t = (2|1\.9\d*) s: {short}") as stop:
            bc.simulate(slider(TIMED), 3.0, step=0.1, method=method)
        run = stop.value.run
        assert run.values("time")[-1] == pytest.approx(2.0, abs=0.11) and np.isfinite(run.values("a")).all()
    many = bc.simulate_many(slider(TIMED), 3.0, step=0.1)
    assert many.status[0] == 1 and many.reached[0] == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("height", [0.5, 0.0], ids=["felt", "not felt by the hinge"])
def test_a_motion_whose_table_ends_says_so(height):
    """Also where the other joints would not notice, since their accelerations do not depend on it."""
    law = Law("table", (), Table((0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))
    model = make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((law,)), None), center=[[0, 0, 0], [0, 0, height]])
    short = "the table of the motion of joint 'j0' goes from 0 to 1 s only"
    with pytest.raises(bc.SimulationError, match=rf"stopped at t = \S+ s: {short}") as stop:
        bc.simulate(model, 2.0, step=0.1, v=[1.0])
    run = stop.value.run
    assert run.values("time")[-1] == pytest.approx(1.0, abs=1e-6 if height else 1.0)  # not felt: a long step, none of it kept
    assert np.isfinite(run.values("work")).all() and np.isfinite(run.values("positions")).all()
    if height:
        with pytest.raises(bc.DynamicsError, match=short):
            bc.compile(model).acceleration([0.0], [0.0], t=-0.1)


def test_elements_act_on_any_coordinate_of_a_joint():
    """A planar joint's third is its angle; a ball's efforts are about its own axes."""
    planar = ("planar", (0, 0, 1), (1, 0, 0))
    for dof in range(3):
        element = joint_element("e", "spring", dof=dof, stiffness=2.0, rest=0.0, preload=0.0)
        a = bc.compile(make(planar, elements=(element,))).acceleration([0.1, 0.2, 0.3], np.zeros(3))
        np.testing.assert_allclose(a, -2.0 * np.array([0.1, 0.2, 0.3]) * np.eye(3)[dof], atol=1e-15)
    ball = make("spherical", elements=(joint_element("e", "damper", dof=2, damping=2.0),))
    a = bc.compile(ball).acceleration([0.6, 0.0, 0.8, 0.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(a, [0.0, 0.0, -6.0], atol=1e-15)


def test_the_order_in_which_values_are_written_does_not_matter():
    for element in (SPRING, FRICTION, STOP):
        turned = Element("e", element.kind, dict(reversed(element.values.items())), joint=0)
        assert answer(turned, 1.3, 0.4) == answer(element, 1.3, 0.4)
    assert {kind: force.values for kind, force in FORCES.items()} == ELEMENTS


def test_nothing_acts_on_a_driven_joint():
    with pytest.raises(ModelError, match='joint "j0" is driven, so that nothing can act on it'):
        make(SLIDE_X, HINGE_Y, motions=(PrescribedMotion((polynomial(0, 1.0),)), None), elements=(DAMPER,))


def test_the_axis_of_a_motion_may_have_any_length_but_none():
    law = (polynomial(0.2, 0.5),)
    models = [
        make("spherical", HINGE_Y, motions=(PrescribedMotion(law, axis), None)) for axis in ((0.0, 0.0, 1.0), (0.0, 0.0, 4.0))
    ]
    one, other = (bc.compile(model).momentum([0.1], [0.0], t=0.7)[1] for model in models)
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ModelError, match="axis of its motion is .* Give a finite vector that is not zero"):
        make("spherical", HINGE_Y, motions=(PrescribedMotion(law, (0.0, 0.0, 0.0)), None))
