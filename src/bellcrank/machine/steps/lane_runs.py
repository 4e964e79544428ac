"""Many runs of one model, one in each lane of machine code, on all cores.

Runs are taken together by their numbers: those of one group (number // lanes) share the lanes whatever else is run, and free
places repeat the last of the group. So a run's numbers do not depend on how many threads there are or how runs are divided.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...kernels.processor import lane_count
from ...kernels.threads import workers
from ...model.manifold import unit_quaternions
from ...plan import Plan
from ...plan.turns import turn_weights
from ..kernel import Code, obtain, structure_key
from ..module import Module
from ..tangents.lane_data import Places, lane_places
from .adaptive import GROW
from .cuts.corners import NEVER
from .fixed_lanes import FixedLaneStepper
from .implicit.radau import RadauLaneStepper
from .lanes import LaneStepper
from .memory import ENDLESS, INTERRUPTED, LEFT, RUNNING, Layout, Memory
from .programs import programs
from .stepper import write_with_kernels

Array = NDArray[np.float64]
Rows = dict[str, NDArray[Any]]  # a row for each run

PLACES = ("sampled", "corner")  # how many samples and corners a run has behind it

_FIRST_PIECE, _LEAST_PIECE, _MOST_PIECE = 4, 64, 4096  # steps of a call, which grow to a number that follows from the model:
_PIECE_BODIES = 200_000  # bodies times steps; never from a clock, since what is looked at between calls is part of the result
_LOOK_SECONDS = 0.1  # between looks at runs that go on


class Patience(NamedTuple):
    """How many steps a run may take; after every ``look`` of them, how many more it may still need at its pace."""

    steps: int
    look: int
    ahead: float


class Progress(NamedTuple):
    """Of a run that goes on and is stiff: which, since when, its fastest rate, and where it is."""

    run: int
    stiff_time: float
    rate: float
    t: float
    h: float
    end: float


class Own(NamedTuple):
    """What runs of different designs have of their own, a row for each run.

    designs   entries of the plan's arrays (machine.tangents.lane_data)
    limits    of surfaces, as Layout.surfaces has them; reach: of anchors
    corners   times at which steps end, in order, NEVER where a run has fewer than another
    """

    designs: Array
    limits: Array
    reach: Array
    corners: Array

    def taken(self, rows: Any) -> Own:
        return Own(*(x[rows] for x in self))


def write_lane_stepper(plan: Plan, program: Program, method: RungeKutta, lanes: int) -> Module:
    """The stepper of a method for lanes."""
    called = programs(plan, program, works=False, implicit=method.implicit)
    kind = RadauLaneStepper if method.implicit else LaneStepper if method.adaptive else FixedLaneStepper
    return write_with_kernels(plan, called, method, kind.of(lanes))


def run_lanes(
    plan: Plan,
    program: Program,
    method: RungeKutta,
    start: dict[str, Array],
    slopes: dict[str, Array],
    times: Array,
    corners: Array,
    reals: dict[str, Any],
    meanwhile: Callable[[list[Progress]], None],
    patience: Patience,
    *,
    places: dict[str, NDArray[np.int64]] | None = None,
    leaves: float = np.inf,
    numbers: NDArray[np.int64] | None = None,
    own: Own | None = None,
    substeps: int = 1,
) -> dict[str, NDArray[Any]]:
    """Runs from states ``start`` (q, v, tau, u by run) and their ``slopes`` (qdot, a).

    Of each run: samples q (B, samples, nq), v (B, samples, nv) and ``anchors`` of friction that holds, status, time ``t`` that
    it reached and the state ``last_q``, ``last_v``, ``last_u`` there, its step ``h``, steps and rejected ones, samples taken
    and corners passed (``places``), since when it was stiff (infinite if it never was), and its fastest rate then.

    ``reals``: h, rtol, atol, longest, and go_on and near for closed loops, of each run or of all; t, if it is not zero, with
    the samples and corners until then in ``places``. ``meanwhile`` is told now and then which runs are stiff; one that is, and
    has at least so many steps to go as ``leaves`` says, ends with the status LEFT. Interrupted, the runs that go on end with
    the status INTERRUPTED, and so do those that have not begun.

    ``numbers``: of the runs, in order, which decide who shares lanes; 0, 1, ... unless given. ``own``: where runs have designs
    of their own (then the plan says so). ``substeps``: of a method of fixed steps, so many of length h for a sample.
    """
    count, model, lanes = len(start["q"]), plan.model, lane_count()
    key = ("lanes", lanes, program.name, method.name, *structure_key(plan))
    code = obtain(key, lambda: write_lane_stepper(plan, program, method, lanes))
    called = programs(plan, program, works=False, implicit=method.implicit)
    most = corners.shape[-1] if own is None else own.corners.shape[1]
    layout = Layout(plan, called, method, lanes, len(times), most)
    given: Rows = {**start, **slopes, **(places or {name: np.zeros(count, dtype=np.int64) for name in PLACES})}
    each_reals = {name: np.broadcast_to(value, count) for name, value in reals.items()}
    groups = np.split(
        np.arange(count), np.flatnonzero(np.diff((np.arange(count) if numbers is None else numbers) // lanes)) + 1
    )
    lot = _Lot(layout, code, times, corners, leaves, patience, substeps)

    def one(group: NDArray[np.int64]) -> Rows:
        rows = np.concatenate([group, np.repeat(group[-1:], lanes - len(group))])
        of_start, of_reals = ({name: x[rows] for name, x in table.items()} for table in (given, each_reals))
        return lot.run(rows, len(group), of_start, of_reals, None if own is None else own.taken(rows))

    found = lot.wait([workers().submit(one, group) for group in groups], meanwhile)
    samples, last = found.pop("samples"), found.pop("last")
    q, v, anchors = layout.split(samples)
    last_q, last_v, last_anchors = layout.split(last)
    found |= {"last_q": last_q, "last_v": last_v, "last_u": np.hstack([start["u"][:, : len(model.inputs)], last_anchors])}
    return {"q": unit_quaternions(model, q), "v": v, "anchors": anchors, **found}


class _Lot:
    """All groups of runs, and the memories in which they run, one after the other."""

    def __init__(
        self, layout: Layout, code: Code, times: Array, corners: Array, leaves: float, patience: Patience, substeps: int
    ):
        self.arguments = layout, code, times, corners, leaves, substeps
        self.patience, self.interrupted = patience, Event()
        self.free: SimpleQueue[_Block] = SimpleQueue()
        self.going: set[_Block] = set()
        self.places = lane_places(layout.plan) if layout.plan.lane_designs else {}

    def run(self, rows: NDArray[np.int64], count: int, start: Rows, reals: Rows, own: Own | None) -> Rows:
        try:
            block = self.free.get_nowait()
        except Empty:
            block = _Block(*self.arguments)
        if own is not None:
            block.take_designs(own, self.places)
        block.begin(rows, start, reals)
        self.going.add(block)
        block.run(self.interrupted, self.patience)
        self.going.discard(block)
        found = {name: x[:count] for name, x in block.results().items()}
        self.free.put(block)
        return found

    def wait(self, jobs: list[Future[Rows]], meanwhile: Callable[[list[Progress]], None]) -> Rows:
        try:
            while wait(jobs, timeout=_LOOK_SECONDS).not_done:
                meanwhile([found for block in list(self.going) for found in block.stiff_runs()])
        except BaseException as reason:
            self.interrupted.set()
            wait(jobs)
            if not isinstance(reason, KeyboardInterrupt):
                raise
        done = [job.result() for job in jobs]
        return {name: np.concatenate([found[name] for found in done]) for name in done[0]}


class _Block(Memory):
    """The runs of one group."""

    def __init__(self, layout: Layout, code: Code, times: Array, corners: Array, leaves: float, substeps: int):
        super().__init__(layout, code, times, corners)
        self.leaves, self.substeps, lanes = leaves, substeps, layout.lanes
        self.fresh = {name: x.copy() for name, x in self.arrays.items() if name not in ("out", "times")}
        self.weights = np.tile(turn_weights(layout.model, float(layout.plan.length)), (lanes, 1))
        bodies = layout.plan.n + layout.plan.loads.closing.rows
        self.most = min(_MOST_PIECE, max(_LEAST_PIECE, 1 << (_PIECE_BODIES // max(1, bodies)).bit_length()))
        self.rows, self.noticed = np.zeros(lanes, dtype=np.int64), {"stiff_time": np.zeros(lanes), "rate": np.zeros(lanes)}

    def take_designs(self, own: Own, places: Places) -> None:
        """Numbers of each lane's design, for good: ``begin`` starts from them."""
        lanes = self.layout.lanes
        for name, (entries, sources) in places.items():
            if name in self.fresh:
                self.fresh[name].reshape(-1, lanes)[entries] = own.designs[:, sources].T
        self.fresh["surface_limits"][: own.limits.size] = own.limits.T.ravel()
        self.fresh["anchor_reach"][: own.reach.size] = own.reach.T.ravel()
        if own.limits.size:
            self.fresh["gates"][: self.layout.gates.size] = self.layout.gates_of(own.limits).ravel()
        self.fresh["corners"][:] = np.hstack([own.corners, np.full((lanes, 1), NEVER)]).ravel()

    def begin(self, rows: NDArray[np.int64], start: Rows, reals: Rows) -> None:
        for name, x in self.fresh.items():
            self.arrays[name][...] = x
        self.rows = rows
        self.noticed = {"stiff_time": np.full(len(rows), np.inf), "rate": np.zeros(len(rows))}
        self.resume(*(start[name] for name in PLACES))
        self.start((start["q"], start["v"]), (start["qdot"], start["a"]), start)
        for name, value in (reals | {"end": self.times[-1], "until": self.times[-1], "grow": GROW}).items():
            self.lane(name)[:] = value
        self.set_count("project", 1)
        self.set_count("substeps", self.substeps)
        self.put("reach", self.weights)
        self.arrays["out"][:] = np.nan

    def run(self, interrupted: Event, patience: Patience) -> None:
        budget, last = _FIRST_PIECE, (np.zeros(len(self.rows)), self.lane("t").copy())
        while self.going().any():
            if interrupted.is_set():
                self.lane("status")[self.going()] = INTERRUPTED
                return
            self.take_steps(budget)
            budget = min(2 * budget, self.most)
            last = self._lose_patience(patience, *last)
            if np.isfinite(self.leaves):
                self._leave()
        for name, values in self.noticed.items():
            if np.isfinite(self.leaves):
                self.lane(name)[:] = values

    def going(self) -> NDArray[np.bool_]:
        """Lanes whose run has not arrived; a method of fixed steps has when it has taken its samples."""
        if self.layout.method.adaptive:
            return (self.lane("t") < self.lane("end")) & (self.lane("status") == RUNNING)
        return (self.lane("status") == RUNNING) & (self.arrays["sampled"][0] < len(self.times))

    def _lose_patience(self, patience: Patience, before: Array, reached: Array) -> tuple[Array, Array]:
        """End runs that have taken too many steps, or will; what they had done, and how far they were, at the last look."""
        steps, t = self.lane("steps") + self.lane("rejected"), self.lane("t")
        endless = steps >= patience.steps
        looked = (steps - before).max() >= patience.look
        if looked:
            with np.errstate(all="ignore"):
                ahead = (self.lane("end") - t) / (t - reached) * (steps - before)
            endless |= ~(ahead <= patience.ahead)
        self.lane("status")[endless & self.going()] = ENDLESS
        return (steps, t.copy()) if looked else (before, reached)

    def _leave(self) -> None:
        """Stiff lanes with many steps to go; the others will be noticed again."""
        lane = self.lane
        stiff = np.isfinite(lane("stiff_time")) & (lane("status") == RUNNING)
        first = stiff & ~np.isfinite(self.noticed["stiff_time"])
        for name, values in self.noticed.items():
            values[first] = lane(name)[first]
        lane("status")[stiff & ((lane("end") - lane("t")) >= self.leaves * lane("h"))] = LEFT
        for name, value in (("stiff_time", np.inf), ("suspicions", 0.0), ("calm", 0.0)):
            lane(name)[stiff] = value

    def stiff_runs(self) -> list[Progress]:
        lanes = (self.lane(name).tolist() for name in ("stiff_time", "rate", "t", "h", "end"))
        found = [Progress(int(run), *lane) for run, *lane in zip(self.rows, *lanes, strict=True)]
        return [run for run in found if run.stiff_time < run.end and run.t < run.end]

    def results(self) -> Rows:
        """Copies, since the memory is used again."""
        lanes = self.layout.lanes
        numbers = ("status", "t", "h", "steps", "rejected", "stiff_time", "rate")
        found: Rows = {name: self.lane(name).copy() for name in numbers}
        found |= {"sampled": self.arrays["sampled"].copy(), "corner": self.arrays["corner"] - self.first_corners}
        last = self.arrays["y"][: self.layout.state].reshape(-1, lanes).T.copy()
        return found | {"last": last, "samples": self.samples()}

    def samples(self) -> Array:
        """(lanes, samples, numbers of a state); not a number where a run did not come so far."""
        count, size, lanes = len(self.times), self.layout.state, self.layout.lanes
        if self.layout.method.adaptive:
            rows: Array = self.arrays["out"][: (count + 1) * size].reshape(lanes, count + 1, size // lanes)
            return rows[:, :-1].copy()
        rows = np.moveaxis(self.arrays["out"][: count * size].reshape(count, size // lanes, lanes), 2, 0).copy()
        rows[self.times[None, :] > self.lane("t")[:, None]] = np.nan
        return rows
