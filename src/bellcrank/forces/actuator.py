"""A force along the line between two points: a tension that is given, constant or by a formula."""

from ..numbers import sqrt
from ..spatial import Force
from .base import BodyForce, BodyState, Settings, Wrenches


class Actuator(BodyForce):
    kind = "actuator"
    values = ("force",)

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        arm_a, at_a, v_a = a.point(given.point_a)
        arm_b, at_b, v_b = b.point(given.point_b)
        line = at_b - at_a
        along = line * (1.0 / sqrt(line.dot(line)))
        tension = given.value("force")
        pull = along * tension
        power = -(tension * along.dot(v_b - v_a))
        return Wrenches(Force(arm_a.cross(pull), pull), Force(-arm_b.cross(pull), -pull), 0.0, power, tension)
