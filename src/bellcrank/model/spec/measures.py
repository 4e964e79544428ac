"""Measures as the user writes them: the outputs that a designer asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ..measure import COMPONENTS
from ..parameters.expressions import Formula
from .elements import BodyName, Coordinate, JointName
from .fields import Choice, Direction, FormulaText, Name, Place, Position, Record, Triple
from .items import Attachment, End, Item, Start, ends


@dataclass(frozen=True)
class Arrow:
    """A direction fixed to a body."""

    body: BodyName
    direction: Annotated[Triple, Direction("in the design position", remedy='Give one: direction = "x"')]


STARTS, POINTS = ends(Arrow, ("starts", "ends"), "body = ..., direction = ...")
Component = Annotated[str | None, Choice("one of x, y, z; all three unless given", options=COMPONENTS)]
OwnBody = Annotated[str, Name("a body", remedy="Name a body.")]
OwnPoint = Annotated[Place, Position("of the body", remedy="Say which point: point = ...")]


class MeasureSpec(Item, section="measures"):
    """A measure."""


@dataclass(frozen=True)
class PositionMeasure(MeasureSpec, type="position"):
    """Where a point of a body is, in the world."""

    body: OwnBody
    point: OwnPoint
    component: Component = None


@dataclass(frozen=True)
class DistanceMeasure(MeasureSpec, type="distance"):
    """Distance between two points."""

    start: Start
    end: End


@dataclass(frozen=True)
class CoordinateMeasure(MeasureSpec, type="coordinate"):
    """A coordinate of a joint."""

    joint: JointName
    coordinate: Coordinate = None


@dataclass(frozen=True)
class AngleMeasure(MeasureSpec, type="angle"):
    """Angle between two directions, from 0 to pi."""

    start: Annotated[Arrow, STARTS]
    end: Annotated[Arrow, POINTS]


@dataclass(frozen=True)
class VelocityMeasure(MeasureSpec, type="velocity"):
    """Velocity of a point of a body, relative to another point or to the world."""

    body: OwnBody
    point: OwnPoint
    relative_to: Annotated[Attachment | None, Record("another point; the world unless given", classes=(Attachment,))] = None
    component: Component = None


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
    """A formula over other measures and parameters."""

    value: Annotated[Formula, FormulaText("a formula", remedy='Give one: value = "=a - b"')]


MEASURE_SPECS: tuple[type[Any], ...] = tuple(MeasureSpec.__subclasses__())
