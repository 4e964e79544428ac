"""A tyre on a road: a radial spring and damper that never pulls, and forces along the road.

With h the height of the wheel's centre above the road's zero, s its place along ``forward``, and y(s) the road's table,

    d = radius - (h - y(s)),    load = max(0, stiffness d + damping d')  for d > 0,  along  up - y'(s) forward,

so that it stores stiffness d^2 / 2 whatever the slope of the road. Along the road it has friction * load against the velocity
of the tyre's lowest point, as a contact has, and traction * load forward. ``force`` is the load.
"""

from ..numbers import Number, sqrt
from ..spatial import Force, Vector
from .base import BodyForce, BodyState, Settings, Wrenches
from .one_sided import pushed


class Tyre(BodyForce):
    """A tyre; ``axes`` has forward as its first column and up as its third."""

    kind = "tyre"
    values = ("radius", "stiffness", "damping", "friction", "velocity", "traction")
    gates = 1
    watches_table = True

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        d, push, forward = _depth(a, b, given)
        arm, at, _ = a.point(given.point_a)
        low = at - b.R @ (given.axes_b @ Vector(0.0, 0.0, 1.0)) * (given.value("radius") - d)
        hub = (a.v + a.w.cross(arm)) - (b.v + b.w.cross(at - b.r))
        load, energy, power = pushed(d, -push.dot(hub), given)
        slip = (a.v + a.w.cross(low - a.r)) - (b.v + b.w.cross(low - b.r))
        slip = slip - push * (push.dot(slip) / push.dot(push))
        e = given.value("velocity")
        drag = given.value("friction") * load / sqrt(slip.dot(slip) + e * e)
        along = forward * (given.value("traction") * load) - slip * drag
        spring = push * load
        power = power + along.dot((a.v + a.w.cross(low - a.r)) - (b.v + b.w.cross(low - b.r)))
        f = spring + along
        on_a = Force(arm.cross(spring) + (low - a.r).cross(along), f)
        on_b = Force(-((at - b.r).cross(spring) + (low - b.r).cross(along)), -f)
        return Wrenches(on_a, on_b, energy, power, load)

    @staticmethod
    def openings(a: BodyState, b: BodyState, given: Settings) -> list[Number]:
        return [_depth(a, b, given)[0], *given.table_gates(_place(a, b, given)[2])]


def _depth(a: BodyState, b: BodyState, given: Settings) -> tuple[Number, Vector, Vector]:
    """Depth, the direction in which the road pushes, and that along the road."""
    up, forward, place, height = _place(a, b, given)
    if given.table is None:
        return given.value("radius") - height, up, forward
    road = given.table(place)
    return given.value("radius") - height + road.value, up - forward * road.slope, forward + up * road.slope


def _place(a: BodyState, b: BodyState, given: Settings) -> tuple[Vector, Vector, Number, Number]:
    """Directions up and forward, the place of the wheel's centre along the road, and its height above the road's zero."""
    axes = b.R.times(given.axes_b)
    up, forward = axes @ Vector(0.0, 0.0, 1.0), axes @ Vector(1.0, 0.0, 0.0)
    away = a.point(given.point_a)[1] - b.point(given.point_b)[1]
    return up, forward, forward.dot(away), up.dot(away)
