"""Samples in singular positions: there the equations do not determine accelerations, nor reactions, and a run says so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.singular_positions import singular_closures
from ...errors import warn
from ...results import parts_of
from ..system import Outcome
from .row_choice import Stretches

Array = NDArray[np.float64]


class Undetermined(NamedTuple):
    """A sample in a singular position: when, and the closures of the loops that are singular."""

    time: float
    closures: str


def undetermined(stretches: Stretches, outcome: Outcome, a: Array) -> list[Undetermined]:
    """Samples whose accelerations are not numbers because of a singular position, or are one answer of several.

    The latter by the multipliers, which leave out equations that depend on others: at the start, and beside passages.
    """
    times, found = outcome.times, []
    beside = {0} | {k for p in outcome.passages for k in np.searchsorted(times, p.time) + np.array([-1, 0])}
    for part, dynamics in parts_of(stretches, len(times)):
        samples = range(part.start, part.stop)
        dense = dynamics.plan.nodes is None
        asked = [k for k in samples if k in beside] if dense else [k for k in samples if not np.isfinite(a[k]).all()]
        for k in asked:
            names = singular_closures(dynamics, outcome.q[k], outcome.v[k], float(times[k]))
            found += [Undetermined(float(times[k]), names)] if names else []
    return found


def warn_of_undetermined(model: str, found: list[Undetermined], numbers: bool) -> None:
    if not found:
        return
    more = f" and at {len(found) - 1} other samples" if len(found) > 1 else ""
    what = "are one answer of several" if numbers else "are not numbers"
    warn(
        f"model {model!r}: at t = {found[0].time:.6g} s{more} the loop through {found[0].closures} is in a singular position, "
        f"where accelerations and reactions are not determined: those of the sample {what}. Positions, velocities and energy "
        "are good. Take samples at other times if you need them: they are determined right before and after."
    )
