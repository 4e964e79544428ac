"""Shared parts of the readers of other programs' files: bodies in frames of their own, merged and named as ours.

A reader lists the bodies of its file as they are in the design position, all in axes parallel to the world's; ``ImportedParts``
makes the parts of a Spec from them. Places are written in the frame of the body that they belong to, so that moving a joint
moves whatever hangs on it. Offsets are never taken as differences of places in the world: digits would be lost.

code      meaning                                                              unit
R         (3,3) axes of a body there, as columns
p         its origin there, from that of its parent                            m
J         inertia about the centre of mass                                     kg m2
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.manifold import rotation
from ...model.order import outward_order
from ...model.source import Look, Quaternion, Source
from ...model.spec.elements import CREEP, ELEMENT_SPECS, ConstraintSpec, CouplerSpec, ElementSpec, FrictionSpec
from ...model.spec.fields import InBody, Place, Triple
from ...model.spec.items import GROUND, NOWHERE, Where
from ...model.spec.problems import names as quoted
from ...model.spec.shapes import MassProperties
from ...model.spec.spec import BodySpec, InitialSpec, JointSpec, LimitsSpec, PointSpec, Spec
from .naming import FreeNames
from .summing import summed

Array = NDArray[np.float64]
LISTED = 4  # names in a line
NOISE = 1e-15  # of the largest entry: rounding of products of rotations
_SECTIONS = list(dict.fromkeys(cls.section for cls in ELEMENT_SPECS))


@dataclass
class ImportedJoint:
    """A joint of one kind of ours; its point is from the origin of its body."""

    name: str
    kind: str
    point: Array
    axis: Array | None = None
    axis2: Array | None = None
    armature: Any = 0.0
    reference: tuple[float, ...] = ()  # the coordinate there, in the design position
    limits: LimitsSpec | None = None
    where: Where = NOWHERE


@dataclass
class ImportedBody:
    """A body, and the joints by which it hangs on its parent, one after the other; without one it is fixed to it."""

    name: str
    parent: int  # index of a body, -1 = the world
    R: Array
    p: Array
    mass: float
    center: Array  # from its origin
    J: Array
    joints: list[ImportedJoint] = field(default_factory=list)
    where: Where = NOWHERE

    @property
    def moves(self) -> bool:
        return any(joint.kind != "fixed" for joint in self.joints)


class ImportedParts:
    """Bodies and joints of a Spec; then a reader adds points, forces and starts by the same names.

    ``keep`` keeps bodies that are fixed to others; else they are merged, and their names become points.
    """

    def __init__(self, bodies: Sequence[ImportedBody], *, keep: bool) -> None:
        self.theirs, self.names = bodies, FreeNames()
        self.keep = keep or not any(body.moves for body in bodies)
        self.carrier: list[int] = list(range(len(bodies)))  # the body that each is part of, -1 = ground
        self.shift: list[Array] = [np.zeros(3) for _ in bodies]  # their origin, from that of the body there that carries it
        for i in outward_order([body.parent for body in bodies]):
            parent = bodies[i].parent
            if not (self.keep or bodies[i].moves):
                self.carrier[i] = -1 if parent < 0 else self.carrier[parent]
                self.shift[i] = bodies[i].p + (0.0 if parent < 0 else self.shift[parent])
        self.joint_names = [[self.names.take(joint.name, "joint") for joint in self._joints(i)] for i in range(len(bodies))]
        self.body_names = [self.names.take(body.name, "body") if self.kept(i) else "" for i, body in enumerate(bodies)]
        self.between = [self._between(i) for i in range(len(bodies))]
        self.parts: dict[int, list[int]] = {}
        for i in range(len(bodies)):
            self.parts.setdefault(self.carrier[i], []).append(i)
        self.points: list[PointSpec] = []
        self.elements: list[ElementSpec] = []
        self.initial: list[InitialSpec] = []
        self.inputs: list[str] = []
        self.closing: list[JointSpec] = []  # joints that close loops
        self.constraints: list[ConstraintSpec] = []
        self.couplers: list[CouplerSpec] = []
        self.unsimulated: list[str] = []
        self.remarks: list[str] = []
        self.order: list[str] = []  # of joints, as Pinocchio has them
        self.impossible = False
        self.looks: list[Look] = []
        self.undetermined: list[str] = []  # joints that nothing with mass gives an acceleration
        self._name_merged()

    def kept(self, i: int) -> bool:
        return self.carrier[i] == i

    def _joints(self, i: int) -> list[ImportedJoint]:
        """The joints of a body that is kept; one that has none is fixed."""
        body = self.theirs[i]
        if not self.kept(i):
            return []
        return body.joints or [ImportedJoint(f"{body.name}_fixed", "fixed", np.zeros(3), where=body.where)]

    def _between(self, i: int) -> list[str]:
        """Names of the bodies without mass between the joints of a body."""
        name = self.theirs[i].name or self.body_names[i]
        return [self.names.take(f"{name}_{joint}", "body") for joint in self.joint_names[i][:-1]]

    def _name_merged(self) -> None:
        for i, body in enumerate(self.theirs):
            if not self.kept(i) and body.name:
                self.point(body.name, i, np.zeros(3))

    # --- where things are

    def body(self, i: int) -> str:
        """Our name of the body that their body i is part of."""
        at = -1 if i < 0 else self.carrier[i]
        return GROUND if at < 0 else self.body_names[at]

    def offset(self, i: int, point: Array) -> Array:
        """The offset from the origin of our body, at its last joint, to a point given from the origin of their body i."""
        if i < 0:
            return point
        at = self.carrier[i]
        return self.shift[i] + point - (self._joints(at)[-1].point if at >= 0 else 0.0)

    def place(self, i: int, point: Array) -> Place:
        """A point, given from the origin of their body i, as a place."""
        name, at = self.body(i), triple(self.offset(i, point))
        return at if name == GROUND else InBody(name, at)

    def point(self, name: str, i: int, point: Array) -> str:
        """A named point on their body i, given from its origin; its name here."""
        ours = self.names.take(name, "point")
        self.points.append(PointSpec(ours, self.place(i, point)))
        return ours

    def look(self, i: int, kind: str, size: Iterable[float], position: Array, axes: Array, **more: Any) -> None:
        """The look of a part of their body i; its position and axes are in the frame of that body."""
        R, body = self.theirs[i].R, self.body(i)
        x, y, z = tidy(self.offset(i, R @ position)).tolist()
        self.looks.append(Look(body, kind, tuple(map(float, size)), (x, y, z), tuple(map(tuple, (R @ axes).tolist())), **more))

    def add(self, cls: type[Any], name: str, *values: Any, noun: str = "", **more: Any) -> None:
        """A force element, constraint or coupler of a name that is still free, or of one that is like it."""
        item = cls(self.names.take(name, noun or cls.section.removesuffix("s")), *values, **more)
        kept: list[Any] = getattr(self, cls.section) if cls.section in ("constraints", "couplers") else self.elements
        kept.append(item)

    # --- the parts

    def spec(self, name: str, source: Source, *, gravity: Iterable[float]) -> Spec:
        rows = [i for i in range(len(self.theirs)) if self.kept(i)]
        bodies, joints = zip(*(self._rows(i) for i in rows), strict=True)
        elements = sorted(self.elements, key=lambda item: _SECTIONS.index(item.section))
        return Spec(
            name=name,
            bodies=tuple(body for several in bodies for body in several),
            joints=(*(joint for several in joints for joint in several), *self.closing),
            points=tuple(self.points),
            initial=tuple(self.initial),
            gravity=triple(gravity),
            elements=tuple(elements),
            inputs=tuple(self.inputs),
            source=dataclasses.replace(
                source,
                unsimulated=tuple(summed(self.unsimulated)),
                remarks=tuple(summed([*self.remarks, *self._changes()])),
                names=dict(self.names.changed),
                frames=dict(self._frames()),
                references=dict(self._references()),
                order=tuple(self.order),
                impossible=self.impossible,
                undetermined=tuple(self.undetermined),
                looks=tuple(self.looks),
            ),
            constraints=tuple(self.constraints),
            couplers=tuple(self.couplers),
        )

    def _changes(self) -> Iterator[str]:
        """Changes that every reader makes."""
        frictions = [item for item in self.elements if isinstance(item, FrictionSpec)]
        rubbing = {item.joint: CREEP if item.velocity is None else item.velocity for item in frictions}
        for velocity in dict.fromkeys(rubbing.values()):
            joints = quoted([name for name, at in rubbing.items() if at == velocity], LISTED)
            yield f"friction of the joints {joints} is smooth here: it has 70 % of its effort at {velocity:g} rad/s or m/s"
        changed = [f"{theirs} is {ours}" for ours, theirs in self.names.changed.items()]
        if changed:
            yield f"renamed: {', '.join(changed[:LISTED])}{' and more' if len(changed) > LISTED else ''}"

    def _rows(self, i: int) -> tuple[list[BodySpec], list[JointSpec]]:
        """A body and its joints; between two joints there is a body without mass."""
        theirs, joints, names = self.theirs[i], self._joints(i), self.joint_names[i]
        between = self.between[i]
        chain = [*between, self.body_names[i]]
        bodies = [BodySpec(name, MassProperties(0.0, None), where=theirs.where) for name in between]
        bodies.append(BodySpec(self.body_names[i], self._mass(i), where=theirs.where))
        made: list[JointSpec] = []
        for k, (joint, name, child) in enumerate(zip(joints, names, chain, strict=True)):
            if k == 0:
                parent, point = self.body(theirs.parent), self.place(theirs.parent, theirs.p + joint.point)
            else:
                parent, point = chain[k - 1], InBody(chain[k - 1], triple(joint.point - joints[k - 1].point))
            made.append(_joint(joint, name, parent, child, point))
        return bodies, made

    def _mass(self, i: int) -> MassProperties:
        """Mass properties of a body with all fixed to it: m, c = sum m c / m, J = sum J + m (d.d 1 - d d^T), d from c."""
        parts = [k for k in self.parts[i] if self.theirs[k].mass != 0 or self.theirs[k].J.any()]
        if not parts:
            return MassProperties(0.0, None)
        masses = [self.theirs[k].mass for k in parts]
        centers = [self.offset(k, self.theirs[k].center) for k in parts]
        mass = sum(masses)
        weighed = sum((m * c for m, c in zip(masses, centers, strict=True)), np.zeros(3))
        center = centers[0] if len(parts) == 1 or mass == 0 else weighed / mass
        J = np.zeros((3, 3))
        for k, m, c in zip(parts, masses, centers, strict=True):
            d = c - center
            J += self.theirs[k].J + m * (d @ d * np.eye(3) - np.outer(d, d))
        return MassProperties(float(mass), InBody(self.body_names[i], triple(center)), rows_of(J))

    def _frames(self) -> Iterable[tuple[str, Quaternion]]:
        for i, body in enumerate(self.theirs):
            if self.kept(i) and np.abs(body.R - np.eye(3)).max() > 0:
                yield from ((name, quaternion_of(body.R)) for name in (*self.between[i], self.body_names[i]))

    def _references(self) -> Iterable[tuple[str, tuple[float, ...]]]:
        """Reference position of a free joint on our parent, of which theirs may have become a part."""
        for i, body in enumerate(self.theirs):
            for joint, name in zip(self._joints(i), self.joint_names[i], strict=True):
                given = joint.reference
                if given and joint.kind == "free":
                    given = tuple(tidy(self.offset(body.parent, np.array(given))).tolist())
                if any(given):
                    yield name, given


def _joint(joint: ImportedJoint, name: str, parent: str, child: str, point: Place) -> JointSpec:
    axis, axis2 = (None if a is None else triple(a) for a in (joint.axis, joint.axis2))
    ends = parent, child, point
    return JointSpec(name, joint.kind, *ends, axis, joint.armature, axis2, limits=joint.limits, where=joint.where)


def triple(x: Iterable[float]) -> Triple:
    """Three floats, without the noise that rotations leave where zeros should be."""
    a, b, c = tidy(np.asarray(x, dtype=float)).tolist()
    return a, b, c


def tidy(x: Array) -> Array:
    largest = np.abs(x).max(initial=0.0)
    return np.where(np.abs(x) <= NOISE * largest, 0.0, x) + 0.0


def rows_of(J: Array) -> tuple[Triple, Triple, Triple]:
    a, b, c = tidy((J + J.T) / 2).tolist()
    return tuple(a), tuple(b), tuple(c)


def square(x: float) -> float:
    """Infinite where it is too large, which is reported when the model is built; x**2 would raise."""
    return x * x


def quaternion_of(R: Array) -> Quaternion:
    """w, x, y, z of a rotation: from the largest of the four squares, so that nothing small is divided by."""
    squares = np.array([1 + R[0, 0] + R[1, 1] + R[2, 2], *(1 + 2 * R[k, k] - np.trace(R) for k in range(3))])
    k = int(np.argmax(squares))
    products = np.array(
        [
            [squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], squares[1], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], squares[2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], squares[3]],
        ]
    )
    w, x, y, z = (products[k] / np.linalg.norm(products[k]) * (1 if products[k, 0] >= 0 else -1)).tolist()
    return w, x, y, z


def matrix_of(q: Sequence[float]) -> Array:
    """The rotation of a quaternion w, x, y, z of any length."""
    return rotation(np.asarray(q, dtype=float))
