"""The same mechanism with its loops cut at other joints, so that a joint that closes a loop gets coordinates of its own.

Coordinates mean the same wherever a loop is cut, so that they are carried over by their names.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..errors import ModelError, StateError
from ..model import Model, Problems
from ..model.building.build import build_resolved
from ..model.building.resolve import without_formulas
from ..model.spec.spec import JointSpec

Array = NDArray[np.float64]


def joint_of(model: Model, coordinate: str) -> str:
    """The joint of a coordinate, ``nut`` of ``nut.slide``, among those that close loops and those of the tree."""
    names = {*model.joint_names, *(closure.name for closure in model.closures if closure.joint is not None)}
    return coordinate if coordinate in names else coordinate.rpartition(".")[0]


def recut(model: Model, kept: set[str]) -> Model:
    """The mechanism, for kinematics alone, with the joints ``kept`` in its tree and others cut instead."""
    if model.spec is None:
        raise StateError(
            f"model {model.name!r} was made from arrays, and its loops cannot be cut elsewhere: use one of its own "
            f"coordinates, {', '.join(model.q_names[:10])}"
        )
    spec = without_formulas(model.spec)

    def bare(joint: JointSpec) -> JointSpec:
        cut = False if joint.name in kept else joint.cut if joint.child_point is not None else None
        return replace(joint, cut=cut, armature=0.0)

    joints = tuple(map(bare, spec.joints))
    try:
        return build_resolved(replace(spec, joints=joints, elements=(), measures=(), inputs=(), initial=()), Problems())
    except ModelError as error:
        names = ", ".join(f"'{name}'" for name in sorted(kept))
        raise StateError(f"no loop can be cut so that all of {names} keep their coordinates: {error}") from None


def carried_over(dynamics: Dynamics, q: Array, into: Model, t: float) -> Array:
    """The coordinates of a configuration as another cut of the same mechanism has them; q is (nq,) or (B, nq)."""
    model = dynamics.model
    values = dict(zip(model.q_names, np.moveaxis(q, -1, 0), strict=True))
    if model.closing_names:
        values |= zip(model.closing_names, np.moveaxis(dynamics.closing_coordinates(q, t=t), -1, 0), strict=True)
    return np.stack([values[name] for name in into.q_names], axis=-1)


def near_turns(model: Model, q: Array, start: Array, others: set[str]) -> Array:
    """Angles that are known up to whole turns only, those not of ``others``, without jumps and near where they start."""
    units = [unit for joint, driven in zip(model.joints, model.driven, strict=True) if not driven for unit in joint.q_units]
    whole = np.vstack([start, np.atleast_2d(q)])
    for k, (name, unit) in enumerate(zip(model.q_names, units, strict=True)):
        if name not in others and unit == "rad":
            whole[:, k] = np.unwrap(whole[:, k])
    return whole[1:].reshape(q.shape)


def completed(J: Array, right: Array, known: dict[str, float], names: tuple[str, ...]) -> Array:
    """x with the known entries, and the others from J x = right."""
    x = np.array([known.get(name, 0.0) for name in names])
    free = np.array([name not in known for name in names])
    if free.any():
        x[free] = np.linalg.lstsq(J[:, free], right - J @ x, rcond=None)[0]
    return x
