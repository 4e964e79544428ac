"""The midpoint rule for closed loops: order, closure, momenta, and no trend in the energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import Event
from bellcrank.errors import SimulationError, StateError
from bellcrank.joints import make_joint
from bellcrank.model import generators

pytestmark = pytest.mark.filterwarnings("ignore:.*the energy does not add up")  # in steps that are long on purpose


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


def test_momenta_of_a_floating_linkage_are_kept():
    model = floating_linkage()
    run = bc.simulate(model, 0.8, step=0.2, max_step=0.02, method="implicit_midpoint")
    dyn = bc.compile(model)
    linear, angular = dyn.momentum(run.values("q"), run.values("v"))
    assert np.ptp(linear, axis=0).max() < 1e-12
    assert np.ptp(angular, axis=0).max() < 1e-11
    assert np.ptp(run.values("q"), axis=0)[-1] > 0.1


def test_what_it_does_not_take_is_told():
    model = bc.load("four_bar")
    with pytest.raises(StateError, match="implicit_midpoint watches no events of models with closed loops"):
        bc.simulate(model, 1.0, method="implicit_midpoint", events=[Event("crank_pivot")])
    with pytest.raises(StateError, match=r"takes no joints with quaternions in the tree \(hip"):
        bc.simulate(with_ball(), 1.0, method="midpoint4")
    with pytest.raises(SimulationError, match="the equations of a step of 0.5 s cannot be solved"):
        bc.simulate(model, 5.0, step=0.5, method="implicit_midpoint")


def with_ball():
    model = generators.ladder(1)
    ball = make_joint("spherical")
    return replace(
        model,
        joint_names=("hip", *model.joint_names),
        body_names=("leg", *model.body_names),
        parents=(-1, *(-1 if p < 0 else p + 1 for p in model.parents)),
        joints=(ball, *model.joints),
        position=np.vstack([np.zeros(3), model.position]),
        mass=np.array([2.0, *model.mass]),
        center=np.vstack([[0.4, -0.1, 0.0], model.center]),
        inertia=np.concatenate([[0.3 * np.eye(3)], model.inertia]),
        armature=np.zeros(3 + model.nv),
        given_q=np.array([1.0, 0, 0, 0, *model.given_q]),
        given_v=np.zeros(3 + model.nv),
        closures=tuple(replace(c, body_a=c.body_a + 1, body_b=c.body_b + 1) for c in model.closures),
    )
