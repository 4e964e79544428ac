"""Integers of several nodes that are taken at once, one in each lane (machine.nodes.abreast)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Several:
    """Integers of several nodes, one in each lane."""

    __slots__ = ("each",)

    def __init__(self, each: Sequence[Any]):
        self.each = each

    def __str__(self) -> str:
        return ",".join(map(str, self.each))

    def __add__(self, other: Any) -> Several:
        return Several([x + other for x in self.each])

    __radd__ = __add__

    def __mul__(self, other: Any) -> Several:
        return Several([x * other for x in self.each])


def one_by_one(place: Any) -> list[Any]:
    """Places in an array that are those of several nodes; none if it is a single place."""
    if isinstance(place, Several):
        return list(place.each)
    return [(row, place[1]) for row in place[0].each] if isinstance(place, tuple) and isinstance(place[0], Several) else []


def first_of(i: Any) -> Any:
    """The first of several integers, or the integer itself where it is the same for all."""
    return i.each[0] if isinstance(i, Several) else i
