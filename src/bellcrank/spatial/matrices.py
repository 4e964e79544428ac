"""Matrices as lists of numbers, unrolled: what is zero or one by structure costs nothing.

The operations that nodes of a taken-apart block need (formulations.loops.condensed). Machine code has the same on matrices in
memory, for nodes that are too wide to be unrolled (machine.nodes.in_memory).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..numbers import Number
from .small import Combination, factored, null_space, reflected, reflection, substituted


class Solutions(NamedTuple):
    """(w; 1; ..) = N (y; 1; ..) of rows W (w; 1) = 0: [N k0 0; 0 1 0; 0 0 1]. small.NullSpace says more."""

    N: Any
    pivot: Number
    directions: Any = None  # of each row, a column over (w; 1)
    pivots: Sequence[Number] = ()


class Unrolled:
    """A matrix of numbers. ``part`` copies; what is written with ``put`` and [i, j] stays."""

    def __init__(self, entries: Sequence[Sequence[Number]], columns: int):
        self.entries = [list(row) for row in entries]
        self.rows, self.columns = len(self.entries), columns

    @classmethod
    def zeros(cls, rows: int, columns: int) -> Unrolled:
        return cls([[0.0] * columns for _ in range(rows)], columns)

    def __getitem__(self, place: tuple[int, int]) -> Number:
        return self.entries[place[0]][place[1]]

    def __setitem__(self, place: tuple[int, int], x: Number) -> None:
        self.entries[place[0]][place[1]] = x

    def part(self, rows: range, columns: range) -> Unrolled:
        return Unrolled([[self.entries[i][j] for j in columns] for i in rows], len(columns))

    def put(self, i: int, j: int, block: Unrolled, *, negative: bool = False) -> None:
        for k, row in enumerate(block.entries):
            self.entries[i + k][j : j + block.columns] = [-x for x in row] if negative else row

    def column(self, j: int) -> list[Number]:
        return [row[j] for row in self.entries]

    def __matmul__(self, other: Unrolled) -> Unrolled:
        columns = [other.column(j) for j in range(other.columns)]
        return Unrolled([[_dot(row, column) for column in columns] for row in self.entries], other.columns)

    def minus_product(self, A: Unrolled, B: Unrolled) -> Unrolled:
        """self - A B."""
        pairs = zip(self.entries, (A @ B).entries, strict=True)
        return Unrolled([[a - b for a, b in zip(x, y, strict=True)] for x, y in pairs], self.columns)

    def transposed_times(self, other: Unrolled) -> Unrolled:
        """self^T other."""
        mine = Unrolled([self.column(j) for j in range(self.columns)], self.rows)
        return mine @ other

    def congruent(self, F: Unrolled) -> Unrolled:
        """F^T self F, self symmetric."""
        HF, result = self @ F, Unrolled.zeros(F.columns, F.columns)
        columns, felt = ([M.column(a) for a in range(F.columns)] for M in (F, HF))
        for a in range(F.columns):
            for b in range(a + 1):
                result[a, b] = result[b, a] = _dot(columns[a], felt[b])
        return result

    def plus_congruent(self, H: Unrolled, F: Unrolled) -> Unrolled:
        """self + F^T H F, both symmetric."""
        more = H.congruent(F)
        for a in range(self.rows):
            for b in range(a + 1):
                more[a, b] = more[b, a] = self[a, b] + more[a, b]
        return more

    def solutions(self, tail: int = 1, *, directions: bool = False, least: Number | None = None) -> Solutions:
        """Solutions of self (w; 1) = 0, whose rows are independent; ``tail``: size of (1; ..)."""
        size, G = self.columns - 1, [row[:-1] for row in self.entries]
        found = null_space(G, [-row[-1] for row in self.entries], size, directions=directions, least=least)
        y = len(found.N)
        N = Unrolled.zeros(size + tail, y + tail)
        for i, k0 in enumerate(found.k0):
            N.entries[i][: y + 1] = [*(N_a[i] for N_a in found.N), k0]
        for k in range(tail):
            N[size + k, y + k] = 1.0
        ways = [[x[i] for x in found.directions] for i in range(size)]
        return Solutions(N, found.pivot, Unrolled([*ways, [0.0] * len(found.directions)], len(found.directions)), found.pivots)

    def turned_from(self, x: Unrolled) -> Unrolled:
        """self Q with x Q = [0, L]: of as many columns as x has, those that do not move x come first; x has fewer rows."""
        moved, mine, y = [list(row) for row in x.entries], [row[: x.columns] for row in self.entries], x.columns
        for i in range(x.rows):
            v, factor = reflection(moved[i][i:])
            for row in (*moved, *mine):
                row[i:] = reflected(v, factor, row[i:])
        new = [[*row[x.rows :], *row[: x.rows], *old[y:]] for row, old in zip(mine, self.entries, strict=True)]
        return Unrolled(new, self.columns)

    def eliminated(self, count: int) -> tuple[Unrolled, Unrolled]:
        """K and S: the form self is least in z, its first ``count`` unknowns, with z = -K y, and S is what it is then in y."""
        zz, rest = range(count), range(count, self.columns)
        factors = factored([self.entries[a][: a + 1] for a in zz])
        columns = [substituted(factors, [self.entries[a][b] for a in zz]) for b in rest]
        K = Unrolled([[column[z] for column in columns] for z in zz], len(rest))
        S = self.part(rest, rest)
        for a in range(len(rest)):
            for b in range(a + 1):
                S[a, b] = S[b, a] = S[a, b] - _dot([self.entries[z][count + b] for z in zz], columns[a])
        return K, S

    def combination(self, x: Unrolled) -> list[Number]:
        """c with self^T c = x, rows independent: of an x outside their span, the nearest inside."""
        return Combination(self.entries).of(x.column(0)) if self.rows else []


def _dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    result: Number = 0.0
    for x, y in zip(a, b, strict=True):
        result = result + x * y
    return result
