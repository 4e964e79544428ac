"""Mechanisms with chosen axes and offsets, for the choice of frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank.joints import JOINTS, make_joint
from bellcrank.model.generators import random_tree

ANY = tuple(kind for kind in JOINTS if kind != "free")


def unit(a):
    return a / np.linalg.norm(a)


def a_joint(kind, axis, rng):
    """A joint of a kind along an axis; what else it needs is random."""
    cls, given = JOINTS[kind], {}
    if cls.has_axis:
        given["axis"] = axis
    if cls.needs_axis2:
        given["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
    if cls.needs_pitch:
        given["pitch"] = rng.uniform(0.1, 0.5)
    return make_joint(kind, **given)


def with_joints(parents, kinds, axes, position, rng):
    """A model with the bodies of a random tree."""
    n = len(parents)
    base = random_tree(n, 0, ["revolute"])
    joints = tuple(a_joint(kind, axis, rng) for kind, axis in zip(kinds, axes, strict=True))
    nv = sum(joint.nv for joint in joints)
    start = np.array([x for joint in joints for x in joint.neutral])
    position = np.where(np.array([kind == "free" for kind in kinds])[:, None], 0.0, position)
    return replace(
        base,
        parents=tuple(parents),
        joints=joints,
        position=position,
        armature=np.zeros(nv),
        given_q=start,
        given_v=np.zeros(nv),
    )


def chain_of_axes(axes, position, kind="revolute"):
    n = len(axes)
    return with_joints(list(range(-1, n - 1)), [kind] * n, axes, position, np.random.default_rng(0))


def tilted_axes(n, angle, rng):
    """Each axis at this angle to the one before, tilted in any direction."""
    axes = [unit(rng.normal(size=3))]
    for _ in range(n - 1):
        across = unit(np.cross(axes[-1], rng.normal(size=3)))
        axes.append(unit(np.cos(angle) * axes[-1] + np.sin(angle) * across))
    return np.array(axes)


def world_origins(model):
    """Origins of the bodies in the design position."""
    origins = {-1: np.zeros(3)}

    def origin(i):
        if i not in origins:
            origins[i] = origin(model.parents[i]) + model.position[i]
        return origins[i]

    return np.array([origin(i) for i in range(model.n)])
