"""Universal (Hooke, Cardan): turns about an axis of the parent, then about a perpendicular axis of the child.

The joint's frame has the parent's axis on z and the child's on x:  R = Rz(q1) Rx(q2).
In the child's axes the first direction is Rx(-q2) e_z, which moves with q2; the second is e_x.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..numbers import Number, atan2, sincos
from ..spatial import Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z


class Universal(Joint):
    kind = "universal"
    has_axis = True
    needs_axis2 = True
    plane = True
    nq, nv = 2, 2
    neutral: ClassVar[tuple[float, ...]] = (0.0, 0.0)
    q_names: ClassVar[tuple[str, ...]] = ("first", "second")
    v_names: ClassVar[tuple[str, ...]] = ("first", "second")
    q_units: ClassVar[tuple[str, ...]] = ("rad", "rad")
    v_units: ClassVar[tuple[str, ...]] = ("rad/s", "rad/s")

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, (PlaneTurn.angle("z", q[0] + data.rest_angle), PlaneTurn.angle("x", q[1])))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        s, c = sincos(q[1])
        return Motion(Vector(0.0, s, c), ZERO), Motion(Vector(1.0, 0.0, 0.0), ZERO)

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        s, c = sincos(q[1])
        return Motion(Vector(0.0, c * v[1], -(s * v[1])), ZERO), Motion.zero()

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (angle_about_z(R), atan2(R.z.y, R.z.z))
