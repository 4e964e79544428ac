"""A run in machine code before its first step: its memory filled, slopes and works at the start, the length of the step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..dynamics.differentiation import Changes, derivatives
from ..dynamics.dynamics import Dynamics
from ..formulations import CANONICAL, QUANTITIES
from ..integrate import RungeKutta
from ..machine.adjoint.log import Log
from ..machine.steps.adaptive import GROW
from ..machine.steps.cuts.known import known_times
from ..machine.steps.declared import COLLAPSED, NOT_FINITE
from ..machine.steps.trajectory import Tangents, Trajectory
from .control import Control
from .system import energy_scale, powers

Array = NDArray[np.float64]
Slopes = Callable[[float, Array, Array], Array]  # of rows of q and v (or p) at a time

SHORTEST_GUESS = 1e-10  # s: a first step shorter than this comes from a state that is next to zero


def in_momenta(dynamics: Dynamics, scheme: RungeKutta, control: Control | None) -> bool:
    """Whether q and p are integrated; functions of the caller's are of q and v, and so is the Jacobian of stiff methods."""
    return dynamics.canonical and control is None and not (scheme.implicit and scheme.adaptive)


def prepare(
    dynamics: Dynamics,
    scheme: RungeKutta,
    start: dict[str, Array],
    times: Array,
    rtol: float,
    atol: float,
    max_step: float | None,
    metric: str = "minimum_norm",
    control: Control | None = None,
    tangents: Tangents | None = None,
    log: Log | None = None,
    made: Callable[..., Trajectory] = Trajectory,
) -> Trajectory:
    """``tangents``: of the data; those of the first state are ``dq`` and ``dv`` of ``start``. ``log``: of its steps."""
    momenta, q, first_time = in_momenta(dynamics, scheme, control), start["q"], float(start["t"])
    speeds = dynamics.speeds_of(q, start["v"], first_time) if momenta else start["v"]
    program = dynamics.stepping if momenta else dynamics.program
    if dynamics.model.closures and scheme.turns:  # the midpoint rule for closed loops is built on the open tree
        program = CANONICAL["canonical_momenta:joint"]
    known = known_times(dynamics.model, first_time, float(times[-1]), () if control is None else control.known_times())
    trajectory = made(dynamics.plan, program, scheme, times[1:], known, metric=metric, tangents=tangents, log=log)
    if control is not None:
        start = control.applied(dynamics, start)
        control.attach(trajectory)
    trajectory.set_number("given", int(control is not None or np.any(start["tau"])))
    rates = partial(slopes, dynamics, start, momenta)
    slope = rates(first_time, q[None], speeds[None])[0] if momenta else np.hstack([dynamics.rates(q, start["v"]), start["a"]])
    given = {"tau": start["tau"][None], "u": start["u"][None]}
    works_too = tangents is None and log is None
    works = powers(dynamics, start) if works_too else np.zeros(1)
    trajectory.start((q[None], speeds[None]), (slope[None, : len(q)], slope[None, len(q) :], works[None]), given)
    if tangents is not None:
        along = tangents_of_state(dynamics, start, tangents, momenta)
        trajectory.set_tangents(along, slopes_of_tangents(dynamics, start | {"p": speeds}, along, tangents, momenta))
    first = float(times[1] - times[0])
    if scheme.adaptive:
        state = np.concatenate([q, speeds])
        with np.errstate(all="ignore"):
            first = first_step(rates, first_time, state, slope, len(q), scheme.error_power, rtol, atol)
        if not first > 4e-15 * float(times[-1] - times[0]):  # also if it is not a number
            trajectory.set_real("status", COLLAPSED if np.isfinite(first) else NOT_FINITE)
    end, longest = float(times[-1]), max_step or float(times[-1] - times[0])
    reals = {"t": float(times[0]), "h": first, "end": end, "until": end, "rtol": rtol, "atol": atol, "longest": longest}
    reals |= {"grow": GROW, "energy": energy_scale(dynamics, start) if works_too else 1.0}
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


def slopes(dynamics: Dynamics, start: dict[str, Array], momenta: bool, t: float, q: Array, speeds: Array) -> Array:
    """dq/dt, and dv/dt or dp/dt, of rows of states; rows, since a batch does not raise."""
    if momenta:
        return np.hstack(dynamics.canonical_rates(q, speeds, start["tau"], t=t, inputs=start["u"]))
    return np.hstack([dynamics.rates(q, speeds), dynamics.acceleration(q, speeds, start["tau"], t=t, inputs=start["u"])])


def tangents_of_state(dynamics: Dynamics, start: dict[str, Array], tangents: Tangents, momenta: bool) -> tuple[Array, Array]:
    """The tangents of q and of v, or of p, at the start."""
    if not momenta:
        return start["dq"], start["dv"]
    rows = {name: start[name][None] for name in ("q", "v")}
    changes = Changes(tangents.parameters, {"q": start["dq"][None], "v": start["dv"][None]}, tangents.data)
    return start["dq"], derivatives(dynamics, QUANTITIES["momenta"], rows, changes, float(start["t"]))["p"].along[0]


def slopes_of_tangents(
    dynamics: Dynamics, start: dict[str, Array], along: tuple[Array, Array], tangents: Tangents, momenta: bool
) -> tuple[Array, Array]:
    """d(dq/dt), (nq, parameters), and d(dv/dt) or d(dp/dt)."""
    speed, slope = ("p", "pdot") if momenta else ("v", "a")
    rows = {name: start[name][None] for name in ("q", speed, "tau")}
    changes = Changes(tangents.parameters, {"q": along[0][None], speed: along[1][None]}, tangents.data)
    program = dynamics.stepping if momenta else dynamics.program
    found = derivatives(dynamics, program, rows, changes, float(start["t"]), start["u"])
    if momenta:
        rows["v"] = found["v"].value
        changes = Changes(tangents.parameters, {"q": along[0][None], "v": found["v"].along}, tangents.data)
    return derivatives(dynamics, QUANTITIES["rates"], rows, changes)["qdot"].along[0], found[slope].along[0]


def velocities_along(
    dynamics: Dynamics, tangents: Tangents, t: Array | float, q: Array, p: Array, dq: Array, dp: Array
) -> Array:
    """dv of rows of states whose momenta are known with their tangents."""
    if not len(q):
        return dp
    program = QUANTITIES["closed_velocities" if dynamics.model.closures else "velocities"]
    changes = Changes(tangents.parameters, {"q": dq, "p": dp}, tangents.data)
    return derivatives(dynamics, program, {"q": q, "p": p}, changes, t)["v"].along


def _rms(x: Array) -> float:
    """Root mean square; the largest entry is taken out, so that squares of huge numbers do not overflow."""
    largest = float(np.abs(x).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((x / largest) ** 2))) if largest > 0 else 0.0
