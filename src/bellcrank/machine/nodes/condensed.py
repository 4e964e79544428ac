"""Nodes of the clique tree of a block: their matrices, and what they send each other.

Matrices of a narrow node are lists of numbers and unrolled, those of a wide one are in memory, in machine code. What is sent is
packed, row by row; of a symmetric matrix a narrow node sends what is below the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Integer
from ...numbers import Number
from ...plan.nodes.signatures import NodeSignature
from ...spatial.matrices import Unrolled
from .in_memory import MatrixInMemory

if TYPE_CHECKING:
    from ..walk import Walk


class Packed:
    """A matrix as numbers of what nodes send each other, row by row."""

    def __init__(self, numbers: Any, start: Integer, rows: int, columns: int):
        self.numbers, self.start, self.rows, self.columns = numbers, start, rows, columns

    def __getitem__(self, place: tuple[int, int]) -> Number:
        return self.numbers[self.start + (place[0] * self.columns + place[1])]

    def __setitem__(self, place: tuple[int, int], x: Number) -> None:
        self.numbers[self.start + (place[0] * self.columns + place[1])] = x

    def column(self, j: int) -> list[Number]:
        return [self[i, j] for i in range(self.rows)]


class CondensedForms:
    """Matrices of a node, and its condensed form as its parent gets it."""

    walk: Walk
    signature: NodeSignature
    index: Integer
    in_memory: bool

    if TYPE_CHECKING:

        def _numbers(self, name: str, size: int, skipped: int = 0) -> list[Integer]: ...

    def zeros(self, rows: int, columns: int) -> Any:
        return self.walk.arena.take(rows, columns).cleared() if self.in_memory else Unrolled.zeros(rows, columns)

    def empty(self, rows: int, columns: int) -> Any:
        return self.walk.arena.take(rows, columns) if self.in_memory else Unrolled.zeros(rows, columns)

    def matrix(self, entries: Sequence[Sequence[Number]], columns: int) -> Any:
        if not self.in_memory:
            return Unrolled(entries, columns)
        matrix = self.walk.arena.take(len(entries), columns)
        matrix.fill(entries)
        return matrix

    def _child(self, k: int) -> Integer:
        return self._numbers("children", 1, k)[0]

    def _message(self, node: Integer, column: str, start: int, rows: int, columns: int) -> Any:
        """Part of what a node reports or is given, packed."""
        place, forms = self.walk.array("node_table")[node, column] + start, self.walk.array("forms")
        if not self.in_memory:
            return Packed(forms, place, rows, columns)
        self.walk.e.use("forms")
        return MatrixInMemory(self.walk.arena, forms.base, place, columns, rows, columns)

    def condensed_form(self, k: int, T: tuple[int, int], H: tuple[int, int]) -> tuple[Any, Any]:
        child = self._child(k)
        sent = self._message(child, "form", 0, *T), self._message(child, "form", T[0] * T[1], *H)
        if self.in_memory:
            whole = self.signature.forms[k].in_memory or H[0] != H[1]
            return sent[0], sent[1] if whole else sent[1].mirrored()
        form = Unrolled.zeros(*H)
        for i, j in _that_matter(*H, T[1] - 1):
            form[i, j] = sent[1][i, j]
            if H[0] == H[1]:
                form[j, i] = form[i, j]
        return Unrolled([[sent[0][i, j] for j in range(T[1])] for i in range(T[0])], T[1]), form

    def report_condensed_form(self, T: Any, H: Any) -> None:
        sent = (
            self._message(self.index, "form", 0, T.rows, T.columns),
            self._message(self.index, "form", T.rows * T.columns, H.rows, H.columns),
        )
        if self.in_memory:
            sent[0].put(0, 0, T)
            sent[1].put(0, 0, H)
            return
        for i in range(T.rows):
            for j in range(T.columns):
                sent[0][i, j] = T[i, j]
        for i, j in _that_matter(H.rows, H.columns, T.columns - 1):
            sent[1][i, j] = H[i, j]

    def send_unknowns(self, k: int, values: Any) -> None:
        sent = self._message(self._child(k), "given", 0, values.rows, 1)
        if self.in_memory:
            sent.put(0, 0, values)
            return
        for a in range(values.rows):
            sent[a, 0] = values[a, 0]

    def given_unknowns(self, size: int) -> Any:
        given = self._message(self.index, "given", 0, size, 1)
        return given if self.in_memory else Unrolled([[x] for x in given.column(0)], 1)


def _that_matter(rows: int, columns: int, one: int) -> list[tuple[int, int]]:
    """Entries of a matrix, of a symmetric one those below the diagonal but for that of a constant."""
    places = [(i, j) for i in range(rows) for j in range(columns)]
    return [(i, j) for i, j in places if rows != columns or (j <= i and not i == j == one)]
