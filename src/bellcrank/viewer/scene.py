"""The parts of a model that are drawn: solids, joints, force elements and points, all in body frames.

A scene is made from a Model alone. The poses of the bodies, ``dyn.poses(q)`` or those of a run, place it: nothing here knows
dynamics, and a placed scene is plain numpy. Ground is body -1, whose frame is the world's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StateError
from ..joints.derived import looks_like
from ..model import Closure
from ..model.building.resolve import without_formulas
from ..model.parameters.tables import Table
from ..plan.closures import closing_axes
from ..wording import did_you_mean

if TYPE_CHECKING:
    from ..joints import Joint
    from ..model import Element, Model
    from ..model.spec.spec import Spec

Array = NDArray[np.float64]
GROUND = -1


@dataclass(frozen=True)
class Anchor:
    """A point (m) fixed to a body, in its frame."""

    body: int
    point: Array


@dataclass(frozen=True)
class JointMark:
    """A joint, or another closure of a loop, between a place on its first body and one on its second.

    kind       of the joint; of other closures "distance", "point_on_line", "point_on_plane" or "perpendicular"
    axis       directions in the frame of the first body; axis2 in that of the second; None without one
    loop       the closure that it is, for a joint that was cut; None for a joint of the tree
    length     of a distance, m
    """

    name: str
    kind: str
    a: Anchor
    b: Anchor
    axis: Array | None = None
    axis2: Array | None = None
    loop: int | None = None
    driven: bool = False
    length: float | None = None


@dataclass(frozen=True)
class ElementMark:
    """A force element, or a coupler, between two places; of one that acts on a joint both are at the joint.

    axes       of a contact or a tyre: columns, in the frame of what is touched; radius of its ball or wheel, m
    road       the road of a tyre: places along it and heights, m
    """

    name: str
    kind: str
    a: Anchor
    b: Anchor
    stiff: bool
    damped: bool
    force: Array | None = None  # of a constant force, N
    force_body: int = GROUND  # whose axes the force has
    slide: Array | None = None  # of an element along a slide, its direction
    joint: str = ""  # of an element that acts on a joint
    length: float = 0.0  # of a cable, m
    pushes: bool = False  # of a spring with one side: it only pushes
    axes: Array | None = None
    radius: float = 0.0
    cylinder: float = 0.0  # radius of the cylinder that is touched, m
    road: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    @property
    def is_cable(self) -> bool:
        return self.kind == "one_sided_spring" and not self.pushes


@dataclass(frozen=True)
class Placement:
    """Poses of the bodies: positions (n, 3), and rotations (n, 3, 3) from body axes to world axes."""

    positions: Array
    rotations: Array

    def point(self, anchor: Anchor) -> Array:
        """The position of a place in the world."""
        return self.points(anchor.body, anchor.point)

    def points(self, body: int, points: ArrayLike) -> Array:
        """Positions of points (..., 3) of a body in the world."""
        given = np.asarray(points, dtype=float)
        return given if body < 0 else self.positions[body] + given @ self.rotations[body].T

    def direction(self, body: int, vector: ArrayLike) -> Array:
        given = np.asarray(vector, dtype=float)
        return given if body < 0 else given @ self.rotations[body].T


class Scene:
    """Everything about a model that can be drawn.

    origins    (n, 3) of the bodies in the design position
    joints     marks of the joints and of the other closures, which have the number of their closure
    elements   marks of the force elements
    loops      bodies of each closure's loop
    bodies     names of the bodies
    places     points by name: ``joint``, ``measure``, ``body`` (its centre of mass), ``body.point`` (a point of the file)
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.bodies = model.body_names[: model.body_count]
        self.spec: Spec | None = None if model.spec is None else without_formulas(model.spec)
        self.origins = _origins(model, self.spec)
        self.joints = (*_tree_joints(model), *_closures(model))
        acting = (_element(model, item, self.joints) for item in model.elements if item.kind in DRAWN)
        self.elements = (*acting, *_couplers(model, self.joints))
        self.marks: tuple[JointMark | ElementMark, ...] = (*self.joints, *self.elements)
        self.loops = tuple(_loop(model, mark) for mark in self.joints if mark.loop is not None)
        self.design = Placement(self.origins, np.tile(np.eye(3), (len(self.bodies), 1, 1)))
        self.extent = self._extent()

    def attachments(self, body: int) -> list[Array]:
        """Points of a body where something acts or is measured, each once, its own joint first."""
        found = [np.zeros(3)] if body >= 0 and self.model.joints[body].kind != "free" else []
        found += [end.point for mark in self.marks for end in (mark.a, mark.b) if end.body == body]
        found += [anchor.point for _, anchor in self.measured() if anchor.body == body]
        apart: list[Array] = []
        for point in found:
            if all(np.linalg.norm(point - other) > 1e-9 for other in apart):
                apart.append(point)
        return apart

    def measured(self) -> Iterator[tuple[str, Anchor]]:
        """Points whose place is measured."""
        for measure in self.model.measures:
            if measure.kind == "position":
                yield measure.name, Anchor(measure.body_a, np.array(measure.point_a))

    def place(self, name: str) -> Anchor:
        """The point of a name; StateError for a name that the model does not have."""
        known = self.places()
        if name in known:
            return known[name]
        raise StateError(
            f"{self.model.name!r} has no point {name!r}{did_you_mean(name, list(known))}; points are joints, measured "
            "positions, bodies (their centres of mass) and BODY.POINT with a point of the file"
        )

    def places(self) -> dict[str, Anchor]:
        found: dict[str, Anchor] = {}
        for item in () if self.spec is None else self.spec.points:
            for k, body in enumerate(self.bodies):
                found[f"{body}.{item.name}"] = Anchor(k, np.array(item.position, dtype=float) - self.origins[k])
        found |= {body: Anchor(k, self.model.center[k]) for k, body in enumerate(self.bodies)}
        return found | {mark.name: mark.b for mark in self.joints} | dict(self.measured())

    def _extent(self) -> float:
        """The size of the mechanism in the design position, m."""
        points = [self.design.point(end) for mark in self.marks for end in (mark.a, mark.b)]
        points += [self.origins + self.model.center[: len(self.bodies)]] if self.bodies else []
        everything = np.vstack([np.atleast_2d(p) for p in points])
        return float(max(np.ptp(everything, axis=0).max(), 1e-9))


def _origins(model: Model, spec: Spec | None) -> Array:
    """Origins of the bodies in the design position: at their inboard joints; without a spec a free body is at its start."""
    if spec is not None:
        points = {joint.name: joint.point for joint in spec.joints}
        return np.array([points[name] for name in model.joint_names[: model.body_count]], dtype=float).reshape(-1, 3)
    origins = np.zeros((model.body_count, 3))
    waiting = list(range(model.body_count))
    while waiting:
        row = waiting.pop(0)
        parent = model.parents[row]
        if parent in waiting:
            waiting.append(row)
            continue
        start = model.q_index[row]
        offset = model.given_q[start : start + 3] if model.joints[row].kind == "free" else model.position[row]
        origins[row] = offset + (0.0 if parent < 0 else origins[parent])
    return origins


def _tree_joints(model: Model) -> Iterator[JointMark]:
    turned = model.turned or (False,) * model.n
    for row, (name, joint) in enumerate(zip(model.joint_names, model.joints, strict=True)):
        if joint.kind == "free" or not joint.mechanical:
            continue
        a, b = Anchor(model.parents[row], model.position[row]), Anchor(row, np.zeros(3))
        kind, first, second = _drawn(joint)
        if turned[row]:  # the parent that the user wrote is the body that it carries here
            a, b = b, a
        yield JointMark(name, kind, a, b, first, second, driven=bool(model.driven[row]))


def _closures(model: Model) -> Iterator[JointMark]:
    for number, closure in enumerate(model.closures):
        if closure.kind == "coupler":
            continue
        a, b = Anchor(closure.body_a, np.array(closure.point_a)), Anchor(closure.body_b, np.array(closure.point_b))
        kind, first, second = (closure.kind, None, None) if closure.joint is None else _drawn(closure.joint)
        if closure.axis is not None:
            first, second = np.array(closure.axis), None if closure.axis2 is None else np.array(closure.axis2)
        length = closure.value if closure.kind == "distance" and closure.motion is None else None
        yield JointMark(closure.name, kind, a, b, first, second, number, closure.motion is not None, length)


def _drawn(joint: Joint) -> tuple[str, Array | None, Array | None]:
    """Kind and axes of the symbol: a joint that is defined elsewhere is drawn as the simple one that it looks like."""
    first, second = (None if axis is None else np.array(axis, dtype=float) for axis in (joint.axis, joint.axis2))
    if joint.kind in SYMBOLS:
        return joint.kind, first, second
    kind, along = looks_like(type(joint))
    return kind, closing_axes(Closure("", "joint", joint=joint)) @ along, None


SYMBOLS = ("revolute", "prismatic", "cylindrical", "screw", "universal", "spherical", "planar", "fixed")
DRAWN = (
    "joint_spring", "joint_damper", "joint_effort", "joint_input", "spring_damper", "bushing", "turning_spring", "force",
    "actuator", "one_sided_spring", "point_stop", "plane_contact", "cylinder_contact", "tyre",
)  # fmt: skip


def _couplers(model: Model, joints: tuple[JointMark, ...]) -> Iterator[ElementMark]:
    """Between each two joints that are coupled by a relation of their coordinates, and not by teeth or a belt."""
    places = {mark.name: mark for mark in joints}
    for closure in model.closures:
        terms = (*closure.terms, *closure.driven_terms) if closure.kind == "coupler" and not closure.mesh else ()
        coupled = [places[name] for name in dict.fromkeys(model.joint_names[row] for row, _, _ in terms) if name in places]
        for first, second in pairwise(coupled):
            yield ElementMark(closure.name, "coupler", first.b, second.b, stiff=False, damped=False)


def _element(model: Model, element: Element, joints: tuple[JointMark, ...]) -> ElementMark:
    values, force, axes_of, slide, name = element.values, None, GROUND, None, ""
    a, b = Anchor(element.body_a, np.array(element.point_a)), Anchor(element.body_b, np.array(element.point_b))
    if element.kind.startswith("joint_"):
        name = model.closures[element.closure].name if element.closure >= 0 else model.joint_names[element.joint]
        mark = next((mark for mark in joints if mark.name == name), None)
        if mark is not None:
            a, b, slide = mark.a, mark.b, mark.axis if mark.kind == "prismatic" else None
    if element.kind == "force":
        b, force = a, np.array([values["fx"], values["fy"], values["fz"]])
        axes_of = GROUND if values["world"] else element.body_a
    stiff = element.table is not None or any(values.get(key, 0.0) != 0 for key in ("stiffness", "kx", "ky", "kz"))
    damped = any(values.get(key, 0.0) != 0 for key in ("damping", "cx", "cy", "cz"))
    axes = None if element.axes is None else np.array(element.axes, dtype=float)
    sizes = {key: float(values.get(key, 0.0)) for key in ("length", "radius", "cylinder")}
    road = (element.table.x, element.table.y) if element.kind == "tyre" and isinstance(element.table, Table) else None
    return ElementMark(
        element.name,
        element.kind,
        a,
        b,
        stiff,
        damped,
        force,
        axes_of,
        slide,
        name,
        pushes=values.get("side", 1) < 0,
        axes=axes,
        road=road,
        **sizes,
    )


def _loop(model: Model, mark: JointMark) -> frozenset[int]:
    """Bodies on the ways from the two ends of a closure to the first body that both have in common, without that one."""
    ways = []
    for row in (mark.a.body, mark.b.body):
        way = []
        while row >= 0:
            way.append(row)
            row = model.parents[row]
        ways.append(way)
    common = set(ways[0]) & set(ways[1])
    meeting = next((row for row in ways[0] if row in common), None)
    inside = (set(ways[0]) ^ set(ways[1])) | ({meeting} if meeting is not None else set())
    return frozenset(inside)
