"""A task compiled: its runs go through lanes of machine code, a design in each.

Those that lanes do not have, with events, by implicit methods of fixed steps, or by fixed steps that stops would cut, run one
at a time, as ``simulate`` runs the model of their design.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...design import Design
from ...dynamics.evaluation import OPTIMISED
from ...errors import BellcrankError, SimulationError, interrupts_pass, kept_warnings
from ...integrate import METHODS
from ...kernels.threads import keep_freed_memory, one_thread, stopping, thread_count
from ...machine.steps.cuts.known import known_times
from ...machine.steps.declared import INTERRUPTED
from ...run import simulate
from ...run.arguments import AUTO
from ...run.lanes.starts import First
from ...run.lanes.study import ManyRuns, fixed_steps_in_lanes
from ..output_names import Output
from ..taking import INTEGRALS, moments
from .task import GROUP, Columns, Task
from .values import Measured, NotInLanes, OfRun, between_samples, looked_at, name_of, only, samples_only, taken_of

if TYPE_CHECKING:
    from ...results import Run

Array = NDArray[np.float64]

SAMPLES = 128 * 2**20  # bytes of samples that are in memory at a time
NOT_STARTED = 5  # run.lanes.samples.NOT_ASSEMBLED: also of a run that stopped with an error of its own
SMALL = 512  # runs of a piece: fewer take as long in Python as in machine code
MOST_COMPILED = 4


class Compiled:
    """A task with its machine code."""

    def __init__(self, task: Task):
        self.task, self.warm = task, False  # warm: a run has compiled what is compiled when it is first needed
        study, model = task.study, task.model
        names = dict.fromkeys((*task.parameters, *(path for case in study.cases for path in case.set)))
        self.design = Design(model, tuple(names))
        lanes = None
        if task.in_lanes:
            try:
                lanes = Lanes(task, self.design)
            except NotInLanes:
                lanes = None
        self.lanes = lanes
        self.alone = None if lanes is not None else OneByOne(task, self.design)

    @property
    def runner(self) -> Lanes | OneByOne:
        runner = self.lanes or self.alone
        assert runner is not None
        return runner

    def run(self, first: int, last: int, designs: Array) -> Columns:
        """All columns of runs first .. last-1, in pieces that fit into memory, in this thread alone."""
        with one_thread():
            pieces = self.runner.pieces(first, last, last - first)
            return joined([self.runner.run(a, b, designs[a - first : b - first]) for a, b in pieces])


def joined(parts: list[Columns]) -> Columns:
    """One after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _cuts(task: Task, outputs: Sequence[Output]) -> Array:
    """Times at which forces of the model jump or have kinks, where integrals are cut; none where they are more than samples."""
    if not any(output.taken in INTEGRALS for output in outputs):
        return np.zeros(0)
    times = known_times(task.model, float(task.times[0]), float(task.times[-1]))
    return times if len(times) <= len(task.times) else times[:0]


class Lanes:
    """Runs in lanes.

    few               so many runs that the others can be shared by threads after them
    worth_processes   s that the runs which are left must take for processes to be started
    """

    few, worth_processes = GROUP, np.inf  # on two processors they brought nothing

    def __init__(self, task: Task, design: Design):
        keep_freed_memory()
        self.task, self.design = task, design
        given = task.study.run.given()
        given.pop("control", None)
        duration, step = task.span
        limits = {name: given.get(name, default) for name, default in _LIMITS.items()}
        options = {"formulation": given.get("formulation", "auto"), "rank_tolerance": given.get("rank_tolerance")}
        on_singular, method = given.get("on_singular", "stop"), given.get("method", AUTO)
        if method != AUTO and not METHODS[method].adaptive and not fixed_steps_in_lanes(task.model, task.times):
            raise NotInLanes("steps of a fixed length that would be cut")
        self.runs = ManyRuns(task.model, duration, step, method, on_singular, limits, options, design, optimisation=OPTIMISED)
        outputs = list(task.outputs.values())
        fixed = method != AUTO and not METHODS[method].adaptive
        if fixed and any(between_samples(output, task.times) for output in outputs):
            raise NotInLanes("outputs between the samples of steps of a fixed length")
        when = samples_only(task.times) if fixed else moments(outputs, task.times, cuts=_cuts(task, outputs))
        if not task.trajectories:  # states at times that nobody looks at are not even interpolated
            when = only(when, np.union1d(looked_at(outputs, when), [0, len(when.times) - 1]))
        self.when, self.looked_at = when, looked_at(outputs, when)
        self.runs.times = when.times
        self.measured = Measured(self.runs.dynamics, outputs)
        self.numbers = 4 * (task.model.nq + 2 * task.model.nv) + len(self.measured.names) + 2  # of a sample, all copies counted

    def pieces(self, first: int, last: int, left: int) -> Iterator[tuple[int, int]]:
        """Multiples of 64 runs, so that lanes are shared as they would be by all of them together.

        With several threads a piece is at most half of a thread's share of the runs that are ``left`` of the sweep from the
        first one on, down to pieces that are hardly worth it, so that all end at about the same time.
        """
        threads = thread_count()
        room = SAMPLES // (threads * 8 * len(self.when.times) * self.numbers)
        while first < last:
            most = min(room, max(left // (2 * threads), min(SMALL, left // threads)) if threads > 1 else left)
            groups = -(-(last - first) // 64)
            count = -(-groups // max(1, most // 64))  # of equal pieces in the rest of the chunk
            end = min(first + 64 * -(-groups // count), last)
            yield first, end
            first, left = end, left - (end - first)

    def run(self, first: int, last: int, designs: Array) -> Columns:
        """``designs``: parameters of these runs."""
        task, runs = self.task, self.runs
        p = _rows_of(task, self.design, first, designs)
        start = self._starts(task.case_numbers(first, last), p)
        found = runs.run(start, accelerations=False)
        if (found.status == INTERRUPTED).any():
            raise KeyboardInterrupt
        messages = runs.messages(start, found)
        columns: Columns = {"status": found.status.astype(np.int8), "reached": found.reached, "reason": reasons(messages)}
        columns |= self._outputs(start, found.q, found.v, found.status == 0, p)
        if task.trajectories:
            columns |= {"q": found.q[:, self.when.on_grid], "v": found.v[:, self.when.on_grid]}
        return columns

    def _starts(self, numbers: NDArray[np.int64], p: Array) -> First:
        """Those of the designs, where neither the study nor the case of a run (by its number) names a coordinate."""
        task, model, runs = self.task, self.task.model, self.runs
        cases = range(len(task.study.cases))
        u = np.array([[task.starts(k, "inputs").get(name, 0.0) for name in model.inputs] for k in cases])
        given: dict[str, Any] = {"q": None, "v": None, "tau": None, "u": u[numbers]}
        start = runs.starts(given, p)
        for what, known in (("q", model.q_names), ("v", model.v_names)):
            for k in cases:
                for name, value in task.starts(k, what).items():
                    given[what] = start.state[what].copy() if given[what] is None else given[what]
                    given[what][numbers == k, known.index(name)] = value
        return start if given["q"] is None and given["v"] is None else runs.starts(given, p)

    def _outputs(self, start: First, q: Array, v: Array, good: NDArray[np.bool_], p: Array) -> Columns:
        task, when = self.task, only(self.when, self.looked_at)
        if not task.outputs:
            return {}
        q, v = q[:, self.looked_at], v[:, self.looked_at]
        count, samples = q.shape[:2]
        rows = {name: np.repeat(start.state[name], samples, axis=0) for name in ("tau", "u")}
        rows |= {"q": q.reshape(count * samples, -1), "v": v.reshape(count * samples, -1)}
        rows["t"] = np.tile(when.times, count)[:, None]
        columns = self.measured.columns(rows, lambda: self.runs.at(self.runs.rows(p), samples), p, samples)
        found = {}
        for name, output in task.outputs.items():
            x = taken_of(output, columns[name_of(output.of)].reshape(count, samples), when)
            found[name] = np.where(good if x.ndim == 1 else good[:, None], x, np.nan) if output.taken != "series" else x
        return found


_LIMITS: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9, "max_step": None, "max_steps": 100_000_000}


def _rows_of(task: Task, design: Design, first: int, designs: Array) -> Array:
    """Values of all names of the design: parameters, and what the cases set."""
    if len(design.names) == len(task.parameters):
        return designs
    rows = np.tile(design.start, (len(designs), 1))
    rows[:, : len(task.parameters)] = designs
    numbers = task.case_numbers(first, first + len(designs))
    for k, case in enumerate(task.study.cases):
        for path, value in case.set.items():
            rows[numbers == k, design.names.index(path)] = value
    return rows


def reasons(messages: Sequence[str | None]) -> NDArray[Any]:
    """As a column: None where there is nothing to say."""
    found = np.empty(len(messages), dtype=object)
    found[:] = messages
    return found


class OneByOne:
    """Runs that lanes do not have: each by ``simulate``, of the model of its design."""

    few, worth_processes = 1, 2.0  # a process takes about a second to start

    def __init__(self, task: Task, design: Design):
        self.task, self.design, self.events = task, design, task.events

    def pieces(self, first: int, last: int, left: int) -> Iterator[tuple[int, int]]:
        """A few for each thread, since some runs take longer than others."""
        each = max(1, -(-(last - first) // (8 * thread_count())))
        for a in range(first, last, each):
            yield a, min(a + each, last)

    def run(self, first: int, last: int, designs: Array) -> Columns:
        p = _rows_of(self.task, self.design, first, designs)
        rows, interrupted = [], stopping()
        for k, case in enumerate(self.task.case_numbers(first, last)):
            if interrupted.is_set():
                raise KeyboardInterrupt
            rows.append(self._one(p[k], int(case)))
        messages = tuple(row.pop("message") for row in rows)
        columns: Columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return columns | {"status": columns["status"].astype(np.int8), "reason": reasons(messages)}

    def _one(self, p: Array, number: int) -> dict[str, Any]:
        task = self.task
        nothing = {name: np.full(_size(task, dims), np.nan) for name, (dims, kind, _) in task.shapes().items() if kind == "f8"}
        run: Any

        def until(time: float) -> Run:
            with kept_warnings(), interrupts_pass():  # they are those of the whole run
                return simulate(model, time, step=task.span[1], **task.options(number))

        try:
            model = self.design.model(p)
            with kept_warnings() as notes, interrupts_pass():
                run = simulate(model, task.span[0], step=task.span[1], events=self.events, **task.options(number))
            status, message = 0, "; ".join(notes) or None
        except SimulationError as stopped:
            run, message, status = stopped.run, str(stopped), 1
        except BellcrankError as problem:
            return nothing | {"reached": 0.0, "status": NOT_STARTED, "message": str(problem)}
        reached = float(run.values("time")[-1])
        of_run = OfRun(run, task.times, until)
        try:
            found = nothing | of_run.values(task.outputs, status == 0)
        except BellcrankError as problem:
            return nothing | {"reached": reached, "status": 1, "message": str(problem)}
        if task.trajectories:
            found |= {name: of_run.on_grid(run.values(name)) for name in ("q", "v")}
        return found | {"reached": reached, "status": status, "message": message}


def _size(task: Task, dims: tuple[str, ...]) -> tuple[int, ...]:
    sizes = {"time": len(task.times), "coordinate": task.model.nq, "dof": task.model.nv}
    return tuple(sizes[name] for name in dims)


_compiled: dict[str, Compiled] = {}
_compiling = Lock()


def compiled(task: Task) -> Compiled:
    """Made once in a process, whatever the designs."""
    key = task.code
    with _compiling:
        if key not in _compiled:
            while len(_compiled) >= MOST_COMPILED:
                _compiled.pop(next(iter(_compiled)))
            _compiled[key] = Compiled(task)
        return _compiled[key]
