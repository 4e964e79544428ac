"""Constant force and moment at a point of a body, in world or in body axes."""

from ..numbers import sqrt
from ..spatial import Force, Vector
from .base import BodyForce, BodyState, Settings, Wrenches


class ConstantForce(BodyForce):
    kind = "force"
    values = ("fx", "fy", "fz", "mx", "my", "mz", "world")

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        """The wrenches; ``axes_a`` turns given components into the body's axes, ``axes_b`` the world's into the ground's."""
        f = Vector(*[given.value(k) for k in ("fx", "fy", "fz")])
        n = Vector(*[given.value(k) for k in ("mx", "my", "mz")])
        world = given.value("world")
        body = 1.0 - world
        f = (given.axes_b @ f) * world + (a.R @ (given.axes_a @ f)) * body
        n = (given.axes_b @ n) * world + (a.R @ (given.axes_a @ n)) * body
        arm, _, velocity = a.point(given.point_a)
        power = f.dot(velocity) + n.dot(a.w)
        return Wrenches(Force(n + arm.cross(f), f), Force.zero(), 0.0, power, sqrt(f.dot(f)))
