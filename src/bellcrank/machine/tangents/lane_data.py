"""Designs in lanes: where the numbers of a design go in the data of which every lane has its own.

A design comes as a row: all entries of the plan's recorded arrays that depend on its parameters, array by array. Entry k of the
row goes to all places (array, entry) that read it: the array itself, and what nodes have of the same bodies and closures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numbers.variable import varied
from ...plan import Plan
from ...plan.closures import CLOSURE_ROW
from ...plan.signature import OWN
from ..arrays import ARRAYS, VARIABLE

Numbers = NDArray[np.float64]
Entries = tuple[NDArray[np.int64], NDArray[np.int64]]
Places = dict[str, Entries]
"""Of each array: entries that a design changes, and where they stand in its row."""
Copy = tuple[int, int, Sequence[int]]  # row of the copy, row of its source, and columns


class LaneDesigns(NamedTuple):
    """Rows of designs (count, entries), of which each holds for ``every`` states, one after the other."""

    rows: Numbers
    every: int = 1


def lane_places(plan: Plan) -> Places:
    found: Places = {}
    start = 0
    for name, array in plan.recorded.items():
        entries = np.flatnonzero(varied(array).ravel())
        if name in VARIABLE:
            found[name] = entries, start + np.arange(len(entries))
        start += len(entries)
    return found | dict(_of_nodes(plan, found))


def _of_nodes(plan: Plan, found: Places) -> Iterator[tuple[str, Entries]]:
    """Copies that nodes have: of bodies the columns OWN, of closures what is not the node's alone."""
    if plan.nodes is None:
        return
    if "data" in found:
        bodies: list[Copy] = [(row, int(body), range(OWN)) for row, body in enumerate(plan.nodes.body_sources)]
        yield "node_body_data", _copied("data", OWN, bodies, found)
    if "closure_data" in found and plan.loads.closing.closures:
        closing = plan.loads.closing
        slots = [list(closing.signatures[code].varied) for code in closing.table[:, 0]]
        closures: list[Copy] = [(row, int(k), slots[k]) for row, k in enumerate(plan.nodes.closure_sources)]
        yield "node_closure_data", _copied("closure_data", CLOSURE_ROW, closures, found)


def _copied(of: str, width: int, rows: Sequence[Copy], found: Places) -> Entries:
    """Entries of rows of ``width`` that are copied from an array."""
    columns = ARRAYS[of].width
    assert isinstance(columns, int)
    by_row: dict[int, list[tuple[int, int]]] = {}
    for entry, source in zip(*(x.tolist() for x in found[of]), strict=True):
        by_row.setdefault(entry // columns, []).append((entry % columns, source))
    pairs = [
        (row * width + column, source)
        for row, origin, taken in rows
        for column, source in by_row.get(origin, ())
        if column in taken
    ]
    copies = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return copies[:, 0], copies[:, 1]
