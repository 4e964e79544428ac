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

from ....formulations import Program
from ....integrate import RungeKutta
from ....kernels.processor import lane_count
from ....kernels.threads import stopping, thread_count, workers
from ....model.manifold import turning_joints, unit_quaternions
from ....plan import Plan
from ....plan.turns import turn_weights
from ...kernel import obtain
from ...module import Module, structure_name
from ...tangents.lane_data import Places, lane_places
from ..adaptive import GROW
from ..cuts.corners import NEVER
from ..declared import ENDLESS, INTERRUPTED, LEFT, RUNNING
from ..implicit.radau import RadauLaneStepper
from ..layout import Layout
from ..memory import Memory
from ..programs import programs
from ..stepper import write_with_kernels
from .fixed import FixedLaneStepper
from .groups import Groups, Rows
from .stepping import LaneStepper

Array = NDArray[np.float64]

PLACES = ("sampled", "corner")  # how many samples and corners a run has behind it
FOUND = ("status", "t", "h", "steps", "rejected", "stiff_time", "rate")  # numbers of a lane that are told of its run

_LEAST_PIECE, _MOST_PIECE = 64, 4096  # steps of a call, which grow from a sixteenth of a number that follows from the model:
_PIECE_BODIES = 200_000  # bodies times steps; never from a clock, since what is looked at between calls is part of the result
_LOOK_SECONDS = 0.1  # between looks at runs that go on
_BLOCKS = 4  # of groups for each thread, so that all end at about the same time
_BYTES = 1 << 24  # of the memory of a block and its samples


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


class Workspace(NamedTuple):
    """The memory of a group of runs before it begins, with its machine code; the places of numbers of designs; blocks that are
    free."""

    one: Memory
    places: Places
    free: SimpleQueue[_Block]


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
    grid: Array | None = None,
    made: dict[tuple[str, int], Workspace] | None = None,
) -> dict[str, NDArray[Any]]:
    """Runs from states ``start`` (q, v, tau, u by run) and their ``slopes`` (qdot, a).

    Of each run: samples q (B, 1 + samples, nq), v (B, 1 + samples, nv) and ``anchors`` of friction that holds, the start first;
    status, time ``t`` that it reached and the state ``last_q``, ``last_v``, ``last_u`` there, its step ``h``, steps and
    rejected ones, samples taken and corners passed (``places``), since when it was stiff (infinite if it never was), and its
    fastest rate then.

    ``reals``: h, rtol, atol, longest, and go_on and near for closed loops, of each run or of all; t, if it is not zero, with
    the samples and corners until then in ``places``. ``meanwhile`` is told now and then which runs are stiff; one that is, and
    has at least so many steps to go as ``leaves`` says, ends with the status LEFT. Interrupted, the runs that go on end with
    the status INTERRUPTED, and so do those that have not begun.

    ``numbers``: of the runs, in order, which decide who shares lanes; 0, 1, ... unless given. ``own``: where runs have designs
    of their own (then the plan says so). ``substeps``: of a method of fixed steps, so many of length h
    from one time of the ``grid`` to the next; ``times`` are some of the grid, and all of it unless it is given.
    ``made``: workspaces that calls with the same plan, times and corners share, by method and number of corners.
    """
    count, model, lanes = len(start["q"]), plan.model, lane_count()
    most, shared = corners.shape[-1] if own is None else own.corners.shape[1], {} if made is None else made
    workspace = shared.get((method.name, most))
    if workspace is None:
        memory = _memory(plan, program, method, times, corners, most, times if grid is None else grid)
        workspace = Workspace(memory, lane_places(plan) if plan.lane_designs else {}, SimpleQueue())
        shared[method.name, most] = workspace
    layout = workspace.one.layout
    given: Rows = {**start, **slopes, **(places or {name: np.zeros(count, dtype=np.int64) for name in PLACES})}
    each_reals = {name: np.broadcast_to(value, count) for name, value in reals.items()}
    job = _Job(workspace, leaves, patience, substeps)
    found = _unfilled(layout, count)
    together = _together(np.arange(count) if numbers is None else numbers, lanes)
    most_groups = job.most(len(together))
    blocks = np.split(together, range(most_groups, len(together), most_groups))
    job.wait([workers().submit(job.run, block, given, each_reals, own, found) for block in blocks], meanwhile)
    last_q, last_v, last_anchors = layout.split(found.pop("last"))
    found |= {"last_q": last_q, "last_v": last_v, "last_u": np.hstack([start["u"][:, : len(model.inputs)], last_anchors])}
    return found


def _memory(plan: Plan, program: Program, method: RungeKutta, times: Array, corners: Array, most: int, grid: Array) -> Memory:
    """Of a group of runs before they begin, with its machine code."""
    lanes = lane_count()
    key = ("lanes", lanes, program.name, method.name, structure_name(plan))
    code = obtain(key, lambda: write_lane_stepper(plan, program, method, lanes))
    called = programs(plan, program, works=False, implicit=method.implicit)
    layout = Layout(plan, called, method, lanes, len(times), most, grid=0 if method.adaptive else len(grid))
    made = Memory(layout, code, times, corners)
    made.arrays["grid"][: layout.grid] = grid[: layout.grid]
    return made


def _together(numbers: NDArray[np.int64], lanes: int) -> NDArray[np.int64]:
    """Runs that share lanes, (groups, lanes); the last of a group is repeated in lanes that are free."""
    first = np.flatnonzero(np.diff(numbers // lanes, prepend=-1))
    last = np.append(first[1:], len(numbers)) - 1
    return np.minimum(first[:, None] + np.arange(lanes), last[:, None])


def _unfilled(layout: Layout, count: int) -> Rows:
    """For what runs find: a row of each, of samples after their starts."""
    samples, model = layout.samples + 1, layout.model
    sizes = {"q": model.nq, "v": model.nv, "anchors": len(layout.anchors.places)}
    found: Rows = {name: np.empty((count, samples, size)) for name, size in sizes.items()}
    found |= {name: np.empty(count) for name in FOUND}
    found |= {name: np.empty(count, dtype=np.int64) for name in PLACES}
    return found | {"last": np.empty((count, layout.state // layout.lanes))}


class _Job:
    """All groups of runs, and the blocks in which they run, one after the other."""

    def __init__(self, workspace: Workspace, leaves: float, patience: Patience, substeps: int):
        self.one, self.places, self.free = workspace
        self.leaves, self.substeps, self.patience, self.interrupted = leaves, substeps, patience, stopping()
        self.going: set[_Block] = set()

    def most(self, groups: int) -> int:
        """Groups of a block."""
        size, threads = sum(x.nbytes for x in self.one.arrays.values()), thread_count()
        shared = groups if threads == 1 else -(-groups // (_BLOCKS * threads))
        return max(1, min(shared, _BYTES // size))

    def run(self, runs: NDArray[np.int64], given: Rows, reals: Rows, own: Own | None, found: Rows) -> None:
        """Runs of a block, (groups, lanes); what they find goes to their rows."""
        block = self._free_block(len(runs))
        block.begin(runs, given, reals, own, self.places)
        self.going.add(block)
        block.run(self.interrupted, self.patience)
        self.going.discard(block)
        block.put_results(found, given)
        self.free.put(block)

    def _free_block(self, groups: int) -> _Block:
        try:
            while (block := self.free.get_nowait()).room < groups:
                """The block is given up for a larger one."""
        except Empty:
            block = _Block(self.one, groups)
        block.leaves, block.substeps = self.leaves, self.substeps
        return block

    def wait(self, blocks: list[Future[None]], meanwhile: Callable[[list[Progress]], None]) -> None:
        try:
            while wait(blocks, timeout=_LOOK_SECONDS).not_done:
                meanwhile([found for running in list(self.going) for found in running.stiff_runs()])
        except BaseException as reason:
            self.interrupted.set()
            wait(blocks)
            if not isinstance(reason, KeyboardInterrupt):
                raise
        for block in blocks:
            block.result()


class _Block(Groups):
    """Groups of runs that one thread takes on together."""

    leaves, substeps = np.inf, 1

    def __init__(self, one: Memory, most: int):
        super().__init__(one, most)
        layout = one.layout
        self.weights = np.tile(turn_weights(layout.model, float(layout.plan.length)), (1, layout.lanes, 1))
        self.bodies = max(1, layout.plan.n + layout.plan.loads.closing.rows)
        self.most = min(_MOST_PIECE, max(_LEAST_PIECE, 1 << (_PIECE_BODIES // self.bodies).bit_length()))
        self.runs = np.zeros((0, layout.lanes), dtype=np.int64)
        self.noticed: dict[str, Array] = {}

    def begin(self, runs: NDArray[np.int64], given: Rows, reals: Rows, own: Own | None, places: Places) -> None:
        self.clear(len(runs))
        self.runs = runs
        self.noticed = {"stiff_time": np.full(runs.shape, np.inf), "rate": np.zeros(runs.shape)}
        if own is not None:
            self._take_designs(own.taken(runs), places)
        self.start({name: x[runs] for name, x in given.items()})
        for name, value in reals.items():
            self.lane(name)[:] = value[runs]
        for name, value in {"end": self.times[-1], "until": self.times[-1], "grow": GROW}.items():
            self.lane(name)[:] = value
        self.set_count("project", 1)
        self.set_count("substeps", self.substeps)
        self.put("reach", np.tile(self.weights, (len(runs), 1, 1)))

    def _take_designs(self, own: Own, places: Places) -> None:
        """Numbers of each lane's design; rows (groups, lanes, ...)."""
        lanes, groups = self.layout.lanes, self.used
        for name, (entries, sources) in places.items():
            if self.has(name):
                array = self.array(name).reshape(groups, -1, lanes)
                array[:, entries] = own.designs[:, :, sources].transpose(0, 2, 1)
        self.put("surface_limits", own.limits)
        self.put("anchor_reach", own.reach)
        if own.limits.size:
            gates = self.array("gates")[:, : self.layout.gates.size]
            gates[:] = [self.layout.gates_of(limits).ravel() for limits in own.limits]
        corners = self.array("corners").reshape(groups, lanes, -1)
        corners[:, :, :-1], corners[:, :, -1] = own.corners, NEVER

    def run(self, interrupted: Event, patience: Patience) -> None:
        piece, last = self.most // 16, (np.zeros(self.runs.shape), self.lane("t").copy())
        while self.going().any():
            budget = max(1, min(piece, patience.steps - int(self.tried()[self.going()].max())))
            together = max(1, _PIECE_BODIES // (self.bodies * budget))
            for first in range(0, self.used, together):
                if interrupted.is_set():
                    self.lane("status")[self.going()] = INTERRUPTED
                    return
                self.take_steps(budget, first, min(first + together, self.used))
            piece = min(2 * piece, self.most)
            last = self._lose_patience(patience, *last)
            if np.isfinite(self.leaves):
                self._leave()
        for name, values in self.noticed.items():
            if np.isfinite(self.leaves):
                self.lane(name)[:] = values

    def tried(self) -> Array:
        """Steps of each lane, those that were rejected included."""
        tried: Array = self.lane("steps") + self.lane("rejected")
        return tried

    def going(self) -> NDArray[np.bool_]:
        """Lanes whose run has not arrived; a method of fixed steps has when it has taken its samples."""
        if self.layout.method.adaptive:
            return (self.lane("t") < self.lane("end")) & (self.lane("status") == RUNNING)
        return (self.lane("status") == RUNNING) & (self.array("sampled")[:, :1] < len(self.times))

    def _lose_patience(self, patience: Patience, before: Array, reached: Array) -> tuple[Array, Array]:
        """End runs that have taken too many steps, or will; what they had done, and how far they were, at the last look."""
        steps, t = self.tried(), self.lane("t")
        endless = steps >= patience.steps
        looked = (steps - before).max(axis=1, keepdims=True) >= patience.look
        if looked.any():
            with np.errstate(all="ignore"):
                ahead = (self.lane("end") - t) / (t - reached) * (steps - before)
            endless |= looked & ~(ahead <= patience.ahead)
        self.lane("status")[endless & self.going()] = ENDLESS
        return np.where(looked, steps, before), np.where(looked, t, reached)

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
        names = ("stiff_time", "rate", "t", "h", "end")
        lanes = (self.lane(name).ravel().tolist() for name in names)
        found = [Progress(*lane) for lane in zip(self.runs.ravel().tolist(), *lanes, strict=True)]
        return [run for run in found if run.stiff_time < run.end and run.t < run.end]

    def put_results(self, found: Rows, given: Rows) -> None:
        """Into the rows of the runs, which follow each other; samples after the starts that were given."""
        own = np.diff(self.runs.ravel(), prepend=-1) > 0  # free lanes repeat the one before
        rows = slice(self.runs[0, 0], self.runs[-1, -1] + 1)
        for name in FOUND:
            found[name][rows] = self.lane(name).ravel()[own]
        found["sampled"][rows], found["corner"][rows] = self.array("sampled").ravel()[own], self.passed.ravel()[own]
        found["last"][rows] = self.last.reshape(own.size, -1)[own]
        samples = self.samples.reshape(own.size, len(self.times), -1)
        self._forget_unreached(samples)
        parts = dict(zip(("q", "v", "anchors"), self.layout.split(samples if own.all() else samples[own]), strict=True))
        if turning_joints(self.layout.model):
            parts["q"] = unit_quaternions(self.layout.model, parts["q"])
        starts = {"q": given["q"], "v": given["v"], "anchors": given["u"][:, self.layout.anchors.inputs]}
        for name, x in parts.items():
            found[name][rows, 0], found[name][rows, 1:] = starts[name][rows], x

    def _forget_unreached(self, samples: Array) -> None:
        """Samples are not numbers where a run did not come so far."""
        if self.layout.method.adaptive:
            reached = np.arange(len(self.times)) < self.array("sampled").reshape(-1, 1)
        else:
            reached = self.times <= self.lane("t").reshape(-1, 1)
        if not reached.all():
            samples[~reached] = np.nan
