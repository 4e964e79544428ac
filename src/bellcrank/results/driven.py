"""Coordinates of driven joints at given times, from the laws of their motion; they are not in q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..model import Law, Model


def law_values(law: Law, t: np.ndarray) -> np.ndarray:
    """A law over time; not a number outside a table, unless the table is held there."""
    if law.kind == "sum":
        return np.sum([law_values(part, t) for part in law.parts], axis=0)
    if law.kind == "polynomial":
        return np.polynomial.polynomial.polyval(t, law.values)
    if law.kind == "sine":
        offset, amplitude, frequency, phase = law.values
        return offset + amplitude * np.sin(2 * np.pi * frequency * t + phase)
    assert law.table is not None
    return np.asarray(law.table(t))


def driven_coordinates(model: Model, joint: int, t: np.ndarray) -> np.ndarray:
    """Coordinates (T, nq) of a driven joint; joints with a quaternion turn about an axis by their last law's angle."""
    motion = model.motions[joint]
    assert motion is not None
    laws = [law_values(law, t) for law in motion.laws]
    if model.joints[joint].quaternion is not None:
        assert motion.axis is not None
        axis = np.asarray(motion.axis) / np.linalg.norm(motion.axis)
        half = laws.pop() / 2
        laws += [np.cos(half), *(np.sin(half) * part for part in axis)]
    return np.stack(np.broadcast_arrays(*laws), axis=-1)
