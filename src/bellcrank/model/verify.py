"""Is a Model possible? Checks its arrays, and returns clean copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .checks import QUATERNION_SLACK, check_name, check_time, duplicates
from .order import outward_order
from .physics import impossible
from .problems import Problems, brief

if TYPE_CHECKING:
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
    problems.raise_if_any()
    return arrays


def _check_lists(model: Model, problems: Problems) -> None:
    n = len(model.joints)
    if n == 0:
        problems.add("the model has no joint. Give it one body and one joint at least.")
    for field in ("joint_names", "body_names", "parents"):
        if len(getattr(model, field)) != n:
            problems.add(f"{field} has {len(getattr(model, field))} entries for {n} joints.")
    for name in (*model.body_names, *model.joint_names):
        check_name(name, problems, dots=True)
    for name in duplicates((*model.body_names, *model.joint_names)):
        problems.add(f'the name "{name}" is used twice. Every body and joint needs its own.')
    _check_parents(model, problems)
    if model.motions and len(model.motions) != n:
        problems.add(f"motions has {len(model.motions)} entries for {n} joints. Give one each, None where it is free to move.")


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
        "initial_q": (nq,),
        "initial_v": (nv,),
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
    for i, reason in impossible(arrays["mass"], arrays["inertia"]):
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
            length = float(np.linalg.norm(arrays["initial_q"][start + joint.quaternion :][:4]))
            if abs(length - 1) > QUATERNION_SLACK:
                problems.add(f'joint "{name}": its quaternion in initial_q has length {length:.9g}. Give a unit quaternion.')
