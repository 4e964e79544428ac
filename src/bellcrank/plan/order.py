"""The order of the walk: depth first, so that the first child of a body comes right after it.

Then what passes between a body and its first child need not touch memory; only bodies with several children do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import ModelError


@dataclass(frozen=True)
class Tree:
    """``order[k]`` is the model's index of the k-th body of the walk; the rest is indexed by k."""

    order: tuple[int, ...]
    parent: tuple[int, ...]  # -1 = ground
    children: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]

    @property
    def n(self) -> int:
        return len(self.order)

    @cached_property
    def place(self) -> dict[int, int]:
        """For each body of the model its number in the walk; ground is -1 in both."""
        return {body: k for k, body in enumerate(self.order)} | {-1: -1}


def depth_first(parents: Sequence[int]) -> Tree:
    """Depth-first order of a forest given by each body's parent; parents may come later in the list."""
    kids: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for body, parent in enumerate(parents):
        kids[parent].append(body)  # ground is the last list
    order: list[int] = []
    todo = list(reversed(kids[-1]))
    while todo:
        body = todo.pop()
        order.append(body)
        todo.extend(reversed(kids[body]))
    if len(order) != len(parents):
        raise ModelError("some bodies are not connected to ground: their parents form a circle")
    place = {body: k for k, body in enumerate(order)} | {-1: -1}
    return Tree(
        order=tuple(order),
        parent=tuple(place[parents[body]] for body in order),
        children=tuple(tuple(place[child] for child in kids[body]) for body in order),
        roots=tuple(place[body] for body in kids[-1]),
    )
