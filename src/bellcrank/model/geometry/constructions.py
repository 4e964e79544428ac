"""Places made by construction, as the user writes them.

    B = { from = { A = "=coupler", C = "=rocker" }, side = "left" }      by its distances from two other points, or from three
    M = { from = "A", toward = "B", distance = 0.3 }                     on a line, at a distance or a fraction of it
    N = { from = "A", along = [1, 0, 1], distance = 0.3 }
    R = { mirror = "L", normal = "y" }                                   mirrored, in a plane through the origin or a point
    P2 = { turn = "P1", axis = "z", angle = "120 deg" }                  turned about an axis

They hold formulas and names like all else; ``position`` and ``wrong`` are for evaluated ones, ``position`` over any number.
In the copy of an assembly a construction is made among the copy's own points, and so is mirrored and turned with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from ...spatial import Vector
from ..spec.fields import (
    XYZ_ZERO,
    Between,
    Choice,
    Construction,
    Direction,
    Distances,
    Number,
    Place,
    Position,
    Scalar,
    Triple,
)
from . import construct

UP: Triple = (0.0, 0.0, 1.0)
SIDES = {"left": 1.0, "right": -1.0, "above": 1.0, "below": -1.0}
_SMALL = 1e-12  # of the lengths: what rounding makes of circles that touch, and of points in one line


def _vector(place: Any) -> Vector:
    return Vector(*place)


def _nearly(square: Any, scale: Any) -> bool:
    return bool(square >= -_SMALL * scale * scale)


@dataclass(frozen=True)
class ByTwoDistances(Construction):
    """A point where two circles meet: left or right of the way from the first point to the second, seen from the normal."""

    distances: Annotated[Any, Distances("points and the distances from them", key="from", unit="m")]
    side: Annotated[str, Choice("of the way from the first to the second", options=("left", "right"))]
    normal: Annotated[Triple | Between, Direction("seen from where this normal points; z unless given", turns="axial")] = UP

    def position(self) -> Vector:
        (a, r_a), (b, r_b) = self.distances
        return construct.by_two_distances(_vector(a), r_a, _vector(b), r_b, _vector(self.normal), SIDES[self.side])

    def wrong(self, at: ByTwoDistances) -> str:
        (first, _), (second, _) = self.distances
        (a, r_a), (b, r_b) = at.distances
        gap = construct.length(_vector(b) - _vector(a))
        if reason := _bad_distances(self.distances, at.distances):
            return reason
        if not gap > 0:
            return f'"{first}" and "{second}" coincide. Move one of them, or use other points'
        across = _vector(at.normal).cross(_vector(b) - _vector(a))
        if not construct.length(across) > _SMALL * gap * construct.length(_vector(at.normal)):
            return (
                f'its normal is along the line from "{first}" to "{second}", so that left and right are undefined. Give '
                f"another normal"
            )
        if _nearly(construct.two_circles(_vector(a), r_a, _vector(b), r_b)[1], gap + abs(r_a) + abs(r_b)):
            return ""
        far = gap > r_a + r_b
        why = f"they are {gap:.6g} m apart, {'more' if far else 'less'} than the {'sum' if far else 'difference'} of these"
        circles = f'the circles of {r_a:.6g} m about "{first}" and of {r_b:.6g} m about "{second}" do not meet'
        return f"{circles}: {why}. {'Lengthen' if far else 'Even out'} the distances, or move a point"


@dataclass(frozen=True)
class ByThreeDistances(Construction):
    """Where three spheres meet: above the plane of the three points, to where the normal points, or below it."""

    distances: Annotated[Any, Distances("points and the distances from them", key="from", unit="m")]
    side: Annotated[str, Choice("of the plane of the three points", options=("above", "below"))]
    normal: Annotated[Triple | Between, Direction("which side is above; z unless given")] = UP

    def _given(self) -> Any:
        points, distances = zip(*self.distances, strict=True)
        return tuple(map(_vector, points)), distances

    def position(self) -> Vector:
        points, distances = self._given()
        return construct.by_three_distances(points, distances, _vector(self.normal), SIDES[self.side])

    def wrong(self, at: ByThreeDistances) -> str:
        (a, b, c), r = at._given()
        named = ", ".join(f'"{name}"' for name, _ in self.distances)
        across, size = (b - a).cross(c - a), construct.length(b - a) * construct.length(c - a)
        if reason := _bad_distances(self.distances, at.distances):
            return reason
        if not construct.length(across) > _SMALL * size or not size > 0:
            return f"{named} are on one line, so that they define no plane. Move one, or use two of them"
        normal = _vector(at.normal)
        if not abs(normal.dot(across)) > 1e-9 * construct.length(normal) * construct.length(across):
            return f"its normal is in the plane of {named}, so that above and below are undefined. Give another normal"
        if _nearly(construct.three_spheres((a, b, c), r)[2], sum(r)):
            return ""
        listed = ", ".join(f'{x:.6g} m about "{name}"' for (name, _), x in zip(self.distances, r, strict=True))
        return f"the spheres of {listed} do not meet in one point. Change a distance, or move a point"


def _bad_distances(named: Any, given: Any) -> str:
    for (name, _), (_, x) in zip(named, given, strict=True):
        if not x > 0:
            return f'its distance from "{name}" is {x:g} m. Give more than zero'
    return ""


@dataclass(frozen=True)
class OnLine(Construction):
    """A place on the line from a point toward another one, or along a direction; a fraction of 0.5 is the middle."""

    start: Annotated[Place, Position("where the line begins", key="from", remedy="Say where the line begins.")]
    toward: Annotated[Place | None, Position("a point of the line")] = None
    along: Annotated[Triple | Between | None, Direction("its direction, instead of a point")] = None
    distance: Annotated[Scalar | None, Number("distance from the beginning; negative in the opposite direction", unit="m")] = (
        None
    )
    fraction: Annotated[Scalar | None, Number("fraction of the way to the point, instead of the distance")] = None

    def position(self) -> Vector:
        start = _vector(self.start)
        way = _vector(self.along) if self.toward is None else _vector(self.toward) - start
        return start + (way * self.fraction if self.distance is None else construct.unit(way) * self.distance)

    def wrong(self, at: OnLine) -> str:
        if (self.toward is None) == (self.along is None):
            return f"it has {'neither toward nor' if self.along is None else 'both toward and'} along. Give one of the two"
        if (self.distance is None) == (self.fraction is None):
            both = "neither distance nor" if self.distance is None else "both distance and"
            return f"it has {both} fraction. Give one of the two"
        if self.along is not None and self.fraction is not None:
            return "a fraction is of the way toward a point, and it has none. Give the distance"
        way = _vector(at.along) if at.toward is None else _vector(at.toward) - _vector(at.start)
        if not construct.length(way) > 0 and self.distance is not None:
            return "its line has no direction, since its points coincide. Give two different points"
        return ""


@dataclass(frozen=True)
class Mirrored(Construction):
    """The mirror image of a place, in a plane."""

    mirror: Annotated[Place, Position("what is mirrored", remedy="Say which point is mirrored.")]
    normal: Annotated[Triple | Between, Direction("normal of the plane", remedy='Give it: normal = "y"')]
    through: Annotated[Place, Position("a point of the plane; the origin unless given")] = XYZ_ZERO

    def position(self) -> Vector:
        return construct.mirrored(_vector(self.mirror), _vector(self.through), _vector(self.normal))

    def wrong(self, at: Mirrored) -> str:
        return "" if construct.length(_vector(at.normal)) > 0 else "its normal is zero. Give a vector that is not zero"


@dataclass(frozen=True)
class Turned(Construction):
    """A place turned about an axis, by the right hand."""

    turn: Annotated[Place, Position("what is turned", remedy="Say which point is turned.")]
    axis: Annotated[Triple | Between, Direction("axis of the turn", turns="axial", remedy='Give it: axis = "z"')]
    angle: Annotated[Scalar, Number("angle by which the point is turned", unit="rad", remedy='Give it: angle = "30 deg"')]
    about: Annotated[Place, Position("a point of the axis; the origin unless given")] = XYZ_ZERO

    def position(self) -> Vector:
        return construct.turned(_vector(self.turn), _vector(self.about), _vector(self.axis), self.angle)

    def wrong(self, at: Turned) -> str:
        return "" if construct.length(_vector(at.axis)) > 0 else "its axis is zero. Give a vector that is not zero"


BY_DISTANCES: dict[int, type[Any]] = {2: ByTwoDistances, 3: ByThreeDistances}
CONSTRUCTIONS: tuple[type[Any], ...] = (ByTwoDistances, ByThreeDistances, OnLine, Mirrored, Turned)
