"""Times at which formulas of forces and of motions are not smooth, as far as these follow from the time alone.

A formula is run over an array of times, with everything else in it not a number: what comes out as numbers depends on the time
alone. Where it is a straight line, as t - 2 is, its root is exact; else its changes of sign between many times are refined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....model import Model
from ....model.measures.measure import Measure
from ....model.measures.paths import built_in
from ....model.parameters.expressions import derived
from ....model.parameters.tables import AnyTable, Grid, Table
from ....numbers.operations import OPERATIONS, kinks
from .pulses import pulse_times

Array = NDArray[np.float64]

TIMES = 4097  # at which a formula is looked at
HALVINGS = 60


def kink_times(model: Model, first: float, last: float) -> Array:
    """Times inside a span; none where formulas depend on other things."""
    formulas = [*model.signals, *_laws(model)]
    t = np.linspace(first, last, TIMES if formulas else 0)
    found: list[Array] = []
    for formula in formulas:
        look = _Kinks(model, t)
        numbers = look.of(formula)[1]
        found += [_roots(model, formula, k, g, t) for k, g in enumerate(numbers)]
        found += [points[(points > first) & (points < last)] for points in look.points]
    return np.concatenate([pulse_times(model, formulas, first, last), *found])


def _laws(model: Model) -> Iterator[Measure]:
    """Formulas of prescribed motions, as measures."""
    for motion in (*model.motions, *(closure.motion for closure in model.closures)):
        for term in (term for law in (motion.laws if motion else ()) for term in law.terms if term.kind == "formula"):
            yield Measure("", "expression", expression=term.expression, values=tuple(zip(term.names, term.values, strict=True)))


def _roots(model: Model, formula: Measure, k: int, g: Array, t: Array) -> Array:
    """The roots of the k-th of the numbers of a formula that change their sign at kinks, whose values are g."""
    if not np.isfinite(g).all():
        return np.zeros(0)
    line = g[0] + (g[-1] - g[0]) * (t - t[0]) / (t[-1] - t[0])
    if float(np.abs(g - line).max()) <= 1e-12 * max(float(np.abs(g).max()), 1e-300):
        return t[:1] - g[:1] * (t[-1] - t[0]) / (g[-1] - g[0]) if g[0] * g[-1] < 0 else np.zeros(0)
    changes = np.flatnonzero((g[:-1] < 0) != (g[1:] < 0))
    low, high = t[changes], t[changes + 1]
    side = g[changes] < 0
    for _ in range(HALVINGS if len(changes) else 0):
        middle = 0.5 * (low + high)
        same = (_Kinks(model, middle).of(formula)[1][k] < 0) == side
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high


class _Kinks:
    """``points``: those of tables over the time itself, which need not be looked for."""

    def __init__(self, model: Model, t: Array):
        self.model, self.t, self.unknown = model, t, np.full(len(t), np.nan)
        self.points: list[Array] = []
        self.own = {measure.name: measure for measure in model.all_measures}

    def of(self, measure: Measure) -> tuple[Array, list[Array]]:
        """Values of a formula, and the numbers that change their sign where it is not smooth."""
        found: list[Any] = []
        tables, program = dict(measure.tables), derived(measure.expression)
        values = dict(measure.values) | {
            name: self._named(name, found) for name in program.names if name not in dict(measure.values)
        }

        def apply(operation: str, operands: list[Any]) -> Any:
            found.extend(kinks(operation, operands))
            return OPERATIONS[operation](*operands)

        def call(name: str, operands: list[Any]) -> Any:
            table = tables[name]
            if operands[0] is self.t and isinstance(table, Table) and table.outside != "periodic":
                self.points.append(np.array(table.x))
            else:
                found.extend(_points(table, operands, len(self.t)))
            return table(*operands)

        with np.errstate(all="ignore"):
            value = program.run(values, apply, call)
        return self._wide(value), [self._wide(x) for x in found]

    def _wide(self, x: Any) -> Array:
        return np.broadcast_to(np.asarray(x, dtype=float), self.t.shape)

    def _named(self, name: str, found: list[Any]) -> Array:
        measure = self.own.get(name)
        if measure is not None and measure.kind == "expression":
            value, more = self.of(measure)
            found.extend(more)
            return value
        path = built_in(self.model, name) if measure is None else None
        return self.t if path is not None and path.kind == "time" else self.unknown


def _points(table: AnyTable, operands: list[Any], count: int) -> Iterator[Array]:
    """The points of a table over what follows from the time, each as a number of its own, which is exact."""
    if isinstance(table, Grid):
        for points, breaks, operand in zip((table.x, table.y), table.breaks, operands, strict=True):
            x = np.broadcast_to(np.asarray(operand, dtype=float), (count,))
            yield from (x - points[k] for k in breaks if np.isfinite(x).all())
        return
    x = np.broadcast_to(np.asarray(operands[0], dtype=float), (count,))
    if not np.isfinite(x).all():
        return
    if table.outside != "periodic":
        yield from (x - knot for knot in table.x)
    else:
        period = table.x[-1] - table.x[0]
        yield from (1.0 - 2.0 * (np.floor((x - knot) / period) % 2.0) for knot in table.x[:-1])
