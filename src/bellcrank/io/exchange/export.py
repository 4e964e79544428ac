"""Shared parts of the writers of other programs' files: frames, points, forces on a joint, and what cannot be expressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ...model import Model
from ...model.building.resolve import without_formulas
from ...model.element import Element
from ...model.spec.assemblies import expand
from ...model.spec.fields import InBody
from ...model.spec.items import GROUND
from ...model.spec.problems import Problems
from ...wording import argument
from ..mjcf.written.servos import servos
from .imported import matrix_of, tidy
from .states import frame_of

Array = NDArray[np.float64]


@dataclass
class JointForces:
    """Sums of the simple forces along one direction of a joint: effort = constant - stiffness q - damping v, and friction."""

    stiffness: float = 0.0
    constant: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    inputs: dict[int, float] = field(default_factory=dict)  # gain by input


def along(joint: Any, axis: str) -> Array:
    """A joint's own axis "x", "y" or "z", in the design position."""
    z = np.array(joint.axis)
    if axis == "z":
        return z
    x = np.array(joint.axis2)
    return x if axis == "x" else np.cross(z, x)


ONLY_OURS = ("bearing_friction", "actuator", "one_sided_spring", "point_stop", "plane_contact", "cylinder_contact", "tyre")


class Export:
    """A model on its way into another format. ``cannot`` and ``never`` collect what that format cannot express."""

    def __init__(self, model: Model, format: str) -> None:
        self.model, self.format = model, format
        self.cannot: list[str] = []
        self.never: list[str] = []  # what nothing would be left without
        self.lost: list[str] = []  # what no format but ours has, and changes nothing
        self.spec = None if model.spec is None else without_formulas(model.spec)
        self.R = [matrix_of(frame_of(model, i)) for i in range(model.n)]
        self.children: list[list[int]] = [[] for _ in range(model.n + 1)]
        for i, parent in enumerate(model.parents):
            self.children[parent].append(i)
        self.servos = servos(model) if format == "mjcf" else {}
        self.sums: list[Element] = []  # springs and dampers on sums of coordinates
        self.forces = self._joint_forces()
        for i in np.flatnonzero(model.driven).tolist():
            self.never.append(f'the prescribed motion of joint "{model.joint_names[i]}"')
        for name, joint in zip(model.joint_names, model.joints, strict=True):
            if joint.turned:
                self.never.append(f'joint "{name}", a {joint.kind} joint whose parent is further from ground than its child')
        for name in model.state_names:
            self.never.append(f'the state "{name}"')
        if model.measures:
            self.lost.append("measures")

    def axes(self, i: int) -> Array:
        """Axes of a body there, in the design position; ground's are the world's."""
        return np.eye(3) if i < 0 else self.R[i]

    def name(self, ours: str) -> str:
        """The name there, if the model came from a file of this format."""
        source = self.model.source
        return ours if source is None or source.format != self.format else source.names.get(ours, ours)

    def offset(self, i: int) -> Array:
        """The offset from the parent's origin to the joint's point, in the design position; of a free joint from the Spec."""
        if self.model.joints[i].kind != "free":
            return self.model.position[i]
        if self.spec is not None:
            points = {joint.name: joint.point for joint in self.spec.joints}
            at: Any = points[self.model.joint_names[i]]
            return np.array(at, dtype=float) - self.origin(self.model.parents[i])
        return self.model.given_q[self.model.q_index[i] :][:3]

    def origin(self, i: int) -> Array:
        """The origin of a body in the design position."""
        total = np.zeros(3)
        while i >= 0:
            total = total + self.offset(i)
            i = self.model.parents[i]
        return total

    def _joint_forces(self) -> dict[tuple[int, int], JointForces]:
        found: dict[tuple[int, int], JointForces] = {}
        parts = {name for servo in self.servos.values() for name in servo.parts}
        for element in self.model.elements[: self.model.force_count]:
            if element.name in parts or (element.kind == "joint_input" and element.input in self.servos):
                continue
            if element.live or element.kind in ONLY_OURS:
                what = "whose force is a formula" if element.live else f"a {element.kind.replace('_', ' ')}"
                self.cannot.append(f'"{element.name}", {what}')
                continue
            if element.terms:
                self.sums.append(element)
            elif element.closure >= 0:
                self.cannot.append(f'"{element.name}", which acts on a joint that closes a loop')
            elif element.joint >= 0:
                self._add(found.setdefault((element.joint, element.dof), JointForces()), element)
        return found

    def _add(self, sums: JointForces, element: Element) -> None:
        values = element.values
        if element.kind == "joint_spring":
            sums.stiffness += values["stiffness"]
            sums.constant += values["preload"] + values["stiffness"] * values["rest"]
        elif element.kind == "joint_damper":
            sums.damping += values["damping"]
        elif element.kind in ("joint_friction", "joint_stiction"):
            sums.friction += values["effort"]
        elif element.kind == "joint_effort" and element.table is None:
            sums.constant += values["value"]
        elif element.kind == "joint_input":
            sums.inputs[element.input] = sums.inputs.get(element.input, 0.0) + values["gain"]
        else:
            what = "a table of time" if element.kind == "joint_effort" else "a stop"
            self.cannot.append(f'"{element.name}", {what}')

    def points(self) -> list[tuple[str, int, Array]]:
        """Named points: the body, -1 = ground, and where it is from that body's origin."""
        if self.spec is None or self.model.spec is None:
            return []
        rows = {name: i for i, name in enumerate(self.model.body_names)} | {GROUND: -1}
        found = []
        written = {point.name: point.position for point in expand(self.model.spec, Problems()).points}
        for point in self.spec.points:
            place = written[point.name]
            body = rows.get(place.body, -1) if isinstance(place, InBody) else -1
            at: Any = point.position
            found.append((point.name, body, np.array(at, dtype=float) - self.origin(body)))
        return found

    def finish(self, *, partial: bool) -> list[str]:
        """A list of what is left out; raises ModelError if that is more than was allowed."""
        if self.never or (self.cannot and not partial):
            left_out = argument("partial", True)
            lines = [f"{line} ({left_out} cannot leave it out)" for line in self.never]
            lines += [] if partial else self.cannot
            remedy = "Save it as .toml, which can express everything"
            remedy += "." if self.never else f", or leave these out with {left_out}."
            what = f'"{self.model.name}" cannot be written as {self.format.upper()}, which cannot express'
            raise ModelError("\n  ".join([what, *lines]) + f"\n{remedy}")
        source = self.model.source
        kept = [] if source is None else [x for x in source.unsimulated if not x.startswith("limits of the joints")]
        return [*self.cannot, *self.lost, *kept]


def numbers(values: Any) -> str:
    """Numbers with all their digits, as XML attributes have them."""
    return " ".join(repr(x).removesuffix(".0") for x in tidy(np.atleast_1d(np.asarray(values, dtype=float))).tolist())


def tag(name: str, /, **attributes: Any) -> str:
    """The beginning of an element, without the end of the tag; None leaves an attribute out."""
    given = "".join(f" {key.rstrip('_')}={quoteattr(str(value))}" for key, value in attributes.items() if value is not None)
    return f"<{name}{given}"


def closed(name: str, /, **attributes: Any) -> str:
    """An element that holds nothing."""
    return f"{tag(name, **attributes)}/>"


def principal(J: Array) -> tuple[Array, Array]:
    """Principal moments, and their axes as columns of a rotation."""
    moments, axes = np.linalg.eigh(J)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return moments, axes


def roll_pitch_yaw(R: Array) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll); the roll makes up for whatever yaw is chosen where the pitch is a right angle."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.array([roll, pitch, yaw])


def indented(lines: Iterable[str]) -> str:
    """XML, an element a line, with two blanks for each level."""
    text, level = [], 0
    for line in lines:
        level -= line.startswith("</")
        text.append("  " * level + line)
        level += line.startswith("<") and not line.startswith(("</", "<?")) and not line.endswith("/>") and "</" not in line
    return "\n".join(text) + "\n"


def equal(values: Sequence[float]) -> bool:
    return len(set(values)) <= 1
