"""What the user wrote: names, SI units, and where each thing was written.

A Spec holds positions and axes in the global frame, in the design position. It may be wrong: ``build`` judges it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .shapes import Shape, Vector

GROUND = "ground"


@dataclass(frozen=True)
class Where:
    """A place in a model file; empty for what was written in Python."""

    file: str | None = None
    line: int | None = None
    keys: Mapping[str, int] = field(default_factory=dict)

    def at(self, key: str) -> Where:
        """The line of one key of this item, or of the item itself where the key has no line."""
        return Where(self.file, self.keys.get(key, self.line))

    def __str__(self) -> str:
        if self.line is None:
            return self.file or ""
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


NOWHERE = Where()


@dataclass(frozen=True)
class PointSpec:
    """A named point (m)."""

    name: str
    position: Vector
    where: Where = NOWHERE


@dataclass(frozen=True)
class BodySpec:
    """A rigid body: its name and what it is made of."""

    name: str
    shape: Shape
    where: Where = NOWHERE


@dataclass(frozen=True)
class JointSpec:
    """A joint; its coordinate moves the child relative to the parent.

    ``armature`` is one number for every direction of the joint, or one number each (kg m2, or kg along a slide).
    """

    name: str
    kind: str
    parent: str
    child: str
    point: Vector
    axis: Vector | None = None
    armature: float | tuple[float, ...] = 0.0
    where: Where = NOWHERE


@dataclass(frozen=True)
class InitialSpec:
    """The start of one joint; None leaves it in the design position, or at rest."""

    joint: str
    q: tuple[float, ...] | None = None
    v: tuple[float, ...] | None = None
    where: Where = NOWHERE


@dataclass(frozen=True)
class Spec:
    """A mechanism as written; ``duration`` and ``step`` (interval of the samples) in seconds."""

    name: str
    bodies: tuple[BodySpec, ...]
    joints: tuple[JointSpec, ...]
    points: tuple[PointSpec, ...] = ()
    initial: tuple[InitialSpec, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)
    duration: float | None = None
    step: float | None = None
    where: Where = NOWHERE
