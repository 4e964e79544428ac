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

from ..codegen.dynamics import Dynamics
from ..joints import Joint
from ..model import Closure, Model
from ..model.manifold import quaternion_product
from ..spatial import Matrix, Motion, Vector
from ..topology.closing import closing_axes

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


def axes_of(p: Array) -> Array:
    """Matrices of unit quaternions."""
    w, x, y, z = np.moveaxis(p, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion_of(R: Array) -> Array:
    """Of one rotation matrix: the eigenvector of Bar-Itzhack's matrix, good at any angle."""
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
        self.axes = [_axes(joint) for joint in self.model.joints]
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
            at_origin[i] = at_origin[parent] + np.cross(w[parent], arm) + slide
        arms = np.einsum("nij,nj->ni", R, model.center)
        local = np.einsum("nji,nj->ni", R, w[:-1])
        p = np.array([quaternion_of(x) for x in R]).reshape(-1, 4)
        return Bodies(origins + arms, p, at_origin[:-1] + np.cross(w[:-1], arms), local)

    def _own_motion(self, i: int, q: Array, v: Array, R: Array) -> tuple[Array, Array]:
        """Velocities of a body relative to its parent, at the joint's point in world axes."""
        joint, first = self.model.joints[i], self.model.q_index[i]
        moved = np.zeros(6)
        for S, speed in zip(joint.directions(q[first : first + joint.nq]), v, strict=True):
            moved += np.array([*S.w, *S.v]) * speed
        A = R @ self.axes[i]
        return A @ moved[:3], A @ moved[3:]

    def coordinates(self, bodies: Bodies, last: Array) -> tuple[Array, Array]:
        """q (B, nq) and v (B, nv) of states in a row; ``last`` (nq,) says which turn of an angle comes before them."""
        B, model = len(bodies.r), self.model
        q, v = np.empty((B, model.nq)), np.empty((B, model.nv))
        for i, joint in enumerate(model.joints):
            at_q, at_v = int(model.q_index[i]), int(model.v_index[i])
            q[:, at_q : at_q + joint.nq], v[:, at_v : at_v + joint.nv] = self._of_joint(i, joint, bodies)
        whole = np.vstack([last, q])
        whole[:, self.angles] = np.unwrap(whole[:, self.angles], axis=0)
        for i, joint in enumerate(model.joints):
            if joint.quaternion is not None:
                at = int(model.q_index[i]) + joint.quaternion
                p = whole[:, at : at + 4]
                turned = np.where((p[1:] * p[:-1]).sum(1) < 0, -1.0, 1.0)
                p[1:] *= np.cumprod(turned)[:, None]
        return whole[1:], v

    def _of_joint(self, i: int, joint: Joint, bodies: Bodies) -> tuple[Array, Array]:
        model, parent = self.model, self.model.parents[i]
        R_b, origin, w_b, v_b = _at_origin(bodies, i, model.center[i])
        R_a, base, w_a, v_a = _at_origin(bodies, parent, model.center[parent] if parent >= 0 else np.zeros(3))
        A_a, A_b = R_a @ self.axes[i], R_b @ self.axes[i]
        point = base + np.einsum("bij,j->bi", R_a, model.position[i])
        offset = np.einsum("bji,bj->bi", A_a, origin - point)
        slip = v_b - v_a - np.cross(w_a, origin - base)
        moved = Motion(_vector(np.einsum("bji,bj->bi", A_b, w_b - w_a)), _vector(np.einsum("bji,bj->bi", A_b, slip)))
        if joint.quaternion is None:
            q = joint.coordinates(_matrix(np.swapaxes(A_a, 1, 2) @ A_b), _vector(offset))
        else:
            turn = _relative(bodies, i, parent)
            q = (*offset.T[: joint.quaternion], *turn.T)
        speeds = [moved.dot(E) for E in joint.efforts(q)]
        return np.array(q).T.reshape(len(origin), -1), np.array(speeds).T.reshape(len(origin), -1)


def _axes(joint: Joint) -> Array:
    return closing_axes(Closure("", "joint", joint=joint))


def _outward(model: Model) -> list[int]:
    """Rows, parents first."""
    order: list[int] = []
    while len(order) < model.n:
        order += [i for i in range(model.n) if i not in order and (model.parents[i] < 0 or model.parents[i] in order)]
    return order


def _at_origin(bodies: Bodies, i: int, center: Array) -> tuple[Array, Array, Array, Array]:
    """Axes, origin, angular velocity and velocity of the origin, in the world, of a body in many states; ground at rest."""
    B = len(bodies.r)
    if i < 0:
        return np.broadcast_to(np.eye(3), (B, 3, 3)), *np.zeros((3, B, 3))
    R = axes_of(bodies.p[:, i])
    arm, w = R @ center, np.einsum("bij,bj->bi", R, bodies.w[:, i])
    return R, bodies.r[:, i] - arm, w, bodies.v[:, i] - np.cross(w, arm)


def _relative(bodies: Bodies, i: int, parent: int) -> Array:
    if parent < 0:
        return bodies.p[:, i]
    return quaternion_product(bodies.p[:, parent] * [1, -1, -1, -1], bodies.p[:, i])


def _vector(x: Array) -> Vector:
    return Vector(*x.T)


def _matrix(R: Array) -> Matrix:
    return Matrix(*[Vector(*np.moveaxis(R[:, i], -1, 0)) for i in range(3)])


def turned(p: Array, turn: Array) -> Array:
    """Quaternions turned by rotation vectors in their own axes; of unit length."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    step = np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * turn], axis=-1)
    moved = quaternion_product(p, step)
    return np.asarray(moved / np.linalg.norm(moved, axis=-1, keepdims=True))
