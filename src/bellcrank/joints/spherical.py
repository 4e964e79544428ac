"""Spherical (ball): turns freely; q is a quaternion, v the angular velocity relative to the parent in the child's axes."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, points_meet
from ..numbers import Number, sincos
from ..numbers.spline import Curve
from ..spatial import Motion, Vector, quaternion_rate, quaternion_turn
from ..spatial.vector import ZERO
from .base import NO_DATA, Driven, Joint, JointData, JointMotion, coordinate_directions


class Spherical(Joint):
    kind = "spherical"
    neutral = (1.0, 0.0, 0.0, 0.0)
    q_names = ("w", "x", "y", "z")
    v_names = ("wx", "wy", "wz")
    q_units = ("1",) * 4
    v_units = ("rad/s",) * 3
    quaternion = 0
    mjcf = (("ball", ""),)
    mjcf_loop = "ball"

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, (quaternion_turn(q),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(0, 1, 2)

    @staticmethod
    def rates(q: Sequence[Number], v: Sequence[Number]) -> tuple[Number, ...]:
        return quaternion_rate(q, Vector(*v))

    @staticmethod
    def driven(laws: Sequence[Curve], axis: Vector) -> Driven:
        """A turn about the axis."""
        angle = laws[-1]
        s, c = sincos(0.5 * angle.value)
        return Driven((c, *(axis * s)), tuple(axis * angle.slope), tuple(axis * angle.bend))

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return points_meet(i, j, given)
