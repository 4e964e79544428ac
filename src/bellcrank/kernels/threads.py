"""Threads that run machine code: as many as the process has processors, or as BELLCRANK_THREADS says.

What a thread of its own does for a caller (``one_thread``) it does alone: it starts no others.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

from ..errors import StateError

VARIABLE = "BELLCRANK_THREADS"
_LOOK = 0.1  # s
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _LARGEST = -1, -3, 2**25  # of mallopt; bytes


class _Here(threading.local):
    """State of a thread: whether it works alone, and the flag that stops it."""

    alone = False
    stop: threading.Event | None = None


_here = _Here()


def thread_count() -> int:
    """BELLCRANK_THREADS, or the number of processors that this process is allowed to run on; 1 in a thread that works alone."""
    if _here.alone:
        return 1
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


def workers() -> Executor:
    """The threads of this process, or this one if it works alone."""
    return _ThisThread() if _here.alone else _pool(thread_count())


def in_pieces(task: Callable[[Iterable[tuple[int, int]]], None], count: int, tasks: int, piece: int) -> None:
    """Each of so many threads does its part of 0 .. count-1, which it is given as pieces (first, last) one after the other.

    Between two of them an interrupt gets through. Then the others are told to stop, and waited for: they write into memory
    that is the caller's.
    """
    if tasks == 1:
        task((at, min(at + piece, count)) for at in range(0, count, piece))
        return
    stop = threading.Event()

    def pieces(first: int, last: int) -> Iterator[tuple[int, int]]:
        for at in range(first, last, piece):
            if stop.is_set():
                return
            yield at, min(at + piece, last)

    cuts, jobs = [count * k // tasks for k in range(tasks + 1)], list[Future[None]]()
    try:
        for first, last in pairwise(cuts):
            jobs.append(workers().submit(task, pieces(first, last)))
        for job in jobs:
            result_of(job)
    finally:
        stop.set()
        wait(jobs)


def result_of(job: Future[Any]) -> Any:
    """Looked for every tenth of a second: a signal that comes just before a wait without end would not end that."""
    while True:
        try:
            return job.result(timeout=_LOOK)
        except TimeoutError:
            if job.done():
                return job.result()


def interruptible(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call that looks for no interrupts, such as LAPACK's: after one it is left to itself, in a thread that ends with the
    process."""
    found: Future[Any] = Future()

    def call() -> None:
        try:
            found.set_result(function(*arguments))
        except BaseException as problem:
            found.set_exception(problem)

    threading.Thread(target=call, daemon=True, name="bellcrank").start()
    return result_of(found)


@contextmanager
def one_thread(stop: threading.Event | None = None) -> Iterator[None]:
    """Runs everything inside in this thread; long machine code looks now and then whether to ``stop``."""
    before = _here.alone, _here.stop
    _here.alone, _here.stop = True, stop
    try:
        yield
    finally:
        _here.alone, _here.stop = before


def stopping() -> threading.Event:
    """The flag that is set when this thread's work is no longer wanted."""
    return _here.stop or threading.Event()


def keep_freed_memory() -> None:
    """Lets malloc of glibc keep arrays that threads free, as it does by itself in a process that has freed one of 32 MB.

    Otherwise the system takes the arrays of each batch back, and clears their pages for the next one, which costs threads up to
    a sixth of their time; workers of Dask are even told to give memory back at once.
    """
    malloc = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if malloc is not None:
        for parameter, size in ((_MMAP_THRESHOLD, _LARGEST), (_TRIM_THRESHOLD, 2 * _LARGEST)):
            malloc(parameter, size)


def look_for_stop() -> None:
    """Between two parts of something long: an interrupt, if this thread's work is no longer wanted."""
    if _here.stop is not None and _here.stop.is_set():
        raise KeyboardInterrupt


class _ThisThread(Executor):
    """Does at once what it is given."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as problem:
            future.set_exception(problem)
        return future


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="bellcrank")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
