"""Fair timing on a noisy machine: contestants take turns, and the best of many short windows counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def race(contestants: dict[str, Callable[[], object]], seconds: float = 3.0, turns: int = 3) -> dict[str, float]:
    """Shortest time of a call of each, in seconds."""
    best = dict.fromkeys(contestants, float("inf"))
    for call in contestants.values():
        call()
    gc.disable()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, call in contestants.items():
            for _ in range(turns):
                began = time.perf_counter()
                call()
                best[name] = min(best[name], time.perf_counter() - began)
    gc.enable()
    return best


def once(call: Callable[[], object]) -> float:
    """Time of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
