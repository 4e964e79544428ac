"""Prescribed motions and force elements as tables: what the passes before a recursion read.

Like a body, each has a row of numbers and a signature; those with equal signatures share their code. Points and axes are
turned into the frames of the computation. Splines stand in one pool of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..forces import FORCES
from ..model import Model
from ..model.element import ELEMENTS, MOST_ARGUMENTS, MOST_TERMS, Element
from ..model.measures.order import ordered
from ..model.motion import Law, PrescribedMotion
from ..model.parameters.tables import AnyTable, Table
from ..numbers.spline import Lookup
from ..numbers.variable import as_array, length_of
from .closures import Closing, closing_axes, make_closing, tied_bodies
from .frames import Frames, frame_of
from .measuring import MeasurePlan, make_measures, measured_bodies
from .order import Tree

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOTION_TABLE = ("code", "q", "v")
MOTION_AXIS = 3  # the first numbers of a motion's row; then, term by term, its values and where its table is
TERMS = tuple(f"{name}{k}" for k in range(MOST_TERMS) for name in "qv")  # q0, v0, q1, ...: of an element on a sum
ARGUMENTS = tuple(f"m{k}" for k in range(MOST_ARGUMENTS))  # columns of measures that an element reads
ELEMENT_TABLE = ("code", "q", "v", "row_a", "row_b", "input", *TERMS, *ARGUMENTS, "opening")
ELEMENT_SLOTS = {"values": 0, "point_a": 13, "point_b": 16, "axes_a": 19, "axes_b": 28, "table": 37, "factors": 13}
ELEMENT_ROW = 39


class TermSignature(NamedTuple):
    """A law that is not a sum, or a part of one: its kind, how many values it has, and its table."""

    kind: str
    size: int
    table: Lookup | None
    expression: str = ""
    names: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        return self.size + (0 if self.table is None else 2)


class MotionSignature(NamedTuple):
    joint: str
    laws: tuple[tuple[TermSignature, ...], ...]  # of each coordinate, the laws that are added up
    varied: tuple[int, ...] = ()  # numbers of its row that a design may change

    @property
    def width(self) -> int:
        """Numbers of its row."""
        return MOTION_AXIS + sum(term.width for terms in self.laws for term in terms)


def motion_row(signatures: Sequence[MotionSignature]) -> int:
    """Length of the rows of motions: that of the widest."""
    return max((signature.width for signature in signatures), default=1)


class ElementSignature(NamedTuple):
    kind: str
    on_joint: bool
    scalar: bool  # acts on a coordinate whose rate is v
    ground_a: bool
    ground_b: bool
    table: Lookup | None
    has_input: bool
    closing: str = ""  # kind of the joint that closes a loop, for an element on it
    dof: int = 0  # of that joint
    terms: int = 0  # coordinates of an element on a sum of them
    live: tuple[str, ...] = ()  # values that measures give
    varied: tuple[int, ...] = ()  # numbers of its row that a design may change


def element_gates(signature: ElementSignature) -> int:
    """Numbers that say where an element's force is not smooth; stops on coordinates of the tree are watched otherwise."""
    if signature.on_joint and signature.kind == "joint_stop":
        return 0
    force, table = FORCES[signature.kind], signature.table
    return force.gates + (table.gates if table is not None and force.watches_table else 0)


@dataclass(frozen=True)
class Loads:
    motion_signatures: tuple[MotionSignature, ...]
    motion_table: Ints
    motion_data: Array
    element_signatures: tuple[ElementSignature, ...]
    element_table: Ints
    element_data: Array
    pool: Array
    attached: tuple[int, ...]  # bodies of the walk with force elements or closures: their rows of states
    driven: NDArray[np.bool_]  # by body of the walk
    driven_index: Ints  # (n,2): first entries in the driven q and v
    time_dependent: bool
    closing: Closing
    measures: MeasurePlan
    openings: int  # numbers that change their sign where forces begin, end, or have kinks

    @property
    def elements(self) -> int:
        return len(self.element_table)

    @property
    def motions(self) -> int:
        return len(self.motion_table)

    def key(self) -> tuple[object, ...]:
        own = self.motion_signatures, self.element_signatures, self.time_dependent
        return (*own, *self.closing.key(), *self.measures.key())


class _Pool:
    """Splines one after the other."""

    def __init__(self) -> None:
        self.parts: list[Array] = []
        self.size = 0

    def add(self, table: AnyTable) -> tuple[float, ...]:
        """The place at which a table starts and how many points it has along each of its arguments."""
        start = self.size
        self.parts.append(table.rows)
        self.size += len(self.parts[-1])
        return float(start), *map(float, table.size)


def _signature(table: Table | None) -> Lookup | None:
    return None if table is None else table.lookup


def make_loads(
    model: Model,
    tree: Tree,
    frames: Frames,
    measured: Sequence[str] = (),
    varied: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Loads:
    """``measured``: names of the measures that a program is to find; those that force elements read are found anyway.

    ``varied``: what a design may change of the arrays of numbers.
    """
    varied = varied or {}
    pool = _Pool()
    place = tree.place
    driven = np.array([bool(model.motions) and model.motions[body] is not None for body in tree.order], dtype=bool)
    driven_index, motions = _motions(model, tree, driven, pool)
    read = list(dict.fromkeys(name for e in model.elements for name in e.arguments))
    bodies = {b for e in model.elements for b in _bodies(model, e) if b >= 0}
    bodies |= measured_bodies(model, ordered(model, model.all_measures, [*read, *measured]).measures)
    attached = sorted({place[b] for b in bodies} | set(tied_bodies(model, place)))
    driven_size = [sum(getattr(model.joints[tree.order[i]], size) for i in np.flatnonzero(driven)) for size in ("nq", "nv")]
    first = driven_size[0], driven_size[1]
    mask = varied.get("closure_data")
    closing = make_closing(model, tree, frames, tuple(attached), first, driven_index, pool.add, mask)
    for closure, q, v in closing.driven:  # a value is driven like a slide
        assert closure.motion is not None
        kind = "prismatic" if closure.joint is None else closure.joint.kind
        motions.append(_motion(kind, closure.motion, (q, v), pool))
    rows = {i: k for k, i in enumerate(attached)}
    found = varied.get("measure_data")
    measures = make_measures(model, tree, frames, rows, (read, measured), driven_index, pool.add, found)
    columns = measures.ordered.columns
    elements = [_reading(_element(model, frames, place, rows, e, pool), e, columns) for e in model.elements]
    motion_signatures, motion_table = _codes(motions, len(MOTION_TABLE), varied.get("motion_data"))
    element_signatures, element_table = _codes(elements, len(ELEMENT_TABLE), varied.get("element_data"))
    gates = [element_gates(signature) for signature, _, _ in elements]
    element_table[:, ELEMENT_TABLE.index("opening")] = measures.openings + np.cumsum([0, *gates])[:-1]
    timed = any(e.kind == "joint_effort" and e.table is not None for e in model.elements)
    return Loads(
        motion_signatures=motion_signatures,
        motion_table=motion_table,
        motion_data=_stacked([row for _, _, row in motions], motion_row(motion_signatures)),
        element_signatures=element_signatures,
        element_table=element_table,
        element_data=as_array([row for _, _, row in elements]).reshape(-1, ELEMENT_ROW),
        pool=np.concatenate(pool.parts) if pool.parts else np.zeros(1),
        attached=tuple(attached),
        driven=driven,
        driven_index=driven_index,
        time_dependent=bool(motions) or timed,
        closing=closing,
        measures=measures,
        openings=measures.openings + sum(gates),
    )


def _reading(entry, e: Element, columns: dict[str, int]):  # type: ignore[no-untyped-def]
    """An element's entry, with the columns of the measures that it reads."""
    if not e.arguments:
        return entry
    signature, places, row = entry
    filled = [*places, *[0] * (len(ELEMENT_TABLE) - 1 - len(ARGUMENTS) - 1 - len(places))]
    return signature._replace(live=e.live), (*filled, *(columns[name] for name in e.arguments)), row


def _codes(  # type: ignore[no-untyped-def]
    entries: Sequence[tuple[Any, tuple[int, ...], Array]], columns: int, varied: NDArray[np.bool_] | None
):
    """Distinct signatures, and the integer table with the code of each in front."""
    own = [
        signature if varied is None else signature._replace(varied=tuple(map(int, np.flatnonzero(varied[k]))))
        for k, (signature, _, _) in enumerate(entries)
    ]
    signatures = list(dict.fromkeys(own))
    code = {signature: k for k, signature in enumerate(signatures)}
    table = [
        (code[signature], *numbers, *[0] * (columns - 1 - len(numbers)))
        for signature, (_, numbers, _) in zip(own, entries, strict=True)
    ]
    return tuple(signatures), np.array(table, dtype=np.int64).reshape(-1, columns)


def _motions(model: Model, tree: Tree, driven: NDArray[np.bool_], pool: _Pool):  # type: ignore[no-untyped-def]
    index = np.zeros((tree.n, 2), dtype=np.int64)
    entries, q, v = [], 0, 0
    for i in np.flatnonzero(driven):
        body = tree.order[i]
        joint, motion = model.joints[body], model.motions[body]
        assert motion is not None
        index[i] = q, v
        entries.append(_motion(joint.key, motion, (q, v), pool))
        q, v = q + joint.nq, v + joint.nv
    return index, entries


def _motion(
    kind: str, motion: PrescribedMotion, place: tuple[int, int], pool: _Pool
) -> tuple[MotionSignature, tuple[int, int], Array]:
    axis = np.zeros(MOTION_AXIS) if motion.axis is None else as_array(motion.axis) / length_of(motion.axis)
    row = axis.tolist()
    for term in (term for law in motion.laws for term in law.terms):
        row += [*term.values, *(() if term.table is None else pool.add(term.table))]
    laws = tuple(tuple(map(_term, law.terms)) for law in motion.laws)
    return MotionSignature(kind, laws), place, as_array(row)


def _term(law: Law) -> TermSignature:
    return TermSignature(law.kind, len(law.values), _signature(law.table), law.expression, law.names)


def _stacked(rows: Sequence[Array], width: int) -> Array:
    """Rows of different lengths below each other, filled up with zeros."""
    return as_array([[*row, *[0.0] * (width - len(row))] for row in rows]).reshape(-1, width)


def _bodies(model: Model, e: Element) -> tuple[int, ...]:
    """Bodies that an element pushes on: of an element on a joint of the tree none."""
    if e.joint >= 0:
        return ()
    end = model.closures[e.closure] if e.closure >= 0 else e
    return end.body_a, end.body_b


def _element(model: Model, frames: Frames, place: dict[int, int], rows: dict[int, int], e: Element, pool: _Pool):  # type: ignore[no-untyped-def]
    row = [0.0] * ELEMENT_ROW
    row[: len(e.values)] = [e.values[name] for name in ELEMENTS[e.kind]]
    if e.table is not None:
        row[ELEMENT_SLOTS["table"] :] = pool.add(e.table)
    table = _signature(e.table)
    if e.joint >= 0:
        joint = model.joints[e.joint]
        q, v = int(model.q_index[e.joint]) + e.dof, int(model.v_index[e.joint]) + e.dof
        u = model.input_of(e)
        scalar = joint.quaternion is None and joint.mechanical  # user-defined states have no q
        signature = ElementSignature(e.kind, True, scalar, True, True, table, u >= 0, terms=len(e.terms))
        start = ELEMENT_SLOTS["factors"]
        row[start : start + len(e.terms)] = [factor for _, _, factor in e.terms]
        places = [int(index[joint]) + dof for joint, dof, _ in e.terms for index in (model.q_index, model.v_index)]
        return signature, (q if signature.scalar else 0, v, 0, 0, max(u, 0), *places), row
    if e.closure >= 0:
        return _on_closing_joint(model, frames, place, rows, e, table, row)
    for name, body, point in (("a", e.body_a, e.point_a), ("b", e.body_b, e.point_b)):
        rotation, origin = frame_of(frames, place, body)
        start = ELEMENT_SLOTS[f"point_{name}"]
        row[start : start + 3] = rotation.T @ (as_array(point) - origin)
        axes = np.eye(3) if e.axes is None else as_array(e.axes)
        if e.kind == "force" and name == "b":
            rotation = frames.ground_rotation
        start = ELEMENT_SLOTS[f"axes_{name}"]
        row[start : start + 9] = (rotation.T @ axes).ravel()
    signature = ElementSignature(e.kind, False, False, e.body_a < 0, e.body_b < 0, table, e.input >= 0)
    at = [rows[place[b]] if b >= 0 else 0 for b in (e.body_a, e.body_b)]
    return signature, (0, 0, *at, max(e.input, 0)), row


def _on_closing_joint(  # type: ignore[no-untyped-def]
    model: Model,
    frames: Frames,
    place: dict[int, int],
    rows: dict[int, int],
    e: Element,
    table: Lookup | None,
    row: list[Any],
):
    """An element on a joint without coordinates of its own: between the bodies, in the joint's axes."""
    closure = model.closures[e.closure]
    assert closure.joint is not None
    for name, body, point in (("a", closure.body_a, closure.point_a), ("b", closure.body_b, closure.point_b)):
        rotation, origin = frame_of(frames, place, body)
        start = ELEMENT_SLOTS[f"point_{name}"]
        row[start : start + 3] = rotation.T @ (as_array(point) - origin)
        start = ELEMENT_SLOTS[f"axes_{name}"]
        row[start : start + 9] = (rotation.T @ closing_axes(closure)).ravel()
    ground = closure.body_a < 0, closure.body_b < 0
    scalar = closure.joint.quaternion is None
    signature = ElementSignature(e.kind, False, scalar, *ground, table, e.input >= 0, closure.joint.kind, e.dof)
    at = [rows[place[b]] if b >= 0 else 0 for b in (closure.body_a, closure.body_b)]
    return signature, (0, 0, *at, max(e.input, 0)), row
