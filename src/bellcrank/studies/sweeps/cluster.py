"""Chunks of a sweep on the workers of a Dask cluster.

The task travels once; what is compiled for it is made on every worker, which has its own cache of machine code. Few chunks are
with the scheduler at a time, two for each thread of a worker: it never holds more than it can give out, however many runs there
are. A worker that dies loses nothing but the chunk at hand, which Dask gives to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import MissingExtraError, StateError, StudyError
from .runners import compiled
from .task import Columns, Task

RETRIES = 10  # of a chunk whose worker died


def chunks_on_cluster(task: Task, bounds: Mapping[int, tuple[int, int]], scheduler: Any) -> Iterator[tuple[int, Columns]]:
    """Chunks by number, in the order in which they are finished."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError('clusters need Dask. Install it with: pip install "bellcrank[cluster]"') from None
    own = isinstance(scheduler, str)
    client: Any = _client(distributed.Client, scheduler) if own else scheduler
    if not hasattr(client, "submit") or not hasattr(client, "scatter"):
        raise StateError(f"scheduler is {scheduler!r}: give the address of a Dask scheduler, or a distributed.Client")
    try:
        (sent,) = client.scatter([task], broadcast=False, hash=False)
        waiting = iter(bounds.items())
        kind: Any = distributed.as_completed
        pool: Any = kind([_submitted(client, sent, *item) for item in _some(waiting, _room(client))])
        for future in pool:
            k = int(future.key.rpartition("-")[2])
            columns = future.result()
            future.release()
            following = next(waiting, None)
            if following is not None:
                pool.add(_submitted(client, sent, *following))
            yield k, columns
    finally:
        if own:
            client.close()


def _client(kind: Any, address: str) -> Any:
    try:
        return kind(address, timeout=20)
    except OSError as problem:
        raise StudyError(f"no Dask scheduler answers at {address}: {problem}") from None


def _room(client: Any) -> int:
    """Chunks that may be with the scheduler: two for each thread."""
    return 2 * max(1, sum(client.nthreads().values()))


def _some(items: Iterator[Any], count: int) -> Iterator[Any]:
    for _ in range(count):
        item = next(items, None)
        if item is None:
            return
        yield item


def _submitted(client: Any, task: Any, k: int, bounds: tuple[int, int]) -> Any:
    return client.submit(run_chunk, task, *bounds, key=f"bellcrank-sweep-{id(task)}-{k}", pure=False, retries=RETRIES)


def run_chunk(task: Task, first: int, last: int) -> Columns:
    """On a worker."""
    return compiled(task).run(first, last)
