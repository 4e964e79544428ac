"""Designs of many runs: one in each lane, its start assembled, and where its forces begin and end.

What a design changes of the model's arrays goes into the lanes of machine code; what a run has to know besides are limits of
stops, how far friction gives before it slides, and times at which steps end.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...design import Design
from ...design.recorded_map import RecordedMap
from ...errors import ModelError, StateError
from ...machine.steps.cuts.corners import NEVER
from ...machine.steps.cuts.known import known_times, limits_of, reaches_of, time_tables
from ...machine.steps.lanes.runs import Own
from ...model import Model
from ...numbers.variable import varied
from ...plan import Plan

Array = NDArray[np.float64]


def chosen_designs(
    model: Model, parameters: Mapping[str, ArrayLike] | None, design: Design | None, p: ArrayLike | None
) -> tuple[Design, Array] | None:
    """The design and rows of its parameters, from whichever way they are given; None where nothing is."""
    if parameters is not None and (design is not None or p is not None):
        raise StateError("give either parameters, by their names, or a design with rows p of its parameters")
    if parameters is not None:
        return _by_name(model, parameters)
    if (design is None) != (p is None):
        raise StateError("a design and p go together: p has a row for each run, in the order of design.names")
    if design is None or p is None:
        return None
    if design.base is not model:
        raise StateError(f"the design is of another model, {design.base.name!r}: run design.base, or make one of this model")
    return design, np.atleast_2d(design.values(p))


def _by_name(model: Model, parameters: Mapping[str, ArrayLike]) -> tuple[Design, Array]:
    try:
        columns = [np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in parameters.values()]
        rows = np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros((0, 0))
    except (TypeError, ValueError):
        rows = np.zeros((0, 0, 0))
    if rows.ndim != 2:
        sizes = ", ".join(f"{name} {np.shape(x)}" for name, x in parameters.items())
        raise StateError(f"parameters must be numbers, or a number for each run; they are {sizes}")
    return Design(model, tuple(parameters)), rows


class RunDesigns:
    """Of one design and the plan of one Dynamics."""

    def __init__(self, design: Design, plan: Plan):
        self.design, self.plan = design, plan
        over = design.recording.model
        pairs = zip(limits_of(over), limits_of(design.base), strict=True)
        self._limits = [mine for (_, mine), (_, value) in pairs if np.isfinite(value)]
        outputs = [*self._limits, *reaches_of(over)]
        self._map = RecordedMap(design.recording.tape, outputs) if varied(np.array(outputs, dtype=object)).any() else None
        self._values = np.array([getattr(x, "value", x) for x in outputs], dtype=np.float64)
        self._timed = _moves_times(over)
        self._known = cache(partial(known_times, design.base))

    def own(self, p: Array, rows: Array, first: float, last: float) -> Own:
        """What each run has of its own, from ``first`` to ``last``."""
        found = np.tile(self._values, (len(p), 1)) if self._map is None else self._map.values(p)[0]
        limits, reach = np.split(found, [len(self._limits)], axis=1)
        return Own(rows, np.ascontiguousarray(limits), np.ascontiguousarray(reach), self._corners(p, first, last))

    def _corners(self, p: Array, first: float, last: float) -> Array:
        if not self._timed:
            return np.tile(self._known(first, last), (len(p), 1))
        times = [known_times(self._model(row), first, last) for row in p]
        corners = np.full((len(p), max(map(len, times))), NEVER)
        for row, own in zip(corners, times, strict=True):
            row[: len(own)] = own
        return corners

    def _model(self, p: Array) -> Model:
        try:
            return self.design.model(p)
        except ModelError:  # such a run does not start
            return self.design.base


def _moves_times(over: Model) -> bool:
    """Whether a parameter moves times at which steps end: knots of tables over time, or numbers of formulas of motions."""
    numbers: list[Any] = [x for table in time_tables(over) for x in table.x]
    for motion in (*over.motions, *(closure.motion for closure in over.closures)):
        for term in (term for law in (motion.laws if motion else ()) for term in law.terms if term.kind == "formula"):
            numbers += term.values
    for measure in over.signals:
        numbers += [x for _, x in measure.values]
    return bool(varied(np.array(numbers, dtype=object)).any())
