"""One table: every formulation, in every executor, on every mechanism, against references that share nothing with it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS
from bellcrank.machine.in_python import run_plain
from bellcrank.model.generators import random_state, random_tree
from bellcrank.plan import make_plan

from .. import reference
from .mechanisms import ALL_KINDS, MECHANISMS

# Of the largest acceleration. Measured on this table: 1.8e-13 about the origin (humanoid), 9e-14 by the mass matrix (long
# chain, condition number 1e4), 1.5e-14 by the others.
AGREEMENT = 1e-12


def compiled(model, formulation):
    name, _, option = formulation.partition(":")
    return bc.compile(model, name, reference=option or None)


def one_state(model, formulation, q, v, tau):
    return compiled(model, formulation).acceleration(q, v, tau)


def lanes(model, formulation, q, v, tau):
    """Six states, so that lanes are full once and partly filled once; the wanted one is in the second block."""
    others = [(*random_state(model, 90 + k), tau) for k in range(5)]
    return compiled(model, formulation).acceleration(*(np.array(x) for x in zip(*others, (q, v, tau), strict=True)))[-1]


def plain(model, formulation, q, v, tau, dtype=float):
    return run_plain(FORMULATIONS[formulation], make_plan(model), dtype, q=q, v=v, tau=tau)["a"]


def plain_extended(model, formulation, q, v, tau):
    return plain(model, formulation, q, v, tau, np.longdouble)


EXECUTORS = {"plain": plain, "plain extended": plain_extended, "one state": one_state, "lanes": lanes}


@cache
def case(mechanism):
    """A model, a state of order one, and two references: the mass matrix in full frames, and positions alone."""
    model = MECHANISMS[mechanism]()
    q, v = random_state(model, 1)
    tau = np.random.default_rng(2).uniform(-1, 1, model.nv)
    full = make_plan(model, "full")
    matrix = run_plain(FORMULATIONS["mass_matrix"], full, np.longdouble, q=q, v=v, tau=tau)["a"]
    return model, (q, v, tau), np.array(matrix), reference.dynamics(model, q, v).acceleration(tau)


def far(x, expected):
    return float(np.abs(np.asarray(x) - expected).max() / np.abs(expected).max())


A_FEW = ("humanoid", "free joints on moving bodies")
IN_MACHINE_CODE = {"articulated_body": tuple(MECHANISMS)}  # compiling takes time: the rest runs on plain numbers only
CASES = [
    (mechanism, formulation, executor)
    for mechanism in MECHANISMS
    for formulation in FORMULATIONS
    for executor in EXECUTORS
    if executor.startswith("plain") or mechanism in IN_MACHINE_CODE.get(formulation, A_FEW)
]


@pytest.mark.parametrize(("mechanism", "formulation", "executor"), CASES)
def test_every_formulation_gives_the_same_accelerations(mechanism, formulation, executor):
    model, state, matrix, positions = case(mechanism)
    a = EXECUTORS[executor](model, formulation, *state)
    assert far(a, matrix) < AGREEMENT
    assert far(a, positions) < AGREEMENT


@given(n=st.integers(1, 6), seed=st.integers(0, 10_000), free=st.booleans(), armature=st.booleans(), shuffle=st.booleans())
def test_any_tree_accelerates_as_its_positions_say(n, seed, free, armature, shuffle):
    """Rounding errors, 1e-16 a step over some 100 steps, grow by the amplification of the solve."""
    model = random_tree(n, seed, ALL_KINDS, free_root=free, armature=armature, shuffle=shuffle)
    if model.nv == 0:
        assert all(plain(model, formulation, [], [], []) == [] for formulation in FORMULATIONS)
        return
    q, v = random_state(model, seed)
    tau = np.random.default_rng(seed).uniform(-1, 1, model.nv)
    expected = reference.dynamics(model, q, v)
    a, limit = expected.acceleration(tau), 1e-13 * expected.amplification(tau)
    for formulation in FORMULATIONS:
        assert far(plain(model, formulation, q, v, tau), a) < limit, formulation


def test_full_frames_and_plane_frames_describe_the_same_mechanism():
    model, state, _, positions = case("branches in any order")
    for formulation in FORMULATIONS:
        a = run_plain(FORMULATIONS[formulation], make_plan(model, "full"), **dict(zip(("q", "v", "tau"), state, strict=True)))[
            "a"
        ]
        assert far(a, positions) < AGREEMENT


@pytest.mark.parametrize("mechanism", ["free joints on moving bodies", "chain of hinges"])
def test_a_batch_gives_every_state_what_it_gets_alone(mechanism):
    """Lanes do the same operations in the same order as one state; a fused multiply-add may round differently."""
    model = MECHANISMS[mechanism]()
    states = [random_state(model, seed) for seed in range(11)]
    q, v = (np.array(x) for x in zip(*states, strict=True))
    dynamics = bc.compile(model)
    alone = np.array([dynamics.acceleration(*state) for state in states])
    np.testing.assert_allclose(dynamics.acceleration(q, v), alone, rtol=0, atol=1e-13 * np.abs(alone).max())


def test_the_length_of_a_quaternion_does_not_matter():
    model = MECHANISMS["one free body"]()
    q, v = random_state(model, 4)
    long = q.copy()
    long[3:] *= 3.0
    dynamics = bc.compile(model)
    np.testing.assert_allclose(dynamics.acceleration(long, v), dynamics.acceleration(q, v), rtol=1e-13)
