"""Whether the end of a run is in sight: how many steps it takes, and would still take at its present pace.

A run stops after ``max_steps``, accepted or not. One that would need far more, judged by how far the last LOOK steps brought
it, stops as soon as that is clear, so that a model whose numbers are wrong does not run for ever.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError, warn
from ...wording import argument, duration_words

Array = NDArray[np.float64]

MOST_STEPS = 100_000_000
LOOK = 200_000  # steps after which the pace is judged
HOPELESS = 10.0  # times max_steps


class EndNotInSight(Exception):
    """Raised to stop a run whose end is out of reach: it takes the run out of its loop, and goes no further."""


@dataclass
class Horizon:
    """The horizon of a run from ``begin`` to ``end``, perhaps in several stretches; those before took ``before`` steps."""

    begin: float
    end: float
    max_steps: int = MOST_STEPS
    look_after: int = LOOK
    before: int = 0
    warned: bool = False

    def __post_init__(self) -> None:
        self._last = 0, self.begin

    def look(self, t: float, steps: int, cost: float | None = None) -> None:
        """After ``steps`` of this stretch at time t, each of which takes ``cost`` seconds; raises EndNotInSight."""
        steps += self.before
        if steps >= self.max_steps and t < self.end:
            raise EndNotInSight(f"stopped at t = {t:.9g} s: it has taken {steps} steps, which is the limit. {self._remedy()}")
        taken, reached = self._last
        if steps - taken < self.look_after:
            return
        left = math.inf if t <= reached else (self.end - t) / (t - reached) * (steps - taken)
        self._last = steps, t
        if left <= self.max_steps:
            return
        long = "" if cost is None or not math.isfinite(left) else f", {duration_words(left * cost)}"
        count = f"about {left:.1g} more{long}" if math.isfinite(left) else "steps without end"
        why = f"its end is out of reach. After {steps} steps it would take {count} at this pace. {self._remedy()}"
        if left > HOPELESS * self.max_steps:
            raise EndNotInSight(f"stopped at t = {t:.9g} s: {why}")
        if not self.warned:
            self.warned = True
            warn(f"the run is at t = {t:.6g} s, and {why}")

    def stretch_done(self, counts: dict[str, int]) -> None:
        self.before += counts.get("steps", 0) + counts.get("rejected", 0)

    def _remedy(self) -> str:
        return (
            "Look for a wrong unit, for very stiff or very light parts; a stiff model goes faster by "
            f"{argument('method', 'radau')}. More steps are allowed by {argument('max_steps')} (now {self.max_steps}). "
            "What is computed until then is kept."
        )


def must_be_few(method: str, times: Array, max_step: float | None, max_steps: int) -> None:
    """Checks the number of steps of a method of fixed steps, which is known before the run."""
    step = min(float(times[1] - times[0]), max_step or math.inf)
    count = float(times[-1] - times[0]) / step
    if count > max_steps * (1 + 1e-9):
        raise StateError(
            f"{method} would take {count:.3g} steps of {step:g} s, and a run may take {max_steps}: give a longer "
            f"{argument('max_step')}, or allow more by {argument('max_steps')}"
        )
