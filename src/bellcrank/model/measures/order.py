"""Which measures have to be found for some that are wanted, and in which order: those that a formula names come before it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import StateError
from ...numbers.operations import count_kinks
from ...numbers.variable import as_number
from ..parameters.expressions import Formula, FormulaError, derived
from ..parameters.tables import Table
from .columns import Mechanics, columns_of
from .measure import Measure
from .paths import built_in, path_names

AT_A_STATE = ("position", "velocity", "turning", "distance", "angle", "time", "input")


@dataclass(frozen=True)
class Ordered:
    """Measures, each after those that it names; their columns by name, and the number of all of these."""

    measures: tuple[Measure, ...]
    first: dict[str, int]  # of each measure, its first column
    columns: dict[str, int]  # where each name stands: columns of measures, and paths
    size: int
    units: dict[str, str]


class Finder:
    """The measures of a model by name, and what each is made of."""

    def __init__(self, model: Mechanics, own: Sequence[Measure]):
        self.model, self.own = model, own
        self.owner = {name: measure for measure in own for name, _ in columns_of(model, measure)}
        self.measures: dict[str, Measure] = {}
        self.state: dict[str, bool] = {}  # of each, whether it follows from q, v, the time and inputs alone

    def measure(self, name: str) -> Measure:
        """The one that has a column of this name, or the path."""
        if name.startswith("="):
            return self._formula(name)
        found = self.owner.get(name) or built_in(self.model, name)
        if found is None:
            raise StateError(self._unknown(name, ""))
        return found

    def _formula(self, text: str) -> Measure:
        """A formula over measures, paths and parameters, in the place of a name."""
        try:
            names = Formula(text[1:]).names
        except FormulaError as error:
            raise StateError(f"the formula {text!r}: {error}") from None
        parameters = getattr(self.model, "parameters", {})
        numbers = [name for name in names if name not in self.owner and f"parameters.{name}" in parameters]
        values = tuple((name, as_number(parameters[f"parameters.{name}"])) for name in numbers)
        return Measure(text, "expression", expression=text[1:], values=values)

    def _unknown(self, name: str, user: str) -> str:
        vectors = [column for measure in self.own if measure.name == name for column, _ in columns_of(self.model, measure)]
        begin = f'measure "{user}" uses "{name}", which' if user else f'"{name}"'
        if vectors:
            return f"{begin} is a vector: write {', '.join(vectors[:-1])} or {vectors[-1]}"
        paths = path_names(self.model)
        parts = [path for path in paths if path.rpartition(".")[0] == name]
        if parts:
            return f"{begin} has several values: write {', '.join(parts[:-1][:5])} or {parts[-1]}"
        joint, _, part = name.rpartition(".")
        if part in ("effort", "power") and f"{joint}.force" in paths:
            return f"{begin} is not a measure: {joint!r} has no prescribed motion, and so no drive whose {part} can be measured"
        listed = [*self.owner]
        near = difflib.get_close_matches(name, [*listed, *paths], n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(listed)}" if listed else "the model has none"
        return f"{begin} is not a measure; {hint}"

    def add(self, measure: Measure, users: tuple[str, ...] = ()) -> bool:
        """Note a measure after those that it needs; whether it follows from the state alone."""
        if measure.name in self.measures:
            return self.state[measure.name]
        if measure.name in users:
            ring = users[users.index(measure.name) :]
            raise StateError(f"measures {', '.join(ring)} depend on each other in a ring: change one of their expressions")
        needs = [self.needed(name, measure.name) for name in arguments(measure)]
        state = [self.add(one, (*users, measure.name)) for one in needs]
        self.measures[measure.name] = measure
        self.state[measure.name] = all(state) if measure.kind == "expression" else follows_from_state(measure)
        return self.state[measure.name]

    def needed(self, name: str, user: str) -> Measure:
        try:
            return self.measure(name)
        except StateError:
            raise StateError(self._unknown(name, user)) from None


def follows_from_state(measure: Measure) -> bool:
    """Whether q, v, the time and inputs alone say what it is, so that a force may depend on it."""
    return measure.kind in AT_A_STATE or (measure.kind == "coordinate" and measure.part != "a")


def arguments(measure: Measure) -> list[str]:
    """Names of the measures that a formula is over."""
    if measure.kind != "expression":
        return []
    given = dict(measure.values)
    return [name for name in derived(measure.expression).names if name not in given]


def kinks_of(measure: Measure) -> int:
    """Numbers that change their sign where a formula may not be smooth: of comparisons and the like, and of tables."""
    if measure.kind != "expression":
        return 0
    tables, steps = dict(measure.tables), derived(measure.expression).program
    called = [tables[step.name] for step in steps if step.operation == "call"]
    gates = sum(table.lookup.gates if isinstance(table, Table) else sum(table.lookup.gates) for table in called)
    return gates + sum(count_kinks(step.operation, step.operands) for step in steps)


def ordered(model: Mechanics, own: Sequence[Measure], names: Sequence[str]) -> Ordered:
    """Everything that has to be found for the named columns and paths, in order."""
    finder = Finder(model, own)
    wanted = {name: finder.measure(name) for name in names}
    for measure in wanted.values():
        finder.add(measure)
    first: dict[str, int] = {}
    columns: dict[str, int] = {}
    units: dict[str, str] = {}
    size = 0
    for measure in finder.measures.values():
        first[measure.name] = size
        for name, unit in columns_of(model, measure):
            columns[name], units[name] = size, unit
            size += 1
    return Ordered(tuple(finder.measures.values()), first, columns, size, units)


def depends_on_state_alone(model: Mechanics, own: Sequence[Measure], name: str) -> bool:
    """Whether a force may depend on the measure of this name."""
    finder = Finder(model, own)
    return finder.add(finder.measure(name))
