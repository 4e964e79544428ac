"""What the user wrote: names, SI units, formulas, and where each thing was written.

A Spec holds positions and axes in the global frame, in the design position, or in a body's frame. It may be wrong: ``build``
judges it. Every field says in its metadata what it is (fields.py); reader, writer and schema follow from that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..measure import COMPONENTS
from ..motion import OUTSIDE
from ..parameters.expressions import Formula
from ..source import Source
from .fields import (
    Choice,
    Direction,
    Flag,
    FormulaText,
    Name,
    Names,
    Number,
    Numbers,
    Place,
    Position,
    Record,
    Records,
    Rows,
    Scalar,
    Series,
    Text,
    Triple,
    Vector3,
    written,
)
from .shapes import SOLIDS, MassProperties, Shape

GROUND = "ground"
PARAMETERS = "parameters"
Pairs = tuple[tuple[Scalar, Scalar], ...]


class Where:
    """A place in a model file; empty for what was written in Python."""

    __slots__ = ("_keys", "_line", "file")

    def __init__(self, file: str | None = None, line: int | None = None, keys: Mapping[str, int] | None = None) -> None:
        self.file, self._line, self._keys = file, line, keys or {}

    @property
    def line(self) -> int | None:
        return self._line

    def at(self, *keys: str) -> Where:
        """The line of one key of this item, or of the item itself where the key has no line."""
        return Where(self.file, self._keys.get(keys[0], self.line) if keys else self.line)

    def __str__(self) -> str:
        if self.line is None:
            return self.file or ""
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


NOWHERE = Where()


@dataclass(frozen=True)
class _Written:
    """Anything that stands somewhere in a file."""

    where: Where = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class ParameterSpec(_Written):
    """A named value that formulas use."""

    name: str
    value: Scalar = field(metadata=written(Number("a number, or a formula", flat=True)))

    section: ClassVar[str] = PARAMETERS

    @property
    def path(self) -> str:
        return f"{PARAMETERS}.{self.name}"


@dataclass(frozen=True)
class _Item(_Written):
    """Anything with a name of its own."""

    name: str

    section: ClassVar[str]

    @property
    def path(self) -> str:
        return self.name


@dataclass(frozen=True)
class PointSpec(_Item):
    """A named point (m)."""

    position: Place = field(metadata=written(Position("where it is", flat=True)))

    section: ClassVar[str] = "points"


@dataclass(frozen=True)
class Mesh:
    """A file of triangles, for looks only; its axes and origin are the world's in the design position."""

    file: str = field(metadata=written(Text("its path, relative to the model's folder and inside it", remedy="Name a file.")))
    scale: Scalar = field(default=1.0, metadata=written(Number("m per unit of the file", sign="more than zero")))


@dataclass(frozen=True)
class BodySpec(_Item):
    """A rigid body: its name and what it is made of."""

    shape: Shape = field(metadata=written(Record("what it is made of", classes=(MassProperties, *SOLIDS), flat=True)))
    mesh: Mesh | None = field(default=None, metadata=written(Record("how it looks", classes=(Mesh,))))

    section: ClassVar[str] = "bodies"


# --- prescribed motion

OUTSIDE_OF = Choice('beyond the ends of the table: "error", or "clamp" to keep the last value', options=OUTSIDE)


class _Law:
    """Laws can be added: ``rate(3.0) + sine(0.3, 2.0)``."""

    def __add__(self, other: Any) -> SumLaw:
        if not isinstance(other, _Law):
            return NotImplemented
        return SumLaw((*_terms(self), *_terms(other)))


def _terms(law: Any) -> tuple[Any, ...]:
    return law.sum if isinstance(law, SumLaw) else (law,)


@dataclass(frozen=True)
class RateLaw(_Law):
    """start + rate t"""

    rate: Scalar = field(metadata=written(Number("constant rate", unit="rad/s or m/s")))
    start: Scalar = field(default=0.0, metadata=written(Number("at t = 0", unit="rad or m")))


@dataclass(frozen=True)
class PolynomialLaw(_Law):
    """c0 + c1 t + c2 t^2 + ..."""

    polynomial: Any = field(metadata=written(Numbers("coefficients c0, c1, ...: 8 at most")))


@dataclass(frozen=True)
class SineLaw(_Law):
    """offset + amplitude sin(2 pi frequency t + phase)"""

    amplitude: Scalar = field(metadata=written(Number("of the sine", unit="rad or m")))
    frequency: Scalar = field(metadata=written(Number("of the sine", unit="Hz", remedy="Give it in Hz.")))
    phase: Scalar = field(default=0.0, metadata=written(Number("at t = 0", unit="rad")))
    offset: Scalar = field(default=0.0, metadata=written(Number("its middle", unit="rad or m")))


@dataclass(frozen=True)
class TableLaw(_Law):
    """A spline through a table of time."""

    table: Pairs = field(metadata=written(Rows("rows [time, coordinate]", columns=("time", "coordinate"))))
    outside: str = field(default="error", metadata=written(OUTSIDE_OF))


TERM_SPECS: tuple[type[Any], ...] = (RateLaw, PolynomialLaw, SineLaw, TableLaw)


@dataclass(frozen=True)
class SumLaw(_Law):
    """The sum of laws, of which each is one of the others."""

    sum: tuple[RateLaw | PolynomialLaw | SineLaw | TableLaw, ...] = field(
        metadata=written(Series("laws that are added up", classes=TERM_SPECS))
    )


LawSpec = RateLaw | PolynomialLaw | SineLaw | TableLaw | SumLaw
LAW_SPECS: tuple[type[Any], ...] = (*TERM_SPECS, SumLaw)


@dataclass(frozen=True)
class MotionSpec:
    """The motion of a driven joint: one law, without a name, or one for each coordinate by its name.

    A spherical joint turns by ``angle`` about ``axis``; a free one moves by x, y, z as well.
    """

    laws: tuple[tuple[str, LawSpec], ...] = field(
        metadata=written(Records("a law, or laws by coordinate", classes=LAW_SPECS, flat=True))
    )
    axis: Triple | None = field(default=None, metadata=written(Direction("of a spherical or free joint", turns="axial")))


@dataclass(frozen=True)
class LimitsSpec:
    """Limits of a joint of one coordinate, kept for other programs. A stop simulates one."""

    lower: Scalar | None = field(default=None, metadata=written(Number("least coordinate", unit="rad or m")))
    upper: Scalar | None = field(default=None, metadata=written(Number("largest coordinate", unit="rad or m")))
    velocity: Scalar | None = field(default=None, metadata=written(Number("largest rate", unit="rad/s or m/s")))
    effort: Scalar | None = field(default=None, metadata=written(Number("largest effort", unit="N m or N")))


@dataclass(frozen=True)
class JointSpec(_Item):
    """A joint; its coordinate moves the child relative to the parent.

    ``armature`` is one number for every direction of the joint, or one number each (kg m2, or kg along a slide).
    """

    kind: str = field(metadata=written(Text("its type", key="type", remedy='Give one: type = "revolute"')))
    parent: str = field(metadata=written(Name("a body", remedy=f'Name a body, or "{GROUND}": parent = "..."')))
    child: str = field(metadata=written(Name("a body", remedy=f'Name a body, or "{GROUND}": child = "..."')))
    point: Place = field(
        metadata=written(Position("where it is", remedy="Say where the joint is: point = [x, y, z], or the name of a point."))
    )
    axis: Triple | None = field(default=None, metadata=written(Direction("its axis; universal: the parent's; planar: normal")))
    armature: Any = field(default=0.0, metadata=written(Numbers("rotor inertia", unit="kg m2 or kg")))
    axis2: Triple | None = field(default=None, metadata=written(Direction("universal: the child's axis; planar: its x")))
    pitch: Scalar | None = field(default=None, metadata=written(Number("of a screw", unit="m/rad")))
    motion: MotionSpec | None = field(default=None, metadata=written(Record("prescribed motion", classes=(MotionSpec,))))
    cut: bool | None = field(default=None, metadata=written(Flag("whether it is the joint of its loop that is cut")))
    limits: LimitsSpec | None = field(default=None, metadata=written(Record("kept, not simulated", classes=(LimitsSpec,))))
    child_point: Place | None = field(
        default=None, metadata=written(Position("where it is on the child, if its loop is open in the design position"))
    )

    section: ClassVar[str] = "joints"


@dataclass(frozen=True)
class InitialSpec(_Written):
    """The start of one joint; None leaves it in the design position, or at rest."""

    joint: str
    q: Any = field(default=None, metadata=written(Numbers("coordinates")))  # tuple of Scalars
    v: Any = field(default=None, metadata=written(Numbers("velocities")))

    section: ClassVar[str] = "initial"

    @property
    def path(self) -> str:
        return f"initial.{self.joint}"

    @property
    def name(self) -> str:
        return self.path


# --- force elements


@dataclass(frozen=True)
class Attachment:
    """A point on a body."""

    body: str = field(metadata=written(Name("a body", remedy=f'Name a body, or "{GROUND}".')))
    point: Place = field(
        metadata=written(
            Position("a place; or at = [x, y, z] in the body's frame", remedy="Give its point, or at = [x, y, z].")
        )
    )


JOINT = Name("on which it acts", to="joint", remedy='Name a joint: joint = "..."')
COORDINATE = Text("of a joint with several: their names are in the table of joints")
DAMPING = Number("zero unless given", unit="N s/m or N m s/rad", sign="zero or more")


def _ends(cls: type[Any], what: tuple[str, str], wanted: str) -> dict[str, Record]:
    """The two ends, ``from`` and ``to``, of something between bodies."""
    return {
        key: Record(f"where it {text}", key=key, classes=(cls,), remedy=f"Say where it {text}: {key} = {{ {wanted} }}")
        for key, text in zip(("from", "to"), what, strict=True)
    }


ATTACHED = _ends(Attachment, ("begins", "ends"), "body = ..., point = ...")


@dataclass(frozen=True)
class JointSpring(_Item):
    """effort = preload - stiffness (q - rest); on the turn of a spherical or free joint -stiffness times its rotation vector"""

    joint: str = field(metadata=written(JOINT))
    stiffness: Scalar = field(metadata=written(Number("", unit="N m/rad or N/m", sign="zero or more", remedy="Give it.")))
    rest: Scalar = field(default=0.0, metadata=written(Number("coordinate without force", unit="rad or m")))
    preload: Scalar = field(default=0.0, metadata=written(Number("effort at rest", unit="N m or N")))
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    section: ClassVar[str] = "springs"


@dataclass(frozen=True)
class LineSpring(_Item):
    """Spring and damper between two points; in tension, force = preload + stiffness (l - length) + damping l'."""

    start: Attachment = field(metadata=written(ATTACHED["from"]))
    end: Attachment = field(metadata=written(ATTACHED["to"]))
    stiffness: Scalar | None = field(default=None, metadata=written(Number("or a table", unit="N/m", sign="zero or more")))
    damping: Scalar = field(default=0.0, metadata=written(DAMPING))
    length: Scalar | None = field(
        default=None, metadata=written(Number("without force; as designed unless given", unit="m", sign="zero or more"))
    )
    preload: Scalar = field(default=0.0, metadata=written(Number("tension at that length", unit="N")))
    table: Pairs | None = field(
        default=None, metadata=written(Rows("rows [elongation, force], instead of stiffness", columns=("elongation", "force")))
    )
    outside: str = field(default="error", metadata=written(OUTSIDE_OF))

    section: ClassVar[str] = "springs"


COORDINATES = Names("coordinates, by the names of their joints", remedy='Name them: joints = ["hip", "knee"]')
FACTORS = Numbers("one for each coordinate", remedy="Give one for each of the joints: factors = [1.0, -2.0]")


@dataclass(frozen=True)
class SumSpring(_Item):
    """effort = preload - stiffness (s - rest) along s, the sum of factor * coordinate; each joint gets its factor times it."""

    joints: tuple[str, ...] = field(metadata=written(COORDINATES))
    factors: Any = field(metadata=written(FACTORS))
    stiffness: Scalar = field(metadata=written(Number("", unit="N m/rad or N/m", sign="zero or more", remedy="Give it.")))
    rest: Scalar = field(default=0.0, metadata=written(Number("sum without force", unit="rad or m")))
    preload: Scalar = field(default=0.0, metadata=written(Number("effort at rest", unit="N m or N")))

    section: ClassVar[str] = "springs"


@dataclass(frozen=True)
class SumDamper(_Item):
    """effort = -damping s' along s, the sum of factor * coordinate; each joint gets its factor times it."""

    joints: tuple[str, ...] = field(metadata=written(COORDINATES))
    factors: Any = field(metadata=written(FACTORS))
    damping: Scalar = field(metadata=written(Number("", unit="N m s/rad or N s/m", sign="zero or more", remedy="Give it.")))

    section: ClassVar[str] = "dampers"


@dataclass(frozen=True)
class JointDamper(_Item):
    """effort = -damping v"""

    joint: str = field(metadata=written(JOINT))
    damping: Scalar = field(metadata=written(Number("", unit="N m s/rad or N s/m", sign="zero or more", remedy="Give it.")))
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    section: ClassVar[str] = "dampers"


@dataclass(frozen=True)
class LineDamper(_Item):
    """Damper between two points: tension = damping l'."""

    start: Attachment = field(metadata=written(ATTACHED["from"]))
    end: Attachment = field(metadata=written(ATTACHED["to"]))
    damping: Scalar = field(metadata=written(Number("", unit="N s/m", sign="zero or more", remedy="Give it.")))

    section: ClassVar[str] = "dampers"


@dataclass(frozen=True)
class FrictionSpec(_Item):
    """Smooth Coulomb friction: effort = -effort v / sqrt(v^2 + velocity^2)"""

    joint: str = field(metadata=written(JOINT))
    effort: Scalar = field(metadata=written(Number("when sliding", unit="N m or N", sign="zero or more", remedy="Give it.")))
    velocity: Scalar = field(
        default=0.01, metadata=written(Number("where it has 70 % of its effort", unit="rad/s or m/s", sign="more than zero"))
    )
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    section: ClassVar[str] = "frictions"


@dataclass(frozen=True)
class StopSpec(_Item):
    """Limits: one-sided springs and dampers."""

    joint: str = field(metadata=written(JOINT))
    stiffness: Scalar = field(metadata=written(Number("", unit="N m/rad or N/m", sign="zero or more", remedy="Give it.")))
    lower: Scalar | None = field(default=None, metadata=written(Number("limit", unit="rad or m")))
    upper: Scalar | None = field(default=None, metadata=written(Number("limit", unit="rad or m")))
    damping: Scalar = field(default=0.0, metadata=written(DAMPING))
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    section: ClassVar[str] = "stops"


@dataclass(frozen=True)
class MotorSpec(_Item):
    """An effort on a joint: constant, a table of time, or an input that the caller sets."""

    joint: str = field(metadata=written(JOINT))
    effort: Scalar | None = field(default=None, metadata=written(Number("constant", unit="N m or N")))
    table: Pairs | None = field(default=None, metadata=written(Rows("rows [time, effort]", columns=("time", "effort"))))
    outside: str = field(default="error", metadata=written(OUTSIDE_OF))
    input: str | None = field(default=None, metadata=written(Name("one of inputs", to="input")))
    gain: Scalar = field(default=1.0, metadata=written(Number("effort for an input of 1")))
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    section: ClassVar[str] = "motors"


ZERO3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class BushingSpec(_Item):
    """A soft joint: springs and dampers in all six directions, in axes fixed to the parent."""

    parent: str = field(metadata=written(Name("a body", remedy=f'Name a body, or "{GROUND}".')))
    child: str = field(metadata=written(Name("a body", remedy=f'Name a body, or "{GROUND}".')))
    point: Place = field(metadata=written(Position("where it is", remedy="Say where it is: point = ...")))
    stiffness: Triple = field(default=ZERO3, metadata=written(Vector3("along x, y, z", unit="N/m", sign="zero or more")))
    damping: Triple = field(default=ZERO3, metadata=written(Vector3("along x, y, z", unit="N s/m", sign="zero or more")))
    turning_stiffness: Triple = field(
        default=ZERO3, metadata=written(Vector3("about x, y, z", unit="N m/rad", sign="zero or more"))
    )
    turning_damping: Triple = field(
        default=ZERO3, metadata=written(Vector3("about x, y, z", unit="N m s/rad", sign="zero or more"))
    )
    axis: Triple | None = field(default=None, metadata=written(Direction("direction of its z; world axes unless given")))
    axis2: Triple | None = field(default=None, metadata=written(Direction("direction of its x, perpendicular to axis")))

    section: ClassVar[str] = "bushings"


@dataclass(frozen=True)
class ForceSpec(_Item):
    """A constant force and moment at a point of a body."""

    body: str = field(metadata=written(Name("a body", remedy="Name a body.")))
    point: Place = field(metadata=written(Position("where it acts", remedy="Say where it acts: point = ...")))
    force: Triple = field(default=ZERO3, metadata=written(Vector3("", unit="N", turns="polar")))
    moment: Triple = field(default=ZERO3, metadata=written(Vector3("", unit="N m", turns="axial")))
    axes: str = field(
        default="world",
        metadata=written(Choice('in which it keeps its direction: "world", or "body"', options=("world", "body"))),
    )

    section: ClassVar[str] = "forces"


ELEMENT_SPECS: tuple[type[Any], ...] = (
    JointSpring, LineSpring, SumSpring, JointDamper, LineDamper, SumDamper,
    FrictionSpec, StopSpec, MotorSpec, BushingSpec, ForceSpec,
)  # fmt: skip
ElementSpec = (
    JointSpring
    | LineSpring
    | SumSpring
    | JointDamper
    | LineDamper
    | SumDamper
    | FrictionSpec
    | StopSpec
    | MotorSpec
    | BushingSpec
    | ForceSpec
)

# --- constraints besides joints

DRIVEN = "a law of time, instead of"


@dataclass(frozen=True)
class _Constraint(_Item):
    start: Attachment = field(metadata=written(ATTACHED["from"]))
    end: Attachment = field(metadata=written(ATTACHED["to"]))

    section: ClassVar[str] = "constraints"
    type: ClassVar[str]


@dataclass(frozen=True)
class DistanceSpec(_Constraint):
    """Two points keep their distance: a rod without mass, between two balls."""

    length: Scalar | None = field(
        default=None, metadata=written(Number("as designed unless given", unit="m", sign="more than zero"))
    )
    motion: LawSpec | None = field(default=None, metadata=written(Record(f"{DRIVEN} length", classes=LAW_SPECS)))

    type: ClassVar[str] = "distance"


@dataclass(frozen=True)
class PointOnLineSpec(_Constraint):
    """The point where it ends stays on a line through the point where it begins, fixed to the body there."""

    axis: Triple = field(metadata=written(Direction("direction of the line", remedy='Give it: axis = "x"')))

    type: ClassVar[str] = "point_on_line"


@dataclass(frozen=True)
class PointOnPlaneSpec(_Constraint):
    """The point where it ends stays in a plane, fixed to the body where it begins: axis . (to - from) = offset."""

    axis: Triple = field(metadata=written(Direction("normal of the plane", remedy='Give it: axis = "z"')))
    offset: Scalar | None = field(default=None, metadata=written(Number("as designed unless given", unit="m")))
    motion: LawSpec | None = field(default=None, metadata=written(Record(f"{DRIVEN} offset", classes=LAW_SPECS)))

    type: ClassVar[str] = "point_on_plane"


CONSTRAINT_SPECS: tuple[type[Any], ...] = (DistanceSpec, PointOnLineSpec, PointOnPlaneSpec)
ConstraintSpec = DistanceSpec | PointOnLineSpec | PointOnPlaneSpec


@dataclass(frozen=True)
class CouplerSpec(_Item):
    """Gears, belts, racks: the sum of factor * coordinate over some joints is offset; or first = ratio * second."""

    joints: tuple[str, ...] = field(
        metadata=written(Names("coordinates, by the names of their joints", remedy='Name them: joints = ["motor", "wheel"]'))
    )
    factors: Any = field(default=None, metadata=written(Numbers("one for each coordinate")))
    ratio: Scalar | None = field(default=None, metadata=written(Number("of two coordinates, instead of factors")))
    offset: Scalar | None = field(default=None, metadata=written(Number("of the sum; zero unless given", unit="rad or m")))
    motion: LawSpec | None = field(default=None, metadata=written(Record(f"{DRIVEN} offset", classes=LAW_SPECS)))

    section: ClassVar[str] = "couplers"


# --- measures


@dataclass(frozen=True)
class Arrow:
    """A direction fixed to a body."""

    body: str = field(metadata=written(Name("a body", remedy=f'Name a body, or "{GROUND}".')))
    direction: Triple = field(metadata=written(Direction("in the design position", remedy='Give one: direction = "x"')))


COMPONENT = Choice("one of x, y, z; all three unless given", options=COMPONENTS)
DIRECTED = _ends(Arrow, ("starts", "ends"), "body = ..., direction = ...")


@dataclass(frozen=True)
class _Measure(_Item):
    section: ClassVar[str] = "measures"
    type: ClassVar[str]


@dataclass(frozen=True)
class PositionMeasure(_Measure):
    """Where a point of a body is, in the world."""

    body: str = field(metadata=written(Name("a body", remedy="Name a body.")))
    point: Place = field(metadata=written(Position("of the body", remedy="Say which point: point = ...")))
    component: str | None = field(default=None, metadata=written(COMPONENT))

    type: ClassVar[str] = "position"


@dataclass(frozen=True)
class DistanceMeasure(_Measure):
    """Distance between two points."""

    start: Attachment = field(metadata=written(ATTACHED["from"]))
    end: Attachment = field(metadata=written(ATTACHED["to"]))

    type: ClassVar[str] = "distance"


@dataclass(frozen=True)
class CoordinateMeasure(_Measure):
    """A coordinate of a joint."""

    joint: str = field(metadata=written(JOINT))
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    type: ClassVar[str] = "coordinate"


@dataclass(frozen=True)
class AngleMeasure(_Measure):
    """Angle between two directions, from 0 to pi."""

    start: Arrow = field(metadata=written(DIRECTED["from"]))
    end: Arrow = field(metadata=written(DIRECTED["to"]))

    type: ClassVar[str] = "angle"


@dataclass(frozen=True)
class VelocityMeasure(_Measure):
    """Velocity of a point of a body, relative to another point or to the world."""

    body: str = field(metadata=written(Name("a body", remedy="Name a body.")))
    point: Place = field(metadata=written(Position("of the body", remedy="Say which point: point = ...")))
    relative_to: Attachment | None = field(
        default=None, metadata=written(Record("another point; the world unless given", classes=(Attachment,)))
    )
    component: str | None = field(default=None, metadata=written(COMPONENT))

    type: ClassVar[str] = "velocity"


@dataclass(frozen=True)
class ForceMeasure(_Measure):
    """Force of an element, a constraint or coupler, or the drive of a joint: its effort on a joint, or its tension."""

    element: str = field(
        metadata=written(
            Name("a spring, damper, ..., a rod, a coupler, or a driven joint", to="element", remedy="Name a force element.")
        )
    )
    component: str | None = field(default=None, metadata=written(COMPONENT))
    coordinate: str | None = field(default=None, metadata=written(COORDINATE))

    type: ClassVar[str] = "force"


@dataclass(frozen=True)
class FormulaMeasure(_Measure):
    """A formula over other measures and parameters."""

    value: Formula = field(metadata=written(FormulaText("a formula", remedy='Give one: value = "=a - b"')))

    type: ClassVar[str] = "formula"


MEASURE_SPECS: tuple[type[Any], ...] = (
    PositionMeasure, DistanceMeasure, CoordinateMeasure, AngleMeasure, VelocityMeasure, ForceMeasure, FormulaMeasure,
)  # fmt: skip
MeasureSpec = (
    PositionMeasure | DistanceMeasure | CoordinateMeasure | AngleMeasure | VelocityMeasure | ForceMeasure | FormulaMeasure
)

# --- assemblies and the whole


@dataclass(frozen=True)
class AssemblySpec(_Item):
    """A part of a mechanism that is described once and copied. Its names are its own; others are the model's."""

    bodies: tuple[BodySpec, ...] = ()
    joints: tuple[JointSpec, ...] = ()
    points: tuple[PointSpec, ...] = ()
    parameters: tuple[ParameterSpec, ...] = ()
    elements: tuple[ElementSpec, ...] = ()
    measures: tuple[MeasureSpec, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    couplers: tuple[CouplerSpec, ...] = ()
    initial: tuple[InitialSpec, ...] = ()

    section: ClassVar[str] = "assemblies"


@dataclass(frozen=True)
class CopySpec(_Item):
    """A copy of an assembly: first mirrored, then moved; whatever it holds is called COPY.NAME."""

    of: str = field(metadata=written(Name("an assembly", to="assembly", remedy="Name the assembly that is copied.")))
    offset: Triple = field(default=ZERO3, metadata=written(Vector3("by which it is moved", unit="m")))
    mirror: str | None = field(
        default=None, metadata=written(Choice("the coordinate that changes its sign", options=("x", "y", "z")))
    )
    parameters: tuple[ParameterSpec, ...] = ()

    section: ClassVar[str] = "copies"


@dataclass(frozen=True)
class Spec(_Written):
    """A mechanism as written; ``duration`` and ``step`` (interval of the samples) in seconds."""

    name: str
    bodies: tuple[BodySpec, ...]
    joints: tuple[JointSpec, ...]
    points: tuple[PointSpec, ...] = ()
    initial: tuple[InitialSpec, ...] = ()
    gravity: Triple = field(default=(0.0, 0.0, -9.81), metadata=written(Vector3("gravity", unit="m/s2")))
    duration: Scalar | None = field(default=None, metadata=written(Number("time to simulate", unit="s")))
    step: Scalar | None = field(default=None, metadata=written(Number("interval of the samples", unit="s")))
    parameters: tuple[ParameterSpec, ...] = ()
    elements: tuple[ElementSpec, ...] = ()
    measures: tuple[MeasureSpec, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    couplers: tuple[CouplerSpec, ...] = ()
    inputs: tuple[str, ...] = ()
    assemblies: tuple[AssemblySpec, ...] = ()
    copies: tuple[CopySpec, ...] = ()
    source: Source | None = None  # of an imported model


# of a Spec and of an AssemblySpec
LISTS = ("parameters", "points", "bodies", "joints", "constraints", "couplers", "elements", "measures", "initial")
