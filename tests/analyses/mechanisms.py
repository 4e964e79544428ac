"""Mechanisms whose equilibria and small motions are known by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.model import Element, Law, Model, PrescribedMotion
from bellcrank.model.generators import random_state, random_tree
from tests.formulations.mechanisms import build

GRAVITY = 9.81
EVERY_JOINT = ("revolute", "prismatic", "spherical", "fixed", "free", "planar", "universal", "screw", "cylindrical")


def element(name: str, kind: str, values: dict[str, float], **where: Any) -> Element:
    return Element(name, kind, values, **where)


def spring(joint: int, stiffness: float, rest: float = 0.0, dof: int = 0) -> Element:
    return element(
        f"spring{joint}{dof}", "joint_spring", {"stiffness": stiffness, "rest": rest, "preload": 0.0}, joint=joint, dof=dof
    )


def damper(joint: int, damping: float, dof: int = 0) -> Element:
    return element(f"damper{joint}{dof}", "joint_damper", {"damping": damping}, joint=joint, dof=dof)


def force(body: int, at: Any, f: Any, *, world: bool = True) -> Element:
    values = dict(zip(("fx", "fy", "fz", "mx", "my", "mz", "world"), (*f, 0.0, 0.0, 0.0, float(world)), strict=True))
    return element("pull", "force", values, body_a=body, point_a=at)


def pendulum(length: float = 0.7, **given: Any) -> Model:
    """A point mass on a hinge."""
    return build([("revolute", (0, 1, 0))], center=[[0, 0, -length]], inertia=np.zeros((1, 3, 3)), **given)


def double_pendulum() -> Model:
    """Equal point masses on equal massless rods of 1 m."""
    hinge = ("revolute", (0, 1, 0))
    return build([hinge, hinge], position=[[0, 0, 0], [0, 0, -1]], center=[[0, 0, -1]] * 2, inertia=np.zeros((2, 3, 3)))


def oscillator(mass: float, stiffness: float, damping: float) -> Model:
    return build([("prismatic", (1, 0, 0))], mass=[mass], elements=(spring(0, stiffness), damper(0, damping)))


def hanging_chain(n: int, pull: float) -> Model:
    """n links of 1 m and 1 N altogether, hung at the origin, the free end pulled sideways."""
    length, mass = 1 / n, 1 / GRAVITY / n
    inertia = np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12
    return build(
        [("revolute", (0, 1, 0))] * n,
        position=[[0, 0, 0]] + [[length, 0, 0]] * (n - 1),
        center=[[length / 2, 0, 0]] * n,
        mass=[mass] * n,
        inertia=[inertia] * n,
        gravity=(0, 0, -GRAVITY),
        elements=(force(n - 1, (length, 0, 0), (pull, 0.0, 0.0)),),
    )


def follower_column(load: float, damping: float = 0.0) -> Model:
    """Ziegler's column: two links of 1 m, hinges of 1 N m/rad, masses 2 and 1 kg at their ends, a load along the last link."""
    hinge = ("revolute", (0, 0, 1))
    elements = [spring(0, 1.0), spring(1, 1.0), force(1, (1, 0, 0), (-load, 0.0, 0.0), world=False)]
    if damping:
        elements += [damper(0, damping), damper(1, damping)]
    return build(
        [hinge, hinge],
        position=[[0, 0, 0], [1, 0, 0]],
        center=[[1, 0, 0]] * 2,
        mass=[2.0, 1.0],
        inertia=np.zeros((2, 3, 3)),
        gravity=np.zeros(3),
        elements=tuple(elements),
    )


ZIEGLER = 3.5 - np.sqrt(2)  # the load, in units of stiffness/length, where two roots of the column meet


def governor(rate: float, length: float = 0.7) -> Model:
    """A point mass on a hinge whose support turns about the vertical at a constant rate."""
    return build(
        [("revolute", (0, 0, 1)), ("revolute", (0, 1, 0))],
        center=[[0, 0, 0], [0, 0, -length]],
        inertia=np.zeros((2, 3, 3)),
        armature=np.zeros(1),
        motions=(PrescribedMotion((Law("polynomial", (0.0, rate)),)), None),
        given_q=[0.3],
        given_v=[0.0],
    )


def any_tree(seed: int, n: int = 7) -> Model:
    """Every joint, springs and dampers, an input; at any state."""
    model = random_tree(n, seed, EVERY_JOINT, armature=True, shuffle=True)
    q, v = random_state(model, seed)
    scalar = [i for i, joint in enumerate(model.joints) if joint.nq and joint.quaternion is None]
    elements: list[Element] = [spring(i, 3.0, 0.2) for i in scalar] + [damper(i, 0.3) for i in scalar]
    elements.append(element("motor", "joint_input", {"gain": 2.5}, joint=scalar[0], input=0))
    values = {"stiffness": 20.0, "damping": 0.5, "length": 0.3, "preload": 1.0}
    elements.append(
        element("tie", "spring_damper", values, body_a=0, body_b=n - 1, point_a=(0.1, 0.3, 0), point_b=(0, 0.2, 0.4))
    )
    return replace(model, given_q=q, given_v=v, elements=tuple(elements), inputs=("throttle",))
