"""What every part of the benchmark gives: rows with a ratio, checked before they are timed, and tables beside them."""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PEERS = {"pinocchio": "pin", "mujoco": "mujoco", "exudyn": "exudyn", "pydrake": "drake"}  # module: package on PyPI


@dataclass
class Row:
    """``ratio``: how many times as fast as the peer; ``agreement``: the largest difference of results, found before timing.

    A row whose results differ by more than ``within`` is an error. Loops that others close by soft constraints differ by more
    than rounding, and the row says by how much they may.
    """

    what: str
    ratio: float
    ours: float
    peer: str
    theirs: float
    unit: str
    agreement: float | None = None
    asked: float | None = None
    beside: dict[str, float] = field(default_factory=dict)
    within: float = 1e-6

    def __post_init__(self) -> None:
        if self.agreement is None or not self.agreement <= self.within:
            raise ValueError(f"{self.what}, beside {self.peer}: results differ by {self.agreement}, not within {self.within}")


@dataclass
class Part:
    """Rows that go into the one table, and tables of their own: title -> rows of cells."""

    name: str
    rows: list[Row]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def found(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def missing() -> list[str]:
    """Peers that are not installed, by their names on PyPI."""
    return [package for module, package in PEERS.items() if not found(module)]


def written(model: Any) -> Any:
    """The same from a file, so that its numbers have paths."""
    import bellcrank as bc

    if model.written is not None:
        return model
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.toml"
        bc.save(model, path)
        return bc.load(path)


def shown(x: Any) -> str:
    """Three digits, without an exponent where that is short."""
    if x is None:
        return ""
    if isinstance(x, str | int):
        return str(x)
    return f"{x:,.0f}" if 1000 <= abs(x) < 1e7 else f"{x:.3g}"


def cells(row: Row) -> dict[str, str]:
    """As the one table has it: ratios first."""
    return {
        "times as fast": shown(row.ratio),
        "asked": shown(row.asked),
        "what": row.what,
        "beside": row.peer,
        "Bellcrank": shown(row.ours),
        "the other": shown(row.theirs),
        "unit": row.unit,
        "results differ by": "" if row.agreement is None else f"{row.agreement:.0e}",
    }


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """A table of one's own."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*[shown(row.get(heading, "")) for heading in rows[0]])
    Console(width=160).print(table)


def alone(part: Callable[[bool], Part], about: str | None) -> None:
    """One part from the command line."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter windows")
    made = part(parser.parse_args().quick)
    show_rows(made)
    for title, rows in made.tables.items():
        show(title, rows)
    for name in missing():
        print(f"{name} is not installed: left out")


def show_rows(*parts: Part) -> None:
    from rich.console import Console
    from rich.table import Table

    rows = [cells(row) for part in parts for row in part.rows]
    if not rows:
        return
    table = Table()
    for name in rows[0]:
        table.add_column(name, justify="left" if name in ("what", "beside", "unit") else "right")
    for row in rows:
        table.add_row(*row.values())
    Console(width=170).print(table)
