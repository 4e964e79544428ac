"""Closures, as the program runs them: plain data.

The joints of a model's rows form a tree. Whatever else ties its bodies together is a closure: a joint that was cut out of a
loop, a rod, a point guided on a line or plane, or a linear relation between coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..joints import Joint
from ..wording import counted
from .motion import PrescribedMotion
from .parameters.tables import Table

Vector = tuple[float, float, float]

Six = tuple[float, ...]  # a force, then a moment
ZERO6: Six = (0.0,) * 6
CLOSURES = ("joint", "distance", "point_on_line", "point_on_plane", "perpendicular", "coupler")
GUIDED = ("point_on_line", "point_on_plane", "perpendicular")  # those that have an axis


@dataclass(frozen=True)
class Action:
    """What a coupler with the multiplier lambda does to two bodies, at a point of a third one, the carrier, in its axes:

    W = lambda linear + |lambda| size + always        on body_a; on body_b the opposite

    It does the same work as efforts on the coupled coordinates, and loads the joints between the bodies too. ``reports``: it
    is the reaction of its closure; ``curved``: linear counts for -slope of the closure's curve.
    """

    body_a: int
    body_b: int
    carrier: int
    point: Vector
    linear: Six
    size: Six = ZERO6
    always: Six = ZERO6
    reports: bool = False
    curved: bool = False


@dataclass(frozen=True)
class Closure:
    """Bodies are rows of the model, -1 = ground; points are in the body's own frame (ground: the world's).

    kind            what it demands
    joint           body_b moves relative to body_a only as ``joint`` allows, which is at point_a and at point_b; a is the
                    parent that the user wrote, b the child; with a ``motion`` the joint's coordinates are prescribed too
    distance        point_a and point_b are ``value`` apart (m, more than zero)
    point_on_line   point_b is on the line through point_a along ``axis``, fixed to a
    point_on_plane  axis . (point_b - point_a) = value (m); the plane's normal ``axis`` is fixed to a
    perpendicular   ``axis``, fixed to a, and ``axis2``, fixed to b, stay perpendicular, as they are in the design position
    coupler         sum of factor * coordinate over ``terms`` = value; a term is (row of the joint, degree of freedom, factor);
                    less ``curve`` of the coordinate of the last term, whose own factor is zero, if there is a curve;
                    ``driven_terms`` are those of joints whose motion is prescribed. Its effort acts on the coordinates of the
                    terms, and on driven joints by ``actions``; of a gear, rack or belt (``mesh``) all of it is an action

    A ``motion`` of a distance, a plane or a coupler has one law, which replaces the value. Axes are unit vectors as in the
    design position, where the axes of all bodies are parallel to the world's.
    """

    name: str
    kind: str
    body_a: int = -1
    body_b: int = -1
    point_a: Vector = (0.0, 0.0, 0.0)
    point_b: Vector = (0.0, 0.0, 0.0)
    joint: Joint | None = None
    axis: Vector | None = None
    axis2: Vector | None = None
    value: float = 0.0
    terms: tuple[tuple[int, int, float], ...] = ()
    motion: PrescribedMotion | None = None
    driven_terms: tuple[tuple[int, int, float], ...] = ()
    actions: tuple[Action, ...] = ()
    mesh: str = ""
    curve: Table | None = None
    curve_driven: bool = False  # it is of the last of the driven terms

    @property
    def rows(self) -> int:
        """How many equations it is."""
        if self.kind != "joint":
            return 2 if self.kind == "point_on_line" else 1
        assert self.joint is not None
        return 6 if self.motion is not None else 6 - self.joint.nv


def closure_problems(closure: Closure, n: int) -> Iterator[str]:
    """Problems of a closure; n is the number of rows of the model."""
    if closure.kind not in CLOSURES:
        yield f'there is no kind "{closure.kind}". Choose from {", ".join(CLOSURES)}.'
        return
    if not all(-1 <= row < n for row in (closure.body_a, closure.body_b)):
        yield f"a body is not in the model. Give -1 for ground, or a row up to {n - 1}."
    elif closure.kind != "coupler" and closure.body_a == closure.body_b:
        yield "it connects a body to itself. Let its two bodies differ."
    numbers = [*closure.point_a, *closure.point_b, closure.value, *(closure.axis or ()), *(closure.axis2 or ())]
    numbers += [factor for _, _, factor in (*closure.terms, *closure.driven_terms)]
    numbers += [x for action in closure.actions for x in (*action.point, *action.linear, *action.size, *action.always)]
    if not all(math.isfinite(x) for x in numbers):
        yield "a point, an axis or a value is not finite."
    if closure.kind == "distance" and closure.motion is None and not closure.value > 0:
        yield f"its length is {closure.value:g} m. Give more than zero; a spherical joint holds two points together."
    if (closure.joint is None) == (closure.kind == "joint"):
        yield 'a joint is given for the kind "joint", and for no other.'
    yield from _axis_problems(closure)
    if bool(closure.terms) != (closure.kind == "coupler"):
        yield "terms are given for a coupler, and for nothing else."
    if (closure.driven_terms or closure.actions or closure.mesh) and closure.kind != "coupler":
        yield "driven terms and actions are given for a coupler, and for nothing else."
    yield from () if closure.curve is None else closure.curve.problems()
    if not all(-1 <= row < n for action in closure.actions for row in (action.body_a, action.body_b, action.carrier)):
        yield f"an action is on a body that is not in the model. Give -1 for ground, or a row up to {n - 1}."
    if closure.joint is not None and closure.joint.kind == "free" and closure.motion is None:
        yield "a free joint constrains nothing, and so closes no loop. Leave it out."
    if closure.motion is not None:
        yield from _motion_problems(closure)


def _axis_problems(closure: Closure) -> Iterator[str]:
    if (closure.axis is None) == (closure.kind in GUIDED):
        yield "an axis is given for a point on a line or plane and for perpendicular axes, and for nothing else."
    if (closure.axis2 is None) == (closure.kind == "perpendicular"):
        yield "a second axis is given for perpendicular axes, and for nothing else."
    for axis in (closure.axis, closure.axis2):
        if axis is not None and abs(math.hypot(*axis) - 1) > 1e-9:
            yield f"its axis {axis} is not a unit vector."
    if closure.axis is not None and closure.axis2 is not None:
        cosine = sum(x * y for x, y in zip(closure.axis, closure.axis2, strict=True))
        if abs(cosine) > 1e-9:
            yield f"its axes are not perpendicular in the design position: the cosine of their angle is {cosine:.3g}."


def _motion_problems(closure: Closure) -> Iterator[str]:
    assert closure.motion is not None
    if closure.kind in ("point_on_line", "perpendicular"):
        what = "a point on a line has" if closure.kind == "point_on_line" else "perpendicular axes have"
        yield f"{what} nothing that could be driven."
        return
    wanted = 1 if closure.joint is None else len(closure.joint.law_names())
    if len(closure.motion.laws) != wanted or wanted == 0:
        yield f"its motion has {counted(len(closure.motion.laws), 'law')}, and it needs {wanted}."
    turns = closure.joint is not None and closure.joint.quaternion is not None
    if (closure.motion.axis is not None) != turns:
        yield "the motion of a spherical or free joint has an axis, that of others has none."
    elif closure.motion.axis is not None and not 0 < math.hypot(*closure.motion.axis) < math.inf:
        yield f"the axis of its motion is {closure.motion.axis}. Give a finite vector that is not zero."
    for law in closure.motion.laws:
        yield from law.problems()
