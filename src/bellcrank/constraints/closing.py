"""Joints and other ties composed of the basic constraints. The z axes of the two frames are the joint's axis.

A new kind is a function here and a line in CLOSING.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..numbers import Number, atan2, sincos
from ..spatial import Force, Matrix, Vector
from .basic import Equation, Frame, Law, d1, d2, s, ss

X, Y, Z = 0, 1, 2


class Given(NamedTuple):
    """Numbers that an equation needs besides the two frames."""

    world: Matrix  # columns: the world's axes, in those of ground
    value: Law  # length of a rod, offset of a plane
    pitch: Number  # of a screw, m/rad


def _spherical(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [s(i, j, Vector(given.world.x[k], given.world.y[k], given.world.z[k])) for k in (X, Y, Z)]


def _parallel(i: Frame, j: Frame, given: Given) -> list[Equation]:
    """The axis of j stays perpendicular to two directions of i."""
    return [d1(i, j, i.axis(k), j.axis(Z)) for k in (X, Y)]


def _on_axis(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [d2(i, j, i.axis(k)) for k in (X, Y)]


def _universal(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [*_spherical(i, j, given), d1(i, j, i.axis(Z), j.axis(X))]


def _revolute(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return _spherical(i, j, given) + _parallel(i, j, given)


def _fixed(i: Frame, j: Frame, given: Given) -> list[Equation]:
    pairs = ((X, Y), (Y, Z), (Z, X))
    return _spherical(i, j, given) + [d1(i, j, i.axis(a), j.axis(b)) for a, b in pairs]


def _cylindrical(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return _parallel(i, j, given) + _on_axis(i, j, given)


def _prismatic(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [*_cylindrical(i, j, given), d1(i, j, i.axis(X), j.axis(Y))]


def _planar(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [*_parallel(i, j, given), d2(i, j, i.axis(Z))]


def _screw(i: Frame, j: Frame, given: Given) -> list[Equation]:
    """Axes as of a cylindrical joint; slide = pitch * angle, modulo a turn. Exact where the axes are in line."""
    axis, turned = i.axis(Z), j.axis(X)
    slide = d2(i, j, axis)
    expected = sincos(slide.error / given.pitch)
    sine, cosine = i.axis(Y).dot(turned), i.axis(X).dot(turned)
    lag = atan2(sine * expected[1] - cosine * expected[0], cosine * expected[1] + sine * expected[0])
    turn = Force(axis * given.pitch, axis * 0.0)
    return [*_cylindrical(i, j, given), _screwed(slide, turn, i, j, -(given.pitch * lag))]


def _screwed(slide: Equation, turn: Force, i: Frame, j: Frame, error: Number) -> Equation:
    rate = slide.rate - turn.n.dot(j.w - i.w)
    known = turn.n.dot(j.known.w - i.known.w)
    return Equation(slide.on_i + turn, slide.on_j - turn, slide.gamma + known, error, rate)


def _distance(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [ss(i, j, given.value)]


def _point_on_line(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return _on_axis(i, j, given)


def _point_on_plane(i: Frame, j: Frame, given: Given) -> list[Equation]:
    return [d2(i, j, i.axis(Z), given.value)]


CLOSING: dict[str, Callable[[Frame, Frame, Given], list[Equation]]] = {
    "fixed": _fixed,
    "revolute": _revolute,
    "prismatic": _prismatic,
    "cylindrical": _cylindrical,
    "screw": _screw,
    "universal": _universal,
    "planar": _planar,
    "spherical": _spherical,
    "distance": _distance,
    "point_on_line": _point_on_line,
    "point_on_plane": _point_on_plane,
}


def closing_equations(kind: str, i: Frame, j: Frame, given: Given) -> list[Equation]:
    return CLOSING[kind](i, j, given)
