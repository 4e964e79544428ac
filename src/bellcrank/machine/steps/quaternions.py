"""Quaternions of many states, made unit again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model import Model

Array = NDArray[np.float64]


def unit_quaternions(model: Model, q: Array) -> Array:
    """Rows of coordinates with their quaternions made unit."""
    q = q.copy()
    for joint, first, driven in zip(model.joints, model.q_index, model.driven, strict=True):
        if joint.quaternion is not None and not driven:
            at = first + joint.quaternion
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    return q
