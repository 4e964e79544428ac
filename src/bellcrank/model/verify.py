"""Checks that the arrays of a Model are consistent, and returns clean copies of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StateError
from .building.checks import QUATERNION_SLACK, check_name, check_time, duplicates
from .closure import Closure, closure_problems
from .element import ELEMENTS, MOST_TERMS, Element, element_problems
from .geometry.physics import impossible
from .measures.measure import MEASURES, Measure
from .measures.order import depends_on_state_alone
from .order import outward_order
from .spec.problems import Problems, brief

if TYPE_CHECKING:
    from ..joints import Joint
    from .model import Model

Array = NDArray[np.float64]


def verify(model: Model) -> dict[str, Array]:
    """The model's arrays as floats; raises ModelError with everything that is wrong."""
    problems = Problems()
    _check_lists(model, problems)
    problems.raise_if_any()  # the shapes below follow from these
    arrays = _arrays(model, problems)
    check_time(model.duration, model.step, problems)
    problems.raise_if_any()
    arrays["inertia"] = _check_bodies(model, arrays, problems)
    _check_joints(model, arrays, problems)
    _check_motions(model, problems)
    _check_elements(model, problems)
    _check_closures(model, problems)
    problems.raise_if_any()
    return arrays


def _check_lists(model: Model, problems: Problems) -> None:
    n = len(model.joints)
    if n == 0:
        problems.add("the model has no joint. Give it one body and one joint at least.")
    for field in ("joint_names", "body_names", "parents", *(("turned",) if model.turned else ())):
        if len(getattr(model, field)) != n:
            problems.add(f"{field} has {len(getattr(model, field))} entries for {n} joints.")
    for name in (*model.body_names, *model.joint_names):
        check_name(name, problems, dots=True)
    items: tuple[Any, ...] = (*model.elements, *model.closures, *model.measures)
    outer = [*(item.name for item in items), *model.inputs]
    named = [*model.body_names, *model.joint_names, *outer]
    for name in outer:
        check_name(name, problems, dots=True)
    for name in duplicates(named):
        problems.add(f'the name "{name}" is used twice. Every body, joint, element, measure and input needs its own.')
    _check_dots(named, problems)
    _check_parents(model, problems)
    if model.limits and len(model.limits) != n:
        problems.add(f"limits has {len(model.limits)} entries for {n} joints. Give one each, None for a joint without.")
    for field in ("held_q", "held_v"):
        for name in (name for name in getattr(model, field) if name not in model.joint_names):
            problems.add(f'{field} names "{name}", which is not a joint.{problems.suggest(name, model.joint_names)}')
    for text in () if model.source is None else model.source.problems():
        problems.add(text)
    if model.motions and len(model.motions) != n:
        problems.add(f"motions has {len(model.motions)} entries for {n} joints. Give one each, None where it is free to move.")


def _check_dots(named: list[str], problems: Problems) -> None:
    """Else ``neck.w`` could be a joint, or a coordinate of the joint ``neck``."""
    known = set(named)
    for name in known:
        if "." in str(name) and name.rpartition(".")[0] in known:
            problems.add(f'the name "{name}" begins with that of "{name.rpartition(".")[0]}". Rename one of them.')


def _check_parents(model: Model, problems: Problems) -> None:
    n = len(model.parents)
    wrong = [i for i, p in enumerate(model.parents) if not -1 <= p < n]
    for i in wrong:
        problems.add(f"parents[{i}] is {model.parents[i]}. Give -1 for ground, or a row from 0 to {n - 1}.")
    if not wrong and len(outward_order(model.parents)) < n:
        lost = sorted(set(range(n)) - set(outward_order(model.parents)))
        problems.add(f"rows {brief(lost)} never reach ground by their parents. Let every chain of parents end at -1.")


def _arrays(model: Model, problems: Problems) -> dict[str, Array]:
    n, nq, nv = len(model.joints), model.nq, model.nv
    shapes: dict[str, tuple[int, ...]] = {
        "position": (n, 3),
        "mass": (n,),
        "center": (n, 3),
        "inertia": (n, 3, 3),
        "armature": (nv,),
        "gravity": (3,),
        "given_q": (nq,),
        "given_v": (nv,),
    }
    return {field: _array(field, getattr(model, field), shape, problems) for field, shape in shapes.items()}


def _array(field: str, value: object, shape: tuple[int, ...], problems: Problems) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        problems.add(f"{field} is {brief(value)}: not an array of numbers.")
        return np.zeros(shape)
    if array.shape != shape:
        problems.add(f"{field} has shape {array.shape}, but this model needs {shape}.")
    elif not np.isfinite(array).all():
        first = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        problems.add(f"{field}[{', '.join(map(str, first))}] is {array[first]}. Give finite numbers.")
    return array


def _check_bodies(model: Model, arrays: dict[str, Array], problems: Problems) -> Array:
    allowed = model.source is not None and model.source.impossible
    for i, reason in () if allowed else impossible(arrays["mass"], arrays["inertia"]):
        problems.add(f'body "{model.body_names[i]}": {reason}')
    return np.asarray((arrays["inertia"] + arrays["inertia"].transpose(0, 2, 1)) / 2)


def _check_joints(model: Model, arrays: dict[str, Array], problems: Problems) -> None:
    for k in np.flatnonzero(arrays["armature"] < 0):
        problems.add(f'the armature of "{model.v_names[k]}" is {arrays["armature"][k]:g}. Give zero or more.')
    rows = zip(model.joint_names, model.joints, model.q_index, arrays["position"], model.driven, strict=True)
    for name, joint, start, offset, driven in rows:
        if joint.kind == "free" and offset.any():
            problems.add(f'joint "{name}" is free, and its position is {offset.tolist()}. Give zero: its q says where it is.')
        if joint.quaternion is not None and not driven:
            length = float(np.linalg.norm(arrays["given_q"][start + joint.quaternion :][:4]))
            if abs(length - 1) > QUATERNION_SLACK:
                problems.add(f'joint "{name}": its quaternion in given_q has length {length:.9g}. Give a unit quaternion.')


def _check_motions(model: Model, problems: Problems) -> None:
    for name, joint, motion in zip(model.joint_names, model.joints, model.motions, strict=False):
        if motion is None:
            continue
        wanted = len(joint.law_names())
        if len(motion.laws) != wanted or wanted == 0:
            problems.add(f'joint "{name}": its motion has {len(motion.laws)} laws, and a {joint.kind} joint needs {wanted}.')
        if (motion.axis is not None) != (joint.quaternion is not None):
            problems.add(f'joint "{name}": the motion of a spherical or free joint has an axis, that of others has none.')
        elif motion.axis is not None and not 0 < np.linalg.norm(motion.axis) < np.inf:
            problems.add(f'joint "{name}": the axis of its motion is {motion.axis}. Give a finite vector that is not zero.')
        for law in motion.laws:
            for text in law.problems():
                problems.add(f'joint "{name}": {text}')


def _check_elements(model: Model, problems: Problems) -> None:
    for element in model.elements:
        for text in _element(model, element):
            problems.add(f'element "{element.name}": {text}')
    if not problems:
        _check_measures(model, problems)


def _check_measures(model: Model, problems: Problems) -> None:
    for measure in model.all_measures:
        for text in _measure(model, measure):
            problems.add(f'measure "{measure.name}": {text}')
    for element in () if problems else model.elements:
        for name in element.arguments:
            try:
                if not depends_on_state_alone(model, model.all_measures, name):
                    what = f'it reads "{name}", which forces and accelerations change'
                    problems.add(f'element "{element.name}": {what}. Let it depend on positions and velocities.')
            except StateError as error:
                problems.add(f'element "{element.name}": it reads {error}.')


def _measure(model: Model, measure: Measure) -> Iterator[str]:
    rows = (measure.joint, measure.body_a, measure.body_b, measure.axes, measure.observer)
    if measure.kind not in MEASURES:
        yield f'there is no kind "{measure.kind}". Choose from {", ".join(MEASURES)}.'
    elif not all(-1 <= row < model.n for row in rows):
        yield f"a row is not in the model. Give -1 for ground, or up to {model.n - 1}."
    elif measure.kind == "closure" or measure.closure >= 0:
        yield from _of_closure(model, measure)
    elif measure.kind in ("coordinate", "drive", "reaction") and measure.joint < 0:
        yield f"a {measure.kind} is that of a joint. Give its row, or the closure."
    elif measure.kind == "drive" and not model.driven[measure.joint]:
        yield f'joint "{model.joint_names[measure.joint]}" has no motion and so no drive.'
    elif measure.kind == "angle" and (measure.direction_a is None or measure.direction_b is None):
        yield "it is an angle without directions. Give direction_a and direction_b, or the kind coordinate with a joint."
    elif measure.kind in ("coordinate", "drive") and not 0 <= measure.dof < _dofs(model, measure):
        yield f"its dof is {measure.dof}, and the joint has {_dofs(model, measure)}."


def _dofs(model: Model, measure: Measure) -> int:
    joint = model.joints[measure.joint] if measure.closure < 0 else _closing_joint(model, measure.closure)
    assert joint is not None
    return joint.nq if measure.kind == "coordinate" and measure.part in ("", "q") else joint.nv


def _of_closure(model: Model, measure: Measure) -> Iterator[str]:
    if not measure.closure < len(model.closures) or measure.closure < 0:
        yield f"its closure is {measure.closure}, and the model has {len(model.closures)}."
        return
    closure = model.closures[measure.closure]
    if measure.kind in ("coordinate", "closure") and (closure.joint is None) != (measure.kind == "closure"):
        yield f"its closure is {measure.closure}, which is {'not a joint' if measure.kind != 'closure' else 'a joint'}."
    elif measure.kind == "coordinate" and measure.part == "a":
        yield "joints that close loops have coordinates and velocities, and no accelerations of their own."
    elif measure.kind == "coordinate" and not 0 <= measure.dof < _dofs(model, measure):
        yield f"its dof is {measure.dof}, and the joint has {_dofs(model, measure)}."
    elif measure.kind == "drive" and closure.motion is None:
        yield f'"{closure.name}" has no motion and so no drive.'
    elif measure.kind == "reaction" and closure.kind == "coupler":
        yield f'"{closure.name}" is a coupler, which has an effort along its sum and no reaction.'


def _closing_joint(model: Model, closure: int) -> Joint | None:
    return model.closures[closure].joint if closure < len(model.closures) else None


def _check_closures(model: Model, problems: Problems) -> None:
    for closure in model.closures:
        for text in (*closure_problems(closure, model.n), *_terms(model, closure)):
            problems.add(f'closure "{closure.name}": {text}')


def _terms(model: Model, closure: Closure) -> Iterator[str]:
    for row, dof, _ in closure.terms:
        if not _has_coordinate(model, row, dof):
            yield f"joint {row} has no coordinate {dof} to couple."
        elif model.driven[row]:
            yield f'joint "{model.joint_names[row]}" is driven: its coordinate is known already.'
    for row, dof, _ in closure.driven_terms:
        if not _has_coordinate(model, row, dof) or not model.driven[row]:
            yield f"joint {row} has no driven coordinate {dof}."


def _has_coordinate(model: Model, row: int, dof: int) -> bool:
    return 0 <= row < model.n and 0 <= dof < model.joints[row].nv and model.joints[row].quaternion is None


def _element(model: Model, element: Element) -> Iterator[str]:
    if element.kind not in ELEMENTS:
        yield f'there is no kind "{element.kind}". Choose from {", ".join(ELEMENTS)}.'
    elif set(element.values) != set(ELEMENTS[element.kind]):
        yield f"it has the values {', '.join(element.values)}. A {element.kind} has {', '.join(ELEMENTS[element.kind])}."
    else:
        on_joint = element.kind.startswith("joint_")
        yield from (_on_sum if element.terms else _on_joint if on_joint else _on_bodies)(model, element)
        yield from (text for text, _ in element_problems(element))


def _on_sum(model: Model, element: Element) -> Iterator[str]:
    """A spring or damper on a sum of coordinates."""
    if element.kind not in ("joint_spring", "joint_damper") or len(element.terms) > MOST_TERMS:
        yield f"only springs and dampers act on sums of coordinates, of {MOST_TERMS} at most."
    for row, dof, factor in element.terms:
        if not _has_coordinate(model, row, dof):
            yield f"joint {row} has no coordinate {dof} to act on."
        elif model.driven[row]:
            yield _is_driven(model.joint_names[row])
        if not np.isfinite(factor):
            yield f"a factor is {factor}. Give a finite number."
    if (element.joint, element.dof) != element.terms[0][:2]:
        yield "its joint and dof are not those of its first term."


def _is_driven(joint: str) -> str:
    return f'joint "{joint}" is driven, so that nothing can act on it. Remove one of the two.'


def _on_joint(model: Model, element: Element) -> Iterator[str]:
    """Something on a joint of the tree, or on one that closes a loop."""
    joint, name, driven = None, "", False
    if element.closure >= 0:
        joint = _closing_joint(model, element.closure)
        if joint is not None:
            closure = model.closures[element.closure]
            name, driven = closure.name, closure.motion is not None
        else:
            yield f"its closure is {element.closure}, which is not a joint."
    elif 0 <= element.joint < model.n:
        row = element.joint
        joint, name, driven = model.joints[row], model.joint_names[row], bool(model.driven[row])
    else:
        yield f"its joint is {element.joint}. Give a row from 0 to {model.n - 1}."
    if joint is not None:
        turns = joint.quaternion is not None and element.kind in ("joint_spring", "joint_stop", "joint_stiction")
        if turns or not 0 <= element.dof < joint.nv:
            yield f'joint "{name}" has no coordinate {element.dof} to act on.'
        elif driven:
            yield _is_driven(name)
    if element.kind == "joint_stiction" and element.closure >= 0:
        yield "friction that holds needs a joint with a coordinate, and this one closes a loop."
    if element.kind == "joint_input" and not 0 <= element.input < len(model.inputs):
        yield f"its input is {element.input}, and the model has {len(model.inputs)}."


def _on_bodies(model: Model, element: Element) -> Iterator[str]:
    if not all(-1 <= row < model.n for row in (element.body_a, element.body_b)):
        yield f"a body is not in the model. Give -1 for ground, or a row up to {model.n - 1}."
    if not np.isfinite([*element.point_a, *element.point_b]).all():
        yield "a point is not finite."
