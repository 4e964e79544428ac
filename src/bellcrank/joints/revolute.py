"""Revolute (hinge, pin): turns about its axis."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, axes_parallel, points_meet
from ..numbers import Number
from ..spatial import Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z, coordinate_directions


class Revolute(Joint):
    kind = "revolute"
    has_axis = True
    turns_freely = True
    plane = True
    q_names = ("",)
    q_units = ("rad",)
    mjcf = (("hinge", "z"),)
    mjcf_loop = "hinge"
    urdf = (("revolute", "z"),)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, (PlaneTurn.angle("z", q[0] + data.rest_angle),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(2)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (angle_about_z(R),)

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return points_meet(i, j, given) + axes_parallel(i, j)
