"""What the algebra of sparse matrices takes, from the places of their entries alone.

A row is an integer whose bits are the columns in which it is not zero by structure. The functions follow spatial.small and
spatial.matrices, on patterns instead of numbers, and say how many additions and multiplications there would be.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

Rows = list[int]


def ones(count: int) -> int:
    """A row of so many columns without a zero."""
    return (1 << count) - 1


def columns_of(row: int) -> list[int]:
    found = []
    while row:
        lowest = row & -row
        found.append(lowest.bit_length() - 1)
        row ^= lowest
    return found


def transposed(rows: Sequence[int], columns: int) -> Rows:
    turned = [0] * columns
    for i, row in enumerate(rows):
        for j in columns_of(row):
            turned[j] |= 1 << i
    return turned


def reflected(v: int, x: int) -> tuple[int, int]:
    """(1 - v f v^T) x, and its operations: v.x f, then the multiple of v from x."""
    shared = (v & x).bit_count()
    return (x | v, 3 * shared + v.bit_count()) if shared else (x, 0)


class Solutions(NamedTuple):
    """Rows of [N k0], over as many columns as there are y, and one; rows of N that are a one and zeros; operations."""

    rows: Rows
    units: set[int]
    free: int
    operations: int


def null_space(G: Sequence[int], n: int) -> Solutions:
    """Of equations in n unknowns by Householder's reflections of G^T; those beyond the n-th are redundant."""
    left = list(G[:n])
    m, operations, reflections = len(left), 0, []
    if not m:
        return Solutions([1 << i for i in range(n)], set(range(n)), n, 0)
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
    touched = 0
    for v in reflections:
        touched |= v
    return Solutions(transposed(found, n), {i for i in range(n) if not touched >> i & 1}, n - m, operations)


def product(A: Sequence[int], B: Sequence[int], units: Collection[int] = ()) -> tuple[Rows, int]:
    """A B, and its operations; ``units``: rows of B that are a one and zeros."""
    found, operations = [], 0
    for a in A:
        row = terms = 0
        for j in columns_of(a):
            row |= B[j]
            count = B[j].bit_count()
            terms += count
            operations += 0 if j in units else count
        operations += terms - row.bit_count()
        found.append(row)
    return found, operations


def congruent(H: Sequence[int], F: Sequence[int], columns: int, units: Collection[int], fixed: int) -> tuple[Rows, int]:
    """F^T H F, H symmetric, and its operations; nobody needs what the last ``fixed`` columns give among themselves."""
    moving = columns - fixed
    HF, operations = product(H, [row & ones(moving) for row in F] if fixed else F, units)
    own, felt, plain = transposed(F, columns), transposed(HF, columns), sum(1 << i for i in units)
    found = [0] * columns
    for a in range(columns):
        for b in range(min(a + 1, moving)):
            both = own[a] & felt[b]
            if both:
                operations += 2 * both.bit_count() - 1 - (both & plain).bit_count()
                found[a] |= 1 << b
                found[b] |= 1 << a
    return found, operations


def factored(size: int, sides: int) -> int:
    """Operations of L D L^T of a full matrix, and of solving for so many right-hand sides."""
    return size * (size * size - 1) // 3 + 2 * size * size * sides
