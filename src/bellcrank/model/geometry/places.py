"""Constructions as they are written in Python; a file has the same (constructions.py).

m.point("B", by_distances({"A": "=coupler", "C": "=rocker"}, side="left"))
m.point("M", on_line("A", "B", fraction=0.5))
m.joint("hinge", "revolute", "ground", "door", "low", axis=between("low", "high"))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import ModelError
from ..spec.fields import Between
from ..spec.values import Axis, Value, Where3, make
from .constructions import BY_DISTANCES, ByThreeDistances, ByTwoDistances, Mirrored, OnLine, Turned


def by_distances(distances: Mapping[str, Value], side: str, *, normal: Axis | None = None) -> ByTwoDistances | ByThreeDistances:
    """A point by its distances from two points, to the "left" or "right" of the way from the first to the second, or from three
    points, "above" or "below" their plane. The normal, z unless given, says from where one looks, and what is above."""
    if len(distances) not in BY_DISTANCES:
        raise ModelError(f"there are {len(distances)} distances. Give distances from two or three points.")
    cls = BY_DISTANCES[len(distances)]
    options = ("left", "right") if cls is ByTwoDistances else ("above", "below")
    if side not in options:
        raise ModelError(f"side is {side!r}. Give {' or '.join(map(repr, options))}.")
    made: Any = make(cls, distances=distances, side=side, normal=normal)
    return made


def on_line(
    start: Where3,
    toward: Where3 | None = None,
    *,
    along: Axis | None = None,
    distance: Value | None = None,
    fraction: Value | None = None,
) -> OnLine:
    """A point on the line from the start toward another point, or along a direction."""
    made: OnLine = make(OnLine, start=start, toward=toward, along=along, distance=distance, fraction=fraction)
    return made


def mirrored(point: Where3, normal: Axis, *, through: Where3 | None = None) -> Mirrored:
    """The mirror image of a place in a plane through the origin, or through another place."""
    made: Mirrored = make(Mirrored, mirror=point, normal=normal, through=through)
    return made


def turned(point: Where3, axis: Axis, angle: Value, *, about: Where3 | None = None) -> Turned:
    """A place turned about an axis through the origin, or through another place, by the right hand."""
    made: Turned = make(Turned, turn=point, axis=axis, angle=angle, about=about)
    return made


def between(start: Where3, end: Where3) -> Between:
    """A direction from one place to another, for axes."""
    made: Between = make(Between, start=start, end=end)
    return made
