"""dyn.sensitivity and dyn.acceleration of a design, at one state and at many; check_gradients."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError

NAMES = ["upper.mass", "knee.y", "upper.center.x", "gravity.y"]
Q, V = np.array([0.3, -0.5]), np.array([1.0, 2.0])


@pytest.fixture(scope="module")
def dynamics():
    model = bc.load("double_pendulum")
    return bc.compile(model, design=bc.Design(model, NAMES), optimisation=0)


def test_other_designs_need_no_other_code(dynamics):
    """One design for each state, against a model of each."""
    design = dynamics.planned.design
    p = design.start * np.array([[1.0] * 4, [1.2, 0.9, 1.1, 1.3], [0.8, 1.1, 1.0, 0.5]]) + [0.0, 0.01, 0.0, 0.0]
    found = dynamics.acceleration(Q, V, p=p)
    for row, values in zip(found, p, strict=True):
        np.testing.assert_allclose(row, bc.compile(design.model(values), optimisation=0).acceleration(Q, V), rtol=1e-12)
    np.testing.assert_allclose(dynamics.acceleration(Q, V, p=p[1]), found[1], rtol=1e-14)


def test_partial_and_total_derivatives(dynamics):
    """The total one is the partial one and what the state's change brings by the Jacobians."""
    rng = np.random.default_rng(0)
    dq, dv = rng.normal(size=(2, 4)), rng.normal(size=(2, 4))
    partial, total = dynamics.sensitivity(Q, V), dynamics.sensitivity(Q, V, dq=dq, dv=dv)
    J = dynamics.jacobians(Q, V)
    expected = partial.da + J.dq @ dq + J.dv @ dv
    np.testing.assert_allclose(total.da, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_allclose(total.a, dynamics.acceleration(Q, V), rtol=1e-13)
    many = dynamics.sensitivity([Q, 2 * Q], [V, V], dq=dq, dv=dv)
    np.testing.assert_allclose(many.da[0], total.da, rtol=1e-13)


def test_reactions_and_measures_have_derivatives(dynamics):
    """Against differences by the design; of a tree there are no multipliers."""
    design, found, h = dynamics.planned.design, dynamics.sensitivity(Q, V), 1e-6
    assert found.dlambda.shape == (0, 4)
    assert found.dreactions.shape == (2, 6, 4)
    for k in range(4):
        pair = []
        for sign in (1, -1):
            other = bc.compile(design.model(design.start + sign * h * np.eye(4)[k]), optimisation=0)
            pair.append(other.reactions(Q, V, other.acceleration(Q, V)))
        difference = (pair[0] - pair[1]) / (2 * h)
        np.testing.assert_allclose(found.dreactions[..., k], difference, rtol=0, atol=1e-6 * np.abs(difference).max())


def test_with_a_loop_multipliers_have_derivatives_by_both_formulations():
    """The wrenches are the same, whatever formulation finds them."""
    model = bc.load("quarter_car")
    names = [name for name in model.parameters if name.endswith((".mass", ".stiffness"))][:3]
    design = bc.Design(model, names)
    found = [
        bc.compile(model, formulation, design=design, optimisation=0).sensitivity(model.initial_q, model.initial_v)
        for formulation in ("coordinate_reduction", "multipliers")
    ]
    np.testing.assert_allclose(found[0].da, found[1].da, rtol=0, atol=1e-9 * np.abs(found[0].da).max())
    np.testing.assert_allclose(found[0].dlambda, found[1].dlambda, rtol=0, atol=1e-8 * np.abs(found[0].dlambda).max())


def door():
    """On two hinges, one above the other by h; its centre d aside."""
    m = bc.Mechanism("door")
    m.parameter("h", 2.0)
    m.parameter("d", 0.4)
    m.body("leaf", 2.0, ("=d", 0, 1.0), (0.5, 0.6, 0.2))
    m.joint("lower", "revolute", "ground", "leaf", (0, 0, 0), axis="z")
    m.joint("upper", "revolute", "ground", "leaf", (0, 0, "=h"), axis="z", cut=True)
    return m.build()


@pytest.mark.parametrize("formulation", ["coordinate_reduction", "multipliers"])
def test_hinges_that_share_a_load_share_what_it_changes_by(formulation):
    """Of least norm: f = m g d/(2 h), n = m g d/4 at the lower hinge. Also at another design than that of the model."""
    model = door()
    dyn = bc.compile(model, formulation, design=bc.Design(model, ["parameters.h", "parameters.d", "leaf.mass"]), optimisation=0)
    p = np.array([[2.0, 0.4, 2.0], [2.5, 0.3, 3.0]])
    found = dyn.sensitivity(model.initial_q, model.initial_v, p=p).dreactions[:, 0]
    for (h, d, m), slopes in zip(p, found, strict=True):
        force = 9.81 * np.array([-m * d / (2 * h**2), m / (2 * h), d / (2 * h)])
        moment = -9.81 * np.array([0.0, m / 4, d / 4])
        np.testing.assert_allclose(slopes[0], force, rtol=1e-12)
        np.testing.assert_allclose(slopes[4], moment, rtol=0, atol=1e-12)
        np.testing.assert_allclose(slopes[2], [0.0, 0.0, 9.81 / 2], rtol=0, atol=1e-12)


def test_what_takes_redundant_loops_apart_is_named():
    """Hinges that are not parallel hold each other; accelerations have derivatives all the same."""
    model = door()
    found = bc.compile(model, design=bc.Design(model, ["leaf.mass", "upper.axis.x"]), optimisation=0).sensitivity([0.3], [1.0])
    assert np.isfinite(found.da).all()
    with pytest.raises(StateError, match="a change of 'upper.axis.x' takes apart loops of 'door'"):
        _ = found.dlambda


def test_gradients_are_checked_by_a_complex_step():
    table = bc.check_gradients(bc.load("double_pendulum"), NAMES, Q, V)
    assert table.worst < 1e-12
    assert max(row.difference for row in table.rows) < 1e-6
    assert "upper.center.x" in str(table)


def test_what_cannot_be_asked_is_refused(dynamics):
    with pytest.raises(StateError, match="compiled without a design"):
        bc.compile(bc.load("double_pendulum"), optimisation=0).sensitivity(Q, V)
    with pytest.raises(StateError, match=r"dq has shape \(3, 4\)"):
        dynamics.sensitivity(Q, V, dq=np.zeros((3, 4)))
    with pytest.raises(StateError, match="p has 2 designs, and there are 3 states"):
        dynamics.acceleration(np.zeros((3, 2)), np.zeros((3, 2)), p=np.ones((2, 4)))
