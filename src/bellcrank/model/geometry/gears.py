"""From the gears, racks and belts that the user wrote to closures: what turns on what, where they touch, what they couple."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...joints import Joint
from ...numbers import sincos
from ...numbers.variable import as_number, length_of, value_of
from ...spatial import Vector
from ..building.references import ItemError, ModelRows, row_of
from ..closure import Action, Closure
from ..spec.elements import ZERO3
from ..spec.problems import names
from . import meshing
from .bevel import bevel
from .gear_specs import BeltSpec, GearSpec, RackSpec
from .meshing import Mesh

PARALLEL = 1e-7  # sine of an angle, and parts of a distance, that count as none
FITS = 1e-6  # parts of the distance of two axes by which radii may miss it


@dataclass(frozen=True)
class TreeRows:
    """The tree as it is in the model: parents, joints from the inboard body outward, their points by design, their names."""

    parents: Sequence[int]
    joints: Sequence[Joint]
    points: Any
    names: Sequence[str]
    driven: Sequence[bool]


class Step(NamedTuple):
    """A joint on the way from A to B, 1 if it carries A's side; ``beyond`` is the body behind it."""

    row: int
    sense: float
    beyond: int


class Line(NamedTuple):
    """A point and an axis about which some joints turn."""

    point: Vector
    axis: Vector


def make_gear(item: Any, rows: ModelRows, tree: TreeRows) -> Closure:
    a, b = (item.pinion, item.rack) if isinstance(item, RackSpec) else _two(item.bodies, "bodies")
    keys = ("pinion", "rack") if isinstance(item, RackSpec) else ("bodies", "bodies")
    ends = [row_of(body, rows, key) for body, key in zip((a, b), keys, strict=True)]
    if ends[0] == ends[1]:
        raise ItemError(f'it couples "{a}" with itself. Name two bodies.', keys[1])
    way = _JointPath(item, a, b, ends, tree)
    mesh = MESHES[type(item)](item, way)
    terms, driven = way.terms(mesh)
    if not terms:
        raise ItemError(
            f'all joints between "{a}" and "{b}" are driven or fixed, so that nothing can follow. Free one.', keys[0]
        )
    x, y, z = mesh.P - _vector(rows.origins[way.carrier])
    parts = [(*w.force, *w.moment) for w in (mesh.w, mesh.size, mesh.always)]
    linear, size, always = map(_floats, parts)
    action = Action(ends[0], ends[1], way.carrier, _floats((x, y, z)), linear, size, always, reports=True)
    return Closure(
        item.name, "coupler", terms=terms, driven_terms=driven, actions=(action,), mesh=item.section.removesuffix("s")
    )


class _JointPath:
    """The joints between two bodies: those of A about one line, then those of B about another, or along it."""

    def __init__(self, item: Any, a: str, b: str, ends: list[int], tree: TreeRows) -> None:
        self.item, self.a, self.b, self.tree = item, a, b, tree
        slides = isinstance(item, RackSpec)
        steps = [step for step in self._between(ends) if tree.joints[step.row].nv]
        self.line, first = self._about(steps, a)
        rest = steps[len(first) :]
        self.steps, self.carrier = steps, first[-1].beyond if first else ends[0]
        if slides:
            self.other = self._along(rest)
            return
        self.other, second = self._about(rest, b)
        if len(second) < len(rest):
            raise ItemError(f"{self._what(rest)} do not turn about one axis. {REMEDY}", "bodies")
        self.crossing = bool(length_of(self.line.axis.cross(self.other.axis)) > PARALLEL)
        if self.crossing and not isinstance(item, GearSpec):
            raise ItemError(f'the axes of "{a}" and "{b}" are not parallel. {REMEDY}', "bodies")
        if self.crossing and any(tree.joints[step.row].kind != "revolute" for step in steps):
            raise ItemError(f"{self._what(steps)} must be revolute, since wheels on crossing axes cannot slide.", "bodies")

    def _between(self, ends: list[int]) -> list[Step]:
        parents, sides = self.tree.parents, []
        for end in ends:
            rows, i = [], end
            while i >= 0:
                rows.append(i)
                i = parents[i]
            sides.append(rows)
        from_a, from_b = sides
        while from_a and from_b and from_a[-1] == from_b[-1]:
            from_a.pop()
            from_b.pop()
        return [*(Step(i, 1.0, parents[i]) for i in from_a), *(Step(i, -1.0, i) for i in reversed(from_b))]

    def _about(self, steps: list[Step], body: str) -> tuple[Line, list[Step]]:
        """The line of the first joint, and how many of the next turn about it too."""
        if not steps:
            raise ItemError(f'"{body}" does not turn about an axis of its own. {REMEDY}', "bodies")
        found: list[Step] = []
        line = None
        for step in steps:
            joint, point = self.tree.joints[step.row], _vector(self.tree.points[step.row])
            if joint.kind not in TURNING:
                break
            own = Line(point, _vector(joint.axis))
            line = own if line is None else line
            off = length_of((point - line.point).cross(line.axis))
            far = max(1e-3, *(abs(value_of(x)) for x in (*point, *line.point)))
            if length_of(own.axis.cross(line.axis)) > PARALLEL or off > PARALLEL * far:
                break
            found.append(step)
        if line is None:
            name, kind = self.tree.names[steps[0].row], self.tree.joints[steps[0].row].kind
            raise ItemError(f'"{body}" is held by joint "{name}", which is {kind}. {REMEDY}', "bodies")
        return line, found

    def _along(self, steps: list[Step]) -> Line:
        joints = [self.tree.joints[step.row] for step in steps]
        if not joints or any(joint.kind != "prismatic" for joint in joints):
            what = self._what(steps) if steps else f'"{self.b}"'
            raise ItemError(f"{what} must slide on what carries the pinion: use a prismatic joint.", "rack")
        line = Line(_vector(self.tree.points[steps[0].row]), _vector(joints[0].axis))
        if any(length_of(_vector(joint.axis).cross(line.axis)) > PARALLEL for joint in joints):
            raise ItemError(f"{self._what(steps)} slide in different directions. Let the rack slide along one line.", "rack")
        if abs(line.axis.dot(self.line.axis)) > PARALLEL:
            raise ItemError("the rack must slide across the axis of the pinion. Turn one of them.", "rack")
        return line

    def _what(self, steps: list[Step]) -> str:
        return f'the joints {names([self.tree.names[step.row] for step in steps])} between "{self.a}" and "{self.b}"'

    def height(self, point: Any) -> Vector:
        """The point of A's axis beside a place."""
        line = self.line
        return line.point if point is None else line.point + line.axis * line.axis.dot(_vector(point) - line.point)

    def across(self, at: Vector) -> tuple[Vector, float]:
        """The vector from A's axis at some height to that of B, across them, and its length."""
        way = self.other.point - at
        way = way - self.line.axis * self.line.axis.dot(way)
        return way, length_of(way)

    def terms(self, mesh: Mesh) -> tuple[tuple[tuple[int, int, float], ...], tuple[tuple[int, int, float], ...]]:
        """Coordinates and their coefficients: of free joints, and of driven ones."""
        found: tuple[list[Any], list[Any]] = ([], [])
        for step in self.steps:
            joint, point = self.tree.joints[step.row], _vector(self.tree.points[step.row])
            axis = _vector(joint.axis)
            work = {"angle": axis.dot(mesh.w.about(mesh.P, point)), "slide": axis.dot(mesh.w.force)}
            for dof, what in enumerate(TURNING.get(joint.kind, ("slide",))):
                coefficient = step.sense * as_number(work[what])
                if abs(coefficient) > 1e-12 * length_of(mesh.w.force):
                    found[self.tree.driven[step.row]].append((step.row, dof, coefficient))
        return tuple(found[0]), tuple(found[1])


TURNING = {"revolute": ("angle",), "cylindrical": ("angle", "slide")}
REMEDY = (
    "Gears need revolute joints on a common carrier, with axes that are parallel or meet, belts with parallel ones; "
    "a coupler couples any coordinates."
)


def _gear(item: GearSpec, way: _JointPath) -> Mesh:
    _check_angles(item)
    angles = as_number(item.pressure_angle), as_number(item.helix_angle)
    if way.crossing:
        return bevel(item, (way.line, way.other), (way.a, way.b), _sizes(item), angles)
    a, at = way.line.axis, way.height(item.point)
    across, d = way.across(at)
    if not d > 0:
        raise ItemError(f'"{way.a}" and "{way.b}" turn about one axis. Move one of them, or use a coupler.', "bodies")
    r_a, r_b = _radii(item, d)
    ring = item.internal and r_a > r_b  # whether A is the one with its teeth inside
    r = across * ((-1.0 if item.internal and not ring else 1.0) / d)
    return meshing.teeth(at + r * r_a, a, r, *angles, -1.0 if ring else 1.0)


def _sizes(item: GearSpec) -> tuple[Any, Any, Any]:
    """Radii or teeth as written, and how many metres of radius one of them is: None if only the axes say that."""
    if (item.radii is None) == (item.teeth is None):
        raise ItemError(
            f"it has {'neither radii nor' if item.radii is None else 'both radii and'} teeth. Give one of the two.", "radii"
        )
    key = "radii" if item.teeth is None else "teeth"
    first, second = (as_number(x) for x in _two(getattr(item, key), key))
    if not (first > 0 and second > 0):
        raise ItemError(f"its {key} are {first:g} and {second:g}. Give more than zero.", key)
    if item.teeth is None:
        return first, second, 1.0
    if item.module is None:
        return first, second, None
    return first, second, as_number(item.module) / (2 * sincos(as_number(item.helix_angle))[1])


def _radii(item: GearSpec, d: float) -> tuple[float, float]:
    """Radii of the pitch circles, which touch: they add up to the distance of the axes, or differ by it."""
    first, second, size = _sizes(item)
    key = "radii" if item.teeth is None else "teeth"
    sign = -1.0 if item.internal else 1.0
    if item.internal and first == second:
        raise ItemError(f"its {key} are equal. Of internal gears the ring is larger than the pinion.", key)
    if size is None:
        return first * d / abs(first + sign * second), second * d / abs(first + sign * second)
    r_a, r_b = first * size, second * size
    wanted = abs(r_a + sign * r_b)
    if abs(wanted - d) > FITS * d:
        what = "differ by" if item.internal else "add up to"
        remedy = "Move an axis, or give teeth without a module: the radii then follow."
        raise ItemError(
            f"its radii {r_a:.6g} m and {r_b:.6g} m {what} {wanted:.6g} m, and its axes are {d:.6g} m apart. {remedy}", key
        )
    return r_a, r_b


def _rack(item: RackSpec, way: _JointPath) -> Mesh:
    at = way.height(item.point)
    arm = _vector(item.point) - at
    arm = arm - way.other.axis * way.other.axis.dot(arm)
    radius = length_of(arm)
    if not radius > 0:
        raise ItemError("its point is on the axis of the pinion, which leaves no radius. Move it.", "point")
    _check_angles(item)
    r = arm * (1.0 / radius)
    return meshing.teeth(at + arm, way.line.axis, r, as_number(item.pressure_angle), as_number(item.helix_angle), 1.0)


def _belt(item: BeltSpec, way: _JointPath) -> Mesh:
    at = way.height(item.point)
    across, d = way.across(at)
    r_a, r_b = (as_number(x) for x in _two(item.radii, "radii"))
    if not (r_a > 0 and r_b > 0):
        raise ItemError(f"its radii are {r_a:g} and {r_b:g} m. Give more than zero.", "radii")
    least = r_a + r_b if item.crossed else abs(r_a - r_b)
    if not d > least:
        what = "the sum" if item.crossed else "the difference"
        raise ItemError(f"its axes are {d:.6g} m apart, not more than {what} of its radii, {least:.6g} m. Move one.", "radii")
    tension = None if item.tension is None else as_number(item.tension)
    return meshing.belt(at + across, way.line.axis, at, at + across, (r_a, r_b), item.crossed, tension)


MESHES: dict[type[Any], Any] = {GearSpec: _gear, RackSpec: _rack, BeltSpec: _belt}


def _check_angles(item: Any) -> None:
    for key, angle in (("pressure_angle", as_number(item.pressure_angle)), ("helix_angle", as_number(item.helix_angle))):
        if not abs(angle) < math.radians(60):
            raise ItemError(f'{key} is {angle:g} rad. Give less than 60 degrees: {key} = "20 deg".', key)


def _two(value: Any, key: str) -> tuple[Any, Any]:
    given = value if isinstance(value, tuple) else (value,)
    if len(given) != 2:
        raise ItemError(f"it has {len(given)} {key}. Give two.", key)
    return given[0], given[1]


ON_DRIVEN = {**TURNING, "screw": ("angle",), "prismatic": ("slide",)}


def driven_action(name: str, term: tuple[int, int, float], rows: ModelRows, tree: TreeRows, *, curved: bool = False) -> Action:
    """A coupler's effort on a driven joint, which has no coordinate of its own: on what it carries, and against its parent.

    ``curved``: the factor is the slope of the coupler's curve, reversed.
    """
    row, dof, factor = term
    joint, parent = tree.joints[row], tree.parents[row]
    if joint.kind not in ON_DRIVEN:
        raise ItemError(
            f'joint "{name}" is {joint.kind} and driven, which cannot be coupled. Use revolute or prismatic ones.', "joints"
        )
    along = _floats(_vector(joint.axis) * (1.0 if curved else factor))
    wrench = (*ZERO3, *along) if ON_DRIVEN[joint.kind][dof] == "angle" else (*along, *ZERO3)
    point = _floats(_vector(tree.points[row]) - _vector(rows.origins[parent]))
    return Action(row, parent, parent, point, wrench, curved=curved)


def _vector(place: Any) -> Vector:
    return Vector(*(as_number(x) for x in place))


def _floats(values: Any) -> Any:
    return tuple(as_number(x) + 0.0 for x in values)
