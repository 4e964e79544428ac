"""Driven and damped runs: the energy that comes in is the energy that is there, and each source's work is its power summed up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.model.generators import random_state
from tests.mechanisms import loaded_tree

TOLERANCES = (1e-6, 1e-8, 1e-10)


def start(model):
    q, v = random_state(model, 1)
    return {"q": q, "v": 0.3 * v, "tau": np.full(model.nv, 0.2), "inputs": [0.5, -0.3]}


def smooth(model):
    """Without stops and tables of motion, whose bends and kinks no method of high order resolves."""
    return replace(model, elements=tuple(e for e in model.elements if e.kind != "joint_stop"))


@pytest.fixture(scope="module", params=[1, 3], ids=["balls and sliders", "driven universal joint"])
def model(request):
    return smooth(loaded_tree(5, request.param, driven=0.3))


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_the_balance_closes_as_the_tolerance_shrinks(model, method):
    """Works are integrated along, outside the error control. Measured: 0.004 to 0.08 of the tolerance."""
    runs = [bc.simulate(model, 1.0, step=0.01, method=method, rtol=tol, atol=tol, **start(model)) for tol in TOLERANCES]
    for run, tolerance in zip(runs, TOLERANCES, strict=True):
        assert run.energy_error < tolerance
        assert np.abs(run.values("work")).max() > 1.0


def test_the_balance_of_rk4_closes_with_the_fourth_power_of_the_step(model):
    errors = [bc.simulate(model, 1.0, step=0.1, method="rk4", max_step=h, **start(model)).energy_error for h in (0.005, 0.0025)]
    assert 2**3.5 < errors[0] / errors[1] < 2**6 and errors[1] < 1e-5


def test_the_work_of_each_source_is_the_integral_of_its_power(model):
    """Against Boole's rule over samples, with powers from the states of the run. Measured: 2e-11 J."""
    begin = start(model)
    run = bc.simulate(model, 1.0, step=1 / 1600, rtol=1e-11, atol=1e-11, **begin)
    dynamics = bc.compile(model)
    q, v, a, t = (run.values(name) for name in ("q", "v", "a", "time"))
    powers = dynamics.elements(q, v, t=t, inputs=begin["inputs"])[1]
    for k, element in enumerate(model.elements):
        found = run.work.sel(source=element.name).values[-1]
        assert found == pytest.approx(boole(powers[:, k], t), abs=1e-9), element.name
        if element.kind in ("joint_damper", "joint_friction"):
            assert (np.diff(run.work.sel(source=element.name)) <= 0).all()
        if element.kind == "joint_spring":
            assert not run.work.sel(source=element.name).any()
    assert run.work.sel(source="given efforts").values[-1] == pytest.approx(boole(v @ begin["tau"], t), abs=1e-9)
    gained = run.energy.total - run.energy.total[0]
    drives = [name for name in run.work.source.values if name.startswith("drive of ")]
    assert len(drives) == model.driven.sum()
    rest = gained[-1] - run.work.drop_sel(source=drives)[-1].sum()
    assert float(rest) == pytest.approx(float(run.work.sel(source=drives)[-1].sum()), abs=1e-8)
    efforts = dynamics.drive_efforts(q, v, a, t=t, inputs=begin["inputs"])
    np.testing.assert_allclose(run.drives.values, efforts, rtol=0, atol=1e-12 * max(1.0, np.abs(efforts).max(initial=0)))


def boole(y, t):
    h, n = t[1] - t[0], len(y)
    weights = np.array([7, 32, 12, 32] * ((n - 1) // 4) + [7], dtype=float)
    weights[4:-1:4] = 14
    return float(weights @ y) * 2 * h / 45


def test_the_balance_closes_with_bends_and_kinks_too():
    """Tables of motion bend at their points and stops have kinks: a step that spans one errs by more than it estimates.

    Measured: 2.5e-8 at a tolerance of 1e-9.
    """
    model = loaded_tree(5, 7, driven=0.3)
    assert any(law.kind == "table" for motion in model.motions if motion for law in motion.laws)
    assert any(e.kind == "joint_stop" for e in model.elements)
    run = bc.simulate(model, 1.0, step=0.01, rtol=1e-9, atol=1e-9, **start(model))
    assert run.energy_error < 1e-6
