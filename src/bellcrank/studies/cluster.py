"""Calls on the workers of a Dask cluster, by address or by a client: chunks of sweeps, searches, runs of differences.

Few calls are with the scheduler at a time, two for each thread of a worker: it never holds more than it can give out, however
many there are. What a call needs travels with it, since what is scattered is lost with the worker that holds it; a worker that
dies loses nothing but the calls that it had, which are made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

import numpy as np

from ..errors import MissingExtraError, StateError, StudyError, warn

ATTEMPTS = 10  # at a call whose workers die
LOOK = 1.0  # s: between looks at how many workers there are

Jobs = Mapping[int, tuple[Any, ...]]


def on_cluster(call: Callable[..., Any], jobs: Jobs, scheduler: Any, what: str) -> Generator[tuple[int, Any]]:
    """call(*jobs[k]) of each k, in the order in which they are finished; ``what`` a job is, for errors."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError('clusters need Dask. Install it with: pip install "bellcrank[cluster]"') from None
    own = isinstance(scheduler, str)
    client: Any = _client(distributed.Client, scheduler) if own else scheduler
    if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
        raise StateError(f"scheduler is {scheduler!r}: give the address of a Dask scheduler, or a distributed.Client")
    lost = (distributed.client.FutureCancelledError, distributed.scheduler.KilledWorker)
    left = dict(jobs)
    try:
        while left:  # Dask may forget a result that was with a worker which died
            for k, found in _gathered(client, lost, call, dict(left), what):
                del left[k]
                yield k, found
    finally:
        if own:
            client.close()


def _gathered(
    client: Any, lost: tuple[type[Exception], ...], call: Callable[..., Any], jobs: Jobs, what: str
) -> Iterator[tuple[int, Any]]:
    waiting, attempts = iter(jobs), dict.fromkeys(jobs, 0)
    going: dict[str, tuple[int, Any]] = {}
    ready: SimpleQueue[Any] = SimpleQueue()

    def submit(k: int) -> None:
        attempts[k] += 1
        key = f"bellcrank-{uuid4().hex}"
        future = client.submit(call, *jobs[k], key=key, pure=False, retries=ATTEMPTS)
        going[key] = k, future
        future.add_done_callback(ready.put)

    capacity = Capacity(client, what)
    while True:
        for k in islice(waiting, max(0, capacity.now() - len(going))):
            submit(k)
        if not going:
            return
        try:
            future = ready.get(timeout=LOOK)
        except Empty:
            continue
        k, _ = going.pop(future.key)
        try:
            found = future.result()
        except lost as problem:
            if attempts[k] >= ATTEMPTS:
                raise StudyError(f"{ATTEMPTS} workers died at {what} {k}: {problem}") from None
            submit(k)
            continue
        future.release()
        yield k, found


class Capacity:
    """How many calls may be with the scheduler: workers join and leave, in a queue of jobs perhaps long after the start."""

    def __init__(self, client: Any, what: str):
        self.client, self.what, self.looked, self.calls, self.warned = client, what, -np.inf, 0, False

    def now(self) -> int:
        if time.monotonic() - self.looked > LOOK:
            threads = sum(self.client.nthreads().values())
            if not threads and not self.warned:
                warn(f"no worker has joined the scheduler: the first {self.what} waits for one")
                self.warned = True
            self.looked, self.calls = time.monotonic(), 2 * max(1, threads)
        return self.calls


def _client(kind: Any, address: str) -> Any:
    try:
        return kind(address, timeout=20)
    except (OSError, ValueError) as problem:  # the latter of what is not an address
        raise StudyError(f"no Dask scheduler answers at {address}: {problem}") from None
