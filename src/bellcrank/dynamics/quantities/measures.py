"""Measures: those that the user wrote, and those that every model has by path, at one state or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...formulations import measured
from ...plan import Plan, make_plan
from ..evaluation import Array, Evaluation, OrZero
from .loops import multipliers as multipliers_of


class Measuring:
    """Machine code for some measures of a model. ``names`` and ``units`` are those of its columns."""

    def __init__(self, dyn: Evaluation, names: Sequence[str]):
        plan = _plan(dyn, tuple(names))
        made = plan.loads.measures
        self.names = tuple(names)
        self.units = tuple(made.ordered.units[name] for name in names)
        self.asked = made.passes | made.early_passes
        self.program = measured.program(made.passes, closed=bool(dyn.model.closures))
        self.columns = [made.ordered.columns[name] for name in names]
        self.evaluation = Evaluation(replace(dyn.planned, plan=plan), dyn.optimisation)

    @property
    def moving(self) -> bool:
        """Whether accelerations have to be known."""
        return "a" in self.program.inputs

    @property
    def pushed(self) -> bool:
        """Whether multipliers have to be known."""
        return "lambda" in self.program.inputs

    def evaluate(self, given: dict[str, Any], t: ArrayLike, inputs: OrZero) -> Array:
        """(B, columns) at states (B, ...); not a number where a measure has no finite value."""
        arrays = {name: x for name, x in given.items() if name in self.program.inputs}
        found = self.evaluation.evaluate(self.program, arrays, t, inputs)[..., self.columns]
        return np.where(np.isfinite(found), found, np.nan)


def _plan(dyn: Evaluation, names: tuple[str, ...]) -> Plan:
    """The plan of the model with the measures; a design keeps its own, and those moved from it take this with other numbers."""
    design, tolerance = dyn.planned.design, dyn.plan.tolerance
    if design is None:
        return make_plan(dyn.model, tolerance=tolerance, measured=names)
    origin, key = design.origin or design, ("measures", tolerance, names)
    if key not in origin.planned:
        over = origin.recording.model
        origin.planned[key] = make_plan(origin.base, tolerance=tolerance, measured=names, over_numbers=over)
    found: Plan = origin.planned[key]
    return found if design is origin else design.moved_plan(found)


def measuring(dyn: Evaluation, names: Sequence[str] | None = None) -> Measuring:
    """Machine code for the named measures, all that the user wrote unless given; made once."""
    if isinstance(names, str):
        raise StateError(f"names must be a list of names of measures; it is the text {names!r}: write [{names!r}]")
    wanted = tuple(dyn.model.measure_names if names is None else names)
    if not all(isinstance(name, str) for name in wanted):
        raise StateError(f"names must be a list of names of measures; it is {names!r}")
    if wanted not in dyn.measuring_code:
        dyn.measuring_code[wanted] = Measuring(dyn, wanted)
    found: Measuring = dyn.measuring_code[wanted]
    return found


def measure_units(dyn: Evaluation, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Units of measures, as measures takes their names; "" where one is not known."""
    return measuring(dyn, names).units


def measures(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    tau: OrZero = None,
    *,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
    names: Sequence[str] | None = None,
    a: ArrayLike | None = None,
    multipliers: ArrayLike | None = None,
) -> Array:
    """Measures at one state (columns,), or many (B, columns): those that the user wrote, as model.measure_names has them.

    names            other ones: of measures, paths that every model has, "crank_pivot.fx" (docs/measures.md), or formulas over
                     both, "=tip.x/energy.kinetic"
    a, multipliers   if they are known already; else found where a measure depends on them, under the efforts tau besides

    A measure without a finite value, such as the root of a negative number, is not a number there.
    """
    code = measuring(dyn, names)
    given, batched = dyn.checked({"q": q, "v": v, "tau": tau} | ({} if a is None else {"a": a}))
    state = {name: given[name] for name in ("q", "v", "tau")}
    if code.moving and a is None:
        given["a"] = dyn.evaluate(dyn.program, state, t, inputs) if dyn.model.nv else given["v"]
    if code.pushed:
        given["lambda"] = (
            multipliers_of(dyn, given["q"], given["v"], given["tau"], t=t, inputs=inputs)
            if multipliers is None
            else np.atleast_2d(dyn.array("lambda", multipliers))
        )
    found = code.evaluate(given, t, inputs)
    return found if batched else found[0]
