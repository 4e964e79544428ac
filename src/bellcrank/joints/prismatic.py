"""Prismatic (slider): shifts along its axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Motion, Vector
from .base import Joint, JointMotion, Rest, coordinate_directions


class Prismatic(Joint):
    kind = "prismatic"
    has_axis = True
    nq, nv = 1, 1
    neutral: ClassVar[tuple[float, ...]] = (0.0,)
    q_names: ClassVar[tuple[str, ...]] = ("",)
    v_names: ClassVar[tuple[str, ...]] = ("",)

    @staticmethod
    def motion(q: Sequence[Number], rest: Rest) -> JointMotion:
        return JointMotion(Vector(0.0, 0.0, q[0]), (rest.turn,))

    @staticmethod
    def directions(q: Sequence[Number]) -> tuple[Motion, ...]:
        return coordinate_directions(5)
