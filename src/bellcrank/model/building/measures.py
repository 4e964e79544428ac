"""From the measures that the user wrote to those that the results evaluate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from ..measure import COMPONENTS, Measure
from ..parameters.expressions import Formula, FormulaError
from ..spec import measures
from ..spec.problems import Problems
from ..spec.spec import Spec
from .references import ModelRows, Trouble, between, dof_of, make_all, on_body, on_joint, row_of, unit


def make_measures(spec: Spec, rows: ModelRows, problems: Problems) -> tuple[Measure, ...]:
    ties = {item.name: len(rows.closing) + k for k, item in enumerate((*spec.constraints, *spec.couplers, *spec.gears))}
    sources = Sources({item.name for item in spec.elements}, ties)
    known = {item.name: item for item in spec.measures}
    numbers = {item.name: item.value for item in spec.parameters}
    made = make_all(spec.measures, partial(_measure, rows=rows, sources=sources, known=known, numbers=numbers), problems)
    _check_rings(known, problems)
    return made


class Sources(NamedTuple):
    """What has a force: force elements, and by their closures constraints, couplers, gears and belts."""

    elements: Collection[str]
    closures: Mapping[str, int]


def _force_measure(item: measures.ForceMeasure, rows: ModelRows, sources: Sources, component: int | None) -> Measure:
    name = item.element
    if name in rows.driven:
        dof = dof_of(name, item.coordinate, rows.kinds[name])
        return Measure(item.name, "drive", rows.joints.get(name, -1), dof, closure=rows.closing.get(name, -1))
    if item.coordinate is not None:
        raise Trouble(f'"{name}" is no driven joint: remove coordinate = "{item.coordinate}".', "coordinate")
    if name in sources.elements:
        return Measure(item.name, "element", element=name, component=component)
    if name in sources.closures:
        return Measure(item.name, "closure", closure=sources.closures[name], component=component)
    if name in rows.kinds:
        raise Trouble(f'joint "{name}" has no motion and so no drive: its reaction is in run.reactions.', "element")
    hint = Problems().suggest(name, {*sources.elements, *sources.closures, *rows.driven})
    raise Trouble(f'it names "{name}", which is no force element, constraint, coupler or driven joint.{hint}', "element")


def _measure(item: Any, rows: ModelRows, sources: Sources, known: Mapping[str, Any], numbers: Mapping[str, Any]) -> Measure:
    component = COMPONENTS.index(item.component) if getattr(item, "component", None) in COMPONENTS else None
    if isinstance(item, measures.PositionMeasure):
        body, point = on_body(item, rows)
        return Measure(item.name, "position", body_a=body, point_a=point, component=component)
    if isinstance(item, measures.DistanceMeasure):
        return Measure(item.name, "distance", **between(item, rows))
    if isinstance(item, measures.CoordinateMeasure):
        return Measure(item.name, "angle", **on_joint(item, rows, acts=False))
    if isinstance(item, measures.AngleMeasure):
        a, b = row_of(item.start.body, rows, "from"), row_of(item.end.body, rows, "to")
        ends = unit(item.start.direction), unit(item.end.direction)
        return Measure(item.name, "angle", body_a=a, body_b=b, direction_a=ends[0], direction_b=ends[1])
    if isinstance(item, measures.VelocityMeasure):
        (a, point_a), (b, point_b) = on_body(item, rows), (-1, (0.0, 0.0, 0.0))
        if item.relative_to is not None:
            b, point_b = on_body(item.relative_to, rows, "relative_to")
        return Measure(item.name, "velocity", body_a=a, body_b=b, point_a=point_a, point_b=point_b, component=component)
    if isinstance(item, measures.ForceMeasure):
        return _force_measure(item, rows, sources, component)
    assert isinstance(item, measures.FormulaMeasure)
    return Measure(item.name, "expression", expression=_expression(item.value, known, numbers))


def _expression(formula: Formula, known: Mapping[str, Any], numbers: Mapping[str, Any]) -> str:
    """The formula over measures; parameters are put in as numbers."""

    def put(name: str) -> str:
        if name in known or (name.rpartition(".")[0] in known and name.rpartition(".")[2] in COMPONENTS):
            return name
        if name in numbers:
            return f"({float(numbers[name])!r})"
        raise Trouble(f'"{name}" is neither a measure nor a parameter.{Problems().suggest(name, {*known, *numbers})}', "value")

    try:
        return formula.renamed(put).text
    except FormulaError as error:
        raise Trouble(str(error), "value") from None


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
