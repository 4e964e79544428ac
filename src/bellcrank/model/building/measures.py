"""From the measures that the user wrote to those that are evaluated."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from ...numbers.variable import as_number
from ..measures.columns import Mechanics, columns_of
from ..measures.measure import COMPONENTS, WRENCH, Measure
from ..measures.paths import built_in, path_names
from ..measures.signals import called_tables
from ..parameters.tables import AnyTable
from ..spec import measures
from ..spec.problems import Problems
from ..spec.spec import Spec
from .references import ItemError, ModelRows, between, dof_of, make_all, on_body, on_joint, row_of, unit


@dataclass(frozen=True, eq=False)
class Named:
    """The names in a model that is being built."""

    joint_names: Any
    body_names: Any
    parents: Any
    joints: Any
    driven: Any
    turned: Any
    closures: Any
    elements: Any
    inputs: Any


def make_measures(
    spec: Spec, rows: ModelRows, named: Mechanics, tables: Mapping[str, AnyTable], problems: Problems
) -> tuple[Measure, ...]:
    ties = {item.name: len(rows.closing) + k for k, item in enumerate((*spec.constraints, *spec.couplers, *spec.gears))}
    sources = Sources({item.name for item in spec.elements}, ties)
    known = {item.name: item for item in spec.measures}
    plain = [item for item in spec.measures if not isinstance(item, measures.FormulaMeasure)]
    made = {measure.name: measure for measure in make_all(plain, partial(_measure, rows=rows, sources=sources), problems)}
    columns = {} if problems else {x.name: [name for name, _ in columns_of(named, x)] for x in made.values()}
    names = _Names(named, known, columns, {item.name: item.value for item in spec.parameters}, problems, tables)
    formulas = [item for item in spec.measures if isinstance(item, measures.FormulaMeasure)]
    made |= {measure.name: measure for measure in make_all(formulas, names.formula, problems)}
    _check_rings(known, problems)
    return tuple(made[item.name] for item in spec.measures if item.name in made)


class Sources(NamedTuple):
    """The items that have a force: force elements, and by their closures constraints, couplers, gears and belts."""

    elements: Collection[str]
    closures: Mapping[str, int]


def _force_measure(item: measures.ForceMeasure, rows: ModelRows, sources: Sources, component: int | str | None) -> Measure:
    name = item.element
    if name in rows.driven:
        dof = dof_of(name, item.coordinate, rows.kinds[name])
        return Measure(item.name, "drive", rows.joints.get(name, -1), dof, closure=rows.closing.get(name, -1), part="effort")
    if item.coordinate is not None:
        raise ItemError(f'"{name}" is not a driven joint: remove coordinate = "{item.coordinate}".', "coordinate")
    if name in sources.elements:
        return Measure(item.name, "element", element=name, component=component, part="force")
    if name in sources.closures:
        return Measure(item.name, "closure", closure=sources.closures[name], component=component)
    if name in rows.kinds:
        raise ItemError(f'joint "{name}" has no motion and so no drive. Write type = "reaction" for its reaction.', "element")
    hint = Problems().suggest(name, {*sources.elements, *sources.closures, *rows.driven})
    raise ItemError(f'it names "{name}", which is not a force element, constraint, coupler or driven joint.{hint}', "element")


def _measure(item: Any, rows: ModelRows, sources: Sources) -> Measure:
    component = getattr(item, "component", None)
    component = COMPONENTS.index(component) if component in COMPONENTS else component
    if isinstance(item, measures.DistanceMeasure):
        return Measure(item.name, "distance", **between(item, rows), part="rate" if item.rate else "")
    if isinstance(item, measures.CoordinateMeasure):
        return Measure(item.name, "coordinate", **on_joint(item, rows, acts=False), part="v" if item.rate else "q")
    if isinstance(item, measures.AngleMeasure):
        return _angle(item, rows)
    if isinstance(item, measures.ReactionMeasure):
        return _reaction(item, rows, sources)
    if isinstance(item, measures.ForceMeasure):
        return _force_measure(item, rows, sources, component)
    (a, point_a), (b, point_b) = on_body(item, rows), (-1, (0.0, 0.0, 0.0))
    if item.relative_to is not None:
        b, point_b = on_body(item.relative_to, rows, "relative_to")
    seen: dict[str, Any] = {
        key: row_of(getattr(item, key), rows, key) for key in ("axes", "observer") if getattr(item, key, None) is not None
    }
    seen |= {"body_a": a, "point_a": point_a, "body_b": b, "point_b": point_b}
    return Measure(item.name, item.type, **seen, component=component)


def _angle(item: measures.AngleMeasure, rows: ModelRows) -> Measure:
    a, b = row_of(item.start.body, rows, "from"), row_of(item.end.body, rows, "to")
    ends = unit(item.start.direction, "its direction", "from"), unit(item.end.direction, "its direction", "to")
    axis = None if item.axis is None else unit(item.axis, "its axis", "axis")
    for direction, key in zip(ends, ("from", "to"), strict=True):
        if axis is not None and abs(sum(x * y for x, y in zip(direction, axis, strict=True))) > 1 - 1e-12:
            raise ItemError("the direction is along the axis, about which it cannot turn. Choose another axis.", key)
    bodies = {"body_a": a, "body_b": b, "direction_a": ends[0], "direction_b": ends[1]}
    return Measure(item.name, "angle", **bodies, axis=axis, part="rate" if item.rate else "")  # type: ignore[arg-type]


def _reaction(item: measures.ReactionMeasure, rows: ModelRows, sources: Sources) -> Measure:
    if item.component not in (None, *WRENCH, "force", "moment"):
        raise ItemError(f'component is "{item.component}". Give one of {", ".join(WRENCH)}, force, moment.', "component")
    component = WRENCH.index(item.component) if item.component in WRENCH else item.component
    name, axes = item.joint, -1
    if name in rows.kinds:
        written = rows.written[name]
        if item.axes != "world":
            axes = row_of(written.parent if item.axes == "parent" else written.child, rows, "joint")
        row, closure = rows.joints.get(name, -1), rows.closing.get(name, -1)
        return Measure(item.name, "reaction", row, closure=closure, component=component, axes=axes)
    if name in sources.closures and item.axes == "world":
        return Measure(item.name, "reaction", closure=sources.closures[name], component=component)
    if name in sources.closures:
        raise ItemError(f'"{name}" is not a joint: its force is in the axes of the world. Remove axes.', "axes")
    hint = Problems().suggest(name, {*rows.kinds, *sources.closures})
    raise ItemError(f'it names "{name}", which is not a joint.{hint}', "joint")


class _Names(NamedTuple):
    """What formulas may name; ``columns`` of the measures that are not formulas, where all that was written could be made."""

    named: Mechanics
    known: Mapping[str, Any]
    columns: Mapping[str, list[str]]
    numbers: Mapping[str, Any]
    problems: Problems
    tables: Mapping[str, AnyTable]

    def formula(self, item: measures.FormulaMeasure) -> Measure:
        pairs = tuple((name, as_number(self.numbers[name])) for name in item.value.names if self._kind(name) == "number")
        tables = called_tables(item.value, self.tables, "value")
        return Measure(item.name, "expression", expression=item.value.text, values=pairs, unit=item.unit, tables=tables)

    def _kind(self, name: str) -> str:
        """A measure comes first, then a parameter, then a path."""
        owner = name if name in self.known else name.rpartition(".")[0]
        if owner in self.known:
            self._check_column(name, owner)
            return "measure"
        if name in self.numbers:
            return "number"
        if built_in(self.named, name) is not None or self.problems.blames(name.rpartition(".")[0]):
            return "path"
        near = difflib.get_close_matches(name, path_names(self.named), n=1)
        hint = Problems().suggest(name, {*self.known, *self.numbers, *near})
        raise ItemError(f'"{name}" is neither a measure nor a parameter.{hint}', "value")

    def _check_column(self, name: str, owner: str) -> None:
        """Checks that a formula takes one component of a vector."""
        columns = self.columns.get(owner, [name])
        if name not in columns:
            listed = columns[0] if len(columns) == 1 else f"{', '.join(columns[:-1])} or {columns[-1]}"
            what = "is a vector" if len(columns) > 1 else f"has no part of this name: {owner} is one number"
            raise ItemError(f'"{name}" {what}. Write {listed}.', "value")


def _check_rings(known: Mapping[str, Any], problems: Problems) -> None:
    """Formulas of measures must not depend on themselves."""
    formulas = {name: item for name, item in known.items() if isinstance(item, measures.FormulaMeasure)}
    needs = {
        name: {n if n in known else n.rpartition(".")[0] for n in item.value.names} & formulas.keys()
        for name, item in formulas.items()
    }
    order, done = TopologicalSorter(needs), set[str]()
    with suppress(CycleError):
        order.prepare()
    while ready := order.get_ready():
        order.done(*ready)
        done.update(ready)
    for name, item in formulas.items():
        if name not in done and not problems.blames(name):
            problems.add(f'measure "{name}" depends on itself. Change its formula.', item.where.at("value"), name)
