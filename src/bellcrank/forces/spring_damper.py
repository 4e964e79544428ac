"""Spring-damper along the line between two points: tension = preload + stiffness (length - free length) + damping length'.

With a table, the elastic part of the tension is a spline over the elongation.
"""

from ..numbers import Number, sqrt
from ..spatial import Force
from .base import BodyForce, BodyState, Settings, Wrenches


class SpringDamper(BodyForce):
    kind = "spring_damper"
    values = ("stiffness", "damping", "length", "preload")
    watches_table = True

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        arm_a, at_a, v_a = a.point(given.point_a)
        arm_b, at_b, v_b = b.point(given.point_b)
        line = at_b - at_a
        length = sqrt(line.dot(line))
        along = line * (1.0 / length)
        rate = along.dot(v_b - v_a)
        elastic, energy = _elastic(length - given.value("length"), given)
        viscous = given.value("damping") * rate
        pull = along * (elastic + viscous)
        return Wrenches(
            Force(arm_a.cross(pull), pull), Force(-arm_b.cross(pull), -pull), energy, -(viscous * rate), elastic + viscous
        )

    @staticmethod
    def openings(a: BodyState, b: BodyState, given: Settings) -> list[Number]:
        line = b.point(given.point_b)[1] - a.point(given.point_a)[1]
        return given.table_gates(sqrt(line.dot(line)) - given.value("length"))


def _elastic(stretch: Number, given: Settings) -> tuple[Number, Number]:
    """Tension and stored energy."""
    preload = given.value("preload")
    if given.table is None:
        k = given.value("stiffness")
        return preload + k * stretch, (preload + 0.5 * k * stretch) * stretch
    curve = given.table(stretch)
    return preload + curve.value, preload * stretch + curve.area
