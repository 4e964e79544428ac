"""Tables as text, for results that are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group


def listed(names: Sequence[str], most: int = 6) -> str:
    """'a', 'b' and 3 more."""
    shown = [repr(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Group:
    """A table below its title, which may be wider; ``right`` are the columns to set flush right."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    made = Table()
    for k, heading in enumerate(headings):
        made.add_column(heading, justify="right" if k in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*[Text(cell) for cell in row])
    return Group(Text(title, style="bold"), *([made] if rows else []))


def tidy(x: float) -> str:
    """A coordinate in nine digits; what rounding leaves of zero is zero."""
    return f"{x:.9g}" if abs(x) >= 1e-11 else "0"
