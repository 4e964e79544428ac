"""The orders in which other programs number the joints of a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def depth_first(parents: Sequence[int], key: Callable[[int], Any]) -> list[int]:
    """Rows of a tree, each followed by all that hangs on it; children by ``key``. -1 is the ground."""
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for i, parent in enumerate(parents):
        children[parent].append(i)
    order: list[int] = []
    waiting = sorted(children[-1], key=key, reverse=True)
    while waiting:
        order.append(waiting.pop())
        waiting.extend(sorted(children[order[-1]], key=key, reverse=True))
    return order


def as_listed(parents: Sequence[int]) -> list[int]:
    """MuJoCo's order: children as the file has them."""
    return depth_first(parents, lambda i: i)


def by_name(parents: Sequence[int], names: Sequence[str]) -> list[int]:
    """Pinocchio's order for a URDF: children by the names of their joints."""
    return depth_first(parents, lambda i: names[i].encode())
