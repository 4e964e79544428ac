"""The plan of a walk: order, frames, signatures, and the tables that the machine code reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from .frames import Frames, Style, choose_frames
from .signature import ROW, SLOTS, Signature
from .tree import Tree, depth_first

Array = NDArray[np.float64]

_MOST_SIGNATURES = 16  # beyond this, structure is folded more coarsely: the code must not grow without bound
_PLACEMENT = [k for name in ("gamma", "alpha", "rest", "rest_angle", "offset", "turn", "armature") for k in SLOTS[name]]
_ROTATION = {k for name in ("gamma", "alpha", "rest", "turn") for k in SLOTS[name]}
_ARMATURE = list(SLOTS["armature"])

TABLE = ("code", "parent", "q", "v", "user", "own_message", "parent_message", "nv")  # columns of the integer table


@dataclass(frozen=True)
class Plan:
    """Everything about a model that the executors need. Bodies are in the order of the walk."""

    model: Model
    tree: Tree
    frames: Frames
    signatures: tuple[Signature, ...]  # the distinct ones
    table: NDArray[np.int64]  # (n, len(TABLE))
    data: Array  # (n, ROW)
    gravity: Array  # in the ground's frame
    messages: int  # how many bodies receive messages through memory

    @property
    def n(self) -> int:
        return self.tree.n

    def signature(self, i: int) -> Signature:
        return self.signatures[int(self.table[i, 0])]


def make_plan(model: Model, style: Style = "plane") -> Plan:
    tree = depth_first(model.parents)
    frames = choose_frames(model, tree, style)
    data = _data_rows(model, tree, frames)
    full = _signatures(model, tree, frames, data)
    distinct = list(dict.fromkeys(full))
    messages = {i: k for k, i in enumerate(i for i in range(tree.n) if len(tree.children[i]) > 1)}
    code = {signature: k for k, signature in enumerate(distinct)}
    table = np.zeros((tree.n, len(TABLE)), dtype=np.int64)
    for i, body in enumerate(tree.order):
        p = tree.parent[i]
        table[i] = (
            code[full[i]],
            p,
            model.q_index[body],
            model.v_index[body],
            body,
            messages.get(i, -1),
            messages.get(p, -1),
            model.joints[body].nv,
        )
    gravity = frames.ground_rotation.T @ model.gravity
    gravity[np.abs(gravity) < 1e-15 * np.abs(gravity).max(initial=0.0)] = 0.0
    return Plan(model, tree, frames, tuple(distinct), table, data, gravity, len(messages))


def _data_rows(model: Model, tree: Tree, frames: Frames) -> Array:
    """The row of numbers of each body, in its computing frame."""
    rows = np.zeros((tree.n, ROW))
    for i, body in enumerate(tree.order):
        row, K = rows[i], frames.rotation[i]
        row[_at("gamma")] = _turn(frames.gamma[i])
        row[_at("alpha")] = _turn(frames.alpha[i])
        row[_at("rest")] = _turn(frames.rest[i])
        row[_at("rest_angle")] = frames.rest[i]
        row[_at("offset")] = frames.offset[i]
        row[_at("turn")] = frames.turn[i].ravel()
        m, c = model.mass[body], K.T @ (model.center[body] - frames.origin[i])
        J = K.T @ model.inertia[body] @ K + m * ((c @ c) * np.eye(3) - np.outer(c, c))
        row[_at("J")] = _clean(J[np.triu_indices(3)], np.abs(J).max(initial=0.0))
        row[_at("mc")], row[_at("m")] = _clean(m * c, m * np.abs(model.center[body]).max(initial=0.0)), m
        row[_at("center")] = _clean(c, np.abs(model.center[body]).max(initial=0.0))
        central = K.T @ model.inertia[body] @ K
        row[_at("Jc")] = _clean(central[np.triu_indices(3)], np.abs(central).max(initial=0.0))
        first = model.v_index[body]
        nv = model.joints[body].nv
        row[SLOTS["armature"].start : SLOTS["armature"].start + nv] = model.armature[first : first + nv]
    return rows


def _signatures(model: Model, tree: Tree, frames: Frames, data: Array) -> list[Signature]:
    """Signatures of all bodies, as fine as possible while they stay few."""
    constants = [{k: float(x) for k, x in enumerate(row) if x == 0 or (k in _ROTATION and abs(x) == 1)} for row in data]
    roles = [_role(model, tree, frames, i) for i in range(tree.n)]
    for foldable in (range(ROW), _PLACEMENT):
        chosen = [tuple((k, c[k]) for k in foldable if k in c) for c in constants]
        if len(set(zip(roles, chosen, strict=True))) <= _MOST_SIGNATURES:
            return [Signature(*r, c) for r, c in zip(roles, chosen, strict=True)]
    common: dict[tuple[object, ...], dict[int, float]] = {}
    groups = [(*r, tuple(k for k in _ARMATURE if k in c)) for r, c in zip(roles, constants, strict=True)]
    for group, c in zip(groups, constants, strict=True):
        known = common.setdefault(group, {k: c[k] for k in _PLACEMENT if k in c})
        common[group] = {k: x for k, x in known.items() if c.get(k) == x}
    return [Signature(*r, tuple(common[g].items())) for r, g in zip(roles, groups, strict=True)]


def _role(model: Model, tree: Tree, frames: Frames, i: int) -> tuple[str, str, bool, bool, bool, bool, bool]:
    p, joint = tree.parent[i], model.joints[tree.order[i]]
    adjacent = p >= 0 and p == i - 1
    opens = p >= 0 and not adjacent and tree.children[p][-1] == i
    style = "plane" if joint.has_axis and frames.style == "plane" else "full"
    return joint.kind, style, p < 0, not tree.children[i], adjacent, len(tree.children[i]) > 1, opens


def _at(name: str) -> slice:
    return slice(SLOTS[name].start, SLOTS[name].stop)


def _turn(angle: float) -> tuple[float, ...]:
    """sin, cos and their products; right angles are exact."""
    s, c = float(np.sin(angle)), float(np.cos(angle))
    s, c = (x if abs(x - round(x)) > 1e-15 else float(round(x)) for x in (s, c))
    return s, c, s * s, s * c, 2 * s * c, 1 - 2 * s * s


def _clean(x: Array, scale: float) -> Array:
    """Entries that are zero but for rounding become exact zeros."""
    return np.where(np.abs(x) <= 4e-16 * scale, 0.0, x)
