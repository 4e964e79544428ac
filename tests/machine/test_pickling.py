"""A compiled model goes to another process as what was planned, and is compiled there."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import bellcrank as bc


def pickled(x):
    return pickle.loads(pickle.dumps(x))


WAYS = {
    "a tree": ("double_pendulum", {}),
    "momenta": ("double_pendulum", {"formulation": "canonical_momenta"}),
    "loops": ("four_bar", {"rank_tolerance": 1e-6, "baumgarte": (2.0, 3.0)}),
    "multipliers": ("four_bar", {"formulation": "multipliers", "reference": "centroid"}),
    "a variant in Python": ("four_bar", {"formulation": "coordinate_reduction", "variant": "rcr"}),
}


@pytest.mark.parametrize("again", [pickled, copy.deepcopy], ids=["pickle", "deepcopy"])
@pytest.mark.parametrize("way", WAYS)
def test_accelerations_are_the_same_to_the_last_bit(way, again):
    name, options = WAYS[way]
    model = bc.load(name)
    dynamics = bc.compile(model, optimisation=0, **options)
    other = again(dynamics)
    assert repr(other) == repr(dynamics) and other.plan.tolerance == dynamics.plan.tolerance
    v = model.initial_v + 0.1
    np.testing.assert_array_equal(other.acceleration(model.initial_q, v), dynamics.acceleration(model.initial_q, v))


def test_equations_that_were_chosen_at_a_state_stay_chosen():
    model = bc.load("four_bar")
    chosen = bc.compile(model, "multipliers", optimisation=0).replanned(np.array(model.initial_q), 0.0)
    assert chosen.plan.selected_rows and pickled(chosen).plan.selected_rows == chosen.plan.selected_rows
