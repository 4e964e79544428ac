"""Text for a terminal: names appear as they are written in a model, whatever characters they contain.

Control characters, with which a name could move the cursor, change colours or the title of the window, are replaced; brackets
are not markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from .characters import visible


class PlainConsole(Console):
    """A console of rich that takes texts literally."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        for segment in super().render(*arguments, **options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
