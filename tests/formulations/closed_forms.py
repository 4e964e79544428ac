"""Closed mechanisms whose motion is known by hand: model, state, accelerations, and wrenches of the closures or None."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.joints import make_joint
from bellcrank.model import Closure, Element, Law, Model, PrescribedMotion

from ..closed_linkages import four_bar, parallelogram
from ..closed_states import flowing, settled
from .mechanisms import build

G = 9.81
Known = tuple[Model, dict[str, Any], Any, Any]


def at(model: Model, q: Any, v: Any, tau: Any = None, t: float = 0.0) -> dict[str, Any]:
    effort = np.zeros(model.nv) if tau is None else np.array(tau, dtype=float)
    return {"q": np.array(q, dtype=float), "v": np.array(v, dtype=float), "tau": effort, "t": t, "inputs": np.zeros(0)}


def _four_bar(kind: str) -> Known:
    """Lagrange with the crank angle f alone: J f'' + J'/2 f'^2 + V' = tau; J' and V' by a complex step."""
    model = four_bar(kind)
    q = settled(model, np.array(model.initial_q) + [0.4, 0.0, 0.0], 0.0)
    v = flowing(model, q, np.array([6.0, 0.0, 0.0]), 0.0)
    tau = 2.5
    f, h = 0.7 + q[0], 1e-30

    def angles(f: Any) -> tuple[Any, Any]:
        """Coupler and rocker."""
        x, y = 2.0 - 0.5 * np.cos(f), -0.5 * np.sin(f)
        d = np.sqrt(x * x + y * y)
        lean, along = np.arccos((d * d + 1.8**2 - 1.2**2) / (2 * d * 1.8)), np.arctan(y / x)
        coupler = along + lean
        tip_x, tip_y = 1.8 * np.cos(coupler) - x, 1.8 * np.sin(coupler) - y
        return coupler, 2 * np.arctan(tip_y / (1.2 + tip_x))

    def inertia(f: Any) -> Any:
        c, r = angles(f)
        rate_c, rate_r = -0.5 * np.sin(f - r) / (1.8 * np.sin(c - r)), 0.5 * np.sin(f - c) / (1.2 * np.sin(r - c))
        vx = -0.5 * np.sin(f) - 0.9 * np.sin(c) * rate_c
        vy = 0.5 * np.cos(f) + 0.9 * np.cos(c) * rate_c
        return 0.5**3 / 3 + 1.8 * (vx * vx + vy * vy) + 1.8**3 / 12 * rate_c**2 + 1.2**3 / 3 * rate_r**2

    def potential(f: Any) -> Any:
        c, r = angles(f)
        return G * (0.5 * 0.25 * np.sin(f) + 1.8 * (0.5 * np.sin(f) + 0.9 * np.sin(c)) + 1.2 * 0.6 * np.sin(r))

    slope, force = np.imag(inertia(f + 1j * h)) / h, np.imag(potential(f + 1j * h)) / h
    first = (tau - slope / 2 * v[0] ** 2 - force) / inertia(f)
    return model, at(model, q, v, [tau, 0, 0]), _with_first(model, q, v, first), None


def _with_first(model: Model, q: Any, v: Any, first: float) -> Any:
    """Accelerations of a mechanism of one degree of freedom, from the first of them and the closures."""
    from ..closed_reference import constraints

    c = constraints(model, q, v)
    G_, gamma = c.G.astype(float), c.gamma.astype(float)
    rest = np.linalg.lstsq(G_[:, 1:], gamma - G_[:, 0] * first, rcond=1e-9)[0]
    return np.array([first, *rest])


def _parallelogram(extra: int, kind: str) -> Known:
    """A pendulum: the coupler only translates. (n/3 + 1) f'' = -(n/2 + 1) g cos f, whatever the speed."""
    model, n = parallelogram(extra, kind), extra + 2
    turn, speed = 0.35, 1.7
    q, v = np.append(np.full(n, turn), -turn), np.append(np.full(n, speed), -speed)
    a = -(n / 2 + 1) * G * np.cos(1.1 + turn) / (n / 3 + 1)
    return model, at(model, q, v), np.append(np.full(n, a), -a), None


def _slider_crank() -> Known:
    """A massless rod l between a crank r of inertia J and a slider m: (J + m x'^2) f'' + m x' x'' f'^2 = tau, x(f) by hand."""
    J, m, r, rod, tau = 0.3, 2.0, 0.4, 1.1, 1.3
    kinds = [("revolute", (0, 0, 1)), ("prismatic", (1, 0, 0))]
    model = build(kinds, parents=(-1, -1), mass=[1.0, m], inertia=[J * np.eye(3), np.zeros((3, 3))], gravity=np.zeros(3))
    point = {"point_a": (r, 0.0, 0.0), "point_b": (0.0, 0.0, 0.0)}
    model = replace(model, closures=(Closure("rod", "distance", 0, 1, value=rod, **point),))
    f, rate = 0.8, 2.0
    root = np.sqrt(rod**2 - (r * np.sin(f)) ** 2)
    x = r * np.cos(f) + root
    x1 = -r * np.sin(f) - r**2 * np.sin(f) * np.cos(f) / root
    x2 = -r * np.cos(f) - r**2 * np.cos(2 * f) / root - r**4 * (np.sin(f) * np.cos(f)) ** 2 / root**3
    a = (tau - m * x1 * x2 * rate**2) / (J + m * x1**2)
    slide = x1 * a + x2 * rate**2
    force = np.array([x - r * np.cos(f), -r * np.sin(f), 0.0]) / rod
    push = m * slide / force[0]
    return model, at(model, [f, x], [rate, x1 * rate], [tau, 0]), [a, slide], [[*(push * force), 0, 0, 0]]


def _double_pendulum() -> Known:
    """Two free particles on rods; the tensions of the rods give the accelerations of the well-known double pendulum."""
    m1, m2, l1, l2, f1, f2, w1, w2 = 1.3, 0.7, 0.9, 1.2, 0.5, -0.8, 1.1, 2.3
    model = build(["free", "free"], parents=(-1, -1), mass=[m1, m2])
    rods = (Closure("upper", "distance", -1, 0, value=l1), Closure("lower", "distance", 0, 1, value=l2))
    model = replace(model, closures=rods)
    u1, u2 = np.array([np.sin(f1), 0, -np.cos(f1)]), np.array([np.sin(f2), 0, -np.cos(f2)])
    n1, n2 = np.array([np.cos(f1), 0, np.sin(f1)]), np.array([np.cos(f2), 0, np.sin(f2)])
    d = f1 - f2
    M = np.array([[(m1 + m2) * l1, m2 * l2 * np.cos(d)], [m2 * l1 * np.cos(d), m2 * l2]])
    right = [-m2 * l2 * w2**2 * np.sin(d) - (m1 + m2) * G * np.sin(f1), m2 * l1 * w1**2 * np.sin(d) - m2 * G * np.sin(f2)]
    a1, a2 = np.linalg.solve(M, right)
    acc1 = l1 * (a1 * n1 - w1**2 * u1)
    acc2 = acc1 + l2 * (a2 * n2 - w2**2 * u2)
    weight = np.array([0, 0, -G])
    lower = m2 * (acc2 - weight)
    upper = m1 * (acc1 - weight) + lower
    q = [*(l1 * u1), 1, 0, 0, 0, *(l1 * u1 + l2 * u2), 1, 0, 0, 0]
    v = [*(l1 * w1 * n1), 0, 0, 0, *(l1 * w1 * n1 + l2 * w2 * n2), 0, 0, 0]
    return model, at(model, q, v), [*acc1, 0, 0, 0, *acc2, 0, 0, 0], [[*upper, 0, 0, 0], [*lower, 0, 0, 0]]


def _growing_pendulum() -> Known:
    """A rod whose length is a law: f'' = -(g sin f + 2 L' f')/L; the tension m (L f'^2 - L'' + g cos f)."""
    m, t, f, w = 1.4, 0.6, 0.7, 1.9
    L, L1, L2 = 1.0 + 0.3 * t - 0.2 * t**2, 0.3 - 0.4 * t, -0.4
    model = build(["free"], mass=[m])
    law = PrescribedMotion((Law("polynomial", (1.0, 0.3, -0.2)),))
    model = replace(model, closures=(Closure("rope", "distance", -1, 0, value=1.0, motion=law),))
    u, n = np.array([np.sin(f), 0, -np.cos(f)]), np.array([np.cos(f), 0, np.sin(f)])
    a = -(G * np.sin(f) + 2 * L1 * w) / L
    acc = (L2 - L * w**2) * u + (L * a + 2 * L1 * w) * n
    tension = m * (L * w**2 - L2 + G * np.cos(f))
    return (
        model,
        at(model, [*(L * u), 1, 0, 0, 0], [*(L1 * u + L * w * n), 0, 0, 0], t=t),
        [*acc, 0, 0, 0],
        [[*(-tension * u), 0, 0, 0]],
    )


def _gears() -> Known:
    """q1 = 3 q2: seen from the second wheel, J2 + 9 J1 turns under tau2 + 3 tau1."""
    J1, J2 = 0.2, 0.9
    axis = ("revolute", (0, 0, 1))
    model = build([axis, axis], parents=(-1, -1), inertia=[J1 * np.eye(3), J2 * np.eye(3)])
    model = replace(model, closures=(Closure("gears", "coupler", terms=((0, 0, 1.0), (1, 0, -3.0))),))
    a = (2.0 + 3 * 0.5) / (J2 + 9 * J1)
    return model, at(model, [0.6, 0.2], [1.5, 0.5], [0.5, 2.0]), [3 * a, a], np.zeros((1, 6))


def _nut() -> Known:
    """A nut on a screw that stands upright, carried by a cylindrical joint: (J + m p^2) f'' = -m g p."""
    m, J, p = 2.0, 0.05, 0.1
    up = (0, 0, 1)
    model = build([("cylindrical", up)], mass=[m], inertia=[J * np.eye(3)])
    model = replace(model, closures=(Closure("thread", "joint", -1, 0, joint=make_joint("screw", up, pitch=p)),))
    a = -m * G * p / (J + m * p**2)
    # Without effort there is no torque about the axis beside the thread's force: f = m (p a + g), n = J a, and f p + n = 0.
    return model, at(model, [8.0, 0.8], [3.0, 0.3]), [a, p * a], [[0, 0, m * (p * a + G), 0, 0, J * a]]


def _bracket(ground_first: bool) -> Known:
    """A beam at rest, welded to ground at its end: the weld carries weight and moment; said the other way, their reaction."""
    m, reach = 3.0, 0.8
    model = build(["free"], mass=[m], center=[[reach, 0, 0]])
    bodies = (-1, 0) if ground_first else (0, -1)
    model = replace(model, closures=(Closure("weld", "joint", *bodies, joint=make_joint("fixed")),))
    wrench = np.array([0, 0, m * G, 0, -m * G * reach, 0])
    return model, at(model, [0, 0, 0, 1, 0, 0, 0], np.zeros(6)), np.zeros(6), [wrench if ground_first else -wrench]


def _hinge_with_spring() -> Known:
    """A free wheel held at its centre by a closing hinge with a spring, a damper and a torque: J f'' = 2 - 5 f - 0.3 f'."""
    J, f, w = 0.4, 0.6, 1.5
    axis = (0, 1, 0)
    model = build(["free"], inertia=[J * np.eye(3)])
    hinge = Closure("hinge", "joint", -1, 0, joint=make_joint("revolute", axis))
    kinds = (
        ("joint_spring", {"stiffness": 5.0, "rest": 0.0, "preload": 0.0}),
        ("joint_damper", {"damping": 0.3}),
        ("joint_effort", {"value": 2.0}),
    )
    elements = tuple(Element(kind, kind, values, closure=0) for kind, values in kinds)
    model = replace(model, closures=(hinge,), elements=elements)
    q = [0, 0, 0, np.cos(f / 2), 0, np.sin(f / 2), 0]
    a = (2.0 - 5.0 * f - 0.3 * w) / J
    return model, at(model, q, [0, 0, 0, 0, w, 0]), [0, 0, 0, 0, a, 0], [[0, 0, G, 0, 0, 0]]


def _motor() -> Known:
    """The same wheel with J = 1, turned by a law: the closing joint holds its weight and brings the moment J f''."""
    t = 0.5
    law = Law("polynomial", (0.0, 0.3, 0.8))
    model = build(["free"])
    drive = Closure("motor", "joint", -1, 0, joint=make_joint("revolute", (0, 1, 0)), motion=PrescribedMotion((law,)))
    model = replace(model, closures=(drive,))
    f = 0.3 * t + 0.8 * t**2
    q = [0, 0, 0, np.cos(f / 2), 0, np.sin(f / 2), 0]
    return model, at(model, q, [0, 0, 0, 0, 0.3 + 1.6 * t, 0], t=t), [0, 0, 0, 0, 1.6, 0], [[0, 0, G, 0, 1.6, 0]]


CLOSED_FORMS: dict[str, Callable[[], Known]] = {
    "four-bar by Lagrange": lambda: _four_bar("revolute"),
    "four-bar pinned in its plane": lambda: _four_bar("point_on_line"),
    "parallelogram": lambda: _parallelogram(0, "revolute"),
    "parallelogram with a redundant crank": lambda: _parallelogram(1, "revolute"),
    "slider-crank": _slider_crank,
    "double pendulum of rods": _double_pendulum,
    "pendulum on a growing rope": _growing_pendulum,
    "gears": _gears,
    "nut on a screw": _nut,
    "beam on a weld": lambda: _bracket(True),
    "weld on a beam": lambda: _bracket(False),
    "wheel on a sprung hinge": _hinge_with_spring,
    "wheel on a motor": _motor,
}
