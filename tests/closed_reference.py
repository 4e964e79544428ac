"""Dynamics of closed mechanisms from positions alone, in extended precision: shares no formula with the package.

The tree's equations of motion are those of tests/reference.py; the closures are functions of positions (closed_equations),
differentiated twice along motions. What is left is a linear system,

    M a + h = tau + G^T lambda,    G a = gamma,

in which rows of G may depend on each other: independent combinations of them are found by an SVD, and lambda is the shortest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from . import closed_equations as eq
from . import reference
from .closed_equations import Jet, Pose
from .reference import Array, Long

CLEARLY_ZERO, CLEARLY_NOT = 1e-11, 1e-7  # of the largest singular value
UNIQUE = 1e-9  # what loads of order one that balance each other may leave of a component that they do not touch


@cache
def tree_of(model: Any) -> Any:
    """The mechanism with all its loops open, and without what acts on closing joints."""
    return replace(model, closures=(), elements=tuple(e for e in model.elements if e.closure < 0))


def bodies(model: Any, q: Array, v: Array, a: Array, t: float) -> list[Pose]:
    """Frames of all bodies for many v and a (B, nv); the last one is ground, as row -1."""
    m = reference.motion(tree_of(model), q, v, a, t)
    found = []
    for i in range(model.n):
        spin, gain = reference.cross_matrix(m.w[i]), reference.cross_matrix(m.alpha[i])
        R = np.broadcast_to(m.R[i], spin.shape)
        turn = Jet(R, spin @ R, (gain + spin @ spin) @ R)
        found.append(Pose(turn, Jet(np.broadcast_to(m.p[i], m.p_rate[i].shape), m.p_rate[i], m.p_second[i])))
    ways = len(np.atleast_2d(v))
    return [*found, eq.at_rest(np.eye(3, dtype=Long), np.zeros(3, dtype=Long), ways)]


def tree_joint(model: Any, found: list[Pose]) -> Any:
    """For a row: its joint, and the frames at its point on the parent and on the child."""
    return lambda i: (model.joints[i], found[model.parents[i]].at(model.position[i]), found[i])


def ways(model: Any, v: Array) -> Array:
    """Rows of v: at rest, one for each unit velocity, and as it is."""
    return np.concatenate([np.zeros((1, model.nv)), np.eye(model.nv), np.asarray(v, dtype=Long)[None]])


@dataclass
class Constraints:
    """Errors of position and velocity, G and gamma with G a = gamma."""

    position: Array
    velocity: Array
    G: Array
    gamma: Array


def constraints(model: Any, q: Array, v: Array, t: float = 0.0) -> Constraints:
    """Of all closures, in their order."""
    states = ways(model, v)
    found = bodies(model, q, states, np.zeros_like(states), t)
    joint = tree_joint(model, found)
    phi = eq.stacked([eq.closure_equations(c, found, joint, t) for c in model.closures], len(states))
    return Constraints(phi.x[-1], phi.d[-1], (phi.d[1:-1] - phi.d[0]).T, -phi.dd[-1])


# What acts on closing joints -----------------------------------------------------------------------------------------------


def closing_state(model: Any, k: int, found: list[Pose]) -> tuple[Array | None, Array]:
    """Coordinates (None where there is a quaternion) and velocities of a closing joint, for every way to move."""
    c = model.closures[k]
    frames = found[c.body_a].at(c.point_a), found[c.body_b].at(c.point_b)
    q = eq.coordinates(c.joint, *frames).x if c.joint.quaternion is None else None
    return q, eq.speeds(c.joint, *frames)[0]


def closing_efforts(model: Any, q: Array, v: Array, t: float, inputs: Any) -> list[Array]:
    """On every closure the efforts of all its elements, one for each degree of freedom of its joint."""
    found = bodies(model, q, np.asarray(v)[None], np.zeros((1, model.nv)), t)
    efforts = [np.zeros(c.joint.nv if c.joint else 0, dtype=Long) for c in model.closures]
    for e in model.elements:
        if e.closure >= 0:
            coordinate, speed = closing_state(model, e.closure, found)
            at = None if coordinate is None else coordinate[0, e.dof]
            efforts[e.closure][e.dof] += reference.joint_effort(e, at, speed[0, e.dof], t, inputs)
    return efforts


def effort_on_coordinates(model: Any, q: Array, v: Array, t: float, efforts: list[Array]) -> Array:
    """(nv,) by virtual work: efforts . change of the joints' velocities with v."""
    states = ways(model, v)[:-1]
    found = bodies(model, q, states, np.zeros_like(states), t)
    result = np.zeros(model.nv, dtype=Long)
    for k, effort in enumerate(efforts):
        if effort.any():
            speed = closing_state(model, k, found)[1]
            result += (speed[1:] - speed[0]) @ effort
    return result


# The linear system ---------------------------------------------------------------------------------------------------------


@dataclass
class Solution:
    """a and the shortest lambda; combinations of rows that do nothing (m, .); growth of errors in a, in lambda."""

    a: Array
    multipliers: Array
    idle: Array
    amplification: float
    multiplier_amplification: float


def independent(G: Array) -> tuple[Array, Array]:
    """Orthonormal combinations of rows (m, r) that span all of them, and those (m, m - r) that vanish."""
    if not G.size:
        return np.zeros((len(G), 0)), np.eye(len(G))
    U, s, _ = np.linalg.svd(G.astype(float), full_matrices=True)
    s = s / max(s[0], np.finfo(float).tiny)
    assert not ((s > CLEARLY_ZERO) & (s < CLEARLY_NOT)).any(), f"the rank of the closures is doubtful: {s}"
    rank = int((s > CLEARLY_NOT).sum())
    return U[:, :rank], U[:, rank:]


def solve(M: Array, right: Array, G: Array, gamma: Array) -> Solution:
    """M a = right + G^T lambda, G a = gamma: in double precision, refined with residuals in extended precision."""
    U, idle = independent(G)
    rows, n = U.T.astype(Long) @ G, len(right)
    K = np.block([[M, -rows.T], [rows, np.zeros((len(rows), len(rows)), dtype=Long)]])
    b = np.concatenate([right, U.T.astype(Long) @ gamma])
    inverse = np.linalg.inv(K.astype(float))
    x = np.zeros(len(b), dtype=Long)
    for _ in range(6):
        x = x + inverse @ (b - K @ x).astype(float)
    spread = np.abs(inverse) @ (np.abs(K) @ np.abs(x) + np.abs(b)).astype(float)
    a, y = x[:n], x[n:]
    return Solution(a, U @ y, idle, growth(spread[:n], a), growth(spread[n:], y))


def growth(spread: Array, x: Array) -> float:
    """Skeel's condition number of a part of the solution."""
    return float(max(1.0, spread.max(initial=0.0) / np.abs(x.astype(float)).max(initial=1e-300))) if len(x) else 1.0


# Everything at one state ---------------------------------------------------------------------------------------------------


@dataclass
class Closed:
    """Accelerations, multipliers and wrenches of a closed mechanism at one state."""

    model: Any
    state: dict[str, Any]
    constraints: Constraints
    solution: Solution
    efforts: list[Array]

    @property
    def a(self) -> Array:
        return self.solution.a

    @property
    def _frames(self) -> list[Pose]:
        q, v, t = (self.state[name] for name in ("q", "v", "t"))
        return bodies(self.model, q, np.asarray(v)[None], np.zeros((1, self.model.nv)), t)

    def closure_wrenches(self, multipliers: Array | None = None, *, effort: bool = False) -> Array:
        """(closures, 6) of a on b at point_b, in world axes; with ``effort`` also what elements do along the free directions.

        A driven closure is all of its six equations: the effort of its drive is part of its wrench."""
        given = self.solution.multipliers if multipliers is None else multipliers
        found, index = self._frames, self.model.closure_index
        total = np.zeros((len(self.model.closures), 6), dtype=Long)
        for k, c in enumerate(self.model.closures):
            if c.kind == "coupler":
                continue
            moving, frames = moved_child(found, c)
            rest = [eq.still(pose, 1) for pose in found]
            rates, of_time = (eq.closure_equations(c, x, None, self.state["t"]).d for x in (moving, rest))
            total[k] = (rates - of_time) @ given[index[k] : index[k + 1]]
            if c.joint is not None and multipliers is None:
                total[k] += eq.speeds(c.joint, *frames)[0] @ self.efforts[k]
            if c.joint is not None and c.motion is None and not effort:
                total[k] = without_effort(c.joint, frames, total[k])
        return total

    def joint_wrenches(self, closing: Array | None = None) -> Array:
        """(n, 6) of parent on child at every joint of the tree, efforts included; ``closing``: only what these wrenches cause."""
        q, v, t = (self.state[name] for name in ("q", "v", "t"))
        m = reference.motion(tree_of(self.model), q, v, self.a, t)
        result = np.zeros((self.model.n, 6), dtype=Long)
        if closing is None:
            result = reference.joint_wrenches(tree_of(self.model), q, v, self.a, t)
        given = self.closure_wrenches(effort=True) if closing is None else closing
        found = self._frames
        for c, wrench in zip(self.model.closures, given, strict=True):
            point = found[c.body_b].at(c.point_b).p.x[0]
            for body, sign in ((c.body_b, -1), (c.body_a, 1)):
                joint = body
                while joint >= 0:
                    result[joint, :3] += sign * wrench[:3]
                    result[joint, 3:] += sign * (wrench[3:] + np.cross(point - m.p[joint, 0], wrench[:3]))
                    joint = self.model.parents[joint]
        return result

    def joint_reactions(self) -> Array:
        """(n, 6) without the joints' own efforts."""
        found, result = self._frames, self.joint_wrenches()
        for i, joint in enumerate(self.model.joints):
            parent = eq.still(found[self.model.parents[i]], 6).at(self.model.position[i])
            result[i] = without_effort(joint, (parent, eq.unit_twists(found[i], found[i].p.x[0])), result[i])
        return result

    def unique(self) -> tuple[Array, Array]:
        """Which components of the wrenches of closures, and of joints of the tree, do not depend on how redundant rows share the
        load: (closures, 6) and (n, 6)."""
        closures, joints = np.ones((len(self.model.closures), 6), dtype=bool), np.ones((self.model.n, 6), dtype=bool)
        for n in self.solution.idle.T:
            wrenches = self.closure_wrenches(n.astype(Long), effort=True)
            closures &= np.abs(wrenches) < UNIQUE
            joints &= np.abs(self.joint_wrenches(wrenches)) < UNIQUE
        return closures, joints


def moved_child(found: list[Pose], c: Any) -> tuple[list[Pose], tuple[Pose, Pose]]:
    """Six ways in which body b alone moves, as unit twists at point_b: all bodies, and the closure's frames on a and b."""
    moving = [eq.still(pose, 6) for pose in found]
    moving[c.body_b] = eq.unit_twists(found[c.body_b], found[c.body_b].at(c.point_b).p.x[0])
    return moving, (moving[c.body_a].at(c.point_a), moving[c.body_b].at(c.point_b))


def without_effort(joint: Any, frames: tuple[Pose, Pose], wrench: Array) -> Array:
    """A wrench less its part that does work along the free directions; the child's frame moves by unit twists.

    The velocities of every joint but the screw are components of the twist along orthogonal unit directions S, and efforts act
    along the same. The effort of a screw is a torque; its thread makes the force, so that S has a part along the axis.
    """
    S = efforts = eq.speeds(joint, *frames)[0].T
    if joint.kind == "screw":
        S = np.concatenate([Long(joint.pitch) * S[:, 3:], S[:, 3:]], axis=1)
    return wrench - (S @ wrench) @ efforts


def closed(model: Any, state: dict[str, Any]) -> Closed:
    """The whole answer for q, v, tau, t, inputs."""
    q, v, tau, t, inputs = (state[name] for name in ("q", "v", "tau", "t", "inputs"))
    tree = reference.dynamics(tree_of(model), q, v, t, inputs)
    held = constraints(model, q, v, t)
    efforts = closing_efforts(model, q, v, t, inputs)
    right = np.asarray(tau, dtype=Long) - tree.h + effort_on_coordinates(model, q, v, t, efforts)
    return Closed(model, state, held, solve(tree.M, right, held.G, held.gamma), efforts)
