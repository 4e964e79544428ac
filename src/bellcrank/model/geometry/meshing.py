"""Where the forces of gears, racks and belts act, and which coordinates they couple.

Two bodies A and B turn (or slide) on a common carrier. The wrench on A at a point P of the carrier, which is reversed on B, is

    W = lambda w + |lambda| w' + w0        lambda: the force that is transmitted, N

with w, w' and w0 constant in the carrier's axes. Forces that do no work (radial, axial, the tension of a belt at rest) only
load the bearings. A and B roll on each other without slip: the displacement of A relative to B at P along w is zero. Of a
coordinate q_k between them its coefficient is the work of w for q_k = 1:

    sum of c_k q_k = 0,    c_k = axis . (moment of w about the joint), or axis . (force of w) of a slide

symbol   meaning                                                             unit
a        direction of the axes
u        from the axis of A to that of B
r        from the axis of A to the pitch point, of unit length
t        a x r: where A moves at the pitch point if it turns forward
"""

from __future__ import annotations

from typing import NamedTuple

from ...numbers import Number, sincos, sqrt
from ...spatial import Vector
from ...spatial.vector import ZERO


class Wrench(NamedTuple):
    """A force, and its moment about the point P."""

    force: Vector
    moment: Vector = ZERO

    def __add__(self, other: Wrench) -> Wrench:  # type: ignore[override]
        return Wrench(self.force + other.force, self.moment + other.moment)

    def times(self, factor: Number) -> Wrench:
        return Wrench(self.force * factor, self.moment * factor)

    def about(self, P: Vector, point: Vector) -> Vector:
        return self.moment + (P - point).cross(self.force)


NONE = Wrench(ZERO)


class Mesh(NamedTuple):
    """What two bodies do to each other: at P, for each newton transmitted, for its size, and always."""

    P: Vector
    w: Wrench
    size: Wrench = NONE
    always: Wrench = NONE


def teeth(P: Vector, a: Vector, r: Vector, pressure: Number, helix: Number, inward: float) -> Mesh:
    """Flanks at the pressure angle alpha in the normal section, on a right-handed helix beta of A.

    Tangential 1, axial -tan(beta), and tan(alpha)/cos(beta) that pushes the wheels apart (inward = 1: A towards its axis).
    """
    (s, c), (s_b, c_b) = sincos(pressure), sincos(helix)
    t = a.cross(r)
    return Mesh(P, Wrench(t - a * (s_b / c_b)), Wrench(r * (-inward * s / (c * c_b))))


def belt(
    P: Vector, a: Vector, A: Vector, B: Vector, radii: tuple[Number, Number], crossed: bool, tension: Number | None
) -> Mesh:
    """The two straight sides of a belt, tangents of both pulleys; B is where P is.

    sin(phi) = (r_A - r_B)/d, crossed (r_A + r_B)/d;   side s = 1, -1 leaves A at r_A m_s and runs along e_s

    m_s = u sin(phi) + s n cos(phi),   e_s = u cos(phi) - s n sin(phi),   n = a x u;   tension T - s lambda/2
    """
    way = B - A
    d = sqrt(way.dot(way))
    u = way * (1.0 / d)
    n = a.cross(u)
    sin = (radii[0] + radii[1] if crossed else radii[0] - radii[1]) / d
    cos = sqrt(1.0 - sin * sin)
    w, both = NONE, NONE
    for s in (1.0, -1.0):
        m, e = u * sin + n * (s * cos), u * cos - n * (s * sin)
        side = Wrench(e, (A + m * radii[0] - P).cross(e))
        w, both = w + side.times(-0.5 * s), both + side
    return Mesh(P, w, both.times(0.5), NONE) if tension is None else Mesh(P, w, NONE, both.times(tension))
