"""A Spec for a model that was made from arrays, so that it can be written to a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ModelError
from ..model import Model
from ..order import outward_order
from .items import GROUND
from .shapes import MassProperties
from .spec import BodySpec, InitialSpec, JointSpec, Spec


def spec_from_arrays(model: Model) -> Spec:
    """Joint points and centres in the world, in the design position: rounded by adding up offsets, some 1e-16 m."""
    if model.elements or model.measures or model.closures or model.driven.any():
        what = "forces, motions or loops"
        raise ModelError(f'"{model.name}" was made from arrays, with {what}, and has no text. Use Mechanism.')
    origins = np.zeros((model.n + 1, 3))
    for i in outward_order(model.parents):
        origins[i] = origins[model.parents[i]] + model.position[i]
    bodies = [*model.body_names, GROUND]
    nonzero = (model.mass != 0) | model.inertia.any(axis=(1, 2)) | model.center.any(axis=1)
    return Spec(
        name=model.name,
        bodies=tuple(
            BodySpec(name, MassProperties(float(m), _tuple(o + c) if used else None, tuple(_tuple(row) for row in inertia)))
            for name, m, o, c, inertia, used in zip(
                model.body_names, model.mass, origins, model.center, model.inertia, nonzero, strict=False
            )
        ),
        joints=tuple(
            JointSpec(name, joint.kind, bodies[parent], body, _tuple(origin), joint.axis, armature, joint.axis2, joint.pitch)
            for name, joint, parent, body, origin, armature in zip(
                model.joint_names, model.joints, model.parents, model.body_names, origins, _armatures(model), strict=False
            )
        ),
        initial=tuple(_starts(model)),
        gravity=_tuple(model.gravity),
        duration=model.duration,
        step=model.step,
    )


def _tuple(values: Any) -> Any:
    return tuple((np.asarray(values) + 0.0).tolist())


def _armatures(model: Model) -> list[Any]:
    found: list[Any] = []
    for joint, start in zip(model.joints, model.v_index, strict=True):
        values = _tuple(model.armature[start : start + joint.nv])
        found.append(values if any(values) else 0.0)
    return found


def _starts(model: Model) -> list[InitialSpec]:
    """Joints that do not start in the design position, or not at rest."""
    starts = []
    for name, joint, i, j in zip(model.joint_names, model.joints, model.q_index, model.v_index, strict=True):
        q, v = _tuple(model.given_q[i : i + joint.nq]), _tuple(model.given_v[j : j + joint.nv])
        if joint.nq and (q != joint.neutral or any(v)):
            starts.append(InitialSpec(name, q, v if any(v) else None))
    return starts
