"""Mechanisms as bodies that move by themselves: from q, v to the bodies' poses and velocities, and back.

code   meaning                                                 shape
r      centres of mass, in the world                           (..., n, 3)
p      quaternions of the bodies' axes                         (..., n, 4)
v      velocities of the centres, in world axes                (..., n, 3)
w      angular velocities, in the bodies' own axes             (..., n, 3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...joints import Joint, JointData
from ...model import Closure, Model
from ...model.manifold import quaternion_product
from ...plan.closures import closing_axes
from ...spatial import Matrix, Motion, Vector

Array = NDArray[np.float64]


class Bodies(NamedTuple):
    r: Array
    p: Array
    v: Array
    w: Array

    @property
    def axes(self) -> Array:
        """(..., n, 3, 3), from body to world."""
        return axes_of(self.p)


class Relative(NamedTuple):
    """Bodies against their parents: turn, offset in the joint's axes on the parent, velocities in the child's, quaternion."""

    R: Array
    offset: Array
    w: Array
    v: Array
    p: Array


LEAST_INERTIA = 1e-8  # of the mass times the square of a typical length


def least_inertia(model: Model, length: float) -> Array:
    """Moments of inertia of the bodies (n, 3, 3), zero ones replaced by very small ones: a thin rod, or a point mass.

    The turns that they belong to are held by joints, or have no effect on anything; but a body that moves by itself needs a
    matrix that can be inverted.
    """
    moments, axes = np.linalg.eigh(model.inertia)
    moments = np.maximum(moments, LEAST_INERTIA * model.mass[:, None] * length**2)
    return np.asarray(axes @ (moments[..., None] * np.swapaxes(axes, 1, 2)))


def axes_of(p: Array) -> Array:
    """Matrices of unit quaternions."""
    w, x, y, z = (p[..., k] for k in range(4))
    R = np.empty((*p.shape[:-1], 3, 3))
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return R


def quaternion_of(R: Array) -> Array:
    """The quaternion of a rotation matrix: the eigenvector of Bar-Itzhack's matrix, good at any angle."""
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    found = np.linalg.eigh(K)[1][:, -1]
    return np.asarray(found if found[0] >= 0 else -found)


class Converter:
    """Joint coordinates to bodies and back."""

    def __init__(self, dynamics: Dynamics):
        self.dynamics, self.model = dynamics, dynamics.model
        self.axes = np.array([_axes(joint) for joint in self.model.joints]).reshape(-1, 3, 3)
        self.order = _outward(self.model)
        self.angles = np.array([unit == "rad" for joint in self.model.joints for unit in joint.q_units], dtype=bool)

    def bodies(self, q: Array, v: Array, t: float) -> Bodies:
        """The bodies at one state."""
        model = self.model
        origins, R = self.dynamics.poses(q, t=t)
        w, at_origin = np.zeros((2, model.n + 1, 3))
        for i in self.order:
            parent, joint = model.parents[i], model.joints[i]
            own = slice(model.v_index[i], model.v_index[i] + joint.nv)
            turn, slide = self._own_motion(i, q, v[own], R[i])
            arm = origins[i] - (origins[parent] if parent >= 0 else 0.0)
            w[i] = w[parent] + turn
            at_origin[i] = at_origin[parent] + cross(w[parent], arm) + slide
        arms, local = apply(R, model.center), apply(np.swapaxes(R, 1, 2), w[:-1])
        p = np.array([quaternion_of(x) for x in R]).reshape(-1, 4)
        return Bodies(origins + arms, p, at_origin[:-1] + cross(w[:-1], arms), local)

    def _own_motion(self, i: int, q: Array, v: Array, R: Array) -> tuple[Array, Array]:
        """Velocities of a body relative to its parent, at the joint's point in world axes."""
        joint, first = self.model.joints[i], self.model.q_index[i]
        moved, data = np.zeros(6), JointData(pitch=joint.pitch or 0.0)
        for S, speed in zip(joint.directions(q[first : first + joint.nq].tolist(), data), v, strict=True):
            moved += np.array([*S.w, *S.v]) * speed
        A = R @ self.axes[i]
        return A @ moved[:3], A @ moved[3:]

    def coordinates(self, bodies: Bodies, last: Array) -> tuple[Array, Array]:
        """q (B, nq) and v (B, nv) of states in a row; ``last`` (nq,) says which turn of an angle comes before them."""
        B, model = len(bodies.r), self.model
        q, v = np.empty((B, model.nq)), np.empty((B, model.nv))
        relative = self._relative(bodies)
        for i, joint in enumerate(model.joints):
            at_q, at_v = int(model.q_index[i]), int(model.v_index[i])
            own_q, own_v = _of_joint(joint, Relative(*(x[:, i] for x in relative)))
            q[:, at_q : at_q + joint.nq], v[:, at_v : at_v + joint.nv] = own_q, own_v
        return self._continued(q, last), v

    def _relative(self, bodies: Bodies) -> Relative:
        """Every body against its parent, in the joint's axes on the one and on the other."""
        model, a = self.model, np.array(self.model.parents)
        R, p = _and_ground(bodies.axes, np.eye(3)), _and_ground(bodies.p, np.array([1.0, 0, 0, 0]))
        arms = bodies.axes @ model.center[..., None]
        turn = apply(bodies.axes, bodies.w)
        w, origin = _and_ground(turn, np.zeros(3)), _and_ground(bodies.r - arms[..., 0], np.zeros(3))
        v = _and_ground(bodies.v - cross(turn, arms[..., 0]), np.zeros(3))
        A_a, A_b = R[:, a] @ self.axes, bodies.axes @ self.axes
        to_a, to_b = np.swapaxes(A_a, -1, -2), np.swapaxes(A_b, -1, -2)
        away = origin[:, :-1] - origin[:, a]
        offset = apply(to_a, away - apply(R[:, a], model.position))
        slip = v[:, :-1] - v[:, a] - cross(w[:, a], away)
        conjugate = p[:, a] * [1, -1, -1, -1]
        return Relative(
            to_a @ A_b, offset, apply(to_b, turn - w[:, a]), apply(to_b, slip), quaternion_product(conjugate, bodies.p)
        )

    def _continued(self, q: Array, last: Array) -> Array:
        """Angles without jumps by whole turns, quaternions without changes of sign."""
        whole = np.vstack([last, q])
        whole[:, self.angles] = np.unwrap(whole[:, self.angles], axis=0)
        for i, joint in enumerate(self.model.joints):
            if joint.quaternion is not None:
                at = int(self.model.q_index[i]) + joint.quaternion
                p = whole[:, at : at + 4]
                p[1:] *= np.cumprod(np.where((p[1:] * p[:-1]).sum(1) < 0, -1.0, 1.0))[:, None]
        return whole[1:]


def _of_joint(joint: Joint, relative: Relative) -> tuple[Array, Array]:
    """q and v of a joint in many states."""
    if joint.quaternion is None:
        R = Matrix(*[Vector(*relative.R[:, i].T) for i in range(3)])
        q = joint.coordinates(R, Vector(*relative.offset.T))
    else:
        p = relative.p * [1, -1, -1, -1] if joint.turned else relative.p
        q = (*relative.offset.T[: joint.quaternion], *p.T)
    moved = Motion(Vector(*relative.w.T), Vector(*relative.v.T))
    speeds = [moved.dot(E) for E in joint.efforts(q)]
    B = len(relative.R)
    return np.array(q).T.reshape(B, -1), np.array(speeds).T.reshape(B, -1)


def _axes(joint: Joint) -> Array:
    return closing_axes(Closure("", "joint", joint=joint))


def _outward(model: Model) -> list[int]:
    """Rows, parents first."""
    order: list[int] = []
    while len(order) < model.n:
        order += [i for i in range(model.n) if i not in order and (model.parents[i] < 0 or model.parents[i] in order)]
    return order


def _and_ground(x: Array, of_ground: Array) -> Array:
    """Rows of all bodies (B, n, ...), and ground's as the last, which the parent -1 finds."""
    return np.concatenate([x, np.broadcast_to(of_ground, (len(x), 1, *of_ground.shape))], axis=1)


def apply(R: Array, x: Array) -> Array:
    return np.asarray((R @ x[..., None])[..., 0])


def cross(a: Array, b: Array) -> Array:
    """Cross products of vectors in the last place; numpy's own takes several times as long."""
    out = np.empty(a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def turned(p: Array, turn: Array) -> Array:
    """Quaternions turned by rotation vectors in their own axes; of unit length."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    step = np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * turn], axis=-1)
    moved = quaternion_product(p, step)
    return np.asarray(moved / np.linalg.norm(moved, axis=-1, keepdims=True))
