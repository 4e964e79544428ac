"""Checks of one item at a time: a name, a body, a joint, a start. Each adds what it finds to the problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ...errors import ModelError
from ...joints import JOINTS, Joint, make_joint
from ...numbers.variable import as_array, as_number, depends_on_design, is_finite, length_of, values_of, varied
from ...wording import counted
from ..geometry.physics import assume_possible, impossible
from ..geometry.units import wrong_unit
from ..parameters.expressions import RESERVED
from ..spec.items import GROUND, NOWHERE, PARAMETERS, Where
from ..spec.problems import Problems, brief, names
from ..spec.shapes import ORIGIN, MassProperties
from ..spec.spec import InitialSpec, JointSpec, ParameterSpec, PartsSpec, PointSpec, Spec

QUATERNION_SLACK = 1e-6


def duplicates(items: Iterable[str]) -> list[str]:
    return [item for item, count in Counter(items).items() if count > 1]


def check_name(name: object, problems: Problems, where: Where = NOWHERE, *, dots: bool = False) -> None:
    """Names are parts of paths such as ``base.x``, hence no dots, but ``dots`` for those of copies, ``left_leg.thigh``; no
    spaces at the ends, nothing unprintable."""
    if not isinstance(name, str):
        problems.add(f"the name {brief(name)} is not a string.", where)
    elif not name or name != name.strip() or not name.isprintable():
        problems.add(f"the name {brief(name)} is empty, or has blanks at its ends or unprintable characters.", where)
    elif "." in name and not (dots and all(name.split("."))):
        problems.add(f'the name "{name}" has a dot. Use "{name.replace(".", "_")}".', where, name)
    elif name in (GROUND, PARAMETERS):
        means = "the fixed world" if name == GROUND else "the parameters of the model"
        problems.add(f'the name "{name}" means {means}. Choose another.', where)


NOUNS = {
    "parameters": "parameter",
    "points": "point",
    "bodies": "body",
    "joints": "joint",
    "constraints": "constraint",
    "couplers": "coupler",
    "gears": "gear, rack or belt",
    "states": "state",
    "elements": "element",
    "measures": "measure",
    "inputs": "input",
    "assemblies": "assembly",
    "copies": "copy",
    "tables": "table",
}


def check_names(spec: Spec, problems: Problems) -> bool:
    """One namespace over everything that has a name; False where names are shared, so that nothing can be looked up.

    An assembly has its own, and so have the parameters that its copies give.
    """
    good = _check_names(spec, problems)
    for assembly in spec.assemblies:
        good &= _check_names(assembly, problems)
    for copy in spec.copies:
        good &= _unique({}, "parameter", copy.parameters, problems)
    return good


def _check_names(parts: PartsSpec, problems: Problems) -> bool:
    first: dict[str, str] = {}
    unique = True
    for field, noun in NOUNS.items():
        items = getattr(parts, field, ())
        if field == "inputs":
            items = [PointSpec(name, ORIGIN, where=parts.where.at("inputs")) for name in items]
        if field == "parameters":
            _check_parameters(items, problems)
        unique &= _unique(first, noun, items, problems)
    return unique


def _unique(first: dict[str, str], noun: str, items: Iterable[Any], problems: Problems) -> bool:
    unique = True
    for item in items:
        check_name(item.name, problems, item.where)
        if item.name in first:
            unique = False
            article = "an" if first[item.name][0] in "aei" else "a"
            text = f'the {noun} "{item.name}" has the same name as {article} {first[item.name]}. Rename one of them.'
            problems.add(text, item.where, item.name)
        first.setdefault(item.name, noun)
    return unique


def _check_parameters(items: Iterable[ParameterSpec], problems: Problems) -> None:
    """Formulas must be able to name them."""
    for item in items:
        if item.name in RESERVED:
            problems.add(
                f'the parameter "{item.name}" has the name of a function or constant. Rename it.', item.where, item.name
            )
        elif isinstance(item.name, str) and not item.name.isidentifier() and "." not in item.name:
            text = f'formulas cannot name the parameter "{item.name}". Use letters, digits and _ only.'
            problems.add(text, item.where, item.name)


def check_time(duration: Any, step: Any, problems: Problems, where: Where = NOWHERE) -> None:
    for key, value in (("duration", duration), ("step", step)):
        if value is not None and not (is_finite(value) and value > 0):
            problems.add(f"{key} is {value:g} s. Give a time greater than zero.", where.at(key))
            return
    if duration is not None and step is not None and step > duration:
        problems.add(f"step is {step:g} s, longer than the duration {duration:g} s. Make it shorter.", where.at("step"))


def check_bodies(spec: Spec, problems: Problems) -> dict[str, MassProperties]:
    """Mass properties of every body that can exist."""
    good = {}
    for body in spec.bodies:
        if problems.blames(body.name):
            continue
        found = body.shape.problems()
        for text in found:
            problems.add(f'body "{body.name}": {text}', body.where, body.name)
        if not found:
            good[body.name] = body.shape.mass_properties()
    where = {body.name: body.where for body in spec.bodies}
    allowed = spec.source is not None and spec.source.impossible
    for name, text in _impossible(good, finite_only=allowed):
        key = "mass" if as_number(good[name].mass) < 0 else "inertia"
        problems.add(f'body "{name}": {text}', where[name].at(key), name)
    return {name: properties for name, properties in good.items() if not problems.blames(name)}


def _impossible(bodies: Mapping[str, MassProperties], *, finite_only: bool) -> Iterable[tuple[str, str]]:
    masses = as_array([b.mass for b in bodies.values()])
    inertias = as_array([b.inertia for b in bodies.values()]).reshape(-1, 3, 3)
    mass, inertia = values_of(masses), values_of(inertias)
    for i in np.flatnonzero(varied(masses) | varied(inertias).any(axis=(1, 2))):
        assume_possible(masses[i], inertias[i])
    finite = np.isfinite(mass) & np.isfinite(inertia).all(axis=(1, 2))
    finite &= np.array([np.isfinite(values_of(b.center or 0.0)).all() for b in bodies.values()], dtype=bool)
    listed = list(bodies)
    for i in np.flatnonzero(~finite):
        yield listed[i], _not_finite(bodies[listed[i]])
    kept = np.flatnonzero(finite & (not finite_only))
    for k, text in impossible(mass[kept], inertia[kept]):
        yield listed[kept[k]], text


def _not_finite(body: MassProperties) -> str:
    """The first of its numbers that is none."""
    values = {"mass": body.mass, "centre of mass": body.center or ORIGIN, "inertia": body.inertia}
    what = next(key for key, value in values.items() if not np.isfinite(values_of(value)).all())
    return f"its {what} is {brief(values[what])}. Give finite numbers."


def check_joint(spec: JointSpec, problems: Problems) -> Joint | None:
    """The joint as written, not yet turned towards the tree."""
    label = f'joint "{spec.name}"'
    if spec.kind not in JOINTS:
        text = f'{label}: there is no joint type "{spec.kind}".{problems.suggest(spec.kind, JOINTS)}'
        problems.add(text, spec.where.at("type"), spec.name)
        return None
    try:
        given: Any = (spec.kind, spec.axis, spec.axis2, spec.pitch)
        joint = (make_joint if depends_on_design(given) else _made)(*given)
    except ModelError as error:
        key = next(key for key in ("pitch", "axis2", "axis") if key in str(error) or key == "axis")
        problems.add(f"{label}: {error}", spec.where.at(key), spec.name)
        return None
    for key in ("point", "child_point"):
        point: Any = getattr(spec, key)
        if point is not None and not all(map(is_finite, point)):
            problems.add(f"{label}: its {key} is {point}. Give finite numbers.", spec.where.at(key), spec.name)
    if spec.child_point is not None and not spec.cut:
        text = "it has a child_point, which only a joint that is cut out of a loop can have. Write cut = true, or remove it."
        problems.add(f"{label}: {text}", spec.where.at("child_point"), spec.name)
    _check_armature(spec, joint, problems)
    return None if problems.blames(spec.name) else joint


@lru_cache(4096)
def _made(kind: str, axis: Any, axis2: Any, pitch: Any) -> Joint:
    """Joints are immutable, and those of a large model are much alike."""
    return make_joint(kind, axis, axis2, pitch)


def _check_armature(spec: JointSpec, joint: Joint, problems: Problems) -> None:
    label, where = f'joint "{spec.name}"', spec.where.at("armature")
    values = armature_of(spec, joint.nv)
    if len(values) != joint.nv:
        text = (
            f"{label}: armature has {counted(len(values), 'value')}. Give one number, or {joint.nv} for a {joint.kind} joint."
        )
        problems.add(text, where, spec.name)
    elif any(not (is_finite(x) and x >= 0) for x in values):
        problems.add(f"{label}: armature is {brief(spec.armature)}. Give zero or more.", where, spec.name)
    elif spec.motion is not None and any(values):
        text = f"{label} is driven, and its armature changes nothing. Remove the armature or the motion."
        problems.add(text, where, spec.name)
    elif joint.nv == 0 and any(armature_of(spec, 1)):
        problems.add(f"{label} is {joint.kind} and cannot move: remove its armature.", where, spec.name)


def armature_of(spec: JointSpec, nv: int) -> tuple[float, ...]:
    """One number each direction of the joint."""
    given: Any = spec.armature
    return given if isinstance(given, tuple) else (given,) * nv


def check_initial(start: InitialSpec, joints: Mapping[str, Joint], known: Mapping[str, JointSpec], problems: Problems) -> None:
    """q and v of one joint: as many as it has, finite, quaternions of unit length."""
    if problems.blames(start.name):
        return
    if start.joint not in known:
        text = f'[initial] names "{start.joint}", which is not a joint.{problems.suggest(start.joint, known)}'
        problems.add(text, start.where)
    elif known[start.joint].motion is not None:
        text = f'[initial] gives "{start.joint}", which is driven: its motion says where it is. Remove it here.'
        problems.add(text, start.where)
    elif start.joint in joints:
        joint = joints[start.joint]
        for key, values, wanted, units in (
            ("q", start.q, joint.q_names, joint.q_units),
            ("v", start.v, joint.v_names, joint.v_units),
        ):
            if values is not None:
                _check_start(f'[initial] {key} of "{start.joint}"', values, wanted, start.where.at(key), problems)
                for reason in filter(None, map(wrong_unit, values, units)):
                    problems.add(f'[initial] {key} of "{start.joint}": {reason}.', start.where.at(key))
        if start.q is not None and len(start.q) == joint.nq and joint.quaternion is not None:
            _check_quaternion(start, start.q[joint.quaternion :], problems)


def _check_start(label: str, values: tuple[float, ...], wanted: tuple[str, ...], where: Where, problems: Problems) -> None:
    if len(values) != len(wanted):
        listed = f" ({', '.join(wanted)})" if len(wanted) > 1 else ""
        needs = f"this joint has {len(wanted)}{listed}: give as many" if wanted else "this joint cannot move: remove it"
        problems.add(f"{label} has {counted(len(values), 'value')}, but {needs}.", where)
    elif not all(map(is_finite, values)):
        problems.add(f"{label} is {brief(values)}. Give finite numbers.", where)


def _check_quaternion(start: InitialSpec, values: tuple[float, ...], problems: Problems) -> None:
    length = length_of(values)
    if not abs(length - 1) <= QUATERNION_SLACK:
        text = f'[initial] q of "{start.joint}": its quaternion (w, x, y, z) = {values} has length {length:.9g}.'
        problems.add(f"{text} Divide it by that length.", start.where.at("q"))


def check_far_side(spec: JointSpec, joint: Joint, problems: Problems) -> None:
    """Every joint can be turned round but a free one, whose coordinates are the whole pose of the body that it carries."""
    if joint.kind == "free":
        text = (
            f'joint "{spec.name}": its parent "{spec.parent}" is further from {GROUND} than its child "{spec.child}", and '
            f"a free joint gives the pose of the further body. Swap parent and child: its coordinates are then the pose of "
            f'"{spec.parent}" relative to "{spec.child}".'
        )
        problems.add(text, spec.where.at("parent"), spec.name)


def check_initial_once(spec: Spec, problems: Problems) -> None:
    twice = duplicates(start.joint for start in spec.initial)
    if twice:
        problems.add(f"[initial] has more than one entry for {names(twice)}. Keep one.", spec.where)
