"""Chunks of a sweep on the workers of a Dask cluster.

The task travels with every chunk; a worker unpacks and compiles it once, with its own cache of machine code. A chunk is
computed by the one thread of the worker that Dask gives it.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator, Mapping
from functools import lru_cache
from typing import Any

from ..cluster import on_cluster
from .runners import compiled
from .task import Columns, Task


def chunks_on_cluster(task: Task, bounds: Mapping[int, tuple[int, int]], scheduler: Any) -> Generator[tuple[int, Columns]]:
    """Chunks by number, in the order in which they are finished."""
    packed = pickle.dumps(task)
    yield from on_cluster(run_chunk, {k: (packed, *ends) for k, ends in bounds.items()}, scheduler, "chunk")


def run_chunk(packed: bytes, first: int, last: int) -> Columns:
    """On a worker."""
    return compiled(_unpacked(packed)).run(first, last)


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Task:
    task: Task = pickle.loads(packed)
    return task
