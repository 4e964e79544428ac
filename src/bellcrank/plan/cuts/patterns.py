"""Operation counts of sparse matrix algebra, from the places of the entries alone.

A row is an integer whose bits are the columns in which it is not zero by structure. The functions follow spatial.small, on
patterns instead of numbers, and say how many additions and multiplications there would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Rows = list[int]


def ones(count: int) -> int:
    """A row of so many columns without a zero."""
    return (1 << count) - 1


def transposed(rows: Sequence[int], columns: int) -> Rows:
    turned = [0] * columns
    for i, row in enumerate(rows):
        for j in range(row.bit_length()):
            turned[j] |= (row >> j & 1) << i
    return turned


def reflected(v: int, x: int) -> tuple[int, int]:
    """(1 - v f v^T) x, and its operations: v.x f, then the multiple of v from x."""
    shared = (v & x).bit_count()
    return (x | v, 3 * shared + v.bit_count()) if shared else (x, 0)


class Solutions(NamedTuple):
    """Rows of [N k0], over as many columns as there are ``free`` unknowns, and one; operations."""

    rows: Rows
    free: int
    operations: int


def null_space(G: Sequence[int], n: int) -> Solutions:
    """Operations for a null space by Householder's reflections of G^T; equations beyond the n unknowns are redundant."""
    left = list(G[:n])
    m, operations, reflections = len(left), 0, []
    for i in range(m):
        operations += 2 * (left[i] >> i).bit_count() + 2
        v = left[i] >> i << i | 1 << i
        reflections.append(v)
        for r in range(i + 1, m):
            left[r], more = reflected(v, left[r])
            operations += more
    operations += sum(2 * (row & ones(r)).bit_count() + 3 for r, row in enumerate(left))  # R^T z = gamma
    found = []
    for x in (*(1 << j for j in range(m, n)), ones(m)):
        for v in reversed(reflections):
            x, more = reflected(v, x)
            operations += more
        found.append(x)
    return Solutions(transposed(found, n), n - m, operations)


def factored(size: int, sides: int) -> int:
    """Operations of L D L^T of a full matrix, and of solving for so many right-hand sides."""
    return size * (size * size - 1) // 3 + 2 * size * size * sides
