"""Liveness of memory cells, of those that passes keep and those that nodes send: which are read, and for how long.

A formulation keeps whole vectors and inertias, whatever the mechanism; of a planar ladder's messages nobody needs the parts out
of plane. LLVM cannot see that, since the cells are written in one loop and read in another. So a kernel is recorded twice: what
feeds an output or a branch of the first graph is alive, and a cell is alive if something alive loads it. The second one leaves
the other cells out, and puts what a node keeps where it no longer needs something else. A walk over bodies has next to nothing
to gain, since its messages stay in registers, and is recorded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .graph import Cell, Region, flat

SENT = "sent"  # owner of what nodes send each other
PASS = "; a pass over all nodes"  # an operation before each


@dataclass(frozen=True)
class CellPlan:
    """Facts about cells that the first recording of a kernel gives to the second."""

    dead: frozenset[Cell] = frozenset()
    slots: dict[Cell, int] = field(default_factory=dict)  # places in the rows of nodes, and in those of what they tell
    sent: int = 1  # numbers that nodes send each other of a body
    patterns: Sequence[Any] = ()  # of each pass over nodes: what is the same constant wherever it is sent
    walks: Sequence[Any] = ()  # the same of each walk over bodies


def learned(region: Region, patterns: Sequence[Any] = (), walks: Sequence[Any] = (), wide: int = 0) -> CellPlan:
    """``wide``: numbers that a cell with tangents takes."""
    dead = _dead_cells(region)
    slots = _packed(_lifetimes(region, dead), wide)
    sent = max((slot + (wide if has_tangents(cell) else 1) for cell, slot in slots.items() if cell[0] == SENT), default=1)
    return CellPlan(dead, slots, sent, patterns, walks)


def tangent_cell(cell: Cell) -> Cell:
    """The cell of the tangents of a number: a vector, as its name says."""
    return cell[0], f"{cell[1]}'", cell[2]


def has_tangents(cell: Cell) -> bool:
    return cell[1].endswith("'")


def _dead_cells(region: Region) -> frozenset[Cell]:
    """Cells whose numbers reach nothing but other dead cells."""
    makes: dict[str, Sequence[str]] = {}  # of a name: those that it is made of
    loads: dict[str, Cell] = {}
    stores: dict[Cell, list[str]] = {}
    alive: list[str] = []
    for name, used, operation in flat(region):
        cell = None if operation is None else operation.cell
        if name is not None:
            makes[name] = used
            if cell is not None:
                loads[name] = cell
        elif cell is not None:
            stores.setdefault(cell, []).extend(used)
        else:
            alive += used
    return frozenset(stores) - _reached(alive, makes, loads, stores)


def _reached(
    waiting: list[str], makes: dict[str, Sequence[str]], loads: dict[str, Cell], stores: dict[Cell, list[str]]
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


def _lifetimes(region: Region, dead: frozenset[Cell]) -> dict[Cell, list[int]]:
    """When each living cell starts and ends: by operations of what a node keeps, since a node meets each of them once, in this
    order; by passes of what it sends to others."""
    found: dict[Cell, list[int]] = {}
    passes = 0
    for k, (_, _, operation) in enumerate(flat(region)):
        if operation is None:
            continue
        cell = operation.cell
        if operation.kind == PASS:
            passes += 1
        elif cell is not None and cell not in dead and cell[0][0] != "body":
            now = passes if cell[0] == SENT else k
            found.setdefault(cell, [now, now])[1] = now
    return found


def _packed(lifetimes: dict[Cell, list[int]], wide: int) -> dict[Cell, int]:
    """A slot for every cell; cells of one owner share a slot if one is done with before the other starts.

    Vectors of tangents, ``wide`` numbers each, come after the single numbers.
    """
    ends: dict[Any, list[int]] = {}  # of each owner: when each of its slots is needed last
    slots: dict[Cell, int] = {}
    for cell, (start, end) in lifetimes.items():  # in the order of their starts
        taken = ends.setdefault((cell[0], has_tangents(cell)), [])
        slot = next((k for k, last in enumerate(taken) if last < start), len(taken))
        taken[slot : slot + 1] = [end]
        slots[cell] = slot
    single = {owner: len(taken) for (owner, tangents), taken in ends.items() if not tangents}
    return {cell: single.get(cell[0], 0) + wide * slot if has_tangents(cell) else slot for cell, slot in slots.items()}
