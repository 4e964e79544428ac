"""Parts drawn by lines that move with one body: teeth, belts, roads, contact surfaces, motors and dampers at joints.

Pictures and the browser draw the same lines. Sizes of symbols are multiples of ``size`` (m), the radius of a hinge's pin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..model.closure import Closure
from ..model.geometry.gear_specs import BeltSpec, GearSpec
from .scene import Array, ElementMark, JointMark, Scene

CIRCLE = np.linspace(0.0, 2 * np.pi, 65)
LEAST_TEETH = 14  # of the smaller wheel of a pair whose teeth are not counted
TURN = np.linspace(-0.2, 1.35, 36) * np.pi  # of the arrow around a driven hinge
FAR = 30.0  # how far a level road goes, in extents of the mechanism


@dataclass(frozen=True)
class Line:
    """A line through points (k, 3), m, in the frame of a body; ``role`` is "gear", "belt", "road", "contact", "motor", "damper"
    or "tyre"."""

    name: str
    role: str
    body: int
    points: Array


def lines_of(scene: Scene, size: float) -> list[Line]:
    """All such lines of a scene."""
    found: list[Line] = []
    wheels: list[_Wheel] = []
    for closure in scene.model.closures:
        found += _mesh(scene, closure, wheels)
    for mark in scene.elements:
        found += _of_element(scene, mark, size)
    return found


def _of_element(scene: Scene, mark: ElementMark, size: float) -> Iterator[Line]:
    joint = next((j for j in scene.joints if j.name == mark.joint), None)
    if mark.kind in ("joint_effort", "joint_input") and joint is not None:
        yield from _motor(mark, joint, size)
    elif mark.kind == "joint_damper" and joint is not None:
        yield from _damper(mark, joint, size)
    elif mark.kind == "tyre":
        yield from _tyre(scene, mark)
    elif mark.kind in ("plane_contact", "cylinder_contact"):
        yield from _contact(scene, mark)


# --- gears, racks and belts


@dataclass(frozen=True)
class _Wheel:
    """A toothed wheel in the design position; ``phase`` is how far a tooth is turned from ``toward``, in pitches."""

    body: int
    center: Array
    axis: Array
    toward: Array
    teeth: int
    phase: float

    def same(self, other: _Wheel) -> bool:
        """Whether it is the other one, seen from another mesh."""
        near = 0.05 * float(np.linalg.norm(self.toward))
        size = float(np.linalg.norm(self.toward)) - float(np.linalg.norm(other.toward))
        return self.body == other.body and bool(np.linalg.norm(self.center - other.center) < near) and abs(size) < near

    def phase_at(self, toward: Array) -> float:
        """The phase against a tooth in another direction."""
        angle = np.arctan2(np.cross(self.toward, toward) @ self.axis, self.toward @ toward)
        return self.phase + self.teeth * float(angle) / (2 * np.pi)


def _known(wheels: list[_Wheel], wheel: _Wheel) -> _Wheel | None:
    return next((other for other in wheels if wheel.same(other)), None)


def _mesh(scene: Scene, closure: Closure, wheels: list[_Wheel]) -> Iterator[Line]:
    """The pitch circles with their teeth, or the belt around its pulleys, all as in the design position.

    A wheel that meshes with several others is drawn once; the teeth of the others fit between its own.
    """
    if not closure.mesh or not closure.actions:
        return
    action = closure.actions[0]
    at = np.array(action.point) + (scene.origins[action.carrier] if action.carrier >= 0 else 0.0)
    bodies = (action.body_a, action.body_b)
    item = None if scene.spec is None else next((x for x in scene.spec.gears if x.name == closure.name), None)
    if bodies[0] < 0:
        bodies, counts = bodies[::-1], _counts(item)[::-1]
    else:
        counts = _counts(item)
    axis, center = _axis(scene, bodies[0], at)
    if axis is None:
        return
    if isinstance(item, BeltSpec):
        yield from _belt(scene, closure.name, item, action.carrier, bodies, at)
        return
    radius = float(np.linalg.norm(at - center))
    ratio = counts[1] / counts[0]
    teeth = counts[0] if isinstance(item, GearSpec) and item.teeth is not None else LEAST_TEETH * max(1.0, 1 / ratio)
    first = _Wheel(bodies[0], center, axis, at - center, max(round(teeth), 3), 0.0)
    if closure.mesh == "rack":
        yield _fixed(scene, closure.name, "gear", bodies[0], _teeth(first))
        along = np.cross(axis, at - center) / radius
        yield _fixed(
            scene, closure.name, "gear", bodies[1], _rack(at, along, (at - center) / radius, 2 * np.pi * radius / teeth)
        )
        return
    turning, other = _axis(scene, bodies[1], at)
    inside = isinstance(item, GearSpec) and item.internal
    if turning is None:  # a wheel that is fixed to ground
        turning, other = axis, at + (at - center) * ratio * (-1.0 if inside else 1.0)
    second = _Wheel(bodies[1], other, turning, at - other, max(round(teeth * ratio), 3), 0.5)
    for wheel in _meshing(first, second, wheels, inside=inside):
        wheels.append(wheel)
        yield _fixed(scene, closure.name, "gear", wheel.body, _teeth(wheel))


def _meshing(first: _Wheel, second: _Wheel, wheels: list[_Wheel], *, inside: bool) -> Iterator[_Wheel]:
    """Two wheels that are not drawn yet, turned so that their teeth fit: tooth on gap, in a ring tooth on tooth."""
    drawn, other = _known(wheels, first), _known(wheels, second)
    tooth_on = 0.0 if inside else 0.5
    tangents = (np.cross(wheel.axis, wheel.toward) for wheel in (first, second))
    way = float(np.sign(np.dot(*tangents)))  # whether both phases count in the same direction where the wheels touch
    phase = 0.0
    if drawn is not None:
        phase = drawn.phase_at(first.toward)
    elif other is not None:
        phase = way * (other.phase_at(second.toward) - tooth_on)
    if drawn is None:
        yield replace(first, phase=phase)
    if other is None:
        yield replace(second, phase=tooth_on + way * phase)


def _counts(item: object) -> tuple[float, float]:
    given = getattr(item, "teeth", None) or getattr(item, "radii", None) or (1.0, 1.0)
    return float(given[0]), float(given[1])


def _axis(scene: Scene, body: int, at: Array) -> tuple[Array | None, Array]:
    """The direction of a body's hinge, and its point at the height of another point."""
    axis = None if body < 0 else scene.model.joints[body].axis
    if axis is None:
        return None, at
    direction, origin = np.array(axis, dtype=float), scene.origins[body]
    return direction, origin + ((at - origin) @ direction) * direction


def _teeth(wheel: _Wheel) -> Array:
    """A pitch circle as a wavy line."""
    radius, count = float(np.linalg.norm(wheel.toward)), wheel.teeth
    side = np.cross(wheel.axis, wheel.toward)
    angles = np.linspace(0.0, 2 * np.pi, 8 * count + 1)
    height = 0.3 * np.pi * radius / count
    r = 1 + height / radius * np.clip(1.6 * np.cos(count * angles + 2 * np.pi * wheel.phase), -1, 1)
    return np.asarray(wheel.center + (r * np.cos(angles))[:, None] * wheel.toward + (r * np.sin(angles))[:, None] * side)


def _rack(at: Array, along: Array, away: Array, pitch: float) -> Array:
    places = np.linspace(-8 * pitch, 8 * pitch, 129)
    heights = 0.15 * pitch * np.clip(1.6 * np.cos(2 * np.pi * places / pitch), -1, 1)
    return np.asarray(at + np.outer(places, along) + np.outer(heights, away))


def _belt(scene: Scene, name: str, item: BeltSpec, carrier: int, bodies: tuple[int, int], at: Array) -> Iterator[Line]:
    """Two straight sides that touch both pulleys, and the arcs between them (geometry/meshing.py has the same tangents)."""
    (axis, first), (_, second) = (_axis(scene, body, at) for body in bodies)
    assert axis is not None
    radii, way = [float(x) for x in item.radii], second - first
    d = float(np.linalg.norm(way))
    u = way / d
    n = np.cross(axis, u)
    sin = (radii[0] + radii[1] if item.crossed else radii[0] - radii[1]) / d
    start = float(np.arccos(np.clip(sin, -1, 1)))
    far = np.linspace(np.pi - start, start - np.pi, 40) if item.crossed else np.linspace(-start, start, 40)
    arcs = (np.linspace(start, 2 * np.pi - start, 40), far)
    back, front = (np.outer(np.cos(a), u) + np.outer(np.sin(a), n) for a in arcs)
    loop = [first + radii[0] * back, second + radii[1] * front]
    points = np.vstack([*loop, loop[0][:1]])
    yield _fixed(scene, name, "belt", carrier, points)


def _fixed(scene: Scene, name: str, role: str, body: int, world: Array) -> Line:
    """Points of the design position in the frame of a body: axes are parallel there."""
    return Line(name, role, body, world - (scene.origins[body] if body >= 0 else 0.0))


# --- at joints


def _across(axis: Array) -> tuple[Array, Array]:
    first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    first = first / np.linalg.norm(first)
    return first, np.cross(axis, first)


def _motor(mark: ElementMark, joint: JointMark, size: float) -> Iterator[Line]:
    """An arrow around a hinge, or along a slide."""
    if joint.axis is None:
        return
    x, y = _across(joint.axis)
    if joint.kind == "prismatic":
        ends = joint.a.point + np.outer([-4.0, 4.0], size * joint.axis) + 3.2 * size * x
        tip, along, aside = ends[1], joint.axis, x
        yield Line(mark.name, "motor", joint.a.body, ends)
    else:
        arc = np.outer(np.cos(TURN), x) + np.outer(np.sin(TURN), y)
        points = joint.a.point + 3.4 * size * arc
        yield Line(mark.name, "motor", joint.a.body, points)
        tip, along, aside = points[-1], -np.sin(TURN[-1]) * x + np.cos(TURN[-1]) * y, arc[-1]
    head = tip + 1.1 * size * np.array([-1.4 * along + 0.8 * aside, np.zeros(3), -1.4 * along - 0.8 * aside])
    yield Line(mark.name, "motor", joint.a.body, head)


def _damper(mark: ElementMark, joint: JointMark, size: float) -> Iterator[Line]:
    """A dashpot beside a slide, or bent around a hinge."""
    if joint.axis is None:
        return
    axis, (x, y) = joint.axis, _across(joint.axis)

    def place(part: float, side: float) -> Array:
        if joint.kind == "prismatic":
            return np.asarray(joint.a.point + size * (8 * (part - 0.5) * axis - (4.6 + 1.1 * side) * x))
        angle = np.pi * (1.15 + 0.9 * part)
        return np.asarray(joint.a.point + size * (2.9 + 0.8 * side) * (np.cos(angle) * x + np.sin(angle) * y))

    def line(*ends: tuple[float, float]) -> Line:
        parts = np.linspace(0, 1, 13)
        points = [place(p + k * (q - p), s + k * (t - s)) for (p, s), (q, t) in pairwise(ends) for k in parts]
        return Line(mark.name, "damper", joint.a.body, np.array(points))

    yield line((0.0, 0.0), (0.3, 0.0))
    yield line((0.7, 1.0), (0.3, 1.0), (0.3, -1.0), (0.7, -1.0))
    yield line((0.55, 0.75), (0.55, -0.75))
    yield line((0.55, 0.0), (1.0, 0.0))


# --- what is touched


def _tyre(scene: Scene, mark: ElementMark) -> Iterator[Line]:
    """The circle of the tyre, and the road as its table has it; level beyond."""
    assert mark.axes is not None
    forward, up = mark.axes[:, 0], mark.axes[:, 2]
    yield Line(mark.name, "tyre", mark.a.body, mark.a.point + mark.radius * _circle(forward, up))
    begin, end = -FAR * scene.extent, FAR * scene.extent
    x, y = (np.array(mark.road[0]), np.array(mark.road[1])) if mark.road is not None else (np.zeros(1), np.zeros(1))
    x, y = np.array([min(begin, x[0]), *x, max(end, x[-1])]), np.array([y[0], *y, y[-1]])
    yield Line(mark.name, "road", mark.b.body, mark.b.point + np.outer(x, forward) + np.outer(y, up))


def _contact(scene: Scene, mark: ElementMark) -> Iterator[Line]:
    """The ball by two circles; a square of the plane below it, or two circles of the cylinder."""
    assert mark.axes is not None
    normal = mark.axes[:, 2]
    x, y = _across(normal)
    if mark.radius > 0:
        for pair in ((x, normal), (y, normal)):
            yield Line(mark.name, "contact", mark.a.body, mark.a.point + mark.radius * _circle(*pair))
    if mark.kind == "cylinder_contact":
        for height in (-0.1, 0.1):
            ring = mark.b.point + height * scene.extent * normal + mark.cylinder * _circle(x, y)
            yield Line(mark.name, "contact", mark.b.body, ring)
        return
    above = scene.design.point(mark.a) - scene.design.point(mark.b)
    foot = mark.b.point + above - (above @ normal) * normal
    half = 0.15 * scene.extent
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * half
    yield Line(mark.name, "contact", mark.b.body, foot + corners @ np.array([x, y]))


def _circle(x: Array, y: Array) -> Array:
    return np.asarray(np.outer(np.cos(CIRCLE), x) + np.outer(np.sin(CIRCLE), y))
