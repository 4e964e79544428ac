"""When the equations that are kept of those that close the loops are no longer the right ones: choose them again, or fall back.

Of equations that depend on each other some are kept: coordinate reduction keeps those that planning chose of every block at one
configuration, the multipliers the first ones that are independent. Along the motion of an over-constrained loop in space they
may become dependent although the mechanism is in no singular position, and others would do: they are chosen again. So they
are where an equation that seemed redundant to planning contradicts the others (formulations.agreement), as on a branch with
fewer freedoms than that of the start. Where loops open all the same the run goes back to where they were closed, and on with
the multipliers, which find the redundant equations at every state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dynamics.diagnosis import contradicted_loops
from ...dynamics.dynamics import Dynamics
from ...dynamics.singular_positions import kept_equations, lost_row
from ...errors import warn
from ...spatial.rank import LENIENT
from ..joining import State, from_last, interrupted, joined, on_grid, still_to_come, stopped_by_singularity
from ..system import Outcome
from .treatment import NEAR, Loops

Array = NDArray[np.float64]
Run = Callable[[Dynamics, State, Array, Loops], Outcome]
Stretches = list[tuple[int, Dynamics]]  # the first sample of each, and what it was computed with

OPEN = 1e-7  # m or rad
_TAKES_ON = "formulation 'multipliers' takes the run on"
CHOSEN_AGAIN, MULTIPLIERS = "chosen again", "multipliers"
_BETTER, _GOOD = 2.0, 0.01  # pivots of equations chosen again: beside those kept, and by themselves
_MOST = 10_000  # changes in one run


def open_beyond(dynamics: Dynamics) -> float:
    """Loops that are open by more (m or rad) have lost an equation; redundant ones close only as well as they are."""
    return max(OPEN, LENIENT * dynamics.plan.tolerance) * max(1.0, dynamics.plan.length)


class Change(NamedTuple):
    """A change of the equations during a run, at a time: CHOSEN_AGAIN, or taken on by the MULTIPLIERS."""

    time: float
    to: str


class KeptRows:
    """Runs with one Dynamics after the other, as long as there is a better one."""

    def __init__(self, dynamics: Dynamics, run: Run, loops: Loops):
        self.dynamics, self.run, self.loops = dynamics, run, loops
        self.changes: list[Change] = []
        self._planned: list[Dynamics] = []
        nodes = dynamics.plan.nodes
        self._early = 0 < loops.near < NEAR and (
            nodes is None or nodes.interchangeable
        )  # look for better ones while there is time

    def __call__(self, start: State, times: Array) -> Outcome:
        if not self._planned:
            q, t = start["q"], float(start["t"])
            if self.dynamics.plan.nodes is None and lost_row(self.dynamics, q, t) is None:
                self.dynamics = self.dynamics.replanned(q, t)
                a = self.dynamics.acceleration(q, start["v"], start["tau"], t=t, inputs=start["u"])
                start = start | {"a": a}  # without what was not yet known to be redundant
            self._planned = [self.dynamics]
        outcome = self._go(start, times)
        try:
            for _ in range(_MOST):
                outcome, better = self._judged(outcome, start)
                outcome = on_grid(outcome, times) if better is not None else outcome
                if better is None or not len(still_to_come(outcome, times)):
                    break
                outcome = self._gone_on(better, outcome, start, times)
        except KeyboardInterrupt:
            return interrupted(outcome)
        return outcome

    def _gone_on(self, by: Dynamics, outcome: Outcome, start: State, times: Array) -> Outcome:
        self.dynamics, reached = by, float(outcome.times[-1])
        rest = self._go(from_last(by, start, outcome), np.concatenate([[reached], still_to_come(outcome, times)]))
        before = outcome._replace(passages=outcome.passages[:-1]) if stopped_by_singularity(outcome) else outcome
        return joined(before, rest, np.isin(outcome.times, times))

    def stretches(self, times: Array) -> Stretches:
        """The Dynamics with which the samples at these times were computed."""
        planned = self._planned or [self.dynamics]
        starts = [0, *(int(np.searchsorted(times, change.time, side="right")) for change in self.changes)]
        return list(zip(starts, planned, strict=True))

    def unchanged(self, start: State, times: Array) -> Outcome:
        """One run, come what may."""
        return self.run(self.dynamics, start, times, self.loops)

    def _go(self, start: State, times: Array) -> Outcome:
        return self.run(self.dynamics, start, times, self.loops._replace(near=NEAR) if self._early else self.loops)

    def _judged(self, outcome: Outcome, start: State) -> tuple[Outcome, Dynamics | None]:
        """As much of the outcome as is good, and with what the run continues."""
        closed = self._closed(outcome)
        if closed < len(outcome.times):
            return self._fallen_back(outcome, closed)
        complete = self._completed(outcome, start) if outcome.problem is not None else None
        if complete is not None:
            return outcome, complete
        if not stopped_by_singularity(outcome):
            return outcome, None
        better = self._chosen_again(outcome)
        if better is None and self._early:
            self._early = False
            better = self.dynamics  # as near as it may come
        return outcome, better

    def _closed(self, outcome: Outcome) -> int:
        """How many samples there are until the loops open; those between steps are off by the tolerance of the run."""
        q, v = self.dynamics.projected(outcome.q, outcome.v, t=outcome.times, steps=2)
        error = np.abs(self.dynamics.closure(q, v, t=outcome.times)[0]).max(axis=1, initial=0.0)
        opened = error > open_beyond(self.dynamics)
        return int(np.argmax(opened)) if opened.any() else len(opened)

    def _fallen_back(self, outcome: Outcome, closed: int) -> tuple[Outcome, Dynamics | None]:
        """The multipliers, if they see more equations than were kept."""
        nodes, t = self.dynamics.plan.nodes, float(outcome.times[closed])
        other = self.dynamics.by_multipliers()
        if other.planned.undetermined:
            return outcome, None
        other = other.replanned(other.projected(outcome.q[closed], outcome.v[closed], t=t, steps=2)[0], t)
        rank, kept = len(other.plan.selected_rows), len(self.dynamics.plan.selected_rows) if nodes is None else nodes.rank
        if closed == 0 or rank <= kept:
            return outcome, None
        good = outcome.until(closed)
        why = f"{rank - kept} of the equations that were redundant when the run was planned are not"
        to, how = (CHOSEN_AGAIN, "they were chosen again") if nodes is None else (MULTIPLIERS, _TAKES_ON)
        self._changed(good, other, to, f"{why}; {how}")
        return good._replace(problem=None, passages=()), other

    def _completed(self, outcome: Outcome, start: State) -> Dynamics | None:
        """The Dynamics with the equations that are missing at the last state, if some are."""
        q, v, t = outcome.q[-1], outcome.v[-1], outcome.times[-1]
        missing = contradicted_loops(self.dynamics.plan, start | {"q": q, "v": v, "t": t})
        if not missing:
            return None
        other = self.dynamics.replanned(q, float(t))
        more = kept_equations(other, q, float(t)).rank - kept_equations(self.dynamics, q, float(t)).rank
        if more <= 0:
            return None
        why = f"{more} of those of the loop through {', '.join(missing)} seemed redundant when the run was planned and are not"
        self._changed(outcome, other, CHOSEN_AGAIN, f"{why}; they were chosen again")
        return other

    def _chosen_again(self, outcome: Outcome) -> Dynamics | None:
        """The Dynamics with other equations kept, if that helps; in a singular position it does not."""
        q, t = outcome.q[-1], float(outcome.times[-1])
        other = self.dynamics.replanned(q, t)
        old, new = kept_equations(self.dynamics, q, t), kept_equations(other, q, t)
        if new.rank != old.rank or new.pivot < max(_GOOD, _BETTER * old.pivot):
            return None
        why = f"those kept of the loop through {', '.join(old.closures)} became dependent; they were chosen again"
        self._changed(outcome, other, CHOSEN_AGAIN, why)
        return other

    def _changed(self, outcome: Outcome, other: Dynamics, to: str, why: str) -> None:
        """Noted, and reported the first time: a linkage that goes round and round changes in every turn."""
        time, model = float(outcome.times[-1]), self.dynamics.model.name
        if to not in [change.to for change in self.changes]:
            more = ". The run's settings have the times of all such changes in row_changes."
            message = f"model {model!r}, t = {time:.6g} s: the equations that close its loops changed: {why}{more}"
            warn(message)
        self.changes.append(Change(time, to))
        self._planned.append(other)
