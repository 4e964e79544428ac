"""References of items: names of bodies, joints and points become rows of the model; and the messages about wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from ...joints import Joint
from ...numbers.variable import as_number, is_finite, length_of
from ..geometry.units import Quantity, of_coordinate, wrong_unit
from ..parameters.expressions import Live
from ..spec.fields import Number, Vector3, fields_of
from ..spec.items import GROUND
from ..spec.problems import Problems
from ..spec.shapes import Vector
from ..spec.spec import JointSpec

Made = TypeVar("Made")


@dataclass(frozen=True)
class ModelRows:
    """The rows of the model by the names of a spec.

    joints   rows of the joints of the tree
    closing  closures of the joints that close loops
    bodies   rows of the bodies
    kinds    all joints
    origins  of the bodies, by row; the last one, -1, is ground's
    driven   joints whose motion is prescribed
    written  all joints as the user wrote them
    loads    inputs that friction of bearings has been found to have
    live     formulas over a run that elements have been found to have: the item, its key, the formula
    """

    joints: Mapping[str, int]
    closing: Mapping[str, int]
    bodies: Mapping[str, int]
    kinds: Mapping[str, Joint]
    origins: Sequence[Sequence[float]]
    driven: Collection[str]
    inputs: Sequence[str]
    written: Mapping[str, JointSpec]
    live: dict[str, tuple[Any, str, Live]] = field(default_factory=dict)
    loads: list[str] = field(default_factory=list)


class ItemError(Exception):
    """A problem of an item, and its key."""

    def __init__(self, text: str, key: str = "") -> None:
        super().__init__(text)
        self.key = key


def make_all(
    items: Iterable[Any],
    make: Callable[[Any], Made],
    problems: Problems,
    wrong_with: Callable[[Made], Iterable[tuple[str, str]]] = lambda made: (),
    joints: Mapping[str, Joint] = MappingProxyType({}),
    signs: bool = True,
) -> tuple[Made, ...]:
    """What can be made of the items that nobody blames; whatever is wrong with them, or with what is made, is a problem."""
    found = []
    for item in items:
        if problems.blames(item.name):
            continue
        wrong = [*bad_signs(item), *bad_units(item, joints)] if signs else []
        try:
            made = make(item)
            wrong += wrong_with(made)
            found.append(made)
        except ItemError as error:
            wrong = [(str(error), error.key)]
        for text, key in wrong:
            label = f'{item.section.removesuffix("s")} "{item.name}"'
            problems.add(f"{label}: {text}", item.where.at(key) if key else item.where, item.name)
    return tuple(found)


def bad_signs(item: Any) -> Iterator[tuple[str, str]]:
    """Numbers below what the table of its fields allows."""
    for attribute, key, kind, _, _ in fields_of(type(item)):
        value = getattr(item, attribute)
        if value is None or not isinstance(kind, Number | Vector3) or kind.sign == "any":
            continue
        for x in value if isinstance(value, tuple) else (value,):
            if isinstance(x, Live):
                continue
            if not (is_finite(x) and (x >= 0 if kind.sign == "zero or more" else x > 0)):
                yield f"{key} is {f'{x:g} {kind.unit}'.strip()}. Give {kind.sign}.", key


def bad_units(item: Any, joints: Mapping[str, Joint]) -> Iterator[tuple[str, str]]:
    """Numbers with a unit for a slide on a joint that turns, or the other way round."""
    joint, named = joints.get(getattr(item, "joint", None) or ""), getattr(item, "coordinate", None)
    if joint is not None and joint.nv > 0 and (joint.nv == 1 or named in joint.v_names):
        unit = joint.v_units[0 if joint.nv == 1 else joint.v_names.index(named)]
        turns, why = unit == "rad/s", f'joint "{item.joint}" is {joint.kind}'
    elif hasattr(item, "start"):
        turns, why = False, "it acts along a line"
    else:
        return
    for key, reason in units_of(item, turns):
        yield f"{key}: {reason}: {why}.", key


def units_of(record: Any, turns: bool) -> Iterator[tuple[str, str]]:
    """Problems of the units of a record's numbers, where its coordinate is an angle, or a slide; by key."""
    for attribute, key, kind, _, _ in fields_of(type(record)):
        value = getattr(record, attribute)
        if isinstance(value, Quantity):
            reason = wrong_unit(value, of_coordinate(getattr(kind, "unit", ""), turns))
            if reason:
                yield key, reason


def movable(item: Any, rows: ModelRows, *, acts: bool = True) -> Joint:
    """The joint that an element names, if something can act on it."""
    if item.joint not in rows.kinds:
        raise ItemError(f'it names "{item.joint}", which is not a joint.{Problems().suggest(item.joint, rows.kinds)}', "joint")
    joint = rows.kinds[item.joint]
    if joint.nv == 0:
        raise ItemError(f'joint "{item.joint}" is fixed. Name a joint that can move.', "joint")
    if acts and item.joint in rows.driven:
        raise ItemError(
            f'joint "{item.joint}" is driven: its motion does not depend on forces. Remove one of the two.', "joint"
        )
    return joint


def on_joint(item: Any, rows: ModelRows, *, acts: bool = True, rates: bool = False) -> dict[str, Any]:
    """Row of a joint, or its closure, and the coordinate by its name; ``rates``: what acts on velocities may act on a ball."""
    joint = movable(item, rows, acts=acts)
    if joint.quaternion is not None and not rates:
        what = f'joint "{item.joint}" is {joint.kind}: a quaternion has no single angle'
        raise ItemError(f"{what}. Use a bushing, or three revolute joints.", "joint")
    key, index = ("joint", rows.joints) if item.joint in rows.joints else ("closure", rows.closing)
    return {key: index[item.joint], "dof": dof_of(item.joint, item.coordinate, joint)}


def dof_of(name: str, wanted: str | None, joint: Joint) -> int:
    """The degree of freedom of a joint by the name of its coordinate, which may be left out where it has one."""
    named = joint.v_names
    if wanted is None and joint.nv == 1:
        return 0
    listed = ", ".join(f'"{name}"' for name in named)
    if joint.nv == 1:
        raise ItemError(f'joint "{name}" has one coordinate: remove coordinate = "{wanted}".', "coordinate")
    if wanted not in named:
        what = "it does not say which coordinate" if wanted is None else f'there is no coordinate "{wanted}"'
        raise ItemError(f'{what} of joint "{name}". Choose from {listed}.', "coordinate")
    return named.index(wanted)


def coordinate_of(name: str, rows: ModelRows, *, driven: bool = False) -> tuple[int, int]:
    """Row and degree of freedom of ``wheel``, or of ``base.x``; ``driven``: of a driven joint too."""
    known = {*rows.joints, *rows.closing}
    joint, wanted = (name, None) if name in known else name.rpartition(".")[::2]
    if joint not in known:
        raise ItemError(f'it names "{name}", which is not a joint.{Problems().suggest(name, known)}', "joints")
    kind = rows.kinds[joint]
    if joint in rows.driven and not driven:
        raise ItemError(f'joint "{joint}" is driven: nothing can act on it. Remove its motion, or this.', "joints")
    if joint in rows.closing:
        what = f'joint "{joint}" closes a loop and has no coordinate of its own'
        raise ItemError(f"{what}. Write cut = true in another joint of the loop.", "joints")
    if kind.nv == 0 or kind.quaternion is not None:
        raise ItemError(f'joint "{joint}" is {kind.kind} and has no coordinate that could be tied.', "joints")
    if wanted is None and kind.nv == 1:
        return rows.joints[joint], 0
    if kind.nv == 1 or wanted not in kind.v_names:
        listed = f'"{joint}"' if kind.nv == 1 else " or ".join(f'"{joint}.{x}"' for x in kind.v_names)
        raise ItemError(f'it names "{name}". Write {listed}.', "joints")
    return rows.joints[joint], kind.v_names.index(str(wanted))


def on_body(end: Any, rows: ModelRows, key: str = "body", *, ground: bool = True) -> tuple[int, Vector]:
    """Row of a body, and the point in its own frame."""
    row = row_of(end.body, rows, key, ground=ground)
    x, y, z = (as_number(a) - as_number(b) for a, b in zip(end.point, rows.origins[row], strict=True))
    return row, (x, y, z)


def row_of(body: str, rows: ModelRows, key: str = "body", *, ground: bool = True) -> int:
    """Row of a body; -1 is ground's, which may not be meant."""
    if body == GROUND and ground:
        return -1
    if body not in rows.bodies:
        hint = Problems().suggest(body, {*rows.bodies, *([GROUND] if ground else [])})
        raise ItemError(f'it names "{body}", which is not a body{"" if ground else " that can move"}.{hint}', key)
    return rows.bodies[body]


def between(item: Any, rows: ModelRows) -> dict[str, Any]:
    (a, point_a), (b, point_b) = on_body(item.start, rows, "from"), on_body(item.end, rows, "to")
    if a == b:
        raise ItemError(f'it begins and ends on "{item.start.body}". Let it join two bodies.', "to")
    return {"body_a": a, "body_b": b, "point_a": point_a, "point_b": point_b}


def designed_length(item: Any) -> Any:
    """Distance of its two points in the design position."""
    return length_of(a - b for a, b in zip(item.start.point, item.end.point, strict=True))


def unit(axis: Any, what: str = "the axis of its motion", key: str = "motion") -> Vector:
    length = length_of(axis)
    if not (is_finite(length) and length > 0):
        raise ItemError(f"{what} is {axis}. Give a vector that is not zero.", key)
    x, y, z = (as_number(a) / length for a in axis)
    return x, y, z
