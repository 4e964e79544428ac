"""Springs between two points that only pull (a cable), or only push, and stops at limits of a distance.

Beyond its limit by d > 0, at the rate d':  force = max(0, stiffness d + damping d'). It stores stiffness d^2 / 2.
"""

from ..numbers import Number, less, maximum, select, sqrt
from ..spatial import Force, Vector
from .base import BodyForce, BodyState, Settings, Wrenches


class OneSidedSpring(BodyForce):
    """A one-sided spring; ``side`` 1 pulls beyond its length, -1 pushes below it; ``force`` is the tension."""

    kind = "one_sided_spring"
    values = ("stiffness", "damping", "length", "side")
    gates = 1

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        side, (along, length, rate) = given.value("side"), _line(a, b, given)
        force, energy, power = pushed(side * (length - given.value("length")), side * rate, given)
        return _pulled(a, b, given, along, side * force, energy, power)

    @staticmethod
    def openings(a: BodyState, b: BodyState, given: Settings) -> list[Number]:
        return [_line(a, b, given)[1] - given.value("length")]


class PointStop(BodyForce):
    """Limits of the distance of two points; ``force`` is the tension."""

    kind = "point_stop"
    values = ("lower", "upper", "stiffness", "damping")
    gates = 2

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        along, length, rate = _line(a, b, given)
        below, above = (
            pushed(beyond, way * rate, given)
            for beyond, way in ((given.value("lower") - length, -1.0), (length - given.value("upper"), 1.0))
        )
        return _pulled(a, b, given, along, above[0] - below[0], above[1] + below[1], above[2] + below[2])

    @staticmethod
    def openings(a: BodyState, b: BodyState, given: Settings) -> list[Number]:
        length = _line(a, b, given)[1]
        return [given.value("lower") - length, length - given.value("upper")]


def pushed(d: Number, rate: Number, given: Settings) -> tuple[Number, Number, Number]:
    """Force against going further beyond, what is stored, and the power."""
    k, depth = given.value("stiffness"), maximum(d, 0.0)
    force = select(less(0.0, d), maximum(k * d + given.value("damping") * rate, 0.0), 0.0)
    return force, 0.5 * k * depth * depth, -((force - k * depth) * rate)


def _line(a: BodyState, b: BodyState, given: Settings) -> tuple[Vector, Number, Number]:
    """Direction, length and its rate."""
    (_, at_a, v_a), (_, at_b, v_b) = a.point(given.point_a), b.point(given.point_b)
    line = at_b - at_a
    length = sqrt(line.dot(line))
    along = line * (1.0 / length)
    return along, length, along.dot(v_b - v_a)


def _pulled(
    a: BodyState, b: BodyState, given: Settings, along: Vector, tension: Number, energy: Number, power: Number
) -> Wrenches:
    pull = along * tension
    on_a, on_b = a.R @ given.point_a, b.R @ given.point_b
    return Wrenches(Force(on_a.cross(pull), pull), Force(-on_b.cross(pull), -pull), energy, power, tension)
