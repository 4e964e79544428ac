"""Runs in several parts, one after the other: where one stopped, the state to go on from, and both as one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from .system import Outcome

Array = NDArray[np.float64]
State = dict[str, Array]

SAME = 1e-9  # of the interval of the samples


def stopped_by_singularity(outcome: Outcome) -> bool:
    return bool(outcome.passages) and outcome.passages[-1]._replace(time=_time(outcome)).ended(outcome.problem)


def _time(outcome: Outcome) -> float:
    return float(outcome.times[-1])


def interrupted(outcome: Outcome) -> Outcome:
    """The outcome so far as an interrupted one, when the user interrupts what comes after it."""
    passages = outcome.passages[:-1] if stopped_by_singularity(outcome) else outcome.passages
    return outcome._replace(problem=f"interrupted at t = {_time(outcome):.6g} s", passages=passages)


def on_grid(outcome: Outcome, times: Array) -> Outcome:
    """The outcome with its last time freed of rounding: a run may have ended at a sample but for that."""
    reached = _time(outcome)
    nearest = float(times[np.argmin(np.abs(times - reached))])
    if abs(nearest - reached) > SAME * float(times[1] - times[0]):
        return outcome
    return outcome._replace(times=np.append(outcome.times[:-1], nearest))


def still_to_come(outcome: Outcome, times: Array) -> Array:
    return times[times > _time(outcome)]


def from_last(dynamics: Dynamics, start: State, outcome: Outcome) -> State:
    q, v, t = outcome.q[-1], outcome.v[-1], _time(outcome)
    u = start["u"] if outcome.anchors is None else np.append(start["u"][: len(dynamics.model.inputs)], outcome.anchors[-1])
    a = dynamics.acceleration(q[None], v[None], start["tau"], t=t, inputs=u)[0]
    following = {"q": q.copy(), "v": v.copy(), "t": np.array(t), "a": np.nan_to_num(a), "u": u}
    if outcome.dq is not None and outcome.dv is not None:
        following |= {"dq": outcome.dq[-1].copy(), "dv": outcome.dv[-1].copy()}
    return start | following


def joined(first: Outcome, second: Outcome, kept: NDArray[np.bool_]) -> Outcome:
    """One after the other; the second starts where the first ended, and only samples of the first that are kept stay.

    The last state stays in any case: it is where the run ended, or goes on.
    """
    if len(second.times) == 1:
        kept = np.append(kept[:-1], True)
    works = second.works[1:] + first.works[-1]
    along = [
        None if a is None or b is None else np.concatenate([a[kept], b[1:]])
        for a, b in ((first.dq, second.dq), (first.dv, second.dv))
    ]
    counts = {name: first.counts.get(name, 0) + second.counts.get(name, 0) for name in {**first.counts, **second.counts}}
    return Outcome(
        np.concatenate([first.times[kept], second.times[1:]]),
        np.vstack([first.q[kept], second.q[1:]]),
        np.vstack([first.v[kept], second.v[1:]]),
        np.vstack([first.works[kept], works]),
        counts,
        second.problem,
        (*first.passages, *(p for p in second.passages if p not in first.passages)),
        max(first.peak, second.peak),
        first.lost + second.lost,
        None if first.anchors is None or second.anchors is None else np.vstack([first.anchors[kept], second.anchors[1:]]),
        dq=along[0],
        dv=along[1],
        missed=None if first.missed is None or second.missed is None else first.missed + second.missed,
    )
