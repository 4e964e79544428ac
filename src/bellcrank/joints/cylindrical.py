"""Cylindrical: turns about its axis and slides along it; q is the angle, then the slide."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, axes_parallel, point_on_axis
from ..numbers import Number
from ..spatial import Matrix, Motion, PlaneTurn, Vector
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z, coordinate_directions


class Cylindrical(Joint):
    kind = "cylindrical"
    has_axis = True
    turns_freely = True
    plane = True
    q_names = ("angle", "slide")
    q_units = ("rad", "m")
    mjcf = (("hinge", "z"), ("slide", "z"))
    urdf = (("continuous", "z"), ("prismatic", "z"))

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(0.0, 0.0, q[1]), (PlaneTurn.angle("z", q[0] + data.rest_angle),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(2, 5)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (angle_about_z(R), offset.z)

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return axes_parallel(i, j) + point_on_axis(i, j)
