"""Many runs at once: each is the run that it would be alone, whatever its neighbours and the number of threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import StateError
from bellcrank.joints import make_joint
from bellcrank.machine.steps.lanes import runs as lane_runs
from bellcrank.model.generators import chain, random_state, random_tree
from tests.mechanisms import loaded_tree
from tests.run.test_early_ends import elbow_without_mass

TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}
METHODS = ["dopri5", "dop853"]


@cache
def tree():
    """Balls, sliders, driven joints, and force elements."""
    return loaded_tree(5, 7, driven=0.3)


def starts(model, count, seed=0):
    """Rows of q, v, tau and inputs."""
    pairs = [random_state(model, seed + k) for k in range(count)]
    rng = np.random.default_rng(seed)
    rows = {"q": np.array([q for q, _ in pairs]), "v": 0.3 * np.array([v for _, v in pairs])}
    return rows | {"tau": rng.uniform(-0.3, 0.3, (count, model.nv)), "inputs": rng.uniform(-1, 1, (count, len(model.inputs)))}


def row(rows, i):
    return {name: x[i] for name, x in rows.items()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_each_run_is_the_run_alone(count, method):
    """First steps differ, and so all steps: they agree to the tolerance, 1e-9, which stops and tables make
    some hundred times worse. Measured: 3e-7 (dopri5), 3e-8 (dop853).
    """
    model, given = tree(), starts(tree(), count)
    runs = bc.simulate_many(model, 0.5, step=0.1, method=method, **given, **TOLERANCE)
    assert len(runs) == count and runs.q_values.shape == (count, 6, model.nq)
    assert (runs.status == 0).all() and runs.messages == (None,) * count and (runs.reached == 0.5).all()
    for i in range(count):
        alone = bc.simulate(model, 0.5, step=0.1, method=method, **row(given, i), rtol=1e-12, atol=1e-12)
        for name, found in (("q", runs.q_values), ("v", runs.v_values)):
            wanted = alone.values(name)
            np.testing.assert_allclose(found[i], wanted, rtol=0, atol=3e-6 * max(1.0, np.abs(wanted).max()))
        np.testing.assert_array_equal(runs.q_values[i, 0], alone.values("q")[0])  # one rule for the start of both
        a = bc.compile(model).acceleration(
            runs.q_values[i], runs.v_values[i], given["tau"][i], t=runs.time, inputs=given["inputs"][i]
        )
        np.testing.assert_allclose(runs.a_values[i], a, rtol=1e-12, atol=1e-12 * np.abs(a).max())


@pytest.mark.parametrize("method", METHODS)
def test_smooth_runs_agree_to_the_tolerance(method):
    """Over one second at 1e-9. Measured: 2e-9 (dopri5), 6e-9 (dop853)."""
    model = random_tree(4, 3, free_root=True)
    given = starts(model, 6)
    runs = bc.simulate_many(model, 1.0, step=0.2, method=method, **given, **TOLERANCE)
    for i in range(6):
        alone = bc.simulate(model, 1.0, step=0.2, method=method, **row(given, i), rtol=1e-13, atol=1e-13)
        size = max(1.0, np.abs(alone.values("v")).max())
        np.testing.assert_allclose(runs.q_values[i], alone.values("q"), rtol=0, atol=3e-8 * size)
        np.testing.assert_allclose(runs.v_values[i], alone.values("v"), rtol=0, atol=3e-8 * size)


@pytest.mark.parametrize("method", METHODS)
def test_neighbours_do_not_matter(method):
    """Bit for bit: reversed, so that every run is in another lane with other company; and alone."""
    model, given = tree(), starts(tree(), 9)
    runs = bc.simulate_many(model, 0.3, step=0.1, method=method, **given)
    other = bc.simulate_many(model, 0.3, step=0.1, method=method, **{name: x[::-1] for name, x in given.items()})
    np.testing.assert_array_equal(other.q_values[::-1], runs.q_values)
    np.testing.assert_array_equal(other.v_values[::-1], runs.v_values)
    one = bc.simulate_many(model, 0.3, step=0.1, method=method, **row(given, 6))
    np.testing.assert_array_equal(one.q_values[0], runs.q_values[6])
    assert [x["steps"] for x in other.per_run[::-1]] == [x["steps"] for x in runs.per_run]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("broken", [[0], [2], [1, 4, 7], [0, 1, 2, 3]], ids=str)
def test_a_failing_run_does_not_disturb_its_neighbours(method, broken):
    """Not a number, infinite, and so fast that squares overflow: the others are bit for bit as before."""
    model, given = tree(), starts(tree(), 8)
    good = bc.simulate_many(model, 0.3, step=0.1, method=method, **given)
    for bad in (np.nan, np.inf, 1e120):
        spoiled = given | {"v": given["v"].copy()}
        spoiled["v"][broken] = bad
        runs = bc.simulate_many(model, 0.3, step=0.1, method=method, **spoiled)
        others = np.setdiff1d(np.arange(8), broken)
        np.testing.assert_array_equal(runs.q_values[others], good.q_values[others])
        np.testing.assert_array_equal(runs.v_values[others], good.v_values[others])
        np.testing.assert_array_equal(runs.reached[others], 0.3)
        assert (runs.status[broken] != 0).all() and (runs.status[others] == 0).all()
        assert all(runs.messages[i].startswith("stopped at t = ") for i in broken)
        assert np.isnan(runs.v_values[broken, 1:]).all()


def test_samples_that_were_not_reached_are_no_numbers():
    """A massless elbow comes to its stretched position before 1 s, where nothing resists; slower ones come later, or not."""
    model = elbow_without_mass()
    v = np.array([[0.0, -2.0], [0.0, 0.0], [0.0, -4.0], [0.0, -0.5], [0.0, -3.0]])
    runs = bc.simulate_many(model, 0.4, step=0.01, v=v)
    assert runs.status.tolist() == [2, 0, 2, 0, 2]
    for i in range(5):
        reached = runs.time <= runs.reached[i]
        assert np.isfinite(runs.q_values[i, reached]).all() and np.isnan(runs.q_values[i, ~reached]).all()
        assert np.isfinite(runs.a_values[i, reached]).all() and np.isnan(runs.a_values[i, ~reached]).all()
        one = runs.run(i)
        np.testing.assert_array_equal(one.values("time"), runs.time[reached])
        assert one.stopped == runs.messages[i]
    assert runs.messages[1] is None
    assert (
        runs.messages[0]
        == f"stopped at t = {runs.reached[0]:.9g} s: the step would have to be shorter than rounding. What was computed until then is kept."
    )
    with pytest.raises(bc.SimulationError) as stop:
        bc.simulate(model, 0.4, step=0.01, v=v[0])
    assert runs.reached[0] == pytest.approx(stop.value.run.values("time")[-1], rel=1e-4)


def test_the_number_of_threads_does_not_matter(monkeypatch):
    model, given = tree(), starts(tree(), 13)
    expected = bc.simulate_many(model, 0.3, step=0.1, **given)
    for threads in (1, 2, 7):
        with monkeypatch.context() as patch, ThreadPoolExecutor(threads) as pool:
            patch.setattr(os, "cpu_count", lambda threads=threads: threads)
            patch.setattr(lane_runs, "workers", lambda pool=pool: pool)
            found = bc.simulate_many(model, 0.3, step=0.1, **given)
        np.testing.assert_array_equal(found.q_values, expected.q_values)
        np.testing.assert_array_equal(found.v_values, expected.v_values)


def test_quaternions_stay_unit():
    model = random_tree(4, 1, ("spherical",), free_root=True)
    given = starts(model, 5)
    runs = bc.simulate_many(model, 20.0, step=0.5, q=given["q"], v=10 * given["v"], rtol=1e-5, atol=1e-5)
    for joint, first in zip(model.joints, model.q_index, strict=True):
        at = first + joint.quaternion
        np.testing.assert_allclose(np.linalg.norm(runs.q_values[..., at : at + 4], axis=-1), 1.0, rtol=0, atol=1e-15)


def test_what_is_given_once_holds_for_all():
    model, given = tree(), starts(tree(), 5)
    shared = bc.simulate_many(
        model, 0.2, step=0.1, q=given["q"], v=given["v"][0], tau=given["tau"][1], inputs=given["inputs"][2]
    )
    rows = {"v": given["v"][[0] * 5], "tau": given["tau"][[1] * 5], "inputs": given["inputs"][[2] * 5]}
    np.testing.assert_array_equal(shared.q_values, bc.simulate_many(model, 0.2, step=0.1, q=given["q"], **rows).q_values)
    assert len(bc.simulate_many(model, 0.2, q=given["q"][0])) == 1
    from_model = bc.simulate_many(model, 0.2, step=0.1)
    np.testing.assert_array_equal(from_model.q_values[0, 0], model.initial_q)


def test_efforts_and_inputs_are_those_of_each_run():
    """A slider of 1 kg under tau + 2 u: x = (tau + 2 u) t^2/2, to rounding."""
    from bellcrank.model import Element
    from tests.results.mechanisms import SLIDE_X, make

    model = make(SLIDE_X, elements=(Element("motor", "joint_input", {"gain": 2.0}, joint=0, input=0),), inputs=("volts",))
    tau, u = np.array([[1.0], [0.0], [-2.0], [0.5], [0.0]]), np.array([[0.0], [3.0], [1.0], [0.25], [-1.0]])
    runs = bc.simulate_many(model, 2.0, step=0.5, tau=tau, inputs=u)
    np.testing.assert_allclose(runs.q_values[:, :, 0], (tau + 2 * u) * runs.time**2 / 2, rtol=0, atol=1e-12)
    assert [x["inputs"] for x in runs.per_run] == u.tolist() and [x["tau"] for x in runs.per_run] == tau.tolist()
    one = runs.run(3)
    np.testing.assert_allclose(one.values("a")[:, 0], 1.0, rtol=1e-13)
    np.testing.assert_allclose(one.values("inputs")[:, 0], 0.25)


def test_labelled_arrays_say_run_time_and_coordinate():
    model, given = tree(), starts(tree(), 3)
    runs = bc.simulate_many(model, 0.2, step=0.1, **given)
    for array, names in ((runs.q, model.q_names), (runs.v, model.v_names), (runs.a, model.v_names)):
        assert array.dims[:2] == ("run", "time") and array.shape == (3, 3, len(names))
        assert tuple(array.coords[array.dims[2]].values) == names
    assert (
        runs.settings["method"] == "auto"
        and runs.per_run[0]["methods"] == [[0.0, "dopri5"]]
        and runs.settings["step"] == pytest.approx(0.1)
    )


def test_what_cannot_move_can_still_be_run():
    model = replace(chain(1), joints=(make_joint("fixed"),), armature=[], given_q=[], given_v=[])
    runs = bc.simulate_many(model, 1.0, step=0.5, q=np.zeros((3, 0)))
    assert runs.q_values.shape == (3, 3, 0) and (runs.status == 0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": np.zeros((2, 9))}, r"q has shape \(2, 9\)"),
        ({"q": np.zeros((2, 4)), "v": np.zeros((3, 4))}, r"the rows do not match: q \(2, 4\), v \(3, 4\)"),
        ({"inputs": np.zeros((2, 1))}, r"the rows do not match: .* inputs \(2, 1\)"),
        ({"tau": np.zeros((2, 2, 4))}, r"tau has shape \(2, 2, 4\)"),
        ({"v": [["fast"] * 4]}, "v must be numbers"),
        ({"method": "gauss4"}, "many runs are integrated by auto, dopri5, dop853, radau or rk4, not by gauss4"),
        ({"method": "dopri"}, "did you mean 'dopri5'"),
        ({"rtol": -1.0}, "rtol must be a positive number"),
        ({"duration": 0.0}, "duration must be a positive number"),
    ],
)
def test_rows_that_do_not_fit_are_refused(given, message):
    with pytest.raises(StateError, match=message):
        bc.simulate_many(chain(4), **({"duration": 1.0} | given))
