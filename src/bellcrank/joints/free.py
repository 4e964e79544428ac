"""Free: six degrees of freedom; q is x y z and a quaternion, v the linear then the angular velocity in the child's axes."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given
from ..numbers import Number
from ..numbers.spline import Curve
from ..spatial import Motion, Vector, quaternion_rate, quaternion_turn
from .base import NO_DATA, Driven, Joint, JointData, JointMotion, coordinate_directions
from .spherical import Spherical


class Free(Joint):
    kind = "free"
    neutral = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    q_names = ("x", "y", "z", "qw", "qx", "qy", "qz")
    v_names = ("vx", "vy", "vz", "wx", "wy", "wz")
    q_units = ("m",) * 3 + ("1",) * 4
    v_units = ("m/s",) * 3 + ("rad/s",) * 3
    quaternion = 3
    mjcf = (("free", ""),)
    urdf = (("floating", ""),)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(*q[:3]), (quaternion_turn(q[3:]),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return coordinate_directions(3, 4, 5, 0, 1, 2)

    @staticmethod
    def rates(q: Sequence[Number], v: Sequence[Number]) -> tuple[Number, ...]:
        linear = quaternion_turn(q[3:]).up(Vector(*v[:3]))
        return (*linear, *quaternion_rate(q[3:], Vector(*v[3:])))

    @staticmethod
    def driven(laws: Sequence[Curve], axis: Vector) -> Driven:
        """x, y, z in the parent's axes, and a turn about the axis; velocities go into the child's axes: a = R^T x'' - w x v."""
        turn = Spherical.driven(laws, axis)
        R = quaternion_turn(turn.q)
        position, velocity, acceleration = (Vector(*[law[k] for law in laws[:3]]) for k in range(3))
        v = R.down(velocity)
        a = R.down(acceleration) - Vector(*turn.v).cross(v)
        return Driven((*position, *turn.q), (*v, *turn.v), (*a, *turn.a))

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        return []
