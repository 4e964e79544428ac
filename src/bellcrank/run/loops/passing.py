"""Through singular configurations: by methods of their own (singular/), or by changing to one of them for a while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.singular_positions import kept_equations, singular_loops
from ...errors import BellcrankError, warn
from ...machine.steps.cuts.known import known_surfaces, known_times
from ...model.manifold import unit_quaternions
from ...papers.huang.taylor import integrate_reaction_taylor
from ...plan.turns import LONGEST, turn_weights
from ...singular import Extrapolation, Impact, Interval, Passed, Report, Tolerance, integrate_rattle
from ...singular.impacts.impulse import started
from ...singular.loop import Cut, Watched
from ...singular.quantities import Quantities
from ...singular.records import States
from ...wording import argument
from ..events import Watcher
from ..events.openings import Openings
from ..joining import State, from_last, interrupted, joined, on_grid, still_to_come, stopped_by_singularity
from ..system import FirstOrder, Outcome, Passage, energy_scale
from .treatment import NEAR

Array = NDArray[np.float64]

PASSING_METHODS = ("rattle", "reaction_taylor")
_CLOSE = {"rattle": 1e-6, "reaction_taylor": 1e-3}  # of a step; in shorter ones rounding would become forces of closures
CLEAR = 2 * NEAR  # pivots from which on the run goes on with its own method
_TURN = 0.1 / LONGEST  # of what a step may move: an interval that rattle takes at once
_MOST = 10_000  # changes of method in one run


def undetermined() -> str:
    return (
        "the mechanism stays in a singular configuration, and rattle does not find its motion there to the tolerance. See "
        f"whether check reports it as shaky, loosen {argument('rtol')} and {argument('atol')}, or use "
        f"{argument('method', 'rattle')} with a {argument('max_step')}."
    )


def integrate_passing(
    dynamics: Dynamics,
    method: str,
    start: State,
    times: Array,
    max_step: float | None,
    progress: Callable[[float], None] | None,
    watcher: Watcher | None = None,
) -> Outcome:
    """Steps end at known times, at stops, contacts and kinks; events are watched."""
    integrate = integrate_rattle if method == "rattle" else integrate_reaction_taylor
    openings = Openings(dynamics, start["u"], _CLOSE[method], known_surfaces(dynamics.model))
    look = partial(_looked, dynamics, watcher, openings) if watcher is not None or openings.watched else None
    corners = known_times(dynamics.model, float(times[0]), float(times[-1]))
    return _outcome(integrate(dynamics, start, times, max_step, progress, Watched(look, tuple(corners.tolist()))))


def _looked(dynamics: Dynamics, watcher: Watcher | None, openings: Openings, ends: States) -> Cut | None:
    """Contacts, kinks and events in a step, between whose ends q and v are the cubics that have their values and rates there.

    Huang's method has no accelerations at the ends: bodies have constant ones in a step, and v is taken to be linear.
    """
    t, h = float(ends.t[0]), float(ends.t[1] - ends.t[0])
    gains = h * ends.a if ends.a.size else np.repeat(np.diff(ends.v, axis=0), 2, axis=0)
    rates = np.array([dynamics.rates(q, v) for q, v in zip(ends.q, ends.v, strict=True)])

    def inside(x: Array) -> tuple[Array, Array]:
        q = _between(x, ends.q, h * rates)
        return unit_quaternions(dynamics.model, q), _between(x, ends.v, gains)

    cut = openings.cut(t, h, inside)
    if cut is not None:
        return Cut(cut, final=False)
    if watcher is not None:
        watcher.stopped = watcher.look(t, h, inside)
        return None if watcher.stopped is None else Cut(watcher.stopped.time, final=True)
    return None


def _between(x: Array, values: Array, slopes: Array) -> Array:
    """Hermite's cubic at places x of a step from 0 to 1, as rows."""
    x = x[:, None]
    (a, b), (da, db) = values, slopes
    return np.asarray(a + x * (x * (3 - 2 * x) * (b - a) + (1 - x) * ((1 - x) * da - x * db)))


def _outcome(passed: Passed) -> Outcome:
    _warn_of_impacts(passed.report.impacts)
    states = (passed.times, passed.q, passed.v, passed.works)
    found = passed.report.reactions
    reactions = None if found is None else np.concatenate([found.joints, found.closures], axis=1)
    counts, passages = dict(passed.counts), _passages(passed.report)
    return Outcome(*states, counts, passed.problem, passages, lost=_lost(passed.report), reactions=reactions)


def _passages(report: Report) -> tuple[Passage, ...]:
    return tuple(Passage(p.time, ", ".join(p.closures)) for p in report.passages)


def _lost(report: Report) -> float:
    return float(sum(impact.energy for impact in report.impacts))


def _warn_of_impacts(impacts: Sequence[Impact]) -> None:
    for impact in impacts:
        warn(
            f"the velocities at t = {impact.time:.6g} s did not agree with the closed loops ({', '.join(impact.closures)}), or "
            "with any motion from there on: they were changed to the nearest that do, an impact that took "
            f"{impact.energy:.4g} J"
        )


class Passing:
    """Runs by a method as far as it goes; at each singular configuration an interval of rattle; and on.

    The interval follows from the speed of the mechanism and from how near it is to the singular configuration, its steps from
    the tolerances and the longest step of the run; neither depends on the samples.
    """

    def __init__(
        self,
        dynamics: Dynamics,
        run: Callable[[State, Array], Outcome],
        limits: tuple[float, float, float | None],
        watcher: Watcher | None,
    ):
        self.dynamics, self.run, self.watcher = dynamics, run, watcher
        self.rtol, self.atol, self.max_step = limits
        self.began = 0.0
        self.weights = turn_weights(dynamics.model, float(dynamics.plan.length))

    def __call__(self, start: State, times: Array) -> Outcome:
        self.began = float(times[0])
        outcome = self.run(start, times) if np.isfinite(start["a"]).all() else _not_begun(self.dynamics, start)
        for _ in range(_MOST):
            if outcome.problem is None or not stopped_by_singularity(outcome):
                return outcome
            try:
                outcome = self._passed(start, outcome, times)
            except KeyboardInterrupt:
                return interrupted(outcome)
        return outcome

    def _passed(self, start: State, outcome: Outcome, times: Array) -> Outcome:
        """Beyond the singular configuration at which the outcome ended, and as far as the method goes from there."""
        outcome = on_grid(outcome._replace(problem=None, passages=outcome.passages[:-1]), times)  # rattle knows better where
        clear = False
        while not clear and self._goes_on(outcome, times):
            first = from_last(self.dynamics, start, outcome)
            stretch, clear = self._stretch(first, still_to_come(outcome, times))
            outcome = joined(outcome, stretch, np.isin(outcome.times, times))
        if not self._goes_on(outcome, times):
            return outcome
        rest = self.run(from_last(self.dynamics, start, outcome), np.append(outcome.times[-1], still_to_come(outcome, times)))
        return joined(outcome, rest, np.isin(outcome.times, times))

    def _goes_on(self, outcome: Outcome, times: Array) -> bool:
        stopped = self.watcher is not None and self.watcher.stopped is not None
        return outcome.problem is None and not stopped and len(still_to_come(outcome, times)) > 0

    def _stretch(self, first: State, later: Array) -> tuple[Outcome, bool]:
        """One interval of rattle with the samples in it, and whether its end is clear of singular configurations."""
        tolerance = Tolerance(self.rtol, self.atol, energy_scale(self.dynamics, first))
        try:
            passing = Extrapolation(self.dynamics, first, tolerance, self.max_step, self._clear)
            found = passing(self._length(first), float(later[-1]))
        except BellcrankError as trouble:  # rattle cannot start there
            return self._ended(first, f"{trouble}."), False
        _warn_of_impacts(found.report.impacts)
        if found.problem is not None and found.end <= float(first["t"]):
            return self._ended(first, found.problem), False
        clear = self._clear(found.at(found.end)[0], found.end, found.report)
        missed = found.problem is None and found.error > 1.0
        if missed and not clear:
            return self._ended(first, undetermined()), False
        if missed:
            _warn_of_inaccuracy(found)
        return self._sampled(first, found, later), clear

    def _ended(self, first: State, why: str) -> Outcome:
        """Rattle does not lead on from a state."""
        t, works = float(first["t"]), np.zeros((1, FirstOrder(self.dynamics, first).works))
        stopped = why.startswith(("stopped", "interrupted"))
        problem = why if stopped else f"stopped at t = {t:.9g} s: {why} What was computed until then is kept."
        return Outcome(np.array([t]), first["q"][None], first["v"][None], works, {}, problem)

    def _length(self, first: State) -> float:
        """The time in which some coordinate of a loop moves by _TURN, with the velocities and accelerations at hand."""
        dynamics, q = self.dynamics, first["q"]
        speed = float(np.abs(self.weights * dynamics.rates(q, first["v"])).max(initial=0.0))
        change = float(np.abs(self.weights * dynamics.rates(q, first["a"])).max(initial=0.0))
        return float(2 * _TURN / max(speed + np.sqrt(speed**2 + 2 * change * _TURN), 1e-300))

    def _clear(self, q: Array, t: float, report: Report) -> bool:
        kept = kept_equations(self.dynamics, q, t)
        return kept.pivot > CLEAR and (self.dynamics.plan.nodes is not None or kept.rank >= report.rank)

    def _sampled(self, first: State, found: Interval, later: Array) -> Outcome:
        """Samples of an interval, and its end; events are looked for between its nodes."""
        end = self._watched(found)
        times = later[later <= end]
        times = times if len(times) and times[-1] == end else np.append(times, end)
        q, v, works = (np.array(rows) for rows in zip(*(found.at(t) for t in times), strict=True))
        q, v = np.vstack([first["q"], q]), np.vstack([first["v"], v])
        t = float(first["t"])
        passages = tuple(p for p in _passages(found.report) if t < p.time <= end or p.time == t == self.began)
        works = np.vstack([np.zeros(works.shape[1]), works])
        states = (np.append(first["t"], times), q, v, works)
        return Outcome(*states, found.counts, found.problem, passages, lost=_lost(found.report))

    def _watched(self, found: Interval) -> float:
        """The end of the interval, or the event before it that ends the run."""
        if self.watcher is None:
            return found.end
        for t, after in zip(found.nodes[:-1], found.nodes[1:], strict=True):
            stop = self.watcher.look(float(t), float(after - t), _rows(found, float(t), float(after - t)))
            if stop is not None:
                self.watcher.stopped = stop
                return stop.time
        return found.end


def _rows(found: Interval, t: float, h: float) -> Callable[[Array], tuple[Array, Array]]:
    """q and v at places from 0 to 1 of a part of an interval."""

    def inside(x: Array) -> tuple[Array, Array]:
        states = [found.at(float(t + place * h)) for place in x]
        return np.array([state[0] for state in states]), np.array([state[1] for state in states])

    return inside


def _warn_of_inaccuracy(found: Interval) -> None:
    warn(
        f"from t = {found.nodes[0]:.6g} s to {found.end:.6g} s, past a singular configuration, rattle missed the tolerance by "
        f"a factor of {found.error:.2g}. Loosen {argument('rtol')} and {argument('atol')}, or look for forces that change "
        "abruptly there."
    )


def _not_begun(dynamics: Dynamics, start: State) -> Outcome:
    """A run that starts in a singular position, after the impact with which it may start."""
    loops, t = singular_loops(dynamics.plan, start), float(start["t"])
    assert loops is not None
    v, impact = started(Quantities(dynamics, start["tau"], start["u"]), start["q"], start["v"], t)
    _warn_of_impacts([] if impact is None else [impact])
    passage = Passage(t, ", ".join(loops.closures))
    works = np.zeros((1, FirstOrder(dynamics, start).works))
    lost = 0.0 if impact is None else impact.energy
    return Outcome(np.array([t]), start["q"][None], v[None], works, {}, passage.problem(), (passage,), lost=lost)
