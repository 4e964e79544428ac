"""How the work of a call grows with the size of its input, counted in calls of functions: no clock, the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def counted_calls(action: Callable[[], Any]) -> int:
    """How many functions, of Python and of C, are called while ``action`` runs."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def growth(action: Callable[[int], Any], size: int) -> float:
    """Calls for twice the size over those for the size: 2 where work grows with the size, 4 where it grows with its square."""
    action(2 * size)  # what is prepared once, by the first call, does not count
    return counted_calls(lambda: action(2 * size)) / counted_calls(lambda: action(size))
