"""When the equations that coordinate reduction keeps are no longer the right ones: choose them again, or fall back.

Planning keeps independent equations of every block at one configuration. Along the motion of an over-constrained loop in space
they may become dependent although the mechanism is in no singular position, and others would do: they are chosen again. Where
equations that seemed redundant are not, the loops open: the run goes back to where they were closed, and on with the
multipliers, which find the redundant equations at every state.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen.diagnosis import nearest_singularity
from ..codegen.dynamics import Dynamics
from ..errors import BellcrankWarning
from .joining import State, from_last, joined, stopped_by_singularity
from .system import Outcome

Array = NDArray[np.float64]
Run = Callable[[Dynamics, State, Array], Outcome]

OPEN = 1e-7  # m or rad: loops that are open by more have lost an equation
_BETTER, _GOOD = 10.0, 0.01  # pivots of equations chosen again: beside those kept, and by themselves
_MOST = 100  # changes in one run


class Change(NamedTuple):
    """At this time the run went on with other equations: "chosen again" or "multipliers"."""

    time: float
    to: str


class KeptRows:
    """Runs with one Dynamics after the other, as long as there is a better one."""

    def __init__(self, dynamics: Dynamics, run: Run):
        self.dynamics, self.run = dynamics, run
        self.changes: list[Change] = []

    def __call__(self, start: State, times: Array) -> Outcome:
        outcome = self.run(self.dynamics, start, times)
        for _ in range(_MOST):
            outcome, better = self._judged(outcome)
            if better is None:
                break
            reached = float(outcome.times[-1])
            later = times[times > reached + 1e-9 * float(times[1] - times[0])]
            if not len(later):
                break
            self.dynamics = better
            rest = self.run(better, from_last(better, start, outcome), np.concatenate([[reached], later]))
            before = outcome._replace(passages=outcome.passages[:-1]) if stopped_by_singularity(outcome) else outcome
            outcome = joined(before, rest, np.isin(outcome.times, times))
        return outcome

    def _judged(self, outcome: Outcome) -> tuple[Outcome, Dynamics | None]:
        """As much of the outcome as is good, and with what to go on."""
        if self.dynamics.plan.nodes is None:
            return outcome, None
        closed = self._closed(outcome)
        if closed < len(outcome.times):
            return self._fallen_back(outcome, closed)
        return outcome, self._chosen_again(outcome) if stopped_by_singularity(outcome) else None

    def _closed(self, outcome: Outcome) -> int:
        """How many samples there are until the loops open."""
        error = np.abs(self.dynamics.closure(outcome.q, outcome.v, t=outcome.times)[0]).max(axis=1, initial=0.0)
        opened = error > OPEN * max(1.0, self.dynamics.plan.length)
        return int(np.argmax(opened)) if opened.any() else len(opened)

    def _fallen_back(self, outcome: Outcome, closed: int) -> tuple[Outcome, Dynamics | None]:
        """The multipliers, if they see more equations than were kept."""
        dynamics, nodes = self.dynamics, self.dynamics.plan.nodes
        assert nodes is not None
        other = dynamics.by_multipliers()
        q, v, t = outcome.q[closed], outcome.v[closed], outcome.times[closed]
        rank = int((other.closure_pivots(q, v, t=t) > 0).sum())
        if closed == 0 or rank <= nodes.rank:
            return outcome, None
        good = outcome._replace(**{name: getattr(outcome, name)[:closed] for name in ("times", "q", "v", "works")})
        self._tell(
            good, "multipliers", f"{rank - nodes.rank} of the equations that were redundant when the run was planned are not"
        )
        return good._replace(problem=None, passages=()), other

    def _chosen_again(self, outcome: Outcome) -> Dynamics | None:
        """With other equations kept, if that helps; in a singular position it does not."""
        q, v, t = outcome.q[-1], outcome.v[-1], outcome.times[-1]
        other = self.dynamics.replanned(q, float(t))
        assert self.dynamics.plan.nodes is not None and other.plan.nodes is not None
        state = {"q": q, "v": v, "t": np.array(t)}
        old, new = nearest_singularity(self.dynamics.plan, state), nearest_singularity(other.plan, state)
        if other.plan.nodes.rank != self.dynamics.plan.nodes.rank or new.pivot < max(_GOOD, _BETTER * old.pivot):
            return None
        self._tell(outcome, "chosen again", f"those kept of the loop through {', '.join(old.closures)} became dependent")
        return other

    def _tell(self, outcome: Outcome, to: str, why: str) -> None:
        time = float(outcome.times[-1])
        self.changes.append(Change(time, to))
        how = "formulation 'multipliers' takes the run on" if to == "multipliers" else "they were chosen again"
        warnings.warn(
            f"model {self.dynamics.model.name!r}, t = {time:.6g} s: the equations that close its loops changed: {why}; {how}",
            BellcrankWarning,
            stacklevel=5,
        )
