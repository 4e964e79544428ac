"""Universal (Hooke, Cardan): turns about an axis of the parent, then about a perpendicular axis of the child.

The joint's frame has the parent's axis on z and the child's on x:  R = Rz(q1) Rx(q2).
In the child's axes the first direction is Rx(-q2) e_z, which moves with q2; the second is e_x.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, X, Z, d1, points_meet
from ..numbers import Number, atan2, sincos
from ..spatial import Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z, reversed_axis


class Universal(Joint):
    kind = "universal"
    has_axis = True
    needs_axis2 = True
    plane = True
    q_names = ("first", "second")
    q_units = ("rad", "rad")
    axis2_on_child = True
    mjcf = (("hinge", "z"), ("hinge", "x"))
    urdf = (("continuous", "z"), ("continuous", "x"))

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

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return [*points_meet(i, j, given), d1(i, j, i.axis(Z), j.axis(X))]


class TurnedUniversal(Universal):
    """R_P = R_C R(a2, -q2) R(a1, -q1): a universal joint about -a2, then -a1, whose coordinates are in the other order."""

    turned = True

    @classmethod
    def of(cls, joint: Joint) -> Joint:
        return cls(reversed_axis(joint.axis2), reversed_axis(joint.axis))

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return Universal.motion(q[::-1], data)

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return Universal.directions(q[::-1], data)[::-1]

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return Universal.direction_rates(q[::-1], v[::-1], data)[::-1]

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return Universal.coordinates(R, offset)[::-1]
