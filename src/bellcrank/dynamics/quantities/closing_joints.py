"""Joints that close loops, which own no entries of q: their coordinates, and the efforts of those that are driven."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...joints import JointData
from ...model import Closure, Model
from ...plan.closures import closing_axes
from ...spatial import Matrix, Vector
from ..evaluation import Array


def coordinates(model: Model, positions: Array, rotations: Array) -> Array:
    """(..., coordinates) in the order of model.closing_names; angles between -pi and pi."""
    columns = [_coordinates(closure, positions, rotations) for closure in model.closures if closure.joint is not None]
    return np.concatenate(columns, axis=-1) if columns else np.zeros((*positions.shape[:-2], 0))


def _coordinates(closure: Closure, positions: Array, rotations: Array) -> Array:
    joint = closure.joint
    assert joint is not None
    (A_a, p_a), (A_b, p_b) = _frames(closure, positions, rotations)
    inverse = np.swapaxes(A_a, -1, -2)
    R, offset = inverse @ A_b, np.einsum("...ij,...j->...i", inverse, p_b - p_a)
    if joint.quaternion is not None:
        return _quaternions(R)
    rows = Matrix(*[Vector(*[R[..., i, k] for k in range(3)]) for i in range(3)])
    parts = joint.coordinates(rows, Vector(*[offset[..., k] for k in range(3)]))
    return np.stack(parts, axis=-1) if parts else np.zeros((*R.shape[:-2], 0))


def _frames(closure: Closure, positions: Array, rotations: Array) -> Iterator[tuple[Array, Array]]:
    """Axes and points of a closure on both of its bodies, in the world."""
    axes, shape = closing_axes(closure), positions.shape[:-2]
    for body, point in ((closure.body_a, np.array(closure.point_a)), (closure.body_b, np.array(closure.point_b))):
        if body < 0:
            yield np.broadcast_to(axes, (*shape, 3, 3)), np.broadcast_to(point, (*shape, 3))
        else:
            R = rotations[..., body, :, :]
            yield R @ axes, positions[..., body, :] + R @ point


def _quaternions(R: Array) -> Array:
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat(canonical=True, scalar_first=True)
    return np.asarray(flat).reshape(*R.shape[:-2], 4)


def efforts(model: Model, positions: Array, rotations: Array, wrenches: Array, multipliers: Array) -> Array:
    """(..., efforts): what keeps the driven closures going, along the coordinates that their laws prescribe.

    From the wrenches on their second bodies, at their points in world axes: force, then moment.
    """
    columns = [
        _efforts(closure, positions, rotations, wrenches[..., k, :], multipliers[..., int(model.closure_index[k])])
        for k, closure in enumerate(model.closures)
        if closure.motion is not None
    ]
    return np.concatenate(columns, axis=-1) if columns else np.zeros((*positions.shape[:-2], 0))


def _efforts(closure: Closure, positions: Array, rotations: Array, wrench: Array, multiplier: Array) -> Array:
    if closure.kind == "coupler":
        return multiplier[..., None]
    force, moment = wrench[..., :3], wrench[..., 3:]
    (A_a, p_a), (A_b, p_b) = _frames(closure, positions, rotations)
    if closure.joint is None:
        way = A_a[..., 2] if closure.kind == "point_on_plane" else p_b - p_a
        return np.asarray((force * way).sum(axis=-1, keepdims=True) / np.linalg.norm(way, axis=-1, keepdims=True))
    q = _coordinates(closure, positions, rotations)
    data = JointData(pitch=closure.joint.pitch or 0.0)
    S = closure.joint.directions([q[..., k] for k in range(q.shape[-1])], data)
    inward = np.swapaxes(A_b, -1, -2)
    n, f = (np.einsum("...ij,...j->...i", inward, x) for x in (moment, force))
    parts = [sum(w * n[..., k] + v * f[..., k] for k, (w, v) in enumerate(zip(s.w, s.v, strict=True))) for s in S]
    return np.stack(np.broadcast_arrays(*parts), axis=-1)
