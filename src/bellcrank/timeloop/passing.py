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
from .system import FirstOrder, Outcome, Passage

Array = NDArray[np.float64]
State = dict[str, Array]

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
        if outcome.problem is None or not _stopped_by_singularity(outcome):
            break
        reached = float(outcome.times[-1])
        later = times[times > reached + 1e-9 * interval]
        if not len(later):
            break
        on_grid = np.isin(outcome.times, times)
        through = np.concatenate([[reached], later[:_BEYOND]])
        passage = _outcome(integrate_rattle(dynamics, _from(dynamics, start, outcome), through, interval / _FINER, None))
        before = outcome._replace(passages=outcome.passages[:-1])  # rattle knows better where it was
        outcome = _joined(before, passage, on_grid)
        if outcome.problem is None and len(later) > _BEYOND:
            rest = run(_from(dynamics, start, outcome), later[_BEYOND - 1 :])
            outcome = _joined(outcome, rest, np.ones(len(outcome.times), dtype=bool))
    return outcome


def _not_begun(dynamics: Dynamics, start: State) -> Outcome:
    """A run that starts in a singular position."""
    loops = singular_loops(dynamics.plan, start)
    assert loops is not None
    passage = Passage(float(start["t"]), ", ".join(loops.closures))
    works = np.zeros((1, FirstOrder(dynamics, start).works))
    return Outcome(np.atleast_1d(start["t"]), start["q"][None], start["v"][None], works, {}, passage.problem(), (passage,))


def _stopped_by_singularity(outcome: Outcome) -> bool:
    return bool(outcome.passages) and outcome.problem == outcome.passages[-1]._replace(time=_time(outcome)).problem()


def _time(outcome: Outcome) -> float:
    return float(outcome.times[-1])


def _from(dynamics: Dynamics, start: State, outcome: Outcome) -> State:
    q, v, t = outcome.q[-1], outcome.v[-1], _time(outcome)
    a = dynamics.acceleration(q[None], v[None], start["tau"], t=t, inputs=start["u"])[0]
    return start | {"q": q.copy(), "v": v.copy(), "t": np.array(t), "a": np.nan_to_num(a)}


def _joined(first: Outcome, second: Outcome, kept: NDArray[np.bool_]) -> Outcome:
    """One after the other; the second starts where the first ended, and only samples of the first that are kept stay."""
    works = second.works[1:] + first.works[-1]
    counts = {name: first.counts.get(name, 0) + second.counts.get(name, 0) for name in {**first.counts, **second.counts}}
    return Outcome(
        np.concatenate([first.times[kept], second.times[1:]]),
        np.vstack([first.q[kept], second.q[1:]]),
        np.vstack([first.v[kept], second.v[1:]]),
        np.vstack([first.works[kept], works]),
        counts,
        second.problem,
        (*first.passages, *(p for p in second.passages if p not in first.passages)),
    )
