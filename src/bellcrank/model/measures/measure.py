"""Measures, the outputs that a designer asks for: plain data; machine/measuring evaluates them over any number."""

from __future__ import annotations

from dataclasses import dataclass

from ..parameters.tables import AnyTable

Vector = tuple[float, float, float]

MEASURES = (
    "position", "velocity", "acceleration", "turning", "distance", "angle", "coordinate", "reaction", "element", "closure",
    "drive", "energy", "momentum", "closure_error", "time", "input", "expression",
)  # fmt: skip
COMPONENTS = ("x", "y", "z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
MAGNITUDE = "magnitude"


@dataclass(frozen=True)
class Measure:
    """A measure. Bodies are rows of the model, -1 = ground; points and directions are in the body's own frame.

    kind           what it is
    position       of point_a on body_a, seen from point_b on body_b (ground: the world's origin)
    velocity       of the same: the difference of the velocities of the two points, or, with an ``observer``, the rate of the
                   position as it is seen by someone who stands on that body
    acceleration   likewise
    turning        angular velocity of body_a less that of body_b
                   of these four one ``component`` (0, 1, 2), the "magnitude", or all three (None), in the axes of the body
                   ``axes`` (-1: the world's)
    distance       between point_a on body_a and point_b on body_b; ``part`` "rate": its rate
    angle          between direction_a and direction_b, from 0 to pi; with an ``axis``, fixed to body_a, the angle by which
                   direction_a turns about it until it shows to where direction_b does, from -pi to pi; part "rate": its rate
    coordinate     ``dof`` of ``joint``, or of the closing joint ``closure``; part "q", its velocity "v", or acceleration "a"
    reaction       of ``joint`` or ``closure``: wrench of the parent on the child at its point, without the joint's own effort
                   (part "whole": with it), in the axes of the body ``axes``; component 0 to 5 (force, then moment),
                   "force" or "moment" for their magnitudes, or all six (None)
    element        of the force element of the name ``element``: part "force" (its effort or tension; of a bushing or force, its
                   component or all, on the second body or on the one that it acts on), "energy" or "power"
    closure        force of the closure ``closure``, which is not a joint: tension of a rod, force on the point of a plane along
                   its normal, or on that of a line (component or all); of a coupler the effort along its sum
    drive          part "effort", that keeps the prescribed motion of ``joint`` or ``closure`` going along ``dof``, or "power"
    energy         part "kinetic", "potential", "stored" or "total"
    momentum       part "linear", or "angular", about the world's origin; component as above
    closure_error  largest error of the equations of ``closure``, or of all (-1)
    time, input    the time; the input of the name ``element``
    expression     ``expression`` over the names of other measures, of paths that every model has (paths.py), and of ``values``:
                   names with their numbers, which are parameters
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
    component: int | str | None = None
    element: str = ""
    expression: str = ""
    closure: int = -1
    part: str = ""
    axis: Vector | None = None
    axes: int = -1
    observer: int = -1
    values: tuple[tuple[str, float], ...] = ()
    tables: tuple[tuple[str, AnyTable], ...] = ()  # that an expression calls
    unit: str = ""  # of an expression, as the user says
