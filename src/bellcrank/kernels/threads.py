"""Threads that run machine code: as many as the process may use processors, or as BELLCRANK_THREADS says."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from ..errors import StateError

VARIABLE = "BELLCRANK_THREADS"


def thread_count() -> int:
    """BELLCRANK_THREADS, or the number of processors that this process is allowed to run on."""
    wanted = os.environ.get(VARIABLE)
    if wanted:
        return _given(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _given(wanted: str) -> int:
    try:
        count = int(wanted)
    except ValueError:
        count = 0
    if count < 1:
        raise StateError(f"{VARIABLE} is {wanted!r}: give the number of threads, 1 or more, or leave it unset")
    return count


def workers() -> ThreadPoolExecutor:
    """The threads of this process."""
    return _pool(thread_count())


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="bellcrank")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
