"""Dynamics from positions alone, in extended precision: a reference that shares no formula with the recursions.

The poses of all bodies are written as products of rotations along each body's path to ground, and differentiated twice in
time by the product rule (jets). Velocities, accelerations and Jacobians follow, and with them d'Alembert's principle:

    M = sum J^T I J + armature,    tau = M a + h,    h = sum J^T (m (acc - g), Jc alpha + w x Jc w)  at a = 0

Only the arrays of Model are read, and only the meaning of q and v (DECISIONS.md) is taken from the joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Long = np.longdouble
Array = np.ndarray
Jet = tuple[Any, Any, Any]  # a value with its first and second time derivatives


def product(a: Jet, b: Jet) -> Jet:
    """(a b)'' = a'' b + 2 a' b' + a b''."""
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2 * (a[1] @ b[1]) + a[0] @ b[2]


def turned(a: Jet, b: Jet) -> Jet:
    """Matrix jet times vector jet."""
    columns = product(a, tuple(x[..., None] for x in b))  # type: ignore[arg-type]
    return columns[0][..., 0], columns[1][..., 0], columns[2][..., 0]


def cross_matrix(a: Array) -> Array:
    """a x b = cross_matrix(a) b."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    zero = 0 * x
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def of_cross_matrix(s: Array) -> Array:
    return np.stack([s[..., 2, 1] - s[..., 1, 2], s[..., 0, 2] - s[..., 2, 0], s[..., 1, 0] - s[..., 0, 1]], axis=-1) / 2


def about_axis(axis: Array, angle: Any, rate: Array, second: Array) -> Jet:
    """Rodrigues: R = 1 + sin E + (1 - cos) E^2."""
    E = cross_matrix(axis)
    s, c = np.sin(angle), np.cos(angle)
    slope, bend = c * E + s * (E @ E), c * (E @ E) - s * E
    rate, second = rate[:, None, None], second[:, None, None]
    R = np.eye(3, dtype=Long) + s * E + (1 - c) * (E @ E)
    return np.broadcast_to(R, (len(rate), 3, 3)), rate * slope, second * slope + rate**2 * bend


def quaternion_product(p: Array, q: Array) -> Array:
    w = p[..., 0] * q[..., 0] - (p[..., 1:] * q[..., 1:]).sum(-1)
    u = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([w[..., None], u], axis=-1)


def rotation(q: Array) -> Array:
    """The quadratic form that is the rotation of a unit quaternion w, x, y, z."""
    w, u = q[..., 0], q[..., 1:]
    outer = u[..., :, None] * u[..., None, :]
    square = (w**2 - (u**2).sum(-1))[..., None, None] * np.eye(3, dtype=Long)
    return square + 2 * outer + 2 * w[..., None, None] * cross_matrix(u)


def about_quaternion(q: Array, w: Array, alpha: Array) -> Jet:
    """q' = q (0, w)/2; a quadratic form R(q) = B(q, q) has R' = 2 B(q, q'), R'' = 2 B(q', q') + 2 B(q, q'')."""
    q = np.broadcast_to(q / np.sqrt((q**2).sum()), (len(w), 4))
    pure = np.concatenate([0 * w[:, :1], w], axis=1)
    rate = quaternion_product(q, pure) / 2
    second = (quaternion_product(rate, pure) + quaternion_product(q, np.concatenate([0 * w[:, :1], alpha], axis=1))) / 2

    def B(x: Array, y: Array) -> Array:
        return (rotation(x + y) - rotation(x - y)) / 4

    return rotation(q), 2 * B(q, rate), 2 * B(rate, rate) + 2 * B(q, second)


def joint_pose(joint: Any, q: Array, v: Array, a: Array) -> tuple[Jet, Jet]:
    """Rotation and shift of the child relative to where it is in the design position, for many v and a (B, nv)."""
    still = np.zeros((len(v), 3), dtype=Long)
    stay = (np.broadcast_to(np.eye(3, dtype=Long), (len(v), 3, 3)), np.zeros((len(v), 3, 3)), np.zeros((len(v), 3, 3)))
    axis = None if joint.axis is None else np.array(joint.axis, dtype=Long)
    if joint.kind == "fixed":
        return stay, (still, still, still)
    if joint.kind == "revolute":
        return about_axis(axis, q[0], v[:, 0], a[:, 0]), (still, still, still)
    if joint.kind == "prismatic":
        return stay, (still + axis * q[0], axis * v, axis * a)
    if joint.kind == "spherical":
        return about_quaternion(q, v, a), (still, still, still)
    if joint.kind == "free":
        R = about_quaternion(q[3:], v[:, 3:], a[:, 3:])
        moving = np.einsum("bij,bj->bi", R[0], v[:, :3])
        gaining = np.einsum("bij,bj->bi", R[1], v[:, :3]) + np.einsum("bij,bj->bi", R[0], a[:, :3])
        return R, (still + q[:3], moving, gaining)
    raise NotImplementedError(f"the reference has no {joint.kind} joint yet: add it here")


@dataclass
class Motion:
    """Of every body, for many v and a: arrays (n, B, ...) in the world's axes."""

    R: Array
    p: Array  # origin
    p_rate: Array
    p_second: Array
    c: Array  # centre of mass
    c_rate: Array
    c_second: Array
    w: Array
    alpha: Array


def motion(model: Any, q: Array, v: Array, a: Array) -> Motion:
    q, v, a = (np.asarray(x, dtype=Long) for x in (q, np.atleast_2d(v), np.atleast_2d(a)))
    poses: dict[int, tuple[Jet, Jet]] = {}
    for i in outward(model.parents):
        joint, iq, iv = model.joints[i], int(model.q_index[i]), int(model.v_index[i])
        R, x = joint_pose(joint, q[iq : iq + joint.nq], v[:, iv : iv + joint.nv], a[:, iv : iv + joint.nv])
        x = (x[0] + model.position[i].astype(Long), x[1], x[2])
        if model.parents[i] >= 0:
            R_parent, p_parent = poses[model.parents[i]]
            x = tuple(s + t for s, t in zip(p_parent, turned(R_parent, x), strict=True))  # type: ignore[assignment]
            R = product(R_parent, R)
        poses[i] = R, x
    rows = []
    for i in range(model.n):
        R, p = poses[i]
        c = [p[k] + R[k] @ model.center[i].astype(Long) for k in range(3)]
        back = np.swapaxes(R[0], -1, -2)
        rows.append((R[0], *p, *c, of_cross_matrix(R[1] @ back), of_cross_matrix(R[2] @ back)))
    return Motion(*(np.array(column) for column in zip(*rows, strict=True)))


def outward(parents: Any) -> list[int]:
    """Bodies by their distance from ground."""

    def depth(i: int) -> int:
        return 0 if parents[i] < 0 else 1 + depth(parents[i])

    return sorted(range(len(parents)), key=depth)


@dataclass
class Dynamics:
    """M a + h = tau at one state."""

    M: Array
    h: Array
    jacobian: Array  # (n, 6, nv): velocity of the centre, angular velocity

    def acceleration(self, tau: Array) -> Array:
        """A solve in double precision, refined with residuals in extended precision."""
        right = np.asarray(tau, dtype=Long) - self.h
        M = self.M.astype(float)
        a = np.zeros(len(right), dtype=Long)
        for _ in range(4):
            a = a + np.linalg.solve(M, (right - self.M @ a).astype(float))
        return a

    def amplification(self, tau: Array) -> float:
        """How much the relative error of the data may grow in the accelerations (Skeel's condition number of the solve)."""
        M = self.M.astype(float)
        a = self.acceleration(tau).astype(float)
        spread = np.abs(np.linalg.inv(M)) @ (np.abs(M) @ np.abs(a) + np.abs(tau) + np.abs(self.h.astype(float)))
        return float(max(1.0, spread.max() / np.abs(a).max()))


def dynamics(model: Any, q: Array, v: Array) -> Dynamics:
    """The equations of motion at one state."""
    nv = model.nv
    columns = motion(model, q, np.eye(nv), np.zeros((nv, nv)))
    J = np.concatenate([columns.c_rate, columns.w], axis=2).transpose(0, 2, 1)
    wrench, inertia = inertia_wrenches(model, q, v, np.zeros(nv))
    M = np.diag(model.armature.astype(Long))
    for i in range(model.n):
        linear, angular = J[i, :3], J[i, 3:]
        M = M + Long(model.mass[i]) * linear.T @ linear + angular.T @ inertia[i] @ angular
    return Dynamics(M, np.einsum("nkv,nk->v", J, wrench), J)


def inertia_wrenches(model: Any, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """What the motion of each body takes besides gravity: m (acc - g), Jc alpha + w x Jc w at its centre (n, 6); Jc (n, 3, 3)."""
    m = motion(model, q, v, a)
    R = m.R[:, 0]
    Jc = R @ model.inertia.astype(Long) @ R.transpose(0, 2, 1)
    w, alpha = m.w[:, 0], m.alpha[:, 0]
    force = model.mass[:, None] * (m.c_second[:, 0] - model.gravity)
    moment = np.einsum("nij,nj->ni", Jc, alpha) + np.cross(w, np.einsum("nij,nj->ni", Jc, w))
    return np.concatenate([force, moment], axis=1), Jc


def joint_wrenches(model: Any, q: Array, v: Array, a: Array) -> Array:
    """(n, 6) force and moment through each joint at its point: the sum over everything that it carries."""
    wrench, _ = inertia_wrenches(model, q, v, a)
    m = motion(model, q, v, a)
    points, centers = m.p[:, 0], m.c[:, 0]
    result = np.zeros((model.n, 6), dtype=Long)
    for body in range(model.n):
        joint = body
        while joint >= 0:
            force = wrench[body, :3]
            result[joint, :3] += force
            result[joint, 3:] += wrench[body, 3:] + np.cross(centers[body] - points[joint], force)
            joint = model.parents[joint]
    return result


@dataclass
class Totals:
    kinetic: Any
    potential: Any
    linear: Array
    angular: Array  # about the world's origin


def totals(model: Any, q: Array, v: Array) -> Totals:
    """Energy and momentum, summed over the bodies."""
    m = motion(model, q, v, np.zeros(model.nv))
    R, w, speed, c = m.R[:, 0], m.w[:, 0], m.c_rate[:, 0], m.c[:, 0]
    spin = np.einsum("nij,nj->ni", R @ model.inertia.astype(Long) @ R.transpose(0, 2, 1), w)
    momentum = model.mass[:, None] * speed
    return Totals(
        ((momentum * speed).sum() + (spin * w).sum() + (model.armature * np.asarray(v) ** 2).sum()) / 2,
        -(model.mass[:, None] * c * model.gravity).sum(),
        momentum.sum(axis=0),
        (spin + np.cross(c, momentum)).sum(axis=0),
    )
