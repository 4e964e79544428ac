"""A design in each lane: every state and every run is that of its own model, whatever its neighbours."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError

DESIGNS = {
    "double_pendulum": ("upper.mass", "lower.center.x", "shoulder.axis.x", "initial.elbow.q.0"),
    "four_bar": ("parameters.crank_length", "parameters.density", "parameters.spin"),
    "bump": ("parameters.speed", "gravity.z", "body.mass"),
}

STOP = """
format = 1
name = "stopped"
duration = 1.0
step = 0.05
[parameters]
gap = 0.3
switch = 0.4
[bodies.block]
box = { center = [0, 0, 0], size = [0.1, 0.1, 0.1], mass = 2 }
[joints.rail]
type = "prismatic"
parent = "ground"
child = "block"
point = [0, 0, 0]
axis = "x"
[stops.end]
joint = "rail"
upper = "=gap"
stiffness = 1000
damping = 5
[motors.push]
joint = "rail"
effort = "=if(t < switch, 0, 4)"
[initial]
rail = { v = 1.0 }
"""


@cache
def design(name):
    model = bc.load(name)
    return bc.Design(model, DESIGNS[name])


@pytest.fixture
def stopped(tmp_path):
    (tmp_path / "stopped.toml").write_text(STOP)
    return bc.load(tmp_path / "stopped.toml")


def nearby(made, count, spread=0.02, seed=1):
    return made.start * (1 + spread * np.random.default_rng(seed).uniform(-1, 1, (count, len(made.names))))


@pytest.mark.parametrize("name", DESIGNS)
def test_each_state_has_the_acceleration_of_its_own_model(name):
    """Frames and folded zeros of a model compiled alone differ: rounding, 1e-11 of the largest."""
    made = design(name)
    p = nearby(made, 11)
    dyn = bc.compile(made.base, design=made)
    models = [made.model(row) for row in p]
    q, v = (np.array([getattr(model, x) for model in models]) for x in ("initial_q", "initial_v"))
    alone = np.array([bc.compile(m, optimisation=0).acceleration(m.initial_q, m.initial_v, t=0.1) for m in models])
    found = dyn.acceleration(q, v, t=0.1, p=p)
    np.testing.assert_allclose(found, alone, rtol=0, atol=1e-11 * np.abs(alone).max())
    one_for_all = dyn.acceleration(q, v, t=0.1, p=p[3])
    np.testing.assert_array_equal(one_for_all[3], found[3])


@pytest.mark.parametrize("name", DESIGNS)
def test_each_run_is_that_of_its_own_model(name):
    """Runs alone control their works too, and take other steps: tolerances of 1e-9, a hundred times of it."""
    made = design(name)
    p = nearby(made, 3)
    runs = bc.simulate_many(made.base, 0.4, step=0.1, design=made, p=p, method="dopri5")
    assert runs.messages == (None,) * 3
    for k, row in enumerate(p):
        alone = bc.simulate(made.model(row), 0.4, step=0.1, method="dopri5")
        np.testing.assert_allclose(runs.q_values[k], alone.values("q"), rtol=0, atol=1e-7)
    assert not np.allclose(runs.q_values[0], runs.q_values[1], atol=1e-6)


def test_steps_of_a_fixed_length_are_those_of_the_run_alone():
    made = design("four_bar")
    p = nearby(made, 3)
    runs = bc.simulate_many(made.base, 0.2, step=0.05, design=made, p=p, method="rk4", max_step=0.002)
    alone = bc.simulate(made.model(p[2]), 0.2, step=0.05, method="rk4", max_step=0.002)
    np.testing.assert_allclose(runs.q_values[2], alone.values("q"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs.v_values[2], alone.values("v"), rtol=0, atol=1e-10)


def test_implicit_steps_linearise_each_design():
    """radau takes the Jacobian of every lane at its own data; runs alone take other steps, to tolerances of 1e-9."""
    made = design("four_bar")
    p = nearby(made, 3, spread=0.2)
    runs = bc.simulate_many(made.base, 0.2, step=0.1, design=made, p=p, method="radau")
    for k, row in enumerate(p):
        alone = bc.simulate_many(made.model(row), 0.2, step=0.1, method="radau")
        np.testing.assert_allclose(runs.q_values[k], alone.q_values[0], rtol=0, atol=1e-8)
        assert runs.per_run[k]["steps"] <= alone.per_run[0]["steps"] + 3  # a wrong Jacobian takes many more


def test_stops_and_switching_times_are_those_of_each_design(stopped):
    """A block meets its stop where its design has it, and a motor starts when its design says."""
    model = stopped
    gaps, switches = [0.2, 0.3, 0.4, 5.0], [0.1, 0.5, 0.3, 0.25]
    given = {"parameters.gap": gaps, "parameters.switch": switches}
    runs = bc.simulate_many(model, parameters=given, method="dopri5")
    for k, (gap, switch) in enumerate(zip(gaps, switches, strict=True)):
        own = model.with_parameters({"parameters.gap": gap, "parameters.switch": switch})
        alone = bc.simulate_many(own, method="dopri5")  # the same steps
        np.testing.assert_allclose(runs.q_values[k], alone.q_values[0], rtol=0, atol=1e-12)
        assert runs.per_run[k]["steps"] == alone.per_run[0]["steps"]
    assert runs.q_values[:3, :, 0].max() < 0.5 < runs.q_values[3, :, 0].max()


def test_a_run_does_not_depend_on_how_runs_are_divided():
    """Runs share lanes by their numbers: bit for bit the same, with neighbours that fail or leave for another method."""
    made = design("four_bar")
    p = nearby(made, 19)
    p[5, 0] = 40.0  # a crank that reaches nowhere
    whole = bc.simulate_many(made.base, 0.2, step=0.1, design=made, p=p)
    parts = [bc.simulate_many(made.base, 0.2, step=0.1, design=made, p=p[a:b]) for a, b in ((0, 8), (8, 16), (16, 19))]
    np.testing.assert_array_equal(np.concatenate([part.q_values for part in parts]), whole.q_values)
    np.testing.assert_array_equal(np.concatenate([part.a_values for part in parts]), whole.a_values)
    assert whole.messages[5].startswith("cannot start:") and whole.messages.count(None) == 18


def test_a_design_that_is_no_mechanism_is_a_row_with_its_reason():
    model = bc.load("double_pendulum")
    runs = bc.simulate_many(model, 0.1, step=0.05, parameters={"upper.mass": [1.0, -1.0, 2.0]})
    assert runs.messages[0] is None and runs.messages[2] is None and "mass" in runs.messages[1]
    assert np.isnan(runs.q_values[1]).all() and np.isfinite(runs.q_values[[0, 2]]).all()


def test_trees_may_be_given_their_starts_besides():
    model = bc.load("double_pendulum")
    q = np.array([[0.1, 0.0], [0.2, 0.0]])
    runs = bc.simulate_many(model, 0.1, step=0.05, q=q, parameters={"lower.mass": 1.5})
    np.testing.assert_array_equal(runs.q_values[:, 0], q)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parameters": {"upper.mass": [1.0]}, "p": [[1.0]]}, "either parameters"),
        ({"p": [[1.0]]}, "go together"),
        ({"design": "other", "p": [[1.0]]}, "another model"),
        ({"parameters": {"upper.mass": [[1.0]]}}, "a number for each run"),
        ({"parameters": {"upper.mass": []}}, "nothing to run"),
        ({"parameters": {"upper.mass": [1.0, 2.0]}, "q": np.zeros((3, 2))}, "do not match"),
    ],
)
def test_what_is_given_wrongly_is_refused(given, words):
    model = bc.load("double_pendulum")
    if given.get("design"):
        given = given | {"design": bc.Design(bc.load("double_pendulum"), ["upper.mass"])}
    with pytest.raises(StateError, match=words):
        bc.simulate_many(model, 0.1, **given)


def test_designs_with_loops_start_where_their_models_say():
    with pytest.raises(StateError, match="make what differs a parameter"):
        bc.simulate_many(design("four_bar").base, 0.1, parameters={"parameters.density": [1.0]}, v={"crank_pivot": 1.0})


@pytest.mark.parametrize(("method", "words"), [("rk4", "steps of a fixed length would be cut"), ("gauss4", "not by gauss4")])
def test_methods_that_lanes_do_not_have_are_refused(stopped, method, words):
    with pytest.raises(StateError, match=words):
        bc.simulate_many(stopped, 0.1, method=method)
