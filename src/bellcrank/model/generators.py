"""Mechanisms by the number: chains and trees of any size for tests and benchmarks, always the same for a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..joints import JOINTS, Joint, make_joint
from .humanoid import humanoid
from .model import Model

Array = NDArray[np.float64]

__all__ = ["chain", "humanoid", "pin_joint_chain", "random_state", "random_tree"]

KINDS = ("revolute", "prismatic", "spherical", "fixed")


def chain(n: int, seed: int = 0, kind: str = "revolute") -> Model:
    """n bodies in a row, each on the one before by a joint of one kind, with general axes, offsets and inertias."""
    rng = np.random.default_rng(seed)
    return _random_model(f"chain of {n}", list(range(-1, n - 1)), [kind] * n, rng)


def pin_joint_chain(n: int, *, perpendicular: bool = False, seed: int = 0) -> Model:
    """The chain of the papers' operation counts: general twists and offsets, full inertia tensors.

    Axes turn about the common normals (world x), which are parallel in the design position, so that the coordinates are
    the Denavit-Hartenberg angles themselves. The base frame is on the first joint. ``perpendicular``: twists of a right
    angle, and no offset along the common normals.
    """
    rng = np.random.default_rng(seed)
    twist = np.cumsum(np.full(n, np.pi / 2) if perpendicular else rng.uniform(0.4, 1.1, n))
    axes = np.stack([np.zeros(n), -np.sin(twist), np.cos(twist)], axis=1)
    normal = 0.0 if perpendicular else rng.uniform(0.1, 0.3, (n, 1))
    position = normal * np.array([1.0, 0.0, 0.0]) + rng.uniform(0.1, 0.3, (n, 1)) * axes
    base = _random_model(f"pin-joint chain of {n}", list(range(-1, n - 1)), ["revolute"] * n, rng)
    joints = tuple(make_joint("revolute", axis=axis) for axis in axes)
    return replace(base, joints=joints, position=position, gravity=np.array([1.0, 2.0, -9.0]))


def random_tree(
    n: int,
    seed: int,
    kinds: Sequence[str] = KINDS,
    *,
    free_root: bool = False,
    armature: bool = False,
    shuffle: bool = False,
) -> Model:
    """n bodies on branches of mixed joints.

    Three bodies of five continue the branch before them, the others start a new one anywhere. ``shuffle`` lists the rows
    in any order, so that parents may come after their children.
    """
    rng = np.random.default_rng(seed)
    parents = [-1] + [i - 1 if rng.random() < 0.6 else int(rng.integers(0, i)) for i in range(1, n)]
    chosen = [str(rng.choice(list(kinds))) for _ in range(n)]
    if free_root:
        chosen[0] = "free"
    if shuffle:
        parents, chosen = _shuffled(parents, chosen, rng)
    return _random_model(f"tree of {n}", parents, chosen, rng, armature=armature)


def _shuffled(parents: list[int], chosen: list[str], rng: np.random.Generator) -> tuple[list[int], list[str]]:
    order = rng.permutation(len(parents)).tolist()
    place = {old: new for new, old in enumerate(order)}
    return [place.get(parents[old], -1) for old in order], [chosen[old] for old in order]


def random_state(model: Model, seed: int = 0) -> tuple[Array, Array]:
    """Any q, with unit quaternions, and any v, of order one."""
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv)
    for joint, start, driven in zip(model.joints, model.q_index, model.driven, strict=True):
        if joint.quaternion is not None and not driven:
            k = slice(start + joint.quaternion, start + joint.quaternion + 4)
            q[k] = _unit(rng, 4)
    return q, v


def _random_model(
    name: str, parents: list[int], kinds: list[str], rng: np.random.Generator, *, armature: bool = False
) -> Model:
    n = len(parents)
    joints = [_random_joint(kind, rng) for kind in kinds]
    position = rng.uniform(-0.3, 0.3, (n, 3))
    position[[joint.kind == "free" for joint in joints]] = 0.0
    mass = rng.uniform(0.5, 2.0, n)
    nv = sum(joint.nv for joint in joints)
    return Model(
        name=name,
        joint_names=tuple(f"joint{i + 1}" for i in range(n)),
        body_names=tuple(f"body{i + 1}" for i in range(n)),
        parents=tuple(parents),
        joints=tuple(joints),
        position=position,
        mass=mass,
        center=rng.uniform(-0.1, 0.1, (n, 3)),
        inertia=np.array([_random_inertia(m, rng) for m in mass]),
        armature=rng.uniform(0.0, 0.1, nv) if armature else np.zeros(nv),
        gravity=np.array([0.0, 0.0, -9.81]),
        initial_q=np.array([x for joint in joints for x in joint.neutral], dtype=float),
        initial_v=np.zeros(nv),
    )


def _random_joint(kind: str, rng: np.random.Generator) -> Joint:
    if kind not in JOINTS or not JOINTS[kind].has_axis:
        return make_joint(kind)
    axis = _unit(rng, 3)
    axis2 = np.cross(axis, _unit(rng, 3)) if JOINTS[kind].needs_axis2 else None
    pitch = float(rng.uniform(0.05, 0.2)) if JOINTS[kind].needs_pitch else None
    return make_joint(kind, axis=axis, axis2=axis2, pitch=pitch)


def _unit(rng: np.random.Generator, size: int) -> Array:
    a = rng.normal(size=size)
    return np.asarray(a / np.linalg.norm(a))


def _random_inertia(mass: float, rng: np.random.Generator) -> Array:
    """Full tensor of three pairs of point masses on turned axes: such a body exists, so its inertia is possible."""
    spread = mass * rng.uniform(0.03, 0.1, 3) ** 2
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    inertia = turn @ np.diag(spread.sum() - spread) @ turn.T
    return np.asarray((inertia + inertia.T) / 2)
