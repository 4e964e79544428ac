"""Spherical (ball): turns freely; q is a quaternion, v the angular velocity relative to the parent in the child's axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Motion, Vector, quaternion_rate, quaternion_turn
from ..spatial.vector import ZERO
from .base import Joint, JointMotion, Rest, coordinate_directions


class Spherical(Joint):
    kind = "spherical"
    nq, nv = 4, 3
    neutral: ClassVar[tuple[float, ...]] = (1.0, 0.0, 0.0, 0.0)
    q_names: ClassVar[tuple[str, ...]] = ("w", "x", "y", "z")
    v_names: ClassVar[tuple[str, ...]] = ("wx", "wy", "wz")
    quaternion = 0

    @staticmethod
    def motion(q: Sequence[Number], rest: Rest) -> JointMotion:
        return JointMotion(ZERO, (quaternion_turn(q),))

    @staticmethod
    def directions(q: Sequence[Number]) -> tuple[Motion, ...]:
        return coordinate_directions(0, 1, 2)

    @staticmethod
    def rates(q: Sequence[Number], v: Sequence[Number]) -> tuple[Number, ...]:
        return quaternion_rate(q, Vector(*v))
