"""Many runs at once: the same model from different starts, under different efforts or inputs.

Four runs share a vector unit, each with its own time and step, and the cores share the fours (machine.steps.lanes). A run
that fails does not disturb the others, and the result does not depend on the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import Given, start_rows, wanted
from ..defaults import TOLERANCE
from ..dynamics.dynamics import Dynamics, Reference
from ..errors import DynamicsError, SimulationError, StateError, warn
from ..extremes import in_our_errors
from ..integrate import METHODS, RADAU
from ..kernels.stopwatch import Stopwatch, compiling
from ..machine.steps.cuts.known import first_anchors, known_times
from ..machine.steps.lane_runs import PLACES, Patience, Progress, run_lanes
from ..machine.steps.memory import ENDLESS, INTERRUPTED, LEFT, NOT_FINITE, SINGULAR
from ..model import Model
from ..model.manifold import unit_quaternions
from ..model.parameters.overshoot import overshooting
from ..wording import argument, counted
from .arguments import AUTO, must_be_known, must_be_positive, named_inputs, or_default, times_of, with_unit_quaternions
from .checks.horizon import HOPELESS, LOOK, MOST_STEPS
from .checks.size import must_fit
from .loops.treatment import NEAREST
from .stiffness import MANY, Pace, Stiff, Stiffness, remedy

if TYPE_CHECKING:
    from ..results import Runs

Array = NDArray[np.float64]

NOT_ASSEMBLED = 5  # a status beside those of machine.steps.memory: the loops of the start cannot be closed


@in_our_errors(DynamicsError)
def simulate_many(
    model: Model,
    duration: float | None = None,
    *,
    q: Given = None,
    v: Given = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | Mapping[str, float] | None = None,
    step: float | None = None,
    method: str = AUTO,
    formulation: str = "auto",
    reference: Reference | None = None,
    rtol: float = TOLERANCE,
    atol: float = TOLERANCE,
    max_step: float | None = None,
    max_steps: int = MOST_STEPS,
    rank_tolerance: float | None = None,
    on_singular: str = "stop",
) -> Runs:
    """Runs from rows of q (B, nq), v (B, nv), under rows of tau (B, nv) and inputs; what is given once holds for all.

    q and v may be given by name as well, each a number or one for each run: what is named is kept, and the others follow. Every
    run starts as ``simulate`` would start it, with its loops closed. Rows that do not satisfy the loops are changed, and a
    warning says by how much; a run whose loops cannot be closed does not start.

    With closed loops every state is projected onto the closures after each step; a run that meets a singular configuration
    stops there, or goes on with on_singular = "warn".

    Nothing raises for one run: ``runs.status`` and ``runs.messages`` say what went wrong in which. A run may take ``max_steps``
    steps, and one that would need many times more is stopped as soon as that is clear. Interrupted, there is a SimulationError;
    what was computed until then is its ``run``.
    """
    watch = Stopwatch()
    must_be_known(method)
    if method != AUTO and (method not in METHODS or not METHODS[method].adaptive):
        raise StateError(f"many runs need a method that adapts its step: use auto, dopri5, dop853 or radau, not {method}")
    times = times_of(model, duration, step)
    must_be_positive(rtol=rtol, atol=atol, max_step=max_step, max_steps=max_steps)
    if on_singular not in ("stop", "warn"):
        raise StateError(f"on_singular is {on_singular!r}: many runs know stop and warn")
    for text in overshooting(model):
        warn(text)
    with compiling():
        dynamics = Dynamics(model, formulation, reference=reference, rank_tolerance=rank_tolerance, quick=True)
    start, problems = _starts(dynamics, {"q": q, "v": v, "tau": tau, "u": inputs})
    must_fit(model, len(times), len(problems))
    reals: dict[str, Any] = {"rtol": rtol, "atol": atol, "longest": max_step or float(times[-1])}
    starting = np.array([problem is None for problem in problems])
    found = _Samples.nothing(model, len(problems), len(times))
    if starting.any():
        rows, numbers = {name: x[starting] for name, x in start.items()}, np.flatnonzero(starting)
        found.put(starting, _run(dynamics, method, rows, numbers, times, reals, on_singular == "warn", int(max_steps)))
    settings = {"formulation": dynamics.formulation.partition(":")[0], "method": method, "duration": float(times[-1])}
    settings |= {"step": float(times[1] - times[0]), "rtol": rtol, "atol": atol, **watch.times()}
    interchangeable = dynamics.plan.nodes is not None and dynamics.plan.nodes.interchangeable
    told = zip(problems, found.status, found.reached, strict=True)
    messages = tuple(problem or _message(int(s), t, interchangeable) for problem, s, t in told)
    per_run = tuple(
        {"steps": int(found.steps[i]), "rejected": int(found.rejected[i]), "tau": start["tau"][i].tolist()}
        | {"inputs": start["u"][i, : len(model.inputs)].tolist() if model.inputs else None}
        | {"stiff": [float(found.stiff_time[i]), float(found.rate[i]), None] if np.isfinite(found.stiff_time[i]) else None}
        | {"methods": _methods(method, float(found.switched[i]))}
        for i in range(len(problems))
    )
    from ..results import Runs

    runs = Runs(model, times, found.q, found.v, found.a, found.status, found.reached, messages, settings, per_run)
    if (found.status == INTERRUPTED).any():
        done = counted(int((found.status == 0).sum()), "run")
        raise SimulationError(f"model {model.name!r}: interrupted when {done} of {len(runs)} had arrived", runs)
    return runs


@dataclass
class _Samples:
    """Of every run: samples (B, samples, ...), status, time reached, steps; since when it was stiff, and its fastest rate; and
    since when another method took it on."""

    q: Array
    v: Array
    a: Array
    status: NDArray[np.int64]
    reached: Array
    steps: NDArray[np.int64]
    rejected: NDArray[np.int64]
    stiff_time: Array
    rate: Array
    switched: Array

    @classmethod
    def nothing(cls, model: Model, count: int, samples: int) -> _Samples:
        """Runs that did not start."""
        q, v, a = (np.full((count, samples, n), np.nan) for n in (model.nq, model.nv, model.nv))
        status, steps, rejected = (np.full(count, x, dtype=np.int64) for x in (NOT_ASSEMBLED, 0, 0))
        never = np.full(count, np.nan)
        return cls(q, v, a, status, np.zeros(count), steps, rejected, never, np.zeros(count), never.copy())

    def put(self, runs: NDArray[np.bool_], other: _Samples) -> None:
        for field in fields(self):
            getattr(self, field.name)[runs] = getattr(other, field.name)


def _run(
    dynamics: Dynamics,
    method: str,
    start: dict[str, Array],
    numbers: NDArray[np.int64],
    times: Array,
    reals: dict[str, Any],
    going_on: bool,
    max_steps: int,
) -> _Samples:
    """Runs from states that satisfy the loops, and the numbers by which the user knows them."""
    slopes = _slopes(dynamics, start, 0.0)
    first = np.minimum(1e-3 * times[-1], _first_steps(start, slopes, reals["rtol"], reals["atol"]))
    stiffness = Stiffness(dynamics.model.name, method, remedy())
    reals |= {"h": first, "go_on": float(going_on), "near": 0.0 if going_on else NEAREST}
    corners = known_times(dynamics.model, float(times[0]), float(times[-1]))
    patience = Patience(max_steps, LOOK, HOPELESS * max_steps)
    meanwhile = _nothing if method == AUTO else partial(_tell_stiffness, stiffness, numbers)
    scheme, leaves = (METHODS["dopri5"], MANY) if method == AUTO else (METHODS[method], np.inf)
    to_all: dict[str, Any] = {"times": times[1:], "corners": corners, "meanwhile": meanwhile, "patience": patience}
    run = partial(run_lanes, dynamics.plan, dynamics.program, **to_all)
    found = run(method=scheme, start=start, slopes=slopes, reals=reals, leaves=leaves)
    switched = _go_on(dynamics, start, found, reals, run)
    q, v = (np.concatenate([start[name][:, None], found[name]], axis=1) for name in ("q", "v"))
    if dynamics.model.closures:
        q[:, 1:], v[:, 1:] = _projected(dynamics, q[:, 1:], v[:, 1:], times[1:])
    if dynamics.model.stictions:
        first = start["u"][:, None, len(dynamics.model.inputs) :]
        start = start | {"anchors": np.concatenate([first, found["anchors"]], axis=1)}
    a = _accelerations(dynamics, start, q, v, times)
    status, steps, rejected = (found[name].astype(np.int64) for name in ("status", "steps", "rejected"))
    return _Samples(q, v, a, status, found["t"], steps, rejected, found["stiff_time"], found["rate"], switched)


def _slopes(dynamics: Dynamics, at: dict[str, Array], t: Array | float) -> dict[str, Array]:
    a = dynamics.acceleration(at["q"], at["v"], at["tau"], t=t, inputs=at["u"])
    return {"qdot": dynamics.rates(at["q"], at["v"]), "a": np.atleast_2d(a)}


def _go_on(
    dynamics: Dynamics, start: dict[str, Array], found: dict[str, Any], reals: dict[str, Any], run: Callable[..., Any]
) -> Array:
    """Runs that have left their method since they are stiff are taken on by radau; since when, or not a number."""
    left = found["status"] == LEFT
    switched = np.where(left, found["t"], np.nan)
    if not left.any():
        return switched
    count, t = len(left), found["t"][left]
    state = {"q": found["last_q"][left], "v": found["last_v"][left], "tau": start["tau"][left], "u": found["last_u"][left]}
    of_each = {name: np.broadcast_to(value, count)[left] for name, value in reals.items()}
    of_each |= {"t": t, "h": found["h"][left]}
    places = {name: found[name][left] for name in PLACES}
    rest = run(method=RADAU, start=state, slopes=_slopes(dynamics, state, t), reals=of_each, places=places)
    for row, place, k in zip(np.flatnonzero(left), places["sampled"], range(len(t)), strict=True):
        for name in ("q", "v", "anchors"):
            found[name][row, place:] = rest[name][k, place:]
    for name in ("status", "t"):
        found[name][left] = rest[name]
    for name in ("steps", "rejected"):
        found[name][left] += rest[name]
    return switched


def _nothing(going: list[Progress]) -> None:
    """Stiff runs are taken on by another method."""


def _methods(method: str, switched: float) -> list[list[float | str]]:
    """What took a run on, and since when."""
    first: list[list[float | str]] = [[0.0, "dopri5" if method == AUTO else method]]
    return [*first, [switched, "radau"]] if np.isfinite(switched) else first


def _tell_stiffness(stiffness: Stiffness, numbers: NDArray[np.int64], going: list[Progress]) -> None:
    """Of the stiff runs the one that has most steps to go."""
    if going:
        worst = max(going, key=lambda run: (run.end - run.t) / run.h)
        found = Stiff(worst.stiff_time, worst.rate, None, int(numbers[worst.run]))
        stiffness.notice(found, Pace(worst.t, worst.h, worst.end, None))


def _starts(dynamics: Dynamics, given: dict[str, Any]) -> tuple[dict[str, Array], tuple[str | None, ...]]:
    """Rows of equal number, a single one repeated, that satisfy the loops; and why a run cannot start, or None."""
    model = dynamics.model
    q, v = (wanted(dynamics, name, given[name]) for name in ("q", "v"))
    tau = np.atleast_2d(dynamics.array("tau", or_default(given["tau"], np.zeros(model.nv))))
    u = np.asarray(or_default(named_inputs(model, given["u"]), np.zeros(len(model.inputs))), dtype=np.float64)
    rows = {"q": q.rows, "v": v.rows, "tau": tau, "inputs": np.atleast_2d(u)}
    counts = {len(x) for x in rows.values()} - {1}
    if len(counts) > 1 or rows["inputs"].shape[1] != len(model.inputs):
        shapes = ", ".join(f"{name} {x.shape}" for name, x in rows.items())
        raise StateError(f"the rows do not match: {shapes}; model {model.name!r} has inputs {model.inputs}")
    count = counts.pop() if counts else 1
    if count == 0:
        raise StateError("there is nothing to run: q, v, tau or inputs have no rows")
    unit = replace(q, rows=with_unit_quaternions(model, q.rows))
    first = start_rows(dynamics, unit.repeated(count), v.repeated(count))
    for note in first.notes:
        warn(f"model {model.name!r}: {note}")
    start = {"q": first.q, "v": first.v, "tau": rows["tau"], "u": rows["inputs"]}
    start = {name: np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[1]))) for name, x in start.items()}
    if model.stictions:
        start["u"] = np.hstack([start["u"], first_anchors(model, first.q, first.v)])
    return start, tuple(problem and f"cannot start: {problem}" for problem in first.problems)


def _first_steps(start: dict[str, Array], slopes: dict[str, Array], rtol: float, atol: float) -> Array:
    """A cautious first step of each run; the error control takes it from there."""
    y, slope = np.hstack([start["q"], start["v"]]), np.hstack([slopes["qdot"], slopes["a"]])
    scale = atol + rtol * np.abs(y)
    with np.errstate(all="ignore"):
        speed = np.sqrt(np.sum((slope / scale) ** 2, axis=1) / max(1, y.shape[1]))
        steps = np.where(speed > 0, 10.0 / speed, np.inf)
    return np.asarray(np.where(np.isfinite(steps), np.maximum(steps, 1e-9), 1e-6))


def _accelerations(dynamics: Dynamics, start: dict[str, Array], q: Array, v: Array, times: Array) -> Array:
    count, samples = q.shape[:2]
    tau, u = (np.repeat(start[name], samples, axis=0) for name in ("tau", "u"))
    t = np.tile(times, count)
    if "anchors" in start:
        u = np.hstack([u[:, : len(dynamics.model.inputs)], start["anchors"].reshape(count * samples, -1)])
    q, v = (x.reshape(count * samples, x.shape[2]) for x in (q, v))
    return dynamics.acceleration(q, v, tau, t=t, inputs=u).reshape(count, samples, v.shape[1])


def _projected(dynamics: Dynamics, q: Array, v: Array, times: Array) -> tuple[Array, Array]:
    """Samples on the closures: dense output is off by the tolerance."""
    count, samples = q.shape[:2]
    rows = dynamics.projected(q.reshape(-1, q.shape[2]), v.reshape(-1, v.shape[2]), t=np.tile(times, count), steps=2)
    flat = unit_quaternions(dynamics.model, rows[0])
    return flat.reshape(count, samples, -1), rows[1].reshape(count, samples, -1)


def _message(status: int, reached: float, interchangeable: bool) -> str | None:
    """``interchangeable``: other equations of the closures could be kept, which many runs together do not choose again."""
    if status == 0:
        return None
    singular = "the mechanism has come through a singular configuration"
    degraded = ", or the equations kept of its closed loops became dependent: simulate, by itself, would choose others"
    what = {
        NOT_FINITE: "something is no longer a finite number",
        SINGULAR: singular + degraded if interchangeable else singular,
        INTERRUPTED: "it was interrupted",
        ENDLESS: f"its end is not in sight: it would take more steps than {argument('max_steps')} allows",
    }.get(status, "the step would have to be shorter than rounding")
    return f"stopped at t = {reached:.9g} s: {what}. What was computed until then is kept."
