"""Small models with force elements and prescribed motions, whose motion has a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.joints import make_joint
from bellcrank.model import Element, Law, Model, PrescribedMotion


def make(
    *kinds: Any, parents: tuple[int, ...] | None = None, motions: tuple[PrescribedMotion | None, ...] = (), **given: Any
) -> Model:
    """Bodies of 1 kg with unit inertia, centred at their joints, without gravity: joints j0, j1, ... carry b0, b1, ..."""
    n = len(kinds)
    joints = tuple(make_joint(*kind) if isinstance(kind, tuple) else make_joint(kind) for kind in kinds)
    free = [joint for k, joint in enumerate(joints) if not (motions and motions[k])]
    defaults: dict[str, Any] = {
        "name": "by hand",
        "joint_names": tuple(f"j{i}" for i in range(n)),
        "body_names": tuple(f"b{i}" for i in range(n)),
        "parents": tuple(range(-1, n - 1)) if parents is None else parents,
        "joints": joints,
        "position": np.zeros((n, 3)),
        "mass": np.ones(n),
        "center": np.zeros((n, 3)),
        "inertia": np.tile(np.eye(3), (n, 1, 1)),
        "armature": np.zeros(sum(joint.nv for joint in free)),
        "gravity": np.zeros(3),
        "given_q": np.array([x for joint in free for x in joint.neutral], dtype=float),
        "given_v": np.zeros(sum(joint.nv for joint in free)),
        "motions": motions,
    }
    return Model(**(defaults | given))


SLIDE_X = ("prismatic", (1, 0, 0))
HINGE_Y = ("revolute", (0, 1, 0))


def polynomial(*coefficients: float) -> Law:
    return Law("polynomial", coefficients)


def joint_element(name: str, kind: str, joint: int = 0, dof: int = 0, **values: float) -> Element:
    return Element(name, f"joint_{kind}", values, joint=joint, dof=dof)


def spring(name: str, stiffness: float, *, damping: float = 0.0, length: float = 0.0, **places: Any) -> Element:
    values = {"stiffness": stiffness, "damping": damping, "length": length, "preload": 0.0}
    return Element(name, "spring_damper", values, **places)


def bushing(name: str, k: tuple[float, float, float], c: tuple[float, float, float] = (0, 0, 0), **places: Any) -> Element:
    values = {f"k{axis}": float(x) for axis, x in zip("xyz", k, strict=True)} | dict.fromkeys(("krx", "kry", "krz"), 0.0)
    values |= {f"c{axis}": float(x) for axis, x in zip("xyz", c, strict=True)} | dict.fromkeys(("crx", "cry", "crz"), 0.0)
    return Element(name, "bushing", values, **places)


def force(name: str, *, fx: float = 0.0, fy: float = 0.0, fz: float = 0.0, world: float = 1.0, **places: Any) -> Element:
    values = {"fx": fx, "fy": fy, "fz": fz, "mx": 0.0, "my": 0.0, "mz": 0.0, "world": world}
    return Element(name, "force", values, **places)


def pendulum(**given: Any) -> Model:
    """1 kg at the end of 1 m, hanging along -z, turning about y."""
    arrays = {"center": [[0, 0, -1.0]], "inertia": np.zeros((1, 3, 3)), "gravity": (0, 0, -9.81), "given_q": [0.5]}
    return make(HINGE_Y, **(arrays | given))
