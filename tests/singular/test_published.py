"""Huang's own examples: the double pendulum, and the platform on three legs."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.papers.huang.taylor import integrate_reaction_taylor
from bellcrank.singular import integrate_rattle
from tests.oracles.closed_models import stewart
from tests.oracles.numbers import oracle

from .cases import double_pendulum, orders, start

METHODS = {"rattle": (integrate_rattle, 2, 2e-4), "reaction_taylor": (integrate_reaction_taylor, 1, 2e-2)}


@pytest.mark.parametrize("case", ["A_horizontal_rest", "B", "C_theta_equal_moving"])
@pytest.mark.parametrize("method", METHODS)
def test_the_double_pendulum_swings_as_lagrange_says(method, case):
    integrate, order, enough = METHODS[method]
    data = oracle("huang_double_pendulum")
    known = np.array(data["cases"][case]["state"])
    times = np.array(data["times"][:6], dtype=float)  # half a second, before the motion multiplies errors
    model = double_pendulum(known[0, :2])
    v = [known[0, 2], known[0, 3] - known[0, 2]]
    errors = []
    for step in (2e-3, 1e-3):
        out = integrate(bc.compile(model, optimisation=0), start(model, v=v), times, step)
        errors.append(np.abs(known[0, :2] + np.cumsum(out.q, axis=1) - known[:6, :2]).max())
    assert errors[-1] < enough
    assert orders(errors)[0] == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_the_platform_falls_and_turns_as_published(method):
    integrate, order, enough = METHODS[method]
    data = oracle("huang_stewart")
    known = np.array(data["cases"]["table_disc"]["values"])
    times = np.array(data["times"][:4], dtype=float)
    model = stewart()
    dynamics, errors = bc.compile(model, optimisation=0), []
    for step in (4e-3, 2e-3):
        out = integrate(dynamics, start(model), times, step)
        origin, R = dynamics.poses(out.q)
        platform = origin[:, 6] + R[:, 6] @ model.center[6]
        errors.append(np.abs(platform - known[:4, :3]).max())
    assert errors[-1] < enough
    assert orders(errors)[0] == pytest.approx(order, abs=0.1)
    assert out.report.passages == []  # the published singular times are not met: the rows keep their rank
