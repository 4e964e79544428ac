"""Damaged models, and numbers that arithmetic does not take: results, or errors of ours by name; none takes for ever."""

from __future__ import annotations

import inspect
import os
from importlib.util import find_spec

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import DynamicsError
from bellcrank.extremes import in_our_errors
from tests.damage import damaged_model, damaged_robot, defects_of

FILES = int(os.environ.get("BELLCRANK_RANDOM", "10"))


def test_damaged_models_give_results_or_errors_of_ours():
    """The short form: python -m tests.damage models 0 10000 is the long one."""
    found = list(defects_of((seed, damaged_model(seed)) for seed in range(FILES)))
    assert [(seed, defects) for seed, _, defects in found if defects] == []
    assert sum(done > 0 for _, done, _ in found) > FILES / 4


@pytest.mark.skipif(find_spec("mujoco") is None, reason="MJCF files need MuJoCo")
def test_damaged_robot_files_give_results_or_errors_of_ours():
    found = list(defects_of(((seed, damaged_robot(seed)) for seed in range(FILES)), ("assemble", "check", "simulate")))
    assert [(seed, defects) for seed, _, defects in found if defects] == []
    assert sum(done > 0 for _, done, _ in found) > FILES / 4


BREAKDOWNS = [
    np.linalg.LinAlgError("Singular matrix"),
    OverflowError("too large"),
    RecursionError("depth"),
    MemoryError("9 GB"),
]


@pytest.mark.parametrize("error", BREAKDOWNS, ids=lambda error: type(error).__name__)
def test_what_breaks_down_is_an_error_of_ours_with_its_cause(error):
    def breaks(*_, **__):
        raise error

    breaks.__code__ = breaks.__code__.replace(co_filename=bc.__file__)  # as if it were in the package
    with pytest.raises(DynamicsError, match=r"breaks: (the model|it takes more memory)") as caught:
        in_our_errors(DynamicsError)(breaks)()
    assert caught.value.__cause__ is error


def test_what_a_function_of_the_user_raises_stays_what_it_is():
    def controller(t, q, v):
        return 1 / 0

    model = bc.load("double_pendulum")
    with pytest.warns(bc.BellcrankWarning, match="slower"), pytest.raises(ZeroDivisionError):
        bc.simulate(model, 0.1, step=0.05, tau=controller)


def test_other_errors_pass():
    def wrong():
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        in_our_errors(DynamicsError)(wrong)()


NO_MODELS = {
    "a name": ("four_bar", r'not text or a path: give bc\.load\("four_bar"\)'),
    "a Dynamics": (lambda: bc.compile(bc.load("pendulum")), r"not an object of type Dynamics: give its \.model"),
    "nothing": (None, r"not None: bc\.load reads one"),
}
TAKE_MODELS = [
    name
    for name in bc.__all__
    if inspect.isfunction(function := getattr(bc, name))
    and next(iter(function.__annotations__.items()), None) == ("model", "Model")
]


@pytest.mark.parametrize("given", NO_MODELS)
@pytest.mark.parametrize("name", TAKE_MODELS)
def test_what_is_no_model_is_an_error_that_says_what_to_give(name, given):
    made, message = NO_MODELS[given]
    with pytest.raises(bc.StateError, match=f"{name} takes a .*model, {message}"):
        getattr(bc, name)(made() if callable(made) else made)


def test_a_design_is_of_a_model():
    with pytest.raises(bc.StateError, match=r'Design takes a loaded model, not text or a path: give bc\.load\("four_bar"\)'):
        bc.Design("four_bar", ["gravity.z"])


def test_most_public_functions_are_of_a_model():
    assert {"simulate", "compile", "check", "sensitivity", "save", "compare", "drive"} <= set(TAKE_MODELS)
