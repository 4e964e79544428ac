"""Messages are nested tuples of numbers, and of strings that are structure: flattened into a list, and rebuilt.

Where derivatives are carried along, each number counts as 1 + ``tangents`` of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..numbers import Dual, Number

UNSEEN, VARIES = object(), object()  # of an entry of a message: not sent yet; not the same constant wherever it is sent


def leaves(tree: Any, tangents: int = 0) -> list[Number]:
    """The numbers of a nested tuple, from left to right."""
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part, tangents)]
    if isinstance(tree, str):
        return []
    return parts(tree, tangents) if tangents else [tree]


def rebuild(tree: Any, numbers: Iterator[Any], tangents: int = 0) -> Any:
    """A nested tuple of the structure of ``tree``, with other numbers."""
    if isinstance(tree, tuple):
        made = [rebuild(part, numbers, tangents) for part in tree]
        return type(tree)(*made) if hasattr(tree, "_fields") else tuple(made)
    if isinstance(tree, str):
        return tree
    return whole([next(numbers) for _ in range(1 + tangents)]) if tangents else next(numbers)


def parts(x: Number, tangents: int) -> list[Number]:
    """A number as its value and its tangents."""
    return [x.value, *x.tangents] if isinstance(x, Dual) else [x] + [0.0] * tangents


def whole(numbers: list[Number]) -> Number:
    """The number of a value and tangents; a plain one if the tangents are all zero by structure."""
    value, *tangents = numbers
    return value if all(isinstance(t, float) and t == 0 for t in tangents) else Dual(value, tangents)


def added(a: Any, b: Any) -> Any:
    """Sum of two messages of the same structure."""
    sums = [x + y for x, y in zip(leaves(a), leaves(b), strict=True)]
    return rebuild(a, iter(sums))
