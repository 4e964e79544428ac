"""Methods for stiff models, radau in machine code and scipy's bdf, with exact Jacobians."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.integrate import RADAU
from bellcrank.run.compiled import in_machine_code
from bellcrank.run.stiff.bdf import FINEST, integrate_stiff
from bellcrank.run.system import FirstOrder, Outcome
from tests.formulations.mechanisms import build

from .mechanisms import any_tree, damper, governor, oscillator, pendulum, spring

both = pytest.mark.parametrize("method", ["radau", "bdf"])


def start_of(model, **given):
    zeros = {"tau": np.zeros(model.nv), "u": np.zeros(len(model.inputs))}
    return {"q": np.array(model.initial_q), "v": np.array(model.initial_v)} | zeros | given


def run(model, method, times, tol=1e-9, max_step=None, progress=None, **given):
    dyn, start, times = bc.compile(model), start_of(model, **given), np.asarray(times, dtype=float)
    if method == "bdf":
        return integrate_stiff(dyn, method, start, times, tol, tol, max_step, progress)
    a = dyn.acceleration(start["q"], start["v"], start["tau"], t=times[0], inputs=start["u"])
    return in_machine_code(dyn, RADAU, start | {"t": np.array(times[0]), "a": a}, times, (tol, tol, max_step), None, progress)


@pytest.mark.parametrize("seed", [5, 6])
def test_the_jacobian_is_that_of_central_differences(seed):
    """Every joint: q (with quaternions of any length), v. Steps of 1e-6 are good to 1e-8 of the largest entry."""
    model = any_tree(seed)
    system = FirstOrder(bc.compile(model), start_of(model, tau=np.linspace(-1, 1, model.nv), u=np.array([0.7])))
    y = np.concatenate([1.2 * model.initial_q, model.initial_v, np.zeros(system.works)])
    steps = 1e-6 * np.eye(len(y))
    expected = np.array([system.slope(0, y + h) - system.slope(0, y - h) for h in steps]).T / 2e-6
    rows = slice(0, system.state)
    np.testing.assert_allclose(system.jacobian(0, y)[rows], expected[rows], atol=1e-8 * np.abs(expected[rows]).max())


@both
def test_an_oscillator_moves_as_it_should(method):
    """x = exp(-c t) cos: global errors of some hundred times the tolerance for bdf, a few for radau."""
    m, k, c = 1.0, 25.0, 0.6
    times = np.linspace(0, 2, 21)
    found = run(replace(oscillator(m, k, c), given_q=np.array([0.1])), method, times)
    w = np.sqrt(k / m - (c / 2) ** 2)
    x = 0.1 * np.exp(-c / 2 * times) * (np.cos(w * times) + c / 2 / w * np.sin(w * times))
    np.testing.assert_allclose(found.q[:, 0], x, atol=2e-9 if method == "radau" else 1e-6)
    assert found.problem is None and (found.times == times).all()


def stiff_pair():
    """A slow oscillator that carries a light part on a very stiff, overdamped spring: rates of 2 and 1e4 /s and more."""
    slide = ("prismatic", (0, 0, 1))
    elements = (spring(0, 10.0), damper(0, 0.1), spring(1, 1e5), damper(1, 20.0))
    return build([slide, slide], mass=[1.0, 0.001], elements=elements, given_q=[0.1, 0.0])


@both
def test_a_stiff_model_takes_few_steps_and_agrees_with_the_explicit_method(method):
    model = stiff_pair()
    explicit = bc.simulate(model, 1.0, step=0.1, method="dopri5", rtol=1e-9, atol=1e-9)
    found = run(model, method, explicit.values("time"), 1e-8)
    tolerance = 1e-7 if method == "radau" else 1e-5
    np.testing.assert_allclose(found.q, explicit.values("q"), atol=tolerance)
    assert found.counts["steps"] < explicit.settings["steps"] / 20


@both
def test_works_are_integrated_along(method):
    """The energy that the dampers take is what is missing at the end."""
    model = replace(oscillator(2.0, 50.0, 3.0), given_q=np.array([0.2]))
    found = run(model, method, [0.0, 0.5, 1.5], 1e-8)
    q, v = found.q[:, 0], found.v[:, 0]
    energy = v**2 + 25 * q**2
    tolerance = 1e-7 if method == "radau" else 1e-5
    np.testing.assert_allclose(found.works.sum(axis=1), energy - energy[0], atol=tolerance)
    assert found.works.shape == (3, 3) and found.works[1, 1] < -0.1


@both
def test_the_energy_of_a_driven_model_comes_from_its_drive_and_its_efforts(method):
    """Kinetic and potential energy of a governor that swings, against the works of the drive and of a given effort."""
    model = governor(6.0)
    dyn = bc.compile(model)
    found = run(model, method, [0.0, 0.4, 0.8], 1e-8, tau=np.array([0.5]))
    energy = np.array([sum(dyn.energy(q, v, t=t)) for q, v, t in zip(found.q, found.v, found.times, strict=True)])
    np.testing.assert_allclose(found.works.sum(axis=1), energy - energy[0], atol=1e-7 if method == "radau" else 1e-4)
    assert abs(found.works[-1, 0]) > 0.1 and abs(found.works[-1, 1]) > 0.1


@both
def test_quaternions_stay_unit_and_the_motion_is_that_of_dopri5(method):
    model = build(["free"], inertia=[np.diag([1.0, 2.0, 2.5])], given_v=[1, 0, 0, 2.0, 0.1, -1.0])
    explicit = bc.simulate(model, 1.0, step=0.25)
    found = run(model, method, explicit.values("time"))
    np.testing.assert_allclose(np.linalg.norm(found.q[:, 3:], axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(found.q, explicit.values("q"), atol=1e-8 if method == "radau" else 1e-5)


def test_samples_of_radau_come_from_its_own_polynomial_and_do_not_shorten_its_steps():
    """Their errors are of order four, and with it of the size of the estimate that controls the step."""
    model = replace(pendulum(), given_q=np.array([1.0]))
    few, many = (run(model, "radau", np.linspace(0, 2, n + 1), 1e-8) for n in (4, 64))
    exact = run(model, "radau", np.linspace(0, 2, 65), 1e-12)
    assert few.counts["steps"] == many.counts["steps"]
    np.testing.assert_allclose(many.q, exact.q, atol=1e-7)


@both
def test_a_start_later_than_zero(method):
    model = governor(6.0)
    whole = run(model, method, [1.0, 1.5], 1e-9)
    assert whole.times.tolist() == [1.0, 1.5] and whole.problem is None


@both
def test_the_longest_step_is_kept(method):
    found = run(pendulum(given_q=[0.1]), method, [0.0, 1.0], 1e-3, max_step=0.01)
    assert found.counts["steps"] >= 100


def test_progress_is_told():
    told = []
    run(pendulum(given_q=[0.1]), "bdf", [0.0, 0.5, 1.0], 1e-6, progress=told.append)
    assert told[-1] == 1.0 and (np.diff(told) > 0).all()


def massless_elbow():
    """A massless upper arm: the motion has no end at the stretched position, since nothing resists there."""
    hinge = ("revolute", (0, 0, 1))
    arrays = {"mass": [0.0, 1.0], "inertia": np.zeros((2, 3, 3)), "gravity": np.zeros(3), "given_q": [0.0, 1.0]}
    where = {"position": [[0, 0, 0], [1, 0, 0]], "center": [[0, 0, 0], [1, 0, 0]], "given_v": [0.0, -2.0]}
    return build([hinge, hinge], **arrays, **where)


@both
def test_a_step_that_collapses_is_named_and_what_was_computed_is_kept(method):
    found = run(massless_elbow(), method, np.linspace(0, 1, 101), 1e-6)
    assert isinstance(found, Outcome)
    assert found.problem is not None and f"changes too fast, {method} would need a step below" in found.problem
    assert "of joint" in found.problem
    assert 10 < len(found.times) < 101 and np.isfinite(found.q).all()
    assert found.times[-1] < 1.0 and (np.diff(found.times) > 0).all()


def test_derivatives_that_are_not_finite_end_the_run(monkeypatch):
    model = pendulum(given_q=[0.5])
    dyn = bc.compile(model)
    nothing = np.full((1, 1), np.nan)
    real = dyn.jacobians
    monkeypatch.setattr(dyn, "jacobians", lambda *given, **options: real(*given, **options)._replace(dq=nothing))
    found = integrate_stiff(dyn, "bdf", start_of(model), np.linspace(0, 5, 51), 1e-9, 1e-9)
    assert "v of joint1 has derivatives that are not finite" in str(found.problem) or "q of joint1 has" in str(found.problem)
    assert len(found.times) >= 1


def test_ctrl_c_keeps_what_was_computed(monkeypatch):
    model = pendulum(given_q=[0.5])
    dyn = bc.compile(model)
    real, calls = dyn.acceleration, []

    def acceleration(*given, **options):
        calls.append(1)
        if len(calls) > 500:
            raise KeyboardInterrupt
        return real(*given, **options)

    monkeypatch.setattr(dyn, "acceleration", acceleration)
    found = integrate_stiff(dyn, "bdf", start_of(model), np.linspace(0, 50, 501), 1e-8, 1e-8)
    assert "interrupted at t = " in str(found.problem)
    assert 1 < len(found.times) < 501 and len(found.q) == len(found.works) == len(found.times)


def test_an_unknown_method_or_a_hopeless_tolerance_is_refused():
    model = pendulum()
    dyn, start, times = bc.compile(model), start_of(model), np.array([0.0, 1.0])
    with pytest.raises(bc.StateError, match="there is no stiff method 'euler': use one of bdf"):
        integrate_stiff(dyn, "euler", start, times, 1e-6, 1e-6)
    with pytest.raises(bc.StateError, match="bdf cannot keep rtol 1e-15: give 2.2e-14 at least"):
        integrate_stiff(dyn, "bdf", start, times, 1e-15, 1e-6)
    assert FINEST < 1e-13
