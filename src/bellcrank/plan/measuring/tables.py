"""Measures as tables. Each has a row of numbers and a signature, like a force element; points and axes are in the frames of the
computation. Those that force elements read are found before the forces, all others at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model import Measure, Model
from ...model.measures.columns import VECTOR_FORCES, columns_of, element_index, joint_of
from ...model.measures.order import Ordered, arguments, kinks_of, ordered
from ...model.parameters.expressions import derived
from ...model.parameters.tables import AnyTable
from ...numbers.grid import GridLookup
from ...numbers.spline import Lookup
from ...numbers.variable import as_array, as_number, length_of
from ..closures import closing_axes
from ..frames import Frames, frame_of
from ..order import Tree

Array = NDArray[np.float64]
Pooled = Callable[[AnyTable], tuple[float, ...]]  # puts a table into the pool, and says where it is
Ints = NDArray[np.int64]

MEASURE_TABLE = ("code", "column", "a", "b", "axes", "observer", "index", "first", "last", "opening")
MEASURE_SLOTS = {"point_a": 0, "point_b": 3, "axes": 6, "axes_b": 15, "direction_a": 24, "direction_b": 27, "axis": 30}
MEASURE_SLOTS |= {"value": 33, "vector": 34, "world": 37}
MEASURE_ROW = 46

PASSES = {"acceleration": ("a",), "reaction": ("a", "wrench"), "drive": ("a", "drive"), "momentum": ("energy",)}
PASSES |= {"closure_error": ("closure",)}
ENERGY_PASSES = {"kinetic": ("energy",), "potential": ("energy",), "stored": ("element",), "total": ("energy", "element")}


class MeasureSignature(NamedTuple):
    """Measures with equal signatures share their code."""

    kind: str
    part: str
    component: int | str | None
    size: int  # columns
    grounds: tuple[bool, bool, bool, bool]  # whether a, b, the axes, the observer are ground's
    joint: str = ""  # kind of a closing joint, or of what closes a loop
    dof: int = 0
    driven: bool = False
    axis: bool = False
    expression: str = ""  # over a0, a1, ..., which are columns, and p0, p1, ..., which are numbers of the row
    tables: tuple[Lookup | GridLookup, ...] = ()  # f0, f1, ...; where they are comes after the numbers
    varied: tuple[int, ...] = ()  # numbers of its row that a design may change


@dataclass(frozen=True)
class MeasurePlan:
    """``early`` rows come first: those that force elements read. ``passes``: what else has to be known for the others."""

    early_signatures: tuple[MeasureSignature, ...]
    late_signatures: tuple[MeasureSignature, ...]
    table: Ints
    data: Array
    arguments: Ints  # columns that formulas read
    early: int
    openings: int  # numbers that say where formulas of the early ones are not smooth
    ordered: Ordered
    passes: frozenset[str]
    early_passes: frozenset[str]

    def key(self) -> tuple[object, ...]:
        return (self.early_signatures, self.late_signatures) if self.early_signatures or self.late_signatures else ()


def measured_bodies(model: Model, measures: Sequence[Measure]) -> set[int]:
    """Bodies whose states the measures read."""
    found: set[int] = set()
    for measure in measures:
        found |= set(_bodies(model, measure))
    return found - {-1}


def _bodies(model: Model, measure: Measure) -> tuple[int, int, int, int]:
    """Rows of a, b, the axes and the observer; -1 is ground."""
    axes, kind = measure.axes, measure.kind
    if kind == "reaction" and measure.joint >= 0:
        row = measure.joint
        far = bool(model.turned) and model.turned[row]
        return (model.parents[row] if far else row), row, axes, -1
    if measure.closure >= 0 and kind in ("coordinate", "closure", "drive"):
        closure = model.closures[measure.closure]
        return (-1, -1, -1, -1) if closure.kind == "coupler" else (closure.body_a, closure.body_b, -1, -1)
    if kind in ("position", "velocity", "acceleration", "turning", "distance", "angle", "reaction"):
        return measure.body_a, measure.body_b, axes, measure.observer
    return -1, -1, -1, -1


def make_measures(
    model: Model,
    tree: Tree,
    frames: Frames,
    attached: dict[int, int],
    names: tuple[Sequence[str], Sequence[str]],
    drives: Ints,
    pooled: Pooled,
    varied: NDArray[np.bool_] | None = None,
) -> MeasurePlan:
    """``names`` read by force elements, and wanted at the end; ``attached``: rows of states by body of the walk."""
    own, (read, wanted) = model.all_measures, names
    early = {measure.name for measure in ordered(model, own, read).measures}
    plan = ordered(model, own, [*read, *wanted])
    first = [measure for measure in plan.measures if measure.name in early]
    rest = [measure for measure in plan.measures if measure.name not in early]
    writer = _Rows(model, tree, frames, attached, plan, drives, pooled)
    made = [writer.row(measure) for measure in (*first, *rest)]
    if varied is not None:
        slots = [tuple(map(int, np.flatnonzero(mask))) for mask in varied]
        made = [(s._replace(varied=own), ints, row) for own, (s, ints, row) in zip(slots, made, strict=True)]
    codes = [list(dict.fromkeys(s for s, _, _ in part)) for part in (made[: len(first)], made[len(first) :])]
    kinks = [kinks_of(measure) for measure in first]
    places = [sum(kinks[:k]) for k in range(len(first))] + [0] * len(rest)
    table = [(codes[k >= len(first)].index(s), *ints, places[k]) for k, (s, ints, _) in enumerate(made)]
    width = max((MEASURE_ROW, *(len(row) for _, _, row in made)))
    data = as_array([[*row, *[0.0] * (width - len(row))] for _, _, row in made]).reshape(-1, width)
    return MeasurePlan(
        early_signatures=tuple(codes[0]),
        late_signatures=tuple(codes[1]),
        table=np.array(table, dtype=np.int64).reshape(-1, len(MEASURE_TABLE)),
        data=data,
        arguments=np.array(writer.arguments, dtype=np.int64),
        early=len(first),
        openings=sum(kinks),
        ordered=plan,
        passes=frozenset(x for measure in rest for x in _passes(model, measure)),
        early_passes=frozenset(x for measure in first for x in _passes(model, measure)),
    )


def _passes(model: Model, measure: Measure) -> tuple[str, ...]:
    """What has to be known first: accelerations "a", and outputs of passes; "t" and "u" where it reads them."""
    if measure.kind == "energy":
        return ENERGY_PASSES[measure.part]
    if measure.kind in ("time", "input"):
        return ("t",) if measure.kind == "time" else ("u",)
    if measure.kind == "coordinate":
        return ("a", "joints") if measure.part == "a" else ()
    if measure.closure >= 0 and measure.kind in ("reaction", "closure", "drive"):
        return ("a", "closing")
    if measure.kind == "element":
        vector = model.elements[element_index(model, measure)].kind in VECTOR_FORCES and measure.part in ("", "force")
        return ("element", "vectors") if vector else ("element",)
    return PASSES.get(measure.kind, ())


class _Rows:
    """Writes the rows: signature, integers but for the code, numbers."""

    def __init__(
        self, model: Model, tree: Tree, frames: Frames, attached: dict[int, int], plan: Ordered, drives: Ints, pooled: Pooled
    ):
        self.pooled = pooled
        self.model, self.frames, self.place, self.attached, self.plan = model, frames, tree.place, attached, plan
        self.drives = drives  # (n, 2) by body of the walk: first entries in the driven q and v
        self.arguments: list[int] = []

    def row(self, measure: Measure) -> tuple[MeasureSignature, tuple[int, ...], list[float]]:
        bodies = _bodies(self.model, measure)
        states = [0 if body < 0 else self.attached[self.place[body]] for body in bodies]
        first = (self.plan.first[measure.name], *states)
        grounds = tuple(body < 0 for body in bodies)
        size = len(columns_of(self.model, measure))
        part = measure.part or {"coordinate": "q", "element": "force", "drive": "effort"}.get(measure.kind, "")
        signature = MeasureSignature(measure.kind, part, measure.component, size, (*grounds,), dof=measure.dof)  # type: ignore[arg-type]
        if measure.kind == "expression":
            return self._formula(measure, signature, first)
        signature = signature._replace(axis=measure.axis is not None, joint=self._joint(measure))
        signature, index = self._index(measure, signature)
        span = (0, 0)
        if measure.closure >= 0:
            starts = self.model.closure_index
            span = int(starts[measure.closure]), int(starts[measure.closure + 1])
        elif measure.kind == "closure_error":
            span = 0, int(self.model.closure_index[-1])
        return signature, (*first, index, *span), self._numbers(measure, bodies)

    def _joint(self, measure: Measure) -> str:
        """Kind of the joint that closes a loop, or of the closure; of an element, whether its force is a vector."""
        if measure.kind == "element":
            return self.model.elements[element_index(self.model, measure)].kind
        if measure.closure < 0:
            return ""
        closure = self.model.closures[measure.closure]
        return closure.kind if closure.joint is None else closure.joint.kind

    def _index(self, measure: Measure, signature: MeasureSignature) -> tuple[MeasureSignature, int]:
        """The place of its number in an array."""
        model, kind = self.model, measure.kind
        if measure.closure >= 0:
            return signature, measure.closure
        if kind in ("coordinate", "drive"):
            driven = bool(model.driven[measure.joint])
            starts = model.q_index[measure.joint], model.v_index[measure.joint]
            if driven:
                starts = tuple(self.drives[self.place[measure.joint]])
            return signature._replace(driven=driven, dof=0), int(starts[signature.part != "q"]) + measure.dof
        if kind == "reaction":
            return signature, measure.joint
        if kind == "element":
            return signature, element_index(model, measure)
        return signature, list(model.inputs).index(measure.element) if kind == "input" else 0

    def _formula(
        self, measure: Measure, signature: MeasureSignature, first: tuple[int, ...]
    ) -> tuple[MeasureSignature, tuple[int, ...], list[float]]:
        values, names = dict(measure.values), arguments(measure)
        numbers = [name for name in derived(measure.expression).names if name in values]
        renamed = {name: f"a{k}" for k, name in enumerate(names)} | {name: f"p{k}" for k, name in enumerate(numbers)}
        called = {name: f"f{k}" for k, (name, _) in enumerate(measure.tables)}
        text = derived(measure.expression).renamed(lambda name: renamed[name], lambda name: called[name]).text
        start = len(self.arguments)
        self.arguments += [self.plan.columns[name] for name in names]
        tables = tuple(table.lookup for _, table in measure.tables)
        places = [x for _, table in measure.tables for x in self.pooled(table)]
        row = [*(values[name] for name in numbers), *places]
        return signature._replace(expression=text, tables=tables), (*first, len(numbers), start, 0), row

    def _numbers(self, measure: Measure, bodies: tuple[int, int, int, int]) -> list[float]:
        row: list[Any] = [0.0] * MEASURE_ROW

        def put(name: str, values: Any) -> None:
            start, flat = MEASURE_SLOTS[name], np.ravel(values)
            row[start : start + len(flat)] = flat.tolist()

        (turn_a, origin_a), (turn_b, origin_b) = (frame_of(self.frames, self.place, body) for body in bodies[:2])
        point_a, point_b = self._points(measure)
        put("point_a", turn_a.T @ (as_array(point_a) - origin_a))
        put("point_b", turn_b.T @ (as_array(point_b) - origin_b))
        put("axes", frame_of(self.frames, self.place, bodies[2])[0].T)
        if measure.closure >= 0 and measure.kind in ("coordinate", "closure", "drive"):
            axes = closing_axes(self.model.closures[measure.closure])
            put("axes", turn_a.T @ axes)
            put("axes_b", turn_b.T @ axes)
        for name, turn, given in (
            ("direction_a", turn_a, measure.direction_a),
            ("direction_b", turn_b, measure.direction_b),
            ("axis", turn_a, measure.axis),
        ):
            if given is not None:
                put(name, turn.T @ _unit(given))
        put("value", as_array(self._value(measure)))
        put("vector", self.frames.ground_origin)
        put("world", self.frames.ground_rotation.T)
        return row

    def _value(self, measure: Measure) -> Any:
        model = self.model
        if measure.kind == "reaction" and measure.joint >= 0:
            return -1.0 if model.turned and model.turned[measure.joint] else 1.0
        if measure.kind == "energy":
            return as_number(model.mass.sum() * (model.gravity @ self.frames.ground_origin))
        if measure.closure >= 0 and measure.kind in ("coordinate", "drive"):
            joint = model.closures[measure.closure].joint
            pitch = None if joint is None else joint_of(model, measure).pitch
            return 0.0 if pitch is None else pitch
        return 0.0

    def _points(self, measure: Measure) -> tuple[Sequence[float], Sequence[float]]:
        """The points in the frames of a and b."""
        model, zero = self.model, (0.0, 0.0, 0.0)
        if measure.kind == "reaction" and measure.joint >= 0:
            far = bool(model.turned) and model.turned[measure.joint]
            return (tuple(model.position[measure.joint]) if far else zero), zero
        if measure.closure >= 0 and measure.kind in ("coordinate", "closure", "drive"):
            closure = model.closures[measure.closure]
            return closure.point_a, closure.point_b
        return measure.point_a, measure.point_b


def _unit(vector: Sequence[float]) -> Array:
    x = as_array(vector)
    return x / length_of(x)
