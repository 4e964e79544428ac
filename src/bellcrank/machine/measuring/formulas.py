"""Formulas over measures, numbers of a row, and tables, on any number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...model.parameters.expressions import derived
from ...numbers import Number
from ...numbers.grid import GridLookup, grid_gates, on_grid
from ...numbers.operations import OPERATIONS, kinks
from ...numbers.spline import gates, spline
from ..loads import pool_of

if TYPE_CHECKING:
    from .kinds import MeasureContext


class Formula:
    """The formula of a measure at a state."""

    def __init__(self, at: MeasureContext):
        self.at, self.program = at, derived(at.signature.expression)
        self.values = {name: self._named(name) for name in self.program.names}
        self.numbers = sum(name[0] == "p" for name in self.program.names)
        self.pool = pool_of(at.walk) if at.signature.tables else None

    def _named(self, name: str) -> Number:
        at, k = self.at, int(name[1:])
        if name[0] == "p":
            return at.number(k)
        return at.walk.array("measured")[at.walk.array("measure_arguments")[at.entry("first") + k]]

    def value(self) -> Number:
        return self.program.run(self.values, call=self._call)

    def kinks(self) -> list[Number]:
        """Numbers that change their sign where it is not smooth."""
        found: list[Number] = []

        def apply(operation: str, operands: list[Any]) -> Any:
            found.extend(kinks(operation, operands))
            return OPERATIONS[operation](*operands)

        def call(name: str, operands: list[Any]) -> Any:
            how, start, size = self._table(name)
            if isinstance(how, GridLookup):
                found.extend(grid_gates(self.pool, start, (size[0], size[1]), how, (operands[0], operands[1])))
            else:
                found.extend(gates(self.pool, start, size[0], how, operands[0]))
            return self._call(name, operands)

        self.program.run(self.values, apply, call)
        return found

    def _table(self, name: str) -> tuple[Any, Number, list[Number]]:
        """The lookup of a table, where it starts, and its size."""
        k, slot = int(name[1:]), self.numbers
        for before in self.at.signature.tables[:k]:
            slot += 3 if isinstance(before, GridLookup) else 2
        how = self.at.signature.tables[k]
        count = 2 if isinstance(how, GridLookup) else 1
        return how, self.at.number(slot), [self.at.number(slot + 1 + j) for j in range(count)]

    def _call(self, name: str, operands: list[Number]) -> Number:
        how, start, size = self._table(name)
        if isinstance(how, GridLookup):
            return on_grid(self.pool, start, (size[0], size[1]), how, (operands[0], operands[1]))
        return spline(self.pool, start, size[0], how, operands[0]).value
