"""From the force elements that the user wrote to those that the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...joints import Joint
from ...numbers.variable import as_number, is_finite, value_of
from ...wording import counted
from ..element import ELEMENTS, MOST_TERMS, Element, element_problems
from ..parameters.expressions import Live
from ..spec import elements
from ..spec.fields import XYZ
from ..spec.items import Attachment
from ..spec.laws import StateSpec
from ..spec.problems import Problems
from ..spec.shapes import axes_of, axes_problems, rows_of
from ..spec.spec import Spec
from .motions import table_of
from .references import (
    ItemError,
    ModelRows,
    between,
    coordinate_of,
    designed_length,
    make_all,
    movable,
    on_body,
    on_joint,
    row_of,
    unit,
)


def make_elements(spec: Spec, rows: ModelRows, problems: Problems) -> tuple[Element, ...]:
    def make(item: Any) -> Element:
        return MAKERS[type(item)](item, rows)

    return make_all(spec.elements, make, problems, element_problems, rows.kinds)


def make_states(spec: Spec, rows: ModelRows, problems: Problems) -> tuple[Element, ...]:
    """The rates of user-defined states, which come after the rows of the tree."""
    row = {item.name: len(rows.joints) + k for k, item in enumerate(spec.states)}

    def make(item: StateSpec) -> Element:
        if not is_finite(item.initial):
            raise ItemError(f"initial is {item.initial}. Give a finite number.", "initial")
        made = _with_formulas(item, rows, "state_rate", {"value": ("rate", item.rate)}, joint=row[item.name])
        return replace(made, name=f"rate of {item.name}")

    return make_all(spec.states, make, problems, element_problems, rows.kinds)


def _element(item: Any, kind: str, *values: Any, **where: Any) -> Element:
    return Element(item.name, kind, {name: as_number(x) for name, x in zip(ELEMENTS[kind], values, strict=True)}, **where)


def _with_formulas(item: Any, rows: ModelRows, kind: str, values: Mapping[str, tuple[str, Any]], **where: Any) -> Element:
    """An element whose values, by name with their keys, may be formulas over a run."""
    live = {name: key for name, (key, x) in values.items() if isinstance(x, Live)}
    for name, key in live.items():
        rows.live[f"{item.name}.{key}"] = (item, key.partition(".")[0], values[name][1])
    plain = {name: 0.0 if name in live else as_number(x) for name, (_, x) in values.items()}
    arguments = tuple(f"{item.name}.{key}" for key in live.values())
    return Element(
        item.name, kind, {name: plain[name] for name in ELEMENTS[kind]}, arguments=arguments, live=tuple(live), **where
    )


def _joint_spring(item: elements.JointSpring, rows: ModelRows) -> Element:
    joint = movable(item, rows)
    if joint.quaternion is not None:
        return _turning_spring(item, joint, rows)
    return _element(item, "joint_spring", item.stiffness, item.rest, item.preload, **on_joint(item, rows))


def _turning_spring(item: elements.JointSpring, joint: Joint, rows: ModelRows) -> Element:
    """Against the whole turn of a spherical or free joint, from the design position."""
    if item.coordinate != "turn" and (joint.kind == "free" or item.coordinate is not None):
        what = f'joint "{item.joint}" is {joint.kind}: a quaternion has no single angle'
        raise ItemError(
            f'{what}. Give coordinate = "turn" for a spring against all of its turn, or use a bushing.', "coordinate"
        )
    for key in ("rest", "preload"):
        if getattr(item, key):
            raise ItemError(f'a spring on the turn of joint "{item.joint}" rests in the design position: remove {key}.', key)
    ends = rows.written[item.joint]
    a, b = (row_of(body, rows) for body in (ends.parent, ends.child))
    return _element(item, "turning_spring", item.stiffness, body_a=a, body_b=b)


def _sum(item: elements.SumSpring | elements.SumDamper, rows: ModelRows) -> dict[str, Any]:
    """Coordinates and their factors, and the first coordinate by itself."""
    factors = item.factors if isinstance(item.factors, tuple) else (item.factors,)
    if not 0 < len(item.joints) == len(factors) <= MOST_TERMS:
        what = f"it has {counted(len(factors), 'factor')} for {counted(len(item.joints), 'joint')}"
        raise ItemError(f"{what}. Give one each, for {MOST_TERMS} joints at most.", "factors")
    terms = [(*coordinate_of(name, rows), as_number(factor)) for name, factor in zip(item.joints, factors, strict=True)]
    if len({term[:2] for term in terms}) < len(terms):
        raise ItemError("it names a coordinate twice. Add its factors up.", "joints")
    if not all(is_finite(factor) for _, _, factor in terms):
        raise ItemError("a factor is not finite.", "factors")
    return {"joint": terms[0][0], "dof": terms[0][1], "terms": tuple(terms)}


def _stop(item: elements.StopSpec, rows: ModelRows) -> Element:
    on = on_joint(item, rows)
    lower, upper = _limits(item)
    return _element(item, "joint_stop", lower, upper, item.stiffness, item.damping, **on)


def _limits(item: elements.StopSpec | elements.LineStop) -> tuple[Any, Any]:
    if item.lower is None and item.upper is None:
        raise ItemError("it has no limit. Give lower, upper or both.")
    return -math.inf if item.lower is None else item.lower, math.inf if item.upper is None else item.upper


def _motor(item: elements.MotorSpec, rows: ModelRows) -> Element:
    on = on_joint(item, rows, rates=True)
    given = [key for key in ("effort", "table", "input") if getattr(item, key) is not None]
    if len(given) != 1:
        what = " and ".join(given) or "no effort"
        raise ItemError(f"it has {what}. Give one of effort, table and input.", given[1] if given else "")
    if item.input is None:
        value = 0.0 if item.effort is None else item.effort
        return _with_formulas(item, rows, "joint_effort", {"value": ("effort", value)}, **on, table=table_of(item))
    if item.input not in rows.inputs:
        raise ItemError(f'its input "{item.input}" is not in inputs.{Problems().suggest(item.input, rows.inputs)}', "input")
    return _element(item, "joint_input", item.gain, **on, input=rows.inputs.index(item.input))


def _line_spring(item: elements.LineSpring, rows: ModelRows) -> Element:
    ends = between(item, rows)
    if (item.stiffness is None) == (item.table is None):
        raise ItemError("give it a stiffness or a table: one of the two.", "stiffness")
    length = designed_length(item) if item.length is None else item.length
    if item.only is not None:
        return _one_sided(item, length, item.only, ends)
    values = 0.0 if item.stiffness is None else item.stiffness, item.damping, length, item.preload
    return _element(item, "spring_damper", *values, **ends, table=table_of(item))


def _bearing(item: elements.FrictionSpec, rows: ModelRows) -> Element:
    """Friction that grows with the reaction, which is an input of its own."""
    for key in ("stiffness", "damping"):
        if getattr(item, key):
            raise ItemError(f"friction that grows with the load is smooth: remove {key}.", key)
    on = on_joint(item, rows, rates=True)
    turns = rows.kinds[item.joint].v_units[on["dof"]] == "rad/s"
    if turns and item.radius is None:
        raise ItemError(f'joint "{item.joint}" turns: give the radius of its bearing, radius = ... in m.', "radius")
    if not turns and item.radius is not None:
        raise ItemError(f'joint "{item.joint}" slides, and has no radius: remove it.', "radius")
    rows.loads.append(load_input(item.name))
    values = item.effort or 0.0, item.coefficient, 1.0 if item.radius is None else item.radius
    velocity = elements.CREEP if item.velocity is None else item.velocity
    return _element(item, "bearing_friction", *values, velocity, **on, input=len(rows.inputs) + len(rows.loads) - 1)


def load_input(name: str) -> str:
    """The input that the load of a bearing's friction is."""
    return f"load of {name}"


def _friction(item: elements.FrictionSpec, rows: ModelRows) -> Element:
    if item.coefficient is not None:
        return _bearing(item, rows)
    if item.radius is not None:
        raise ItemError(
            "a radius goes with a coefficient, of friction that grows with the load. Give it, or remove radius.", "radius"
        )
    if item.effort is None:
        raise ItemError("it has no effort. Give it, or a coefficient and the radius of the bearing.", "effort")
    if item.stiffness is None:
        if item.damping:
            raise ItemError("smooth friction has no damping: give a stiffness too, or a damper beside it.", "damping")
        on, velocity = on_joint(item, rows, rates=True), elements.CREEP if item.velocity is None else item.velocity
        return _element(item, "joint_friction", item.effort, velocity, **on)
    if item.velocity is not None:
        raise ItemError(
            "it has a velocity, of smooth friction, and a stiffness, of friction that holds. Give one of them.", "velocity"
        )
    on = on_joint(item, rows)
    if on.get("closure", -1) >= 0:
        raise ItemError(
            f'friction that holds needs a coordinate, and "{item.joint}" closes a loop. Let another joint of the loop be cut '
            "(cut = true), or leave out the stiffness.",
            "stiffness",
        )
    return _element(item, "joint_stiction", item.effort, item.stiffness, item.damping, **on)


def _bushing(item: elements.BushingSpec, rows: ModelRows) -> Element:
    for text in axes_problems(item.axis, item.axis2, "it"):
        raise ItemError(text, "axis")
    ends = [on_body(Attachment(body, item.point), rows, key) for key, body in (("parent", item.parent), ("child", item.child))]
    (a, point_a), (b, point_b) = ends
    if a == b:
        raise ItemError(f'it joins "{item.child}" to itself. Let parent and child be two bodies.', "child")
    values = *item.stiffness, *item.turning_stiffness, *item.damping, *item.turning_damping
    where = {"body_a": a, "body_b": b, "point_a": point_a, "point_b": point_b, "axes": rows_of(axes_of(item.axis, item.axis2))}
    return _element(item, "bushing", *values, **where)


def _force(item: elements.ForceSpec, rows: ModelRows) -> Element:
    body, point = on_body(item, rows, ground=False)
    if item.axes not in ("world", "body"):
        raise ItemError(f'axes is "{item.axes}". Give "world" or "body".', "axes")
    values = {
        f"{sort[0]}{axis}": (f"{sort}.{axis}", x)
        for sort in ("force", "moment")
        for axis, x in zip(XYZ, getattr(item, sort), strict=True)
    }
    world = {"world": ("axes", item.axes == "world")}
    return _with_formulas(item, rows, "force", values | world, body_a=body, point_a=point)


def _one_sided(item: Any, length: Any, only: str, ends: dict[str, Any]) -> Element:
    if getattr(item, "table", None) is not None or value_of(getattr(item, "preload", 0)):
        raise ItemError(
            f"a spring that can only {only} has a stiffness, no table and no preload. Give its length instead.", "only"
        )
    side = 1.0 if only == "pull" else -1.0
    return _element(item, "one_sided_spring", item.stiffness, item.damping, length, side, **ends)


def _cable(item: elements.CableSpec, rows: ModelRows) -> Element:
    return _one_sided(item, designed_length(item) if item.length is None else item.length, "pull", between(item, rows))


def _line_stop(item: elements.LineStop, rows: ModelRows) -> Element:
    lower, upper = _limits(item)
    return _element(item, "point_stop", lower, upper, item.stiffness, item.damping, **between(item, rows))


def _actuator(item: elements.ActuatorSpec, rows: ModelRows) -> Element:
    return _with_formulas(item, rows, "actuator", {"force": ("force", item.force)}, **between(item, rows))


def _contact(item: elements.ContactSpec, rows: ModelRows) -> Element:
    touched = item.plane if item.plane is not None else item.cylinder
    if touched is None or (item.plane is not None and item.cylinder is not None):
        raise ItemError("say what it touches: a plane or a cylinder, one of the two.", "plane")
    key = "plane" if item.plane is not None else "cylinder"
    axis = item.plane.normal if item.plane is not None else item.cylinder.axis  # type: ignore[union-attr]
    (a, point_a), (b, point_b) = on_body(item, rows), on_body(touched, rows, key)
    if a == b:
        raise ItemError(f'it is on "{item.body}", and so is what it touches. Let these be two bodies.', key)
    linear = item.law == "linear"
    exponent = (1.0 if linear else 1.5) if item.exponent is None else as_number(item.exponent)
    if exponent < 1:
        raise ItemError(
            f"exponent is {exponent:g}. Give 1 or more: below, the stiffness at the first touch has no bound.", "exponent"
        )
    radius, inside = (item.cylinder.radius, item.cylinder.inside) if item.cylinder is not None else (0.0, False)
    if item.cylinder is not None and not value_of(radius) > 0:
        raise ItemError(f"the radius of its cylinder is {value_of(radius):g} m. Give more than zero.", "cylinder")
    if inside and value_of(item.radius) >= value_of(radius):
        raise ItemError(
            f"its ball of {value_of(item.radius):g} m does not fit into the cylinder of {value_of(radius):g} m.", "radius"
        )
    values = item.stiffness, item.radius, exponent, item.damping, linear, item.friction, item.friction_velocity, radius, inside
    axes = rows_of(axes_of(unit(axis, "its direction", key), None))
    where = {"body_a": a, "body_b": b, "point_a": point_a, "point_b": point_b, "axes": axes}
    return _element(item, f"{key}_contact", *values, **where)


def _tyre(item: elements.TyreSpec, rows: ModelRows) -> Element:
    (a, point_a) = on_body(item, rows, ground=False)
    for text in axes_problems(item.up, item.forward, "it"):
        about = "forward" if "axis2" in text and "not perpendicular" not in text else "up"
        raise ItemError(text.replace("axis2", "forward").replace("axis", "up").replace(" of it", ""), about)
    numbers = {name: (name, getattr(item, name)) for name in ("radius", "stiffness", "damping", "friction", "traction")}
    numbers["velocity"] = ("friction_velocity", item.friction_velocity)
    where = {"body_a": a, "point_a": point_a, "axes": rows_of(axes_of(item.up, item.forward))}
    table = None if item.road is None else table_of(item, item.road)
    return _with_formulas(item, rows, "tyre", numbers, **where, table=table)


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
    elements.LineStop: _line_stop,
    elements.CableSpec: _cable,
    elements.ActuatorSpec: _actuator,
    elements.ContactSpec: _contact,
    elements.TyreSpec: _tyre,
}
