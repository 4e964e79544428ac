"""Gradients of outputs by the adjoint: one run, whose accepted steps are logged, and one backward pass for each output.

The discrete adjoint: exact for the trajectory that was computed, with its steps as they were. What it costs does not depend on
how many parameters there are (docs/sensitivity.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...design import Design
from ...dynamics.derivatives.shared_loads import size_along
from ...dynamics.differentiation import Changes
from ...dynamics.dynamics import Dynamics
from ...dynamics.quantities.measures import measuring
from ...integrate import METHODS
from ...machine.adjoint.log import Log
from ...machine.adjoint.retrace import Retraced
from ...machine.steps.cuts.corners import just_after
from ...machine.tangents.data import design_tangents
from ...model.manifold import unit_quaternions
from ...run import Event
from ...run.arguments import AUTO, starting_state
from ...run.compiled import Limits, in_machine_code
from ...run.joining import State, from_last, joined, on_grid, still_to_come
from ...run.loops.midpoint import closes_by_itself
from ...run.loops.row_choice import KeptRows
from ...run.loops.treatment import Loops, loops_of
from ...run.stiff.stiffness import Stiffness, remedy
from ...run.system import Outcome
from ..checking.kinks import warn_of_kinks
from ..history import History, ended_early, is_state
from ..jumps.forces import may_jump
from ..jumps.timed import TimedJump, jump_of, run_through, timed_jumps
from ..outcome import OutputValue
from ..output_names import Output
from ..starting import first_tangents
from ..taking import Moments
from .choice import MEMORY
from .first_state import FirstState
from .passages import Passages
from .samples import Bars, Measured, Samples, summed
from .stretch import Seeds, Stretch
from .weights import Curves, WeightedOutput, weighed

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
    timed: list[TimedJump] = field(default_factory=list)
    missed: int = 0  # passages of surfaces whose jump is missing

    def __post_init__(self) -> None:
        self.jumps = may_jump(self.dynamics.model)
        self.scheme = METHODS["dopri5" if self.method == AUTO else self.method]

    def run_and_back(
        self, wanted: Sequence[Output], events: Sequence[Event], when: Moments, progress: Progress
    ) -> tuple[History, dict[str, OutputValue]]:
        history = self.run(when.times, progress)
        return history, self.gradients(wanted, events, history, when)

    def run(self, times: Array, progress: Progress) -> History:
        """The run without derivatives, with its steps logged."""
        start = starting_state(self.dynamics, None, self.given)
        self.timed = timed_jumps(self.design, float(times[0]), float(times[-1]), moved=True)
        if not start["v"].any():
            warn_of_kinks(self.dynamics, start["q"], float(start["t"]))
        kept = KeptRows(self.dynamics, self._logged(progress), self.loops)
        outcome = (kept if self._projected else kept.unchanged)(start, times)
        if outcome.problem is not None:
            raise ended_early(self.dynamics.model, outcome.problem)
        planned = kept.stretches(outcome.times) if self._projected else [(0, self.dynamics)]
        return History(outcome, planned, start, np.ones(len(self.design.names)))

    def _logged(self, progress: Progress) -> Callable[[Dynamics, State, Array, Loops], Outcome]:
        """Steps as studies.history takes them: by one method, or by radau as soon as the run shows itself stiff."""

        def steps(by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
            scheme = self.scheme
            log, stiffness = Log(1e6 * self.memory), None if scheme.implicit else self._stiffness()
            self.stretches.append(Stretch(by, scheme, first, log))
            found = in_machine_code(by, scheme, first, until, self.limits, None, progress, how, stiffness, log=log)
            if stiffness is None or stiffness.left_at is None:
                return found
            self.scheme = METHODS["radau"]
            found = on_grid(found, until)
            later = still_to_come(found, until)
            if found.problem is not None or not len(later):
                return found
            rest = steps(by, from_last(by, first, found), np.append(found.times[-1], later), how)
            return joined(found, rest, np.isin(found.times, until))

        def run(by: Dynamics, first: State, until: Array, how: Loops) -> Outcome:
            found = run_through(self.timed, steps, by, first, until, how)
            return _on_closures(by, found) if self._projected else found

        return run

    def _stiffness(self) -> Stiffness:
        return Stiffness(self.dynamics.model.name, self.method, remedy(), switches=self.method == AUTO)

    @property
    def loops(self) -> Loops:
        return loops_of(self.projection, "stop")

    @property
    def _projected(self) -> bool:
        model = self.dynamics.model
        return bool(model.closures) and self.loops.project and not closes_by_itself(self.method, model)

    def gradients(
        self, wanted: Sequence[Output], events: Sequence[Event], history: History, when: Moments
    ) -> dict[str, OutputValue]:
        model, watched = self.dynamics.model, {event.title: str(event.of) for event in events}
        needed = {output.event for output in wanted if output.event}
        curves = Curves(wanted, history, [watched[name] for name in needed if not is_state(model, watched[name])])
        retraced = [stretch.retraced(self.loops) for stretch in self.stretches]
        first = FirstState(self.stretches[0].dyn, self.design, history.start, self.given)
        first.must_follow()
        if curves.names and measuring(first.dynamics, curves.names).pushed:
            self._must_stay_redundant(history.start)
        found = {}
        for output in wanted:
            one = weighed(model, output, curves, when, watched)
            gradient = self._gradient(one, curves.names, history, first, retraced)
            found[output.name] = OutputValue(np.array(one.value), gradient, one.unit, one.time)
        return found

    def _must_stay_redundant(self, start: State) -> None:
        """Raises StateError for a parameter that takes apart redundant equations: it is asked once, forward, at the start."""
        dyn, written = self.stretches[0].dyn, self.design.tangents(self.design.start, self.stretches[0].dyn.plan)
        changes = Changes(len(self.design.names), {}, design_tangents(dyn.plan, written, len(self.design.names)))
        dq, dv = first_tangents(dyn, start, self.given, changes, written)
        dyn.sensitivity(start["q"], start["v"], start["tau"], dq=dq, dv=dv, t=start["t"], inputs=start["u"]).dlambda  # noqa: B018

    def _gradient(
        self, one: WeightedOutput, names: list[str], history: History, first: FirstState, retraced: Sequence[Retraced]
    ) -> Array:
        states, bars, size = self._of_samples(one, names, history)
        bar, seeded = np.zeros(states.shape[1]), np.flatnonzero(states[1:].any(axis=1)) + 1
        following: Stretch | None = None
        apart = size * size_along(self.design, self.design.start)[1] if size else np.zeros(len(self.design.names))
        for stretch, by in reversed(list(zip(self.stretches, retraced, strict=True))):
            here = seeded[history.times[seeded] > stretch.begins]
            seeded = seeded[: len(seeded) - len(here)]
            seeds = Seeds(history.times[here], history.outcome.q[here], history.outcome.v[here], states[here])
            if following is not None and following.begins < stretch.ends:
                seeds, bar, more = self._left_inside(stretch, following, seeds, bar)
                bars += more
            passages = Passages(stretch.dyn, stretch.start, *self.limits[:2]) if self.jumps else None
            bar, more = stretch.back(by, seeds, bar, passages)
            self.missed = max(self.missed, passages.uncut if passages is not None else 0)
            bars += more
            apart += self._moved_times(stretch, bar)
            following = stretch
        bars += [(first.dynamics.plan, x) for x in first.bars(states[0] + bar)]
        p = np.array(self.design.start)
        return np.asarray(one.moved + apart + sum(self.design.plan_arrays(plan).gradient(p, x) for plan, x in summed(bars)))

    def _moved_times(self, stretch: Stretch, bar: Array) -> Array:
        """Derivatives by the parameters where a stretch begins just behind a jump at a time that they move (jumps.timed)."""
        for jump in self.timed:
            if stretch.begins == just_after(jump.time):
                return jump.along * float(jump_of(stretch.dyn, stretch.start, jump) @ bar[self.dynamics.model.nq :])
        return np.zeros(len(self.design.names))

    def _left_inside(self, stretch: Stretch, following: Stretch, seeds: Seeds, bar: Array) -> tuple[Seeds, Array, Bars]:
        """The next stretch began at a sample of this one, and steps beyond that were given up: its adjoint is a sample's."""
        start, bars = following.start, list[tuple[Any, Any]]()
        if self._projected:
            at = Samples(
                stretch.dyn, self.design, {name: start[name][None] for name in ("q", "v")}, start["t"][None], start["u"]
            )
            (bar,), bars = at.before_projection(bar[None])
        more = [start["t"][None], start["q"][None], start["v"][None], bar[None]]
        rows = [np.concatenate(pair) for pair in zip(seeds, more, strict=True)]
        return Seeds(*rows), np.zeros_like(bar), bars

    def _of_samples(self, one: WeightedOutput, names: list[str], history: History) -> Measured:
        """Adjoints of all samples as the steps left them, those of data, and that of L."""
        states, bars, size = one.states.copy(), list[tuple[Any, Any]](), 0.0
        for places, samples in self._samples(history, np.flatnonzero(one.measures.any(axis=1))):
            found = samples.measured(names, one.measures[places])
            states[places] += found.states
            bars += found.bars
            size += found.size
        if self._projected:
            for places, samples in self._samples(history, np.flatnonzero(states[1:].any(axis=1)) + 1):
                states[places], of_data = samples.before_projection(states[places])
                bars += of_data
        return Measured(states, bars, size)

    def _samples(self, history: History, chosen: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Samples]]:
        """Some samples, those together that were computed with the same equations."""
        for dyn, here in history.parts():
            places = chosen[(chosen >= here.start) & (chosen < here.stop)]
            rows = {"q": history.outcome.q[places], "v": history.outcome.v[places]}
            rows["tau"] = np.broadcast_to(history.start["tau"], rows["v"].shape).copy()
            if len(places):
                yield places, Samples(dyn, self.design, rows, history.times[places], history.start["u"])


def _on_closures(dynamics: Dynamics, outcome: Outcome) -> Outcome:
    """Samples between steps, moved onto the closures; the first one was there before."""
    if len(outcome.times) == 1:
        return outcome
    q, v = dynamics.projected(outcome.q[1:], outcome.v[1:], t=outcome.times[1:], steps=2)
    q = unit_quaternions(dynamics.model, q)
    return outcome._replace(q=np.vstack([outcome.q[:1], q]), v=np.vstack([outcome.v[:1], v]))
