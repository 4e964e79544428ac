"""Through singular configurations: by methods of their own (singular/), or by changing to one of them for a while."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..codegen.diagnosis import singular_loops
from ..codegen.dynamics import Dynamics
from ..errors import BellcrankWarning
from ..singular import Passed, integrate_rattle, integrate_reaction_taylor
from .joining import State, from_last, joined, stopped_by_singularity
from .system import FirstOrder, Outcome, Passage

Array = NDArray[np.float64]

PASSING_METHODS = ("rattle", "reaction_taylor")
_BEYOND = 5  # intervals of the samples that rattle goes beyond a singular configuration
_FINER = 50  # its steps in each of them
_MOST = 1000  # changes of method in one run


def integrate_passing(
    dynamics: Dynamics,
    method: str,
    start: State,
    times: Array,
    max_step: float | None,
    progress: Callable[[float], None] | None,
) -> Outcome:
    integrate = integrate_rattle if method == "rattle" else integrate_reaction_taylor
    return _outcome(integrate(dynamics, start, times, max_step, progress))


def _outcome(passed: Passed) -> Outcome:
    passages = tuple(Passage(p.time, ", ".join(p.closures)) for p in passed.report.passages)
    for impact in passed.report.impacts:
        warnings.warn(
            f"the velocities at t = {impact.time:.6g} s did not agree with the closed loops ({', '.join(impact.closures)}): "
            f"an impact that took {impact.energy:.4g} J",
            BellcrankWarning,
            stacklevel=4,
        )
    return Outcome(passed.times, passed.q, passed.v, passed.works, dict(passed.counts), passed.problem, passages)


def passed_by_rattle(dynamics: Dynamics, run: Callable[[State, Array], Outcome], start: State, times: Array) -> Outcome:
    """``run`` as far as it goes; at each singular configuration some intervals of rattle; and on."""
    outcome = run(start, times) if np.isfinite(start["a"]).all() else _not_begun(dynamics, start)
    interval = float(times[1] - times[0])
    for _ in range(_MOST):
        if outcome.problem is None or not stopped_by_singularity(outcome):
            break
        reached = float(outcome.times[-1])
        later = times[times > reached + 1e-9 * interval]
        if not len(later):
            break
        on_grid = np.isin(outcome.times, times)
        through = np.concatenate([[reached], later[:_BEYOND]])
        passage = _outcome(integrate_rattle(dynamics, from_last(dynamics, start, outcome), through, interval / _FINER, None))
        before = outcome._replace(passages=outcome.passages[:-1])  # rattle knows better where it was
        outcome = joined(before, passage, on_grid)
        if outcome.problem is None and len(later) > _BEYOND:
            rest = run(from_last(dynamics, start, outcome), later[_BEYOND - 1 :])
            outcome = joined(outcome, rest, np.ones(len(outcome.times), dtype=bool))
    return outcome


def _not_begun(dynamics: Dynamics, start: State) -> Outcome:
    """A run that starts in a singular position."""
    loops = singular_loops(dynamics.plan, start)
    assert loops is not None
    passage = Passage(float(start["t"]), ", ".join(loops.closures))
    works = np.zeros((1, FirstOrder(dynamics, start).works))
    return Outcome(np.atleast_1d(start["t"]), start["q"][None], start["v"][None], works, {}, passage.problem(), (passage,))
