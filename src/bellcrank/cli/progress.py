"""A bar on stderr for runs that take longer than one is patient for; nothing where stderr is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0  # seconds


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """A function to report the fraction done; the bar appears after a second and is wiped at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = console or Console(stderr=True)
    parts = (TextColumn("simulating"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*parts, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("simulating", total=1.0)
    began = time.perf_counter()

    def report(fraction: float) -> None:
        bar.update(task, completed=fraction)
        if not bar.live.is_started and time.perf_counter() - began > PATIENCE:
            bar.start()

    try:
        yield report
    finally:
        bar.stop()
