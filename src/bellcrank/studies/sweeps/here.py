"""Chunks of a sweep on the processors of this machine, and their writing.

A piece of a chunk is computed from its designs to its outputs by one thread, so that threads wait for each other as little as
they can: pieces of the next chunk begin before the last of a chunk has ended, and a thread writes what is finished.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

from ...kernels.threads import one_thread, thread_count
from .runners import compiled, joined
from .store import Store
from .task import Columns, Task

AHEAD = 1  # chunks that are begun before the one at hand has ended


def chunks_here(task: Task, kept: Store, missing: list[int]) -> Generator[tuple[int, Columns]]:
    """Chunks by number, in order."""
    made, stop = compiled(task), Event()
    runner = made.runner
    team = ThreadPoolExecutor(thread_count(), thread_name_prefix="bellcrank-sweep")

    def piece(first: int, last: int) -> Columns:
        with one_thread(stop):
            return runner.run(first, last)

    waiting: deque[tuple[int, list[Columns | Future[Columns]]]] = deque()
    try:
        for k in missing:
            start, end = kept.bounds(k)
            first: list[Columns | Future[Columns]] = []
            if not made.warm:  # what is compiled when it is first needed is compiled once, by a few runs
                few = min(start + runner.few, end)
                first, start, made.warm = [piece(start, few)], few, True
            waiting.append((k, [*first, *(team.submit(piece, *bounds) for bounds in runner.pieces(start, end))]))
            if len(waiting) > AHEAD:
                yield _finished(*waiting.popleft())
        while waiting:
            yield _finished(*waiting.popleft())
    finally:
        stop.set()
        team.shutdown(wait=True, cancel_futures=True)


def _finished(k: int, parts: Iterable[Columns | Future[Columns]]) -> tuple[int, Columns]:
    return k, joined([part.result() if isinstance(part, Future) else part for part in parts])


def written(parts: Iterable[tuple[int, Columns]], put: Callable[[int, Columns], Any]) -> Iterator[int]:
    """Numbers of chunks that are in the store; one is written while the next is waited for."""
    with ThreadPoolExecutor(1, thread_name_prefix="bellcrank-store") as writer:
        before: tuple[int, Future[Any]] | None = None
        for k, columns in parts:
            if before is not None:
                before[1].result()
                yield before[0]
            before = k, writer.submit(put, k, columns)
        if before is not None:
            before[1].result()
            yield before[0]
