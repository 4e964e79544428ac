"""Many runs of one model, four at a time in machine code, on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import wait
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...formulations import Program
from ...integrate import RungeKutta
from ...model.manifold import unit_quaternions
from ...plan import Plan
from ...plan.turns import turn_weights
from ..kernel import Code, obtain, structure_key, workers
from ..module import Module
from .adaptive import GROW
from .implicit.radau import RadauLaneStepper
from .lanes import LaneStepper
from .memory import ENDLESS, INTERRUPTED, LEFT, RUNNING, WIDE, Layout, Memory
from .programs import programs
from .stepper import write_with_kernels

Array = NDArray[np.float64]
Rows = dict[str, Array]  # a row for each run

PLACES = ("sampled", "corner")  # how many samples and corners a run has behind it

_FIRST_PIECE = 4  # steps of a call, which grow until a call takes as long as
_LOOK_SECONDS = 0.1  # as between looks at runs that go on


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


def write_lane_stepper(plan: Plan, program: Program, method: RungeKutta) -> Module:
    """The stepper of a method that adapts its step, for lanes."""
    called = programs(plan, program, works=False, implicit=method.implicit)
    return write_with_kernels(plan, called, method, RadauLaneStepper if method.implicit else LaneStepper)


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
) -> dict[str, NDArray[Any]]:
    """Runs from states ``start`` (q, v, tau, u by run) and their ``slopes`` (qdot, a).

    Of each run: samples q (B, samples, nq), v (B, samples, nv) and ``anchors`` of friction that holds, status, time ``t`` that
    it reached and the state ``last_q``, ``last_v``, ``last_u`` there, its step ``h``, steps and rejected ones, samples taken
    and corners passed (``places``), since when it was stiff (infinite if it never was), and its fastest rate then.

    ``reals``: h, rtol, atol, longest, and go_on and near for closed loops, of each run or of all; t, if it is not zero, with
    the samples and corners until then in ``places``. ``meanwhile`` is told now and then which runs are stiff; one that is, and
    has at least so many steps to go as ``leaves`` says, ends with the status LEFT. Interrupted, the runs that go on end with
    the status INTERRUPTED, and so do those that have not begun.
    """
    count, model = len(start["q"]), plan.model
    key = ("lanes", program.name, method.name, *structure_key(plan))
    code = obtain(key, lambda: write_lane_stepper(plan, program, method))
    called = programs(plan, program, works=False, implicit=method.implicit)
    layout = Layout(plan, called, method, WIDE, len(times), len(corners))
    given: dict[str, NDArray[Any]] = {**start, **slopes}
    given |= places or {name: np.zeros(count, dtype=np.int64) for name in PLACES}
    each_reals = {name: np.broadcast_to(value, count) for name, value in reals.items()}
    begun: list[_Block] = []
    interrupted = Event()

    def one(first: int) -> _Block:
        rows = np.minimum(np.arange(first, first + WIDE), count - 1)
        of_start, of_reals = ({name: x[rows] for name, x in table.items()} for table in (given, each_reals))
        block = _Block(layout, code, times, corners, rows, of_start, of_reals, leaves)
        begun.append(block)
        block.run(interrupted, patience)
        return block

    jobs = [workers().submit(one, first) for first in range(0, count, WIDE)]
    try:
        while wait(jobs, timeout=_LOOK_SECONDS).not_done:
            meanwhile([found for block in list(begun) for found in block.stiff_runs()])
    except BaseException as reason:
        interrupted.set()
        wait(jobs)
        if not isinstance(reason, KeyboardInterrupt):
            raise
    done = [job.result() for job in jobs]
    samples = np.concatenate([block.samples() for block in done])[:count]
    q, v, anchors = layout.split(samples)
    numbers = ("status", "t", "h", "steps", "rejected", "stiff_time", "rate")
    lanes = {name: np.concatenate([block.lane(name) for block in done])[:count] for name in numbers}
    lanes |= {name: np.concatenate([block.arrays[name] for block in done])[:count] for name in PLACES}
    last = np.concatenate([block.last() for block in done])[:count]
    last_q, last_v, last_anchors = layout.split(last)
    lanes |= {"last_q": last_q, "last_v": last_v, "last_u": np.hstack([start["u"][:, : len(model.inputs)], last_anchors])}
    return {"q": unit_quaternions(model, q), "v": v, "anchors": anchors, **lanes}


class _Block(Memory):
    """Four runs."""

    def __init__(
        self,
        layout: Layout,
        code: Code,
        times: Array,
        corners: Array,
        rows: NDArray[np.int64],
        start: dict[str, NDArray[Any]],
        reals: Rows,
        leaves: float,
    ):
        super().__init__(layout, code, times, corners)
        self.rows, self.leaves = rows, leaves
        self.noticed = {"stiff_time": np.full(WIDE, np.inf), "rate": np.zeros(WIDE)}
        self.resume(*(start[name] for name in PLACES))
        self.start((start["q"], start["v"]), (start["qdot"], start["a"]), start)
        for name, value in (reals | {"end": times[-1], "until": times[-1], "grow": GROW}).items():
            self.lane(name)[:] = value
        self.set_count("project", 1)
        weights = turn_weights(layout.model, float(layout.plan.length))
        self.put("reach", np.tile(weights, (WIDE, 1)))
        self.arrays["out"][:] = np.nan

    def run(self, interrupted: Event, patience: Patience) -> None:
        """In pieces of about _LOOK_SECONDS."""
        budget, last = _FIRST_PIECE, (np.zeros(WIDE), self.lane("t").copy())
        while self.going().any():
            if interrupted.is_set():
                self.lane("status")[self.going()] = INTERRUPTED
                return
            began = time.perf_counter()
            self.take_steps(budget)
            if time.perf_counter() - began < _LOOK_SECONDS:
                budget *= 2
            last = self._lose_patience(patience, *last)
            if np.isfinite(self.leaves):
                self._leave()
        for name, values in self.noticed.items():
            if np.isfinite(self.leaves):
                self.lane(name)[:] = values

    def going(self) -> NDArray[np.bool_]:
        return (self.lane("t") < self.lane("end")) & (self.lane("status") == RUNNING)

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

    def last(self) -> Array:
        """(lanes, numbers of a state): where the runs are."""
        rows: Array = self.arrays["y"][: self.layout.state].reshape(-1, WIDE).T
        return rows

    def stiff_runs(self) -> list[Progress]:
        lanes = (self.lane(name).tolist() for name in ("stiff_time", "rate", "t", "h", "end"))
        found = [Progress(int(run), *lane) for run, *lane in zip(self.rows, *lanes, strict=True)]
        return [run for run in found if run.stiff_time < run.end and run.t < run.end]

    def samples(self) -> Array:
        """(lanes, samples, numbers of a state); not a number where a run did not come so far."""
        count, size = len(self.times) + 1, self.layout.state
        rows: Array = self.arrays["out"][: count * size].reshape(WIDE, count, size // WIDE)
        return rows[:, :-1]
