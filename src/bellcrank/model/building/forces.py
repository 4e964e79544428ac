"""From the force elements and measures that the user wrote to those that the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...joints import Joint
from ...wording import counted
from ..element import ELEMENTS, MOST_TERMS, Element, element_problems
from ..measure import COMPONENTS, Measure
from ..motion import Law, Motion, Table
from ..parameters.expressions import Formula, FormulaError
from ..spec.fields import Number, Vector3, fields_of
from ..spec.problems import Problems
from ..spec.shapes import Vector, axes_of, axes_problems
from ..spec.spec import (
    GROUND,
    AngleMeasure,
    Attachment,
    BushingSpec,
    CoordinateMeasure,
    DistanceMeasure,
    ForceMeasure,
    ForceSpec,
    FormulaMeasure,
    FrictionSpec,
    JointDamper,
    JointSpec,
    JointSpring,
    LineDamper,
    LineSpring,
    MotorSpec,
    PolynomialLaw,
    PositionMeasure,
    RateLaw,
    SineLaw,
    Spec,
    StopSpec,
    SumDamper,
    SumLaw,
    SumSpring,
    TableLaw,
    VelocityMeasure,
)


@dataclass(frozen=True)
class Rows:
    """Where the names of a spec are in the model.

    joints   rows of the joints of the tree
    closing  closures of the joints that close loops
    bodies   rows of the bodies
    kinds    all joints
    origins  of the bodies, by row; the last one, -1, is ground's
    driven   joints whose motion is prescribed
    written  all joints as the user wrote them
    """

    joints: Mapping[str, int]
    closing: Mapping[str, int]
    bodies: Mapping[str, int]
    kinds: Mapping[str, Joint]
    origins: Sequence[Sequence[float]]
    driven: Collection[str]
    inputs: Sequence[str]
    written: Mapping[str, JointSpec]


class Trouble(Exception):
    """What is wrong with an item, and its key."""

    def __init__(self, text: str, key: str = "") -> None:
        super().__init__(text)
        self.key = key


def make_elements(spec: Spec, rows: Rows, problems: Problems) -> tuple[Element, ...]:
    found = []
    for item in spec.elements:
        if problems.blames(item.name):
            continue
        wrong = list(bad_signs(item))
        try:
            element = MAKERS[type(item)](item, rows)
            wrong += list(element_problems(element))
            found.append(element)
        except Trouble as trouble:
            wrong = [(str(trouble), trouble.key)]
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
            if not (math.isfinite(x) and (x > 0 or (x == 0 and kind.sign == "zero or more"))):
                yield f"{key} is {x:g} {kind.unit}. Give {kind.sign}.".replace("  ", " "), key


# --- elements


def _movable(item: Any, rows: Rows, *, acts: bool = True) -> Joint:
    """The joint that an element names, if something can act on it."""
    if item.joint not in rows.kinds:
        raise Trouble(f'it names "{item.joint}", which is no joint.{Problems().suggest(item.joint, rows.kinds)}', "joint")
    joint = rows.kinds[item.joint]
    if joint.nv == 0:
        raise Trouble(f'joint "{item.joint}" is fixed. Name a joint that can move.', "joint")
    if acts and item.joint in rows.driven:
        raise Trouble(f'joint "{item.joint}" is driven: its motion does not depend on forces. Remove one of the two.', "joint")
    return joint


def _on_joint(item: Any, rows: Rows, *, acts: bool = True, rates: bool = False) -> dict[str, Any]:
    """Row of a joint, or its closure, and the coordinate by its name; ``rates``: what acts on velocities may act on a ball."""
    joint = _movable(item, rows, acts=acts)
    if joint.quaternion is not None and not rates:
        what = f'joint "{item.joint}" is {joint.kind}: a quaternion has no single angle'
        raise Trouble(f"{what}. Use a bushing, or three revolute joints.", "joint")
    key, index = ("joint", rows.joints) if item.joint in rows.joints else ("closure", rows.closing)
    return {key: index[item.joint], "dof": _dof(item, joint)}


def _dof(item: Any, joint: Joint) -> int:
    wanted, named = item.coordinate, joint.v_names
    if wanted is None and joint.nv == 1:
        return 0
    listed = ", ".join(f'"{name}"' for name in named)
    if joint.nv == 1:
        raise Trouble(f'joint "{item.joint}" has one coordinate: remove coordinate = "{wanted}".', "coordinate")
    if wanted not in named:
        what = "it does not say which coordinate" if wanted is None else f'there is no coordinate "{wanted}"'
        raise Trouble(f'{what} of joint "{item.joint}". Choose from {listed}.', "coordinate")
    return named.index(wanted)


def on_body(end: Any, rows: Rows, key: str = "body", *, ground: bool = True) -> tuple[int, Vector]:
    """Row of a body, and the point in its own frame."""
    row = _row(end.body, rows, key, ground=ground)
    x, y, z = (float(a) - float(b) for a, b in zip(end.point, rows.origins[row], strict=True))
    return row, (x, y, z)


def _row(body: str, rows: Rows, key: str = "body", *, ground: bool = True) -> int:
    if body == GROUND and ground:
        return -1
    if body not in rows.bodies:
        hint = Problems().suggest(body, {*rows.bodies, *([GROUND] if ground else [])})
        raise Trouble(
            f'it names "{body}", which is no body that can move.{hint}'
            if not ground
            else f'it names "{body}", which is no body.{hint}',
            key,
        )
    return rows.bodies[body]


def between(item: Any, rows: Rows) -> dict[str, Any]:
    (a, point_a), (b, point_b) = on_body(item.start, rows, "from"), on_body(item.end, rows, "to")
    if a == b:
        raise Trouble(f'it begins and ends on "{item.start.body}". Let it join two bodies.', "to")
    return {"body_a": a, "body_b": b, "point_a": point_a, "point_b": point_b}


def _table(rows: Any, outside: str) -> Table | None:
    return None if rows is None else Table(tuple(float(x) for x, _ in rows), tuple(float(y) for _, y in rows), outside)


def _values(kind: str, *values: Any) -> dict[str, float]:
    return {name: float(value) for name, value in zip(ELEMENTS[kind], values, strict=True)}


def _joint_spring(item: JointSpring, rows: Rows) -> Element:
    joint = _movable(item, rows)
    if joint.quaternion is not None:
        return _turning_spring(item, joint, rows)
    on = _on_joint(item, rows)
    return Element(item.name, "joint_spring", _values("joint_spring", item.stiffness, item.rest, item.preload), **on)


def _turning_spring(item: JointSpring, joint: Joint, rows: Rows) -> Element:
    """Against the whole turn of a spherical or free joint, from the design position."""
    if item.coordinate != "turn" and (joint.kind == "free" or item.coordinate is not None):
        what = f'joint "{item.joint}" is {joint.kind}: a quaternion has no single angle'
        raise Trouble(f'{what}. Give coordinate = "turn" for a spring against all of its turn, or use a bushing.', "coordinate")
    for key in ("rest", "preload"):
        if float(getattr(item, key)):
            raise Trouble(f'a spring on the turn of joint "{item.joint}" rests in the design position: remove {key}.', key)
    ends = rows.written[item.joint]
    a, b = (_row(body, rows) for body in (ends.parent, ends.child))
    return Element(item.name, "turning_spring", _values("turning_spring", item.stiffness), body_a=a, body_b=b)


def _joint_damper(item: JointDamper, rows: Rows) -> Element:
    on = _on_joint(item, rows, rates=True)
    return Element(item.name, "joint_damper", _values("joint_damper", item.damping), **on)


def coordinate_of(name: str, rows: Rows) -> tuple[int, int]:
    """Row and degree of freedom of ``wheel``, or of ``base.x``."""
    known = {*rows.joints, *rows.closing}
    joint, wanted = (name, None) if name in known else name.rpartition(".")[::2]
    if joint not in known:
        raise Trouble(f'it names "{name}", which is no joint.{Problems().suggest(name, known)}', "joints")
    kind = rows.kinds[joint]
    if joint in rows.driven:
        raise Trouble(f'joint "{joint}" is driven: its coordinates are known already. Remove its motion, or this.', "joints")
    if joint in rows.closing:
        what = f'joint "{joint}" closes a loop and has no coordinate of its own'
        raise Trouble(f"{what}. Write cut = true in another joint of the loop.", "joints")
    if kind.nv == 0 or kind.quaternion is not None:
        raise Trouble(f'joint "{joint}" is {kind.kind} and has no coordinate that could be tied.', "joints")
    if wanted is None and kind.nv == 1:
        return rows.joints[joint], 0
    if kind.nv == 1 or wanted not in kind.v_names:
        listed = f'"{joint}"' if kind.nv == 1 else " or ".join(f'"{joint}.{x}"' for x in kind.v_names)
        raise Trouble(f'it names "{name}". Write {listed}.', "joints")
    return rows.joints[joint], kind.v_names.index(str(wanted))


def _sum(item: SumSpring | SumDamper, rows: Rows) -> tuple[tuple[int, int, float], ...]:
    """Coordinates and their factors."""
    factors = item.factors if isinstance(item.factors, tuple) else (item.factors,)
    if not 0 < len(item.joints) == len(factors) <= MOST_TERMS:
        what = f"it has {counted(len(factors), 'factor')} for {counted(len(item.joints), 'joint')}"
        raise Trouble(f"{what}. Give one each, for {MOST_TERMS} joints at most.", "factors")
    terms = [(*coordinate_of(name, rows), float(factor)) for name, factor in zip(item.joints, factors, strict=True)]
    if len({term[:2] for term in terms}) < len(terms):
        raise Trouble("it names a coordinate twice. Add its factors up.", "joints")
    if not all(math.isfinite(factor) for _, _, factor in terms):
        raise Trouble("a factor is not finite.", "factors")
    return tuple(terms)


def _sum_spring(item: SumSpring, rows: Rows) -> Element:
    terms = _sum(item, rows)
    values = _values("joint_spring", item.stiffness, item.rest, item.preload)
    return Element(item.name, "joint_spring", values, *terms[0][:2], terms=terms)


def _sum_damper(item: SumDamper, rows: Rows) -> Element:
    terms = _sum(item, rows)
    return Element(item.name, "joint_damper", _values("joint_damper", item.damping), *terms[0][:2], terms=terms)


def _friction(item: FrictionSpec, rows: Rows) -> Element:
    on = _on_joint(item, rows, rates=True)
    return Element(item.name, "joint_friction", _values("joint_friction", item.effort, item.velocity), **on)


def _stop(item: StopSpec, rows: Rows) -> Element:
    on = _on_joint(item, rows)
    if item.lower is None and item.upper is None:
        raise Trouble("it has no limit. Give lower, upper or both.")
    lower = -math.inf if item.lower is None else item.lower
    upper = math.inf if item.upper is None else item.upper
    return Element(item.name, "joint_stop", _values("joint_stop", lower, upper, item.stiffness, item.damping), **on)


def _motor(item: MotorSpec, rows: Rows) -> Element:
    on = _on_joint(item, rows, rates=True)
    given = [key for key in ("effort", "table", "input") if getattr(item, key) is not None]
    if len(given) != 1:
        raise Trouble(
            f"it has {' and '.join(given) or 'no effort'}. Give one of effort, table and input.", given[1] if given else ""
        )
    if item.input is None:
        value = 0.0 if item.effort is None else item.effort
        table = _table(item.table, item.outside)
        return Element(item.name, "joint_effort", _values("joint_effort", value), **on, table=table)
    if item.input not in rows.inputs:
        raise Trouble(f'its input "{item.input}" is not in inputs.{Problems().suggest(item.input, rows.inputs)}', "input")
    return Element(item.name, "joint_input", _values("joint_input", item.gain), **on, input=rows.inputs.index(item.input))


def _line_spring(item: LineSpring, rows: Rows) -> Element:
    ends = between(item, rows)
    if (item.stiffness is None) == (item.table is None):
        raise Trouble("give it a stiffness or a table: one of the two.", "stiffness")
    length = math.dist(_floats(item.start.point), _floats(item.end.point)) if item.length is None else item.length
    values = _values("spring_damper", item.stiffness or 0.0, item.damping, length, item.preload)
    return Element(item.name, "spring_damper", values, **ends, table=_table(item.table, item.outside))


def _line_damper(item: LineDamper, rows: Rows) -> Element:
    return Element(item.name, "spring_damper", _values("spring_damper", 0.0, item.damping, 0.0, 0.0), **between(item, rows))


def _bushing(item: BushingSpec, rows: Rows) -> Element:
    for text in axes_problems(item.axis, item.axis2, "it"):
        raise Trouble(text, "axis")
    (a, point_a), (b, point_b) = _ends_of(item, rows)
    values = _values("bushing", *item.stiffness, *item.turning_stiffness, *item.damping, *item.turning_damping)
    axes = _matrix(axes_of(item.axis, item.axis2))
    return Element(item.name, "bushing", values, -1, 0, a, b, point_a, point_b, axes)


def _ends_of(item: BushingSpec, rows: Rows) -> tuple[tuple[int, Vector], tuple[int, Vector]]:
    ends = [on_body(Attachment(body, item.point), rows, key) for key, body in (("parent", item.parent), ("child", item.child))]
    if ends[0][0] == ends[1][0]:
        raise Trouble(f'it joins "{item.child}" to itself. Let parent and child be two bodies.', "child")
    return ends[0], ends[1]


def _force(item: ForceSpec, rows: Rows) -> Element:
    body, point = on_body(item, rows, ground=False)
    if item.axes not in ("world", "body"):
        raise Trouble(f'axes is "{item.axes}". Give "world" or "body".', "axes")
    values = _values("force", *item.force, *item.moment, 1.0 if item.axes == "world" else 0.0)
    return Element(item.name, "force", values, body_a=body, point_a=point)


MAKERS: dict[type[Any], Callable[[Any, Rows], Element]] = {
    JointSpring: _joint_spring,
    LineSpring: _line_spring,
    SumSpring: _sum_spring,
    SumDamper: _sum_damper,
    JointDamper: _joint_damper,
    LineDamper: _line_damper,
    FrictionSpec: _friction,
    StopSpec: _stop,
    MotorSpec: _motor,
    BushingSpec: _bushing,
    ForceSpec: _force,
}


def _floats(values: Any) -> list[float]:
    return [float(x) for x in values]


def _matrix(a: Any) -> tuple[Vector, Vector, Vector]:
    (p, q, r), (s, t, u), (v, w, x) = (np.asarray(a) + 0.0).tolist()
    return (p, q, r), (s, t, u), (v, w, x)


# --- motion


def make_motion(item: JointSpec, joint: Joint, offset: Sequence[float]) -> Motion:
    """The laws of a driven joint, in the order of its coordinates; raises Trouble."""
    assert item.motion is not None
    axis = item.motion.axis
    wanted = joint.law_names()
    laws = dict(item.motion.laws)
    if joint.nv == 0:
        raise Trouble("it is fixed and cannot be driven. Remove its motion, or change its type.", "motion")
    if "" in laws and len(wanted) > 1:
        raise Trouble(f"it has several coordinates. Give a law for each: {', '.join(wanted)}.", "motion")
    for name in laws:
        if name and name not in wanted:
            raise Trouble(
                f'its motion gives "{name}". It has {", ".join(wanted) if wanted != ("",) else "one coordinate"}.', "motion"
            )
    if (joint.quaternion is not None) != (axis is not None) and ("angle" in laws or "" in laws or axis is not None):
        text = (
            "its motion needs an axis to turn about."
            if axis is None
            else f"a {joint.kind} joint has its own axis: remove it here."
        )
        raise Trouble(text, "motion")
    rest = dict(zip(("x", "y", "z"), (float(x) for x in offset), strict=True)) if joint.kind == "free" else {}
    alone = laws.get("")
    made = tuple(
        make_law(alone if alone is not None else laws[name])
        if alone is not None or name in laws
        else Law("polynomial", (rest.get(name, 0.0),))
        for name in wanted
    )
    for law in made:
        for text in law.problems():
            raise Trouble(text, "motion")
    return Motion(made, unit(axis) if axis is not None else (0.0, 0.0, 1.0) if joint.quaternion is not None else None)


def make_law(law: Any) -> Law:
    if isinstance(law, SumLaw):
        return Law("sum", parts=tuple(map(make_law, law.sum)))
    if isinstance(law, RateLaw):
        return Law("polynomial", (float(law.start), float(law.rate)))
    if isinstance(law, PolynomialLaw):
        many = law.polynomial if isinstance(law.polynomial, tuple) else (law.polynomial,)
        return Law("polynomial", tuple(_floats(many)))
    if isinstance(law, SineLaw):
        return Law("sine", tuple(_floats((law.offset, law.amplitude, law.frequency, law.phase))))
    assert isinstance(law, TableLaw)
    return Law("table", (), _table(law.table, law.outside))


def unit(axis: Any, what: str = "the axis of its motion", key: str = "motion") -> Vector:
    length = math.hypot(*_floats(axis))
    if not (math.isfinite(length) and length > 0):
        raise Trouble(f"{what} is {axis}. Give a vector that is not zero.", key)
    x, y, z = (float(a) / length for a in axis)
    return x, y, z


# --- measures


def make_measures(spec: Spec, rows: Rows, problems: Problems) -> tuple[Measure, ...]:
    ties = {item.name: len(rows.closing) + k for k, item in enumerate((*spec.constraints, *spec.couplers))}
    sources = Sources({item.name for item in spec.elements}, ties)
    known = {item.name: item for item in spec.measures}
    numbers = {item.name: item.value for item in spec.parameters}
    found = []
    for item in spec.measures:
        if problems.blames(item.name):
            continue
        try:
            found.append(_measure(item, rows, sources, known, numbers))
        except Trouble as trouble:
            where = item.where.at(trouble.key) if trouble.key else item.where
            problems.add(f'measure "{item.name}": {trouble}', where, item.name)
    _check_rings(known, problems)
    return tuple(found)


class Sources(NamedTuple):
    """What has a force: force elements, and by their closures constraints and couplers."""

    elements: Collection[str]
    closures: Mapping[str, int]


def _force_measure(item: ForceMeasure, rows: Rows, sources: Sources, component: int | None) -> Measure:
    name = item.element
    if name in rows.driven:
        dof = _dof(_Asked(name, item.coordinate), rows.kinds[name])
        return Measure(item.name, "drive", rows.joints.get(name, -1), dof, closure=rows.closing.get(name, -1))
    if item.coordinate is not None:
        raise Trouble(f'"{name}" is no driven joint: remove coordinate = "{item.coordinate}".', "coordinate")
    if name in sources.elements:
        return Measure(item.name, "element", element=name, component=component)
    if name in sources.closures:
        return Measure(item.name, "closure", closure=sources.closures[name], component=component)
    if name in rows.kinds:
        raise Trouble(f'joint "{name}" has no motion and so no drive: its reaction is in run.reactions.', "element")
    hint = Problems().suggest(name, {*sources.elements, *sources.closures, *rows.driven})
    raise Trouble(f'it names "{name}", which is no force element, constraint, coupler or driven joint.{hint}', "element")


class _Asked(NamedTuple):
    joint: str
    coordinate: str | None


def _measure(item: Any, rows: Rows, sources: Sources, known: Mapping[str, Any], numbers: Mapping[str, Any]) -> Measure:
    component = COMPONENTS.index(item.component) if getattr(item, "component", None) in COMPONENTS else None
    if isinstance(item, PositionMeasure):
        body, point = on_body(item, rows)
        return Measure(item.name, "position", body_a=body, point_a=point, component=component)
    if isinstance(item, DistanceMeasure):
        return Measure(item.name, "distance", **between(item, rows))
    if isinstance(item, CoordinateMeasure):
        return Measure(item.name, "angle", **_on_joint(item, rows, acts=False))
    if isinstance(item, AngleMeasure):
        a, b = _row(item.start.body, rows, "from"), _row(item.end.body, rows, "to")
        ends = unit(item.start.direction), unit(item.end.direction)
        return Measure(item.name, "angle", body_a=a, body_b=b, direction_a=ends[0], direction_b=ends[1])
    if isinstance(item, VelocityMeasure):
        (a, point_a), (b, point_b) = on_body(item, rows), (-1, (0.0, 0.0, 0.0))
        if item.relative_to is not None:
            b, point_b = on_body(item.relative_to, rows, "relative_to")
        return Measure(item.name, "velocity", body_a=a, body_b=b, point_a=point_a, point_b=point_b, component=component)
    if isinstance(item, ForceMeasure):
        return _force_measure(item, rows, sources, component)
    assert isinstance(item, FormulaMeasure)
    return Measure(item.name, "expression", expression=_expression(item.value, known, numbers))


def _expression(formula: Formula, known: Mapping[str, Any], numbers: Mapping[str, Any]) -> str:
    """The formula over measures; parameters are put in as numbers."""

    def put(name: str) -> str:
        if name in known or (name.rpartition(".")[0] in known and name.rpartition(".")[2] in COMPONENTS):
            return name
        if name in numbers:
            return f"({float(numbers[name])!r})"
        raise Trouble(f'"{name}" is neither a measure nor a parameter.{Problems().suggest(name, {*known, *numbers})}', "value")

    try:
        return formula.renamed(put).text
    except FormulaError as error:
        raise Trouble(str(error), "value") from None


def _check_rings(known: Mapping[str, Any], problems: Problems) -> None:
    """Formulas of measures must not depend on themselves."""
    needs = {
        name: [n for n in {n if n in known else n.rpartition(".")[0] for n in item.value.names} if n in known]
        for name, item in known.items()
        if isinstance(item, FormulaMeasure)
    }
    left = dict(needs)
    ready = [name for name in known if name not in left]
    waiting: dict[str, list[str]] = {}
    count = {name: len(of) for name, of in left.items()}
    for name, of in left.items():
        for need in of:
            waiting.setdefault(need, []).append(name)
        if not of:
            ready.append(name)
    while ready:
        for name in waiting.get(ready.pop(), ()):
            count[name] -= 1
            if count[name] == 0:
                ready.append(name)
    for name, open_needs in count.items():
        if open_needs and not problems.blames(name):
            problems.add(f'measure "{name}" depends on itself. Change its formula.', known[name].where.at("value"), name)
