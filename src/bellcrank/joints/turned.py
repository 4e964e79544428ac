"""Joints that are written from their far side: the body that they carry is the parent that the user wrote.

The tree grows from ground, so that the child which the user wrote (C) is the inner body here and the parent (P) the one that
is carried. The coordinates stay those of C relative to P; the pose and the directions are those of P relative to C:

    X(q) = X_CP(q)^-1,     S(q) v = motion of P relative to C, in P's axes

A joint with a single axis needs nothing but the reversed axis, since its coordinates move about and along that axis alone.
A universal joint turned round is one whose two axes are swapped and reversed; a plane and a ball have the classes below. A
free joint constrains nothing, and is simply written the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..numbers import Number
from ..spatial import Force, Matrix, Motion, PlaneTurn, Vector, quaternion_turn
from ..spatial.vector import ZERO
from .base import NO_DATA, Axis, Joint, JointData, JointMotion
from .planar import Planar
from .spherical import Spherical
from .universal import Universal

E_X, E_Y, E_Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)


class TurnedUniversal(Universal):
    """R_P = R_C R(a2, -q2) R(a1, -q1): a universal joint about -a2, then -a1, whose coordinates are in the other order."""

    turned = True

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


class TurnedPlanar(Planar):
    """C is at r = (x, y) in P's axes and turned by the angle, so that P, in its own axes, is at -r from C and turned back.

    S_x = -e_x, S_y = -e_y; the angle turns P by -e_z, and its origin moves by e_z x r.
    """

    turned = True

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        back = PlaneTurn.angle("z", -q[2])
        return JointMotion(back.up(Vector(-q[0], -q[1], 0.0)), (back,))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return Motion(ZERO, -E_X), Motion(ZERO, -E_Y), Motion(-E_Z, Vector(-q[1], q[0], 0.0))

    @classmethod
    def efforts(cls, q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Force, ...]:
        """Forces along x and y act at C's origin, r away from P's; the angle's effort is a moment."""
        return Force(E_Z * q[1], -E_X), Force(E_Z * -q[0], -E_Y), Force(-E_Z, ZERO)

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return Motion.zero(), Motion.zero(), Motion(ZERO, Vector(-v[1], v[0], 0.0))

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        inverse = R.transpose()
        return Planar.coordinates(inverse, inverse @ (-offset))


class TurnedSpherical(Spherical):
    """R_P = R_C R(q)^T; the angular velocity of P relative to C is -v in C's axes, and -R(q) v in its own."""

    turned = True

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(ZERO, (quaternion_turn((q[0], -q[1], -q[2], -q[3])),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        R = quaternion_turn(q)
        return tuple(Motion(-R.up(e), ZERO) for e in (E_X, E_Y, E_Z))

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        """-R' e = -R (v x e)."""
        R = quaternion_turn(q)
        return tuple(Motion(-R.up(Vector(*v).cross(e)), ZERO) for e in (E_X, E_Y, E_Z))

    @classmethod
    def bias(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> Motion:
        """-R (v x v) = 0."""
        return Motion.zero()


TURNED: dict[str, type[Joint]] = {joint.kind: joint for joint in (TurnedUniversal, TurnedPlanar, TurnedSpherical)}


def turned_round(joint: Joint) -> Joint:
    """The joint from its child's side, with the coordinates that it has from its parent's."""
    back: Any = [None if axis is None else _reversed(axis) for axis in (joint.axis, joint.axis2)]
    if joint.kind == "universal":
        return TurnedUniversal(back[1], back[0])
    if joint.kind in TURNED:
        return TURNED[joint.kind](joint.axis, joint.axis2)
    return type(joint)(back[0], pitch=joint.pitch)


def _reversed(axis: Axis) -> Axis:
    x, y, z = axis
    return 0.0 - x, 0.0 - y, 0.0 - z
