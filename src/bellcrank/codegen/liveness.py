"""Which cells of memory anybody needs: of what one pass keeps for a later one, and of what nodes tell each other.

A formulation keeps whole vectors and inertias, whatever the mechanism; of a planar ladder's messages nobody needs the parts out
of plane. LLVM cannot see that, since the cells are written in one loop and read in another. So a kernel is written twice: lines
of the first text that store or load a cell carry its name; what feeds an output or a branch is alive, and a cell is alive if
something alive loads it. The second text leaves the other cells out.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

Cell = Hashable
NOBODY = frozenset[Cell]()

_NAMES = re.compile(r"%[\w.]+")


class Marked(str):
    """A line that stores or loads a cell."""

    __slots__ = ("cell",)
    cell: Cell


def marked(line: str, cell: Cell) -> Marked:
    new = Marked(line)
    new.cell = cell
    return new


def dead_cells(lines: Iterable[Any]) -> frozenset[Cell]:
    """Cells whose numbers reach nothing but other dead cells."""
    makes: dict[str, list[str]] = {}  # of a name: those that it is made of
    loads: dict[str, Cell] = {}
    stores: dict[Cell, list[str]] = {}
    alive: list[str] = []
    for line in lines:
        name, equals, rest = str(line).partition(" = ")
        used = _NAMES.findall(rest if equals else name)
        cell = getattr(line, "cell", None)
        if equals:
            makes[name] = used
            if cell is not None:
                loads[name] = cell
        elif cell is not None:
            stores.setdefault(cell, []).extend(used)
        else:
            alive += used
    return frozenset(stores) - _reached(alive, makes, loads, stores)


def _reached(
    waiting: list[str], makes: dict[str, list[str]], loads: dict[str, Cell], stores: dict[Cell, list[str]]
) -> set[Cell]:
    seen: set[str] = set()
    cells: set[Cell] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        waiting += makes.get(name, ())
        cell = loads.get(name)
        if cell is not None and cell not in cells:
            cells.add(cell)
            waiting += stores.get(cell, ())
    return cells
