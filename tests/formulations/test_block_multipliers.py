"""Multipliers, reactions and powers of drives through the nodes of coordinate reduction: those of the dense formulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.dynamics.node_ranks import plan_nodes
from bellcrank.formulations import CLOSED, QUANTITIES, WITH_MULTIPLIERS
from bellcrank.machine.in_python import run_plain
from bellcrank.model import generators
from bellcrank.papers.operations import count_program
from bellcrank.plan import make_plan
from bellcrank.plan.nodes import blocks
from bellcrank.spatial.small import Combination

from ..closed_linkages import n_four_bar
from ..closed_states import moving
from ..closed_table import COUPLED, MECHANISMS, REDUNDANT, case

AGREEMENT = 1e-14  # of the largest effort, times the condition number; measured 3e-15


@pytest.fixture
def take_everything_apart(monkeypatch):
    monkeypatch.setattr(blocks, "LARGEST", 1)


def inputs(state):
    return {"q": state["q"], "v": state["v"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}


def planned(model, state):
    plan = make_plan(model)
    return replace(plan, nodes=plan_nodes(plan, state["q"], state["t"]))


def by_nodes(plan, state, dtype=float):
    a = run_plain(CLOSED["coordinate_reduction"], plan, dtype, **inputs(state))["a"]
    return np.array(run_plain(QUANTITIES["block_multipliers"], plan, dtype, a=a, **inputs(state))["lambda"])


def balance(name, found):
    """How far G^T lambda, which is unique, is from what the reference says, beside the condition number."""
    model, state, expected = case(name)
    G = np.array(run_plain(QUANTITIES["closure_jacobian"], make_plan(model), **inputs(state))["G"]).reshape(-1, model.nv)
    wanted = (expected.constraints.G.T @ expected.solution.multipliers).astype(float)
    amplification = max(expected.solution.amplification, expected.solution.multiplier_amplification)
    return np.abs(G.T @ found - wanted).max() / np.abs(wanted).max() / amplification


@pytest.mark.parametrize("name", MECHANISMS)
def test_multipliers_of_the_nodes_balance_the_equations_of_motion(name):
    model, state, _ = case(name)
    assert balance(name, by_nodes(planned(model, state), state)) < AGREEMENT


@pytest.mark.parametrize("name", [*COUPLED][:7] + ["four-bars in a row", "every closure twice"])
def test_blocks_that_are_taken_apart_find_the_same_efforts(name, take_everything_apart):
    model, state, _ = case(name)
    assert balance(name, by_nodes(planned(model, state), state)) < AGREEMENT


def test_extended_numbers_give_more_digits():
    model, state, _ = case("loops that share bodies")
    plan = planned(model, state)
    a, b = by_nodes(plan, state), by_nodes(plan, state, np.longdouble)
    assert b.dtype == np.longdouble
    assert 0 < np.abs(a - b).max() < 1e-12 * np.abs(b).max()


ASKED = ("multipliers", "closure_reactions", "closure_powers", "closure_efforts")


def agree(model, state, states, rtol):
    """All that depends on multipliers, alone and in lanes, against the dense formulation."""
    ours, dense = bc.compile(model), bc.compile(model, "multipliers")
    for name in ASKED:
        expected = getattr(dense, name)(**state)
        np.testing.assert_allclose(getattr(ours, name)(**state), expected, rtol=0, atol=rtol * np.abs(expected).max(initial=1))
    batch = {key: np.array([s[key] for s in states]) for key in state}
    alone = np.array([ours.multipliers(**s) for s in states])
    np.testing.assert_allclose(ours.multipliers(**batch), alone, rtol=0, atol=rtol * np.abs(alone).max())
    given = {name: state[name] for name in ("tau", "t", "inputs")}
    at = (state["q"], state["v"], dense.acceleration(**state))
    for name in ("reactions", "drive_efforts"):
        expected = getattr(dense, name)(*at, **given)
        found = getattr(ours, name)(*at, **given)
        np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * np.abs(expected).max(initial=1))


def test_reactions_and_powers_are_those_of_the_dense_formulation():
    """In machine code, one state and lanes; of Bennett's linkage, where both give the multipliers of least norm."""
    model = case("Bennett").model
    states = [moving(model, 60 + k, reach=0.1, t=0.1 * k) for k in range(5)]
    agree(model, states[1], states, 1e-11)


def test_redundant_equations_of_a_block_that_is_taken_apart_get_least_norms_too(take_everything_apart):
    model, state, _ = case("parallelogram with more cranks")
    ours = bc.compile(model)
    assert ours.plan.nodes.redundant
    expected = bc.compile(model, "multipliers").multipliers(**state)
    np.testing.assert_allclose(ours.multipliers(**state), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", REDUNDANT)
def test_the_rank_of_all_closures_is_known(name):
    model, state, _ = case(name)
    G = np.array(run_plain(QUANTITIES["closure_jacobian"], make_plan(model), **inputs(state))["G"]).reshape(-1, model.nv)
    assert planned(model, state).nodes.rank == np.linalg.matrix_rank(G, tol=1e-8)


def test_one_kernel_gives_all_that_the_balance_of_energy_needs():
    """The powers of drives and closures beside the accelerations: as if asked one by one."""
    model, state, _ = case("driven closures on driven bases")
    plan = planned(model, state)
    whole = replace(WITH_MULTIPLIERS["coordinate_reduction"], scratch=())
    told = run_plain(whole, plan, **inputs(state))
    given = inputs(state) | {"lambda": by_nodes(plan, state)}
    drives = run_plain(QUANTITIES["closed_drives"], plan, **given, a=told["a"])["drive"]
    closing = run_plain(QUANTITIES["closing_reactions"], plan, **given)["closing"]
    np.testing.assert_allclose(told["lambda"], given["lambda"], rtol=1e-13)
    np.testing.assert_allclose(told["drive"], drives, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(told["closing"], closing, rtol=1e-11, atol=1e-11)


def test_a_longer_chain_of_loops_takes_as_many_operations_more_each_time():
    counts = [count_program(generators.ladder(N), QUANTITIES["block_multipliers"], "plane", True).total for N in (2, 3, 4)]
    assert counts[2] - counts[1] == counts[1] - counts[0] > 0


def test_a_long_chain_of_loops_agrees_with_the_dense_formulation():
    model = n_four_bar(12)
    state = moving(model, 2, reach=0.2)
    expected = bc.compile(model, "multipliers").multipliers(**state)
    np.testing.assert_allclose(bc.compile(model).multipliers(**state), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(("rows", "size"), [(2, 3), (2, 2), (3, 5), (1, 4)])
def test_a_vector_is_written_as_a_combination_of_rows(rows, size):
    rng = np.random.default_rng(rows)
    G, c = rng.standard_normal((rows, size)), rng.standard_normal(rows)
    np.testing.assert_allclose(Combination(G.tolist()).of(c @ G), c, rtol=1e-12)
