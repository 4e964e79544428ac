"""Many runs at once: the same model from different starts, under different efforts or inputs.

Four runs share a vector unit, each with its own time and step, and the cores share the fours (codegen.lane_stepper). A run
that fails does not disturb the others, and the result does not depend on the number of cores.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codegen.dynamics import Dynamics, Reference
from ..codegen.lane_runs import run_lanes
from ..codegen.quaternions import unit_quaternions
from ..codegen.stepper import NOT_FINITE, SINGULAR
from ..errors import StateError
from ..integrate import METHODS
from ..model import Model
from .arguments import (
    must_be_known,
    must_be_positive,
    named_inputs,
    or_default,
    sample_times,
    span,
    with_unit_quaternions,
)

if TYPE_CHECKING:
    from ..results import Runs

Array = NDArray[np.float64]


def simulate_many(
    model: Model,
    duration: float | None = None,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    inputs: ArrayLike | Mapping[str, float] | None = None,
    step: float | None = None,
    method: str = "dopri5",
    formulation: str = "auto",
    reference: Reference | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    max_step: float | None = None,
    rank_tolerance: float | None = None,
    on_singular: str = "stop",
) -> Runs:
    """Runs from rows of q (B, nq), v (B, nv), under rows of tau (B, nv) and inputs; what is given once holds for all.

    With closed loops every state is projected onto the closures after each step; a run that meets a singular configuration
    stops there, or goes on with on_singular = "warn".

    Nothing raises for one run: ``runs.status`` and ``runs.messages`` say what went wrong in which.
    """
    began = time.perf_counter()
    must_be_known(method)
    if method not in METHODS or not METHODS[method].adaptive:
        raise StateError(f"many runs need a method that adapts its step: use dopri5 or dop853, not {method}")
    times = sample_times(*span(model, duration, step))
    must_be_positive(rtol=rtol, atol=atol, max_step=max_step)
    if on_singular not in ("stop", "warn"):
        raise StateError(f"on_singular is {on_singular!r}: many runs know stop and warn")
    dynamics = Dynamics(model, formulation, reference=reference, rank_tolerance=rank_tolerance, quick=True)
    start = _starts(dynamics, {"q": q, "v": v, "tau": tau, "u": inputs})
    count = len(start["q"])
    a = dynamics.acceleration(start["q"], start["v"], start["tau"], inputs=start["u"])
    slopes = {"qdot": dynamics.rates(start["q"], start["v"]), "a": np.atleast_2d(a)}
    first = np.minimum(1e-3 * times[-1], _first_steps(start, slopes, rtol, atol))
    reals: dict[str, Any] = {"h": first, "rtol": rtol, "atol": atol, "longest": max_step or float(times[-1])}
    going_on = on_singular == "warn"
    program, plan = dynamics._program, dynamics.plan
    result = run_lanes(plan, program, METHODS[method], start, slopes, times[1:], reals, pass_singular=going_on)
    q_all = np.concatenate([start["q"][:, None], result.q], axis=1)
    v_all = np.concatenate([start["v"][:, None], result.v], axis=1)
    if model.closures:
        q_all, v_all = _projected(dynamics, q_all, v_all, times)
    a_all = _accelerations(dynamics, start, q_all, v_all, times)
    settings = {"formulation": dynamics.formulation.partition(":")[0], "method": method, "duration": float(times[-1])}
    settings |= {"step": float(times[1] - times[0]), "rtol": rtol, "atol": atol, "wall_time": time.perf_counter() - began}
    spare = plan.nodes is not None and plan.nodes.spare
    messages = tuple(_message(int(s), t, spare) for s, t in zip(result.status, result.time, strict=True))
    per_run = tuple(
        {"steps": int(result.steps[i]), "rejected": int(result.rejected[i]), "tau": start["tau"][i].tolist()}
        | {"inputs": start["u"][i].tolist() if model.inputs else None}
        for i in range(count)
    )
    from ..results import Runs

    return Runs(model, times, q_all, v_all, a_all, result.status, result.time, messages, settings, per_run)


def _starts(dynamics: Dynamics, given: dict[str, Any]) -> dict[str, Array]:
    """Rows of equal number; a single one is repeated."""
    model = dynamics.model
    defaults = {"q": model.initial_q, "v": model.initial_v, "tau": np.zeros(model.nv)}
    rows = {name: np.atleast_2d(dynamics._array(name, or_default(given[name], x))) for name, x in defaults.items()}
    u = np.asarray(or_default(named_inputs(model, given["u"]), np.zeros(len(model.inputs))), dtype=np.float64)
    rows["u"] = np.atleast_2d(u)
    counts = {len(x) for x in rows.values()} - {1}
    if len(counts) > 1 or rows["u"].shape[1] != len(model.inputs):
        shapes = ", ".join(f"{'inputs' if name == 'u' else name} {x.shape}" for name, x in rows.items())
        raise StateError(f"the rows do not match: {shapes}; model {model.name!r} has inputs {model.inputs}")
    count = counts.pop() if counts else 1
    if count == 0:
        raise StateError("there is nothing to run: q, v, tau or inputs have no rows")
    rows["q"] = with_unit_quaternions(model, rows["q"])
    return {name: np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[1]))) for name, x in rows.items()}


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
    q, v = (x.reshape(count * samples, x.shape[2]) for x in (q, v))
    return dynamics.acceleration(q, v, tau, t=t, inputs=u).reshape(count, samples, v.shape[1])


def _projected(dynamics: Dynamics, q: Array, v: Array, times: Array) -> tuple[Array, Array]:
    """Samples on the closures: dense output is off by the tolerance."""
    count, samples = q.shape[:2]
    rows = dynamics.projected(q.reshape(-1, q.shape[2]), v.reshape(-1, v.shape[2]), t=np.tile(times, count), steps=2)
    flat = unit_quaternions(dynamics.model, rows[0])
    return flat.reshape(count, samples, -1), rows[1].reshape(count, samples, -1)


def _message(status: int, reached: float, spare: bool) -> str | None:
    """``spare``: other equations of the closures could be kept, which many runs together do not choose again."""
    if status == 0:
        return None
    singular = "the mechanism has come through a singular configuration"
    degraded = ", or the equations kept of its closed loops became dependent: simulate, by itself, would choose others"
    what = {
        NOT_FINITE: "something is no longer a finite number",
        SINGULAR: singular + degraded if spare else singular,
    }.get(status, "the step would have to be shorter than rounding")
    return f"stopped at t = {reached:.9g} s: {what}. What was computed until then is kept."
