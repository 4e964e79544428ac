"""Planar: slides in a plane of the parent and turns about its normal; q is x, y (in the parent's axes), then the angle.

The joint's frame has the normal on z and the direction of x on x. In the child's axes the directions of x and y turn
backwards with the angle: S' = -w x S.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number
from ..spatial import Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z


class Planar(Joint):
    kind = "planar"
    has_axis = True
    needs_axis2 = True
    nq, nv = 3, 3
    neutral: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0)
    q_names: ClassVar[tuple[str, ...]] = ("x", "y", "angle")
    v_names: ClassVar[tuple[str, ...]] = ("x", "y", "angle")
    q_units: ClassVar[tuple[str, ...]] = ("m", "m", "rad")
    v_units: ClassVar[tuple[str, ...]] = ("m/s", "m/s", "rad/s")

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(q[0], q[1], 0.0), (PlaneTurn.angle("z", q[2]),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        turn = PlaneTurn.angle("z", q[2])
        x, y = turn.down(Vector(1.0, 0.0, 0.0)), turn.down(Vector(0.0, 1.0, 0.0))
        return Motion(ZERO, x), Motion(ZERO, y), Motion(Vector(0.0, 0.0, 1.0), ZERO)

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        back = Vector(0.0, 0.0, -v[2])
        x, y, _ = cls.directions(q, data)
        return Motion(ZERO, back.cross(x.v)), Motion(ZERO, back.cross(y.v)), Motion.zero()

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (offset.x, offset.y, angle_about_z(R))
