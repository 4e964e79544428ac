"""Nodes of a block that is taken apart, in machine code: their matrices, and what they tell each other.

Matrices of a narrow node are lists of numbers and unrolled, those of a wide one are in memory. What is told is packed, row by
row; of a symmetric matrix a narrow node tells what is below the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...numbers import Number
from ...plan.nodes import NODE_TABLE, NodeSignature
from ...spatial.matrices import Unrolled
from ..loads import ints_of
from .in_memory import Stored

if TYPE_CHECKING:
    from ..walk import TracedWalk


class TracedImages:
    """The half of TracedNode that is about matrices."""

    walk: TracedWalk
    signature: NodeSignature
    index: str
    wide: bool

    if TYPE_CHECKING:

        def _numbers(self, name: str, size: int, skipped: int = 0) -> list[str]: ...

    def zeros(self, rows: int, columns: int) -> Any:
        return self.walk.room.take(rows, columns).cleared() if self.wide else Unrolled.zeros(rows, columns)

    def room(self, rows: int, columns: int) -> Any:
        return self.walk.room.take(rows, columns) if self.wide else Unrolled.zeros(rows, columns)

    def matrix(self, entries: Sequence[Sequence[Number]], columns: int) -> Any:
        if not self.wide:
            return Unrolled(entries, columns)
        matrix = self.walk.room.take(len(entries), columns)
        matrix.fill(entries)
        return matrix

    def _child(self, k: int) -> str:
        return self._numbers("children", 1, k)[0]

    def _message(self, node: str, column: str, start: int, rows: int, columns: int) -> Stored:
        """Part of what a node reports or is given, packed."""
        place = ints_of(self.walk.e, "%node_table", node, NODE_TABLE)(column)
        return Stored(self.walk.room, "%images", self.walk.e.integer("add", place, start), columns, rows, columns)

    def image(self, k: int, T: tuple[int, int], H: tuple[int, int]) -> tuple[Any, Any]:
        child = self._child(k)
        told = self._message(child, "image", 0, *T), self._message(child, "image", T[0] * T[1], *H)
        if self.wide:
            whole = self.signature.images[k].wide or H[0] != H[1]
            return told[0], told[1] if whole else told[1].mirrored()
        form = Unrolled.zeros(*H)
        for i, j in _that_matter(*H, T[1] - 1):
            form[i, j] = told[1][i, j]
            if H[0] == H[1]:
                form[j, i] = form[i, j]
        return Unrolled([[told[0][i, j] for j in range(T[1])] for i in range(T[0])], T[1]), form

    def report_image(self, T: Any, H: Any) -> None:
        told = (
            self._message(self.index, "image", 0, T.rows, T.columns),
            self._message(self.index, "image", T.rows * T.columns, H.rows, H.columns),
        )
        if self.wide:
            told[0].put(0, 0, T)
            told[1].put(0, 0, H)
            return
        for i in range(T.rows):
            for j in range(T.columns):
                told[0][i, j] = T[i, j]
        for i, j in _that_matter(H.rows, H.columns, T.columns - 1):
            told[1][i, j] = H[i, j]

    def send_unknowns(self, k: int, values: Any) -> None:
        sent = self._message(self._child(k), "given", 0, values.rows, 1)
        if self.wide:
            sent.put(0, 0, values)
            return
        for a in range(values.rows):
            sent[a, 0] = values[a, 0]

    def given_unknowns(self, size: int) -> Any:
        given = self._message(self.index, "given", 0, size, 1)
        return given if self.wide else Unrolled([[x] for x in given.column(0)], 1)


def _that_matter(rows: int, columns: int, one: int) -> list[tuple[int, int]]:
    """Entries of a matrix, of a symmetric one those below the diagonal but for that of a constant."""
    places = [(i, j) for i in range(rows) for j in range(columns)]
    return [(i, j) for i, j in places if rows != columns or (j <= i and not i == j == one)]
