"""From the joints that close loops, the constraints and the couplers that the user wrote to the closures of the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...joints import JOINTS, Joint
from ...numbers.variable import as_array, as_number, is_finite, value_of
from ...wording import counted
from ..closure import Closure
from ..geometry.gear_specs import GearItem
from ..geometry.gears import TreeRows, driven_action, make_gear
from ..motion import PrescribedMotion
from ..parameters.tables import Table
from ..spec.elements import CoincidentSpec, CouplerSpec, DistanceSpec, PerpendicularSpec, PointOnLineSpec, PointOnPlaneSpec
from ..spec.items import Attachment
from ..spec.problems import Problems
from ..spec.spec import JointSpec, Spec
from .motions import checked_law, make_motion, table_of
from .references import ItemError, ModelRows, between, coordinate_of, designed_length, make_all, on_body, unit
from .tree import SpanningTree

PERPENDICULAR = 1e-9  # cosine of an angle that counts as right


def make_closures(
    spec: Spec, tree: SpanningTree, joints: Mapping[str, Joint], rows: ModelRows, placed: TreeRows, problems: Problems
) -> tuple[Closure, ...] | None:
    """Joints first, so that ``rows.closing`` is right, then constraints, couplers, gears; None where one cannot be made."""

    def make(item: Any) -> Closure:
        if isinstance(item, JointSpec):
            return _cut(item, joints[item.name], rows)
        if isinstance(item, CouplerSpec):
            return _coupler(item, rows, placed)
        return make_gear(item, rows, placed) if isinstance(item, GearItem) else MAKERS[type(item)](item, rows)

    items = [*(spec.joints[j] for j in tree.closing), *spec.constraints, *spec.couplers, *spec.gears]
    found = make_all(items, make, problems)
    return found if len(found) == len(items) else None


def _cut(item: JointSpec, joint: Joint, rows: ModelRows) -> Closure:
    """A joint that closes a loop stays as the user wrote it: a is its parent, b its child; it may be open by design."""
    on_child = item.point if item.child_point is None else item.child_point
    ends = (Attachment(item.parent, item.point), Attachment(item.child, on_child))
    (a, point_a), (b, point_b) = (on_body(end, rows) for end in ends)
    motion = None if item.motion is None else make_motion(item, joint, (0.0, 0.0, 0.0))
    return Closure(item.name, "joint", a, b, point_a, point_b, joint=joint, motion=motion)


def _distance(item: DistanceSpec, rows: ModelRows) -> Closure:
    ends, motion = between(item, rows), _law(item, "length")
    length = designed_length(item) if item.length is None else as_number(item.length)
    if motion is None and not length > 0 and item.length is None:
        raise ItemError("its points coincide, so that it has no length. Give length, or use a spherical joint.", "to")
    return Closure(item.name, "distance", **ends, value=length, motion=motion)


def _point_on_plane(item: PointOnPlaneSpec, rows: ModelRows) -> Closure:
    ends, axis, motion = between(item, rows), _axis(item), _law(item, "offset")
    start, end = (as_array(side.point) for side in (item.start, item.end))
    offset = as_number(np.dot(axis, end - start)) if item.offset is None else as_number(item.offset)
    return Closure(item.name, "point_on_plane", **ends, axis=axis, value=offset, motion=motion)


def _perpendicular(item: PerpendicularSpec, rows: ModelRows) -> Closure:
    axis, axis2 = _axis(item), unit(item.axis2, "its axis2", "axis2")
    cosine = as_number(np.dot(axis, axis2))
    if not abs(cosine) < PERPENDICULAR:
        angle = math.degrees(math.acos(min(1.0, abs(value_of(cosine)))))
        raise ItemError(
            f"its axes are at {angle:.3g} degrees in the design position. Let axis2 be perpendicular to axis.", "axis2"
        )
    return Closure(item.name, "perpendicular", **between(item, rows), axis=axis, axis2=axis2)


def _coincident(item: CoincidentSpec, rows: ModelRows) -> Closure:
    return Closure(item.name, "joint", **between(item, rows), joint=JOINTS["spherical"]())


def _coupler(item: CouplerSpec, rows: ModelRows, placed: TreeRows) -> Closure:
    motion, factors, curve = _law(item, "offset"), _factors(item), _curve(item)
    terms = [(*coordinate_of(name, rows, driven=True), factor) for name, factor in zip(item.joints, factors, strict=True)]
    twice = [name for k, name in enumerate(item.joints) if terms[k][:2] in [term[:2] for term in terms[:k]]]
    if twice:
        raise ItemError(f'it names "{twice[0]}" twice. Add its factors up.', "joints")
    driven = [(name, term) for name, term in zip(item.joints, terms, strict=True) if placed.driven[term[0]]]
    if len(driven) == len(terms):
        raise ItemError("all of its joints are driven, so that nothing can follow. Remove a motion, or this.", "joints")
    return Closure(
        item.name,
        "coupler",
        value=as_number(0.0 if item.offset is None else item.offset),
        terms=tuple(term for term in terms if not placed.driven[term[0]]),
        motion=motion,
        driven_terms=tuple(term for _, term in driven),
        actions=tuple(driven_action(name, term, rows, placed, curved=term[2] == 0) for name, term in driven),
        curve=curve,
        curve_driven=curve is not None and placed.driven[terms[1][0]],
    )


def _curve(item: CouplerSpec) -> Table | None:
    """The curve of a cam: the first coordinate over the second."""
    curve = table_of(item)
    for text in () if curve is None else curve.problems():
        raise ItemError(text, "table")
    if curve is not None and curve.interpolation in ("linear", "previous"):
        what = f'a follower cannot keep to a cam with corners, interpolation = "{curve.interpolation}"'
        raise ItemError(f'{what}. Use "cubic", "akima" or "pchip".', "interpolation")
    return curve


def _factors(item: CouplerSpec) -> tuple[float, ...]:
    """One for each coordinate; first = ratio * second is 1 and -ratio."""
    if not item.joints:
        raise ItemError("it names no joint. Name one or more.", "joints")
    given = [key for key in ("factors", "ratio", "table") if getattr(item, key) is not None]
    if len(given) != 1:
        what = " and ".join(given) if given else "neither factors nor a ratio nor a table"
        raise ItemError(f"it has {what}. Give one of the three.", given[1] if given else "ratio")
    if item.table is not None:
        if len(item.joints) != 2:
            raise ItemError(
                f"it has a table and {counted(len(item.joints), 'joint')}. Name the follower, then the cam.", "table"
            )
        return 1.0, 0.0
    if item.ratio is not None and len(item.joints) != 2:
        raise ItemError(f"it has a ratio and {counted(len(item.joints), 'joint')}. Name two joints, or give factors.", "ratio")
    key, many = ("ratio", (1.0, -as_number(item.ratio))) if item.ratio is not None else ("factors", _many(item.factors))
    if len(many) != len(item.joints):
        raise ItemError(f"it has {counted(len(many), 'factor')} for {counted(len(item.joints), 'joint')}. Give one each.", key)
    if not all(is_finite(x) and x != 0 for x in many):
        raise ItemError("a coordinate with the factor zero is not coupled. Give finite numbers that are not zero.", key)
    return many


def _many(value: Any) -> tuple[float, ...]:
    return tuple(map(as_number, value)) if isinstance(value, tuple) else (as_number(value),)


def _law(item: Any, instead_of: str) -> PrescribedMotion | None:
    """The motion of a length or offset; raises ItemError where both are given."""
    if item.motion is None:
        return None
    if getattr(item, instead_of) is not None:
        raise ItemError(f"it has {instead_of} and motion. Keep one of the two.", "motion")
    return PrescribedMotion((checked_law(item.motion),))


def _axis(item: Any) -> tuple[float, float, float]:
    return unit(item.axis, "its axis", "axis")


MAKERS: dict[type[Any], Callable[[Any, ModelRows], Closure]] = {
    DistanceSpec: _distance,
    PointOnLineSpec: lambda item, rows: Closure(item.name, "point_on_line", **between(item, rows), axis=_axis(item)),
    PointOnPlaneSpec: _point_on_plane,
    PerpendicularSpec: _perpendicular,
    CoincidentSpec: _coincident,
}
