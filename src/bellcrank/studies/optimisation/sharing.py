"""Several searches: where they begin; one after the other, among processes or on a cluster; all evaluations in one record."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..cluster import on_cluster
from ..processes import started, why_it_ended
from ..study.spec import Search
from .evaluation import Infeasible
from .problem import Point, Problem
from .record import Record, as_json, as_point
from .searching import SearchResult, search_from

Array = NDArray[np.float64]
Starts = Sequence[tuple[int, Array]]
Noted = Callable[[int], None]


class Follow(Protocol):
    """Keeps what is evaluated."""

    def find(self, x: Array) -> Point | None:
        """A design that the record had: it counts as evaluated."""

    def add(self, point: Point) -> None:
        """A design that was evaluated."""


def starting_points(problem: Problem, count: int, seed: int) -> Array:
    """(count, parameters): the start, then a Latin hypercube: of every parameter one value in each of as many strata.

    A parameter without two bounds is taken within its scale of the start.
    """
    n, others = len(problem.start), count - 1
    rng = np.random.default_rng(seed)
    strata = np.array([rng.permutation(others) for _ in range(n)]).T.reshape(others, n)
    u = (strata + rng.random((others, n))) / max(others, 1)
    bounded = np.isfinite(problem.lower) & np.isfinite(problem.upper)
    low = np.where(bounded, problem.lower, np.maximum(problem.start - problem.scale, problem.lower))
    high = np.where(bounded, problem.upper, np.minimum(problem.start + problem.scale, problem.upper))
    return np.vstack([problem.start, low + u * (high - low)])


def search_here(problem: Problem, starts: Starts, search: Search, began: Noted) -> list[SearchResult]:
    """One after the other."""
    ended = []
    for k, x0 in starts:
        began(k)
        try:
            ended.append(search_from(problem, x0, search, k))
        except Infeasible as error:
            ended.append(SearchResult(k, False, f"the start is infeasible: {error}"))
    return ended


def search_shared(
    problem: Problem, starts: Starts, search: Search, record: Record, processes: int, follow: Follow
) -> list[SearchResult]:
    """Among processes; ``follow`` is called with every evaluation as it comes."""
    queue: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    shares = [list(starts[k::processes]) for k in range(processes)]
    job = {"study": problem.study, "search": search, "known": list(record.known.values())}
    workers = [_Worker({**job, "starts": share, "kind": type(problem)}, queue) for share in shares if share]
    ended, running = list[SearchResult](), len(workers)
    try:
        while running:
            line = queue.get()
            if line is None:
                running -= 1
            else:
                ended += taken_line(line, follow)
    finally:
        for worker in workers:
            worker.stop()
    for worker in workers:
        if worker.failed:
            missing = {k for share in shares for k, _ in share} - {one.start for one in ended}
            ended += [SearchResult(k, False, f"its process ended: {worker.failed}") for k in sorted(missing)]
            break
    return ended


def search_on_cluster(
    problem: Problem, starts: Starts, search: Search, record: Record, scheduler: Any, follow: Follow
) -> list[SearchResult]:
    """Searches on the workers of a Dask cluster, a start at a time; its evaluations come back when it has ended."""
    job = {"study": problem.study, "search": search, "known": list(record.known.values()), "kind": type(problem)}
    packed = {k: (pickle.dumps({**job, "starts": [(k, x0)]}),) for k, x0 in starts}
    ended: list[SearchResult] = []
    for _, lines in on_cluster(searched_there, packed, scheduler, "the search from start"):
        for line in lines:
            ended += taken_line(line, follow)
    return ended


def taken_line(line: dict[str, Any], follow: Follow) -> list[SearchResult]:
    """What a process wrote: that a search has ended, a design that its record had, or one that it has evaluated."""
    if "ended" in line:
        return [SearchResult(line["start"], line["success"], line["ended"], line.get("cost", np.inf))]
    if "known" in line:
        follow.find(np.array(line["known"], dtype=np.float64))
    else:
        follow.add(as_point(line))
    return []


def searched_there(packed: bytes) -> list[dict[str, Any]]:
    """The search from one start, on a worker."""
    lines: list[dict[str, Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first process has given them
        serve(pickle.loads(packed), lines.append)
    return lines


class _Worker:
    """A process, and a thread that reads its lines."""

    def __init__(self, job: dict[str, Any], queue: SimpleQueue[dict[str, Any] | None]) -> None:
        self.failed, self._queue = "", queue
        self._process = started(f"{__package__}.worker")
        self._thread = Thread(target=self._talk, args=(pickle.dumps(job),), daemon=True)
        self._thread.start()

    def _talk(self, job: bytes) -> None:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(job)
            process.stdin.close()
            for line in process.stdout:
                self._queue.put(json.loads(line))
        except (OSError, ValueError):
            pass
        self.failed = why_it_ended(process)
        self._queue.put(None)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        self._thread.join()


def serve(job: dict[str, Any], write: Callable[[dict[str, Any]], None]) -> None:
    """The work of a process: its share of the starts."""
    problem: Problem = job["kind"](job["study"])
    record = Record(known={point.x.tobytes(): point for point in job["known"]})

    def seen(x: Array) -> Point | None:
        point = record.find(x)
        if point is not None:
            write({"known": x.tolist()})
        return point

    problem.seen, problem.noted = seen, lambda point: write(as_json(point))
    for k, x0 in job["starts"]:
        (ended,) = search_here(problem, [(k, x0)], job["search"], lambda k: None)
        line: dict[str, Any] = {"start": ended.start, "success": ended.success, "ended": ended.message}
        write(line | ({"cost": ended.cost} if np.isfinite(ended.cost) else {}))
