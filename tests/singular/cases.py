"""Linkages with change points, and their exact motion on the branch of parallel cranks: that of a pendulum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import bellcrank as bc
from bellcrank.joints import make_joint
from bellcrank.model import Model
from tests import closed
from tests.closed_linkages import Bar, linkage, n_four_bar, parallelogram
from tests.closed_states import Unfit, moving

GRAVITY = np.array([0.5, -2.0, 0.0])


def lopsided(angle: float) -> Model:
    """A parallelogram with unequal masses and a coupler whose centre is off its line: open, its cranks would part."""
    model = parallelogram(angle=angle)
    center, inertia = model.center.copy(), model.inertia * np.array([1.0, 3.0, 2.0])[:, None, None]
    center[2] = 0.6 * center[2] + [0.0, 0.3, 0.0]
    return replace(model, mass=np.array([1.0, 3.0, 2.0]), center=center, inertia=inertia, gravity=GRAVITY)


def two_four_bars(angle: float) -> Model:
    return replace(n_four_bar(2, angle=angle), gravity=GRAVITY)


def cranks_of(model: Model) -> int:
    return sum(parent < 0 for parent in model.parents)


def turning(model: Model, speed: float) -> np.ndarray:
    """Velocities of parallel cranks: couplers turn back on them."""
    cranks = cranks_of(model)
    return speed * np.array([1.0] * cranks + [-1.0] * (model.nv - cranks))


def exact_turn(model: Model, angle: float, speed: float, duration: float) -> np.ndarray:
    """Angle and speed of the cranks, of 1 m, at the end: I w' = moment of all weights, couplers on circles."""
    cranks, inertia, arm = cranks_of(model), 0.0, 0.0
    for i in range(model.n):
        swung = model.center[i] @ model.center[i] if i < cranks else 1.0
        inertia += model.mass[i] * swung + (model.inertia[i, 2, 2] if i < cranks else 0.0)
        arm += model.mass[i] * np.sqrt(swung)

    def slope(t: float, y: Any) -> list[float]:
        return [y[1], arm * (np.array([-np.sin(y[0]), np.cos(y[0]), 0.0]) @ model.gravity) / inertia]

    return solve_ivp(slope, (0, duration), [angle, speed], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def start(model: Model, **given: Any) -> dict[str, np.ndarray]:
    first = {"q": model.given_q, "v": model.given_v, "tau": np.zeros(model.nv), "u": np.zeros(len(model.inputs))}
    return {name: np.array(given.get(name, x), dtype=float) for name, x in first.items()}


def loaded(n: int, seed: int, kinds: tuple[str, ...], *, plain: bool = False, **how: Any) -> tuple[Model, dict[str, Any]]:
    """A random mechanism in motion, with all force elements but stops: where one is met the force has a kink, and no method its
    order. ``plain``: without screws and armatures."""
    for more in range(20):
        try:
            model = closed.tree(n, seed + more, **how)
            if plain:
                joints = [make_joint("revolute", j.axis) if j.kind == "screw" else j for j in model.joints]
                model = replace(model, joints=tuple(joints), armature=np.zeros(model.nv))
            rng = np.random.default_rng([seed, n])
            for kind in kinds:
                model = closed.close(model, kind, rng)
            model = closed.load(model, rng)
            model = replace(model, elements=tuple(e for e in model.elements if e.kind != "joint_stop"))
            return model, moving(model)
        except Unfit:
            continue
    raise AssertionError(f"no mechanism of {n} bodies closed by {kinds} was found")


def exact_state(dynamics: bc.Dynamics, given: dict[str, Any], duration: float) -> np.ndarray:
    """q and v at the end, by a method of high order on the compiled accelerations."""
    nq, tau, u, t = dynamics.model.nq, given["tau"], given["inputs"], given["t"]

    def slope(t: float, y: Any) -> np.ndarray:
        q, v = y[:nq], y[nq:]
        return np.concatenate([dynamics.rates(q, v), dynamics.acceleration(q, v, tau, t=t, inputs=u)])

    first = np.concatenate([given["q"], given["v"]])
    return solve_ivp(slope, (t, t + duration), first, method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]


def double_pendulum(angles: Any = (0.0, 0.0)) -> Model:
    """Huang's: 14.59 kg, 1.36 kg m2, half length 0.61 m; the first bars' angles from x are in its design position."""
    first, second = (1.22 * np.array([np.cos(a), np.sin(a), 0.0]) for a in angles)
    bars = [Bar("one", -1, np.zeros(3), first, mass=14.59), Bar("two", 0, first, first + second, mass=14.59)]
    model, _ = linkage("double pendulum", bars)
    return replace(model, inertia=np.array([np.diag([1.36, 1.36, 1.36])] * 2))


def orders(errors: list[float]) -> np.ndarray:
    """Of steps that are halved each time."""
    return np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
