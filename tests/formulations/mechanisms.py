"""The mechanisms of the table, and small ones by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.joints import make_joint
from bellcrank.model import Model
from bellcrank.model.generators import KINDS, chain, humanoid, random_tree

ALL_KINDS = (*KINDS, "free")

MECHANISMS = {
    "one hinge": lambda: chain(1),
    "one slider": lambda: chain(1, kind="prismatic"),
    "one ball": lambda: chain(1, kind="spherical"),
    "one free body": lambda: chain(1, kind="free"),
    "chain of hinges": lambda: chain(7),
    "long chain": lambda: chain(24),
    "humanoid": humanoid,
    "branches in any order": lambda: random_tree(9, 12, armature=True, shuffle=True),
    "branches on a free base": lambda: random_tree(9, 2, free_root=True, shuffle=True, armature=True),
    "free joints on moving bodies": lambda: random_tree(6, 3, ALL_KINDS, shuffle=True, armature=True),
    "fixed in the middle and at the tips": lambda: small_tree(),
}


def small_tree() -> Model:
    """Fixed joints at the root, in the middle and at tips; two branches on ground."""
    kinds: list[Any] = ["fixed", ("revolute", (1, 2, 3)), "fixed", ("prismatic", (0, -1, 1)), "fixed", "spherical", "fixed"]
    return build(kinds, parents=(-1, 0, 1, 2, 3, -1, 5), seed=3)


def build(kinds: Sequence[Any], parents: Sequence[int] | None = None, *, seed: int | None = None, **given: Any) -> Model:
    """A model by hand: unit bodies with centres at their origins, or any bodies with a seed; arrays replace them."""
    n = len(kinds)
    joints = [make_joint(*kind) if isinstance(kind, tuple) else make_joint(kind) for kind in kinds]
    nv = sum(joint.nv for joint in joints)
    arrays: dict[str, Any] = {
        "position": np.zeros((n, 3)),
        "mass": np.ones(n),
        "center": np.zeros((n, 3)),
        "inertia": np.tile(np.eye(3), (n, 1, 1)),
    }
    if seed is not None:
        like = random_tree(n, seed)
        arrays = {name: np.array(getattr(like, name)) for name in arrays}
        arrays["position"][[joint.kind == "free" for joint in joints]] = 0.0
    defaults: dict[str, Any] = {
        "name": "by hand",
        "joint_names": tuple(f"joint{i + 1}" for i in range(n)),
        "body_names": tuple(f"body{i + 1}" for i in range(n)),
        "parents": tuple(range(-1, n - 1)) if parents is None else tuple(parents),
        "joints": tuple(joints),
        "armature": np.zeros(nv),
        "gravity": (0.0, 0.0, -9.81),
        "given_q": np.array([x for joint in joints for x in joint.neutral], dtype=float),
        "given_v": np.zeros(nv),
    }
    return Model(**(defaults | arrays | given))
