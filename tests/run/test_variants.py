"""Runs by Critchley & Anderson's variants of coordinate reduction."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import bellcrank as bc
from bellcrank.cli import main
from bellcrank.errors import DynamicsError, SimulationError, StateError

REDUCTION = {"formulation": "coordinate_reduction", "rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(scope="module")
def five():
    return bc.load("five_bar")


@pytest.fixture(scope="module")
def exact(five):
    return bc.simulate(five, 0.1, step=0.05, rtol=1e-10, atol=1e-10).values("q")


@pytest.mark.parametrize(
    "options",
    [
        {"variant": "acs", "dependents": ["pin2", "pin3", "guide"]},
        {"variant": "gcl", "fictitious": ("ground", "bar4")},
        {"variant": "body", "method": "rk4", "max_step": 0.05},
        {"variant": "acs", "method": "dop853"},
    ],
    ids=["acs, named", "gcl, fictitious", "body, rk4", "acs"],
)
def test_a_variant_moves_the_five_bar_as_compiled_code_does(five, exact, options):
    run = bc.simulate(five, 0.1, step=0.05, **REDUCTION, **options)
    np.testing.assert_allclose(run.values("q"), exact, atol=1e-4)
    assert run.settings["variant"] == options["variant"] and run.settings["evaluations"] > run.settings["steps"] > 0


def test_a_choice_that_becomes_singular_ends_the_run_there(five):
    """Where bar 2 is perpendicular to the guide pin 1 does not move, 0.81 s after the start (Critchley & Anderson, fig. 8.a)."""
    before = bc.simulate(five, 0.78, step=0.78)
    options = REDUCTION | {"variant": "acs", "dependents": ["pin2", "pin3", "guide"], "after": before}
    with pytest.raises(
        SimulationError, match=r"stopped at t = 0\.81\d* s: the dependent coordinates \(pin2, pin3, guide"
    ) as found:
        bc.simulate(five, 0.1, step=0.05, **options)
    assert found.value.run.values("time")[-1] == pytest.approx(0.8102, abs=2e-3)


def test_a_batch_never_raises_for_one_state(five):
    dyn = bc.compile(five, "coordinate_reduction", variant="rcr")
    q, v = five.initial_q, five.initial_v
    with pytest.raises(DynamicsError, match="cannot be dependent together"):
        dyn.acceleration(q, v)
    status = np.zeros(2, dtype=int)
    a = dyn.acceleration(np.array([q, q * np.nan]), np.array([v, v]), status=status)
    assert np.isnan(a).all() and status.tolist() == [2, 1]
    good = bc.compile(five, "coordinate_reduction", variant="gcl", fictitious=("ground", "bar4"))
    np.testing.assert_allclose(good.acceleration(q[None], v[None])[0], bc.compile(five).acceleration(q, v), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "body", "method": "radau"}, "go with auto, dopri5, dop853, rk4, not with radau"),
        ({"variant": "body", "on_singular": "pass"}, "do not support on_singular"),
        ({"variant": "body", "events": [bc.Event("pin1")]}, "watch no events"),
        ({"variant": "acs", "fictitious": ("ground", "bar4")}, "give two bodies, with variant 'gcl'"),
        ({"variant": "gcl", "fictitious": ("ground",)}, "give two bodies"),
    ],
)
def test_what_goes_together_with_no_variant_is_refused(five, options, message):
    with pytest.raises(StateError, match=message):
        bc.simulate(five, 0.1, formulation="coordinate_reduction", **options)


@pytest.mark.parametrize("options", ["acs --dependents pin2,pin3,guide", "gcl --fictitious ground,bar4"])
def test_the_command_line_takes_them_too(tmp_path, options):
    words = f"run five_bar --duration 0.02 --step 0.01 --formulation coordinate_reduction --variant {options}"
    words += " --rtol 1e-3 --atol 1e-3 --no-plot --json --out"
    told = CliRunner().invoke(main, [*words.split(), str(tmp_path)])
    assert told.exit_code == 0 and json.loads(told.stdout)["samples"] == 3
