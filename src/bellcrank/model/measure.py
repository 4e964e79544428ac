"""Measures, the outputs that a designer asks for: plain data; the results evaluate them."""

from __future__ import annotations

from dataclasses import dataclass

Vector = tuple[float, float, float]

MEASURES = ("position", "distance", "angle", "velocity", "element", "closure", "drive", "expression")
COMPONENTS = ("x", "y", "z")


@dataclass(frozen=True)
class Measure:
    """A measure. Bodies are rows of the model, -1 = ground; points and directions are in the body's own frame.

    kind        what it is
    position    of point_a on body_a, in the world: one ``component`` (0, 1, 2), or all three (None)
    distance    between point_a on body_a and point_b on body_b
    angle       coordinate ``dof`` of ``joint``, or of the closing joint ``closure``; with both -1, the angle between
                direction_a and direction_b
    velocity    of point_a on body_a relative to point_b on body_b (ground: the world), in world axes; component as above
    element     force of the element of the name ``element``: its effort or tension; of a bushing or force, its component or all
    closure     force of the closure ``closure``, which is no joint: tension of a rod, force on the point of a plane along its
                normal, or on that of a line (component or all); of a coupler the effort along its sum
    drive       effort that keeps the prescribed motion of ``joint``, or of the closing joint ``closure``, going along ``dof``
    expression  ``expression`` over the names of other measures
    """

    name: str
    kind: str
    joint: int = -1
    dof: int = 0
    body_a: int = -1
    body_b: int = -1
    point_a: Vector = (0.0, 0.0, 0.0)
    point_b: Vector = (0.0, 0.0, 0.0)
    direction_a: Vector | None = None
    direction_b: Vector | None = None
    component: int | None = None
    element: str = ""
    expression: str = ""
    closure: int = -1
