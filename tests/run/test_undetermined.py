"""Samples in singular positions: accelerations are not determined there, and a run says so."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import bellcrank as bc

FLAT = np.array([1.0, -1.0, 1.0])
START = {"q": (np.pi - np.radians(50)) * FLAT, "v": 2.0 * FLAT}  # of the gallery's parallelogram


@pytest.fixture(scope="module")
def parallelogram():
    return bc.load("parallelogram")


def test_a_sample_without_accelerations_is_told_and_everything_else_copes(parallelogram, tmp_path):
    """From the flat position, by rattle: the cranks stay parallel, each like a pendulum."""
    with pytest.warns(bc.BellcrankWarning, match=r"at t = 0 s the loop through right_pin is in a singular position") as told:
        run = bc.simulate(parallelogram, 0.2, step=0.01, method="rattle", **START)
    assert len([w for w in told if "not numbers" in str(w.message)]) == 1
    assert run.settings["undetermined"] == [[0.0, "right_pin"]]
    finite = np.isfinite(run.values("a")).all(axis=1)
    assert not finite[0] and finite[1:].all()
    assert np.isfinite([run.energy_error, *run.closure_error]).all()
    assert np.isfinite(run.values("reactions")[1:]).all()
    summary = run.summary()
    assert ("no acceleration", "at t = 0 s, loop of right_pin") in summary.rows()
    assert json.loads(json.dumps(summary.as_dict()))["undetermined"] == [{"event": "right_pin", "time": 0.0}]
    assert summary.largest_force.value > 0
    run.plot(tmp_path / "run.png")
    again = bc.Run.load(run.save(tmp_path / "run.nc"))
    np.testing.assert_array_equal(again.values("a"), run.values("a"))
    assert again.settings["undetermined"] == run.settings["undetermined"]


def test_the_multipliers_have_one_answer_of_several_and_say_so(parallelogram):
    """They leave an equation out there; it must come back in the first step, and the loop stay closed."""
    with pytest.warns(bc.BellcrankWarning, match="those of the sample are one answer of several"):
        run = bc.simulate(parallelogram, 0.2, step=0.01, formulation="multipliers", **START, rtol=1e-11, atol=1e-11)
    assert run.settings["undetermined"] == [[0.0, "right_pin"]]
    assert run.settings["row_changes"] == []
    assert np.isfinite(run.values("a")).all()
    assert run.closure_error.position < 1e-13 and run.energy_error < 1e-9


def test_nothing_is_said_beside_singular_positions(parallelogram):
    """Through the flat position, with samples before and after."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = bc.simulate(parallelogram, 0.2, step=0.01, method="rattle", q=0.9 * START["q"], v=START["v"])
    assert len(run.settings["passages"]) == 1 and run.settings["undetermined"] == []
    assert not [w for w in told if issubclass(w.category, bc.BellcrankWarning)]
    assert np.isfinite(run.values("a")).all()


def test_a_method_that_does_not_get_through_says_what_does(parallelogram):
    """The second stage of the first step, half a step along the velocity, is the flat position."""
    before = START["q"] - 0.005 * START["v"]
    with pytest.raises(bc.SimulationError, match='This method cannot pass it.*use method="rattle"'):
        bc.simulate(parallelogram, 0.1, step=0.01, method="rk4", q=before, v=START["v"], on_singular="warn")


@pytest.mark.filterwarnings("ignore:tau or inputs are Python functions")
def test_functions_stop_at_a_singular_position_with_a_remedy_that_they_can_use(parallelogram):
    """The step that went over it is taken back."""
    options = {"tau": lambda t, q, v: np.zeros(len(v)), "q": 0.9 * START["q"], "v": START["v"], "on_singular": "pass"}
    with pytest.raises(bc.SimulationError, match="rattle, .* supports neither functions nor tables") as caught:
        bc.simulate(parallelogram, 0.4, step=0.01, method="rk4", **options)
    run = caught.value.run
    assert run.values("q")[-1, 0] < START["q"][0] and run.closure_error.position < 1e-13
    assert np.isfinite(run.values("reactions")).all()


def test_stiff_methods_pass_too(parallelogram):
    options = {"method": "radau", "rtol": 1e-8, "atol": 1e-8, "on_singular": "pass"}
    with pytest.warns(bc.BellcrankWarning, match="rattle passed it"):
        run = bc.simulate(parallelogram, 0.2, step=0.01, q=0.9 * START["q"], v=START["v"], **options)
    assert run.stopped is None and run.values("q")[-1, 0] > START["q"][0]
    assert run.energy_error < 1e-5
