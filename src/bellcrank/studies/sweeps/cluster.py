"""Chunks of a sweep on the workers of a Dask cluster.

The task travels with every chunk, since what is scattered is lost with the worker that holds it; a worker unpacks and compiles
it once, with its own cache of machine code. Few chunks are with the scheduler at a time, two for each thread of a worker: it
never holds more than it can give out, however many runs there are.
A worker that dies loses nothing but the chunks that it had, which are computed again.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterator, Mapping
from functools import lru_cache
from typing import Any
from uuid import uuid4

from ...errors import MissingExtraError, StateError, StudyError
from .runners import compiled
from .task import Columns, Task

ATTEMPTS = 10  # at a chunk whose workers die


def chunks_on_cluster(task: Task, bounds: Mapping[int, tuple[int, int]], scheduler: Any) -> Generator[tuple[int, Columns]]:
    """Chunks by number, in the order in which they are finished."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError('clusters need Dask. Install it with: pip install "bellcrank[cluster]"') from None
    own = isinstance(scheduler, str)
    client: Any = _client(distributed.Client, scheduler) if own else scheduler
    if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
        raise StateError(f"scheduler is {scheduler!r}: give the address of a Dask scheduler, or a distributed.Client")
    lost = (distributed.client.FutureCancelledError, distributed.scheduler.KilledWorker)
    left = dict(bounds)
    try:
        while left:  # Dask may forget a result that was with a worker which died
            for k, columns in _gathered(client, distributed.as_completed, lost, pickle.dumps(task), dict(left)):
                del left[k]
                yield k, columns
    finally:
        if own:
            client.close()


def _gathered(
    client: Any, as_completed: Any, lost: tuple[type[Exception], ...], packed: bytes, bounds: Mapping[int, tuple[int, int]]
) -> Iterator[tuple[int, Columns]]:
    waiting, attempts = iter(bounds), dict.fromkeys(bounds, 0)
    numbers: dict[str, int] = {}

    def submitted(k: int) -> Any:
        attempts[k] += 1
        key = f"bellcrank-sweep-{uuid4().hex}"
        numbers[key] = k
        return client.submit(run_chunk, packed, *bounds[k], key=key, pure=False, retries=ATTEMPTS)

    room = 2 * max(1, sum(client.nthreads().values()))
    pool = as_completed([submitted(k) for k, _ in zip(waiting, range(room), strict=False)])
    for future in pool:
        k = numbers.pop(future.key)
        try:
            columns = future.result()
        except lost as problem:
            if attempts[k] >= ATTEMPTS:
                raise StudyError(f"{ATTEMPTS} workers died at runs {bounds[k][0]} to {bounds[k][1] - 1}: {problem}") from None
            pool.add(submitted(k))
            continue
        future.release()
        following = next(waiting, None)
        if following is not None:
            pool.add(submitted(following))
        yield k, columns


def _client(kind: Any, address: str) -> Any:
    try:
        return kind(address, timeout=20)
    except OSError as problem:
        raise StudyError(f"no Dask scheduler answers at {address}: {problem}") from None


def run_chunk(packed: bytes, first: int, last: int) -> Columns:
    """On a worker."""
    return compiled(_unpacked(packed)).run(first, last)


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Task:
    task: Task = pickle.loads(packed)
    return task
