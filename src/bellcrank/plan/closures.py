"""Closures as tables: what the equations that close loops read.

Each closure has a row of numbers and a signature, like a force element. An equation is carried inward from where it takes hold
of the tree: from one or two bodies (a *attachment* each), or from the joints that a coupler names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..joints import JOINTS
from ..joints.derived import turning_equations
from ..model import Closure, Model
from ..numbers.variable import as_array, value_of
from .frames import Frames, axes_to_z, frame_of
from .order import Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

CLOSURE_TABLE = ("code", "row", "attachment", "state_a", "state_b", "driven_q", "driven_v", "attachments")
ATTACHMENT_TABLE = ("row", "body", "dof")  # dof: of the body's joint, for a coupler
CLOSURE_SLOTS = {"point_a": 0, "point_b": 3, "axes_a": 6, "axes_b": 15, "world": 24, "value": 33, "pitch": 34, "center_a": 35}
CLOSURE_SLOTS |= {"center_b": 38, "scale": 41}
CLOSURE_ROW = 47
_CHOSEN = {*range(CLOSURE_SLOTS["world"], CLOSURE_SLOTS["world"] + 9), *range(CLOSURE_SLOTS["scale"], CLOSURE_ROW)}
"""Axes along which equations are written, and what makes them comparable: a choice, which no design changes."""


class ClosureSignature(NamedTuple):
    """Closures with equal signatures share their code."""

    kind: str  # of the equations: a joint's kind, "distance", ..., "coupler"
    rows: int
    ground_a: bool
    ground_b: bool
    driven: str  # kind of joint whose motion is prescribed, or "value", or ""
    varied: tuple[int, ...] = ()  # numbers of its row that a design may change


@dataclass(frozen=True)
class Closing:
    signatures: tuple[ClosureSignature, ...]
    table: Ints
    data: Array
    attachments: Ints
    factors: Array  # of each attachment: of a coupler's term, else 0
    rows: int
    tied: tuple[int, ...]  # bodies of the walk that closures hold
    driven: tuple[tuple[Closure, int, int], ...]  # closures with a motion, and where it goes in the driven q and v

    @property
    def closures(self) -> int:
        return len(self.table)

    @property
    def couplers(self) -> bool:
        return any(signature.kind == "coupler" for signature in self.signatures)

    def key(self) -> tuple[object, ...]:
        return (self.signatures,)


def tied_bodies(model: Model, place: dict[int, int]) -> list[int]:
    ends = (body for closure in model.closures if closure.kind != "coupler" for body in (closure.body_a, closure.body_b))
    return sorted({place[body] for body in ends if body >= 0})


def make_closing(
    model: Model,
    tree: Tree,
    frames: Frames,
    held: tuple[int, ...],
    first: tuple[int, int],
    varied: NDArray[np.bool_] | None = None,
) -> Closing:
    """``first``: where the states of driven closures start, after those of the driven joints."""
    place = tree.place
    state = {i: k for k, i in enumerate(held)}
    signatures: dict[ClosureSignature, int] = {}
    table, data, factors, driven = [], [], [], []
    attachments: list[tuple[int, int, int]] = []
    driven_q, driven_v = first
    for k, (closure, row) in enumerate(zip(model.closures, model.closure_index, strict=False)):
        signature = _signature(closure)
        if varied is not None:
            signature = signature._replace(varied=tuple(int(s) for s in np.flatnonzero(varied[k]) if s not in _CHOSEN))
        code = signatures.setdefault(signature, len(signatures))
        taken = _attachments(closure, int(row), place)
        states = [state[place[b]] if b >= 0 and closure.kind != "coupler" else 0 for b in (closure.body_a, closure.body_b)]
        table.append((code, row, len(attachments), *states, driven_q, driven_v, len(taken)))
        attachments += [entry for entry, _ in taken]
        factors += [factor for _, factor in taken]
        data.append(_data(model, frames, place, closure))
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
    )


def _width(closure: Closure, field: str) -> int:
    return 1 if closure.joint is None else int(getattr(closure.joint, field))


def _signature(closure: Closure) -> ClosureSignature:
    kind, driven = closure.kind, ""
    if closure.joint is not None:
        kind = closure.joint.kind if closure.motion is None else "fixed"
    if closure.motion is not None:
        driven = "value" if closure.joint is None else closure.joint.kind
    return ClosureSignature(kind, closure.rows, closure.body_a < 0, closure.body_b < 0, driven)


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
    """Columns; the third is the axis, the first the second axis of a joint that has one."""
    axis = closure.axis if closure.joint is None else closure.joint.axis
    if axis is None:
        return np.eye(3)
    axis2 = None if closure.joint is None else closure.joint.axis2
    return np.asarray(axes_to_z(as_array([axis]), [axis2])[0])


def turning_rows(closure: Closure) -> NDArray[np.bool_]:
    """Which equations of a closing joint are about angles; (rows,)."""
    assert closure.joint is not None
    return np.array(turning_equations(JOINTS["fixed"] if closure.motion is not None else type(closure.joint)), dtype=bool)


def row_scales(model: Model, length: float) -> Array:
    """What makes the equations comparable: all in metres, angles times a typical length; (m,)."""
    scales = []
    for closure in model.closures:
        own = np.ones(closure.rows)
        if closure.kind == "distance":
            own[:] = 1 / (2 * (value_of(closure.value) or length))
        elif closure.joint is not None:
            own[turning_rows(closure)] = length
        scales.append(own)
    return np.concatenate(scales) if scales else np.zeros(0)
