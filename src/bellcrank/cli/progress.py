"""Progress bars on stderr for work that takes more than a second; none where stderr is not a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0  # seconds


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """A function to report the fraction done of a simulation."""
    with shown_bar("simulating", 1.0, console) as update:
        yield lambda fraction: update(completed=fraction)


@contextmanager
def shown_bar(description: str, total: float | None, console: Console | None = None) -> Iterator[Callable[..., None]]:
    """A function that updates the bar as rich does; the bar appears after a second and is wiped at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = console or Console(stderr=True)
    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*parts, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task(description, total=total)
    began = time.perf_counter()

    def update(**changes: Any) -> None:
        bar.update(task, **changes)
        if not bar.live.is_started and time.perf_counter() - began > PATIENCE:
            bar.start()

    try:
        yield update
    finally:
        bar.stop()
