"""A second reference: every body has six degrees of freedom, and every joint, of the tree or closing a loop, is equations.

Unknown are the accelerations of all bodies. Armatures and efforts act on the velocities of joints, which are functions of the
motions of the bodies. Only the equations of the joints are shared with the first reference, and they are now all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import closed_equations as eq
from . import reference
from .closed_equations import Jet, Pose
from .closed_reference import Solution, closing_efforts, solve, tree_joint, tree_of
from .reference import Array, Long


class Maximal(NamedTuple):
    """Accelerations of the bodies' centres and angular accelerations (n, 6); the wrench of every joint of the tree (n, 6)."""

    a: Array
    wrenches: Array
    solution: Solution


def frames(model: Any, m: reference.Motion, twists: Array) -> list[Pose]:
    """Frames of all bodies for many twists (B, n, 6) at their centres, without accelerations; ground at the end."""
    found = []
    for i in range(model.n):
        R, spin = np.broadcast_to(m.R[i, 0], (len(twists), 3, 3)), reference.cross_matrix(twists[:, i, 3:])
        center = np.broadcast_to(m.c[i, 0], (len(twists), 3))
        still = np.zeros_like(center)
        pose = Pose(Jet(R, spin @ R, spin @ spin @ R), Jet(center, twists[:, i, :3], still))
        found.append(pose.at(-model.center[i].astype(Long)))
    return [*found, eq.at_rest(np.eye(3, dtype=Long), np.zeros(3, dtype=Long), len(twists))]


def tree_equations(model: Any, joint: Any, i: int, t: float) -> Jet:
    kind, parent, child = joint(i)
    if model.driven[i]:
        return eq.joint_equations(eq.FIXED, eq.driven_frame(kind, model.motions[i], parent, t), child)
    return eq.joint_equations(kind, parent, child)


def maximal(model: Any, state: dict[str, Any]) -> Maximal:
    """All of the mechanism at one state."""
    q, v, tau, t, inputs = (state[name] for name in ("q", "v", "tau", "t", "inputs"))
    n = model.n
    m = reference.motion(tree_of(model), q, v, np.zeros(model.nv), t)
    twist = np.concatenate([m.c_rate[:, 0], m.w[:, 0]], axis=1)
    units = np.eye(6 * n, dtype=Long).reshape(6 * n, n, 6)
    found = frames(model, m, np.concatenate([np.zeros((1, n, 6)), units, twist[None]]))
    joint = tree_joint(model, found)
    tied = [tree_equations(model, joint, i, t) for i in range(n)]
    closing = [eq.closure_equations(c, found, joint, t) for c in model.closures]
    phi = eq.stacked([*tied, *closing], len(units) + 2)
    G = by_twists(phi.d).T
    J, drift = joint_rates(model, joint)
    efforts = np.asarray(tau) + joint_elements(model, q, v, t, inputs)
    M, right = newton_euler(model, m, reference.element_wrenches(tree_of(model), q, v, t))
    M += J.T @ (model.armature[:, None] * J)
    right += J.T @ (efforts - model.armature * drift)
    for c, load in zip(model.closures, closing_efforts(model, q, v, t, inputs), strict=True):
        if load.any():
            ends = found[c.body_a].at(c.point_a), found[c.body_b].at(c.point_b)
            right += by_twists(eq.speeds(c.joint, *ends)[0]) @ load
    solution = solve(M, right, G, -phi.dd[-1])
    efforts = efforts - model.armature * (J @ solution.a + drift) + coupling(model, solution)
    return Maximal(solution.a.reshape(n, 6), wrenches(model, m, solution, G, J, efforts), solution)


def by_twists(rates: Array) -> Array:
    """Derivatives of rates by the twists: the first way to move is none, the last the real one."""
    return rates[1:-1] - rates[0]


def newton_euler(model: Any, m: reference.Motion, applied: Array) -> tuple[Array, Array]:
    """Masses of all bodies, and what acts on them at their centres besides joints."""
    Jc = m.R[:, 0] @ model.inertia.astype(Long) @ m.R[:, 0].transpose(0, 2, 1)
    M, right = np.zeros((6 * model.n, 6 * model.n), dtype=Long), np.array(applied)
    for i, w in enumerate(m.w[:, 0]):
        k = 6 * i
        M[k : k + 3, k : k + 3] = np.eye(3) * model.mass[i]
        M[k + 3 : k + 6, k + 3 : k + 6] = Jc[i]
        right[i, :3] += model.mass[i] * model.gravity
        right[i, 3:] -= np.cross(w, Jc[i] @ w)
    return M, right.ravel()


def joint_rates(model: Any, joint: Any) -> tuple[Array, Array]:
    """Velocities v of the tree's joints: their derivatives by the twists (nv, 6 n), and dv/dt without accelerations."""
    pairs = [eq.speeds(*joint(i)) for i in np.flatnonzero(~model.driven)]
    return np.concatenate([by_twists(v).T for v, _ in pairs]), np.concatenate([gain[-1] for _, gain in pairs])


def joint_elements(model: Any, q: Array, v: Array, t: float, inputs: Any) -> Array:
    """(nv,) efforts of the elements on joints of the tree."""
    twin, q_all, v_all, _ = reference.whole(tree_of(model), q, v, np.zeros(model.nv), t)
    efforts = reference.joint_efforts(twin, q_all, v_all, t, inputs)
    return efforts[reference.freed(tree_of(model)).v_kept] if model.driven.any() else efforts


def coupling(model: Any, solution: Solution) -> Array:
    """(nv,) efforts of the couplers on joints of the tree."""
    efforts, first = np.zeros(model.nv, dtype=Long), len(solution.multipliers) - model.closure_index[-1]
    for c, k in zip(model.closures, model.closure_index[:-1], strict=True):
        for row, dof, factor in c.terms:
            efforts[model.v_index[row] + dof] += factor * solution.multipliers[first + k]
    return efforts


def wrenches(model: Any, m: reference.Motion, solution: Solution, G: Array, J: Array, efforts: Array) -> Array:
    """Of every joint of the tree on its child, at its point: its multipliers and its efforts, moved from the child's centre."""
    result, first = np.zeros((model.n, 6), dtype=Long), 0
    for i, joint in enumerate(model.joints):
        own = slice(6 * i, 6 * i + 6)
        rows = 6 if model.driven[i] else 6 - joint.nv
        result[i] = G[first : first + rows, own].T @ solution.multipliers[first : first + rows]
        if not model.driven[i]:
            dofs = slice(model.v_index[i], model.v_index[i] + joint.nv)
            result[i] += J[dofs, own].T @ efforts[dofs]
        result[i, 3:] += np.cross(m.c[i, 0] - m.p[i, 0], result[i, :3])
        first += rows
    return result
