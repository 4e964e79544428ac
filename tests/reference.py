"""Dynamics from positions alone, in extended precision: a reference that shares no formula with the recursions.

The poses of all bodies are written as products of rotations along each body's path to ground, and differentiated twice in
time by the product rule (jets). Velocities, accelerations and Jacobians follow, and with them d'Alembert's principle:

    M = sum J^T I J + armature,    tau = M a + h,    h = sum J^T (m (acc - g), Jc alpha + w x Jc w)  at a = 0

Only the arrays of Model are read, and only the meaning of q and v (DECISIONS.md) is taken from the joints. A driven joint is
one whose coordinates are known: its rows of the same equations are the efforts of its drive. A force element is what it says
of the deformation between its bodies; its wrenches follow by virtual work, from how six unit motions of each body deform it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

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
    if joint.kind == "cylindrical":
        return about_axis(axis, q[0], v[:, 0], a[:, 0]), (still + axis * q[1], axis * v[:, 1:], axis * a[:, 1:])
    if joint.kind == "screw":
        advance = axis * Long(joint.pitch)
        return about_axis(axis, q[0], v[:, 0], a[:, 0]), (still + advance * q[0], advance * v, advance * a)
    second = np.array(joint.axis2, dtype=Long)
    if joint.kind == "universal":
        return product(about_axis(axis, q[0], v[:, 0], a[:, 0]), about_axis(second, q[1], v[:, 1], a[:, 1])), (still,) * 3
    if joint.kind == "planar":
        plane = np.array([second, np.cross(axis, second)])
        return about_axis(axis, q[2], v[:, 2], a[:, 2]), (still + q[:2] @ plane, v[:, :2] @ plane, a[:, :2] @ plane)
    raise NotImplementedError(f"the reference has no {joint.kind} joint yet: add it here")


# Prescribed motions -------------------------------------------------------------------------------------------------------


def law(law: Any, t: float) -> tuple[Any, Any, Any]:
    """A coordinate at a time, with its first and second derivatives."""
    if law.kind == "polynomial":
        p = np.polynomial.Polynomial([Long(c) for c in law.values])
        return p(Long(t)), p.deriv()(Long(t)), p.deriv(2)(Long(t))
    if law.kind == "sine":
        offset, amplitude, frequency, phase = (Long(x) for x in law.values)
        w = 2 * np.arccos(Long(-1)) * frequency
        s, c = np.sin(w * t + phase), np.cos(w * t + phase)
        return offset + amplitude * s, amplitude * w * c, -amplitude * w**2 * s
    return curve(law.table, t)


def curve(table: Any, x: float) -> tuple[Any, Any, Any]:
    """A natural spline; held at the values of its ends beyond them."""
    spline = CubicSpline(table.x, table.y, bc_type="natural")
    inside = table.x[0] <= x <= table.x[-1]
    held = float(np.clip(x, table.x[0], table.x[-1]))
    return Long(spline(held)), Long(spline(held, 1) * inside), Long(spline(held, 2) * inside)


def driven_state(joint: Any, motion: Any, t: float) -> tuple[Array, Array, Array]:
    """q, v and dv/dt of a driven joint. A free one moves by x(t), so that v = R^T x' and dv/dt = R^T x'' + R'^T x'."""
    q, v, a = (np.array(x, dtype=Long) for x in zip(*(law(each, t) for each in motion.laws), strict=True))
    if joint.quaternion is None:
        return q, v, a
    axis = np.array(motion.axis, dtype=Long)
    turn = np.array([np.cos(q[-1] / 2), *(axis * np.sin(q[-1] / 2))])
    if joint.kind == "spherical":
        return turn, axis * v[-1], axis * a[-1]
    R, R_rate, _ = (x[0].T for x in about_axis(axis, q[-1], v[-1:], a[-1:]))
    return (
        np.concatenate([q[:3], turn]),
        np.concatenate([R @ v[:3], axis * v[-1]]),
        np.concatenate([R @ a[:3] + R_rate @ v[:3], axis * a[-1]]),
    )


class Freed(NamedTuple):
    """A model whose driven joints are set free, and where the degrees of freedom of the driven model are in it."""

    model: Any
    q_kept: Array
    v_kept: Array
    v_driven: Array


@cache
def freed(model: Any) -> Freed:
    """Elements act as before; a driven joint has no armature."""
    of_q = [driven for joint, driven in zip(model.joints, model.driven, strict=True) for _ in range(joint.nq)]
    of_v = [driven for joint, driven in zip(model.joints, model.driven, strict=True) for _ in range(joint.nv)]
    kept, v_kept, v_driven = np.flatnonzero(np.logical_not(of_q)), np.flatnonzero(np.logical_not(of_v)), np.flatnonzero(of_v)
    armature, neutral = np.zeros(len(of_v)), [x for joint in model.joints for x in joint.neutral]
    armature[v_kept] = model.armature
    twin = replace(model, motions=(), armature=armature, given_q=neutral, given_v=np.zeros(len(of_v)))
    return Freed(twin, kept, v_kept, v_driven)


def whole(model: Any, q: Array, v: Array, a: Array, t: float) -> tuple[Any, Array, Array, Array]:
    """The freed model and its state, with the driven coordinates as their laws say."""
    q, v, a = np.asarray(q, dtype=Long), np.asarray(v, dtype=Long), np.asarray(a, dtype=Long)
    if not model.driven.any():
        return model, q, v, a
    twin, q_kept, v_kept, _ = freed(model)
    full = [np.zeros((*x.shape[:-1], n), dtype=Long) for x, n in ((q, twin.nq), (v, twin.nv), (a, twin.nv))]
    full[0][q_kept], full[1][..., v_kept], full[2][..., v_kept] = q, v, a
    for i in np.flatnonzero(model.driven):
        state = driven_state(model.joints[i], model.motions[i], t)
        for x, values, first in zip(full, state, (twin.q_index[i], twin.v_index[i], twin.v_index[i]), strict=True):
            x[..., first : first + len(values)] = values
    return twin, *full


# Motion of the bodies -----------------------------------------------------------------------------------------------------


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


def motion(model: Any, q: Array, v: Array, a: Array, t: float = 0.0) -> Motion:
    model, q, v, a = whole(model, q, np.atleast_2d(v), np.atleast_2d(a), t)
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


# Force elements -----------------------------------------------------------------------------------------------------------


class Moving(NamedTuple):
    """A body that moves in B ways: rotation, its rates (B, 3, 3), origin, its rates (B, 3)."""

    R: Array
    R_rate: Array
    r: Array
    r_rate: Array

    def point(self, p: Any) -> tuple[Array, Array]:
        return self.r + self.R @ np.array(p, dtype=Long), self.r_rate + self.R_rate @ np.array(p, dtype=Long)


def stretch(e: Any, a: Moving, b: Moving) -> tuple[Array, Array]:
    """Length of a spring-damper (1,), and its rates (B, 1)."""
    (at_a, v_a), (at_b, v_b) = a.point(e.point_a), b.point(e.point_b)
    length = np.sqrt(((at_b - at_a) ** 2).sum())
    return np.array([length]), ((v_b - v_a) @ (at_b - at_a) / length)[:, None]


def distortion(e: Any, a: Moving, b: Moving) -> tuple[Array, Array]:
    """Of a bushing: displacement, twice the vector part of the relative quaternion, and relative spin (no coordinate)."""
    axes = np.eye(3, dtype=Long) if e.axes is None else np.array(e.axes, dtype=Long)
    A, A_rate = a.R @ axes, a.R_rate @ axes
    (at_a, v_a), (at_b, v_b) = a.point(e.point_a), b.point(e.point_b)
    x, x_rate = A.T @ (at_b - at_a), (v_b - v_a) @ A + np.einsum("bij,i->bj", A_rate, at_b - at_a)
    Q = A.T @ b.R @ axes
    Q_rate = np.swapaxes(A_rate, -1, -2) @ b.R @ axes + A.T @ b.R_rate @ axes
    cosine = np.sqrt(1 + np.trace(Q)) / 2
    phi = of_cross_matrix(Q) / cosine
    phi_rate = of_cross_matrix(Q_rate) / cosine - phi * (np.trace(Q_rate, axis1=-2, axis2=-1) / (8 * cosine**2))[:, None]
    return np.concatenate([x, phi, 0 * x]), np.concatenate([x_rate, phi_rate, of_cross_matrix(Q_rate @ Q.T)], axis=1)


def turn(a: Moving, b: Moving) -> tuple[Array, Array]:
    """Rotation vector of b relative to a (3,), and the relative spins (B, 3): theta theta' = phi . spin."""
    Q = a.R.T @ b.R
    Q_rate = np.swapaxes(a.R_rate, -1, -2) @ b.R + a.R.T @ b.R_rate
    s = of_cross_matrix(Q)
    sine = np.sqrt((s**2).sum())
    ratio = np.arctan2(sine, (np.trace(Q) - 1) / 2) / sine if sine > 1e-9 else Long(1)
    return s * ratio, of_cross_matrix(Q_rate @ Q.T)


def resistance(e: Any, value: Array, rate: Array) -> Array:
    """What an element does against its deformation: force for each number of it."""
    k = {name: Long(x) for name, x in e.values.items()}
    if e.kind == "spring_damper":
        elongation = value - k["length"]
        elastic = k["stiffness"] * elongation if e.table is None else curve(e.table, float(elongation[0]))[0]
        return -(k["preload"] + elastic + k["damping"] * rate)
    if e.kind == "turning_spring":
        return -k["stiffness"] * value
    stiffness = np.array([k[f"k{d}"] for d in ("x", "y", "z", "rx", "ry", "rz")] + [Long(0)] * 3)
    damping = np.array([k[f"c{d}"] for d in "xyz"] + [Long(0)] * 3 + [k[f"cr{d}"] for d in "xyz"])
    return -(stiffness * value + damping * rate)


def element_wrench(e: Any, bodies: list[Moving], centers: list[Array]) -> list[Array]:
    """Force and moment about the centre, on the first and on the second body.   f . twist = resistance . rates for all twists"""
    if e.kind == "force":
        axes = np.eye(3) if e.axes is None else np.array(e.axes)
        world = axes if e.values["world"] else bodies[0].R @ axes
        f, n = world @ [e.values[f"f{x}"] for x in "xyz"], world @ [e.values[f"m{x}"] for x in "xyz"]
        return [np.concatenate([f, n + np.cross(bodies[0].point(e.point_a)[0] - centers[0], f)]), np.zeros(6, dtype=Long)]
    by_kind = {"spring_damper": stretch, "turning_spring": lambda e, a, b: turn(a, b)}
    deformation = by_kind.get(e.kind, distortion)
    value, rate = deformation(e, *bodies)
    f = resistance(e, value, rate[0])
    still = [Moving(x.R, np.zeros((6, 3, 3), dtype=Long), x.r, np.zeros((6, 3), dtype=Long)) for x in bodies]
    found = []
    for k in range(2):
        shift, spin = np.eye(6, dtype=Long)[:, :3], cross_matrix(np.eye(6, dtype=Long)[:, 3:])
        x = bodies[k]
        moved = [*still]
        moved[k] = Moving(x.R, spin @ x.R, x.r, shift + spin @ (x.r - centers[k]))
        found.append(deformation(e, *moved)[1] @ f)
    return found


def element_wrenches(model: Any, q: Array, v: Array, t: float = 0.0) -> Array:
    """(n, 6) of all elements between bodies, at the bodies' centres, in world axes."""
    m = motion(model, q, v, 0 * np.asarray(v), t)
    zero = np.zeros(3, dtype=Long)
    ground = Moving(np.eye(3, dtype=Long), np.zeros((1, 3, 3), dtype=Long), zero, zero[None])
    result = np.zeros((model.n, 6), dtype=Long)
    for e in model.elements:
        if e.joint < 0:
            rows = (e.body_a, e.body_b)
            bodies = [
                ground if i < 0 else Moving(m.R[i, 0], cross_matrix(m.w[i]) @ m.R[i, 0], m.p[i, 0], m.p_rate[i]) for i in rows
            ]
            centers = [zero if i < 0 else m.c[i, 0] for i in rows]
            for i, wrench in zip(rows, element_wrench(e, bodies, centers), strict=True):
                if i >= 0:
                    result[i] += wrench
    return result


def joint_effort(e: Any, q: Any, v: Any, t: float, inputs: Any) -> Any:
    k = {name: Long(x) for name, x in e.values.items()}
    if e.kind == "joint_spring":
        return k["preload"] - k["stiffness"] * (q - k["rest"])
    if e.kind == "joint_damper":
        return -k["damping"] * v
    if e.kind == "joint_friction":
        return -k["effort"] * v / np.sqrt(v**2 + k["velocity"] ** 2)
    if e.kind == "joint_stop":
        above, below = q - k["upper"], k["lower"] - q
        push = -max(0, k["stiffness"] * above + k["damping"] * v) if above > 0 else 0
        return push + (max(0, k["stiffness"] * below - k["damping"] * v) if below > 0 else 0)
    if e.kind == "joint_effort":
        return k["value"] if e.table is None else curve(e.table, t)[0]
    assert e.kind == "joint_input"
    return k["gain"] * inputs[e.input]


def joint_efforts(model: Any, q: Array, v: Array, t: float = 0.0, inputs: Any = None) -> Array:
    """(nv,) of all elements on joints, of a model without driven joints."""
    result = np.zeros(model.nv, dtype=Long)
    for e in model.elements:
        if e.joint >= 0:
            iq, iv = model.q_index[e.joint] + e.dof, model.v_index[e.joint] + e.dof
            result[iv] += joint_effort(e, q[iq] if model.joints[e.joint].quaternion is None else None, v[iv], t, inputs)
    return result


# Equations of motion ------------------------------------------------------------------------------------------------------


@dataclass
class Dynamics:
    """M a + h = tau at one state; the rows of driven joints say the efforts of their drives."""

    M: Array
    h: Array
    drive_M: Array
    drive_h: Array

    def drive_efforts(self, a: Array) -> Array:
        """In the order of the file."""
        return self.drive_M @ np.asarray(a, dtype=Long) + self.drive_h

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


def dynamics(model: Any, q: Array, v: Array, t: float = 0.0, inputs: Any = None) -> Dynamics:
    """The equations of motion at one state."""
    twin, q, v, a = whole(model, q, v, np.zeros(model.nv), t)
    columns = motion(twin, q, np.eye(twin.nv), np.zeros((twin.nv, twin.nv)))
    J = np.concatenate([columns.c_rate, columns.w], axis=2).transpose(0, 2, 1)
    wrench, inertia = inertia_wrenches(twin, q, v, a)
    wrench = wrench - element_wrenches(twin, q, v, t)
    M = np.diag(twin.armature.astype(Long))
    for i in range(twin.n):
        linear, angular = J[i, :3], J[i, 3:]
        M = M + Long(twin.mass[i]) * linear.T @ linear + angular.T @ inertia[i] @ angular
    h = np.einsum("nkv,nk->v", J, wrench) - joint_efforts(twin, q, v, t, inputs)
    free, driven = (slice(None), slice(0, 0)) if twin is model else freed(model)[2:]
    return Dynamics(M[free][:, free], h[free], M[driven][:, free], h[driven])


def inertia_wrenches(model: Any, q: Array, v: Array, a: Array, t: float = 0.0) -> tuple[Array, Array]:
    """What the motion of each body takes besides gravity: m (acc - g), Jc alpha + w x Jc w at its centre (n, 6); Jc (n, 3, 3)."""
    m = motion(model, q, v, a, t)
    R = m.R[:, 0]
    Jc = R @ model.inertia.astype(Long) @ R.transpose(0, 2, 1)
    w, alpha = m.w[:, 0], m.alpha[:, 0]
    force = model.mass[:, None] * (m.c_second[:, 0] - model.gravity)
    moment = np.einsum("nij,nj->ni", Jc, alpha) + np.cross(w, np.einsum("nij,nj->ni", Jc, w))
    return np.concatenate([force, moment], axis=1), Jc


def joint_wrenches(model: Any, q: Array, v: Array, a: Array, t: float = 0.0) -> Array:
    """(n, 6) force and moment through each joint at its point: what all that it carries needs besides its own elements."""
    wrench = inertia_wrenches(model, q, v, a, t)[0] - element_wrenches(model, q, v, t)
    m = motion(model, q, v, a, t)
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


def totals(model: Any, q: Array, v: Array, t: float = 0.0) -> Totals:
    """Energy and momentum, summed over the bodies."""
    m = motion(model, q, v, np.zeros(model.nv), t)
    R, w, speed, c = m.R[:, 0], m.w[:, 0], m.c_rate[:, 0], m.c[:, 0]
    spin = np.einsum("nij,nj->ni", R @ model.inertia.astype(Long) @ R.transpose(0, 2, 1), w)
    momentum = model.mass[:, None] * speed
    return Totals(
        ((momentum * speed).sum() + (spin * w).sum() + (model.armature * np.asarray(v) ** 2).sum()) / 2,
        -(model.mass[:, None] * c * model.gravity).sum(),
        momentum.sum(axis=0),
        (spin + np.cross(c, momentum)).sum(axis=0),
    )
