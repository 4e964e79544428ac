"""Configurations as a manifold: displacements along the directions of v, on joints with quaternions too.

A displacement d (nv,) is a motion at the constant velocity d for one unit of time: dq/ds = rates(q, d), s from 0 to 1. For a
spherical joint it is a rotation vector in the child's axes, for a free joint a screw in the body's axes, for all others the
change of the coordinates.

code   meaning
E      (nq, nv)  dq/dt = E v
E+     (nv, nq)  velocity of a rate: v = E+ dq/dt; zero for a quaternion that only changes its length
Z      (nv, nv)  of two motions side by side, the displacement from one to the other changes by d' = dv + Z d
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import cos, hypot, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import Model

Array = NDArray[np.float64]
Triple = tuple[float, float, float]


class Turning(NamedTuple):
    """The places of a joint's quaternion in q and of its angular velocity in v; of a free joint, position and velocity too."""

    quaternion: slice
    angular: slice
    position: slice
    linear: slice

    @property
    def free(self) -> bool:
        return self.linear.stop > self.linear.start


def turning_joints(model: Model) -> Iterator[Turning]:
    for joint, q, v, driven in zip(model.joints, model.q_index, model.v_index, model.driven, strict=True):
        if joint.quaternion is not None and not driven:
            at, turns = int(q) + joint.quaternion, int(v) + joint.nv - 3
            yield Turning(slice(at, at + 4), slice(turns, turns + 3), slice(int(q), at), slice(int(v), turns))


def unit_quaternions(model: Model, q: Array) -> Array:
    """Coordinates, with leading dimensions or without, with their quaternions made unit."""
    q = q.copy()
    for at in turning_joints(model):
        q[..., at.quaternion] /= np.linalg.norm(q[..., at.quaternion], axis=-1, keepdims=True)
    return q


def scalar_coordinates(model: Model) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places in q and in v of the coordinates whose rate is their velocity."""
    q, v = np.ones(model.nq, dtype=bool), np.ones(model.nv, dtype=bool)
    for at in turning_joints(model):
        q[at.position.start : at.quaternion.stop] = False
        v[at.linear.start : at.angular.stop] = False
    v[list(model.state_places)] = False
    return np.flatnonzero(q), np.flatnonzero(v)


def displaced(model: Model, q: Array, d: Array) -> Array:
    """q moved by the displacement d; both may have leading dimensions."""
    shape = np.broadcast_shapes(q.shape[:-1], d.shape[:-1])
    new = np.broadcast_to(q, (*shape, model.nq)).copy()
    in_q, in_v = scalar_coordinates(model)
    new[..., in_q] += d[..., in_v]
    for at in turning_joints(model):
        turn = d[..., at.angular]
        if at.free:
            new[..., at.position] += rotated(q[..., at.quaternion], _along_screw(turn, d[..., at.linear]))
        moved = quaternion_product(q[..., at.quaternion], _exponential(turn))
        new[..., at.quaternion] = moved / np.linalg.norm(moved, axis=-1, keepdims=True)
    return new


def rate_matrix(model: Model, q: Array) -> Array:
    """E."""
    E = np.zeros((model.nq, model.nv))
    E[scalar_coordinates(model)] = 1.0
    for at in turning_joints(model):
        p = q[at.quaternion]
        E[at.quaternion, at.angular] = 0.5 * _left(p)[:, 1:]
        if at.free:
            E[at.position, at.linear] = rotation(p)
    return E


def velocity_matrix(model: Model, q: Array) -> Array:
    """E+."""
    in_q, in_v = scalar_coordinates(model)
    inverse = np.zeros((model.nv, model.nq))
    inverse[in_v, in_q] = 1.0
    for at in turning_joints(model):
        p = q[at.quaternion]
        inverse[at.angular, at.quaternion] = 2.0 * _left(p)[:, 1:].T / (p @ p)
        if at.free:
            inverse[at.linear, at.position] = rotation(p).T
    return inverse


def carried(model: Model, v: Array) -> Array:
    """Z: what a displacement in moving axes does by itself, d' = dv + d x w, and x' = dx' + d x v - w x x."""
    Z = np.zeros((model.nv, model.nv))
    for at in turning_joints(model):
        w = cross_matrix(v[at.angular])
        Z[at.angular, at.angular] = -w
        if at.free:
            Z[at.linear, at.linear] = -w
            Z[at.linear, at.angular] = -cross_matrix(v[at.linear])
    return Z


def cross_matrix(a: Array) -> Array:
    """a x b = cross_matrix(a) b; a may have leading dimensions."""
    M = np.zeros((*a.shape, 3))
    M[..., (2, 0, 1), (1, 2, 0)] = a
    M[..., (1, 2, 0), (2, 0, 1)] = -a
    return M


def quaternion_product(p: Array, r: Array) -> Array:
    """w, x, y, z."""
    w = p[..., 0] * r[..., 0] - (p[..., 1:] * r[..., 1:]).sum(-1)
    u = p[..., :1] * r[..., 1:] + r[..., :1] * p[..., 1:] + np.cross(p[..., 1:], r[..., 1:])
    return np.concatenate([w[..., None], u], axis=-1)


def rotated(p: Array, x: Array) -> Array:
    """x turned by the unit quaternion p: x + 2 u x (u x x + w x)."""
    u, w = p[..., 1:], p[..., :1]
    return np.asarray(x + 2.0 * np.cross(u, np.cross(u, x) + w * x))


def rotation(p: Array) -> Array:
    """Matrices (..., 3, 3) of quaternions (..., 4) of any length."""
    unit = p / np.linalg.norm(p, axis=-1, keepdims=True)
    return np.swapaxes(rotated(unit[..., None, :], np.eye(3)), -1, -2)


def _left(p: Array) -> Array:
    """p r = _left(p) r."""
    w, x, y, z = p
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def _exponential(turn: Array) -> Array:
    """Quaternion of a rotation vector."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * turn], axis=-1)


def _along_screw(turn: Array, slide: Array) -> Array:
    """Where a motion of constant velocities slide, turn (both in moving axes) goes: x + b t x x + c t x (t x x)."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    half = np.sinc(angle / (2 * np.pi))
    b = 0.5 * half**2  # (1 - cos)/angle^2
    small = angle < 0.02
    safe = np.where(small, 1.0, angle)
    c = np.where(small, (1 - angle**2 / 20 * (1 - angle**2 / 42)) / 6, (safe - np.sin(safe)) / safe**3)
    across = np.cross(turn, slide)
    return np.asarray(slide + b * across + c * np.cross(turn, across))


class Drift:
    """``displaced`` for one state, in plain numbers and so ten times faster."""

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
                new[at.position] += _rotated(p, _led_by_screw(turn, d[at.linear].tolist()))
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


def _led_by_screw(turn: Sequence[float], slide: Sequence[float]) -> Triple:
    """Where constant velocities in moving axes lead: x + b t x x + c t x (t x x)."""
    angle = hypot(*turn)
    if angle < 0.02:
        b, c = 0.5 - angle**2 / 24 * (1 - angle**2 / 30), (1 - angle**2 / 20 * (1 - angle**2 / 42)) / 6
    else:
        b, c = (1 - cos(angle)) / angle**2, (angle - sin(angle)) / angle**3
    across = _cross(turn, slide)
    again = _cross(turn, across)
    return tuple(x + b * y + c * z for x, y, z in zip(slide, across, again, strict=True))  # type: ignore[return-value]
