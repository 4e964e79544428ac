"""Hamilton's equations: momenta, their rates and reactions, against derivatives of the Lagrangian and accelerations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.formulations import CANONICAL, FORMULATIONS, QUANTITIES
from bellcrank.machine.in_python import InPython, run_plain
from bellcrank.machine.kernel import Kernel
from bellcrank.model.generators import pin_joint_chain, random_state, random_tree
from bellcrank.numbers import Dual
from bellcrank.papers.operations import count_program
from bellcrank.plan import make_plan

from ..mechanisms import every_joint_driven, every_joint_free, loaded_tree, moving
from .mechanisms import ALL_KINDS

STEP = 1e-30  # of derivatives along imaginary numbers, which have no cancellation
TURNS_AND_SLIDES = ("revolute", "prismatic", "screw", "cylindrical", "universal", "planar")  # v = dq/dt

LOADED = {"every joint free": every_joint_free, "every joint driven": every_joint_driven}

TREES = {name: program for name, program in CANONICAL.items() if not program.nodes}

# Of the largest number compared. Measured on every joint free and driven: 3e-15 about the joints, 6e-14 about the origin.
AGREEMENT = 1e-11


def far(x, expected):
    return float(np.abs(np.asarray(x) - expected).max(initial=0.0) / np.abs(expected).max(initial=1e-300))


def plain(program, model, dtype=float, **state):
    return {name: np.array(x) for name, x in run_plain(program, make_plan(model), dtype, **state).items()}


def lagrangian(model, q, v, t):
    """T - U from the energies of the bodies, without force elements."""
    rows = plain(QUANTITIES["energy"], model, complex, q=q, v=v, t=[t])["energy"].reshape(-1, 8)
    return rows[:, 0].sum() - rows[:, 1].sum()


def slope(function, x):
    """Derivatives by imaginary steps."""
    steps = np.eye(len(x)) * (1j * STEP)
    return np.array([function(x + step).imag / STEP for step in steps])


@settings(max_examples=15)
@given(n=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_momenta_and_their_rates_are_derivatives_of_the_lagrangian(n, seed):
    """p = dL/dv, dp/dt = dL/dq + tau, for all joints whose v is dq/dt."""
    model = random_tree(n, seed, TURNS_AND_SLIDES, armature=seed % 2 == 0)
    q, v = random_state(model, seed)
    tau = np.random.default_rng(seed).uniform(-1, 1, model.nv)
    p = plain(QUANTITIES["momenta"], model, q=q, v=v)["p"]
    assert far(p, slope(lambda x: lagrangian(model, q.astype(complex), x, 0.0), v.astype(complex))) < AGREEMENT
    expected = slope(lambda x: lagrangian(model, x, v.astype(complex), 0.0), q.astype(complex)) + tau
    for program in TREES.values():
        rates = plain(program, model, q=q, p=p, tau=tau)
        assert far(rates["v"], v) < AGREEMENT
        assert far(rates["pdot"], expected) < AGREEMENT


@settings(max_examples=15)
@given(n=st.integers(1, 6), seed=st.integers(0, 10_000), free=st.booleans())
def test_quasi_momenta_change_as_the_accelerations_say(n, seed, free):
    """Any joints: the rate of p along the motion, dp/dt = dp/dq q' + dp/dv a, by an imaginary step in time."""
    model = random_tree(n, seed, ALL_KINDS, free_root=free, armature=True)
    if model.nv == 0:
        return
    q, v = random_state(model, seed)
    tau = np.random.default_rng(seed).uniform(-1, 1, model.nv)
    a = plain(FORMULATIONS["articulated_body"], model, q=q, v=v, tau=tau)["a"]
    qdot = plain(QUANTITIES["rates"], model, q=q, v=v)["qdot"]
    p = plain(QUANTITIES["momenta"], model, complex, q=q + 1j * STEP * qdot, v=v + 1j * STEP * a)["p"]
    for program in TREES.values():
        rates = plain(program, model, q=q, p=p.real, tau=tau)
        assert far(rates["v"], v) < AGREEMENT * 10
        assert far(rates["pdot"], p.imag / STEP) < AGREEMENT * 10


@cache
def loaded(tree):
    """A model with all elements, free or driven joints: a state, accelerations, momenta and their rates along the motion."""
    model = LOADED[tree]()
    state = moving(model, 1)
    dynamics = bc.compile(model)
    a = dynamics.acceleration(**state)
    q, v, t = state["q"], state["v"], state["t"]
    qdot = dynamics.rates(q, v)
    p = plain(QUANTITIES["momenta"], model, complex, q=q + 1j * STEP * qdot, v=v + 1j * STEP * a, t=[t + 1j * STEP])["p"]
    return model, state, a, p.real, p.imag / STEP


def in_plain_numbers(model, formulation, state):
    given = {"q": state["q"], "p": state["p"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}
    rates = plain(TREES[formulation], model, **given)
    return rates["v"], rates["pdot"]


def in_longdouble(model, formulation, state):
    given = {"q": state["q"], "p": state["p"], "tau": state["tau"], "t": [state["t"]], "u": state["inputs"]}
    rates = plain(TREES[formulation], model, np.longdouble, **given)
    return rates["v"].astype(float), rates["pdot"].astype(float)


def in_one_state(model, formulation, state):
    name, _, reference = formulation.partition(":")
    dynamics = bc.compile(model, name, reference=reference)
    given = {name: state[name] for name in ("tau", "t", "inputs")}
    _, pdot = dynamics.canonical_rates(state["q"], state["p"], **given)
    return dynamics.velocities(state["q"], state["p"], t=state["t"]), pdot


def in_lanes(model, formulation, state):
    """Five states, so that lanes are filled once and a second block partly."""
    name, _, reference = formulation.partition(":")
    dynamics = bc.compile(model, name, reference=reference)
    many = {name: np.repeat(np.atleast_1d(x)[None], 5, axis=0) for name, x in state.items()}
    _, pdot = dynamics.canonical_rates(many["q"], many["p"], many["tau"], t=many["t"][:, 0], inputs=many["inputs"])
    return dynamics.velocities(many["q"], many["p"], t=many["t"][:, 0])[-1], pdot[-1]


EXECUTORS = {"plain": in_plain_numbers, "longdouble": in_longdouble, "one state": in_one_state, "lanes": in_lanes}


CASES = [
    (tree, formulation, executor)
    for tree in LOADED
    for formulation in TREES
    for executor in EXECUTORS
    if executor in ("plain", "longdouble") or formulation.endswith("joint")  # compiling takes time
]


@pytest.mark.parametrize(("tree", "formulation", "executor"), CASES)
def test_all_joints_and_forces_in_canonical_form(tree, formulation, executor):
    """With dampers, whose forces are known after the velocities, and prescribed motions, whose momentum remains in D."""
    model, state, _, p, pdot = loaded(tree)
    found_v, found_pdot = EXECUTORS[executor](model, formulation, state | {"p": p})
    assert far(found_v, state["v"]) < AGREEMENT
    assert far(found_pdot, pdot) < AGREEMENT


@pytest.mark.parametrize("tree", LOADED)
def test_reactions_come_from_momenta_too(tree):
    model, state, a, p, _ = loaded(tree)
    dynamics = bc.compile(model, "canonical_momenta")
    given = {name: state[name] for name in ("t", "inputs")}
    expected = dynamics.reactions(state["q"], state["v"], a, **given)
    assert far(dynamics.canonical_reactions(state["q"], p, state["tau"], **given), expected) < AGREEMENT
    with_effort = dynamics.reactions(state["q"], state["v"], a, effort=True, **given)
    assert far(dynamics.canonical_reactions(state["q"], p, state["tau"], effort=True, **given), with_effort) < AGREEMENT


@settings(max_examples=10)
@given(n=st.integers(1, 7), seed=st.integers(0, 10_000), driven=st.sampled_from([0.0, 0.5]))
def test_velocities_go_to_momenta_and_back(n, seed, driven):
    model = loaded_tree(n, seed, driven=driven)
    if model.nv == 0:
        return
    state = moving(model, seed)
    p = plain(QUANTITIES["momenta"], model, q=state["q"], v=state["v"], t=[state["t"]])["p"]
    back = plain(QUANTITIES["velocities"], model, q=state["q"], p=p, t=[state["t"]])["v"]
    assert far(back, state["v"]) < 1e-10  # momenta of light bodies beside heavy ones lose digits


def test_the_momentum_of_a_tree_is_its_mass_matrix_times_its_velocity():
    model = random_tree(6, 4, ALL_KINDS, free_root=True, armature=True)
    q, v = random_state(model, 2)
    dynamics = bc.compile(model)
    assert far(dynamics.momenta(q, v), dynamics.mass_matrix(q) @ v) < 1e-13


def test_operations_on_the_pin_joint_chain_are_at_most_the_papers():
    """Naudet, table 1: 363n - 475. Additions and multiplications; a division, and a sine with its cosine, a body apart."""
    for gravity, expected in ((True, (342, -515)), (False, (311, -488))):
        counts = [count_program(pin_joint_chain(n), TREES["canonical_momenta:joint"], "plane", gravity) for n in (4, 5, 12, 13)]
        for n, count in zip((4, 5, 12, 13), counts, strict=True):
            assert count.total == expected[0] * n + expected[1]
            assert count.total <= 363 * n - 475
        assert counts[1].minus(counts[0])[2:] == (1, 1)


def test_code_does_not_grow_with_the_number_of_bodies():
    plans = [make_plan(pin_joint_chain(n)) for n in (5, 50)]
    rows = {Kernel(plan, QUANTITIES["velocities"], 1).code.facts.work_row for plan in plans}
    assert len(rows) == 1


def test_what_is_wrong_is_named():
    model = pin_joint_chain(2)
    with pytest.raises(StateError, match=r"reference=.centroid. is unknown: use 'joint' or 'origin'"):
        bc.compile(model, "canonical_momenta", reference="centroid")
    with pytest.raises(StateError, match="p has shape"):
        bc.compile(model).velocities([0.0, 0.0], [1.0])


def test_dual_numbers_carry_derivatives_along():
    """d(dp/dt)/dq, by dual numbers and by imaginary steps."""
    model = random_tree(4, 7, TURNS_AND_SLIDES, armature=True)
    q, v = random_state(model, 1)
    plan = make_plan(model)
    p = plain(QUANTITIES["momenta"], model, q=q, v=v)["p"]
    given = {"q": Dual.seeds(list(q)), "p": list(p), "tau": [0.0] * model.nv}
    program = CANONICAL["canonical_momenta:joint"]
    found = np.array([x.tangents for x in InPython(plan, program, given).run()["pdot"]])
    columns = [
        plain(program, model, complex, q=q + 1j * STEP * e, p=p, tau=np.zeros(model.nv))["pdot"].imag / STEP
        for e in np.eye(model.nq)
    ]
    assert far(found, np.array(columns).T) < AGREEMENT
