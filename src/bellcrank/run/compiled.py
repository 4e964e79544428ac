"""A run in machine code, from the host's side: started, called in pieces so that Python can answer the keyboard, watched
for events, and told why it ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..dynamics.diagnosis import table_that_ended
from ..dynamics.dynamics import Dynamics
from ..dynamics.singular_positions import closure_of_row, closures_of_node, nearest_singularity
from ..errors import warn
from ..integrate import RungeKutta
from ..kernels.threads import look_for_stop
from ..machine.adjoint.log import Log
from ..machine.steps.declared import COLLAPSED, NOT_FINITE, NOT_SOLVED, SINGULAR
from ..machine.steps.projection import LOOK_FIRST
from ..machine.steps.trajectory import Tangents, Trajectory
from ..plan.row_selection import planned
from ..wording import argument, counted
from .checks.horizon import EndNotInSight, Horizon
from .control import Control
from .events import Watcher
from .first_step import in_momenta, prepare, velocities_along
from .loops.treatment import NO_LOOPS, Loops, doubt_long_steps
from .stiff.stiffness import Pace, Stiff, Stiffness
from .system import Outcome, Passage, let_it_pass, stuck

Array = NDArray[np.float64]
Limits = tuple[float, float, float | None]  # rtol, atol, max_step

_A_STEP_AWAY = 0.05  # pivots from which one step may lead to a singular position
SAME_TIME = 1e-6  # of a step
_FIRST_PIECE, _PIECE_SECONDS = 4, 0.1  # steps, seconds
_LONGEST_PIECE = 1 << 40  # steps; a run that is written down comes back earlier than it may, again and again


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
    control: Control | None = None,
    horizon: Horizon | None = None,
    tangents: Tangents | None = None,
    log: Log | None = None,
) -> Outcome:
    given = dynamics, scheme, start, times, *limits
    trajectory = prepare(*given, metric=loops.metric, control=control, tangents=tangents, log=log)
    _treat_loops(trajectory, dynamics, loops)
    trajectory.set_count("watched", 0 if watcher is None else 1)
    problem, host = None, _Host(dynamics, scheme, start, watcher, progress, stiffness, control, horizon, tangents)
    try:
        advance_to_end(trajectory, host)
    except KeyboardInterrupt:
        problem = f"interrupted at t = {trajectory.real('t'):.6g} s"
    except EndNotInSight as why:
        problem = str(why)
    _notice_singular_stage(dynamics, trajectory)
    problem = problem or _problem(trajectory, scheme.name, asking=control is not None)
    if watcher is not None and trajectory.status != 0:
        watcher.forget_after(trajectory.real("t"))
    if trajectory.status == SINGULAR:
        host.note_passage(trajectory)
    if not scheme.adaptive:
        doubt_long_steps(scheme.name, trajectory.real("turn"))
        _doubt_cut_steps(scheme, trajectory.count("cuts"))
    if log is not None:
        log.samples = trajectory.samples()[:3]
    counts = {name: int(trajectory.real(name)) for name in ("steps", "rejected")}
    names = ("evaluations", "jacobians", "factorizations") if scheme.implicit else ("evaluations",)
    counts |= {name: trajectory.count(name) for name in (*names, *(("uncut",) if tangents is not None else ()))}
    peak = host.peak_kinetic(trajectory) if tangents is None and log is None else 0.0  # what the works are compared with
    return _known(dynamics, host.collected(trajectory, problem)._replace(counts=counts, peak=peak))


def _doubt_cut_steps(scheme: RungeKutta, cuts: int) -> None:
    if scheme.implicit and cuts:
        warn(
            f"{scheme.name} divided steps at {counted(cuts, 'place')}, where a stop or a table makes the equations of motion "
            "change abruptly: with steps of unequal length the structure of Hamilton's equations is not kept there"
        )


def _treat_loops(trajectory: Trajectory, dynamics: Dynamics, loops: Loops) -> None:
    projected = bool(dynamics.model.closures) and loops.project
    trajectory.set_count("project", int(loops.project))
    if projected:
        trajectory.limit_turns()
    trajectory.set_real("go_on", float(loops.go_on))
    trajectory.set_real("near", loops.near)
    trajectory.set_real("seen", LOOK_FIRST if projected and planned(dynamics) else 0.0)


def _known(dynamics: Dynamics, outcome: Outcome) -> Outcome:
    """The outcome as far as the works are numbers: a table may end in the midst of a step that does not feel it."""
    good = np.isfinite(outcome.works).all(axis=1)
    if outcome.problem is not None or good.all():
        return outcome
    known = int(np.argmin(good))
    kept, ended = outcome.until(known), table_that_ended(dynamics.model, float(outcome.times[-1]))
    reason = ended or "the work of a force is no longer a finite number"
    problem = f"stopped at t = {kept.times[-1]:.9g} s: {reason}. What was computed until then is kept."
    return kept._replace(problem=problem)


def _notice_singular_stage(dynamics: Dynamics, trajectory: Trajectory) -> None:
    """A step that is not finite because one of its stages fell on a singular position has met one."""
    if trajectory.status != NOT_FINITE or dynamics.plan.nodes is None or not dynamics.model.closures:
        return
    q, _, _ = trajectory.state()
    still = np.zeros(dynamics.model.nv)  # pivots are those of positions
    found = nearest_singularity(dynamics.plan, {"q": q, "v": still, "t": np.array(trajectory.real("t"))})
    if found.pivot < _A_STEP_AWAY:
        model = dynamics.model
        row = int(model.closure_index[[c.name for c in model.closures].index(found.closures[0])])
        values = {"status": SINGULAR, "singular": 1, "singular_row": row, "singular_time": trajectory.real("t")}
        for name, value in values.items():
            trajectory.set_real(name, value)


def _closure_of(trajectory: Trajectory) -> str:
    """The closure of the equation with which a singular position was seen, or one below the node whose children must agree."""
    plan, row = trajectory.plan, int(trajectory.real("singular_row"))
    beyond = row - plan.loads.closing.rows
    if beyond < 0 or plan.nodes is None:
        return closure_of_row(plan.model, row)
    return closures_of_node(plan, plan.nodes.agreements[beyond])[0]


@dataclass
class _Host:
    """The host's work between the pieces of a run."""

    dynamics: Dynamics
    scheme: RungeKutta
    start: dict[str, Array]
    watcher: Watcher | None
    progress: Callable[[float], None] | None
    stiffness: Stiffness | None = None
    control: Control | None = None
    horizon: Horizon | None = None
    tangents: Tangents | None = None
    passages: list[Passage] = field(default_factory=list)

    def note_passage(self, trajectory: Trajectory) -> None:
        """A singular position that the last step met; one that ended on it is not told again by the step that leaves it."""
        if trajectory.real("singular"):
            found = Passage(trajectory.real("singular_time"), _closure_of(trajectory))
            before = self.passages[-1].time if self.passages else -np.inf
            if found.time - before > SAME_TIME * trajectory.real("h"):
                self.passages.append(found)
            trajectory.set_real("singular", 0.0)

    @property
    def left(self) -> bool:
        """Whether the rest of the run is left to another method."""
        return self.stiffness is not None and self.stiffness.left_at is not None

    def velocities(self, t: Array | float, q: Array, speeds: Array) -> Array:
        if not in_momenta(self.dynamics, self.scheme, self.control) or not len(q):
            return speeds
        return np.asarray(self.dynamics.velocities(q, speeds, t=t))

    def look(self, trajectory: Trajectory) -> None:
        """Looks at a paused step: notes events; one that stops the run ends it inside the step."""
        assert self.watcher is not None
        if self.dynamics.model.stictions:
            self.watcher.around.inputs = trajectory.arrays["u"][: self.dynamics.model.input_width].copy()
        step = trajectory.paused_step()
        t, h = trajectory.real("t"), trajectory.paused_length

        def inside(x: Array) -> tuple[Array, Array]:
            q, speeds = step(x)
            return q, self.velocities(t + x * h, q, speeds)

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
            if self.stiffness.switches:
                trajectory.look_again()
        if self.horizon is not None:
            self.horizon.look(
                t, int(trajectory.real("steps") + trajectory.real("rejected")), seconds / max(1, trajectory.tried)
            )
        if self.progress is not None:
            self.progress((t - first) / (end - first))

    def peak_kinetic(self, trajectory: Trajectory) -> float:
        """The largest kinetic energy, about: that of the step with the largest speeds."""
        found = trajectory.fastest_state()
        if found is None:
            return 0.0
        t, q, speeds = found
        kinetic = self.dynamics.energy(q[None], self.velocities(t, q[None], speeds[None]), t=t)[0]
        return float(np.nan_to_num(kinetic[0], posinf=0.0))

    def collected(self, trajectory: Trajectory, problem: str | None) -> Outcome:
        """The samples from the start on; of a run that ended early the last state too."""
        times, q, speeds, works = trajectory.samples()
        first, v = self.start, self.velocities(times, q, speeds)
        rows = [np.append(first["t"], times), np.vstack([first["q"], q]), np.vstack([first["v"], v])]
        rows.append(np.vstack([np.zeros(works.shape[1]), works]))
        tangents = "dq" in first
        if tangents:
            found = self.tangents_of_samples(times, q, speeds, *trajectory.sampled_tangents())
            rows += [np.concatenate([first[f"d{x}"][None], dx]) for x, dx in zip("qv", found, strict=True)]
        ended = problem is not None or self.left or (self.watcher is not None and self.watcher.stopped is not None)
        t = trajectory.real("t")
        if ended and t > rows[0][-1]:
            q, speeds, works = trajectory.state()
            last = [np.array([t]), q[None], self.velocities(t, q, speeds)[None], works[None]]
            if tangents:
                along = [x[None] for x in trajectory.tangents_of(trajectory.arrays["y"])]
                last += self.tangents_of_samples(t, q[None], speeds[None], *along)
            rows = [np.concatenate(pair) for pair in zip(rows, last, strict=True)]
        times, q, v, works, *along = rows
        outcome = Outcome(times, q, v, works, {}, problem, tuple(self.passages), anchors=self._anchors(trajectory, len(times)))
        if not tangents:
            return outcome
        return outcome._replace(dq=along[0], dv=along[1], missed=trajectory.errors_of_tangents())

    def tangents_of_samples(self, t: Array | float, q: Array, speeds: Array, dq: Array, d_speeds: Array) -> list[Array]:
        """dq and dv."""
        if self.tangents is None or not in_momenta(self.dynamics, self.scheme, self.control):
            return [dq, d_speeds]
        return [dq, velocities_along(self.dynamics, self.tangents, t, q, speeds, dq, d_speeds)]

    def _anchors(self, trajectory: Trajectory, count: int) -> Array | None:
        """Anchors of friction that holds, at the start, at the samples, and where the run ended."""
        if not self.dynamics.model.stictions:
            return None
        first = self.start["u"][len(self.dynamics.model.inputs) :]
        return np.vstack([first, trajectory.anchors()])[:count]


def advance_to_end(trajectory: Trajectory, host: _Host | None = None) -> None:
    """Advances to the end in pieces, between which Python can answer Ctrl-C."""
    if trajectory.method.adaptive:
        _advance_samples(trajectory, host)
        return
    for interval, last in _equal_intervals(trajectory.real("t"), trajectory.times):
        substeps = int(np.ceil(interval / min(trajectory.real("longest"), interval) * (1 - 1e-12)))
        trajectory.set_count("samples", last)
        trajectory.set_count("substeps", substeps)
        trajectory.set_real("h", interval / substeps)
        _advance_samples(trajectory, host)
        if trajectory.status != 0 or (host is not None and host.watcher is not None and host.watcher.stopped is not None):
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
    while trajectory.status == 0 and trajectory.sampled < trajectory.count("samples") and not (host and host.left):
        began = time.perf_counter()
        look_for_stop()
        trajectory.advance(budget)
        seconds = time.perf_counter() - began
        if host is not None and trajectory.status == 0:
            host.note_passage(trajectory)
        if trajectory.paused and host is not None:
            host.look(trajectory)
        elif seconds < _PIECE_SECONDS:
            budget = min(2 * budget, _LONGEST_PIECE)
        if host is not None:
            host.between(trajectory, seconds)


def _problem(trajectory: Trajectory, method: str, *, asking: bool) -> str | None:
    """A text of what went wrong, when, and at which joint, or None. ``asking``: functions of the caller's were called."""
    status, when = trajectory.status, f"t = {trajectory.real('t'):.9g} s"
    if status in (NOT_FINITE, NOT_SOLVED):
        t = trajectory.real("t")
        ended = table_that_ended(trajectory.plan.model, t + trajectory.real("h") + 1e-9 * max(1.0, abs(t)))
        if ended is not None:
            return f"stopped at {when}: {ended}. What was computed until then is kept."
    if status == NOT_FINITE:
        return f"stopped at {when}: {trajectory.worst()} is no longer a finite number. What was computed until then is kept."
    if status == COLLAPSED:
        loosen = f"Look for very stiff or massless parts there, or loosen {argument('rtol')} and {argument('atol')}."
        remedy = "A function that jumps is a common reason: smooth it." if asking else loosen
        return (
            f"stopped at {when}: {trajectory.worst()} changes too fast, {method} would need a step below "
            f"{trajectory.real('h'):.2g} s. {remedy} What was computed until then is kept."
        )
    if status == NOT_SOLVED and trajectory.layout.closed_midpoint:
        return (
            f"stopped at {when}: the equations of a step of {trajectory.real('h'):.3g} s cannot be solved: the step is too "
            f"long, or the loops are in a singular position or near one, which this method cannot pass. Take shorter steps "
            f"({argument('max_step')}), or use {argument('method', 'rattle')}. What was computed until then is kept."
        )
    if status == NOT_SOLVED:
        return (
            f"stopped at {when}: the equations of a step of {method} did not converge: {trajectory.real('h'):.3g} s is too "
            f"long for how fast the motion changes. Give a shorter {argument('max_step')}. "
            "What was computed until then is kept."
        )
    if status == SINGULAR:
        remedy = stuck(functions=asking) if trajectory.real("go_on") else let_it_pass(functions=asking)
        return Passage(trajectory.real("t"), _closure_of(trajectory)).problem(remedy)
    return None
