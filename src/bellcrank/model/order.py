"""The order in which a tree is walked."""

from __future__ import annotations

from collections.abc import Sequence


def outward_order(parents: Sequence[int]) -> list[int]:
    """Rows so that every parent comes before its children, breadth first; rows that never reach -1 are left out."""
    children: list[list[int]] = [[] for _ in parents]
    order: list[int] = []
    for i, parent in enumerate(parents):
        (order if parent < 0 else children[parent]).append(i)
    for i in order:  # grows while it is walked
        order.extend(children[i])
    return order


def ancestors(parents: Sequence[int], row: int) -> list[int]:
    """A row (none for ground, -1), its parent, and so on to the base."""
    rows = []
    while row >= 0:
        rows.append(row)
        row = parents[row]
    return rows
