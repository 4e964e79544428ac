"""Prismatic (slider): shifts along its axis."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, X, Y, axes_parallel, d1, point_on_axis
from ..numbers import Number
from ..spatial import Matrix, Motion, Vector
from .base import NO_DATA, Joint, JointData, JointMotion, coordinate_directions


class Prismatic(Joint):
    kind = "prismatic"
    has_axis = True
    turns_freely = True
    plane = True
    q_names = ("",)
    q_units = ("m",)
    mjcf = (("slide", "z"),)
    urdf = (("prismatic", "z"),)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(0.0, 0.0, q[0]), (data.rest_turn,))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(5)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (offset.z,)

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return [*axes_parallel(i, j), *point_on_axis(i, j), d1(i, j, i.axis(X), j.axis(Y))]
