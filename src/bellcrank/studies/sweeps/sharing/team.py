"""The threads that compute pieces of a sweep on this machine, and processes that take their work over.

Threads are there at once, but Python runs in one of them at a time. Runs that go through lanes hardly need it; a run by
``simulate`` is mostly Python. So each thread hands its pieces to a process of its own, once there is one: they take about a
second to start, and are started when what is left takes longer than that is worth. The numbers are the same.
"""

from __future__ import annotations

import pickle
import time
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Event, Lock, local

import numpy as np
from numpy.typing import NDArray

from ....kernels.threads import one_thread, thread_count
from ..runners import Lanes, OneByOne
from ..task import Columns, Task
from .process import Ended, Process

Array = NDArray[np.float64]


class _Own(local):
    """Of each thread."""

    process: Process | None = None


class Team:
    """``left``: how many runs there are to compute. ``notes``: what is to be told at the end."""

    def __init__(self, task: Task, runner: Lanes | OneByOne, left: int):
        self.task, self.runner, self.left, self.notes = task, runner, left, list[str]()
        self.threads, self.stop, self._own = thread_count(), Event(), _Own()
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="bellcrank-sweep")
        self._starters = ThreadPoolExecutor(self.threads, thread_name_prefix="bellcrank-sweep-start")
        self._processes, self._ready = list[Process](), SimpleQueue[Process]()
        self._lock, self._wanted = Lock(), self.threads > 1

    def submit(self, first: int, last: int, designs: Array) -> Future[Columns]:
        return self._pool.submit(self._run, first, last, designs)

    def here(self, first: int, last: int, designs: Array) -> Columns:
        """In the thread that asks, once for all others: what is compiled when it is first needed is compiled then."""
        with one_thread(self.stop):
            found = self.runner.run(first, last, designs)
        self.left -= last - first
        return found

    def end(self) -> None:
        self.stop.set()
        with self._lock:
            self._wanted = False
            for process in self._processes:
                process.kill()
        for executor in (self._starters, self._pool):
            executor.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.close()

    def _run(self, first: int, last: int, designs: Array) -> Columns:
        process = self._process()
        if process is not None:
            try:
                return process.run(first, last, designs)
            except Ended as problem:
                if self.stop.is_set():
                    raise KeyboardInterrupt from None
                self.notes.append(f"a process of the sweep ended ({problem}): a thread went on with its runs")
                self._own.process = None
        before = time.perf_counter()
        with one_thread(self.stop):
            found = self.runner.run(first, last, designs)
        with self._lock:
            self.left -= last - first
            seconds = (time.perf_counter() - before) * self.left / ((last - first) * self.threads)
            if self._wanted and seconds > self.runner.worth_processes:
                self._wanted = False
                self._start_processes()
        return found

    def _process(self) -> Process | None:
        if self._own.process is None:
            try:
                self._own.process = self._ready.get_nowait()
            except Empty:
                return None
        return self._own.process

    def _start_processes(self) -> None:
        try:
            with_task = pickle.dumps(self.task)
            self._processes += [Process() for _ in range(self.threads)]
        except Exception as problem:  # of a caller's own classes there can be any
            self.notes.append(f"the sweep went on in one process, since it cannot be sent to another one: {problem}")
        for process in self._processes:
            self._starters.submit(self._prepare, process, with_task)

    def _prepare(self, process: Process, with_task: bytes) -> None:
        """It is given out when it is ready."""
        try:
            process.prepare(with_task)
        except Ended as problem:
            if not self.stop.is_set():
                self.notes.append(f"a process of the sweep did not start ({problem}): a thread did its work")
        else:
            self._ready.put(process)
