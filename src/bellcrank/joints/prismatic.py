"""Prismatic (slider): shifts along its axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Matrix, Motion, Vector
from .base import NO_DATA, Joint, JointData, JointMotion, coordinate_directions


class Prismatic(Joint):
    kind = "prismatic"
    has_axis = True
    turns_freely = True
    plane = True
    nq, nv = 1, 1
    neutral: ClassVar[tuple[float, ...]] = (0.0,)
    q_names: ClassVar[tuple[str, ...]] = ("",)
    v_names: ClassVar[tuple[str, ...]] = ("",)
    q_units: ClassVar[tuple[str, ...]] = ("m",)
    v_units: ClassVar[tuple[str, ...]] = ("m/s",)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(0.0, 0.0, q[0]), (data.rest_turn,))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(5)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (offset.z,)
