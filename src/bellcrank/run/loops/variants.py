"""Runs by Critchley & Anderson's own variants of coordinate reduction: accelerations in Python, explicit methods around them.

A variant names coordinates dependent, and fails where those are not independent of each other, though the mechanism may be
regular there. The pivot of its choice is watched after every step, and steps become shorter as it comes to zero, so that the
run ends where the choice does, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.accelerations import reduced
from ...errors import BellcrankError, StateError
from ...integrate import METHODS
from ...kernels.threads import look_for_stop
from ...wording import argument
from ..checks.horizon import EndNotInSight, Horizon
from ..system import FirstOrder, Outcome, energy_scale
from .treatment import Loops

Array = NDArray[np.float64]

VARIANT_METHODS = ("auto", "dopri5", "dop853", "rk4")
APPROACH = 0.5  # part of the way to a pivot of zero that a step may go
LEAST = 1e-6  # of the run: a step that is not divided further


class Limits(NamedTuple):
    rtol: float
    atol: float
    max_step: float | None


class VariantRun:
    """One run, its last state, and the pivot there."""

    def __init__(self, dynamics: Dynamics, start: dict[str, Array], times: Array, loops: Loops):
        self.dynamics, self.loops = dynamics, loops
        self.system = FirstOrder(dynamics, start, loops)
        self.t, self.span = float(times[0]), float(times[-1] - times[0])
        self.y = np.concatenate([start["q"], start["v"], np.zeros(self.system.works)])
        self.pivot, self.evaluations = self.pivot_at(self.t, self.y), 1

    def pivot_at(self, t: float, y: Array) -> float:
        nq = self.dynamics.model.nq
        try:
            return reduced(self.dynamics, y[:nq], y[nq : self.system.state], self.system.tau, t, self.system.u).pivot
        except BellcrankError:
            return 0.0

    def slope(self, t: float, y: Array) -> Array:
        self.evaluations += 1
        return self.system.slope(t, y)

    def longest(self) -> float:
        """A step in which the pivot does not come to zero, as far as its rate shows."""
        if self.loops.go_on:
            return np.inf
        ahead = LEAST * self.span
        falls = (self.pivot - self.pivot_at(self.t + ahead, self.y + ahead * self.slope(self.t, self.y))) / ahead
        return max(APPROACH * self.pivot / falls, ahead) if falls > 0.0 else np.inf

    def settle(self, t: float, y: Array) -> str | None:
        """A step is done: onto the closures; why the run ends there, if it does."""
        y = self.system.closed(t, y)
        pivot = self.pivot_at(t, y)
        self.t, self.y, self.pivot = t, y, pivot
        return None if self.loops.go_on or pivot > self.loops.near else self.ended()

    def ended(self) -> str:
        variant = self.dynamics.planned.variant
        assert variant is not None
        named = "" if variant.dependents is None else f" ({', '.join(variant.dependents)})"
        return (
            f"stopped at t = {self.t:.9g} s: the dependent coordinates{named} of variant {variant.name!r} are not independent "
            f"of each other any more, their pivot is {self.pivot:.2g}. The mechanism itself may be regular there: choose other "
            f"{argument('dependents')}, or {argument('variant', 'body')}. What was computed until then is kept."
        )


def integrate_variant(
    dynamics: Dynamics,
    method: str,
    start: dict[str, Array],
    times: Array,
    limits: Limits,
    progress: Callable[[float], None] | None,
    loops: Loops,
    horizon: Horizon | None = None,
) -> Outcome:
    """A run from ``start`` at times[0] to times[-1], with samples at all times between."""
    _check(method, loops)
    run = VariantRun(dynamics, start, times, loops)
    steps = (
        _fixed(run, times, limits) if method == "rk4" else _adaptive(run, method, times, limits, energy_scale(dynamics, start))
    )
    kept, taken, problem = [run.y.copy()], 0, None
    try:
        for inside, problem in steps:
            look_for_stop()
            taken += 1
            kept += [inside(t) for t in times[len(kept) :][times[len(kept) :] < run.t]]
            if problem is None and len(kept) < len(times) and run.t >= times[len(kept)]:
                kept.append(run.y.copy())
            if horizon is not None:
                horizon.look(run.t, taken)
            if progress is not None:
                progress((run.t - float(times[0])) / run.span)
            if problem is not None:
                break
    except KeyboardInterrupt:
        problem = f"interrupted at t = {run.t:.6g} s"
    except EndNotInSight as why:
        problem = str(why)
    reached = times[: len(kept)]
    if problem is not None and run.t > reached[-1]:
        reached, kept = np.append(reached, run.t), [*kept, run.y.copy()]
    counts = {"steps": taken, "evaluations": run.evaluations}
    return Outcome(reached, *run.system.parts(np.array(kept)), counts, problem)


Step = tuple[Callable[[float], Array], str | None]
"""The state anywhere inside the step that was taken, and why the run ends after it."""


def _adaptive(run: VariantRun, method: str, times: Array, limits: Limits, energy: float) -> Iterator[Step]:
    """scipy's RK45 and DOP853, which are dopri5 and dop853."""
    from scipy.integrate import DOP853, RK45

    end = float(times[-1])
    atol = np.where(np.arange(len(run.y)) < run.system.state, limits.atol, limits.atol + limits.rtol * energy)
    solver: Any = (DOP853 if method == "dop853" else RK45)(run.slope, run.t, run.y, end, rtol=limits.rtol, atol=atol)
    while run.t < end:
        solver.max_step = min(limits.max_step or np.inf, run.longest())
        solver.h_abs = min(solver.h_abs, solver.max_step)
        with np.errstate(all="ignore"):
            solver.step()
        if solver.status == "failed":
            yield (lambda t: run.y), run.ended()
            return
        inside = solver.dense_output()
        problem = run.settle(float(solver.t), solver.y)
        solver.y, solver.f = run.y, run.slope(run.t, run.y)
        yield inside, problem


def _fixed(run: VariantRun, times: Array, limits: Limits) -> Iterator[Step]:
    """Equal steps of the classical method between the samples."""
    c, A, b = METHODS["rk4"].c, METHODS["rk4"].A, METHODS["rk4"].b
    for until in times[1:]:
        first, count = run.t, max(1, int(np.ceil((until - run.t) / (limits.max_step or np.inf) * (1 - 1e-9))))
        for k in range(1, count + 1):
            t = float(until) if k == count else first + (until - first) * (k / count)
            h, slopes = t - run.t, np.zeros((len(c), len(run.y)))
            for stage, (place, row) in enumerate(zip(c, A, strict=True)):
                slopes[stage] = run.slope(run.t + place * h, run.y + h * (np.array(row) @ slopes[: len(row)]))
            new = run.y + h * (np.array(b) @ slopes)
            if not np.isfinite(new).all():
                yield (lambda t: run.y), run.ended()
                return
            yield (lambda t: run.y), run.settle(t, new)


def _check(method: str, loops: Loops) -> None:
    if method not in VARIANT_METHODS:
        raise StateError(
            f"the variants in Python go with {', '.join(VARIANT_METHODS)}, not with {method}: leave out {argument('variant')}, "
            "which gives compiled code"
        )
    if loops.switch:
        raise StateError(
            f"the variants in Python do not support {argument('on_singular', 'pass')}: leave out {argument('variant')}, or use "
            f"{argument('on_singular', 'warn')}"
        )
