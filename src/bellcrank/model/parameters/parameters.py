"""Design parameters: every number that the user wrote, by path, and models with other numbers.

    parameters.L1        of [parameters]
    lower_arm.mass       a number of a body, joint, spring ...; of a vector or place by component: tip.x, elbow.point.z
    leg.thigh.mass       of an assembly, for all of its copies; left.parameters.L and left.offset.x of one copy
    initial.elbow.q.0    of the start
    gravity.z, duration  of the model

A number that a formula gives is not a parameter: those that the formula depends on are.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..building.resolve import Values, sources, sources_of
from ..spec.assemblies import expand
from ..spec.fields import Replacing, Scalar, map_fields, numbers_of
from ..spec.problems import Problems, names
from ..spec.spec import LISTS, CopySpec, PartsSpec, Spec
from .expressions import Formula


def numbers(spec: Spec) -> Iterator[tuple[str, Scalar]]:
    """Everything written as a number or a formula, by path."""
    for path, item in items(spec):
        yield from numbers_of(item, path)


def parameters_of(spec: Spec) -> dict[str, float]:
    """Numbers by path; a formula without names, such as ``=deg(30)``, is a number too."""
    plain = ((path, value) for path, value in numbers(spec) if not (isinstance(value, Formula) and value.names))
    return {path: value.evaluate({}) if isinstance(value, Formula) else float(value) for path, value in plain}


def changed(spec: Spec, changes: Mapping[str, float]) -> Spec:
    """The spec with other numbers; raises ModelError with every path that is none of a number."""
    problems = Problems()
    for path, value in changes.items():
        if not is_number(value):
            problems.add(f'"{path}" is to become {value!r}. Give a finite number.')
    checked_paths(spec, changes, problems)
    return replaced(spec, Replacing({path: float(value) for path, value in changes.items()}))


def is_number(value: Any) -> bool:
    """A finite one."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)


def checked_paths(spec: Spec, paths: Iterable[str], problems: Problems | None = None) -> None:
    """Raises ModelError with every path that is not a parameter, and what to change instead."""
    problems = Problems() if problems is None else problems
    written = dict(numbers(spec))
    for path in paths:
        if path not in written:
            problems.add(_unknown(spec, str(path), written, problems))
        elif isinstance(formula := written[path], Formula) and formula.names:
            problems.add(_by_formula(spec, path, formula))
    problems.raise_if_any()


def items(spec: Spec) -> Iterator[tuple[str, Any]]:
    """Everything that has numbers, with the beginning of their paths."""
    yield "", spec
    yield from ((item.path, item) for field in LISTS for item in getattr(spec, field))
    for assembly in spec.assemblies:
        yield from ((f"{assembly.name}.{item.path}", item) for field in LISTS for item in getattr(assembly, field))
    for copy in spec.copies:
        yield copy.name, copy
        yield from ((f"{copy.name}.{item.path}", item) for item in copy.parameters)


def replaced(spec: Spec, visit: Replacing) -> Spec:
    """The spec with what the visitor puts in place of numbers."""

    def lists(parts: PartsSpec, prefix: str) -> dict[str, Any]:
        return {
            field: tuple(map_fields(item, f"{prefix}{item.path}", visit) for item in getattr(parts, field)) for field in LISTS
        }

    def copied(copy: CopySpec) -> CopySpec:
        given = tuple(map_fields(item, f"{copy.name}.{item.path}", visit) for item in copy.parameters)
        return dataclasses.replace(map_fields(copy, copy.name, visit), parameters=given)

    top: Spec = map_fields(spec, "", visit)
    assemblies = tuple(dataclasses.replace(a, **lists(a, f"{a.name}.")) for a in spec.assemblies)
    return dataclasses.replace(top, **lists(spec, ""), assemblies=assemblies, copies=tuple(map(copied, spec.copies)))


def _unknown(spec: Spec, path: str, written: Mapping[str, Scalar], problems: Problems) -> str:
    values = Values(expand(spec, Problems()), Problems())
    slot = values.slot(path) if path else None
    if slot is None:
        text = f'"{path}" is not a number of this model.'
        bare = f"parameters.{path}"
        return f'{text} Did you mean "{bare}"?' if bare in written else f"{text}{problems.suggest(path, written)}"
    for copy in spec.copies:
        inside = f"{copy.of}{path[len(copy.name) :]}"
        if path.startswith(f"{copy.name}.") and inside in written:
            return f'"{path}" is a copy. Change "{inside}" for all copies, or let a parameter of the copy give it.'
    instead = sorted(sources_of(values, path) & written.keys())
    return f'"{path}" follows from other numbers. Change {names(instead) or "those"} instead.'


def _by_formula(spec: Spec, path: str, formula: Formula) -> str:
    reached = dict(sources(expand(spec, Problems()))).get(path, frozenset())
    instead = names(sorted(reached)) or "its formula"
    return f'"{path}" is given by the formula "{formula}". Change {instead} instead.'
