"""Forces by formulas, tables and Python functions, and one-sided elements: against closed forms, power against energy."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import QUANTITIES
from bellcrank.io.native.writer import dumps
from bellcrank.machine.in_python import run_plain
from bellcrank.machine.steps.cuts.kinks import kink_times
from bellcrank.model import Element, Table
from bellcrank.numbers import less, select, sin, sqrt
from bellcrank.plan import make_plan
from bellcrank.run.checks.jumps import jumping
from tests.forces.test_body_forces import state, two_bodies
from tests.growth import counted_calls

FORMULATIONS = ["articulated_body", "reference_point", "mass_matrix", "canonical_momenta"]


def arm(effort, **more):
    """A pendulum about y with a motor."""
    m = bc.Mechanism("arm", duration=1.0, inputs=["push"], gravity=(0, 0, 0))
    m.parameter("A", 2.0)
    m.table("curve", [(-2, 1.0), (0, 0), (1, 2.0), (4, 3)], outside="clamp")
    m.table("map", x=[-3, 0, 2], y=[-2, 1], values=[[0, 1], [2, 3.5], [4, 5]], interpolation="cubic")
    m.rod("rod", (0, 0, 0), (1, 0, 0), mass=3.0)
    m.joint("hinge", "revolute", "ground", "rod", point=(0, 0, 0), axis="y")
    m.measure_position("tip", "rod", (1, 0, 0))
    m.motor("motor", "hinge", effort, **more)
    return m.build()


FORMULA = "=A*sin(t) + curve(hinge.q) + map(hinge.v, tip.x) + 3*push + if(tip.z < 0 and t > 0.5, 1, 2) - max(hinge.v, 0.2)**2"


def expected(model, q, v, t, push):
    """Torque over the inertia m L^2 / 3 of a rod."""
    curve, grid = (dict(model.signals[0].tables)[name] for name in ("curve", "map"))
    x, z = math.cos(q), -math.sin(q)
    torque = 2 * math.sin(t) + curve(q) + grid(v, x) + 3 * push + (1 if z < 0 and t > 0.5 else 2) - max(v, 0.2) ** 2
    return torque


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_formula_over_time_inputs_coordinates_measures_and_tables(formulation):
    model = arm(FORMULA)
    dyn = bc.compile(model, formulation=formulation)
    states = np.random.default_rng(1).uniform(-1, 1, (6, 2))
    found = dyn.acceleration(states[:, :1], states[:, 1:], t=0.7, inputs=[0.2])  # in lanes
    torques = [expected(model, q, v, 0.7, 0.2) for q, v in states]
    np.testing.assert_allclose(found[:, 0], torques, rtol=1e-12)
    (q, v), plan = states[0], make_plan(model)
    plain = run_plain(QUANTITIES["elements"], plan, q=[q], v=[v], t=[0.7], u=[0.2])["element"]
    np.testing.assert_allclose(plain, [0.0, torques[0] * v, torques[0]], rtol=1e-12, atol=1e-15)


def test_derivatives_of_formulas_are_exact():
    dyn = bc.compile(arm(FORMULA))
    q, v, h = np.array([0.3]), np.array([0.4]), 1e-6
    J = dyn.jacobians(q, v, t=0.7, inputs=[0.2])
    a = [dyn.acceleration(q + s * h, v, t=0.7, inputs=[0.2])[0] for s in (-1, 1)]
    b = [dyn.acceleration(q, v + s * h, t=0.7, inputs=[0.2])[0] for s in (-1, 1)]
    np.testing.assert_allclose([J.dq[0, 0], J.dv[0, 0]], [(a[1] - a[0]) / (2 * h), (b[1] - b[0]) / (2 * h)], rtol=1e-7)


def test_a_python_function_is_the_formula_that_it_computes():
    def torque(angle, t, A):
        rate = sqrt(1.0 + angle * angle)
        return select(less(angle, 0.0), -A * rate, A * sin(t)) + rate**3

    recorded = bc.Function(torque, angle="hinge.q")
    model = arm(recorded)
    for q in (-0.4, 0.6):
        a = bc.compile(model).acceleration([q], [0.0], t=0.3)
        np.testing.assert_allclose(a, torque(q, 0.3, 2.0), rtol=1e-14)
    again = bc.load(dumps(model))  # as a formula
    np.testing.assert_allclose(bc.compile(again).acceleration([0.6], [0.0], t=0.3), torque(0.6, 0.3, 2.0), rtol=1e-14)


def test_components_of_a_force_and_an_actuator_between_points():
    """The power of an actuator is its tension times how fast it shortens."""
    m = bc.Mechanism("block", gravity=(0, 0, 0))
    m.sphere("ball", (1, 0, 0), 0.1, mass=2.0)
    m.joint("path", "prismatic", "ground", "ball", point=(1, 0, 0), axis="x")
    m.force("wind", "ball", (1, 0, 0), ("=3*path.q", 0, "=t"))
    m.actuator("ram", ("ground", (0, 0, 0)), ("ball", (1, 0, 0)), "=10 - path.v")
    dyn = bc.compile(m.build())
    a = dyn.acceleration([0.5], [0.25], t=1.0)
    np.testing.assert_allclose(a, [(1.5 - 9.75) / 2])
    energy, power, force = dyn.elements([0.5], [0.25], t=1.0)
    np.testing.assert_allclose([*energy, *power, force[1]], [0, 0, 1.5 * 0.25, -9.75 * 0.25, 9.75])


# one-sided elements -------------------------------------------------------------------------------------------------------

ENDS = {"body_a": 0, "body_b": 1, "point_a": (0.3, 0.0, 0.1), "point_b": (-0.2, 0.4, 0.0)}
AXES = ((0.36, 0.48, 0.8), (-0.8, 0.6, 0.0), (-0.48, -0.64, 0.6))
CONTACT = {"stiffness": 40.0, "radius": 0.9, "exponent": 1.5, "damping": 0.3, "linear": 0.0, "friction": 0.6, "velocity": 0.02}
CONTACT |= {"cylinder": 0.3, "inside": 0.0}
SPRING = {"stiffness": 30.0, "damping": 0.7}
TYRE = {"radius": 2.0, **SPRING, "friction": 0.4, "velocity": 0.05, "traction": 0.2}
ROAD = Table((-3.0, -1.0, 0.5, 2.0, 4.0), (0.0, 0.3, -0.2, 0.4, 0.0), "clamp", "pchip")
ELEMENTS = {
    "pulls": Element("e", "one_sided_spring", SPRING | {"length": 0.2, "side": 1.0}, **ENDS),
    "pushes": Element("e", "one_sided_spring", SPRING | {"length": 2.0, "side": -1.0}, **ENDS),
    "slack": Element("e", "one_sided_spring", SPRING | {"length": 2.0, "side": 1.0}, **ENDS),
    "stop below": Element("e", "point_stop", SPRING | {"lower": 1.5, "upper": 3.0}, **ENDS),
    "stop above": Element("e", "point_stop", SPRING | {"lower": 0.1, "upper": 0.2}, **ENDS),
    "plane": Element("e", "plane_contact", CONTACT, **ENDS, axes=AXES),
    "plane, linear": Element("e", "plane_contact", CONTACT | {"linear": 1.0, "exponent": 1.0}, **ENDS, axes=AXES),
    "cylinder": Element("e", "cylinder_contact", CONTACT, **ENDS, axes=AXES),
    "tube": Element("e", "cylinder_contact", CONTACT | {"inside": 1.0, "cylinder": 1.0}, **ENDS, axes=AXES),
    "tyre": Element("e", "tyre", TYRE, **ENDS, axes=AXES, table=ROAD),
    "flat tyre": Element("e", "tyre", TYRE, **ENDS, axes=AXES),
    "actuator": Element("e", "actuator", {"force": 3.0}, **ENDS),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_power_of_every_element_is_that_of_its_forces_and_what_it_stores(name):
    """Two free bodies of unit mass and inertia: what their accelerations do is d(kinetic)/dt = power - d(stored)/dt."""
    model = two_bodies(ELEMENTS[name])
    q, v = state()
    dyn = bc.compile(model)
    plan, h = make_plan(model), 1e-30
    rates = dyn.rates(q, v)
    stepped = run_plain(QUANTITIES["elements"], plan, dtype=complex, q=q + 1j * h * rates, v=v)["element"]
    _, power, force = run_plain(QUANTITIES["elements"], plan, q=q, v=v)["element"]
    a = dyn.acceleration(q, v)
    np.testing.assert_allclose(a @ v, power - stepped[0].imag / h, rtol=1e-12, atol=1e-12)
    assert (force == 0) == (name == "slack") and (name == "slack" or abs(a).max() > 0.01)
    p = np.concatenate([_turned(q[7 * k + 3 : 7 * k + 7], a[6 * k : 6 * k + 3])[:, None] for k in range(2)], axis=1).sum(axis=1)
    bias = sum(
        np.cross(
            _turned(q[7 * k + 3 : 7 * k + 7], v[6 * k + 3 : 6 * k + 6]), _turned(q[7 * k + 3 : 7 * k + 7], v[6 * k : 6 * k + 3])
        )
        for k in range(2)
    )
    np.testing.assert_allclose(p + bias, 0.0, atol=1e-12)  # the third law: d(v)/dt in body axes, and w x v
    np.testing.assert_allclose(dyn.elements(q, v)[2], force, rtol=1e-12)


def _turned(quaternion, x):
    w, *u = quaternion
    return x + 2 * np.cross(u, np.cross(u, x) + w * np.asarray(x))


def dropped(**contact):
    m = bc.Mechanism("ball", duration=10.0)
    m.sphere("ball", (0, 0, 0), 0.1, mass=1.0)
    m.joint("fall", "prismatic", "ground", "ball", point=(0, 0, 0), axis="z")
    m.contact("floor", "ball", (0, 0, 0), 1e5, radius=0.1, plane=("ground", (0, 0, -5.1), "z"), **contact)
    return m.build()


@pytest.mark.filterwarnings("ignore:midpoint4 divided steps")
@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4", "bdf", "dopri5 in momenta", "midpoint4"])
def test_a_ball_that_bounces_comes_back_to_its_height(method):
    """However long the steps of free flight are: 10 s with 5 bounces; fixed steps are a tenth of the contact."""
    options = {"max_step": 5e-4} if method in ("rk4", "midpoint4") else {}
    options |= {"formulation": "canonical_momenta"} if method.endswith("momenta") else {}
    run = bc.simulate(dropped(), 10.0, step=0.01, method=method.split()[0], **options)
    assert run.values("q").max() < 1e-3 and run.energy_error < (1e-4 if "max_step" in options else 1e-6)
    heights = run.values("q")[:, 0]
    tops = heights[1:-1][(heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:])]
    assert len(tops) == 4 and tops.min() > (-0.02 if method == "rk4" else -1e-3)


def test_lanes_bounce_as_single_runs_do():
    starts = [[0.0], [-1.0], [2.0], [0.5], [-3.0]]
    many = bc.simulate_many(dropped(), 4.0, step=4.0, v=starts)
    alone = [bc.simulate(dropped(), 4.0, step=4.0, v=v).values("q")[-1, 0] for v in starts]
    np.testing.assert_allclose(many.q.values[:, -1, 0], alone, rtol=1e-5)


@pytest.mark.parametrize(
    ("effort", "impulse"),
    [
        ("=if(t > 5 and t < 5.1, 50, 0)", 5.0),
        ("=50*step(t - 5)*step(5.1 - time)", 5.0),
        ("=max(0, 100*(0.05 - abs(t - 5.05)))", 0.25),
        ("=pulse(mod(t, 7))", 5.0),
        ("=50*exp(-((t - 5)/1e-4)**2)", 5e-3 * math.sqrt(math.pi)),  # smooth, of 0.2 ms
    ],
)
@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_pulses_of_formulas_are_not_stepped_over(effort, impulse, method):
    m = bc.Mechanism("s", gravity=(0, 0, 0))
    m.table("pulse", [(0, 0), (5, 0), (5.05, 100), (5.1, 0), (10, 0)], interpolation="linear")
    m.sphere("b", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "b", point=(0, 0, 0), axis="x")
    m.motor("m", "slide", effort)
    run = bc.simulate(m.build(), 10.0, step=10.0, method=method)
    off = 1e-9 if method == "dopri5" else 1e-8  # errors of 200 steps
    np.testing.assert_allclose(run.values("v")[-1], impulse, rtol=1e4 * off if "exp" in effort else off)


@pytest.mark.parametrize("options", [{}, {"method": "bdf"}, {"formulation": "canonical_momenta"}], ids=str)
def test_a_force_that_turns_round_at_a_place_does_so_there(options):
    """1 m/s^2 up to 3 m and -1 beyond: there at sqrt(6) s, back after twice that, then 10 - 3 sqrt(6) s more."""
    m = bc.Mechanism("s", gravity=(0, 0, 0))
    m.sphere("b", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "b", point=(0, 0, 0), axis="x")
    m.motor("m", "slide", "=if(slide.q > 3, -1, 1)")
    run = bc.simulate(m.build(), 10.0, step=10.0, **options)
    np.testing.assert_allclose(run.values("v")[-1], 10 - 4 * math.sqrt(6), rtol=1e-6)


PULSE = [[0, 0], [50, 0], [50.1, 100], [50.2, 100], [50.3, 0], [1000, 0]]  # 20 J


def flying():
    """1 kg at 10 m/s along x, with nothing around it."""
    m = bc.Mechanism("flying", gravity=(0, 0, 0))
    m.sphere("ball", (0, 0, 0), 0.1, mass=1.0)
    m.joint("slide", "prismatic", "ground", "ball", point=(0, 0, 0), axis="x")
    m.start("slide", v=10.0)
    return m


EVEN = [(method, curve, PULSE) for method in ("dopri5", "dop853", "radau", "many") for curve in ("pchip", "linear")]
ODD = [(method, "pchip", [*PULSE, [2000, 0]]) for method in ("dopri5", "many")]


@pytest.mark.parametrize(("method", "interpolation", "rows"), EVEN + ODD)
def test_a_pulse_over_a_coordinate_is_not_stepped_over(method, interpolation, rows):
    """Free flight takes steps of seconds; the pulse takes 0.03 s of them, and gives 20 J."""
    m = flying()
    m.table("push", rows, interpolation=interpolation, outside="clamp")
    m.motor("thrust", "slide", "=push(slide.q)")
    if method == "many":
        last = bc.simulate_many(m.build(), 10.0, step=10.0).v.values[0, -1, 0]
    else:
        last = bc.simulate(m.build(), 10.0, step=10.0, method=method).values("v")[-1, 0]
    np.testing.assert_allclose(last, math.sqrt(100 + 2 * 20), rtol=1e-6)


@pytest.mark.parametrize(("method", "call"), [("radau", "push(slide.q, t)"), ("many", "push(t, slide.q)")])
def test_a_pulse_in_a_table_of_two_arguments_is_not_stepped_over(method, call):
    """The same pulse, at all times."""
    m, (x, y) = flying(), np.array([*PULSE[:-1], [100, 0]], dtype=float).T
    both, values = ((x, (0, 100)), np.array([y, y]).T) if call.startswith("push(slide.q") else (((0, 100), x), [y, y])
    m.table("push", x=both[0], y=both[1], values=values, outside="clamp")
    m.motor("thrust", "slide", f"={call}")
    model = m.build()
    run = bc.simulate_many(model, 10.0, step=10.0) if method == "many" else bc.simulate(model, 10.0, step=10.0, method=method)
    np.testing.assert_allclose(np.ravel(run.v)[-1], math.sqrt(100 + 2 * 20), rtol=1e-6)


def test_a_pulse_of_a_spring_is_not_stepped_over():
    m = flying()
    m.line_spring("brake", ("ground", (-1, 0, 0)), ("ball", (0, 0, 0)), length=1.0, table=PULSE)
    np.testing.assert_allclose(bc.simulate(m.build(), 10.0, step=10.0).values("v")[-1], math.sqrt(100 - 2 * 20), rtol=1e-6)


def test_a_bump_far_down_a_flat_road_is_not_stepped_over():
    """Beside the same ride in short steps."""
    rows = np.array([[0, 0], [4, 0], [4.3, 0.06], [4.5, 0.06], [4.8, 0], [1000, 0]])
    text = bc.gallery()["bump"].read_text(encoding="utf-8")
    road = "road = [[0, 0], [4, 0], [4.3, 0.06], [4.5, 0.06], [4.8, 0], [100, 0]]"
    assert road in text
    far = (rows + [[0, 0], *[[400, 0]] * 4, [0, 0]]).tolist()
    model = bc.load(text.replace(road, f"road = {far}"))
    run, short = (bc.simulate(model, 51.0, step=0.25, max_step=h) for h in (None, 5e-3))
    assert np.ptp(run.values("q")[:, 1]) > 0.005
    np.testing.assert_allclose(run.values("q"), short.values("q"), atol=1e-6)


def test_a_cable_and_a_stop_hold_at_their_lengths():
    """A ball thrown up on a slack cable: it stops where m v^2 / 2 is the weight's work and the cable's energy."""
    m = bc.Mechanism("thrown", gravity=(0, 0, -10.0))
    m.sphere("ball", (0, 0, 1), 0.1, mass=1.0)
    m.joint("path", "prismatic", "ground", "ball", point=(0, 0, 1), axis="z")
    m.cable("rope", ("ground", (0, 0, 0)), ("ball", (0, 0, 1)), 1e4, length=3.0)
    m.line_stop("buffer", ("ground", (0, 0, 0)), ("ball", (0, 0, 1)), 1e4, lower=0.5)
    m.start("path", v=10.0)
    run = bc.simulate(m.build(), 3.0, step=1e-3)
    d = run.values("q").max() - 2.0
    np.testing.assert_allclose(50.0, 10 * (2.0 + d) + 0.5e4 * d * d, rtol=1e-3)
    e = -0.5 - run.values("q").min()
    np.testing.assert_allclose(50.0, 10 * (-0.5 - e) + 0.5e4 * e * e, rtol=1e-3)
    assert run.energy_error < 1e-6


def test_laws_of_motion_in_every_form_are_the_same_motion():
    times = np.linspace(0, 1, 201)

    def driven(motion):
        m = bc.Mechanism("s")
        m.rod("b", (0, 0, 0), (1, 0, 0), mass=1.0)
        m.joint("h", "revolute", "ground", "b", point=(0, 0, 0), axis="y", motion=motion)
        m.rod("c", (1, 0, 0), (2, 0, 0), mass=1.0)
        m.joint("k", "revolute", "b", "c", point=(1, 0, 0), axis="y")
        return bc.compile(m.build()).acceleration([0.1], [0.2], t=0.37)

    sine = driven({"amplitude": 0.3, "frequency": 1 / np.pi})
    for form in ("=0.3*sin(2*t)", lambda t: 0.3 * sin(2.0 * t), {"sum": [{"rate": 1.0}, {"rate": -1.0}, "=0.3*sin(2*time)"]}):
        np.testing.assert_allclose(driven(form), sine, rtol=1e-12)
    for form in ((times, 0.3 * np.sin(2 * times)), np.column_stack([times, 0.3 * np.sin(2 * times)])):
        np.testing.assert_allclose(driven(form), sine, rtol=1e-3)
    assert driven({"rate": 2.0}) == driven({"polynomial": [0.0, 2.0]})


def test_a_function_may_be_decorated_with_names_and_keeps_its_default_values():
    @bc.Function(angle="hinge.q")
    def pull(angle, gain=3.0, *, t):
        return -gain * angle + t

    assert pull.names == ("hinge.q", "t")
    m = bc.Mechanism("wheel", gravity=(0, 0, 0))
    m.body("wheel", 1.0, (0, 0, 0), (1.0, 1.0, 2.0))
    m.joint("hinge", "revolute", "ground", "wheel", (0, 0, 0), axis="z")
    m.motor("pull", "hinge", pull)
    assert bc.compile(m.build()).acceleration([0.4], [0.0], t=0.5) == pytest.approx([(-3.0 * 0.4 + 0.5) / 2.0])


@pytest.mark.parametrize(
    ("law", "told"),
    [
        ("=abs(t - 0.1)", "velocity .* jumps by 2 at t = 0.1 s"),
        ("=0.2*step(t - 0.1)", "coordinate .* jumps by 0.2 at t = 0.1 s"),
        ("=if(t < 0.1, 0, (t - 0.1)**2)", None),  # only its acceleration jumps
        ("=smoothstep(t, 0.05, 0.15)", None),
    ],
)
def test_a_prescribed_motion_that_jumps_is_told_since_its_impulse_is_missing(law, told):
    m = bc.Mechanism("cart", duration=0.2, step=0.1)
    m.body("cart", 1.0, (0, 0, 0), (1, 1, 1))
    m.rod("arm", (0, 0, 0), (0, 0, -1), mass=2.0, radius=0.02)
    m.joint("rail", "prismatic", "ground", "cart", (0, 0, 0), axis="x", motion=law)
    m.joint("hinge", "revolute", "cart", "arm", (0, 0, 0), axis="y")
    model = m.build()
    found = list(jumping(model, 0.0, 0.2))
    assert (told is None and not found) or (len(found) == 1 and re.search(f"the {told}", found[0]))
    assert [text for text in model.check().remarks if "jumps" in text] == found
    if told is not None:
        with pytest.warns(bc.BellcrankWarning, match=told):
            bc.simulate_many(model, 0.2, q=np.zeros((2, 1)))


def test_a_table_over_the_time_is_looked_through_once():
    """A control of a thousand values: the work before a run grows with their number, not with its square."""

    def look(count):
        rows = ", ".join(f"[{k}, {k % 3}]" for k in range(count))
        model = bc.load(f'{TIMED}[tables.control]\nrows = [{rows}]\ninterpolation = "linear"\n')
        return lambda: kink_times(model, 0.0, count - 1.0)

    few, many = look(50), look(100)
    assert len(many()) == 98  # all but both ends
    assert counted_calls(many) < 1.5 * counted_calls(few)


TIMED = """
format = 1
name = "driven"
[bodies.bob]
point_mass = { at = [0, 0, -1], mass = 1.0 }
[joints.hinge]
type = "revolute"
parent = "ground"
child = "bob"
point = [0, 0, 0]
axis = "y"
[motors.drive]
joint = "hinge"
effort = "=control(t)"
"""
