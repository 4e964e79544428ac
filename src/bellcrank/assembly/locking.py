"""Which joint's axis locks a loop, and which axis would let it move.

A hinge whose axis is free to choose is a ball: two more turns across its axis. If a loop that cannot move can do so with them,
the turn of the ball in that motion is about the axis that the hinge should have. For a slide it is three shifts. In the world's
axes, with F and M the force and the moment about a joint's point that unit multipliers bring to what it carries,

    columns of G for a turn about e, a shift along e:   M . e,   F . e

of a joint of the tree; a joint that closes a loop loses its equations for these turns or shifts instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..joints import Joint
from ..model import Closure, Model
from ..model.manifold import displaced
from ..model.order import outward_order
from ..plan.closures import closing_axes, turning_rows
from ..plan.nodes.blocks import Block, find_blocks, make_graph
from ..spatial.rank import factored, null_space, rank
from .loops import HeldCoordinates, Loops
from .newton import close

Array = NDArray[np.float64]

OFF = 1e-8  # rad: an axis that is off by less is not the reason
SLIGHT = math.radians(20)  # an axis that is off by more is meant so, unless others of the loop have the wanted one
PARALLEL = 1e-4  # rad between axes that are meant to be parallel
MOST = 60  # equations of a loop that is looked at
STEP = 0.05  # rad, of the motion that is tried
OPENS = 1e-3  # of what the axis is off by: in a motion in which the loop opens by more, another axis is wrong too
ROUNDING = 1e-12  # of the typical length
MOVED = 1e-6  # of the largest: a direction in which the joint moves in what the loop would allow
STILL = 1e-3  # the least that the largest is taken for: a joint that moves by less than MOVED of it stands still


class Axis(NamedTuple):
    """An axis in the design position, and the one with which the loop could move."""

    joint: str
    axis: Array
    wanted: Array
    angle: float
    parallel: tuple[str, ...]  # other joints of the loop that have the wanted one

    @property
    def words(self) -> str:
        named = [repr(name) for name in self.parallel[:3]]
        listed = " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)
        beside = f", parallel to that of {listed}," if named else ""
        digits = max(4, 2 - math.floor(math.log10(self.angle)))  # so that the two axes are seen to differ
        return (
            f"the axis {_vector(self.axis, digits)} of joint {self.joint!r} locks its loop: it is out of line by "
            f"{math.degrees(self.angle):.3g} degrees. With the axis {_vector(self.wanted, digits)}{beside} the loop could move"
        )


def locked_by(loops: Loops, q: Array, t: float) -> str:
    """A text that names the axis that would have to change for a locked loop to move; empty where no single one would do."""
    found = locking_axis(loops, q, t)
    return "" if found is None else found.words


def locking_axis(loops: Loops, q: Array, t: float) -> Axis | None:
    """Among the axes with which a locked loop could move, the one that most joints of the loop have, then the nearest one."""
    found = sorted(candidates(loops, q, t), key=lambda axis: (-len(axis.parallel), axis.angle))
    return next((axis for axis in found if _moves_on(loops, q, t, axis)), None)


def _moves_on(loops: Loops, q: Array, t: float, axis: Axis) -> bool:
    """Whether the mechanism can move with another axis, and not for an instant only."""
    model = _with_axis(loops.model, axis)
    changed = Loops(Dynamics(model, "multipliers", optimisation=0))
    motions = null_space(changed.J(q, t), changed.tolerance)
    if not motions.size:
        return False
    ahead = displaced(model, q, STEP * changed.units * motions[:, 0] / np.abs(motions[:, 0]).max())
    limit = max(ROUNDING, OPENS * STEP * axis.angle) * changed.length
    new = close(changed, ahead, HeldCoordinates.none(model), t, limit).q
    further = float(np.abs(new - q).max()) > STEP / 2 * min(1.0, changed.length)
    return changed.worst(new, t) <= limit and further and changed.rank(new, t) < model.nv


def _with_axis(model: Model, axis: Axis) -> Model:
    x, y, z = (float(a) for a in axis.wanted)
    if axis.joint in model.joint_names:
        row = model.joint_names.index(axis.joint)
        sign = -1.0 if model.turned and model.turned[row] else 1.0
        joint = replace(model.joints[row], axis=(sign * x, sign * y, sign * z))
        return replace(model, joints=(*model.joints[:row], joint, *model.joints[row + 1 :]))
    closures = tuple(
        c if c.name != axis.joint or c.joint is None else replace(c, joint=replace(c.joint, axis=(x, y, z)))
        for c in model.closures
    )
    return replace(model, closures=closures)


def candidates(loops: Loops, q: Array, t: float) -> Iterator[Axis]:
    """Axes with which a locked loop could move here, be it for an instant only."""
    model, plan = loops.model, loops.dynamics.plan
    place = _Place(loops, q, t)
    for block in find_blocks(make_graph(model, plan.tree)):
        rows = [plan.tree.order[i] for i in block.bodies]
        columns = [k for row in rows if not model.driven[row] for k in _dofs(model, row)]
        equations = _equations(model, block)
        G = place.J[np.ix_(equations, columns)]
        if columns and len(equations) <= MOST and rank(G, loops.tolerance) == len(columns):
            yield from _of_block(place, block, rows, columns, equations)


def _of_block(place: _Place, block: Block, rows: list[int], columns: list[int], equations: list[int]) -> Iterator[Axis]:
    model = place.model
    G = place.J[np.ix_(equations, columns)]
    axes = {model.joint_names[row]: _written(model, row) for row in rows}
    axes |= {model.closures[k].name: joint.axis for k in block.closures if (joint := model.closures[k].joint) is not None}
    for row in rows:
        if _has_one_axis(model.joints[row]) and not model.driven[row]:
            part = slice(3, 6) if model.joints[row].kind == "revolute" else slice(0, 3)
            whole = place.scale[equations, None] * place.felt[equations, row, part]  # for the three turns, or shifts
            motions = null_space(np.column_stack([np.delete(G, columns.index(int(model.v_index[row])), axis=1), whole]))
            R = place.rotations[model.parents[row]]
            yield from _wanted(model.joint_names[row], R.T @ motions[-3:], axes)
    for k in block.closures:
        closure = model.closures[k]
        if closure.joint is not None and _has_one_axis(closure.joint) and closure.motion is None:
            turns = turning_rows(closure) == (closure.joint.kind == "revolute")
            dropped = {int(model.closure_index[k]) + i for i in np.flatnonzero(turns)}
            kept = [i for i, equation in enumerate(equations) if equation not in dropped]
            v = np.zeros((model.nv, 0))
            if (motions := null_space(G[kept])).size:
                v = np.zeros((model.nv, motions.shape[1]))
                v[columns] = motions * place.units[columns, None]
            R = place.rotations[closure.body_a]
            yield from _wanted(closure.name, R.T @ place.relative(closure, v), axes)


def _wanted(name: str, moved: Array, axes: dict[str, tuple[float, float, float] | None]) -> Iterator[Axis]:
    """The wanted axis; ``moved``: (3, k) turns or shifts of the joint in those motions, in its parent's axes."""
    factors = factored(moved, MOVED, unit=STILL)
    if not factors.rank:
        return
    U = factors.U[:, : factors.rank]
    own = np.array(axes[name])
    along = U @ (U.T @ own)
    wanted = along if np.linalg.norm(along) > 1e-9 else U[:, 0]
    wanted = wanted / np.linalg.norm(wanted)
    angle = math.atan2(float(np.linalg.norm(np.cross(own, wanted))), float(abs(own @ wanted)))
    if angle > OFF:
        equal = tuple(
            other for other, x in axes.items()
            if other != name and x is not None and np.linalg.norm(np.cross(x, wanted)) < PARALLEL
        )  # fmt: skip
        if equal or angle < SLIGHT:  # else it is meant as it is: a structure, not a mechanism
            yield Axis(name, own, wanted, angle, equal)


class _Place:
    """The loops at a configuration, all in the world's axes."""

    def __init__(self, loops: Loops, q: Array, t: float) -> None:
        self.model, self.scale, self.units, self.q = loops.model, loops.rows, loops.units, q
        self.J = loops.J(q, t)
        positions, rotations = loops.dynamics.poses(q, t=t)
        self.positions = np.vstack([positions, np.zeros(3)])
        self.rotations = np.concatenate([rotations, np.eye(3)[None]])
        self.felt = self._felt(loops, q, t)

    def _felt(self, loops: Loops, q: Array, t: float) -> Array:
        """(m, n, 6): F and M of every joint of the tree for a unit of each multiplier."""
        model, m = self.model, len(loops.rows)
        states = np.tile(q, (m, 1)), np.zeros((m, model.nv))
        wrenches = loops.dynamics.closure_wrenches(*states, np.eye(m), t=t)
        acting = np.zeros((m, model.n + 1, 6))  # on each body, about the world's origin
        for k, closure in enumerate(model.closures):
            if closure.kind != "coupler":
                force, moment = wrenches[:, k, :3], wrenches[:, k, 3:]
                about = np.hstack([force, moment + np.cross(self.point(closure.body_b, closure.point_b), force)])
                acting[:, closure.body_b] += about
                acting[:, closure.body_a] -= about
        for row in reversed(outward_order(model.parents)):
            acting[:, model.parents[row]] += acting[:, row]
        felt = acting[:, :-1]
        felt[..., 3:] -= np.cross(self.positions[:-1], felt[..., :3])
        return felt

    def point(self, body: int, point: tuple[float, float, float]) -> Array:
        return np.asarray(self.positions[body] + self.rotations[body] @ np.array(point))

    def relative(self, closure: Closure, v: Array) -> Array:
        """(3, k): turns of a closing hinge, or shifts of a slide, of child relative to parent, for velocities (nv, k)."""
        model, shape = self.model, (3, v.shape[1])
        w = [np.zeros(shape) for _ in range(model.n + 1)]
        u = [np.zeros(shape) for _ in range(model.n + 1)]
        for row in outward_order(model.parents):
            parent, own = model.parents[row], np.zeros((6, v.shape[1]))
            if not model.driven[row]:
                A = self.rotations[row] @ closing_axes(Closure("", "joint", joint=model.joints[row]))
                first = int(model.q_index[row])
                S = model.joints[row].directions(self.q[first : first + model.joints[row].nq].tolist())
                for s, k in zip(S, _dofs(model, row), strict=True):
                    own += np.outer([*(A @ np.array(list(s.w))), *(A @ np.array(list(s.v)))], v[k])
            arm = (self.positions[row] - self.positions[parent])[:, None]
            w[row] = w[parent] + own[:3]
            u[row] = u[parent] + np.cross(w[parent], arm, axis=0) + own[3:]
        assert closure.joint is not None
        if closure.joint.kind == "revolute":
            return np.asarray(w[closure.body_b] - w[closure.body_a])
        at = self.point(closure.body_b, closure.point_b)
        ends = [
            u[body] + np.cross(w[body], (at - self.positions[body])[:, None], axis=0)
            for body in (closure.body_b, closure.body_a)
        ]
        return np.asarray(ends[0] - ends[1])


def _has_one_axis(joint: Joint) -> bool:
    return joint.kind in ("revolute", "prismatic")


def _written(model: Model, row: int) -> tuple[float, float, float] | None:
    """The axis as the user wrote it, also of a joint that is turned round."""
    axis = model.joints[row].axis
    return axis if axis is None or not (model.turned and model.turned[row]) else (-axis[0], -axis[1], -axis[2])


def _dofs(model: Model, row: int) -> range:
    return range(int(model.v_index[row]), int(model.v_index[row]) + model.joints[row].nv)


def _equations(model: Model, block: Block) -> list[int]:
    return [i for k in block.closures for i in range(int(model.closure_index[k]), int(model.closure_index[k + 1]))]


def _vector(x: Array, digits: int) -> str:
    return f"({', '.join(f'{round(float(a), digits) + 0.0:.{digits}g}' for a in x)})"
