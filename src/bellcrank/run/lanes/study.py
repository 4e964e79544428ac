"""Many runs of one model: what they share, and the runs of any number of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.evaluation import OPTIMISED
from ...errors import StateError
from ...integrate import METHODS, RADAU
from ...kernels.stopwatch import compiling
from ...machine.steps.cuts.known import known_surfaces, known_times
from ...machine.steps.declared import LEFT
from ...machine.steps.lanes.runs import PLACES, Own, Patience, Progress, Workspace, run_lanes
from ...model import Model
from ...model.manifold import unit_quaternions
from ...plan import Plan, make_plan
from ..arguments import AUTO, must_be_known, must_be_positive, times_of
from ..checks.horizon import HOPELESS, LOOK
from ..loops.treatment import NEAREST
from ..stiff.stiffness import MANY, Pace, Stiff, Stiffness, remedy
from .designs import RunDesigns
from .samples import Samples, message_of
from .starts import First, design_starts, given_starts

if TYPE_CHECKING:
    from ...design import Design

Array = NDArray[np.float64]

WORTH_OPTIMISING = 50_000  # states whose accelerations are asked for: better code takes a fraction of a second to compile


class ManyRuns:
    """What many runs of a model share: its machine code, the method and its limits; made once, for any number of runs."""

    def __init__(
        self,
        model: Model,
        duration: float | None,
        step: float | None,
        method: str,
        on_singular: str,
        limits: dict[str, Any],
        options: dict[str, Any],
        design: Design | None = None,
        optimisation: int = 0,
    ):
        must_be_known(method)
        self.model, self.method, self.limits, self.design = model, method, limits, design
        self.times = self.grid = times_of(model, duration, step)  # times: those of the grid whose states are kept
        must_be_positive(**limits)
        if on_singular not in ("stop", "warn"):
            raise StateError(f"on_singular is {on_singular!r}: many runs know stop and warn")
        self.going_on = on_singular == "warn"
        self.options = options
        self.dynamics = self._made(optimisation)
        self.plan = replace(self.dynamics.plan, lane_designs=design is not None)
        if method != AUTO:
            _must_run_in_lanes(self.plan, method, self.times)
        self._workspaces: dict[tuple[str, int], Workspace] = {}

    def _made(self, optimisation: int) -> Dynamics:
        with compiling():
            return Dynamics(self.model, **self.options, design=self.design, optimisation=optimisation).in_lanes()

    @cached_property
    def _optimised(self) -> Dynamics:
        return self.dynamics if self.dynamics.optimisation == OPTIMISED else self._made(OPTIMISED)

    @cached_property
    def _corners(self) -> Array:
        return known_times(self.model, float(self.times[0]), float(self.times[-1]))

    @cached_property
    def _designs(self) -> RunDesigns:
        assert self.design is not None
        return RunDesigns(self.design, self.dynamics.plan)

    def starts(self, given: dict[str, Any], p: Array | None = None) -> First:
        """Rows of equal number, a single one repeated, that satisfy the loops; of designs p, the starts of their models."""
        if p is None:
            return First(*given_starts(self.dynamics, given))
        return design_starts(self.dynamics, self._designs, given, p, self.times)

    def run(self, first: First, accelerations: bool = True) -> Samples:
        """All runs that can start; the others have nothing."""
        if not any(first.problems):
            return self._run(first.state, np.arange(len(first.problems)), first.p, accelerations)
        starting = np.array([problem is None for problem in first.problems])
        found = Samples.nothing(self.model, len(first.problems), len(self.times))
        if starting.any():
            rows, numbers = {name: x[starting] for name, x in first.state.items()}, np.flatnonzero(starting)
            p = None if first.p is None else first.p[starting]
            found.put(starting, self._run(rows, numbers, p, accelerations))
        return found

    def messages(self, first: First, found: Samples) -> tuple[str | None, ...]:
        """Why a run did not arrive, or None."""
        nodes = self.dynamics.plan.nodes
        interchangeable = nodes is not None and nodes.interchangeable
        messages = list(first.problems)
        for k in np.flatnonzero(found.status):
            messages[k] = messages[k] or message_of(int(found.status[k]), found.reached[k], interchangeable)
        return tuple(messages)

    def rows(self, p: Array | None) -> Array | None:
        """What ``at`` takes of designs p."""
        return None if p is None or self.design is None else self.design.rows(p, self.dynamics.plan)[0]

    def at(self, rows: Array | None, every: int = 1, states: int = 0) -> Dynamics:
        """The dynamics of the runs' designs, or of the model; for so many states that it is worth optimising, optimised."""
        dynamics = self._optimised if states >= WORTH_OPTIMISING else self.dynamics
        return dynamics if rows is None else dynamics.at_designs(rows, every)

    def _run(self, start: dict[str, Array], numbers: NDArray[np.int64], p: Array | None, accelerations: bool) -> Samples:
        """Runs from states that satisfy the loops, and the numbers by which the user knows them."""
        times, method, limits = self.times, self.method, self.limits
        rows, own = self.rows(p), None
        if p is not None and rows is not None:
            own = self._designs.own(p, rows, float(times[0]), float(times[-1]))
        tolerances = {"rtol": limits["rtol"], "atol": limits["atol"]}
        longest = limits["max_step"] or float(times[-1])
        reals: dict[str, Any] = {**tolerances, "longest": longest, "go_on": float(self.going_on)}
        reals |= {"near": 0.0 if self.going_on else NEAREST}
        dynamics = self.at(rows)
        slopes = _slopes(dynamics, start, 0.0)
        scheme, leaves = (METHODS["dopri5"], MANY) if method == AUTO else (METHODS[method], np.inf)
        substeps = 1
        if scheme.adaptive:
            reals["h"] = np.minimum(1e-3 * times[-1], _first_steps(start, slopes, **tolerances))
        else:
            interval = float(self.grid[1] - self.grid[0])
            substeps = int(np.ceil(interval / min(longest, interval) * (1 - 1e-12)))
            reals["h"] = interval / substeps
        stiffness = Stiffness(self.model.name, method, remedy())
        most = int(limits["max_steps"])
        to_all: dict[str, Any] = {
            "times": times[1:],
            "grid": self.grid[1:],
            "corners": self._corners,
            "meanwhile": _nothing if method == AUTO else partial(_warn_of_stiffness, stiffness, numbers),
            "patience": Patience(most, LOOK, HOPELESS * most),
            "substeps": substeps,
            "made": self._workspaces,
        }
        run = partial(run_lanes, self.plan, dynamics.program, **to_all)
        found = run(method=scheme, start=start, slopes=slopes, reals=reals, leaves=leaves, numbers=numbers, own=own)
        switched = _go_on(self, start, found, reals, run, numbers, own)
        return self._sampled(start, found, switched, rows, accelerations)

    def _sampled(
        self, start: dict[str, Array], found: dict[str, Any], switched: Array, rows: Array | None, accelerations: bool
    ) -> Samples:
        model, times, q, v = self.model, self.times, found["q"], found["v"]
        if model.closures and METHODS.get(self.method, METHODS["dopri5"]).adaptive:
            q[:, 1:], v[:, 1:] = _projected(self.at(rows, len(times) - 1), q[:, 1:], v[:, 1:], times[1:])
        if model.stictions:
            start = start | {"anchors": found["anchors"]}
        a = np.broadcast_to(np.nan, v.shape)
        if accelerations:
            a = _accelerations(self.at(rows, len(times), len(q) * len(times)), start, q, v, times)
        status, steps, rejected = (found[name].astype(np.int64) for name in ("status", "steps", "rejected"))
        return Samples(q, v, a, status, found["t"], steps, rejected, found["stiff_time"], found["rate"], switched)


def fixed_steps_in_lanes(model: Model, times: Array) -> bool:
    """Whether nothing ends a step of a fixed length early: no stop, contact, friction that holds or time at which forces jump,
    and intervals between samples that are all the same."""
    equal = np.allclose(np.diff(times), times[1] - times[0], rtol=1e-9)
    cut = len(known_surfaces(model).places) or len(known_times(model, float(times[0]), float(times[-1]))) or model.stictions
    return bool(equal and not cut and not make_plan(model).loads.openings)


def _must_run_in_lanes(plan: Plan, method: str, times: Array) -> None:
    if method not in METHODS or (METHODS[method].implicit and not METHODS[method].adaptive):
        raise StateError(f"many runs are integrated by auto, dopri5, dop853, radau or rk4, not by {method}")
    if not METHODS[method].adaptive and not fixed_steps_in_lanes(plan.model, times):
        raise StateError(
            f"many runs by {method} need forces without stops, contacts, friction that holds and times at which they jump, "
            "where steps of a fixed length would be cut, and equal intervals between samples: use auto, dopri5, dop853 or radau"
        )


def _slopes(dynamics: Dynamics, at: dict[str, Array], t: Array | float) -> dict[str, Array]:
    a = dynamics.acceleration(at["q"], at["v"], at["tau"], t=t, inputs=at["u"])
    return {"qdot": dynamics.rates(at["q"], at["v"]), "a": np.atleast_2d(a)}


def _go_on(
    study: ManyRuns,
    start: dict[str, Array],
    found: dict[str, Any],
    reals: dict[str, Any],
    run: Callable[..., Any],
    numbers: NDArray[np.int64],
    own: Own | None,
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
    theirs = None if own is None else own.taken(left)
    slopes = _slopes(study.at(None if theirs is None else theirs.designs), state, t)
    whose: dict[str, Any] = {"numbers": numbers[left], "own": theirs}
    rest = run(method=RADAU, start=state, slopes=slopes, reals=of_each, places=places, **whose)
    for row, place, k in zip(np.flatnonzero(left), places["sampled"], range(len(t)), strict=True):
        for name in ("q", "v", "anchors"):
            found[name][row, 1 + place :] = rest[name][k, 1 + place :]
    for name in ("status", "t"):
        found[name][left] = rest[name]
    for name in ("steps", "rejected"):
        found[name][left] += rest[name]
    return switched


def _nothing(going: list[Progress]) -> None:
    """Stiff runs are taken on by another method."""


def _warn_of_stiffness(stiffness: Stiffness, numbers: NDArray[np.int64], going: list[Progress]) -> None:
    """Of the stiff runs the one that has most steps to go."""
    if going:
        worst = max(going, key=lambda run: (run.end - run.t) / run.h)
        found = Stiff(worst.stiff_time, worst.rate, None, int(numbers[worst.run]))
        stiffness.notice(found, Pace(worst.t, worst.h, worst.end, None))


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
