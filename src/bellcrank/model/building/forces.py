"""From the force elements that the user wrote to those that the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...joints import Joint
from ...numbers.variable import as_number, is_finite
from ...wording import counted
from ..element import ELEMENTS, MOST_TERMS, Element, element_problems
from ..spec import elements
from ..spec.items import Attachment
from ..spec.problems import Problems
from ..spec.shapes import axes_of, axes_problems, rows_of
from ..spec.spec import Spec
from .motions import table_of
from .references import (
    ModelRows,
    Trouble,
    between,
    coordinate_of,
    designed_length,
    make_all,
    movable,
    on_body,
    on_joint,
    row_of,
)


def make_elements(spec: Spec, rows: ModelRows, problems: Problems) -> tuple[Element, ...]:
    def make(item: Any) -> Element:
        return MAKERS[type(item)](item, rows)

    return make_all(spec.elements, make, problems, element_problems, rows.kinds)


def _element(item: Any, kind: str, *values: Any, **where: Any) -> Element:
    return Element(item.name, kind, {name: as_number(x) for name, x in zip(ELEMENTS[kind], values, strict=True)}, **where)


def _joint_spring(item: elements.JointSpring, rows: ModelRows) -> Element:
    joint = movable(item, rows)
    if joint.quaternion is not None:
        return _turning_spring(item, joint, rows)
    return _element(item, "joint_spring", item.stiffness, item.rest, item.preload, **on_joint(item, rows))


def _turning_spring(item: elements.JointSpring, joint: Joint, rows: ModelRows) -> Element:
    """Against the whole turn of a spherical or free joint, from the design position."""
    if item.coordinate != "turn" and (joint.kind == "free" or item.coordinate is not None):
        what = f'joint "{item.joint}" is {joint.kind}: a quaternion has no single angle'
        raise Trouble(f'{what}. Give coordinate = "turn" for a spring against all of its turn, or use a bushing.', "coordinate")
    for key in ("rest", "preload"):
        if getattr(item, key):
            raise Trouble(f'a spring on the turn of joint "{item.joint}" rests in the design position: remove {key}.', key)
    ends = rows.written[item.joint]
    a, b = (row_of(body, rows) for body in (ends.parent, ends.child))
    return _element(item, "turning_spring", item.stiffness, body_a=a, body_b=b)


def _sum(item: elements.SumSpring | elements.SumDamper, rows: ModelRows) -> dict[str, Any]:
    """Coordinates and their factors, and the first coordinate by itself."""
    factors = item.factors if isinstance(item.factors, tuple) else (item.factors,)
    if not 0 < len(item.joints) == len(factors) <= MOST_TERMS:
        what = f"it has {counted(len(factors), 'factor')} for {counted(len(item.joints), 'joint')}"
        raise Trouble(f"{what}. Give one each, for {MOST_TERMS} joints at most.", "factors")
    terms = [(*coordinate_of(name, rows), as_number(factor)) for name, factor in zip(item.joints, factors, strict=True)]
    if len({term[:2] for term in terms}) < len(terms):
        raise Trouble("it names a coordinate twice. Add its factors up.", "joints")
    if not all(is_finite(factor) for _, _, factor in terms):
        raise Trouble("a factor is not finite.", "factors")
    return {"joint": terms[0][0], "dof": terms[0][1], "terms": tuple(terms)}


def _stop(item: elements.StopSpec, rows: ModelRows) -> Element:
    on = on_joint(item, rows)
    if item.lower is None and item.upper is None:
        raise Trouble("it has no limit. Give lower, upper or both.")
    lower = -math.inf if item.lower is None else item.lower
    upper = math.inf if item.upper is None else item.upper
    return _element(item, "joint_stop", lower, upper, item.stiffness, item.damping, **on)


def _motor(item: elements.MotorSpec, rows: ModelRows) -> Element:
    on = on_joint(item, rows, rates=True)
    given = [key for key in ("effort", "table", "input") if getattr(item, key) is not None]
    if len(given) != 1:
        what = " and ".join(given) or "no effort"
        raise Trouble(f"it has {what}. Give one of effort, table and input.", given[1] if given else "")
    if item.input is None:
        value = 0.0 if item.effort is None else item.effort
        return _element(item, "joint_effort", value, **on, table=table_of(item))
    if item.input not in rows.inputs:
        raise Trouble(f'its input "{item.input}" is not in inputs.{Problems().suggest(item.input, rows.inputs)}', "input")
    return _element(item, "joint_input", item.gain, **on, input=rows.inputs.index(item.input))


def _line_spring(item: elements.LineSpring, rows: ModelRows) -> Element:
    ends = between(item, rows)
    if (item.stiffness is None) == (item.table is None):
        raise Trouble("give it a stiffness or a table: one of the two.", "stiffness")
    length = designed_length(item) if item.length is None else item.length
    values = 0.0 if item.stiffness is None else item.stiffness, item.damping, length, item.preload
    return _element(item, "spring_damper", *values, **ends, table=table_of(item))


def _friction(item: elements.FrictionSpec, rows: ModelRows) -> Element:
    if item.stiffness is None:
        if item.damping:
            raise Trouble("smooth friction has no damping: give a stiffness too, or a damper beside it.", "damping")
        on, velocity = on_joint(item, rows, rates=True), 0.01 if item.velocity is None else item.velocity
        return _element(item, "joint_friction", item.effort, velocity, **on)
    if item.velocity is not None:
        raise Trouble(
            "it has a velocity, of smooth friction, and a stiffness, of friction that holds. Give one of them.", "velocity"
        )
    on = on_joint(item, rows)
    if on.get("closure", -1) >= 0:
        raise Trouble(
            f'friction that holds needs a coordinate, and "{item.joint}" closes a loop. Let another joint of the loop be cut '
            "(cut = true), or leave out the stiffness.",
            "stiffness",
        )
    return _element(item, "joint_stiction", item.effort, item.stiffness, item.damping, **on)


def _bushing(item: elements.BushingSpec, rows: ModelRows) -> Element:
    for text in axes_problems(item.axis, item.axis2, "it"):
        raise Trouble(text, "axis")
    ends = [on_body(Attachment(body, item.point), rows, key) for key, body in (("parent", item.parent), ("child", item.child))]
    (a, point_a), (b, point_b) = ends
    if a == b:
        raise Trouble(f'it joins "{item.child}" to itself. Let parent and child be two bodies.', "child")
    values = *item.stiffness, *item.turning_stiffness, *item.damping, *item.turning_damping
    where = {"body_a": a, "body_b": b, "point_a": point_a, "point_b": point_b, "axes": rows_of(axes_of(item.axis, item.axis2))}
    return _element(item, "bushing", *values, **where)


def _force(item: elements.ForceSpec, rows: ModelRows) -> Element:
    body, point = on_body(item, rows, ground=False)
    if item.axes not in ("world", "body"):
        raise Trouble(f'axes is "{item.axes}". Give "world" or "body".', "axes")
    return _element(item, "force", *item.force, *item.moment, item.axes == "world", body_a=body, point_a=point)


MAKERS: dict[type[Any], Callable[[Any, ModelRows], Element]] = {
    elements.JointSpring: _joint_spring,
    elements.LineSpring: _line_spring,
    elements.SumSpring: lambda item, rows: _element(
        item, "joint_spring", item.stiffness, item.rest, item.preload, **_sum(item, rows)
    ),
    elements.SumDamper: lambda item, rows: _element(item, "joint_damper", item.damping, **_sum(item, rows)),
    elements.JointDamper: lambda item, rows: _element(item, "joint_damper", item.damping, **on_joint(item, rows, rates=True)),
    elements.LineDamper: lambda item, rows: _element(item, "spring_damper", 0.0, item.damping, 0.0, 0.0, **between(item, rows)),
    elements.FrictionSpec: _friction,
    elements.StopSpec: _stop,
    elements.MotorSpec: _motor,
    elements.BushingSpec: _bushing,
    elements.ForceSpec: _force,
}
