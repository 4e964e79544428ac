"""A, B, C, D about a state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import bellcrank as bc
from bellcrank.formulations import FORMULATIONS
from bellcrank.machine.in_python import run_plain
from bellcrank.model.manifold import displaced, rate_matrix, velocity_matrix
from bellcrank.plan import make_plan
from tests.formulations.mechanisms import build

from .mechanisms import GRAVITY, any_tree, double_pendulum, element, oscillator, pendulum

STEP = 1e-30  # its square vanishes: a complex step has no truncation error


@pytest.fixture(scope="module")
def case():
    model = any_tree(5)
    tau, inputs = np.linspace(-1, 1, model.nv), np.array([0.7])
    return model, tau, inputs, bc.linearize(model, tau=tau, inputs=inputs, outputs=["q", "v", "a"])


def complex_step(model, tau, inputs, name, columns):
    """Derivative of the acceleration along directions of q, v, tau or u, one column each."""
    plan = make_plan(model)
    state = {"q": model.initial_q, "v": model.initial_v, "tau": tau, "u": inputs, "t": np.zeros(1)}
    found = []
    for column in columns.T:
        moved = state | {name: state[name] + 1j * STEP * column}
        found.append(np.imag(run_plain(FORMULATIONS["mass_matrix"], plan, complex, **moved)["a"]) / STEP)
    return np.array(found).T


@pytest.mark.parametrize("block", ["q", "v", "tau", "u"])
def test_every_block_is_that_of_a_complex_step(case, block):
    """Of another formulation of the same equations; rounding grows with the condition of the mass matrix, here 1e3."""
    model, tau, inputs, space = case
    n = model.nv
    found = {"q": space.A[n:, :n], "v": space.A[n:, n:], "tau": space.B[n:, :n], "u": space.B[n:, n:]}[block]
    seeds = {"q": rate_matrix(model, model.initial_q), "v": np.eye(n), "tau": np.eye(n), "u": np.eye(1)}[block]
    expected = complex_step(model, tau, inputs, block, seeds)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())


def test_the_linear_model_follows_a_mechanism_in_steady_motion():
    """A thrown body that spins about its axis: v is constant in its own axes, and so is A, with Z in it.

    Runs from neighbouring states differ by exp(A t) d; the remainder falls fourfold as d is halved.
    """
    model = build(["free"], inertia=[np.diag([1.0, 1.0, 1.5])], gravity=np.zeros(3), given_v=[0, 0, 1.2, 0, 0, 3.0])
    space, duration = bc.linearize(model), 0.5
    assert np.abs(space.A[:6, :6]).max() == 3.0
    np.testing.assert_allclose(space.rate[6:], 0, atol=1e-15)
    direction = np.array([0.3, -0.7, 0.5, 0.2, 0.4, -0.6, 0.4, 0.1, -0.2, 0.5, 0.3, -0.8])
    steady = bc.simulate(model, duration)
    E = velocity_matrix(model, steady.values("q")[-1])
    remainders = []
    for size in (2e-3, 1e-3):
        d = size * direction
        run = bc.simulate(model, duration, q=displaced(model, model.initial_q, d[:6]), v=model.initial_v + d[6:])
        apart = [E @ (run.values("q") - steady.values("q"))[-1], (run.values("v") - steady.values("v"))[-1]]
        remainders.append(np.abs(np.concatenate(apart) - expm(space.A * duration) @ d).max())
    assert remainders[0] / remainders[1] == pytest.approx(4, rel=0.02)
    assert remainders[1] < 5e-6


def test_a_pendulum_and_its_motor():
    """q'' = -(g/l) cos(q0) dq + tau/(m l^2)."""
    space = bc.linearize(pendulum(0.7), q=[0.5], tau=[GRAVITY * 0.7 * np.sin(0.5)])
    np.testing.assert_allclose(space.A, [[0, 1], [-GRAVITY / 0.7 * np.cos(0.5), 0]], rtol=1e-14)
    np.testing.assert_allclose(space.B, [[0], [1 / 0.49]], rtol=1e-14)
    np.testing.assert_allclose(space.rate, 0, atol=1e-14)
    assert space.states == ("q of joint1", "v of joint1") and space.inputs == ("tau of joint1",)
    assert space.outputs == space.states


def test_an_input_of_the_model_acts_by_its_gain():
    motor = element("motor", "joint_input", {"gain": 4.0}, joint=0, input=0)
    model = build([("prismatic", (1, 0, 0))], mass=[2.0], elements=(motor,), inputs=("throttle",))
    space = bc.linearize(model, outputs=["a of joint1"])
    assert space.inputs == ("tau of joint1", "throttle")
    np.testing.assert_allclose(space.D, [[0.5, 2.0]], rtol=1e-15)


def test_the_frequency_response_of_an_oscillator():
    """x/F = 1/(k - m w^2 + i c w)."""
    m, k, c = 2.0, 50.0, 3.0
    frequencies = np.array([0.0, 0.3, 0.8, 5.0])
    w = 2 * np.pi * frequencies
    found = bc.linearize(oscillator(m, k, c), outputs=["q"]).response(frequencies)[:, 0, 0]
    np.testing.assert_allclose(found, 1 / (k - m * w**2 + 1j * c * w), rtol=1e-13)


def test_poles_come_slowest_first():
    poles = bc.linearize(double_pendulum()).poles
    expected = np.sqrt(GRAVITY * (2 + np.sqrt(2) * np.array([-1, -1, 1, 1]))) * [-1, 1, -1, 1]
    np.testing.assert_allclose(poles, 1j * expected, atol=1e-13)


def test_a_part_keeps_the_order_asked_for():
    space = bc.linearize(double_pendulum(), outputs=["q", "v", "a"])
    part = space.part(inputs=["tau of joint2"], outputs=["a of joint2", "q of joint1"])
    np.testing.assert_array_equal(part.D, [[space.D[5, 1]], [0.0]])
    np.testing.assert_array_equal(part.C[1], [1, 0, 0, 0])
    assert repr(part) == "StateSpace(4 states, 1 inputs, 2 outputs)"
    assert bc.linearize(double_pendulum(), outputs="a").outputs == ("a of joint1", "a of joint2")


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(bc.StateError, match="no output 'a of joint3' .did you mean 'a of joint"):
        bc.linearize(double_pendulum(), outputs=["a of joint3"])
    with pytest.raises(bc.StateError, match="no input 'wind'"):
        bc.linearize(double_pendulum()).part(inputs=["wind"])
