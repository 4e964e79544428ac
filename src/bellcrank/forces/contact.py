"""A ball or a point against a plane or a cylinder: it pushes and never pulls.

At the depth d > 0, with the normal n out of what is touched, and the rate d':

    Hunt & Crossley 1975   force = stiffness d^exponent (1 + damping d')      no jump where contact begins or ends
    linear                 force = stiffness d^exponent + damping d'

never below zero. It stores stiffness d^(exponent + 1) / (exponent + 1). Friction is friction * force * s / sqrt(s^2 + e^2)
against the velocity s of the ball's surface along what it touches, with e the friction velocity. ``force`` is the normal one.
"""

from ..numbers import Number, less, maximum, power, select, sqrt
from ..spatial import Force, Vector
from .base import BodyForce, BodyState, Settings, Wrenches

TINY = 1e-150  # m^2


class _Contact(BodyForce):
    """A contact; ``axes`` has the normal of the plane, or the axis of the cylinder, as its third column."""

    values = ("stiffness", "radius", "exponent", "damping", "linear", "friction", "velocity", "cylinder", "inside")
    gates = 1

    @staticmethod
    def touch(a: BodyState, b: BodyState, given: Settings) -> tuple[Vector, Number]:
        """Normal on the ball, and depth."""
        raise NotImplementedError

    @classmethod
    def openings(cls, a: BodyState, b: BodyState, given: Settings) -> list[Number]:
        return [cls.touch(a, b, given)[1]]

    @classmethod
    def wrenches(cls, a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        n, d = cls.touch(a, b, given)
        at = a.point(given.point_a)[1] - n * given.value("radius")
        slip = (a.v + a.w.cross(at - a.r)) - (b.v + b.w.cross(at - b.r))
        rate = -n.dot(slip)
        normal, elastic, energy = _normal_force(d, rate, given)
        sliding = slip + n * rate
        e = given.value("velocity")
        drag = given.value("friction") * normal / sqrt(sliding.dot(sliding) + e * e)
        f = n * normal - sliding * drag
        power = -((normal - elastic) * rate) - drag * sliding.dot(sliding)
        return Wrenches(Force((at - a.r).cross(f), f), Force(-(at - b.r).cross(f), -f), energy, power, normal)


def _normal_force(d: Number, rate: Number, given: Settings) -> tuple[Number, Number, Number]:
    """The force, its elastic part, and what is stored."""
    exponent, touching = given.value("exponent"), less(0.0, d)
    depth = select(touching, d, 1.0)
    elastic = given.value("stiffness") * power(depth, exponent)
    viscous = given.value("damping") * rate
    linear = given.value("linear")
    total = maximum(elastic + viscous * (linear + (1.0 - linear) * elastic), 0.0)
    stored = elastic * depth / (exponent + 1.0)
    return select(touching, total, 0.0), select(touching, elastic, 0.0), select(touching, stored, 0.0)


class PlaneContact(_Contact):
    kind = "plane_contact"

    @staticmethod
    def touch(a: BodyState, b: BodyState, given: Settings) -> tuple[Vector, Number]:
        n = b.R @ (given.axes_b @ Vector(0.0, 0.0, 1.0))
        away = a.point(given.point_a)[1] - b.point(given.point_b)[1]
        return n, given.value("radius") - n.dot(away)


class CylinderContact(_Contact):
    kind = "cylinder_contact"

    @staticmethod
    def touch(a: BodyState, b: BodyState, given: Settings) -> tuple[Vector, Number]:
        axis = b.R @ (given.axes_b @ Vector(0.0, 0.0, 1.0))
        away = a.point(given.point_a)[1] - b.point(given.point_b)[1]
        across = away - axis * axis.dot(away)
        distance = sqrt(across.dot(across) + TINY)
        side = 1.0 - 2.0 * given.value("inside")
        return across * (side / distance), given.value("radius") + side * (given.value("cylinder") - distance)
