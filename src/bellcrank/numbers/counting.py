"""A graph that counts: additions, multiplications, divisions, functions, as in the papers' tables.

Subtractions count as additions and negations are free, as in those tables. Only what an output depends on is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .symbol import Condition, Graph, Number, Symbol

_COLUMN = {"fadd": "additions", "fsub": "additions", "fmul": "multiplications", "fdiv": "divisions"}
_FREE = ("input", "fneg")


class Operations(NamedTuple):
    """Counts; ``functions`` are sin-and-cos pairs, square roots and the like."""

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        """Additions and multiplications, which is what the papers add up."""
        return self.additions + self.multiplications

    def minus(self, other: Operations) -> Operations:
        return Operations(*[a - b for a, b in zip(self, other, strict=True)])


class CountingGraph(Graph):
    """Names every operation and keeps it, so that what nothing depends on can be left out of the count."""

    def record(self, kind: str, args: tuple[Number, ...]) -> str:
        return self.name()

    def input(self) -> Symbol:
        return Symbol(self, self.name())

    def inputs(self, n: int) -> list[Symbol]:
        return [self.input() for _ in range(n)]

    def count(self, outputs: Iterable[Number]) -> Operations:
        """The operations that compute the outputs, dead code left out."""
        counts = dict.fromkeys(Operations._fields, 0)
        seen: set[Any] = set()
        todo = [x for x in outputs if isinstance(x, Symbol)]
        while todo:
            x = todo.pop()
            if x.ref in seen:
                continue
            seen.add(x.ref)
            todo += [a for a in x.args if isinstance(a, Symbol)]
            if x.kind in _FREE or (x.kind in ("sin", "cos") and ("sincos", x.args[0]) in seen):
                continue
            if x.kind in ("sin", "cos"):
                seen.add(("sincos", x.args[0]))  # both come from one range reduction
            counts[_COLUMN.get(x.kind, "functions")] += 1
        return Operations(**counts)

    def compare(self, kind: str, *args: Number) -> Condition:
        raise TypeError("operation counts are for straight code: this recursion compares values")
