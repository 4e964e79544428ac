"""The time loop: a model, an integrator, and what to do when a step fails.

The steps themselves run in machine code (codegen.stepper); here they are started, called in pieces so that Python can
answer the keyboard, and turned into a Run.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .codegen.dynamics import Dynamics, Reference
from .codegen.stepper import COLLAPSED, NOT_FINITE
from .codegen.trajectory import Trajectory
from .errors import SimulationError, StateError
from .events import Event, Watcher
from .formulations import QUANTITIES
from .integrate import METHODS, RungeKutta
from .model import Model

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
    tau: ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    after: Run | None = None,
    events: Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Run a model through time.

    duration   seconds; the model's own if not given
    step       interval of the samples in seconds; the model's own, or a hundredth of the duration
    method     "dopri5" adapts its step to rtol and atol; "rk4" takes steps of at most max_step (default: the interval)
    tau        constant joint efforts (nv,), besides gravity
    inputs     constant values of the model's inputs
    q, v       start, instead of the model's
    after      a run to go on from: its last state and time
    events     what to watch for (methods that adapt their step); ``run.crossings`` says what happened
    progress   is told the fraction done, now and then

    A run that cannot go on raises SimulationError; what was computed until then is its ``run``.
    """
    began = time.perf_counter()
    scheme = _method(method)
    _positive(rtol=rtol, atol=atol, max_step=max_step)
    dynamics = Dynamics(model, formulation, reference=reference)
    start = _start(dynamics, after, {"q": q, "v": v, "tau": tau, "u": inputs})
    times = float(start["t"]) + sample_times(*_span(model, duration, step))
    trajectory = _prepare(dynamics, scheme, start, times, rtol, atol, max_step)
    watcher = _watcher(model, scheme, events, trajectory)
    problem = None
    try:
        _advance_to_end(trajectory, _Host(dynamics, start, watcher, progress))
    except KeyboardInterrupt:
        problem = f"interrupted at t = {trajectory.real('t'):.6g} s"
    problem = problem or _problem(trajectory, method)
    settings: dict[str, Any] = {
        "formulation": dynamics.formulation.partition(":")[0],
        "reference": dynamics.formulation.partition(":")[2] or None,
        "method": method,
        "duration": float(times[-1] - times[0]),
        "step": float(times[1] - times[0]),
        "rtol": rtol if scheme.adaptive else None,
        "atol": atol if scheme.adaptive else None,
        "max_step": max_step,
        "steps": trajectory.count("steps"),
        "rejected": trajectory.count("rejected"),
        "evaluations": trajectory.count("evaluations"),
        "tau": start["tau"].tolist() if tau is not None else None,
        "inputs": start["u"].tolist() if model.inputs else None,
    }
    return _finish(dynamics, trajectory, start, settings, problem, began, watcher)


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
            trajectory.end_inside(stop.time)
            self.watcher.stopped = stop


def _watcher(model: Model, scheme: RungeKutta, events: Sequence[Event], trajectory: Trajectory) -> Watcher | None:
    if not events:
        return None
    if not scheme.adaptive:
        raise StateError(f"events need a method with dense output: use dopri5 or dop853, not {scheme.name}")
    trajectory.set_count("watched", 1)
    return Watcher(model, events)


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


def _method(name: str) -> RungeKutta:
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise StateError(f"there is no method {name!r}{hint}: use one of {', '.join(METHODS)}")
    return METHODS[name]


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
    shorter = not trajectory.method.adaptive and last > 0 and times[-1] - times[-2] < (1 - 1e-9) * times[0]
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
    budget, first = _FIRST_PIECE, trajectory.real("t")
    while trajectory.count("status") == 0 and trajectory.count("sample") < trajectory.count("samples"):
        began = time.perf_counter()
        trajectory.advance(budget)
        if trajectory.held and host is not None:
            host.look(trajectory)
        elif time.perf_counter() - began < _PIECE_SECONDS:
            budget *= 2
        if host is not None and host.progress is not None:
            host.progress((trajectory.real("t") - first) / (trajectory.real("end") - first))


def _problem(trajectory: Trajectory, method: str) -> str | None:
    """What went wrong, when, and at which joint; None if nothing did."""
    status, when = trajectory.count("status"), f"t = {trajectory.real('t'):.9g} s"
    if status == NOT_FINITE:
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
    trajectory: Trajectory,
    start: dict[str, Array],
    settings: dict[str, Any],
    problem: str | None,
    began: float,
    watcher: Watcher | None = None,
) -> Run:
    from .results import Run, work_by_source

    times, q, v = trajectory.samples()
    t = np.concatenate([[float(start["t"])], times])
    q, v = np.vstack([start["q"], q]), np.vstack([start["v"], v])
    done = np.vstack([np.zeros(trajectory.works), trajectory.works_done()])
    ended = problem is not None or (watcher is not None and watcher.stopped is not None)
    if ended and trajectory.real("t") > t[-1]:
        q_last, v_last = trajectory.state()
        t, q, v = np.append(t, trajectory.real("t")), np.vstack([q, q_last]), np.vstack([v, v_last])
        done = np.vstack([done, trajectory.y[trajectory.w_start :][: trajectory.works]])
    a = dynamics.acceleration(q, v, start["tau"], t=t, inputs=start["u"])
    settings["wall_time"] = time.perf_counter() - began
    elements, drives, given = np.split(done, [trajectory.elements, trajectory.works - 1], axis=1)
    parts = (elements, dynamics._frames.drives(drives), given if settings["tau"] is not None else given[:, :0])
    run = Run(dynamics.model, t, q, v, a, settings, problem, derived={"work": work_by_source(dynamics.model, *parts)})
    if watcher is not None:
        run.crossings = tuple(watcher.crossings)
    if problem is not None:
        raise SimulationError(f"model {dynamics.model.name!r} {problem}", run)
    return run
