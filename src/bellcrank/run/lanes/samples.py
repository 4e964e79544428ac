"""What many runs found: their samples, how far they came, and why they did not arrive."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ...machine.steps.declared import ENDLESS, INTERRUPTED, NOT_FINITE, SINGULAR
from ...model import Model
from ...wording import argument

Array = NDArray[np.float64]

NOT_ASSEMBLED = 5  # a status beside those of machine.steps.declared: the loops of the start cannot be closed


@dataclass
class Samples:
    """Of every run: samples (B, samples, ...), status, time reached, steps; since when it was stiff, and its fastest rate; and
    since when another method took it on."""

    q: Array
    v: Array
    a: Array
    status: NDArray[np.int64]
    reached: Array
    steps: NDArray[np.int64]
    rejected: NDArray[np.int64]
    stiff_time: Array
    rate: Array
    switched: Array

    @classmethod
    def nothing(cls, model: Model, count: int, samples: int) -> Samples:
        """Runs that did not start."""
        q, v, a = (np.full((count, samples, n), np.nan) for n in (model.nq, model.nv, model.nv))
        status, steps, rejected = (np.full(count, x, dtype=np.int64) for x in (NOT_ASSEMBLED, 0, 0))
        never = np.full(count, np.nan)
        return cls(q, v, a, status, np.zeros(count), steps, rejected, never, np.zeros(count), never.copy())

    def put(self, runs: NDArray[np.bool_], other: Samples) -> None:
        for field in fields(self):
            getattr(self, field.name)[runs] = getattr(other, field.name)


def message_of(status: int, reached: float, interchangeable: bool) -> str | None:
    """``interchangeable``: other equations of the closures could be kept, which many runs together do not choose again."""
    if status == 0:
        return None
    singular = "the mechanism has come through a singular configuration"
    degraded = ", or the equations kept of its closed loops became dependent: simulate, by itself, would choose others"
    what = {
        NOT_FINITE: "something is no longer a finite number",
        SINGULAR: singular + degraded if interchangeable else singular,
        INTERRUPTED: "it was interrupted",
        ENDLESS: f"its end is out of reach: it would take more steps than {argument('max_steps')} allows",
    }.get(status, "the step would have to be shorter than rounding")
    return f"stopped at t = {reached:.9g} s: {what}. What was computed until then is kept."
