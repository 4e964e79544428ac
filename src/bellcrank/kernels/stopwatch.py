"""Time spent on planning and compiling, or on loading what was compiled before; reported apart from the time of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Spent(threading.local):
    """Seconds that this thread has spent compiling so far, and how many parts of that are inside each other just now."""

    seconds, depth = 0.0, 0


_spent = _Spent()


@contextmanager
def compiling() -> Iterator[None]:
    """Counts the time inside as compiling; parts inside parts count once."""
    began = time.perf_counter()
    _spent.depth += 1
    try:
        yield
    finally:
        _spent.depth -= 1
        if _spent.depth == 0:
            _spent.seconds += time.perf_counter() - began


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._began, self._compiled = time.perf_counter(), _spent.seconds

    def times(self) -> dict[str, float]:
        """The times as the settings of a run have them: ``wall_time`` is without compiling."""
        compiled = _spent.seconds - self._compiled
        return {"compile_time": compiled, "wall_time": time.perf_counter() - self._began - compiled}
