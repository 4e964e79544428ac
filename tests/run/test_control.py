"""Efforts and inputs that are Python functions: called from machine code, with all that other runs have."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.generators import chain

TIGHT = {"rtol": 1e-10, "atol": 1e-10}
METHODS = ("dopri5", "dop853", "rk4")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "tau or inputs are Python functions")
        yield


def damped(t, q, v):
    return -0.3 * v


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["double_pendulum", "heavy_top", "four_bar", "parallelogram"])
@pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # its steps are long
def test_a_function_that_is_constant_gives_the_run_of_the_constant(name, method):
    """Trees, quaternions, loops: the same steps, the same works, the same end at a singular position."""
    model = bc.load(name)
    tau = np.linspace(0.1, 0.2, model.nv)
    limits = {"step": 0.02, "max_step": 0.02, "method": method}
    runs = []
    for given in (tau, lambda t, q, v: tau):
        try:
            runs.append(bc.simulate(model, 0.3, tau=given, **limits))
        except bc.SimulationError as stopped:
            runs.append(stopped.run)
    constant, called = runs
    assert called.settings["steps"] == constant.settings["steps"]
    assert called.settings["evaluations"] == constant.settings["evaluations"]
    for quantity in ("time", "q", "v", "a", "work"):
        np.testing.assert_allclose(called.values(quantity), constant.values(quantity), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(called.values("tau"), np.tile(tau, (len(called.values("time")), 1)))


def test_the_work_of_a_controller_is_that_of_its_power():
    """A damper by a function and one of the model take the same energy."""
    text = bc.Mechanism("arm")
    text.body("arm", 2.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
    text.joint("hinge", "revolute", "ground", "arm", (0, 0, 0), axis="y")
    bare = text.build()
    text.damper("grease", joint="hinge", damping=0.3)
    inside = bc.simulate(text.build(), 1.0, step=0.1, **TIGHT)
    outside = bc.simulate(bare, 1.0, step=0.1, tau=damped, **TIGHT)
    np.testing.assert_allclose(outside.values("q"), inside.values("q"), atol=1e-9)
    np.testing.assert_allclose(outside.values("work").sum(axis=1), inside.values("work").sum(axis=1), atol=1e-8)
    assert outside.energy_error < 1e-9


def test_events_are_found_under_a_function_too():
    model = bc.load("pendulum")
    bottom = bc.Event(model.q_names[0], then="stop")
    for method in ("dopri5", "dop853"):
        run = bc.simulate(model, 5.0, tau=damped, events=[bottom], method=method, **TIGHT)
        longer = bc.simulate(model, float(run.values("time")[-1]), step=0.01, tau=damped, **TIGHT)
        assert 0 < run.values("time")[-1] < 5.0
        assert abs(run.values("q")[-1, 0]) < 1e-12
        np.testing.assert_allclose(longer.values("v")[-1], run.values("v")[-1], atol=1e-8)


def test_a_run_under_a_function_goes_on_from_another():
    model = chain(3)
    options = {"step": 0.1, "tau": damped, **TIGHT}
    whole = bc.simulate(model, 1.0, **options)
    first = bc.simulate(model, 0.5, **options)
    second = bc.simulate(model, 0.5, after=first, **options)
    np.testing.assert_allclose(second.values("q"), whole.values("q")[5:], atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("when", [0.0, 0.21])
def test_what_a_function_raises_reaches_the_caller(method, when):
    class Broken(Exception):
        pass

    def broken(t, q, v):
        if t >= when:
            raise Broken("the sensor is off")
        return np.zeros(3)

    with pytest.raises(Broken, match="the sensor is off"):
        bc.simulate(chain(3), 1.0, step=0.1, method=method, tau=broken)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_a_function_keeps_the_run_until_then(name, method):
    """Whichever of its calls is interrupted: what is kept is the run without the interrupt."""
    model, options = bc.load(name), {"step": 0.01, "method": method, "max_step": 0.004}
    whole = bc.simulate(model, 0.1, tau=damped, **options)
    for last in (40, 43, 47, 50, 54, 59):
        calls = []

        def interrupted(t, q, v, last=last, calls=calls):
            calls.append(t)
            if len(calls) == last:
                raise KeyboardInterrupt
            return damped(t, q, v)

        with pytest.raises(bc.SimulationError, match="interrupted at t = ") as stop:
            bc.simulate(model, 0.1, tau=interrupted, **options)
        run = stop.value.run
        count = len(run.values("time")) - 1
        assert count >= 1 and run.values("time")[-1] <= calls[last - 1]
        for quantity in ("time", "q", "v"):
            np.testing.assert_array_equal(run.values(quantity)[:count], whole.values(quantity)[:count])


def test_a_function_may_keep_and_change_what_it_is_given():
    seen = []

    def spoiling(t, q, v):
        seen.append(q)
        q += 1.0
        v *= 2.0
        return np.zeros(2)

    run = bc.simulate(chain(2), 0.3, step=0.1, tau=spoiling, **TIGHT)
    free = bc.simulate(chain(2), 0.3, step=0.1, tau=lambda t, q, v: np.zeros(2), **TIGHT)
    np.testing.assert_array_equal(run.values("q"), free.values("q"))
    assert len({id(q) for q in seen}) == len(seen)


def test_a_function_that_is_not_a_number_ends_the_run_where_it_happens():
    def failing(t, q, v):
        return np.full(2, np.nan if t > 0.25 else 0.0)

    with pytest.raises(bc.SimulationError, match=r"stopped at t = 0\.2\d* s: . of \w+ is no longer a finite number"):
        bc.simulate(chain(2), 1.0, step=0.1, tau=failing)


def test_a_function_may_simulate_itself():
    """A model inside a controller."""
    inner = chain(1)

    def predicting(t, q, v):
        ahead = bc.simulate(inner, 0.01, q=q[:1], v=v[:1])
        return [-ahead.values("v")[-1, 0], 0.0]

    run = bc.simulate(chain(2), 0.02, step=0.01, tau=predicting, method="rk4")
    assert np.isfinite(run.values("q")).all() and run.settings["evaluations"] == 8


def test_a_call_costs_microseconds():
    """Ten thousand evaluations of a chain of twelve bodies with a controller: about 10 us each, allowed twenty times as much."""
    run = bc.simulate(chain(12), 2.5, step=0.1, max_step=1e-3, method="rk4", tau=damped)
    assert run.settings["evaluations"] == 10_000 and run.settings["wall_time"] < 2.0
