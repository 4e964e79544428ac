"""Screw: turns about its axis and advances by its pitch, in m/rad; q is the angle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Force, Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z


class Screw(Joint):
    kind = "screw"
    has_axis = True
    needs_pitch = True
    turns_freely = True
    plane = True
    nq, nv = 1, 1
    neutral: ClassVar[tuple[float, ...]] = (0.0,)
    q_names: ClassVar[tuple[str, ...]] = ("",)
    v_names: ClassVar[tuple[str, ...]] = ("",)
    q_units: ClassVar[tuple[str, ...]] = ("rad",)
    v_units: ClassVar[tuple[str, ...]] = ("rad/s",)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(0.0, 0.0, data.pitch * q[0]), (PlaneTurn.angle("z", q[0] + data.rest_angle),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return (Motion(Vector(0.0, 0.0, 1.0), Vector(0.0, 0.0, data.pitch)),)

    @classmethod
    def efforts(cls, q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Force, ...]:
        """A torque about the axis; the thread turns part of it into a force, which is a reaction."""
        return (Force(Vector(0.0, 0.0, 1.0), ZERO),)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (angle_about_z(R),)
