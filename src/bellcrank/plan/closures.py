"""Closures as tables: what the equations that close loops read.

Each closure has a row of numbers and a signature, like a force element. An equation is carried inward from where it is attached
of the tree: from one or two bodies (a *attachment* each), or from the joints that a coupler names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..joints import JOINTS
from ..joints.derived import turning_equations
from ..model import Closure, Model, Table
from ..numbers.spline import Lookup
from ..numbers.variable import as_array, value_of
from .frames import Frames, axes_to_z, frame_of
from .order import Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

CLOSURE_TABLE = ("code", "row", "attachment", "state_a", "state_b", "driven_q", "driven_v", "attachments", "given", "givens")
GIVEN_TABLE = ("q", "v")  # of a coupler's term whose joint is driven: where its states are among the driven ones
ACTION_TABLE = ("code", "row", "closure", "state_a", "state_b", "state_c")  # closure: its index
ACTION_SLOTS = {"point": 0, "linear": 3, "size": 9, "always": 15}  # a force, then a moment
ACTION_ROW = 21
ATTACHMENT_TABLE = ("row", "body", "dof")  # dof: of the body's joint, for a coupler
CLOSURE_SLOTS = {"point_a": 0, "point_b": 3, "axes_a": 6, "axes_b": 15, "world": 24, "value": 33, "pitch": 34, "center_a": 35}
CLOSURE_SLOTS |= {"center_b": 38, "scale": 41, "table": 47}
CLOSURE_ROW = 49
_CHOSEN = {*range(CLOSURE_SLOTS["world"], CLOSURE_SLOTS["world"] + 9), *range(CLOSURE_SLOTS["scale"], CLOSURE_ROW)}
"""Axes along which equations are written, what makes them comparable, places of tables: a choice, which no design changes."""


class ClosureSignature(NamedTuple):
    """Closures with equal signatures share their code."""

    kind: str  # of the equations: a joint's kind, "distance", ..., "coupler"
    rows: int
    ground_a: bool
    ground_b: bool
    driven: str  # kind of joint whose motion is prescribed, or "value", or ""
    acts: bool = False  # of a coupler: on bodies, and not on the coordinates that it ties
    curve: Lookup | None = None  # of its last coordinate
    curve_driven: bool = False  # which is driven
    varied: tuple[int, ...] = ()  # numbers of its row that a design may change


class ActionSignature(NamedTuple):
    """Which of an action's bodies are ground, whether it is the reaction of its closure, and if it has its curve, which."""

    ground_a: bool
    ground_b: bool
    ground_c: bool
    reports: bool
    curve: Lookup | None


@dataclass(frozen=True)
class Closing:
    signatures: tuple[ClosureSignature, ...]
    table: Ints
    data: Array
    attachments: Ints
    factors: Array  # of each attachment: of a coupler's term, else 0
    rows: int
    tied: tuple[int, ...]  # bodies of the walk with closures attached
    driven: tuple[tuple[Closure, int, int], ...]  # closures with a motion, and where it goes in the driven q and v
    givens: Ints  # terms of couplers whose joints are driven
    given_factors: Array
    action_signatures: tuple[ActionSignature, ...]
    action_table: Ints
    action_data: Array

    @property
    def closures(self) -> int:
        return len(self.table)

    @property
    def curves(self) -> bool:
        """Whether a factor of a coupler depends on the state."""
        return any(signature.curve is not None and not signature.curve_driven for signature in self.signatures)

    @property
    def couplers(self) -> bool:
        return any(signature.kind == "coupler" for signature in self.signatures)

    def key(self) -> tuple[object, ...]:
        return self.signatures, self.action_signatures, bool(len(self.givens))


def tied_bodies(model: Model, place: dict[int, int]) -> list[int]:
    """Bodies to which closures are attached, or on which they act."""
    ends = {body for closure in model.closures if closure.kind != "coupler" for body in (closure.body_a, closure.body_b)}
    actions = (action for closure in model.closures for action in closure.actions)
    ends |= {body for action in actions for body in (action.body_a, action.body_b, action.carrier)}
    return sorted({place[body] for body in ends if body >= 0})


def make_closing(
    model: Model,
    tree: Tree,
    frames: Frames,
    attached: tuple[int, ...],
    first: tuple[int, int],
    driven_index: Ints,
    add_table: Callable[[Table], tuple[float, ...]],
    varied: NDArray[np.bool_] | None = None,
) -> Closing:
    """``first``: where the states of driven closures start, after those of the driven joints, which ``driven_index`` has."""
    place = tree.place
    state = {i: k for k, i in enumerate(attached)}
    signatures: dict[ClosureSignature, int] = {}
    table, data, factors, driven = [], [], [], []
    attachments: list[tuple[int, int, int]] = []
    givens: list[tuple[Ints, float]] = []
    driven_q, driven_v = first
    for k, (closure, row) in enumerate(zip(model.closures, model.closure_index, strict=False)):
        signature = _signature(closure)
        if varied is not None:
            signature = signature._replace(varied=tuple(int(s) for s in np.flatnonzero(varied[k]) if s not in _CHOSEN))
        code = signatures.setdefault(signature, len(signatures))
        taken = _attachments(closure, int(row), place)
        states = [state[place[b]] if b >= 0 and closure.kind != "coupler" else 0 for b in (closure.body_a, closure.body_b)]
        known = [(driven_index[place[joint]] + dof, factor) for joint, dof, factor in closure.driven_terms]
        table.append((code, row, len(attachments), *states, driven_q, driven_v, len(taken), len(givens), len(known)))
        givens += known
        attachments += [entry for entry, _ in taken]
        factors += [factor for _, factor in taken]
        data.append(_data(model, frames, place, closure))
        if closure.curve is not None:
            data[-1][CLOSURE_SLOTS["table"] : CLOSURE_SLOTS["table"] + 2] = add_table(closure.curve)
        if closure.motion is not None:
            driven.append((closure, driven_q, driven_v))
            driven_q, driven_v = driven_q + _width(closure, "nq"), driven_v + _width(closure, "nv")
    return Closing(
        signatures=tuple(signatures),
        table=np.array(table, dtype=np.int64).reshape(-1, len(CLOSURE_TABLE)),
        data=as_array(data).reshape(-1, CLOSURE_ROW),
        attachments=np.array(attachments, dtype=np.int64).reshape(-1, len(ATTACHMENT_TABLE)),
        factors=as_array(factors),
        rows=int(model.closure_index[-1]),
        tied=tuple(tied_bodies(model, place)),
        driven=tuple(driven),
        givens=np.array([entry for entry, _ in givens], dtype=np.int64).reshape(-1, len(GIVEN_TABLE)),
        given_factors=as_array([factor for _, factor in givens]),
        **_actions(model, frames, place, state),
    )


def _actions(model: Model, frames: Frames, place: dict[int, int], state: dict[int, int]) -> dict[str, Any]:
    """Wrenches of couplers as tables, in the frames of the computation."""
    signatures: dict[ActionSignature, int] = {}
    table, data = [], []
    for k, (closure, row) in enumerate(zip(model.closures, model.closure_index, strict=False)):
        for action in closure.actions:
            bodies = (action.body_a, action.body_b, action.carrier)
            curve = closure.curve.lookup if action.curved and closure.curve is not None else None
            a, b, c = (body < 0 for body in bodies)
            signature = ActionSignature(a, b, c, action.reports, curve)
            states = [0 if body < 0 else state[place[body]] for body in bodies]
            table.append((signatures.setdefault(signature, len(signatures)), row, k, *states))
            rotation, origin = frame_of(frames, place, action.carrier)
            parts = [as_array(wrench).reshape(2, 3) @ rotation for wrench in (action.linear, action.size, action.always)]
            data.append(np.concatenate([rotation.T @ (as_array(action.point) - origin), *map(np.ravel, parts)]))
    return {
        "action_signatures": tuple(signatures),
        "action_table": np.array(table, dtype=np.int64).reshape(-1, len(ACTION_TABLE)),
        "action_data": as_array(data).reshape(-1, ACTION_ROW),
    }


def _width(closure: Closure, field: str) -> int:
    return 1 if closure.joint is None else int(getattr(closure.joint, field))


def _signature(closure: Closure) -> ClosureSignature:
    kind, driven = closure.kind, ""
    if closure.joint is not None:
        kind = closure.joint.kind if closure.motion is None else "fixed"
    if closure.motion is not None:
        driven = "value" if closure.joint is None else closure.joint.kind
    grounds = closure.body_a < 0, closure.body_b < 0
    curve = None if closure.curve is None else closure.curve.lookup
    return ClosureSignature(kind, closure.rows, *grounds, driven, bool(closure.mesh), curve, closure.curve_driven)


def _attachments(closure: Closure, row: int, place: dict[int, int]) -> list[tuple[tuple[int, int, int], float]]:
    """Equation by equation, body a then b; ground has none."""
    if closure.kind == "coupler":
        return [((row, place[joint], dof), factor) for joint, dof, factor in closure.terms]
    bodies = [place[body] for body in (closure.body_a, closure.body_b) if body >= 0]
    return [((row + k, body, 0), 0.0) for k in range(closure.rows) for body in bodies]


def _data(model: Model, frames: Frames, place: dict[int, int], closure: Closure) -> Array:
    """Points and axes in the frames of the computation."""
    row: list[Any] = [0.0] * CLOSURE_ROW

    def put(name: str, values: Any) -> None:
        start, flat = CLOSURE_SLOTS[name], np.ravel(values)
        row[start : start + len(flat)] = flat.tolist()

    axes = closing_axes(closure)
    for end, body, point in (("a", closure.body_a, closure.point_a), ("b", closure.body_b, closure.point_b)):
        rotation, origin = frame_of(frames, place, body)
        put(f"point_{end}", rotation.T @ (as_array(point) - origin))
        put(f"axes_{end}", rotation.T @ axes)
        put(f"center_{end}", rotation.T @ (model.center[body] - origin) if body >= 0 else np.zeros(3))
    put("world", frames.ground_rotation.T)
    put("value", as_array(closure.value))
    if closure.joint is not None and closure.joint.pitch is not None:
        put("pitch", as_array(closure.joint.pitch))
    return as_array(row)


def closing_axes(closure: Closure) -> Array:
    """Columns; the third is the axis, the first the second axis of what has one."""
    axis = closure.axis if closure.joint is None else closure.joint.axis
    if axis is None:
        return np.eye(3)
    axis2 = closure.axis2 if closure.joint is None else closure.joint.axis2
    return np.asarray(axes_to_z(as_array([axis]), [axis2])[0])


def turning_rows(closure: Closure) -> NDArray[np.bool_]:
    """The equations of a closing joint that are about angles; (rows,)."""
    assert closure.joint is not None
    return np.array(turning_equations(JOINTS["fixed"] if closure.motion is not None else type(closure.joint)), dtype=bool)


def row_scales(model: Model, length: float) -> Array:
    """Factors that make the equations comparable: all in metres, angles times a typical length; (m,)."""
    scales = []
    for closure in model.closures:
        own = np.ones(closure.rows)
        if closure.kind == "distance":
            own[:] = 1 / (2 * (value_of(closure.value) or length))
        elif closure.joint is not None:
            own[turning_rows(closure)] = length
        elif closure.kind == "perpendicular":
            own[:] = length
        scales.append(own)
    return np.concatenate(scales) if scales else np.zeros(0)
