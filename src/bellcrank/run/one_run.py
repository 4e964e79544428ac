"""A run, or a stretch of it, by the method that was asked for: in machine code, by scipy, or in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..integrate import METHODS
from ..model.manifold import unit_quaternions
from .arguments import (
    AUTO,
)
from .checks.horizon import Horizon
from .compiled import Limits, in_machine_code
from .control import Control
from .events import Watcher
from .joining import State, from_last, interrupted, joined, on_grid, still_to_come
from .loops.midpoint import closes_by_itself
from .loops.passing import PASSING_METHODS, integrate_passing
from .loops.treatment import Loops
from .loops.variants import Limits as VariantLimits
from .loops.variants import integrate_variant
from .stiff.bdf import STIFF_METHODS, integrate_stiff
from .stiff.stiffness import Stiffness
from .system import Outcome

Array = NDArray[np.float64]


@dataclass
class OneRun:
    """A run, or a stretch of it, by a method."""

    method: str
    limits: Limits
    control: Control | None
    watcher: Watcher | None
    progress: Callable[[float], None] | None
    stiffness: Stiffness
    horizon: Horizon
    methods: list[tuple[float, str]] = field(default_factory=list)  # since when, and which: those that took the run on

    def __call__(self, by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        method, (rtol, atol, max_step) = self.method, self.limits
        if self.watcher is not None:
            self.watcher.around.dynamics = by
        if not self.methods:
            self.methods.append((float(first["t"]), "dopri5" if method == AUTO else method))
        if by.planned.variant is not None:
            limits = VariantLimits(rtol, atol, max_step)
            outcome = integrate_variant(by, method, first, until, limits, self.progress, how, self.horizon)
            return on_closures(by, outcome) if how.project else outcome
        if closes_by_itself(method, by.model):
            outcome = self._compiled(by, first, until, how._replace(project=False))
            self.horizon.stretch_done(outcome.counts)
            return outcome
        if method in PASSING_METHODS:
            return integrate_passing(by, method, first, until, max_step, self.progress, self.watcher)
        if method in STIFF_METHODS:
            outcome = integrate_stiff(
                by, method, first, until, rtol, atol, max_step, self.progress, how, self.watcher, self.horizon
            )
        else:
            outcome = self._compiled(by, first, until, how)
        self.horizon.stretch_done(outcome.counts)
        return on_closures(by, outcome) if by.model.closures and how.project else outcome

    def _compiled(self, by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
        """A run in machine code; where it shows itself stiff, and the method was not chosen, radau continues it."""
        rtol, atol, max_step = self.limits
        if self.control is not None and self.control.asks_functions:  # they may be active for a short while only
            max_step = max_step or float(until[1] - until[0])
        scheme, limits = METHODS[self.methods[-1][1]], (rtol, atol, max_step)
        stiffness = None if scheme.implicit else self.stiffness
        given = (self.watcher, self.progress, how, stiffness, self.control, self.horizon)
        outcome = in_machine_code(by, scheme, first, until, limits, *given)
        if stiffness is None or stiffness.left_at is None:
            return outcome
        self.methods.append((stiffness.left_at, "radau"))
        outcome = on_grid(outcome, until)
        later = still_to_come(outcome, until)
        if outcome.problem is not None or not len(later):
            return outcome
        try:
            rest = self._compiled(by, from_last(by, first, outcome), np.append(outcome.times[-1], later), how)
        except KeyboardInterrupt:
            return interrupted(outcome)
        return joined(outcome, rest, np.isin(outcome.times, until))


def on_closures(dynamics: Dynamics, outcome: Outcome) -> Outcome:
    """Samples between steps come from interpolation, which is off by the tolerance; the first one was there before."""
    if len(outcome.times) == 1:
        return outcome
    q, v = dynamics.projected(outcome.q[1:], outcome.v[1:], t=outcome.times[1:], steps=2)
    q = unit_quaternions(dynamics.model, np.vstack([outcome.q[:1], q]))
    return outcome._replace(q=q, v=np.vstack([outcome.v[:1], v]))
