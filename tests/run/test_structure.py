"""Runs in q and p: the same motion as in q and v; and methods that keep the structure of Hamilton's equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import SimulationError, StateError
from bellcrank.model.generators import chain, random_state, random_tree
from bellcrank.model.manifold import cross_matrix
from bellcrank.run import first_step

from ..mechanisms import loaded_tree

METHODS = ("implicit_midpoint", "midpoint4", "gauss4")


@pytest.fixture(scope="module")
def floating():
    """A free body with a hinge, two universal joints and a ball on it."""
    return random_tree(5, 3, ("spherical", "revolute", "universal", "prismatic"), free_root=True)


def last_state(run):
    return np.concatenate([run.values("q")[-1], run.values("v")[-1]])


def order(model, method, steps, duration, **start):
    exact = last_state(bc.simulate(model, duration, method="dop853", rtol=1e-13, atol=1e-13, **start))
    errors = [
        np.abs(last_state(bc.simulate(model, duration, method=method, step=duration, max_step=h, **start)) - exact).max()
        for h in steps
    ]
    return np.log2(errors[0] / errors[1])


@pytest.mark.parametrize(("method", "expected"), [("implicit_midpoint", 2), ("midpoint4", 4), ("gauss4", 4)])
def test_methods_have_their_order(method, expected):
    model = chain(3)
    q, v = random_state(model, 1)
    assert order(model, method, (0.004, 0.002), 0.4, q=q, v=v) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("method", "expected"), [("implicit_midpoint", 2), ("midpoint4", 4)])
def test_methods_have_their_order_through_rotations(method, expected, floating):
    q, v = random_state(floating, 1)
    assert order(floating, method, (0.004, 0.002), 0.4, q=q, v=v) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("method", ["implicit_midpoint", "midpoint4"])
def test_momentum_is_kept_to_rounding(method, floating):
    """All of it without gravity; with gravity along z, what is across and what turns about z. rk4 at a longer step is off by 1e-7.

    10,000 evaluations of momenta of order 10, each rounded at 1e-15, may add up to 1e-11."""
    q, v = random_state(floating, 1)
    free = replace(floating, gravity=np.zeros(3))
    for model, kept in ((free, slice(None)), (floating, [0, 1, 5])):
        run = bc.simulate(model, 4.0, q=q, v=v, method=method, step=0.5, max_step=0.004)
        momentum = np.hstack([run.values("linear"), run.values("angular")])
        change = np.abs(momentum - momentum[0])[:, kept].max()
        assert change < 1e-12 * np.abs(momentum).max()
        if model is free:
            plain = bc.simulate(model, 4.0, q=q, v=v, method="rk4", step=0.5, max_step=0.02)
            drifted = np.hstack([plain.values("linear"), plain.values("angular")])
            assert np.abs(drifted - drifted[0]).max() > 1e3 * change


def flow(dynamics, method, h, q, p):
    """One step of a method, in q and p."""
    run = bc.simulate(dynamics.model, h, q=q, v=dynamics.velocities(q, p), step=h, method=method)
    q, v = run.values("q")[-1], run.values("v")[-1]
    return q, dynamics.momenta(q, v)


@pytest.mark.parametrize(("method", "symplectic"), [*((m, True) for m in METHODS), ("rk4", False), ("rattle", False)])
@pytest.mark.filterwarnings("ignore:.*the energy balance does not close")  # its steps are long
def test_a_step_is_a_canonical_transformation(method, symplectic):
    """The Jacobian A of a step has A^T W A = W; central differences of 1e-5 leave 2e-9 of it, rk4 3e-3."""
    model = chain(2)
    q, v = random_state(model, 5)
    dynamics = bc.compile(model, "canonical_momenta")
    start = np.concatenate([q, dynamics.momenta(q, v)])
    n, h, d = model.nv, 0.1, 1e-5

    def step(y):
        return np.concatenate(flow(dynamics, method, h, y[:n], y[n:]))

    A = np.array([(step(start + d * e) - step(start - d * e)) / (2 * d) for e in np.eye(2 * n)]).T
    W = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    error = np.abs(A.T @ W @ A - W).max()
    assert (error < 1e-8) if symplectic else (error > 1e-4)


@pytest.mark.parametrize("method", ["implicit_midpoint", "midpoint4"])
def test_a_step_through_rotations_is_a_canonical_transformation(method):
    """A heavy ball joint. In turns about the child's axes and quasi-momenta m the form is [-m~ 1; -1 0]."""
    model = replace(chain(1, kind="spherical"), gravity=np.array([0.3, 1.0, -9.81]))
    q, v = random_state(model, 2)
    dynamics = bc.compile(model, "canonical_momenta")
    p = dynamics.momenta(q, v)
    h, d = 0.05, 1e-5

    def turned(attitude, x):
        w, u = attitude[0], attitude[1:]
        new = np.concatenate([[w - u @ x / 2], u + (w * x + np.cross(u, x)) / 2])
        return new / np.linalg.norm(new)

    def step(x):
        return flow(dynamics, method, h, turned(q, x[:3]), p + x[3:])

    q1, p1 = flow(dynamics, method, h, q, p)
    columns = []
    for e in np.eye(6):
        (qa, pa), (qb, pb) = step(d * e), step(-d * e)
        difference = (qa - qb) / (2 * d)
        turn = 2 * (q1[0] * difference[1:] - difference[0] * q1[1:] - np.cross(q1[1:], difference[1:]))
        columns.append([*turn, *(pa - pb) / (2 * d)])
    A = np.array(columns).T

    def form(m):
        return np.block([[-cross_matrix(m), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])

    assert np.abs(A.T @ form(p1) @ A - form(p)).max() < 1e-8
    assert np.abs(A.T @ form(p) @ A - form(p)).max() > 1e-3  # so the test can fail


@pytest.mark.parametrize("method", METHODS)
def test_time_can_be_turned_round(method):
    model = chain(3)
    q, v = random_state(model, 3)
    there = bc.simulate(model, 0.5, q=q, v=v, method=method, step=0.5, max_step=0.01)
    back = bc.simulate(model, 0.5, q=there.values("q")[-1], v=-there.values("v")[-1], method=method, step=0.5, max_step=0.01)
    np.testing.assert_allclose(back.values("q")[-1], q, atol=1e-12)
    np.testing.assert_allclose(-back.values("v")[-1], v, atol=1e-11)


def test_the_energy_of_a_long_run_has_no_trend():
    """20,000 steps of the double pendulum: the mean error of the last tenth is within the spread of the first."""
    model = bc.load("double_pendulum")
    run = bc.simulate(model, 200.0, method="implicit_midpoint", step=0.5, max_step=0.01)
    error = run.values("kinetic") + run.values("potential")
    tenth = len(error) // 10
    assert abs(error[-tenth:].mean() - error[:tenth].mean()) < 2 * error[:tenth].std()


@pytest.mark.filterwarnings("ignore:.*a run in momenta does not end its steps")  # at the ends of tables
@pytest.mark.parametrize("method", ["dopri5", "rk4", "implicit_midpoint"])
def test_runs_in_momenta_are_runs_in_velocities(method):
    """With driven and free joints and force elements: the same motion, the same works of elements and drives."""
    model = loaded_tree(4, 1, driven=0.5)
    assert model.driven.any() and model.elements and not model.driven.all()
    options = {"step": 0.05, "rtol": 1e-10, "atol": 1e-10} if method == "dopri5" else {"step": 0.05, "max_step": 0.0005}
    expected = bc.simulate(model, 0.2, step=0.05, rtol=1e-11, atol=1e-11)
    run = bc.simulate(model, 0.2, method=method, formulation="canonical_momenta", **options)
    tolerance = 1e-7 if method != "implicit_midpoint" else 1e-4
    for name in ("q", "v", "a", "work"):
        known = expected.values(name)
        np.testing.assert_allclose(run.values(name), known, atol=tolerance * max(1.0, np.abs(known).max()))


def test_events_are_found_in_runs_in_momenta():
    model = bc.load("pendulum")
    event = bc.Event(model.q_names[0])
    runs = [bc.simulate(model, 5.0, events=[event], formulation=name) for name in ("auto", "canonical_momenta")]
    times = [run.values("time")[-1] for run in runs]
    assert times[0] < 5.0
    assert times[1] == pytest.approx(times[0], abs=1e-8)


def test_a_step_that_is_too_long_is_told():
    model = bc.load("double_pendulum")
    with pytest.raises(SimulationError, match="implicit_midpoint did not converge: 1 s is too long") as caught:
        bc.simulate(model, 10.0, method="implicit_midpoint", step=1.0)
    assert len(caught.value.run.values("time")) >= 1


def test_what_cannot_keep_the_structure_is_refused(floating):
    with pytest.raises(StateError, match="for trees, and model 'four-bar' has closed loops: use implicit_midpoint"):
        bc.simulate(bc.load("four_bar"), 1.0, method="gauss4")
    with pytest.raises(StateError, match=r"gauss4 would not keep the structure at joints with quaternions .*midpoint4"):
        bc.simulate(floating, 1.0, method="gauss4")
    with pytest.raises(StateError, match="use formulation 'canonical_momenta'"):
        bc.simulate(chain(2), 1.0, method="gauss4", formulation="articulated_body")
    with pytest.raises(StateError, match="functions or tables are supported by"):
        bc.simulate(chain(2), 1.0, method="gauss4", tau=lambda t, q, v: np.zeros(2))


def test_a_run_with_functions_starts_with_a_step_of_velocities_whatever_the_formulation(monkeypatch):
    """Efforts that are Python functions; bodies are heavy, so that momenta are far from velocities."""
    firsts, real = [], first_step.first_step

    def spied(*arguments):
        firsts.append(real(*arguments))
        return firsts[-1]

    monkeypatch.setattr(first_step, "first_step", spied)
    model = replace(chain(3), mass=50 * chain(3).mass, inertia=50 * chain(3).inertia)
    q, v = random_state(model, 1)
    options = {"q": q, "v": v, "step": 0.1, "tau": lambda t, q, v: np.zeros(3)}
    with pytest.warns(bc.BellcrankWarning, match="Python functions: they are called from machine code"):
        runs = [bc.simulate(model, 0.2, formulation=name, **options) for name in ("auto", "canonical_momenta")]
    assert firsts[1] == pytest.approx(firsts[0], rel=1e-6)
    np.testing.assert_allclose(runs[1].values("q"), runs[0].values("q"), atol=1e-12)
