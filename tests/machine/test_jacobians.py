"""Derivatives of the acceleration by dual numbers in machine code, against complex steps of the plain recursion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.formulations import FORMULATIONS
from bellcrank.machine.in_python import run_plain
from bellcrank.model.generators import chain
from bellcrank.plan import make_plan
from tests import mechanisms
from tests.mechanisms import moving

STEP = 1e-30  # its square vanishes: no error of truncation

MODELS = {
    "every joint free": mechanisms.every_joint_free,
    "every joint driven": mechanisms.every_joint_driven,
    "hinges": lambda: chain(4),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    model = MODELS[request.param]()
    dynamics, state = bc.compile(model, optimisation=0), moving(model, 3)
    return model, dynamics, state, dynamics.jacobians(**state)


def stepped(model, state, name, directions):
    """Derivatives along rows of directions, as columns."""
    plan = make_plan(model)
    given = {"q": state["q"], "v": state["v"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}
    columns = []
    for direction in directions:
        moved = given | {name: given[name] + 1j * STEP * direction}
        columns.append(np.imag(run_plain(FORMULATIONS["articulated_body"], plan, complex, **moved)["a"]) / STEP)
    return np.array(columns).reshape(len(directions), model.nv).T


def near(found, expected):
    """Of the largest entry; measured 2e-15."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max(initial=1e-300))


def test_by_position_along_what_velocities_do(case):
    """A quaternion moves by turns about the child's axes; a free body's origin along its own axes."""
    model, dynamics, state, found = case
    directions = [dynamics.rates(state["q"], e) for e in np.eye(model.nv)]
    near(found.dq, stepped(model, state, "q", directions))


def test_by_velocity(case):
    model, _, state, found = case
    near(found.dv, stepped(model, state, "v", np.eye(model.nv)))


def test_by_effort_it_is_the_inverse_mass_matrix(case):
    model, dynamics, state, found = case
    near(found.dtau, stepped(model, state, "tau", np.eye(model.nv)))
    M = dynamics.mass_matrix(state["q"], t=state["t"])
    np.testing.assert_allclose(found.dtau @ M, np.eye(model.nv), rtol=0, atol=1e-14 * np.linalg.cond(M))
    np.testing.assert_allclose(found.dtau, found.dtau.T, rtol=0, atol=1e-12 * np.abs(found.dtau).max())


def test_by_input(case):
    model, _, state, found = case
    near(found.dinputs, stepped(model, state, "u", np.eye(len(model.inputs))))
    assert found.dinputs.shape == (model.nv, len(model.inputs))


def test_the_time_of_the_derivative_is_heeded():
    """Driven joints are elsewhere later."""
    model = mechanisms.every_joint_driven()
    dynamics, state = bc.compile(model, optimisation=0), moving(model, 3)
    now, later = dynamics.jacobians(**state), dynamics.jacobians(**(state | {"t": 0.9}))
    assert np.abs(now.dtau - later.dtau).max() > 1e-3
    near(later.dv, stepped(model, state | {"t": 0.9}, "v", np.eye(model.nv)))


def test_they_are_the_same_by_every_formulation():
    model = mechanisms.every_joint_free()
    state = moving(model, 3)
    first = bc.compile(model, optimisation=0).jacobians(**state)
    other = bc.compile(model, "mass_matrix", optimisation=0).jacobians(**state)
    for found, expected in zip(other, first, strict=True):
        near(found, expected)


def test_a_pendulum_has_the_stiffness_of_its_weight():
    """a = -g/L sin q - c v/(m L^2): dq = -g/L cos q, dv = -c/(m L^2), dtau = 1/(m L^2)."""
    from tests.results.mechanisms import joint_element, pendulum

    model = pendulum(elements=(joint_element("drag", "damper", damping=0.4),))
    found = bc.compile(model).jacobians([0.3], [2.0])
    np.testing.assert_allclose(found.dq, [[-9.81 * np.cos(0.3)]], rtol=1e-14)
    np.testing.assert_allclose(found.dv, [[-0.4]], rtol=1e-14)
    np.testing.assert_allclose(found.dtau, [[1.0]], rtol=1e-14)
    assert found.dinputs.shape == (1, 0)


def test_what_cannot_move_has_empty_derivatives():
    from tests.results.mechanisms import make

    found = bc.compile(make("fixed")).jacobians([], [])
    assert [x.shape for x in found] == [(0, 0), (0, 0), (0, 0), (0, 0)]


def test_many_states_at_a_time_are_as_one_by_one():
    model = chain(3)
    dynamics, states = bc.compile(model), [moving(model, seed) for seed in (1, 2, 3)]
    q, v = (np.array([state[name] for state in states]) for name in "qv")
    many = dynamics.jacobians(q, v)
    assert [x.shape for x in many] == [(3, 3, 3), (3, 3, 3), (3, 3, 3), (3, 3, 0)]
    for k in range(3):
        for found, expected in zip(many, dynamics.jacobians(q[k], v[k]), strict=True):
            np.testing.assert_array_equal(found[k], expected)


@pytest.mark.parametrize("name", ["four_bar", "excavator"])
def test_with_loops_they_are_those_of_the_formulations_own_acceleration(name):
    """Also off the closures, against differences of it; measured 3e-9 of the largest."""
    model = bc.load(name)
    dynamics, rng, h = bc.compile(model, optimisation=0), np.random.default_rng(0), 1e-6
    q, v = model.initial_q + 0.01 * rng.normal(size=model.nq), model.initial_v + 0.1 * rng.normal(size=model.nv)
    found, steps = dynamics.jacobians(q, v), h * np.eye(model.nv)
    for exact, ways in ((found.dq, (q + steps, q - steps, v, v)), (found.dv, (q, q, v + steps, v - steps))):
        pair = [
            dynamics.acceleration(np.broadcast_to(a, steps.shape), np.broadcast_to(b, steps.shape))
            for a, b in ((ways[0], ways[2]), (ways[1], ways[3]))
        ]
        difference = (pair[0] - pair[1]).T / (2 * h)
        np.testing.assert_allclose(exact, difference, rtol=0, atol=1e-6 * np.abs(difference).max())


def frame(per_side):
    """Hinged bars around a square, each exactly along an axis: a long loop, eliminated along its bars."""
    m, side = bc.Mechanism("frame", gravity=(0, -9.81, 0)), np.arange(per_side) / per_side
    corners = [(side, 0 * side), (1 + 0 * side, side), (1 - side, 1 + 0 * side), (0 * side, 1 - side)]
    points = [(x, y, 0.0) for xs, ys in corners for x, y in zip(xs, ys, strict=True)]
    bodies = ["ground", *(f"bar{k}" for k in range(1, len(points)))]
    for k, (name, start) in enumerate(zip(bodies[1:], points, strict=False)):
        m.rod(name, start, points[k + 1], mass=1.0 + 0.1 * k, radius=0.02)
        m.joint(f"hinge{k + 1}", "revolute", bodies[k], name, start, axis="z")
    m.joint("last", "revolute", "ground", bodies[-1], points[-1], axis="z", cut=True)
    return m.build()


def test_a_long_loop_of_bars_along_the_axes_has_derivatives():
    """The first bars leave nothing in equations across them, and the factor of these has a kink there: it is not what is
    differentiated. Measured 1e-8 beside differences."""
    model = frame(4)
    dynamics, h, n = bc.compile(model, optimisation=0), 1e-6, model.nv
    assert dynamics.plan.nodes.signatures[0].link
    q, v = np.zeros(n), np.random.default_rng(0).normal(size=n)
    ahead, back = (dynamics.acceleration(q + sign * h * np.eye(n), np.tile(v, (n, 1))) for sign in (1, -1))
    difference = (ahead - back).T / (2 * h)
    found = dynamics.jacobians(q, v).dq
    np.testing.assert_allclose(found, difference, rtol=0, atol=1e-7 * np.abs(difference).max())


def test_a_wrong_shape_is_refused():
    dynamics = bc.compile(chain(3))
    with pytest.raises(StateError, match=r"q has shape \(2,\)"):
        dynamics.jacobians(np.zeros(2), np.zeros(3))


def test_a_state_that_is_no_number_is_refused():
    dynamics = bc.compile(chain(3))
    with pytest.raises(StateError, match="v of 'joint2' is nan"):
        dynamics.jacobians(np.zeros(3), [0.0, np.nan, 0.0])


def test_armature_and_gravity_enter():
    model = chain(3)
    heavy = replace(model, armature=np.full(3, 0.5), gravity=np.array([1.0, 2.0, 3.0]))
    state = moving(heavy, 1)
    near(bc.compile(heavy).jacobians(state["q"], state["v"], state["tau"]).dq, stepped(heavy, state, "q", np.eye(3)))
