"""Joints and other closures composed of basic constraints. The z axes of the two frames are the axis.

A joint composes its own equations in its class (``Joint.closing``). A new tie is a function here and a line in TIES.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..numbers import Number
from ..spatial import Matrix, Vector
from .basic import Equation, Frame, Law, d1, d2, s, ss

X, Y, Z = 0, 1, 2


class Given(NamedTuple):
    """Numbers that an equation needs besides the two frames."""

    world: Matrix  # columns: the axes along which points meet, such as the world's in those of ground
    value: Law  # length of a rod, offset of a plane
    pitch: Number  # of a screw, m/rad


def points_meet(i: Frame, j: Frame, given: Given) -> list[Equation]:
    """Along the three axes of ``given.world``; what uses them has these equations first."""
    return [s(i, j, Vector(given.world.x[k], given.world.y[k], given.world.z[k])) for k in (X, Y, Z)]


def axes_parallel(i: Frame, j: Frame) -> list[Equation]:
    """The axis of j stays perpendicular to two directions of i."""
    return [d1(i, j, i.axis(k), j.axis(Z)) for k in (X, Y)]


def point_on_axis(i: Frame, j: Frame) -> list[Equation]:
    return [d2(i, j, i.axis(k)) for k in (X, Y)]


def _distance(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [ss(i, j, given.value)]


def _point_on_line(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return point_on_axis(i, j)


def _point_on_plane(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [d2(i, j, i.axis(Z), given.value)]


def _perpendicular(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [d1(i, j, i.axis(Z), j.axis(X))]


TIES: dict[str, Callable[[Frame, Frame, Given], list[Equation]]] = {
    "distance": _distance,
    "point_on_line": _point_on_line,
    "point_on_plane": _point_on_plane,
    "perpendicular": _perpendicular,
}
