"""Machine code that takes long is run in pieces, between which an interrupt gets through."""

from __future__ import annotations

import signal
import sys
import threading
import time

import pytest

from bellcrank.kernels.threads import in_pieces


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("tasks", [1, 2])
def test_an_interrupt_gets_through_and_waits_for_threads_that_write(tasks, monkeypatch):
    """They would write into memory that is given back."""
    monkeypatch.setenv("BELLCRANK_THREADS", str(tasks))
    begun, ended, starts = threading.Barrier(tasks), [], {10**9 * k // tasks for k in range(tasks)}

    def task(pieces):
        for first, _ in pieces:
            if first in starts:
                begun.wait(timeout=60)
            if first == 0:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(1e-3)
        ended.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_pieces(task, 10**9, tasks, 1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(ended) == (0 if tasks == 1 else tasks)


def test_pieces_are_all_of_the_work_and_no_more():
    for count, tasks, piece in ((0, 1, 4), (1, 1, 4), (10, 3, 2), (10, 2, 100)):
        done = []
        in_pieces(done.extend, count, tasks, piece)
        assert sorted(x for first, last in done for x in range(first, last)) == list(range(count))
