"""Many equal loops: a kernel for one state takes several of them at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.machine.nodes.groups import groups_of
from bellcrank.model.generators import ladder

from ..closed import load
from ..closed_states import moving


def unequal(model):
    """Cells of equal structure with masses of their own."""
    scale = np.random.default_rng(0).uniform(0.5, 2.0, model.n)
    return replace(model, mass=model.mass * scale, inertia=model.inertia * scale[:, None, None])


def sizes(model):
    groups = groups_of(bc.compile(model, optimisation=0).plan.nodes)
    return sorted(len(members) for _, members in groups.nodes), bool(groups.mixed)


@pytest.mark.parametrize("lanes", [4, 8])
def test_equal_nodes_stand_in_groups_whatever_their_data(lanes, monkeypatch):
    """The first cell is on ground and nothing hangs on the last one; of three cells none is worth a group."""
    monkeypatch.setenv("BELLCRANK_LANES", str(lanes))
    assert sizes(ladder(11)) == ([1, 4, 4] if lanes == 4 else [1, 8], False)
    assert sizes(unequal(ladder(11))) == (sizes(ladder(11))[0], True)
    assert sizes(ladder(3)) == ([], False)


def test_loops_with_a_few_equal_bodies_besides_are_met_one_by_one():
    assert sizes(bc.load("strandbeest")) == ([], False)


def test_unequal_nodes_abreast_with_loads_agree_with_the_multipliers(monkeypatch):
    """Equal ones are in test_coordinate_reduction.py. Measured: 2e-15."""
    monkeypatch.setenv("BELLCRANK_LANES", "4")
    model = load(unequal(ladder(6)), np.random.default_rng(0))
    model = replace(model, elements=model.elements[::15])
    dynamics = bc.compile(model, optimisation=0)
    assert any(signature.attached for signature in dynamics.plan.signatures)
    assert groups_of(dynamics.plan.nodes).mixed
    state = moving(model, 2, reach=0.2)
    expected = bc.compile(model, "multipliers", optimisation=0).acceleration(**state)
    np.testing.assert_allclose(dynamics.acceleration(**state), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_model_that_was_planned_for_eight_lanes_stays_so(monkeypatch):
    """Code that it needs later is for as many, as is the memory that this code works on, and so it is stored."""
    model = ladder(9)
    state = moving(model, 1, reach=0.2)
    monkeypatch.setenv("BELLCRANK_LANES", "8")
    dynamics = bc.compile(model, optimisation=0)
    dynamics.acceleration(**state)
    planned = [members.tolist() for _, members in groups_of(dynamics.plan.nodes).nodes]
    monkeypatch.setenv("BELLCRANK_LANES", "4")
    assert [members.tolist() for _, members in groups_of(dynamics.plan.nodes).nodes] == planned
    expected = bc.compile(model, optimisation=0).multipliers(**state)
    np.testing.assert_allclose(dynamics.multipliers(**state), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
