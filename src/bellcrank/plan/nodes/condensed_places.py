"""Where nodes leave what they report to their parent.

Nodes are gone through from the last to the first, and those that hang on one come after it. What a node reports is no longer
needed when its parent is done: its place is used again, so that all stays small, and near at hand.
"""

from __future__ import annotations

from collections.abc import Sequence


def places_in_turn(nodes: Sequence[tuple[int, Sequence[int]]]) -> tuple[list[int], int]:
    """The place of each node's report, and the size of all; of each node: numbers of its report, nodes that hang on it."""
    places = [0] * len(nodes)
    taken: list[tuple[int, int, int]] = []  # first, last + 1, node; in order
    most = 0
    for i in reversed(range(len(nodes))):
        size, hanging = nodes[i]
        if size:
            places[i] = _first_gap(taken, size)
            taken = sorted([*taken, (places[i], places[i] + size, i)])
            most = max(most, places[i] + size)
        if hanging:
            taken = [entry for entry in taken if entry[2] not in hanging]
    return places, most


def _first_gap(taken: Sequence[tuple[int, int, int]], size: int) -> int:
    at = 0
    for first, end, _ in taken:
        if at + size <= first:
            break
        at = end
    return at
