"""The value of each kind of measure, over any number, from the states that bodies have left and the outputs of passes.

States are in the ground's axes; data that say "axes" turn the result into those that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...forces import BodyState
from ...kernels.executor import Integer
from ...numbers import Number, atan2, maximum, sqrt
from ...plan.measuring import MEASURE_SLOTS, MeasureSignature
from ...spatial import Matrix, Motion, Vector
from ..loads import state_of, time_of
from . import closing
from .formulas import Formula

if TYPE_CHECKING:
    from ..walk import Walk


class MeasureContext(NamedTuple):
    """A measure of the i-th row."""

    walk: Walk
    signature: MeasureSignature
    i: Integer

    def number(self, slot: int) -> Number:
        return self.walk.data("measure_data", (self.i, slot), slot in self.signature.varied)

    def vector(self, name: str) -> Vector:
        return Vector(*[self.number(MEASURE_SLOTS[name] + k) for k in range(3)])

    def matrix(self, name: str) -> Matrix:
        start = MEASURE_SLOTS[name]
        return Matrix(*[Vector(*[self.number(start + 3 * i + k) for k in range(3)]) for i in range(3)])

    @property
    def value(self) -> Number:
        return self.number(MEASURE_SLOTS["value"])

    def entry(self, column: str) -> Integer:
        return self.walk.array("measure_table")[self.i, column]

    def state(self, whose: str, *, accelerated: bool = False) -> BodyState:
        """The state of a, b, the axes or the observer; ``accelerated``: with the acceleration that was left."""
        if self.signature.grounds[("a", "b", "axes", "observer").index(whose)]:
            return BodyState.ground()
        return state_of(self.walk, self.entry(whose), accelerated)

    def read(self, name: str, place: Integer) -> Number:
        return self.walk.read(name, place)

    def triple(self, name: str, start: Integer) -> Vector:
        return Vector(*[self.read(name, start + k) for k in range(3)])

    def in_axes(self, x: Vector) -> Vector:
        """A vector in the axes that were asked for."""
        return self.state("axes").R.times(self.matrix("axes")).transpose() @ x

    def chosen(self, x: Vector) -> Sequence[Number]:
        """The component that was asked for, the magnitude, or all."""
        component = self.signature.component
        if component is None:
            return x
        return [length(x)] if component == "magnitude" else [x[int(component)]]


def length(x: Vector) -> Number:
    return sqrt(x.dot(x))


def position(at: MeasureContext) -> Sequence[Number]:
    (_, p_a, _), (_, p_b, _) = at.state("a").point(at.vector("point_a")), at.state("b").point(at.vector("point_b"))
    return at.chosen(at.in_axes(p_a - p_b))


def velocity(at: MeasureContext) -> Sequence[Number]:
    """v_a - v_b - w_o x (p_a - p_b), o the observer."""
    (_, p_a, v_a), (_, p_b, v_b) = at.state("a").point(at.vector("point_a")), at.state("b").point(at.vector("point_b"))
    return at.chosen(at.in_axes(v_a - v_b - at.state("observer").w.cross(p_a - p_b)))


def acceleration(at: MeasureContext) -> Sequence[Number]:
    """a - w_o' x d - 2 w_o x u - w_o x (w_o x d), with d the position, u the velocity as the observer sees them."""
    ends = [at.state(end, accelerated=True) for end in ("a", "b")]
    (p_a, v_a, a_a), (p_b, v_b, a_b) = (_moving(end, at.vector(f"point_{name}")) for end, name in zip(ends, "ab", strict=True))
    a = a_a - a_b
    if not at.signature.grounds[3]:
        o = at.state("observer", accelerated=True)
        d = p_a - p_b
        swing = o.w.cross(d)
        u = v_a - v_b - swing
        a = a - _known(o).w.cross(d) - o.w.cross(u * 2.0) - o.w.cross(swing)
    return at.chosen(at.in_axes(a))


def _known(state: BodyState) -> Motion:
    return Motion.zero() if state.known is None else state.known


def _moving(state: BodyState, point: Vector) -> tuple[Vector, Vector, Vector]:
    """Position, velocity and acceleration of a point fixed to a body."""
    arm, p, v = state.point(point)
    A = _known(state)
    return p, v, A.v + A.w.cross(arm) + state.w.cross(state.w.cross(arm))


def turning(at: MeasureContext) -> Sequence[Number]:
    return at.chosen(at.in_axes(at.state("a").w - at.state("b").w))


def distance(at: MeasureContext) -> Sequence[Number]:
    (_, p_a, v_a), (_, p_b, v_b) = at.state("a").point(at.vector("point_a")), at.state("b").point(at.vector("point_b"))
    d = p_b - p_a
    apart = length(d)
    return [d.dot(v_b - v_a) / apart] if at.signature.part == "rate" else [apart]


def angle(at: MeasureContext) -> Sequence[Number]:
    """atan2(|a x b|, a.b); about the axis n atan2(n.(a x b), a.b - (a.n)(b.n)): of the parts across the axis."""
    A, B = at.state("a"), at.state("b")
    a, b = A.R @ at.vector("direction_a"), B.R @ at.vector("direction_b")
    da, db = A.w.cross(a), B.w.cross(b)
    c, dc = a.cross(b), da.cross(b) + a.cross(db)
    x, dx = a.dot(b), da.dot(b) + a.dot(db)
    if at.signature.axis:
        n = A.R @ at.vector("axis")
        dn = A.w.cross(n)
        y, dy = n.dot(c), dn.dot(c) + n.dot(dc)
        along_a, along_b = a.dot(n), b.dot(n)
        x = x - along_a * along_b
        dx = dx - (da.dot(n) + a.dot(dn)) * along_b - along_a * (db.dot(n) + b.dot(dn))
    else:
        y = length(c)
        dy = c.dot(dc) / y if at.signature.part == "rate" else 0.0
    return [(x * dy - y * dx) / (x * x + y * y)] if at.signature.part == "rate" else [atan2(y, x)]


def coordinate(at: MeasureContext) -> Sequence[Number]:
    if at.signature.joint:
        return [closing.coordinate(at)]
    if at.signature.driven:
        return [at.walk.array(f"driven_{at.signature.part}")[at.entry("index")]]
    return [at.read(at.signature.part, at.entry("index"))]


def reaction(at: MeasureContext) -> Sequence[Number]:
    """Force, and moment at the joint's point; of a closing joint they stand there already."""
    if at.signature.joint:
        start = at.entry("index") * 7
        f, n = at.triple("closing", start), at.triple("closing", start + 3)
    else:
        start = at.entry("index") * 12 + (6 if at.signature.part == "whole" else 0)
        f, n = at.triple("wrench", start), at.triple("wrench", start + 3)
        _, p, _ = at.state("a").point(at.vector("point_a"))
        f, n = f * at.value, (n + (at.state("b").r - p).cross(f)) * at.value
    component = at.signature.component
    if component in ("force", "moment"):
        return [length(f if component == "force" else n)]
    all_six = [*at.in_axes(f), *at.in_axes(n)]
    return all_six if component is None else [all_six[int(component)]]


def element(at: MeasureContext) -> Sequence[Number]:
    part, index = at.signature.part, at.entry("index")
    if part == "force" and (at.signature.size == 3 or at.signature.component is not None):
        array = at.walk.array("element_vectors")
        return at.chosen(at.in_axes(Vector(*[array[index, k] for k in range(3)])))
    return [at.read("element", index * 3 + ("energy", "power", "force").index(part))]


def closure_force(at: MeasureContext) -> Sequence[Number]:
    """Of a rod its tension, from the force on its end b; of a plane the force on b along the normal; of a line all of it; of
    perpendicular axes the moment on b about axis x axis2."""
    if at.signature.joint == "coupler":
        return [at.read("lambda", at.entry("first"))]
    f = at.triple("closing", at.entry("index") * 7)
    if at.signature.joint == "point_on_line":
        return at.chosen(at.matrix("world").transpose() @ f)
    way = closing.way(at)
    if at.signature.joint == "perpendicular":
        return [at.triple("closing", at.entry("index") * 7 + 3).dot(way)]
    return [f.dot(way) if at.signature.joint == "point_on_plane" else -f.dot(way)]


def drive(at: MeasureContext) -> Sequence[Number]:
    power = at.signature.part == "power"
    if not at.signature.joint:
        return [at.read("drive", at.entry("index") * 2 + int(power))]
    if power:
        return [at.read("closing", at.entry("index") * 7 + 6)]
    return [closing.effort(at)]


def energy(at: MeasureContext) -> Sequence[Number]:
    part = at.signature.part
    found: Number = 0.0
    if part in ("kinetic", "total"):
        found = found + _sum(at, "energy", "bodies", 8, 0)
    if part in ("potential", "total"):
        found = found + (_sum(at, "energy", "bodies", 8, 1) - at.value)
    if part in ("stored", "total"):
        found = found + _sum(at, "element", "elements", 3, 0)
    return [found]


def _sum(at: MeasureContext, name: str, count: str, width: int, k: int) -> Number:
    e = at.walk.e
    return e.total(0, e.count(count), lambda i: at.read(name, i * width + k))


def momentum(at: MeasureContext) -> Sequence[Number]:
    linear = at.in_axes(Vector(*[_sum(at, "energy", "bodies", 8, 2 + k) for k in range(3)]))
    if at.signature.part == "linear":
        return at.chosen(linear)
    angular = at.in_axes(Vector(*[_sum(at, "energy", "bodies", 8, 5 + k) for k in range(3)]))
    return at.chosen(angular + at.vector("vector").cross(linear))


def closure_error(at: MeasureContext) -> Sequence[Number]:
    def larger(r: Integer, carried: list[Number]) -> list[Number]:
        return [maximum(carried[0], abs(at.read("closure", r * 2)))]

    return at.walk.e.fold(at.entry("first"), at.entry("last"), [0.0], larger)


def time(at: MeasureContext) -> Sequence[Number]:
    return [time_of(at.walk)]


def given_input(at: MeasureContext) -> Sequence[Number]:
    return [at.read("u", at.entry("index"))]


def formula(at: MeasureContext) -> Sequence[Number]:
    return [Formula(at).value()]


KINDS: dict[str, Callable[[MeasureContext], Sequence[Number]]] = {
    "position": position,
    "velocity": velocity,
    "acceleration": acceleration,
    "turning": turning,
    "distance": distance,
    "angle": angle,
    "coordinate": coordinate,
    "reaction": reaction,
    "element": element,
    "closure": closure_force,
    "drive": drive,
    "energy": energy,
    "momentum": momentum,
    "closure_error": closure_error,
    "time": time,
    "input": given_input,
    "expression": formula,
}
