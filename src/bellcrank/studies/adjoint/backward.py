"""Gradients of outputs of a run: the run once, its accepted steps written down, and for each output once more backward.

The discrete adjoint: exact for the trajectory that was computed, with its steps as they were. What it costs does not depend on
how many parameters there are (docs/sensitivity.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...design import Design
from ...dynamics.dynamics import Dynamics
from ...errors import NoAdjointError, SimulationError
from ...integrate import METHODS, RungeKutta
from ...machine.adjoint.log import Log
from ...machine.adjoint.retrace import Retraced
from ...model.manifold import unit_quaternions
from ...run import Event
from ...run.arguments import AUTO, starting_state
from ...run.compiled import Limits, in_machine_code
from ...run.joining import State, from_last, joined, on_grid, still_to_come
from ...run.loops.row_choice import KeptRows
from ...run.loops.treatment import Loops, loops_of
from ...run.stiffness import Stiffness, remedy
from ...run.system import Outcome
from ..checking.kinks import warn_of_kinks
from ..history import History, is_state
from ..outcome import Found
from ..output_names import Output
from ..taking import Moments
from .choice import FORWARD_INSTEAD, MEMORY
from .first_state import FirstState
from .samples import Bars, Samples, summed
from .stretch import Seeds, Stretch
from .weights import Curves, Weighed, weighed

Array = NDArray[np.float64]
Progress = Callable[[float], None] | None


@dataclass
class Backward:
    """A run that is differentiated by its adjoint."""

    dynamics: Dynamics
    design: Design
    given: dict[str, Any]
    method: str
    limits: Limits
    projection: str
    memory: float = MEMORY
    stretches: list[Stretch] = field(default_factory=list)

    def run_and_back(
        self, wanted: Sequence[Output], events: Sequence[Event], when: Moments, progress: Progress
    ) -> tuple[History, dict[str, Found]]:
        history = self.run(when.times, progress)
        return history, self.gradients(wanted, events, history, when)

    def run(self, times: Array, progress: Progress) -> History:
        """Without derivatives, its steps written down."""
        start = starting_state(self.dynamics, None, self.given)
        if not start["v"].any():
            warn_of_kinks(self.dynamics, start["q"], float(start["t"]))
        kept = KeptRows(self.dynamics, self._logged(progress), self.loops)
        outcome = (kept if self._projected else kept.unchanged)(start, times)
        if outcome.problem is not None:
            raise SimulationError(f"model {self.dynamics.model.name!r} {outcome.problem} Derivatives end there too.", None)
        if len({id(stretch.dyn) for stretch in self.stretches}) > 1:
            raise NoAdjointError(
                f"model {self.dynamics.model.name!r}: the equations that close its loops are chosen again along the run, which "
                f"the adjoint does not follow yet: {FORWARD_INSTEAD}"
            )
        return History(outcome, [(0, self.stretches[0].dyn)], start, np.ones(len(self.design.names)))

    def _logged(self, progress: Progress) -> Callable[[Dynamics, State, Array, Loops], Outcome]:
        """Steps as studies.history takes them: by one method, or by radau as soon as the run shows itself stiff."""

        def steps(by: Dynamics, first: State, until: Array, how: Loops, scheme: RungeKutta) -> Outcome:
            log, stiffness = Log(1e6 * self.memory), None if scheme.implicit else self._stiffness()
            self.stretches.append(Stretch(by, scheme, first, log))
            found = in_machine_code(by, scheme, first, until, self.limits, None, progress, how, stiffness, log=log)
            if stiffness is None or stiffness.left_at is None:
                return found
            found = on_grid(found, until)
            later = still_to_come(found, until)
            if found.problem is not None or not len(later):
                return found
            rest = steps(by, from_last(by, first, found), np.append(found.times[-1], later), how, METHODS["radau"])
            return joined(found, rest, np.isin(found.times, until))

        def run(by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
            found = steps(by, first, until, how, METHODS["dopri5" if self.method == AUTO else self.method])
            return _on_closures(by, found) if self._projected else found

        return run

    def _stiffness(self) -> Stiffness:
        return Stiffness(self.dynamics.model.name, self.method, remedy(), switches=self.method == AUTO)

    @property
    def loops(self) -> Loops:
        return loops_of(self.projection, "stop")

    @property
    def _projected(self) -> bool:
        return bool(self.dynamics.model.closures) and self.loops.project

    def gradients(self, wanted: Sequence[Output], events: Sequence[Event], history: History, when: Moments) -> dict[str, Found]:
        model, watched = self.dynamics.model, {event.title: str(event.of) for event in events}
        needed = {output.event for output in wanted if output.event}
        curves = Curves(wanted, history, [watched[name] for name in needed if not is_state(model, watched[name])])
        retraced = [stretch.retraced(self.loops) for stretch in self.stretches]
        first = FirstState(self.stretches[0].dyn, self.design, history.start, self.given)
        first.must_follow()
        found = {}
        for output in wanted:
            one = weighed(model, output, curves, when, watched)
            gradient = self._gradient(one, curves.names, history, first, retraced)
            found[output.name] = Found(np.array(one.value), gradient, one.unit, one.time)
        return found

    def _gradient(
        self, one: Weighed, names: list[str], history: History, first: FirstState, retraced: Sequence[Retraced]
    ) -> Array:
        states, bars = self._of_samples(one, names, history)
        bar, seeded = np.zeros(states.shape[1]), np.flatnonzero(states[1:].any(axis=1)) + 1
        for stretch, by in reversed(list(zip(self.stretches, retraced, strict=True))):
            here = seeded[history.times[seeded] > stretch.begins]
            seeded = seeded[: len(seeded) - len(here)]
            seeds = Seeds(history.times[here], history.outcome.q[here], history.outcome.v[here], states[here])
            bar, more = stretch.back(by, seeds, bar)
            bars += more
        bars += [(first.dynamics.plan, x) for x in first.bars(states[0] + bar)]
        p = np.array(self.design.start)
        return np.asarray(sum(self.design.plan_arrays(plan).gradient(p, x) for plan, x in summed(bars)))

    def _of_samples(self, one: Weighed, names: list[str], history: History) -> tuple[Array, Bars]:
        """Adjoints of all samples as the steps left them, (T, nq + nv), and those of data."""
        states, bars = one.states.copy(), list[tuple[Any, Any]]()
        measured = np.flatnonzero(one.measures.any(axis=1))
        if len(measured):
            more, bars = self._samples(history, measured).measured(names, one.measures[measured])
            states[measured] += more
        seeded = np.flatnonzero(states[1:].any(axis=1)) + 1
        if self._projected and len(seeded):
            states[seeded], more_bars = self._samples(history, seeded).before_projection(states[seeded])
            bars = [*bars, *more_bars]
        return states, bars

    def _samples(self, history: History, places: NDArray[np.intp]) -> Samples:
        rows = {"q": history.outcome.q[places], "v": history.outcome.v[places]}
        rows["tau"] = np.broadcast_to(history.start["tau"], rows["v"].shape).copy()
        return Samples(self.stretches[0].dyn, rows, history.times[places], history.start["u"])


def _on_closures(dynamics: Dynamics, outcome: Outcome) -> Outcome:
    """Samples between steps, moved onto the closures; the first one was there before."""
    if len(outcome.times) == 1:
        return outcome
    q, v = dynamics.projected(outcome.q[1:], outcome.v[1:], t=outcome.times[1:], steps=2)
    q = unit_quaternions(dynamics.model, q)
    return outcome._replace(q=np.vstack([outcome.q[:1], q]), v=np.vstack([outcome.v[:1], v]))
