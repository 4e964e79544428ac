"""Exact derivatives through the walk: dual numbers against a complex step of the same recursion."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.formulations import FORMULATIONS
from bellcrank.machine.in_python import InPython, run_plain
from bellcrank.model.generators import random_state, random_tree
from bellcrank.numbers import Dual
from bellcrank.plan import SLOTS, make_plan

from .mechanisms import ALL_KINDS

STEP = 1e-30  # its square vanishes: a complex step has no truncation error
PROGRAM = FORMULATIONS["articulated_body"]


@pytest.fixture(scope="module")
def case():
    model = random_tree(6, 8, ALL_KINDS, armature=True, shuffle=True)
    q, v = random_state(model, 1)
    return model, {"q": q, "v": v, "tau": np.random.default_rng(2).uniform(-1, 1, model.nv)}


def tangents(outputs, size):
    return np.array([x.tangents if isinstance(x, Dual) else (0.0,) * size for x in outputs])


@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_derivatives_by_the_state_are_those_of_a_complex_step(case, name):
    model, state = case
    plan = make_plan(model)
    inputs = {key: x.tolist() for key, x in state.items()} | {name: Dual.seeds(state[name].tolist())}
    found = tangents(InPython(plan, PROGRAM, inputs).run()["a"], len(state[name]))
    expected = np.empty_like(found)
    for k in range(len(state[name])):
        moved = state[name].astype(complex)
        moved[k] += 1j * STEP
        expected[:, k] = np.imag(run_plain(PROGRAM, plan, complex, **(state | {name: moved}))["a"]) / STEP
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("slot", ["m", "mc", "J", "offset", "armature"])
def test_derivatives_by_the_data_are_those_of_a_complex_step(case, slot):
    """Masses, first moments, inertias, offsets and armatures that are data, of every body."""
    model, state = case
    plan = make_plan(model)
    folded = [dict(plan.signature(i).constants) for i in range(plan.n)]
    places = [(i, k) for i in range(plan.n) for k in SLOTS[slot] if k not in folded[i]]
    assert places
    seeds = Dual.seeds([plan.data[place] for place in places])
    data = plan.data.astype(object)
    for (i, k), seed in zip(places, seeds, strict=True):
        data[i, k] = seed
    inputs = {key: x.tolist() for key, x in state.items()}
    found = tangents(InPython(plan, PROGRAM, inputs, {"data": data.ravel()}).run()["a"], len(places))
    expected = np.empty_like(found)
    for column, (i, k) in enumerate(places):
        rows = plan.data.astype(complex)
        rows[i, k] += 1j * STEP
        complex_inputs = {key: list(x.astype(complex)) for key, x in state.items()}
        expected[:, column] = np.imag(InPython(plan, PROGRAM, complex_inputs, {"data": rows.ravel()}).run()["a"]) / STEP
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
