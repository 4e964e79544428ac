"""Tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def listed(names: Sequence[str], most: int = 6) -> str:
    """'a', 'b' and 3 more."""
    shown = [repr(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Table:
    """``right`` are the columns to set flush right."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title), title_justify="left", title_style="bold")
    for k, heading in enumerate(headings):
        made.add_column(heading, justify="right" if k in right else "left")
    for row in rows:
        made.add_row(*[Text(cell) for cell in row])
    return made
