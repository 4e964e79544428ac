"""Values that formulas give during a run, and the tables that formulas call.

A formula of a force element becomes a measure of its own, ``gas.effort``, which the element reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...numbers.variable import as_number
from ..building.references import ItemError, make_all
from ..parameters.expressions import Formula, FormulaError, Live, unknown_function
from ..parameters.tables import AnyTable, Grid, Table
from ..spec.laws import TableSpec
from ..spec.problems import Problems
from ..spec.spec import Spec
from .columns import Mechanics, columns_of
from .measure import Measure
from .order import depends_on_state_alone
from .paths import built_in, path_names

TIMES = ("t", "time")


def make_tables(spec: Spec, problems: Problems) -> dict[str, AnyTable]:
    made = make_all(
        spec.tables,
        lambda item: (item.name, _table(item)),
        problems,
        lambda pair: ((text.replace("its table", "it"), "") for text in pair[1].problems()),
    )
    return dict(made)


def _table(item: TableSpec) -> AnyTable:
    grid = [key for key in ("x", "y", "values") if getattr(item, key) is not None]
    if (item.rows is None) == (len(grid) == 0):
        raise ItemError("give it rows, a file, or x, y and values: one of the three.")
    if item.rows is not None:
        x, y = (tuple(as_number(row[k]) for row in item.rows) for k in range(2))
        return Table(x, y, item.outside, item.interpolation or "pchip")
    if len(grid) < 3:
        raise ItemError(f"it has {' and '.join(grid)}. A table of two arguments has x, y and values.", grid[0])
    x, y = (tuple(map(as_number, given if isinstance(given, tuple) else (given,))) for given in (item.x, item.y))
    rows = tuple(tuple(map(as_number, row)) for row in item.values)
    return Grid(x, y, rows, item.outside, item.interpolation or "linear")


def called_tables(formula: Formula, tables: Mapping[str, AnyTable], key: str) -> tuple[tuple[str, AnyTable], ...]:
    """The tables that a formula calls, by name; raises ItemError."""
    for name, count in formula.calls:
        if name not in tables:
            try:
                unknown_function(name, tables)
            except FormulaError as error:
                raise ItemError(f'the formula "{formula}": {error}', key) from None
        wanted = tables[name].arguments
        if count != wanted:
            raise ItemError(f'the table "{name}" takes {wanted} value{"s" * (wanted > 1)}, not {count}.', key)
    return tuple((name, tables[name]) for name, _ in formula.calls)


class Names:
    """Names that formulas over a run may use: measures, numbers, paths that every model has, and tables."""

    def __init__(self, named: Mechanics, measures: Mapping[str, Measure], tables: Mapping[str, AnyTable]):
        self.named, self.tables = named, tables
        self.columns = {name for measure in measures.values() for name, _ in columns_of(named, measure)}
        self.vectors = {name: columns_of(named, measure) for name, measure in measures.items()}

    def measure(self, name: str, live: Live, key: str) -> Measure:
        """The measure that a formula is; raises ItemError."""
        numbers = dict(live.numbers)
        for used in live.formula.names:
            self._must_be_known(used, numbers, key)
        tables = called_tables(live.formula, self.tables, key)
        return Measure(name, "expression", expression=live.formula.text, values=live.numbers, tables=tables)

    def _must_be_known(self, name: str, numbers: Mapping[str, float], key: str) -> None:
        if name == "t" and name in numbers:
            raise ItemError('"t" is a parameter of this model. Write time for the time, or rename the parameter.', key)
        if name in numbers or name in self.columns or built_in(self.named, name) is not None:
            return
        if name in self.vectors:
            raise ItemError(f'"{name}" is a vector. Write {" or ".join(column for column, _ in self.vectors[name])}.', key)
        if name in self.tables:
            raise ItemError(f'"{name}" is a table. Give it its arguments: {name}(...).', key)
        hint = Problems().suggest(name, {*numbers, *self.columns, *path_names(self.named), *TIMES})
        raise ItemError(f'"{name}" is neither a measure, nor a coordinate, nor a parameter.{hint}', key)


def make_signals(
    written: Mapping[str, tuple[Any, str, Live]], names: Names, own: tuple[Measure, ...], problems: Problems
) -> tuple[Measure, ...]:
    """Measures of the formulas of elements; each must follow from the state, which forces do not change at once."""

    class One:
        def __init__(self, name: str) -> None:
            item, self.key, self.live = written[name]
            self.signal, self.name, self.section, self.where = name, item.name, item.section, item.where

    def make(one: One) -> Measure:
        made = names.measure(one.signal, one.live, one.key)
        if not depends_on_state_alone(names.named, (*own, made), made.name):
            whose = "the forces, which states change, determine" if one.section == "states" else "this force itself changes"
            raise ItemError(
                f'the formula "{one.live.formula}" needs what {whose}: an acceleration, a reaction, or '
                "another force. Let it depend on the time, inputs, positions, velocities and states: on a filtered value, or, "
                "for friction that grows with a joint's load, write [frictions] with a coefficient.",
                one.key,
            )
        return made

    return make_all([One(name) for name in written], make, problems, signs=False)
