"""A run in machine code, from the host's side: started, called in pieces so that Python can answer the keyboard, watched
for events, and told why it ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..dynamics.diagnosis import table_that_ended
from ..dynamics.dynamics import Dynamics
from ..dynamics.singular_positions import closure_of_row, nearest_singularity
from ..errors import StateError
from ..integrate import RungeKutta
from ..machine.steps.projection import LOOK_FIRST
from ..machine.steps.stepper import COLLAPSED, NOT_FINITE, NOT_SOLVED, SINGULAR
from ..machine.steps.trajectory import Trajectory
from ..model import Model
from ..plan.row_selection import planned
from ..wording import argument
from .events import Event, Watcher
from .loops.treatment import NO_LOOPS, Loops, doubt_long_steps
from .stiffness import Pace, Stiff, Stiffness
from .system import Outcome, Passage, energy_scale, let_it_pass, powers, stuck

Array = NDArray[np.float64]
Limits = tuple[float, float, float | None]  # rtol, atol, max_step
Slopes = Callable[[float, Array, Array], Array]  # of rows of q and v (or p) at a time


SHORTEST_GUESS = 1e-10  # s: a first step shorter than this comes from a state that is next to zero
_A_STEP_AWAY = 0.05  # pivots from which one step may lead to a singular position
SAME_TIME = 1e-6  # of a step
_FIRST_PIECE, _PIECE_SECONDS = 256, 0.1  # steps, seconds


def in_machine_code(
    dynamics: Dynamics,
    scheme: RungeKutta,
    start: dict[str, Array],
    times: Array,
    limits: Limits,
    watcher: Watcher | None,
    progress: Callable[[float], None] | None,
    loops: Loops = NO_LOOPS,
    stiffness: Stiffness | None = None,
) -> Outcome:
    trajectory = prepare(dynamics, scheme, start, times, *limits, metric=loops.metric)
    trajectory.set_count("project", int(loops.project))
    if dynamics.model.closures and loops.project:
        trajectory.limit_turns()
    trajectory.set_count("pass_singular", 2**62 if loops.go_on else 0)
    trajectory.set_real("near", loops.near)
    trajectory.set_count("seen", LOOK_FIRST if dynamics.model.closures and loops.project and planned(dynamics) else 0)
    trajectory.set_count("watched", 0 if watcher is None else 1)
    problem, host = None, _Host(dynamics, start, watcher, progress, stiffness)
    try:
        advance_to_end(trajectory, host)
    except KeyboardInterrupt:
        problem = f"interrupted at t = {trajectory.real('t'):.6g} s"
    _notice_singular_stage(dynamics, trajectory)
    problem = problem or _problem(trajectory, scheme.name)
    if watcher is not None and trajectory.count("status") != 0:
        watcher.forget_after(trajectory.real("t"))
    ended = problem is not None or (watcher is not None and watcher.stopped is not None)
    counts = {name: trajectory.count(name) for name in ("steps", "rejected", "evaluations")}
    t, q, v = trajectory.samples()
    if dynamics.canonical and len(t):
        v = dynamics.velocities(q, v, t=t)
    t, q, v = np.append(times[0], t), np.vstack([start["q"], q]), np.vstack([start["v"], v])
    works = np.vstack([np.zeros(trajectory.works), trajectory.works_done()])
    if ended and trajectory.real("t") > t[-1]:
        q_last, v_last = trajectory.state()
        v_last = dynamics.velocities_of(q_last, v_last, trajectory.real("t"))
        t, q, v = np.append(t, trajectory.real("t")), np.vstack([q, q_last]), np.vstack([v, v_last])
        works = np.vstack([works, trajectory.y[trajectory.w_start :][: trajectory.works]])
    good = np.isfinite(works).all(axis=1)
    if problem is None and not good.all():  # a table ended in the midst of a step that does not feel it
        known = int(np.argmin(good))
        reason = table_that_ended(dynamics.model, float(times[-1])) or "the work of a force is no longer a finite number"
        t, q, v, works = t[:known], q[:known], v[:known], works[:known]
        problem = f"stopped at t = {t[-1]:.9g} s: {reason}. What was computed until then is kept."
    if trajectory.count("status") == SINGULAR:
        host.note_passage(trajectory)
    if not scheme.adaptive:
        doubt_long_steps(scheme.name, trajectory.real("turn"))
    return Outcome(t, q, v, works, counts, problem, tuple(host.passages))


def _notice_singular_stage(dynamics: Dynamics, trajectory: Trajectory) -> None:
    """A step that is not finite because one of its stages fell on a singular position has met one."""
    if trajectory.count("status") != NOT_FINITE or dynamics.plan.nodes is None or not dynamics.model.closures:
        return
    q, _ = trajectory.state()
    still = np.zeros(dynamics.model.nv)  # pivots are those of positions
    found = nearest_singularity(dynamics.plan, {"q": q, "v": still, "t": np.array(trajectory.real("t"))})
    if found.pivot < _A_STEP_AWAY:
        model = dynamics.model
        row = int(model.closure_index[[c.name for c in model.closures].index(found.closures[0])])
        trajectory.set_count("status", SINGULAR)
        trajectory.set_count("singular", 1)
        trajectory.set_count("singular_row", row)
        trajectory.set_real("singular_time", trajectory.real("t"))


def _closure_of(trajectory: Trajectory) -> str:
    return closure_of_row(trajectory.plan.model, trajectory.count("singular_row"))


@dataclass
class _Host:
    """What the host does between the pieces of a run."""

    dynamics: Dynamics
    start: dict[str, Array]
    watcher: Watcher | None
    progress: Callable[[float], None] | None
    stiffness: Stiffness | None = None
    passages: list[Passage] = field(default_factory=list)

    def note_passage(self, trajectory: Trajectory) -> None:
        """A singular position that the last step met; one that ended on it is not told again by the step that leaves it."""
        if trajectory.count("singular"):
            found = Passage(trajectory.real("singular_time"), _closure_of(trajectory))
            before = self.passages[-1].time if self.passages else -np.inf
            if found.time - before > SAME_TIME * trajectory.real("h"):
                self.passages.append(found)
            trajectory.set_count("singular", 0)

    def derivative(self, t: float, q: Array, speeds: Array) -> Array:
        return slopes(self.dynamics, self.start, t, q[None], speeds[None])[0]

    def look(self, trajectory: Trajectory) -> None:
        """At a held step: note events; one that stops the run ends it inside the step."""
        assert self.watcher is not None
        step = trajectory.held_step(self.derivative)
        t, h = trajectory.real("t"), trajectory.real("h")

        def inside(x: float) -> tuple[Array, Array]:
            q, speeds = step(x)
            return q, self.dynamics.velocities_of(q, speeds, t + x * h)

        stop = self.watcher.look(t, h, inside)
        if stop is not None:
            trajectory.end_inside(min(stop.time, trajectory.real("end")))
            self.watcher.stopped = stop

    def between(self, trajectory: Trajectory, seconds: float) -> None:
        """After a piece of some steps that took so long: tell stiffness, and how far the run is."""
        t, h, end, first = *(trajectory.real(name) for name in ("t", "h", "end")), float(self.start["t"])
        if self.stiffness is not None and trajectory.stiff:
            found = Stiff(trajectory.real("stiff_time"), trajectory.real("rate"), trajectory.fastest())
            self.stiffness.notice(found, Pace(t, h, end, seconds / max(1, trajectory.tried)))
        if self.progress is not None:
            self.progress((t - first) / (end - first))


def watcher_of(model: Model, scheme: RungeKutta, events: Sequence[Event]) -> Watcher | None:
    if not events:
        return None
    if not scheme.adaptive:
        raise StateError(f"events need a method with dense output: use dopri5 or dop853, not {scheme.name}")
    return Watcher(model, events)


def prepare(
    dynamics: Dynamics,
    scheme: RungeKutta,
    start: dict[str, Array],
    times: Array,
    rtol: float,
    atol: float,
    max_step: float | None,
    metric: str = "minimum_norm",
) -> Trajectory:
    q, first_time = start["q"], float(start["t"])
    speeds = dynamics.speeds_of(q, start["v"], first_time)
    trajectory = Trajectory(dynamics.plan, dynamics.stepping, scheme, start | {"v": speeds}, times[1:], metric=metric)
    slope = np.concatenate([dynamics.rates(q, start["v"]), start["a"]])
    if dynamics.canonical:
        slope = slopes(dynamics, start, first_time, q[None], speeds[None])[0]
    qdot, rates = np.split(slope, [len(q)])
    trajectory.start(qdot, rates, powers(dynamics, start))
    first = float(times[1] - times[0])
    if scheme.adaptive:
        state = np.concatenate([q, speeds])
        with np.errstate(all="ignore"):
            first = first_step(partial(slopes, dynamics, start), first_time, state, slope, len(q), scheme.order, rtol, atol)
        if not first > 4e-15 * float(times[-1] - times[0]):  # also if it is no number
            trajectory.set_count("status", COLLAPSED if np.isfinite(first) else NOT_FINITE)
    reals = {"t": float(times[0]), "h": first, "end": float(times[-1]), "rtol": rtol, "atol": atol}
    reals |= {"longest": max_step or float(times[-1] - times[0]), "grow": 10.0, "energy": energy_scale(dynamics, start)}
    for name, value in reals.items():
        trajectory.set_real(name, value)
    return trajectory


def first_step(rates: Slopes, t: float, y: Array, slope: Array, nq: int, order: int, rtol: float, atol: float) -> float:
    """A first step whose error is about the tolerance.   Hairer, Norsett & Wanner, Solving ODEs I, II.4"""
    scale = atol + rtol * np.abs(y)
    size, speed = _rms(y / scale), _rms(slope / scale)
    guess = 1e-6 if size < 1e-2 or speed < 1e-5 else 0.01 * size / speed  # below that a state is zero but for rounding
    guess = max(guess, SHORTEST_GUESS)
    near = y + guess * slope
    there = rates(t + guess, near[None, :nq], near[None, nq:])[0]
    if not np.isfinite(there).all():
        return float(guess)  # and the error control says the rest
    bend = _rms((there - slope) / scale) / guess
    largest = max(speed, bend)
    second = max(1e-6, 1e-3 * guess) if largest <= 1e-15 else (0.01 / largest) ** (1 / order)
    return float(min(100 * guess, second))


def slopes(dynamics: Dynamics, start: dict[str, Array], t: float, q: Array, speeds: Array) -> Array:
    """dq/dt, and dv/dt or dp/dt, of rows of states; rows, since a batch does not raise."""
    if dynamics.canonical:
        return np.hstack(dynamics.canonical_rates(q, speeds, start["tau"], t=t, inputs=start["u"]))
    return accelerating(dynamics, start, t, q, speeds)


def accelerating(dynamics: Dynamics, start: dict[str, Array], t: float, q: Array, v: Array) -> Array:
    """The same in q and v, whatever the formulation."""
    a = dynamics.acceleration(q, v, start["tau"], t=t, inputs=start["u"])
    return np.hstack([dynamics.rates(q, v), a])


def _rms(x: Array) -> float:
    """Root mean square; the largest entry is taken out, so that squares of huge numbers do not overflow."""
    largest = float(np.abs(x).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((x / largest) ** 2))) if largest > 0 else 0.0


def advance_to_end(trajectory: Trajectory, host: _Host | None = None) -> None:
    """In pieces: between them Python can answer Ctrl-C."""
    if trajectory.method.adaptive:
        trajectory.set_count("samples", len(trajectory.times))
        _advance_samples(trajectory, host)
        return
    for interval, last in _equal_intervals(trajectory.real("t"), trajectory.times):
        substeps = int(np.ceil(interval / min(trajectory.real("longest"), interval) * (1 - 1e-12)))
        trajectory.set_count("samples", last)
        trajectory.set_count("substeps", substeps)
        trajectory.set_real("h", interval / substeps)
        _advance_samples(trajectory, host)
        if trajectory.count("status") != 0:
            return


def _equal_intervals(first: float, times: Array) -> Iterator[tuple[float, int]]:
    """Intervals between samples, and how many samples there are until their length changes.

    The last one may be shorter, and the first one of a run that goes on from between two samples.
    """
    lengths = np.diff(times, prepend=first)
    changes = np.flatnonzero(np.abs(np.diff(lengths)) > 1e-6 * lengths.max()) + 1
    for start, end in pairwise([0, *changes.tolist(), len(times)]):
        yield float(lengths[start]), end


def _advance_samples(trajectory: Trajectory, host: _Host | None) -> None:
    """Pieces grow until each takes about a tenth of a second; a watched run comes back after every good step."""
    budget = _FIRST_PIECE
    while trajectory.count("status") == 0 and trajectory.count("sample") < trajectory.count("samples"):
        began = time.perf_counter()
        trajectory.advance(budget)
        seconds = time.perf_counter() - began
        if host is not None and trajectory.count("status") == 0:
            host.note_passage(trajectory)
        if trajectory.held and host is not None:
            host.look(trajectory)
        elif seconds < _PIECE_SECONDS:
            budget *= 2
        if host is not None:
            host.between(trajectory, seconds)


def _problem(trajectory: Trajectory, method: str) -> str | None:
    """What went wrong, when, and at which joint; None if nothing did."""
    status, when = trajectory.count("status"), f"t = {trajectory.real('t'):.9g} s"
    if status in (NOT_FINITE, NOT_SOLVED):
        t = trajectory.real("t")
        ended = table_that_ended(trajectory.plan.model, t + trajectory.real("h") + 1e-9 * max(1.0, abs(t)))
        if ended is not None:
            return f"stopped at {when}: {ended}. What was computed until then is kept."
    if status == NOT_FINITE:
        return f"stopped at {when}: {trajectory.worst()} is no longer a finite number. What was computed until then is kept."
    if status == COLLAPSED:
        return (
            f"stopped at {when}: {trajectory.worst()} changes too fast, {method} would need a step below "
            f"{trajectory.real('h'):.2g} s. Look for very stiff or massless parts there, "
            f"or loosen {argument('rtol')} and {argument('atol')}. What was computed until then is kept."
        )
    if status == NOT_SOLVED:
        return (
            f"stopped at {when}: the equations of a step of {method} did not converge: {trajectory.real('h'):.3g} s is too "
            f"long for how fast the motion changes. Give a shorter {argument('max_step')}. "
            "What was computed until then is kept."
        )
    if status == SINGULAR:
        remedy = stuck() if trajectory.count("pass_singular") else let_it_pass()
        return Passage(trajectory.real("t"), _closure_of(trajectory)).problem(remedy)
    return None
