"""A model built on variables: how all of its numbers follow from some parameters, recorded once.

The parameters are put into the spec as formulas, which expanding, resolving and building treat as they treat the user's own.
What comes out is a Model in whose arrays, joints, elements and closures stand variables wherever a parameter matters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ...numbers.variable import Tape
from ..building.build import model_fields
from ..building.resolve import resolve
from ..model import Model
from ..spec.assemblies import expand
from ..spec.fields import Replacing
from ..spec.problems import Problems
from ..spec.spec import ParameterSpec, Spec
from .expressions import derived
from .parameters import checked_paths, parameters_of, replaced


@dataclasses.dataclass(frozen=True)
class Recording:
    """The tape of a model's parameters, and the model over its variables."""

    names: tuple[str, ...]
    tape: Tape
    model: Model


def record(spec: Spec, names: Sequence[str]) -> Recording:
    """Raises ModelError for a name that is not a parameter, and says what to change instead."""
    checked_paths(spec, names)
    known = parameters_of(spec)
    tape = Tape([known[name] for name in names])
    prefix = _unused(spec)
    formulas = {name: derived(f"{prefix}{k}") for k, name in enumerate(names)}
    parameters: list[Any] = list(tape.parameters)
    own = tuple(ParameterSpec(f"{prefix}{k}", x) for k, x in enumerate(parameters))
    varied = replaced(spec, Replacing(formulas))
    problems = Problems()
    with_own = dataclasses.replace(varied, parameters=(*varied.parameters, *own))
    resolved = resolve(expand(with_own, problems), problems)
    model = over_numbers(model_fields(resolved, problems))
    values = {item.path: item.value for item in resolved.parameters}
    object.__setattr__(model, "parameters", {path: values.get(path, x) for path, x in known.items()})
    return Recording(tuple(names), tape, model)


def _unused(spec: Spec) -> str:
    """The beginning of names that nothing has."""
    prefix = "design_"
    while prefix in repr(spec):
        prefix += "_"
    return prefix


def over_numbers(fields: dict[str, Any]) -> Model:
    """A model that is not verified, since its numbers are not floats."""
    model: Model = object.__new__(Model)
    for name, value in fields.items():
        object.__setattr__(model, name, value)
    object.__setattr__(model, "has_variables", True)
    return model
