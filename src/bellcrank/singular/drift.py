"""Coordinates moved along velocities: model.manifold.displaced for one state, in plain numbers and so ten times faster."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from ..model.manifold import scalar_coordinates, turning_joints

Array = NDArray[np.float64]
Triple = tuple[float, float, float]


class Drift:
    def __init__(self, model: Model):
        self._in_q, self._in_v = scalar_coordinates(model)
        self._turning = list(turning_joints(model))

    def __call__(self, q: Array, d: Array) -> Array:
        """q moved by the displacement d (nv,)."""
        new = q.copy()
        new[self._in_q] += d[self._in_v]
        for at in self._turning:
            p, turn = q[at.quaternion].tolist(), d[at.angular].tolist()
            if at.free:
                new[at.position] += _rotated(p, _along_screw(turn, d[at.linear].tolist()))
            new[at.quaternion] = _turned(p, turn)
        return new


def _cross(a: Sequence[float], b: Sequence[float]) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _turned(p: Sequence[float], turn: Sequence[float]) -> list[float]:
    """The quaternion p (1, 0) exp(turn), of unit length."""
    w, x, y, z = p
    angle = hypot(*turn)
    s = sin(angle / 2) / angle if angle > 1e-8 else 0.5
    c, i, j, k = cos(angle / 2), s * turn[0], s * turn[1], s * turn[2]
    moved = (
        w * c - x * i - y * j - z * k,
        w * i + x * c + y * k - z * j,
        w * j - x * k + y * c + z * i,
        w * k + x * j - y * i + z * c,
    )
    length = sqrt(sum(part * part for part in moved))
    return [part / length for part in moved]


def _rotated(p: Sequence[float], x: Sequence[float]) -> Triple:
    """x turned by the unit quaternion p: x + 2 u x (u x x + w x)."""
    u = p[1:]
    a, b, c = _cross(u, x)
    t = _cross(u, (a + p[0] * x[0], b + p[0] * x[1], c + p[0] * x[2]))
    return x[0] + 2 * t[0], x[1] + 2 * t[1], x[2] + 2 * t[2]


def _along_screw(turn: Sequence[float], slide: Sequence[float]) -> Triple:
    """Where constant velocities in moving axes lead: x + b t x x + c t x (t x x)."""
    angle = hypot(*turn)
    if angle < 0.02:
        b, c = 0.5 - angle**2 / 24 * (1 - angle**2 / 30), (1 - angle**2 / 20 * (1 - angle**2 / 42)) / 6
    else:
        b, c = (1 - cos(angle)) / angle**2, (angle - sin(angle)) / angle**3
    across = _cross(turn, slide)
    again = _cross(turn, across)
    return tuple(x + b * y + c * z for x, y, z in zip(slide, across, again, strict=True))  # type: ignore[return-value]
