"""Fair timing of quick and slow contestants beside each other on a busy machine: processor time, taking turns.

The best of many windows by the clock on the wall is fair among windows that are shorter than what the machine grants at once.
A longer one is always interrupted, and looks slower by the machine's load; processor time leaves the interruptions out.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def once(call: Callable[[], object]) -> float:
    """Processor time of one call, s, of all threads."""
    began = time.process_time()
    call()
    return time.process_time() - began


def race(
    contestants: dict[str, Callable[[], object]], seconds: float = 3.0, calls: int = 3, least: int = 3
) -> dict[str, float]:
    """Shortest processor time of a call of each, in turns for so many seconds by the wall, each at least so often.

    A turn is several calls: the first finds in the cache what the contestant before it left there.
    """
    best = dict.fromkeys(contestants, float("inf"))
    for call in contestants.values():
        call()
    gc.disable()
    end, turns = time.perf_counter() + seconds, 0
    while turns < least or time.perf_counter() < end:
        for name, call in contestants.items():
            best[name] = min(best[name], *(once(call) for _ in range(calls)))
        turns += 1
    gc.enable()
    return best
