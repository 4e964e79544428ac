"""The columns of a measure: names and units. A vector of which no component was chosen has three, ``tip.x`` and so on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...errors import StateError
from ...joints import Joint
from ..closure import Closure
from ..element import Element
from .measure import COMPONENTS, WRENCH, Measure

EFFORT = {"rad/s": "N m", "m/s": "N"}  # unit of the effort that works with a velocity
VECTOR_FORCES = ("bushing", "force")
UNITS = {
    "position": "m", "velocity": "m/s", "acceleration": "m/s2", "turning": "rad/s", "energy": "J", "time": "s", "input": "",
    "closure_error": "",
}  # fmt: skip


class Mechanics(Protocol):
    """The names in a model, or in one that is being built."""

    @property
    def joint_names(self) -> Sequence[str]: ...

    @property
    def body_names(self) -> Sequence[str]: ...

    @property
    def parents(self) -> Sequence[int]: ...

    @property
    def joints(self) -> Sequence[Joint]: ...

    @property
    def driven(self) -> Any: ...  # by joint, whether its motion is prescribed

    @property
    def turned(self) -> Sequence[bool]: ...

    @property
    def closures(self) -> Sequence[Closure]: ...

    @property
    def elements(self) -> Sequence[Element]: ...

    @property
    def inputs(self) -> Sequence[str]: ...


def columns_of(model: Mechanics, measure: Measure) -> list[tuple[str, str]]:
    """Name and unit of each column; the unit is "" where it is not known."""
    if measure.kind == "reaction":
        units = ["N"] * 3 + ["N m"] * 3
        if measure.component is None:
            return [(f"{measure.name}.{part}", unit) for part, unit in zip(WRENCH, units, strict=True)]
        which = {"force": 0, "moment": 3}.get(str(measure.component), measure.component)
        return [(measure.name, units[int(which)])]
    unit = unit_of(model, measure)
    return [(f"{measure.name}.{axis}", unit) for axis in COMPONENTS] if is_vector(model, measure) else [(measure.name, unit)]


def is_vector(model: Mechanics, measure: Measure) -> bool:
    """Whether it has three columns."""
    if measure.component is not None:
        return False
    if measure.kind == "closure":
        return model.closures[measure.closure].kind == "point_on_line"
    if measure.kind == "element":
        return measure.part in ("", "force") and _element(model, measure).kind in VECTOR_FORCES
    return measure.kind in ("position", "velocity", "acceleration", "turning", "momentum")


def unit_of(model: Mechanics, measure: Measure) -> str:
    kind, part = measure.kind, measure.part
    if kind in UNITS:
        return UNITS[kind]
    if kind in ("distance", "angle"):
        return {"distance": "m", "angle": "rad"}[kind] + ("/s" if part == "rate" else "")
    if kind == "momentum":
        return "kg m/s" if part == "linear" else "kg m2/s"
    if part in ("power", "energy"):
        return "W" if part == "power" else "J"
    if kind == "element":
        return element_unit(model, _element(model, measure))
    if kind == "closure" or (kind == "drive" and measure.closure >= 0 and model.closures[measure.closure].joint is None):
        closure = model.closures[measure.closure]
        return "" if closure.kind == "coupler" and not closure.mesh else "N m" if closure.kind == "perpendicular" else "N"
    if kind == "expression":
        return measure.unit
    joint = joint_of(model, measure)
    if kind == "drive":
        return EFFORT[joint.v_units[measure.dof]]
    if not joint.mechanical:
        return rate_unit(joint.v_units[0]) if part == "a" else joint.v_units[0]
    return {"": joint.q_units, "q": joint.q_units, "v": joint.v_units}.get(part, tuple(f"{unit}2" for unit in joint.v_units))[
        measure.dof
    ]


def rate_unit(unit: str) -> str:
    """Unit of the rate of a user-defined state; "" where its unit is not known."""
    return f"{unit}/s" if unit else ""


def joint_of(model: Mechanics, measure: Measure) -> Joint:
    """The joint of the tree, or the one that closes a loop, that a measure is of."""
    joint = model.closures[measure.closure].joint if measure.closure >= 0 else model.joints[measure.joint]
    assert joint is not None
    return joint


def _element(model: Mechanics, measure: Measure) -> Element:
    return model.elements[element_index(model, measure)]


def element_index(model: Mechanics, measure: Measure) -> int:
    for k, element in enumerate(model.elements):
        if element.name == measure.element:
            return k
    raise StateError(f'measure "{measure.name}" is of "{measure.element}", but the model has no such force element')


def element_unit(model: Mechanics, e: Element) -> str:
    """N, or N m where an element acts on an angle or against a turn."""
    if e.kind == "turning_spring":
        return EFFORT["rad/s"]
    if e.kind == "state_rate":
        return rate_unit(model.joints[e.joint].v_units[0])
    joint = model.joints[e.joint] if e.joint >= 0 else model.closures[e.closure].joint if e.closure >= 0 else None
    return "N" if joint is None else EFFORT[joint.v_units[e.dof]]
