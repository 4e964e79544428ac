"""Symbols of joints, supports, springs and dampers, as engineers sketch them. Sizes are in points of paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..fixed_lines import Line
from ..scene import Array, ElementMark, JointMark, Placement
from ..solids import box_about, cylinder_between
from .colors import DRIVEN, FORCE, GAP, INK, PAPER, loop_color, mixed
from .sketch import ARROWS, SPRINGS, SUPPORTS, Sketch
from .views import View

PIN = 3.6  # radius of a hinge
HALF = 6.5  # half the length of a hinge, or of a slider's block
SOCKET = 4.6  # radius of a ball
MARGIN = 3.4  # of the ring around a joint that closes a loop
SUPPORT = 13.0  # height of the triangle between a joint and ground
COIL = 6.0  # half the width of a spring
SLIDES = ("prismatic", "cylindrical", "screw", "point_on_line")
BETWEEN = (
    "spring_damper",
    "one_sided_spring",
    "actuator",
    "point_stop",
    "coupler",
)  # elements that are lines between two points
LINES = {
    "gear": (INK, 0.9), "belt": (INK, 2.2), "road": (INK, 1.6), "contact": (INK, 0.9), "motor": (mixed(DRIVEN, INK, 0.35), 1.7),
    "damper": (INK, 1.1), "tyre": (INK, 2.4),
}  # colours and widths by the role of a line  # fmt: skip
DIRECTIONS = ((0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0))  # where ground may be


def draw_joint(sketch: Sketch, mark: JointMark, loop: int | None) -> None:
    """The symbol of a joint's kind; a ring in the colour of its loop around one that was cut."""
    at = sketch.placement.point(mark.b)
    flat = sketch.flat(at)
    face = DRIVEN if mark.driven else PAPER
    if loop is not None:
        sketch.circle(flat, SOCKET + MARGIN, face="none", edge=loop_color(loop), width=1.8, z=ARROWS)
    if mark.kind == "perpendicular":
        corner = 2.0 * sketch.unit * np.array([[-1, 1], [-1, -1], [1, -1]])
        sketch.line(flat + corner, color=mixed(loop_color(loop or 0), "#000000", 0.25), z=ARROWS)
    elif mark.kind in ("distance", "point_on_line", "point_on_plane"):
        _draw_closure(sketch, mark, loop or 0)
    elif mark.kind == "spherical":
        sketch.circle(flat, SOCKET, face=face)
        sketch.circle(flat, 0.55 * SOCKET, face=INK)
    elif mark.kind == "fixed":
        sketch.polygon(flat + 2.6 * sketch.unit * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), face=INK)
    elif mark.axis is None:
        sketch.polygon(flat + SOCKET * sketch.unit * np.array([[-1, 0], [0, -1], [1, 0], [0, 1]]), face=face)
    else:
        _draw_axial(sketch, mark, at, face)


def _draw_axial(sketch: Sketch, mark: JointMark, at: Array, face: str) -> None:
    assert mark.axis is not None
    unit, axis = sketch.unit, sketch.placement.direction(mark.a.body, mark.axis)
    half = HALF * unit * axis
    if mark.kind == "revolute":
        sketch.solid(cylinder_between(at - half, at + half, PIN * unit), face=face)
    elif mark.kind == "universal":
        second = axis if mark.axis2 is None else sketch.placement.direction(mark.b.body, mark.axis2)
        for direction in (axis, second):
            arm = 1.2 * HALF * unit * direction
            sketch.line(sketch.flat(np.array([at - arm, at + arm])), width=2.2)
        sketch.circle(sketch.flat(at), 0.7 * PIN, face=face)
    elif mark.kind == "planar":
        frame = np.array(_across(axis)) * 1.6 * HALF * unit
        corners = [at + x * frame[0] + y * frame[1] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        sketch.polygon(sketch.flat(np.array(corners)), face=mixed(face, INK, 0.1))
        sketch.circle(sketch.flat(at), 0.7 * PIN, face=face)
    else:
        _draw_slide(sketch, mark, at, axis, face)


def _draw_slide(sketch: Sketch, mark: JointMark, at: Array, axis: Array, face: str) -> None:
    """A block (prismatic) or sleeve (cylindrical, screw) on a line along its axis."""
    unit, base = sketch.unit, sketch.placement.point(mark.a)
    reach = 3.2 * HALF * unit * axis
    line = sorted([float((at - base) @ axis), 0.0])
    sketch.line(sketch.flat(np.array([base + line[0] * axis - reach, base + line[1] * axis + reach])), width=1.3)
    half = 1.5 * HALF * unit * axis
    if mark.kind == "prismatic":
        sketch.solid(box_about(at, unit * np.array([2.4 * PIN, 2.4 * PIN, 3 * HALF]), axis), face=face)
    else:
        sketch.solid(cylinder_between(at - half, at + half, 1.2 * PIN * unit), face=face)
    if mark.kind == "screw":
        side = sketch.flat(np.array(_across(axis)[0])) * 1.2 * PIN * unit
        for part in (-0.6, 0.0, 0.6):
            middle, tilt = sketch.flat(at + part * half), 0.2 * sketch.flat(half)
            sketch.line(np.array([middle - side - tilt, middle + side + tilt]), width=0.9, z=ARROWS)


def _draw_closure(sketch: Sketch, mark: JointMark, loop: int) -> None:
    """A rod without mass, of which a driven one is a cylinder; the line or plane that guides a point."""
    start, end = (sketch.flat(sketch.placement.point(anchor)) for anchor in (mark.a, mark.b))
    color = mixed(loop_color(loop), "#000000", 0.25)
    if mark.kind == "distance":
        sketch.line(np.array([start, end]), color=color, width=2.4, z=SPRINGS)
        if mark.driven:
            middle = start + 0.55 * (end - start)
            sketch.line(np.array([start, middle]), color=color, width=7.5, z=SPRINGS)
            sketch.line(np.array([start, middle]), color=DRIVEN, width=5.0, z=SPRINGS)
        for point in (start, end):
            sketch.circle(point, 0.8 * PIN, face=PAPER)
        return
    assert mark.axis is not None
    axis = sketch.placement.direction(mark.a.body, mark.axis)
    along = axis if mark.kind == "point_on_line" else _across(axis)[0]
    reach = 5 * HALF * sketch.unit * sketch.flat(along)
    sketch.line(np.array([end - reach, end + reach]), color=color, style="--", z=SPRINGS)
    sketch.circle(end, 0.8 * PIN, face=PAPER)


def draw_gap(sketch: Sketch, mark: JointMark) -> float | None:
    """Where a closed loop gapes: a red line between the two points that should be one, and how far apart they are (m)."""
    start, end = sketch.placement.point(mark.a), sketch.placement.point(mark.b)
    away = end - start
    if mark.kind in SLIDES and mark.axis is not None:
        axis = sketch.placement.direction(mark.a.body, mark.axis)
        away = away - (away @ axis) * axis
    elif mark.kind in ("planar", "point_on_plane", "perpendicular") or (mark.kind == "distance" and mark.length is None):
        return None
    elif mark.kind == "distance" and mark.length is not None:
        away = away * (1 - mark.length / max(float(np.linalg.norm(away)), 1e-300))
    gap = float(np.linalg.norm(away))
    if gap < 0.5 * sketch.unit:
        return None
    sketch.line(sketch.flat(np.array([end - away, end])), color=GAP, width=2.0, style=(0, (2, 1.2)))
    for point in (end - away, end):
        sketch.circle(sketch.flat(point), 2.2, face=GAP, edge=GAP)
    return gap


def draw_rail(sketch: Sketch, mark: JointMark) -> bool:
    """Ground along a slide, hatched; False for other joints, and for a slide that is seen from its end."""
    if mark.kind not in SLIDES or mark.axis is None:
        return False
    unit, at = sketch.unit, sketch.flat(sketch.placement.point(mark.b if mark.a.body < 0 else mark.a))
    along = sketch.flat(sketch.placement.direction(mark.a.body, mark.axis))
    size = float(np.linalg.norm(along))
    if size < 0.3:
        return False
    along = along / size
    below = np.array([along[1], -along[0]])
    below = -below if below[1] > 1e-9 else below
    _hatched(sketch, at + 1.6 * PIN * unit * below, 3.2 * HALF * unit * along, below)
    return True


def side_for_ground(beside: Sequence[Array]) -> Array:
    """Below, or another side if bodies extend there; ``beside`` are their directions."""
    directions = [np.array(d) for d in DIRECTIONS]
    return min(directions, key=lambda d: max([float(d @ body) for body in beside], default=0.0) + 0.2 * (d[1] > -0.5))


def draw_ground(sketch: Sketch, at: Array, below: Array) -> None:
    """A hatched triangle at a point, on the side of a direction."""
    unit = sketch.unit
    along = np.array([-below[1], below[0]])
    foot = at + SUPPORT * unit * below
    half = 0.62 * SUPPORT * unit * along
    sketch.polygon(np.array([at, foot - half, foot + half]), face=mixed(INK, PAPER, 0.85), width=1.1, z=SUPPORTS)
    _hatched(sketch, foot, 1.6 * half, below)


def _hatched(sketch: Sketch, middle: Array, half: Array, below: Array) -> None:
    sketch.line(np.array([middle - half, middle + half]), width=1.3, z=SUPPORTS)
    size = float(np.linalg.norm(half))
    count = max(int(2 * size / (4.2 * sketch.unit)), 3)
    stroke = 4.6 * sketch.unit * below - 3.2 * sketch.unit * half / size
    for part in np.linspace(-1, 1, count, endpoint=False) + 2 / count:
        start = middle + part * half
        sketch.line(np.array([start, start + stroke]), width=0.8, z=SUPPORTS)


def draw_line(sketch: Sketch, line: Line) -> None:
    """Teeth, belts, roads, motors and the like."""
    color, width = LINES[line.role]
    points = sketch.flat(sketch.placement.points(line.body, line.points))
    if line.role == "road":  # what is far beyond the sheet would only cost time
        low, high = sketch.axes.viewLim.get_points()
        points = np.clip(points, low - (high - low), high + (high - low))
    sketch.line(points, color=color, width=width, z=SUPPORTS if line.role in ("road", "contact") else SPRINGS)


def draw_element(sketch: Sketch, mark: ElementMark) -> None:
    """A spring as a zigzag and a damper as a dashpot beside it; a spring at a joint as a spiral; a force as an arrow."""
    start, end = (sketch.flat(sketch.placement.point(anchor)) for anchor in (mark.a, mark.b))
    unit = sketch.unit
    if mark.kind == "force":
        assert mark.force is not None
        pull = sketch.flat(sketch.placement.direction(mark.force_body, mark.force))
        size = float(np.linalg.norm(mark.force)) or 1.0
        sketch.arrow(end, end + 42 * unit * pull / size, color=FORCE)
    elif mark.kind == "joint_spring" and mark.slide is not None:
        along = sketch.flat(sketch.placement.direction(mark.a.body, mark.slide))
        across = np.array([-along[1], along[0]])
        if np.linalg.norm(along) > 0.3:
            _zigzag(sketch, end - 52 * unit * along + 13 * unit * across, end + 13 * unit * across, 0.0)
    elif mark.kind in ("joint_spring", "turning_spring"):
        turns = np.linspace(0, 5 * np.pi, 90)
        spiral = np.column_stack([np.cos(turns), np.sin(turns)]) * (1.3 + turns[:, None] / (5 * np.pi)) * 1.5 * PIN * unit
        sketch.line(end + spiral, width=0.9, z=SPRINGS)
    elif mark.kind in BETWEEN and mark.kind != "spring_damper":
        _draw_between(sketch, mark, start, end)
    elif mark.kind == "spring_damper" and np.linalg.norm(end - start) > 4 * COIL * unit:
        aside = (1.0 if mark.damped else 0.0) if mark.stiff else 0.0
        if mark.stiff or not mark.damped:
            _zigzag(sketch, start, end, aside)
        if mark.damped:
            _dashpot(sketch, start, end, -aside)
    elif mark.kind == "bushing":
        sketch.circle(end, 1.9 * PIN, face=mixed(INK, PAPER, 0.7))
        sketch.circle(end, PIN, face=PAPER)


def _draw_between(sketch: Sketch, mark: ElementMark, start: Array, end: Array) -> None:
    """A cable as a line, slack or taut; an actuator as a cylinder; a coupler as a line of dots."""
    ends = np.array([start, end])
    if mark.kind == "coupler":
        sketch.line(ends, color=DRIVEN, width=1.6, style=(0, (1, 1.6)), z=SPRINGS)
    elif mark.kind == "actuator":
        middle = start + 0.55 * (end - start)
        sketch.line(ends, width=2.0, z=SPRINGS)
        sketch.line(np.array([start, middle]), width=7.5, z=SPRINGS)
        sketch.line(np.array([start, middle]), color=DRIVEN, width=5.0, z=SPRINGS)
    elif mark.kind == "point_stop":
        sketch.line(ends, width=0.9, style=(0, (4, 2)), z=SPRINGS)
    elif mark.pushes:
        _zigzag(sketch, start, end, 0.0)
    else:
        sketch.line(cable(mark, sketch.placement, sketch.view), width=1.6, z=SPRINGS)
    for point in () if mark.kind == "coupler" else ends:
        sketch.circle(point, 0.45 * PIN, face=INK, z=SPRINGS)


def cable(mark: ElementMark, placement: Placement, view: View) -> Array:
    """Points (k, 2) of a cable: straight if it is taut, else a parabola of about its length, which sags down the sheet.

    Of a small sag f in a span d the length is d + 8 f^2/(3 d).
    """
    start, end = (placement.point(anchor) for anchor in (mark.a, mark.b))
    distance, parts = float(np.linalg.norm(end - start)), np.linspace(0, 1, 33)[:, None]
    sag = np.sqrt(max(mark.length - distance, 0.0) * 3 * max(distance, 0.05 * mark.length) / 8)
    return np.asarray(view.project(start + parts * (end - start)) - 4 * sag * parts * (1 - parts) * np.array([0.0, 1.0]))


def _zigzag(sketch: Sketch, start: Array, end: Array, aside: float) -> None:
    along, across, length = _directions(start, end)
    width, lead = COIL * sketch.unit, 0.16 * length
    teeth = min(max(int((length - 2 * lead) / (6.5 * sketch.unit)) // 2 * 2, 6), 28)
    places = np.linspace(lead, length - lead, teeth + 1)
    offset = np.array([0.0, *np.resize([1.0, -1.0], teeth - 1), 0.0]) * width
    shift = 1.5 * aside * width
    body = start + np.outer(places, along) + np.outer(offset + shift, across)
    lead_in = start + np.array([[0, 0], 0.08 * length * along, 0.08 * length * along + shift * across])
    lead_out = end - np.array([0.08 * length * along - shift * across, 0.08 * length * along, [0, 0]])
    sketch.line(np.vstack([lead_in, body, lead_out]), width=1.3, z=SPRINGS)


def _dashpot(sketch: Sketch, start: Array, end: Array, aside: float) -> None:
    along, across, length = _directions(start, end)
    width, shift = 0.75 * COIL * sketch.unit, 1.5 * aside * COIL * sketch.unit
    origin = start + shift * across
    branch = 0.08 * length

    def at(part: float, side: float = 0.0) -> Array:
        return np.asarray(origin + part * length * along + side * width * across)

    cup = np.array([at(0.62, 1), at(0.36, 1), at(0.36, -1), at(0.62, -1)])
    for points in (
        np.array([start, start + branch * along, at(0.08), at(0.36)]),
        cup,
        np.array([at(0.5, 0.75), at(0.5, -0.75)]),
        np.array([at(0.5), at(0.92), end - branch * along, end]),
    ):
        sketch.line(points, width=1.3, z=SPRINGS)


def _directions(start: Array, end: Array) -> tuple[Array, Array, float]:
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    return along, np.array([-along[1], along[0]]), length


def _across(axis: Array) -> tuple[Array, Array]:
    """Two directions across an axis."""
    first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    first = first / np.linalg.norm(first)
    return first, np.cross(axis, first)
