"""What a joint is: how its coordinates place the child's frame, and in which directions the child may move.

Everything is said in the child's own frame, at its origin. A joint with an axis has it on z: the frames are chosen so
(topology.frames). A joint never names a formulation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..errors import ModelError
from ..numbers import Number
from ..spatial import Motion, PlaneTurn, Vector
from ..spatial.transform import Turn


class Rest(NamedTuple):
    """A constant turn about z, after the joint's own, that the choice of frames may ask for: its angle, and ready made."""

    angle: Number = 0.0
    turn: PlaneTurn = PlaneTurn.of("z", 0.0, 1.0)


class JointMotion(NamedTuple):
    """Pose of the child's frame in the joint's frame on the parent: first slide, then turn."""

    slide: Vector
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Joint:
    """A joint of one kind; ``axis`` is a unit vector in the design position, or None for a joint without one."""

    axis: tuple[float, float, float] | None = None

    kind: ClassVar[str]
    has_axis: ClassVar[bool] = False
    nq: ClassVar[int]
    nv: ClassVar[int]
    neutral: ClassVar[tuple[float, ...]]
    q_names: ClassVar[tuple[str, ...]]
    v_names: ClassVar[tuple[str, ...]]
    quaternion: ClassVar[int | None] = None  # where a quaternion starts in q

    @staticmethod
    def motion(q: Sequence[Number], rest: Rest) -> JointMotion:
        """Pose at the coordinates q; only a joint with an axis may be asked for a turn at rest."""
        raise NotImplementedError

    @staticmethod
    def directions(q: Sequence[Number]) -> tuple[Motion, ...]:
        """S: motion of the child for each unit of v.   (the paper's B_2)"""
        raise NotImplementedError

    @staticmethod
    def bias(q: Sequence[Number], v: Sequence[Number]) -> Motion:
        """S' v, S' the rate of the directions in the child's axes; zero for directions that are fixed there."""
        return Motion.zero()

    @staticmethod
    def rates(q: Sequence[Number], v: Sequence[Number]) -> tuple[Number, ...]:
        """dq/dt."""
        return tuple(v)


def coordinate_directions(*indices: int) -> tuple[Motion, ...]:
    """Unit motions: 0, 1, 2 turn about x, y, z; 3, 4, 5 shift along them."""
    unit = [[1.0 if j == k else 0.0 for j in range(6)] for k in indices]
    return tuple(Motion(Vector(*u[:3]), Vector(*u[3:])) for u in unit)


def make_joint(kind: str, axis: Any = None) -> Joint:
    """A joint by the name it has in model files; the axis is made a unit vector."""
    from .registry import JOINTS

    if kind not in JOINTS:
        raise ModelError(f"there is no joint type {kind!r}: use one of {', '.join(JOINTS)}")
    cls = JOINTS[kind]
    if not cls.has_axis:
        if axis is not None:
            raise ModelError(f"a {kind} joint has no axis: remove it (it was {axis!r})")
        return cls()
    if axis is None:
        raise ModelError(f"a {kind} joint needs an axis, a vector that is not zero")
    x, y, z = (float(a) for a in axis)
    length = math.sqrt(x * x + y * y + z * z)
    if not (math.isfinite(length) and length > 0):
        raise ModelError(f"the axis of a {kind} joint must be a finite vector that is not zero; it is {axis!r}")
    return cls((x / length, y / length, z / length))
