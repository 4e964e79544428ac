"""The midpoint rule for closed loops: order, closure, momenta, and no trend in the energy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import Event
from bellcrank.errors import SimulationError
from bellcrank.joints import make_joint
from bellcrank.machine.steps.implicit.carried import sum_and_rest
from bellcrank.model import generators
from bellcrank.model.builder import polynomial

pytestmark = pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # in steps that are long on purpose


def spatial_linkage():
    """A loop of hinges of general directions, closed by a ball, from rest."""
    return generators.spatial_ladder(1)


def floating_linkage():
    """A four-bar of equal bars that floats in the plane without gravity, its ground link on a planar joint."""
    model = generators.ladder(1)
    raft = make_joint("planar", axis=(0, 0, 1), axis2=(1, 0, 0))
    return replace(
        model,
        joint_names=("raft_joint", *model.joint_names),
        body_names=("raft", *model.body_names),
        parents=(-1, *(p + 1 for p in model.parents)),
        joints=(raft, *model.joints),
        position=np.vstack([np.zeros(3), model.position]),
        mass=np.array([2.0, *model.mass]),
        center=np.vstack([[0.4, -0.1, 0.0], model.center]),
        inertia=np.concatenate([[0.3 * np.eye(3)], model.inertia]),
        armature=np.zeros(3 + model.nv),
        gravity=np.zeros(3),
        given_q=np.zeros(3 + model.nv),
        given_v=np.array([0.3, -0.2, 0.8, 1.5, -1.5, 1.5]),
        closures=tuple(replace(c, body_a=c.body_a + 1, body_b=c.body_b + 1) for c in model.closures),
    )


@pytest.mark.parametrize(("method", "order"), [("implicit_midpoint", 2), ("midpoint4", 4)])
def test_the_error_shrinks_with_the_order(method, order):
    model, end = bc.load("four_bar"), 0.2
    exact = bc.simulate(model, end, step=end, method="dop853", rtol=1e-12, atol=1e-12).values("q")[-1]
    runs = [bc.simulate(model, end, step=end, max_step=h, method=method) for h in (0.02, 0.01)]
    errors = [np.abs(run.values("q")[-1] - exact).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("model", [bc.load("four_bar"), spatial_linkage()], ids=["planar", "spatial"])
def test_loops_stay_closed_to_rounding_and_the_energy_stays_near_its_start(model):
    """In steps so long that the energy swings by 4 % in the linkage in space; it comes back."""
    run = bc.simulate(model, 2.0, step=0.02, max_step=0.01, method="implicit_midpoint")
    energy = run.energy.total.values / float(run.energy.kinetic.max())
    assert float(np.abs(run.closure["closure"]).max()) < 1e-13
    assert float(np.abs(run.closure["closure_rate"]).max()) < 1e-12
    assert np.ptp(energy) < 5e-2
    assert run.settings["formulation"] == "canonical_momenta"


def test_a_step_forth_and_a_step_back_lead_to_the_start():
    """The method is symmetric: what drifts in one direction of time would drift in the other."""
    model = bc.load("four_bar")
    forth = bc.simulate(model, 1.0, step=1.0, max_step=0.01, method="implicit_midpoint")
    back = bc.simulate(
        model, 1.0, step=1.0, max_step=0.01, method="implicit_midpoint", q=forth.values("q")[-1], v=-forth.values("v")[-1]
    )
    np.testing.assert_allclose(back.values("q")[-1], forth.values("q")[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(back.values("v")[-1], -forth.values("v")[0], rtol=0, atol=1e-10)


def test_a_step_that_cannot_be_solved_is_told():
    with pytest.raises(SimulationError, match="the equations of a step of 0.5 s cannot be solved"):
        bc.simulate(bc.load("four_bar"), 5.0, step=0.5, method="implicit_midpoint")


@pytest.mark.parametrize(("method", "order"), [("implicit_midpoint", 2), ("midpoint4", 4)])
def test_times_of_events_have_the_order_of_the_method(method, order):
    """A velocity, which goes through momenta and their interpolation within a step."""
    model, event = bc.load("four_bar"), Event("rocker_pivot.v")
    exact = bc.simulate(model, 1.0, step=0.5, method="dop853", rtol=1e-11, atol=1e-11, events=[event])
    runs = [bc.simulate(model, 1.0, step=0.5, max_step=h, method=method, events=[event]) for h in (0.01, 0.005)]
    errors = [abs(run.crossings[0].time - exact.crossings[0].time) for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    assert runs[1].values("time")[-1] == runs[1].crossings[0].time  # where it stops
    assert float(np.abs(runs[1].closure["closure"]).max()) < 1e-13


def test_turns_that_a_crank_has_made_do_not_disturb_it():
    """Angles of 600,000 rad are rounded to 1e-10 rad. What rounding cuts off is carried from step to step: without that, the
    closures would answer to it, and the energy would wander by 3e-8 here."""
    model = bc.load("four_bar")
    turned = model.initial_q + 2e5 * np.pi * np.array([1.0, -1.0, 0.0])
    runs = [
        bc.simulate(model, 5.0, step=0.5, max_step=0.005, method="midpoint4", q=q, v=model.initial_v)
        for q in (model.initial_q, turned)
    ]
    one, other = (run.energy.total.values for run in runs)
    assert np.abs(one - other).max() / 25.0 < 2e-9


def test_a_sum_and_its_rest_are_exact():
    """Moller's summation, in rational numbers."""
    for start, step in np.random.default_rng(3).normal(size=(50, 2)) * [1e6, 1e-3]:
        found, rest = sum_and_rest(float(start), float(step))
        assert found == start + step
        assert Fraction(found) + Fraction(rest) == Fraction(float(start)) + Fraction(float(step))


def driven_with_a_ball():
    m = bc.Mechanism("pulled")
    m.body("bob", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("ball", "spherical", "ground", "bob", (0, 0, 1))
    m.distance("rope", ("ground", (1, 0, 0)), ("bob", (0.1, 0, 0)), motion=polynomial(0.9, 0.1))
    return m.build()


def pulled_chain():
    """Two rods that hang in the plane, a rope of prescribed length at the end of the second."""
    m = bc.Mechanism("pulled chain")
    for k, name in enumerate(("upper", "lower")):
        m.rod(name, (0, 0, -k), (0, 0, -k - 1), mass=1.0, radius=0.02)
        m.joint(f"hinge{k}", "revolute", ("ground", "upper")[k], name, (0, 0, -k), axis="y")
    m.distance("rope", ("ground", (1, 0, 0)), ("lower", (0, 0, -2)), motion=polynomial(5**0.5, -0.5))
    return m.build()


def test_a_floating_spatial_linkage_keeps_its_momenta_through_rotations():
    """The ground link of a four-bar on a free joint: a group step of its attitude between the pushes of the closures."""
    plane = floating_linkage()
    nv = plane.nv + 3
    q, v = np.zeros(nv + 1), np.array([0.3, -0.2, 0.1, 0.4, 0.5, 0.8, 1.5, -1.5, 1.5])
    q[3] = 1.0
    joints = (make_joint("free"), *plane.joints[1:])
    model = replace(plane, joints=joints, armature=np.zeros(nv), given_q=q, given_v=v)
    exact = bc.simulate(model, 0.2, step=0.2, method="dop853", rtol=1e-12, atol=1e-12).values("q")[-1]
    runs = [bc.simulate(model, 0.2, step=0.2, max_step=h, method="midpoint4") for h in (0.02, 0.01)]
    errors = [np.abs(run.values("q")[-1] - exact).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.15)
    run = bc.simulate(model, 0.8, step=0.1, max_step=0.02, method="implicit_midpoint")
    assert np.ptp(run.values("q"), axis=0)[-1] > 0.1
    momenta = np.hstack(bc.compile(model).momentum(run.values("q"), run.values("v")))
    assert np.ptp(momenta, axis=0).max() < 1e-13
    assert float(np.abs(run.closure["closure"]).max()) < 1e-13


def shaken_linkage():
    """A four-bar in the plane y-z on a table that is moved along y: of each closure two equations count, not the first two."""
    m = bc.Mechanism("shaken four-bar", gravity=(0, 0, -9.81))
    m.body("table", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.joint("shaker", "prismatic", "ground", "table", (0, 0, 0), axis="y", motion=polynomial(0, 0.3, 0.5))
    for name, start, end in (("crank", (0, 0), (0.5, 0)), ("coupler", (0.5, 0), (2, 1)), ("rocker", (2, 0), (2, 1))):
        m.rod(name, (0, *start), (0, *end), mass=1.0, radius=0.02)
    for name, parent, child, (y, z) in (
        ("a", "table", "crank", (0, 0)),
        ("b", "crank", "coupler", (0.5, 0)),
        ("d", "table", "rocker", (2, 0)),
        ("c", "coupler", "rocker", (2, 1)),
    ):
        m.joint(name, "revolute", parent, child, (0, y, z), axis="x")
    m.start("a", v=2.0)
    return m.build()


@pytest.mark.parametrize(
    ("model", "method", "order"),
    [(pulled_chain(), "midpoint4", 4), (shaken_linkage(), "implicit_midpoint", 2)],
    ids=["rope", "table"],
)
def test_prescribed_motions_keep_the_order_and_the_balance_of_energy(model, method, order):
    """Of a closure, whose work comes from its multiplier, and of a joint of the tree."""
    exact = bc.simulate(model, 0.2, step=0.2, method="dop853", rtol=1e-11, atol=1e-11).values("q")[-1]
    runs = [bc.simulate(model, 0.2, step=0.2, max_step=h, method=method) for h in (0.02, 0.01)]
    errors = [np.abs(run.values("q")[-1] - exact).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert np.log2(runs[0].energy_error / runs[1].energy_error) == pytest.approx(order, abs=0.3)
    assert float(np.abs(runs[1].closure["closure"]).max()) < 1e-13


def test_a_ball_in_the_tree_of_a_driven_closure():
    """Rotations go through the group between the pushes of a rope that is let out."""
    run = bc.simulate(driven_with_a_ball(), 0.2, step=0.1, max_step=0.01, method="implicit_midpoint")
    assert float(np.abs(run.closure["closure"]).max()) < 1e-14
    assert run.energy_error < 1e-7


def test_equations_are_chosen_as_the_base_of_planar_loops_turns():
    """The excavator slews by 73 degrees: no two components of the world serve its planar loops all the time."""
    run = bc.simulate(bc.load("excavator"), 8.0, step=0.5, max_step=0.01, method="implicit_midpoint")
    assert np.ptp(run.values("q")[:, 0]) > 1.2
    assert float(np.abs(run.closure["closure"]).max()) < 1e-12
    assert run.energy_error < 1e-5


BRACED = (
    bc.gallery()["four_bar"].read_text(encoding="utf-8")
    + """
[springs.brace]
joint = "crank_pin"
stiffness = 1e5
rest = 0.002
"""
)


def test_stiff_springs_do_not_stop_the_steps_of_closed_loops():
    """Fixed-point iterations cannot solve steps that are longer than a vibration; Newton's method does, and no energy is lost."""
    run = bc.simulate(bc.load(BRACED), 0.5, step=0.005, method="implicit_midpoint")
    energy = run.energy.total.values - run.energy.total.values[0]
    assert float(np.abs(run.closure["closure"]).max()) < 1e-13
    assert abs(energy[-50:].mean() - energy[:50].mean()) < 0.5 * np.ptp(energy) < 0.02 * float(run.energy.kinetic.max())
    assert run.settings["evaluations"] < 30 * run.settings["steps"]
