"""Measures as the user writes them: the outputs that a designer asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ..measures.measure import COMPONENTS, MAGNITUDE, WRENCH
from ..parameters.expressions import Formula
from .elements import BodyName, Coordinate, JointName
from .fields import Choice, Direction, Flag, FormulaText, Name, Place, Position, Record, Text, Triple
from .items import Attachment, End, Item, Start, ends


@dataclass(frozen=True)
class Arrow:
    """A direction fixed to a body."""

    body: BodyName
    direction: Annotated[Triple, Direction("in the design position", remedy='Give one: direction = "x"')]


STARTS, POINTS = ends(Arrow, ("starts", "ends"), "body = ..., direction = ...")
Component = Annotated[
    str | None, Choice("one of x, y, z, or the magnitude; all three unless given", options=(*COMPONENTS, MAGNITUDE))
]
OwnBody = Annotated[str, Name("a body", remedy="Name a body.")]
OwnPoint = Annotated[Place, Position("of the body", remedy="Say which point: point = ...")]
RelativeTo = Annotated[Attachment | None, Record("another point; the world unless given", classes=(Attachment,))]
Axes = Annotated[str | None, Name("the body in whose axes it is; the world's unless given")]
Observer = Annotated[str | None, Name("the body from which its change is seen; the ground unless given")]
Rate = Annotated[bool, Flag("its rate of change instead")]


class MeasureSpec(Item, section="measures"):
    """A measure."""


@dataclass(frozen=True)
class PositionMeasure(MeasureSpec, type="position"):
    """Where a point of a body is, in the world or relative to another point."""

    body: OwnBody
    point: OwnPoint
    component: Component = None
    relative_to: RelativeTo = None
    axes: Axes = None


@dataclass(frozen=True)
class DistanceMeasure(MeasureSpec, type="distance"):
    """Distance between two points."""

    start: Start
    end: End
    rate: Rate = False


@dataclass(frozen=True)
class CoordinateMeasure(MeasureSpec, type="coordinate"):
    """A coordinate of a joint, also of one that is driven or closes a loop."""

    joint: JointName
    coordinate: Coordinate = None
    rate: Rate = False


@dataclass(frozen=True)
class AngleMeasure(MeasureSpec, type="angle"):
    """Angle between two directions, from 0 to pi; about an axis from -pi to pi, from the first direction to the second."""

    start: Annotated[Arrow, STARTS]
    end: Annotated[Arrow, POINTS]
    axis: Annotated[
        Triple | None, Direction("axis about which the angle is measured, fixed to the first body", turns="axial")
    ] = None
    rate: Rate = False


@dataclass(frozen=True)
class VelocityMeasure(MeasureSpec, type="velocity"):
    """Velocity of a point of a body, relative to another point or to the world."""

    body: OwnBody
    point: OwnPoint
    relative_to: RelativeTo = None
    component: Component = None
    axes: Axes = None
    observer: Observer = None


@dataclass(frozen=True)
class AccelerationMeasure(MeasureSpec, type="acceleration"):
    """Acceleration of a point of a body, relative to another point or to the world; gravity is not in it."""

    body: OwnBody
    point: OwnPoint
    relative_to: RelativeTo = None
    component: Component = None
    axes: Axes = None
    observer: Observer = None


@dataclass(frozen=True)
class ReactionMeasure(MeasureSpec, type="reaction"):
    """Force and moment of the parent on the child at a joint's point, without the joint's own effort."""

    joint: Annotated[str, Name("a joint, or what closes a loop", to="element", remedy="Name a joint.")]
    component: Annotated[
        str | None, Choice("one of them, or a magnitude; all six unless given", options=(*WRENCH, "force", "moment"))
    ] = None
    axes: Annotated[str, Choice("in whose axes", options=("world", "parent", "child"))] = "world"


@dataclass(frozen=True)
class ForceMeasure(MeasureSpec, type="force"):
    """Force of an element, a constraint or coupler, or the drive of a joint: its effort on a joint, or its tension."""

    element: Annotated[
        str, Name("a spring, damper, ..., a rod, a coupler, or a driven joint", to="element", remedy="Name a force element.")
    ]
    component: Component = None
    coordinate: Coordinate = None


@dataclass(frozen=True)
class FormulaMeasure(MeasureSpec, type="formula"):
    """A formula over other measures, paths that every model has, parameters and the time."""

    value: Annotated[Formula, FormulaText("a formula", remedy='Give one: value = "=a - b"')]
    unit: Annotated[str, Text("its unit, for tables and plots")] = ""


MEASURE_SPECS: tuple[type[Any], ...] = tuple(MeasureSpec.__subclasses__())
