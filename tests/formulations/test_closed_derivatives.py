"""Derivatives of the accelerations of closed mechanisms, against what the reference says of neighbouring states."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

from .. import closed_reference as ref
from ..closed_states import allowed, displaced, flowing, settled
from ..closed_table import case

NAMES = ["loops that share bodies", "loops on driven bases", "driven closures", "four-bar of hinges", "spatial ladder"]


@pytest.fixture(scope="module", params=NAMES)
def moved(request):
    """Model, state, the reference's answer, and the derivatives."""
    model, state, expected = case(request.param)
    given = {name: state[name] for name in ("tau", "t", "inputs")}
    dynamics = bc.compile(
        model, optimisation=3 if request.param == NAMES[0] else 0
    )  # one in code for lanes that LLVM has worked hard on
    return model, state, expected, dynamics.jacobians(state["q"], state["v"], **given)


def change(model, state, expected, name, k):
    """Of the accelerations, with one more unit of an effort or an input, in which they are linear."""
    more = np.array(state[name])
    more[k] += 1.0
    return (ref.closed(model, state | {name: more}).a - expected.a).astype(float)


def test_unit_efforts_accelerate_a_closed_mechanism(moved):
    model, state, expected, found = moved
    wanted = np.array([change(model, state, expected, "tau", k) for k in range(model.nv)]).T
    np.testing.assert_allclose(found.dtau, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_inputs_act_on_joints_of_the_tree_and_on_closing_joints(moved):
    model, state, expected, found = moved
    wanted = np.array([change(model, state, expected, "inputs", k) for k in range(len(model.inputs))]).reshape(-1, model.nv).T
    np.testing.assert_allclose(found.dinputs, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max(initial=1.0))


def test_accelerations_change_along_the_closures_as_their_derivatives_say(moved):
    """Along states that keep all loops closed; by central differences of the reference, with an error of step^4."""
    model, state, _, found = moved
    q, v, t = state["q"], state["v"], state["t"]
    way = allowed(ref.constraints(model, q, v, t).G, np.random.default_rng(5).uniform(-1, 1, model.nv))

    def beside(h):
        near = settled(model, displaced(model, q, h * way), t)
        speed = flowing(model, near, v, t)
        return ref.closed(model, state | {"q": near, "v": speed}).a.astype(float), speed

    def slope(h):
        (after, v_after), (before, v_before) = beside(h), beside(-h)
        return (after - before - found.dv @ (v_after - v_before)) / (2 * h)

    wanted = (4 * slope(1e-3) - slope(2e-3)) / 3
    scale = np.abs(found.dq).max()
    np.testing.assert_allclose(found.dq @ way, wanted, rtol=0, atol=1e-7 * scale)
