"""Models and runs go to other processes and are copied."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import bellcrank as bc


def pickled(x):
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("again", [pickled, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_model_that_was_looked_at_comes_back_whole_and_frozen(again):
    model = bc.load("crane")
    assert model.parameters and model.q_names and len(model.driven)
    back = again(model)
    assert back.spec == model.spec and back.parameters == model.parameters
    np.testing.assert_array_equal(back.inertia, model.inertia)
    with pytest.raises(ValueError, match="read-only"):
        back.mass[0] = 7.0
    assert back.with_parameters({"duration": 3.0}).duration == 3


@pytest.mark.parametrize("again", [pickled, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_run_comes_back_with_its_model_and_computes_more(again):
    run = bc.simulate(bc.load("pendulum"), 0.1)
    assert run.model.parameters
    back = again(run)
    assert back.q.identical(run.q) and back.settings == run.settings
    assert back.reactions.identical(run.reactions)
