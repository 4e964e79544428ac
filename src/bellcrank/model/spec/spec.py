"""What the user wrote: names, SI units, formulas, and where each thing was written.

A Spec holds positions and axes in the global frame, in the design position, or in a body's frame. It may be wrong: ``build``
judges it. Every field says in its annotation what it is (fields.py); reader, writer and schema follow from that. Force elements
and constraints are in elements.py, laws of motion in laws.py, measures in measures.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ..geometry.gear_specs import GearItem
from ..source import Source
from .elements import ZERO3, ConstraintSpec, CouplerSpec, ElementSpec
from .fields import Choice, Direction, Flag, Name, Number, Numbers, Place, Position, Record, Scalar, Text, Triple, Vector3
from .items import GROUND, PARAMETERS, Item, Written
from .laws import MotionSpec, StateSpec, TableSpec
from .measures import MeasureSpec
from .shapes import SOLIDS, MassProperties, Shape


@dataclass(frozen=True)
class ParameterSpec(Item, section=PARAMETERS):
    """A named value that formulas use."""

    value: Annotated[Scalar, Number("a number, or a formula", flat=True)]

    @property
    def path(self) -> str:
        return f"{PARAMETERS}.{self.name}"


@dataclass(frozen=True)
class PointSpec(Item, section="points"):
    """A named point (m)."""

    position: Annotated[Place, Position("where it is", flat=True)]


@dataclass(frozen=True)
class Mesh:
    """A file of triangles, for looks only; its axes and origin are the world's in the design position."""

    file: Annotated[str, Text("its path, relative to the model's folder and inside it", remedy="Name a file.")]
    scale: Annotated[Scalar, Number("m per unit of the file", sign="more than zero")] = 1.0
    at: Annotated[Place, Position("where the origin of the file is")] = ZERO3


@dataclass(frozen=True)
class BodySpec(Item, section="bodies"):
    """A rigid body: its name and what it is made of."""

    shape: Annotated[Shape, Record("what it is made of", classes=(MassProperties, *SOLIDS), flat=True)]
    mesh: Annotated[Mesh | None, Record("how it looks", classes=(Mesh,))] = None


@dataclass(frozen=True)
class LimitsSpec:
    """Limits of a joint of one coordinate, kept for other programs. A stop simulates one."""

    lower: Annotated[Scalar | None, Number("least coordinate", unit="rad or m")] = None
    upper: Annotated[Scalar | None, Number("largest coordinate", unit="rad or m")] = None
    velocity: Annotated[Scalar | None, Number("largest rate", unit="rad/s or m/s")] = None
    effort: Annotated[Scalar | None, Number("largest effort", unit="N m or N")] = None


@dataclass(frozen=True)
class JointSpec(Item, section="joints"):
    """A joint; its coordinate moves the child relative to the parent.

    ``armature`` is one number for every direction of the joint, or one number each (kg m2, or kg along a slide).
    """

    kind: Annotated[str, Text("its type", key="type", remedy='Give one: type = "revolute"')]
    parent: Annotated[str, Name("a body", remedy=f'Name a body, or "{GROUND}": parent = "..."')]
    child: Annotated[str, Name("a body", remedy=f'Name a body, or "{GROUND}": child = "..."')]
    point: Annotated[
        Place, Position("where it is", remedy="Say where the joint is: point = [x, y, z], or the name of a point.")
    ]
    axis: Annotated[Triple | None, Direction("axis; of a universal joint the parent's, of a planar joint the normal")] = None
    armature: Annotated[Any, Numbers("rotor inertia", unit="kg m2 or kg")] = 0.0
    axis2: Annotated[Triple | None, Direction("second axis: the child's of a universal joint, x of a planar joint")] = None
    pitch: Annotated[Scalar | None, Number("pitch of a screw", unit="m/rad")] = None
    motion: Annotated[MotionSpec | None, Record("prescribed motion", classes=(MotionSpec,))] = None
    cut: Annotated[bool | None, Flag("whether the loop is cut at this joint")] = None
    limits: Annotated[LimitsSpec | None, Record("kept for export, not simulated", classes=(LimitsSpec,))] = None
    child_point: Annotated[Place | None, Position("where it is on the child, if its loop is open in the design position")] = (
        None
    )


@dataclass(frozen=True)
class InitialSpec(Written):
    """The start of one joint; None leaves it in the design position, or at rest. Both are tuples of scalars."""

    joint: str
    q: Annotated[Any, Numbers("coordinates")] = None
    v: Annotated[Any, Numbers("velocities")] = None

    section = "initial"

    @property
    def path(self) -> str:
        return f"initial.{self.joint}"

    name = path


@dataclass(frozen=True)
class TurnSpec:
    """A turn about one of the world's axes, or one parallel to it."""

    axis: Annotated[str, Choice("about which it is turned", options=("x", "y", "z"))]
    angle: Annotated[Scalar, Number("angle of the turn", unit="rad", remedy='Give it: angle = "120 deg"')]
    about: Annotated[Triple, Vector3("a point of the axis", unit="m")] = ZERO3


@dataclass(frozen=True)
class CopySpec(Item, section="copies"):
    """A copy of an assembly: first mirrored, then turned, then moved; whatever it holds is called COPY.NAME."""

    of: Annotated[str, Name("an assembly", to="assembly", remedy="Name the assembly that is copied.")]
    offset: Annotated[Triple, Vector3("displacement of the copy", unit="m")] = ZERO3
    mirror: Annotated[str | None, Choice("the coordinate that changes its sign", options=("x", "y", "z"))] = None
    turn: Annotated[TurnSpec | None, Record("turn of the copy", classes=(TurnSpec,))] = None
    parameters: tuple[ParameterSpec, ...] = ()


@dataclass(frozen=True)
class PartsSpec(Written):
    """The part that a mechanism and an assembly have in common."""

    name: str
    bodies: tuple[BodySpec, ...] = ()
    joints: tuple[JointSpec, ...] = ()
    points: tuple[PointSpec, ...] = ()
    initial: tuple[InitialSpec, ...] = ()
    parameters: tuple[ParameterSpec, ...] = ()
    elements: tuple[ElementSpec, ...] = ()
    measures: tuple[MeasureSpec, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    couplers: tuple[CouplerSpec, ...] = ()
    tables: tuple[TableSpec, ...] = ()
    gears: tuple[GearItem, ...] = ()
    states: tuple[StateSpec, ...] = ()


class AssemblySpec(PartsSpec):
    """A part of a mechanism that is described once and copied. Its names are its own; others are the model's."""


@dataclass(frozen=True)
class Spec(PartsSpec):
    """A mechanism as written; ``duration`` and ``step`` (interval of the samples) in seconds; ``source`` of an imported one."""

    gravity: Annotated[Triple, Vector3("gravity", unit="m/s2")] = (0.0, 0.0, -9.81)
    duration: Annotated[Scalar | None, Number("time to simulate", unit="s")] = None
    step: Annotated[Scalar | None, Number("interval of the samples", unit="s")] = None
    inputs: tuple[str, ...] = ()
    assemblies: tuple[AssemblySpec, ...] = ()
    copies: tuple[CopySpec, ...] = ()
    source: Source | None = None


# of PartsSpec, in the order of a file
LISTS = (
    "parameters", "tables", "points", "bodies", "joints", "constraints", "couplers", "gears", "states", "elements", "measures",
    "initial",
)  # fmt: skip
