"""Planar: slides in a plane of the parent and turns about its normal; q is x, y (in the parent's axes), then the angle.

The joint's frame has the normal on z and the direction of x on x. In the child's axes the directions of x and y turn
backwards with the angle: S' = -w x S.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, Z, axes_parallel, d2
from ..numbers import Number
from ..spatial import Force, Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import E_X, E_Y, E_Z, NO_DATA, Joint, JointData, JointMotion, angle_about_z


class Planar(Joint):
    kind = "planar"
    has_axis = True
    needs_axis2 = True
    q_names = ("x", "y", "angle")
    q_units = ("m", "m", "rad")
    mjcf = (("slide", "x"), ("slide", "y"), ("hinge", "z"))
    urdf = (("planar", "z"),)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(q[0], q[1], 0.0), (PlaneTurn.angle("z", q[2]),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        turn = PlaneTurn.angle("z", q[2])
        x, y = turn.down(E_X), turn.down(E_Y)
        return Motion(ZERO, x), Motion(ZERO, y), Motion(E_Z, ZERO)

    @classmethod
    def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        back = Vector(0.0, 0.0, -v[2])
        x, y, _ = cls.directions(q, data)
        return Motion(ZERO, back.cross(x.v)), Motion(ZERO, back.cross(y.v)), Motion.zero()

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (offset.x, offset.y, angle_about_z(R))

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return [*axes_parallel(i, j), d2(i, j, i.axis(Z))]


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
