"""Closed loops: every reference point in every executor, on every closed mechanism, against positions alone."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

import bellcrank as bc
from bellcrank.dynamics.node_ranks import plan_nodes
from bellcrank.formulations import CLOSED
from bellcrank.machine.in_python import run_plain
from bellcrank.plan import make_plan

from .. import closed_reference as ref
from ..closed_random import moving_mechanisms
from ..closed_states import displaced, moving
from ..closed_table import EACH_KIND, MECHANISMS, case
from .closed_forms import CLOSED_FORMS

EXAMPLES = int(os.environ.get("BELLCRANK_RANDOM", "8"))  # random mechanisms to try

# Of the largest acceleration or force, times the condition number of the problem (2 to 5e4 on these). Measured: 3e-16 about
# centroids and joints, 2e-15 about the origin (4e-15 on 150 other random mechanisms), 7e-16 for multipliers and wrenches.
AGREEMENT = 1e-14


def far(x, expected):
    expected = np.asarray(expected, dtype=float)
    return float(np.abs(np.asarray(x, dtype=float) - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))


@cache
def compiled(model, formulation, optimisation=3):
    name, _, option = formulation.partition(":")
    return bc.compile(model, name, reference=option or None, optimisation=optimisation)


def plain(model, formulation, state, dtype=float):
    given = {"q": state["q"], "v": state["v"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}
    plan = make_plan(model)
    if formulation == "coordinate_reduction":
        plan = replace(plan, nodes=plan_nodes(plan, state["q"], state["t"]))
    return run_plain(CLOSED[formulation], plan, dtype, **given)["a"]


def plain_extended(model, formulation, state):
    return plain(model, formulation, state, np.longdouble)


def one_state(model, formulation, state):
    return compiled(model, formulation).acceleration(**state)


@cache
def others(model, seed, count):
    return [moving(model, seed + k, reach=0.1, t=0.1 * k) for k in range(count)]


def lanes(model, formulation, state):
    """Six states, each with its own time and inputs; the wanted one is in the second block."""
    one, two = others(model, 50, 2)
    batch = {name: np.array([s[name] for s in [one, two, one, two, one, state]]) for name in state}
    return compiled(model, formulation).acceleration(**batch)[-1]


EXECUTORS = {"plain": plain, "plain extended": plain_extended, "one state": one_state, "lanes": lanes}


A_FEW = ("loops that share bodies", "driven closures on driven bases")
SOME = (*A_FEW, "guided points and a gear", "loops on a floating base", "driven closures", "every closure twice", "Bricard")
BOTH = (*A_FEW, "guided points and a gear", "every closure twice", "multi-dof joints close loops", "ladder of hinges")
IN_MACHINE_CODE = {  # compiling takes time: the rest runs on plain numbers only
    "coordinate_reduction": (*BOTH, "four-bars in a row"),
    "multipliers:joint": A_FEW,
    "multipliers:centroid": (),
    "multipliers:origin": A_FEW[:1],
}
CASES = [
    (name, formulation, executor)
    for name in MECHANISMS
    for formulation in CLOSED
    for executor in EXECUTORS
    if executor.startswith("plain") or name in IN_MACHINE_CODE[formulation]
]


@pytest.mark.parametrize(("name", "formulation", "executor"), CASES)
def test_closed_mechanisms_accelerate_as_their_positions_say(name, formulation, executor):
    model, state, expected = case(name)
    a = EXECUTORS[executor](model, formulation, state)
    assert far(a, expected.a) < AGREEMENT * expected.solution.amplification


@pytest.mark.parametrize("name", [*(name for name in SOME if name not in BOTH), "spatial ladder"])
def test_more_of_them_do_in_code_that_is_compiled_quickly(name):
    model, state, expected = case(name)
    a = compiled(model, "coordinate_reduction", optimisation=0).acceleration(**state)
    assert far(a, expected.a) < AGREEMENT * expected.solution.amplification


@pytest.mark.parametrize("formulation", CLOSED)
@pytest.mark.parametrize("name", EACH_KIND)
def test_every_kind_of_closure_holds(name, formulation):
    model, state, expected = case(name)
    assert far(plain(model, formulation, state), expected.a) < AGREEMENT * expected.solution.amplification


@given(mechanism=moving_mechanisms())
@settings(max_examples=EXAMPLES, derandomize=EXAMPLES == 8)
def test_any_closed_tree_accelerates_as_its_positions_say(mechanism):
    model, state = mechanism
    expected = ref.closed(model, state)
    for formulation in CLOSED:
        assert far(plain(model, formulation, state), expected.a) < AGREEMENT * expected.solution.amplification


@pytest.mark.parametrize("formulation", CLOSED)
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms(name, formulation):
    model, state, accelerations, wrenches = CLOSED_FORMS[name]()
    dynamics = compiled(model, formulation, optimisation=0)
    np.testing.assert_allclose(dynamics.acceleration(**state), accelerations, rtol=1e-12, atol=1e-12)
    if wrenches is not None:
        np.testing.assert_allclose(dynamics.closure_reactions(**state), wrenches, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module", params=[*SOME, "multi-dof joints close loops", "a slider, a screw and a weld close loops"])
def moved(request):
    """A mechanism in motion: model, dynamics, state, the reference's answer."""
    model, state, expected = case(request.param)
    return model, compiled(model, "multipliers", optimisation=0), state, expected


def rows(model):
    return [slice(a, b) for a, b in zip(model.closure_index, model.closure_index[1:], strict=False)]


def test_closed_loops_are_found_closed(moved):
    model, dynamics, state, _ = moved
    position, velocity = dynamics.closure(state["q"], state["v"], t=state["t"])
    assert position.shape == velocity.shape == (model.closure_index[-1],)
    assert np.abs(position).max() < 1e-13 and np.abs(velocity).max() < 1e-13


def test_the_jacobian_and_its_bias_are_those_of_the_positions(moved):
    """Closure by closure, and whatever axes complete a joint's axis to three: G^T G and G^T gamma do not depend on them."""
    model, dynamics, state, expected = moved
    G = dynamics.closure_jacobian(state["q"], t=state["t"])
    gamma = dynamics.closure_bias(state["q"], state["v"], t=state["t"])
    known = expected.constraints
    for own in rows(model):
        wanted, bias = known.G[own].astype(float), known.gamma[own].astype(float)
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(G[own].T @ G[own], wanted.T @ wanted, rtol=0, atol=1e-13 * scale**2)
        np.testing.assert_allclose(
            G[own].T @ gamma[own], wanted.T @ bias, rtol=0, atol=1e-13 * scale * max(1.0, np.abs(bias).max())
        )


INEXACT = ("prismatic", "screw")  # away from closure their last equation depends on the axes that complete the first


def test_errors_of_open_loops_are_distances_and_cosines(moved):
    """Away from closure: the errors of positions and velocities of each closure, as long as those of the reference."""
    model, dynamics, state, _ = moved
    rng = np.random.default_rng(3)
    q = displaced(model, state["q"], 0.1 * rng.uniform(-1, 1, model.nv))
    v = state["v"] + 0.1 * rng.uniform(-1, 1, model.nv)
    position, velocity = dynamics.closure(q, v, t=state["t"])
    known = ref.constraints(model, q, v, state["t"])
    for closure, own in zip(model.closures, rows(model), strict=True):
        if closure.joint is not None and (closure.joint.kind in INEXACT or closure.motion is not None):
            continue
        for found, wanted in ((position, known.position), (velocity, known.velocity)):
            assert np.linalg.norm(found[own]) == pytest.approx(float(np.sqrt((wanted[own] ** 2).sum())), rel=1e-11, abs=1e-14)


def test_multipliers_balance_the_equations_of_motion(moved):
    """G^T lambda, which is unique: M a + h - tau of the reference."""
    _, dynamics, state, expected = moved
    G = dynamics.closure_jacobian(state["q"], t=state["t"])
    found = G.T @ dynamics.multipliers(**state)
    wanted = expected.constraints.G.T @ expected.solution.multipliers
    assert far(found, wanted) < AGREEMENT * max(expected.solution.amplification, expected.solution.multiplier_amplification)


def test_wrenches_of_closures_are_those_of_virtual_work(moved):
    _, dynamics, state, expected = moved
    wanted, (unique, _) = expected.closure_wrenches().astype(float), expected.unique()
    found = dynamics.closure_reactions(**state)
    assert found.shape == wanted.shape
    scale = np.abs(expected.closure_wrenches(effort=True)).max(initial=1e-300)
    assert np.abs(found - wanted)[unique].max(initial=0.0) < AGREEMENT * expected.solution.multiplier_amplification * max(
        1.0, scale
    )


def test_reactions_of_the_tree_carry_the_loops(moved):
    _, dynamics, state, expected = moved
    wanted, (_, unique) = expected.joint_wrenches().astype(float), expected.unique()
    bare = expected.joint_reactions().astype(float)
    small = AGREEMENT * max(expected.solution.multiplier_amplification, expected.solution.amplification) * np.abs(wanted).max()
    given = {name: state[name] for name in ("tau", "t", "inputs")}
    a = expected.a.astype(float)
    for effort, known in ((True, wanted), (False, bare)):
        found = dynamics.reactions(state["q"], state["v"], a, effort=effort, **given)
        assert np.abs(found - known)[unique].max(initial=0.0) < small


@pytest.mark.parametrize("name", A_FEW)
def test_a_batch_gives_every_state_what_it_gets_alone(name):
    model = case(name).model
    states = [*others(model, 50, 2), *others(model, 60, 3)]
    batch = {key: np.array([s[key] for s in states]) for key in states[0]}
    dynamics = bc.compile(model)
    alone = np.array([dynamics.acceleration(**s) for s in states])
    np.testing.assert_allclose(dynamics.acceleration(**batch), alone, rtol=0, atol=1e-12 * np.abs(alone).max())


@pytest.mark.parametrize("name", ["loops that share bodies", "loops on a floating base", "driven closures"])
def test_the_order_of_closures_does_not_matter(name):
    model, state, expected = case(name)
    k = len(model.closures)
    turned = tuple(replace(e, closure=k - 1 - e.closure) if e.closure >= 0 else e for e in model.elements)
    other = replace(model, closures=model.closures[::-1], elements=turned)
    assert (
        far(bc.compile(other, optimisation=0).acceleration(**state), expected.a) < AGREEMENT * expected.solution.amplification
    )
