"""Hamilton's equations with closed loops: v, sigma and dp/dt from q and p, against the tree's and the closures' Jacobian."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.formulations import CANONICAL, QUANTITIES
from bellcrank.machine.in_python import run_plain
from bellcrank.model.generators import random_state

from ..closed_linkages import ladder, n_four_bar
from ..closed_table import ALL, case

STEP = 1e-30  # of derivatives along imaginary numbers

# A choice of the table: all 43 take minutes to compile. Over all of them, of the largest number compared, v is off by 1e-14,
# dp/dt by 3e-15 and G^T sigma by 3e-15; but the spatial ladder, near a singular position, by 6e-12.
SOME = [
    "coupler",
    "driven distance",
    "driven revolute",
    "loops on a floating base",
    "loops on driven bases",
    "every closure twice",
    "ladder of hinges",
    "Bennett",
]
AGREEMENT = 1e-11


class Momentum(NamedTuple):
    """A closed mechanism that moves, with impulses sigma in its closures, and what must follow from its momenta."""

    dynamics: Any
    state: dict[str, Any]  # q, p, tau, t, inputs
    v: Any
    pdot: Any
    impulse: Any  # G^T sigma


def plain(program, plan, dtype=float, **state):
    given = {"u" if name == "inputs" else name: np.atleast_1d(x) for name, x in state.items()}
    return {name: np.array(x) for name, x in run_plain(program, plan, dtype, **given).items()}


IN_MACHINE_CODE = ["driven distance", "ladder of hinges"]  # of the kind that time loops run; the others take plain numbers


@cache
def moving(mechanism):
    """dp/dt = dL/dq + tau + (dG/dt)^T sigma: the first two from the tree, G along the motion by an imaginary step."""
    found = case(mechanism)
    model, given = found.model, found.state
    dynamics = bc.compile(model, "canonical_momenta", optimisation=3 if mechanism in IN_MACHINE_CODE else 0)
    q, v, t = given["q"], given["v"], float(given.get("t", 0.0))
    state = {"q": q, "tau": given.get("tau", np.zeros(model.nv)), "t": t, "inputs": given.get("inputs", np.zeros(0))}
    momenta = dynamics.momenta(q, v, t=t)
    G = dynamics.closure_jacobian(q, t=t)
    state["p"] = momenta + G.T @ np.random.default_rng(1).normal(size=len(G))
    sigma = -plain(QUANTITIES["closed_impulses"], dynamics.plan, **state)["lambda"]
    tree = plain(CANONICAL["canonical_momenta:joint"], dynamics.plan, **state | {"p": momenta})
    along = {"q": q + 1j * STEP * dynamics.rates(q, v), "v": np.zeros(model.nv), "t": t + 1j * STEP}
    (rows,) = plain(QUANTITIES["closure_jacobian"], dynamics.plan, complex, **along).values()
    pdot = tree["pdot"] + (rows.imag / STEP).reshape(G.shape).T @ sigma
    return Momentum(dynamics, state, v, pdot, (G.T @ sigma, state["p"] - momenta))


def far(x, expected):
    return float(np.abs(np.asarray(x) - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))


@pytest.mark.parametrize("mechanism", SOME)
def test_closed_loops_in_canonical_form(mechanism):
    known = moving(mechanism)
    found = plain(CANONICAL["canonical_momenta"], known.dynamics.plan, **known.state)
    assert far(found["v"], known.v) < AGREEMENT
    assert far(found["pdot"], known.pdot) < AGREEMENT
    assert far(*known.impulse) < AGREEMENT


@pytest.mark.parametrize("mechanism", IN_MACHINE_CODE)
def test_closed_loops_in_canonical_form_in_machine_code(mechanism):
    """One state, and lanes: five states, so that lanes are filled once and a second block partly."""
    known = moving(mechanism)
    state = known.state
    rest = {name: state[name] for name in ("t", "inputs")}
    _, pdot = known.dynamics.canonical_rates(state["q"], state["p"], state["tau"], **rest)
    assert far(pdot, known.pdot) < AGREEMENT
    assert far(known.dynamics.velocities(state["q"], state["p"], t=state["t"]), known.v) < AGREEMENT
    q, p, tau = (np.tile(state[name], (5, 1)) for name in ("q", "p", "tau"))
    _, pdot = known.dynamics.canonical_rates(q, p, tau, **rest)
    assert far(pdot[-1], known.pdot) < AGREEMENT
    assert far(known.dynamics.velocities(q, p, t=state["t"])[-1], known.v) < AGREEMENT


def test_velocities_from_any_momenta_keep_the_loops_closed():
    model = n_four_bar(3)
    dynamics = bc.compile(model, "canonical_momenta")
    q = bc.assemble(model).q
    _, p = random_state(model, 1)
    v = dynamics.velocities(q, p)
    assert np.abs(v).max() > 1e-3
    _, rate = dynamics.closure(q, v)
    assert np.abs(rate).max() < 1e-13


@pytest.mark.filterwarnings("ignore:.*a run in momenta does not end its steps")  # at the ends of tables
@pytest.mark.parametrize("make", [lambda: bc.load("four_bar"), ALL["driven distance"]], ids=["four-bar", "driven distance"])
def test_runs_in_momenta_are_runs_in_velocities(make):
    """The same motion and works, at a tolerance of 1e-10; loops stay closed though only positions are projected."""
    model = make()
    runs = [bc.simulate(model, 0.1, step=0.05, rtol=1e-10, atol=1e-10, formulation=f) for f in ("auto", "canonical_momenta")]
    for quantity in ("q", "v", "work"):
        expected = runs[0].values(quantity)
        np.testing.assert_allclose(runs[1].values(quantity), expected, atol=1e-8 * max(1.0, np.abs(expected).max(initial=0.0)))
    assert np.abs(runs[1].values("closure_rate")).max() < 1e-12


def test_reactions_follow_from_momenta_whatever_part_of_them_the_closures_hold():
    model = ladder(2)
    dyn, rng = bc.compile(model, "canonical_momenta"), np.random.default_rng(0)
    q, v = dyn.projected(0.1 * rng.normal(size=model.nv), rng.normal(size=model.nv), steps=10)
    tau, push = rng.normal(size=model.nv), rng.normal(size=dyn.equations)
    p = dyn.momenta(q, v) + dyn.closure_jacobian(q).T @ push
    expected = dyn.reactions(q, v, dyn.acceleration(q, v, tau), tau=tau)
    np.testing.assert_allclose(dyn.canonical_reactions(q, p, tau), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_what_does_not_go_with_loops_is_told():
    model = ladder(2)
    with pytest.raises(StateError, match="for trees, not for closed loops"):
        bc.compile(model, "canonical_momenta", reference="origin")
    with pytest.raises(StateError, match="formulation 'canonical_momenta' or 'coordinate_reduction', not with 'multipliers'"):
        bc.compile(model, "multipliers").velocities(model.neutral_q, np.zeros(model.nv))


def test_impulses_of_the_loops_are_the_part_of_p_that_moves_nothing():
    """p = M v + G^T sigma; a tree has none, and the velocities are those without sigma."""
    model = bc.load("four_bar")
    dyn, q, v = bc.compile(model, optimisation=0), model.initial_q, model.initial_v
    sigma = np.array([0.3, -0.7, 0.2, 0.1, 0.4])
    p = dyn.momenta(q, v) + dyn.closure_jacobian(q).T @ sigma
    found = dyn.impulses(q, p)
    np.testing.assert_allclose(dyn.closure_jacobian(q).T @ found, dyn.closure_jacobian(q).T @ sigma, atol=1e-12)
    np.testing.assert_allclose(dyn.velocities(q, p), v, atol=1e-12)
    assert dyn.impulses(np.array([q, q]), np.array([p, p])).shape == (2, 5)
    assert bc.compile(bc.load("pendulum"), optimisation=0).impulses(np.zeros(1), np.zeros(1)).shape == (0,)
