"""Messages are nested tuples of numbers (and of words that are structure): taken apart into a list, and put together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..numbers import Number


def leaves(tree: Any) -> list[Number]:
    """The numbers of a nested tuple, from left to right."""
    if isinstance(tree, tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    return [] if isinstance(tree, str) else [tree]


def rebuild(tree: Any, numbers: Iterator[Any]) -> Any:
    """The same nested tuple with other numbers."""
    if isinstance(tree, tuple):
        parts = [rebuild(part, numbers) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return tree if isinstance(tree, str) else next(numbers)


def added(a: Any, b: Any) -> Any:
    """Sum of two messages of the same structure."""
    sums = [x + y for x, y in zip(leaves(a), leaves(b), strict=True)]
    return rebuild(a, iter(sums))
