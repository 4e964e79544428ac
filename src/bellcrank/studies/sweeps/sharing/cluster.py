"""Chunks of a sweep on the workers of a Dask cluster.

The task travels with every chunk; a worker unpacks and compiles it once, with its own cache of machine code. A chunk is
computed by the one thread of the worker that Dask gives it, and comes back as it is written.
"""

from __future__ import annotations

import pickle
from collections.abc import Generator
from functools import lru_cache
from typing import Any

from ...cluster import on_cluster
from ..runners import compiled
from ..store import Chunk, Store, packed
from ..task import Task


def chunks_on_cluster(task: Task, kept: Store, missing: list[int], scheduler: Any) -> Generator[Chunk]:
    """In the order in which they are finished."""
    with_task = pickle.dumps(task)
    for _, chunk in on_cluster(run_chunk, {k: (with_task, k, kept.rows, *kept.bounds(k)) for k in missing}, scheduler, "chunk"):
        yield chunk


def run_chunk(with_task: bytes, k: int, rows: int, first: int, last: int) -> Chunk:
    """On a worker."""
    task = _unpacked(with_task)
    designs = task.designs(first, last)
    return packed(k, rows, compiled(task).run(first, last, designs), task.named(designs))


@lru_cache(maxsize=4)
def _unpacked(with_task: bytes) -> Task:
    task: Task = pickle.loads(with_task)
    return task
