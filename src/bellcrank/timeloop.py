"""The time loop: a model, an integrator, and what to do when a step fails.

The steps themselves run in machine code (codegen.stepper); here they are started, called in pieces so that Python can
answer the keyboard, and turned into a Run.
"""

from __future__ import annotations

import difflib
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .codegen.diagnosis import table_that_ended
from .codegen.dynamics import Dynamics, Reference
from .codegen.stepper import COLLAPSED, NOT_FINITE
from .codegen.trajectory import Trajectory
from .errors import BellcrankWarning, SimulationError, StateError
from .events import Crossing, Event, Watcher
from .formulations import QUANTITIES
from .integrate import METHODS, RungeKutta
from .model import Model
from .plainloop import Control, Controlled, integrate_plainly
from .stiff import STIFF_METHODS, StiffRun, integrate_stiff

if TYPE_CHECKING:
    from .results import Run

Array = NDArray[np.float64]

_FIRST_PIECE, _PIECE_SECONDS = 256, 0.1  # steps, seconds
_MOST_SAMPLES = 50_000_000


def simulate(
    model: Model,
    duration: float | None = None,
    *,
    step: float | None = None,
    method: str = "dopri5",
    formulation: str = "auto",
    reference: Reference | None = None,
    rtol: float = 1e-11,
    atol: float = 1e-11,
    max_step: float | None = None,
    tau: ArrayLike | Control | None = None,
    inputs: ArrayLike | Control | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    after: Run | None = None,
    events: Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Run a model through time.

    duration   seconds; the model's own if not given
    step       interval of the samples in seconds; the model's own, or a hundredth of the duration
    method     "dopri5" and "dop853" adapt their step to rtol and atol; "rk4" takes steps of at most max_step (default: the
               interval); "radau" and "bdf" are scipy's implicit methods, with exact Jacobians, for stiff models
    tau        joint efforts (nv,) besides the model's forces: constant, or a function of t, q, v (in Python, and slower)
    inputs     values of the model's inputs: constant, or a function of t, q, v
    q, v       start, instead of the model's
    after      a run to go on from: its last state and time
    events     what to watch for (methods that adapt their step); ``run.crossings`` says what happened
    progress   is told the fraction done, now and then

    A run that cannot go on raises SimulationError; what was computed until then is its ``run``.
    """
    began = time.perf_counter()
    _known_method(method)
    _positive(rtol=rtol, atol=atol, max_step=max_step)
    dynamics = Dynamics(model, formulation, reference=reference)
    functions = {"tau": tau if callable(tau) else None, "inputs": inputs if callable(inputs) else None}
    given = {"q": q, "v": v, "tau": None if callable(tau) else tau, "u": None if callable(inputs) else inputs}
    start = _start(dynamics, after, given)
    times = float(start["t"]) + sample_times(*_span(model, duration, step))
    crossings: tuple[Crossing, ...] = ()
    if method in STIFF_METHODS or any(functions.values()):
        _refuse_events(events, "stiff methods" if method in STIFF_METHODS else "runs with Python functions")
        outcome = _outside_machine_code(dynamics, method, start, times, functions, (rtol, atol, max_step), progress)
    else:
        watcher = _watcher(model, METHODS[method], events)
        outcome = _in_machine_code(dynamics, METHODS[method], start, times, (rtol, atol, max_step), watcher, progress)
        crossings = tuple(watcher.crossings) if watcher is not None else ()
    adaptive = method in STIFF_METHODS or METHODS[method].adaptive
    settings: dict[str, Any] = {
        "formulation": dynamics.formulation.partition(":")[0],
        "reference": dynamics.formulation.partition(":")[2] or None,
        "method": method,
        "duration": float(times[-1] - times[0]),
        "step": float(times[1] - times[0]),
        "rtol": rtol if adaptive else None,
        "atol": atol if adaptive else None,
        "max_step": max_step,
        **outcome.counts,
        "tau": start["tau"].tolist() if tau is not None else None,
        "inputs": start["u"].tolist() if model.inputs else None,
    }
    run = _finish(dynamics, outcome, start, functions, settings, began)
    run.crossings = crossings
    if outcome.problem is not None:
        raise SimulationError(f"model {model.name!r} {outcome.problem}", run)
    return run


Limits = tuple[float, float, float | None]  # rtol, atol, max_step


def _in_machine_code(
    dynamics: Dynamics,
    scheme: RungeKutta,
    start: dict[str, Array],
    times: Array,
    limits: Limits,
    watcher: Watcher | None,
    progress: Callable[[float], None] | None,
) -> StiffRun:
    trajectory = _prepare(dynamics, scheme, start, times, *limits)
    trajectory.set_count("watched", 0 if watcher is None else 1)
    problem = None
    try:
        _advance_to_end(trajectory, _Host(dynamics, start, watcher, progress))
    except KeyboardInterrupt:
        problem = f"interrupted at t = {trajectory.real('t'):.6g} s"
    problem = problem or _problem(trajectory, scheme.name)
    ended = problem is not None or (watcher is not None and watcher.stopped is not None)
    counts = {name: trajectory.count(name) for name in ("steps", "rejected", "evaluations")}
    t, q, v = trajectory.samples()
    t, q, v = np.append(times[0], t), np.vstack([start["q"], q]), np.vstack([start["v"], v])
    works = np.vstack([np.zeros(trajectory.works), trajectory.works_done()])
    if ended and trajectory.real("t") > t[-1]:
        q_last, v_last = trajectory.state()
        t, q, v = np.append(t, trajectory.real("t")), np.vstack([q, q_last]), np.vstack([v, v_last])
        works = np.vstack([works, trajectory.y[trajectory.w_start :][: trajectory.works]])
    good = np.isfinite(works).all(axis=1)
    if problem is None and not good.all():  # a table ended in the midst of a step that does not feel it
        known = int(np.argmin(good))
        reason = table_that_ended(dynamics.model, float(times[-1])) or "the work of a force is no longer a finite number"
        t, q, v, works = t[:known], q[:known], v[:known], works[:known]
        problem = f"stopped at t = {t[-1]:.9g} s: {reason}. What was computed until then is kept."
    return StiffRun(t, q, v, works, counts, problem)


def _outside_machine_code(
    dynamics: Dynamics,
    method: str,
    start: dict[str, Array],
    times: Array,
    functions: dict[str, Any],
    limits: Limits,
    progress: Callable[[float], None] | None,
) -> StiffRun:
    """scipy's implicit methods, or the loop in Python where efforts or inputs are Python functions."""
    rtol, atol, max_step = limits
    if not any(functions.values()):
        return integrate_stiff(dynamics, method, start, times, rtol, atol, max_step, progress)
    if method in STIFF_METHODS:
        raise StateError(f"tau and inputs as Python functions go with dopri5, dop853 and rk4, not with {method}")
    warnings.warn(
        "tau or inputs are Python functions: the time loop runs in Python, ten to a hundred times slower than machine code",
        BellcrankWarning,
        stacklevel=3,
    )
    scheme = METHODS[method]
    system = Controlled(dynamics, start, functions["tau"], functions["inputs"])
    slope = system.slope(float(times[0]), np.concatenate([start["q"], start["v"], np.zeros(system.works)]))
    first = float(times[1] - times[0])
    if scheme.adaptive:
        start = start | {"tau": system.tau, "u": system.u}
        state = np.concatenate([start["q"], start["v"]])
        first = first_step(dynamics, start, state, slope[: system.state], scheme.order, rtol, atol)
    return integrate_plainly(system, scheme, start, times, first, rtol, atol, max_step, progress)


@dataclass
class _Host:
    """What the host does between the pieces of a run."""

    dynamics: Dynamics
    start: dict[str, Array]
    watcher: Watcher | None
    progress: Callable[[float], None] | None

    def derivative(self, t: float, q: Array, v: Array) -> Array:
        a = self.dynamics.acceleration(q, v, self.start["tau"], t=t, inputs=self.start["u"])
        return np.concatenate([self.dynamics.rates(q, v), a])

    def look(self, trajectory: Trajectory) -> None:
        """At a held step: note events; one that stops the run ends it inside the step."""
        assert self.watcher is not None
        inside = trajectory.held_step(self.derivative)
        stop = self.watcher.look(trajectory.real("t"), trajectory.real("h"), inside)
        if stop is not None:
            trajectory.end_inside(min(stop.time, trajectory.real("end")))
            self.watcher.stopped = stop


def _watcher(model: Model, scheme: RungeKutta, events: Sequence[Event]) -> Watcher | None:
    if not events:
        return None
    if not scheme.adaptive:
        raise StateError(f"events need a method with dense output: use dopri5 or dop853, not {scheme.name}")
    return Watcher(model, events)


def _refuse_events(events: Sequence[Event], what: str) -> None:
    if events:
        raise StateError(f"events are watched by dopri5 and dop853 in machine code; {what} cannot watch them yet")


def sample_times(duration: float, step: float) -> Array:
    """0, step, 2 step, ... and the end, which may come after a shorter interval."""
    count = int(np.floor(duration / step * (1 + 1e-12)))
    if count > _MOST_SAMPLES:
        raise StateError(
            f"{count} samples are too many: take a longer step than {step} s, or a shorter duration than {duration} s"
        )
    times: Array = step * np.arange(count + 1, dtype=np.float64)
    if duration - times[-1] > 1e-9 * step:
        return np.append(times, duration)
    times[-1] = duration
    return times


def _span(model: Model, duration: float | None, step: float | None) -> tuple[float, float]:
    duration = model.duration if duration is None else duration
    if duration is None:
        raise StateError(f"model {model.name!r} does not say how long to run: give duration, in seconds")
    _positive(duration=duration)
    step = model.step if step is None else step
    step = duration / 100 if step is None else step
    _positive(step=step)
    return float(duration), min(float(step), float(duration))


def _positive(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not (np.isfinite(value) and value > 0):
            raise StateError(f"{name} must be a positive number; it is {value}")


def _known_method(name: str) -> None:
    known = [*METHODS, *STIFF_METHODS]
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise StateError(f"there is no method {name!r}{hint}: use one of {', '.join(known)}")


def _start(dynamics: Dynamics, after: Run | None, given: dict[str, ArrayLike | None]) -> dict[str, Array]:
    """The first state, checked by evaluating the equations there."""
    model = dynamics.model
    defaults = {"q": model.initial_q, "v": model.initial_v, "tau": np.zeros(model.nv)}
    first_time = 0.0
    if after is not None:
        first_time = float(after.values("time")[-1])
        defaults |= {"q": after.values("q")[-1], "v": after.values("v")[-1]}
    start = {name: np.array(dynamics._array(name, _or(given[name], x))) for name, x in defaults.items()}
    for name, x in start.items():
        if x.ndim != 1:
            raise StateError(f"{name} must be one state; it has shape {x.shape}")
    for i, joint in enumerate(model.joints):
        if joint.quaternion is not None and not model.driven[i]:
            at = model.q_index[i] + joint.quaternion
            length = np.linalg.norm(start["q"][at : at + 4])
            if not abs(length - 1) < 1e-6:
                raise StateError(f"the quaternion of joint {model.joint_names[i]!r} has length {length:.6g}: it must be 1")
            start["q"][at : at + 4] /= length
    count = len(model.inputs)
    start["u"] = dynamics._extra("inputs", _or(given["u"], np.zeros(count)), 1, count)[0]
    start["t"] = np.array(first_time)
    start["a"] = dynamics.acceleration(start["q"], start["v"], start["tau"], t=first_time, inputs=start["u"])
    return start


def _or(given: ArrayLike | None, default: ArrayLike) -> ArrayLike:
    return default if given is None else given


def _powers(dynamics: Dynamics, start: dict[str, Array]) -> Array:
    """At the start: powers of the force elements, of the drives (in the order of the walk), and of the given efforts."""
    model, q, v, t = dynamics.model, start["q"], start["v"], float(start["t"])
    elements = dynamics.elements(q, v, t=t, inputs=start["u"])[1] if model.elements else np.zeros(0)
    drives = np.zeros(0)
    if model.driven.any():
        given = {"q": q, "v": v, "a": start["a"]}
        drives = dynamics._evaluate(QUANTITIES["drives"], given, t, start["u"]).reshape(-1, 2)[:, 1]
    return np.concatenate([elements, drives, [start["tau"] @ v]])


def _prepare(
    dynamics: Dynamics,
    scheme: RungeKutta,
    start: dict[str, Array],
    times: Array,
    rtol: float,
    atol: float,
    max_step: float | None,
) -> Trajectory:
    q, v, a = start["q"], start["v"], start["a"]
    later = times[1:]
    trajectory = Trajectory(dynamics.plan, dynamics._program, scheme, start, later)
    qdot = dynamics.rates(q, v)
    trajectory.start(qdot, a, _powers(dynamics, start))
    interval = float(times[1] - times[0])
    substeps = int(np.ceil(interval / min(max_step or interval, interval) * (1 - 1e-12)))
    first = interval / substeps
    if scheme.adaptive:
        state, slope = np.concatenate([q, v]), np.concatenate([qdot, a])
        first = first_step(dynamics, start, state, slope, scheme.order, rtol, atol)
    reals = {"t": float(times[0]), "h": first, "end": float(times[-1]), "rtol": rtol, "atol": atol}
    for name, value in (reals | {"longest": max_step or float(times[-1] - times[0]), "grow": 10.0}).items():
        trajectory.set_real(name, value)
    trajectory.set_count("substeps", substeps)
    return trajectory


def first_step(
    dynamics: Dynamics, start: dict[str, Array], y: Array, slope: Array, order: int, rtol: float, atol: float
) -> float:
    """A first step whose error is about the tolerance.   Hairer, Norsett & Wanner, Solving ODEs I, II.4"""
    scale = atol + rtol * np.abs(y)
    size, speed = _rms(y / scale), _rms(slope / scale)
    guess = 1e-6 if min(size, speed) < 1e-5 else 0.01 * size / speed
    near = y + guess * slope
    nq = dynamics.model.nq
    q, v = near[None, :nq], near[None, nq:]  # a batch of one, since a batch does not raise
    a = dynamics.acceleration(q, v, start["tau"], t=float(start["t"]) + guess, inputs=start["u"])
    there = np.hstack([dynamics.rates(q, v), a])[0]
    if not np.isfinite(there).all():
        return float(guess)  # and the error control says the rest
    bend = _rms((there - slope) / scale) / guess
    largest = max(speed, bend)
    second = max(1e-6, 1e-3 * guess) if largest <= 1e-15 else (0.01 / largest) ** (1 / order)
    return float(min(100 * guess, second))


def _rms(x: Array) -> float:
    """Root mean square; the largest entry is taken out, so that squares of huge numbers do not overflow."""
    largest = float(np.abs(x).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((x / largest) ** 2))) if largest > 0 else 0.0


def _advance_to_end(trajectory: Trajectory, host: _Host | None = None) -> None:
    """In pieces: between them Python can answer Ctrl-C. The last interval of a fixed step may be a shorter one."""
    times, last = trajectory.times, len(trajectory.times) - 1
    shorter = (
        not trajectory.method.adaptive and last > 0 and times[-1] - times[-2] < (1 - 1e-9) * (times[0] - trajectory.real("t"))
    )
    trajectory.set_count("samples", last if shorter else last + 1)
    _advance_samples(trajectory, host)
    if shorter and trajectory.count("status") == 0:
        trajectory.set_count("samples", last + 1)
        substeps = int(np.ceil((times[-1] - times[-2]) / trajectory.real("h") * (1 - 1e-12)))
        trajectory.set_count("substeps", substeps)
        trajectory.set_real("h", float(times[-1] - times[-2]) / substeps)
        _advance_samples(trajectory, host)


def _advance_samples(trajectory: Trajectory, host: _Host | None) -> None:
    """Pieces grow until each takes about a tenth of a second; a watched run comes back after every good step."""
    budget = _FIRST_PIECE
    while trajectory.count("status") == 0 and trajectory.count("sample") < trajectory.count("samples"):
        began = time.perf_counter()
        trajectory.advance(budget)
        if trajectory.held and host is not None:
            host.look(trajectory)
        elif time.perf_counter() - began < _PIECE_SECONDS:
            budget *= 2
        if host is not None and host.progress is not None:
            first = float(host.start["t"])
            host.progress((trajectory.real("t") - first) / (trajectory.real("end") - first))


def _problem(trajectory: Trajectory, method: str) -> str | None:
    """What went wrong, when, and at which joint; None if nothing did."""
    status, when = trajectory.count("status"), f"t = {trajectory.real('t'):.9g} s"
    if status == NOT_FINITE:
        t = trajectory.real("t")
        ended = table_that_ended(trajectory.plan.model, t + trajectory.real("h") + 1e-9 * max(1.0, abs(t)))
        if ended is not None:
            return f"stopped at {when}: {ended}. What was computed until then is kept."
        return f"stopped at {when}: {trajectory.worst()} is no longer a finite number. What was computed until then is kept."
    if status == COLLAPSED:
        return (
            f"stopped at {when}: {trajectory.worst()} changes too fast, {method} would need a step below "
            f"{trajectory.real('h'):.2g} s. Look for very stiff or massless parts there, or loosen rtol and atol. "
            "What was computed until then is kept."
        )
    return None


def _finish(
    dynamics: Dynamics,
    outcome: StiffRun,
    start: dict[str, Array],
    functions: dict[str, Any],
    settings: dict[str, Any],
    began: float,
) -> Run:
    """What was computed as a Run: with accelerations, and the works by their sources."""
    from .results import Run, work_by_source

    t, q, v, works = outcome.times, outcome.q, outcome.v, outcome.works
    derived: dict[str, Array] = {}
    tau, u = start["tau"], start["u"]
    if functions["tau"] is not None:
        tau = np.array([functions["tau"](*state) for state in zip(t.tolist(), q, v, strict=True)]).reshape(len(t), -1)
    if functions["inputs"] is not None:
        u = np.array([functions["inputs"](*state) for state in zip(t.tolist(), q, v, strict=True)]).reshape(len(t), -1)
        derived["inputs"] = u
    a = np.atleast_2d(dynamics.acceleration(q, v, tau, t=t, inputs=u))
    elements, drives, given = np.split(works, [len(dynamics.model.elements), works.shape[1] - 1], axis=1)
    parts = (elements, dynamics._frames.drives(drives), given if settings["tau"] is not None else given[:, :0])
    derived["work"] = work_by_source(dynamics.model, *parts)
    settings["wall_time"] = time.perf_counter() - began
    return Run(dynamics.model, t, q, v, a, settings, outcome.problem, derived=derived)
