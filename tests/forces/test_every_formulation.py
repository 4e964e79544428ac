"""Every kind of force element in every formulation, of trees and of loops; and its power against the energy that it stores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.forces import FORCES
from bellcrank.formulations import QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.plan import make_plan

TREES = [
    {"formulation": "reference_point", "reference": "joint"},
    {"formulation": "reference_point", "reference": "centroid"},
    {"formulation": "reference_point", "reference": "origin"},
    {"formulation": "mass_matrix"},
    {"formulation": "canonical_momenta"},
]
LOOPS = [{"formulation": "multipliers"}, {"formulation": "canonical_momenta"}]
HINGES = {"tree": ("first", "second"), "loop": ("crank_pivot", "crank_pin")}


def tree():
    """Two arms, a slide and a ball."""
    m = bc.Mechanism("tree", gravity=(0, 0, -9.81), inputs=["push"])
    for k, x in enumerate((0.0, 0.8, 1.5, 1.9)):
        m.body(f"b{k + 1}", mass=1.0 + k, center=(x + 0.3, 0.1, 0.05 * k), inertia=(0.1, 0.2, 0.3))
    m.joint("first", "revolute", "ground", "b1", point=(0, 0, 0), axis="y")
    m.joint("second", "revolute", "b1", "b2", point=(0.8, 0, 0), axis=(0, 1, 1))
    m.joint("slide", "prismatic", "b2", "b3", point=(1.5, 0, 0), axis="x")
    m.joint("ball", "spherical", "b3", "b4", point=(1.9, 0, 0))
    m.spring("turn", "ball", 3.0)
    return m, ("b1", "b3")


def loop():
    """A four-bar in the x-y plane."""
    m = bc.Mechanism("loop", gravity=(0, -9.81, 0), inputs=["push"])
    points = {"A": (0, 0, 0), "B": (0.4, 0.3, 0), "C": (1.9, 1.1, 0), "D": (2, 0, 0)}
    for name, start, end in (("crank", "A", "B"), ("coupler", "B", "C"), ("rocker", "D", "C")):
        m.rod(name, points[start], points[end], mass=1.0, radius=0.05)
    m.joint("crank_pivot", "revolute", "ground", "crank", point=points["A"], axis="z")
    m.joint("crank_pin", "revolute", "crank", "coupler", point=points["B"], axis="z")
    m.joint("rocker_pin", "revolute", "coupler", "rocker", point=points["C"], axis="z")
    m.joint("rocker_pivot", "revolute", "ground", "rocker", point=points["D"], axis="z", cut=True)
    m.damper("closing", "rocker_pivot", 0.3)
    return m, ("crank", "coupler")


def add_elements(m, bodies, hinges):
    """One of each kind at least, all of them active at the states that are looked at."""
    (a, b), (first, second) = bodies, hinges
    ends = (("ground", (0.1, 0.2, 0.9)), (b, (1.2, 0.5, 0.1)))
    m.table("curve", [(-4, -1.0), (0, 0), (1, 2.0), (4, 3)], outside="clamp")
    m.spring("coil", first, 5.0, rest=0.2, preload=0.3)
    m.damper("oil", second, 0.4)
    m.friction("rub", first, 0.5, velocity=0.3)
    m.friction("bearing", second, 0.1, coefficient=0.2, radius=0.3, velocity=0.2)
    m.friction("grip", second, 4.0, stiffness=30.0, damping=0.2)
    m.stop("stop", first, 30.0, lower=-9.0, upper=-2.0, damping=0.1)
    m.motor("constant", first, 0.7)
    m.motor("formula", second, f"=2*sin({first}) + curve({second}.v) + z")
    m.motor("table", first, table=[(0, 1.0), (9, 4.0)])
    m.motor("input", second, input="push", gain=1.5)
    m.sum_spring("tendon", [first, second], [1.0, -0.6], 4.0)
    m.sum_damper("belt", [first, second], [0.5, 0.7], 0.2)
    m.line_spring("strut", *ends, 20.0, damping=0.6, length=0.4, preload=0.5)
    m.line_spring("pusher", *ends, 15.0, length=9.0, only="push")
    m.cable("rope", *ends, 12.0, damping=0.2, length=0.1)
    m.line_stop("bumper", *ends, 25.0, lower=0.0, upper=0.2, damping=0.3)
    m.actuator("ram", *ends, f"=3 + {first}.v")
    m.bushing("rubber", a, b, (1.0, 0.2, 0.0), stiffness=(5, 6, 7), damping=(0.1, 0.2, 0.3), turning_stiffness=(1, 2, 3))
    m.force("wind", b, (1.2, 0, 0), (1.0, f"={second}.v", 2.0), moment=(0.1, 0.2, 0.3), axes="body")
    m.contact("floor", b, (1.2, 0, 0), 8.0, radius=9.0, plane=("ground", (0, 0, 0), "y"), damping=0.1, friction=0.3)
    m.contact("pipe", b, (1.2, 0, 0), 8.0, radius=0.5, cylinder=("ground", (0, 0, 0), "z", 9.0), damping=0.1)
    m.tyre("tyre", b, (1.2, 0.3, 0), radius=9.0, stiffness=7.0, damping=0.2, friction=0.4, up="y", forward="x")
    m.state("z", f"={first}.v - 0.5*z", 0.2)
    return m.build()


@pytest.fixture(scope="module", params=["tree", "loop"])
def case(request):
    """Name, model, states and inputs: the push, the load of the bearing, and the anchor of friction that holds."""
    m, bodies = (tree if request.param == "tree" else loop)()
    model = add_elements(m, bodies, HINGES[request.param])
    rng = np.random.default_rng(7)
    if request.param == "tree":
        q, v = rng.uniform(-0.5, 0.5, (4, model.nq)), rng.uniform(-1, 1, (4, model.nv))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    else:
        dyn = bc.compile(model, optimisation=0)
        found = [bc.assemble(dyn, {"crank_pivot": x}, {"crank_pivot": s}) for x, s in ((-0.2, 1.0), (0.1, -2.0), (0.3, 0.7))]
        q, v = np.array([x.q for x in found]), np.array([x.v for x in found])
        v[:, -1] = rng.uniform(-1, 1, 3)
    return request.param, model, q, v, np.array([0.8, 3.0, 0.05])


def test_the_model_has_every_kind_of_element(case):
    name, model, *_ = case
    absent = set(FORCES) - {e.kind for e in model.elements}
    assert absent == ({"turning_spring"} if name == "loop" else set())


def test_all_formulations_agree(case):
    name, model, q, v, u = case
    wanted = bc.compile(model, optimisation=0).acceleration(q, v, t=2.0, inputs=u)
    for given in TREES if name == "tree" else LOOPS:
        found = bc.compile(model, optimisation=0, **given).acceleration(q, v, t=2.0, inputs=u)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_no_element_is_idle(case):
    """Else it would not have been compared."""
    _, model, q, v, u = case
    forces = bc.compile(model, optimisation=0).elements(q, v, t=2.0, inputs=u)[2]
    assert (np.abs(forces).max(axis=0) > 1e-3).all()


def test_the_power_of_each_element_is_that_of_its_forces_and_what_it_stores(case):
    """One element at a time: v . (its generalised forces) = power - d(stored)/dt; efforts by inverse dynamics, rates by a complex step."""
    _, model, q, v, u = case
    own, h = model.elements[model.force_count :], 1e-30
    moving = model.nv - len(own)
    rates = bc.compile(model, optimisation=0).rates(q, v)
    for e in model.elements[: model.force_count]:
        alone, without = (make_plan(replace(model, elements=(*some, *own))) for some in ((e,), ()))
        for at, speed, rate in zip(q, v, rates, strict=True):
            given = {"v": speed, "t": [2.0], "u": u}
            efforts = [
                run_plain(QUANTITIES["inverse_dynamics"], plan, q=at, a=np.zeros(model.nv), **given)["tau"]
                for plan in (without, alone)
            ]
            done = np.subtract(*np.array(efforts, dtype=float))[:moving] @ speed[:moving]
            stepped = run_plain(QUANTITIES["elements"], alone, dtype=complex, q=at + 1j * h * rate, **given)["element"]
            np.testing.assert_allclose(done, stepped[1].real - stepped[0].imag / h, rtol=1e-10, atol=1e-10, err_msg=e.name)


def test_powers_are_what_the_energy_changes_by(case):
    """d/dt (T + U + stored) = sum of the powers, along the motion: differences of fourth order, at constant inputs."""
    _, model, q, v, u = case
    dyn = bc.compile(model, optimisation=0)
    a = dyn.acceleration(q, v, t=2.0, inputs=u)
    rate, h = dyn.rates(q, v), 1e-4

    def energy(s):
        there, speed = q + s * rate, v + s * a
        stored = dyn.elements(there, speed, t=2.0 + s, inputs=u)[0].sum(axis=1)
        return sum(dyn.energy(there, speed)) + stored

    change = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    powers = dyn.elements(q, v, t=2.0, inputs=u)[1].sum(axis=1)
    np.testing.assert_allclose(change, powers, rtol=1e-6, atol=1e-6 * np.abs(powers).max())
