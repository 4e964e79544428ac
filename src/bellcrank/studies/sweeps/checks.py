"""What is wrong with a sweep before its first run: all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ...assembly.start import must_be_coordinate
from ...errors import StateError, StudyError
from ...extremes import is_finite_number
from ...model import Model
from ...model.spec.fields import Choice, Number, fields_of
from ...model.spec.problems import Problems
from ...run.arguments import must_be_known, must_be_positive, named_inputs
from ..study import Study
from ..study.spec import RunOptions
from ..study.variations import Bounds, Lognormal, Normal, Triangular, Variation
from .points import LEAST
from .store import OWN, PREFIX, STATES, stored_name

FIXED = ("duration", "step")  # numbers of a model that all runs of a sweep share
LONGEST = 200  # bytes of a name in a store, which is the name of a folder


def check_sweep(study: Study, model: Model, trajectories: bool) -> None:
    """Raises a StudyError with every problem of the parameters, cases, options and names of outputs."""
    problems = Problems("sweep", StudyError)
    for path, variation in study.parameters.items():
        for reason in _wrong_values(variation, float(model.parameters.get(path, np.nan))):
            problems.add(f'"{path}": {reason}.', study.where("parameters", path))
    for text in (
        *_wrong_cases(study),
        *_wrong_options(study.run),
        *_wrong_starts(study, model),
        *_wrong_names(study, trajectories),
    ):
        problems.add(text)
    problems.raise_if_any()


def _wrong_values(variation: Variation, own: float) -> Iterator[str]:
    if wrong := list(_no_numbers(variation)):
        yield from wrong
        return
    if reason := variation.wrong():
        yield reason
        return
    values = getattr(variation, "values", None)
    if values is not None and not len(values):
        yield "it has no values. List some"
    if isinstance(variation, Triangular) and variation.mode is None and not variation.min <= own <= variation.max:
        yield f"its most likely value, that of the model, is {own:g}, outside min and max. Give mode"
    if isinstance(variation, Lognormal) and not (own if variation.median is None else variation.median) > 0:
        whose = f", that of the model, is {own:g}, and" if variation.median is None else f" is {variation.median:g}, and"
        yield f"its median{whose} must be more than zero. Give median"
    if getattr(variation, "deviation", 1.0) <= 0:
        yield f"its deviation is {variation.deviation:g}. Give one above zero"  # type: ignore[union-attr]
    elif isinstance(variation, Normal) and not np.isfinite(variation.quantile(np.array([LEAST, 0.5]), own)).all():
        mean = own if variation.mean is None else variation.mean
        yield f"min and max are too many deviations of {variation.deviation:g} from its mean, {mean:g}. Move them nearer"


def _no_numbers(variation: Variation) -> Iterator[str]:
    """What is no finite number; limits of bounds may be infinite where nothing is chosen between them."""
    for field in fields(variation):  # type: ignore[arg-type]
        given = getattr(variation, field.name)
        several = isinstance(given, tuple | list | np.ndarray)
        for x in given if several else (given,):
            if x is None or is_finite_number(x) or (isinstance(variation, Bounds) and isinstance(x, float)):
                continue
            yield f"{'one of its values' if several else f'its {field.name}'} is {x!r}. Give a finite number"
            break


def _wrong_cases(study: Study) -> Iterator[str]:
    for path in (*study.parameters, *(path for case in study.cases for path in case.set)):
        if path in FIXED:
            yield f'"{path}" cannot vary: all runs of a sweep have the same. Leave it out, and sweep once for each.'
    for case in study.cases:
        if case.duration is not None:
            yield f'case "{case.name}" has a duration of its own: all runs of a sweep have the same. Leave it out.'


def _wrong_options(run: RunOptions) -> Iterator[str]:
    if reason := _refused(must_be_known, run.method or "auto"):
        yield reason
    for field in fields_of(RunOptions):
        value, kind = getattr(run, field.attribute), field.kind
        if value is None:
            continue
        if isinstance(kind, Number) and (reason := _refused(must_be_positive, **{field.attribute: value})):
            yield reason
        if isinstance(kind, Choice) and value not in kind.options:
            yield f"{field.attribute} is {value!r}: use one of {', '.join(kind.options)}."


def _wrong_starts(study: Study, model: Model) -> Iterator[str]:
    for table in (study.run, *study.cases):
        for what in ("inputs", "q", "v"):
            given = getattr(table, what)
            if not isinstance(given, Mapping):
                yield f"{what} of a sweep goes by name, {{name: number}}; it is {given!r}."
                continue
            for name, x in given.items():
                if not is_finite_number(x):
                    yield f"{what} of {name!r} must be a finite number, the same for all runs; it is {x!r}."
            if what == "inputs":
                if reason := _refused(named_inputs, model, given):
                    yield reason
            else:
                yield from filter(None, (_refused(must_be_coordinate, model, what, name) for name in given))
                yield from (
                    f'"{path}" has no effect where {what} names "{name}". Keep one.'
                    for path, name in _first_values(model, what)
                    if path in study.parameters and name in given
                )


def _first_values(model: Model, what: str) -> Iterator[tuple[str, str]]:
    """Parameters of the model's start, and the coordinates that they give."""
    names = iter(model.q_names if what == "q" else model.v_names)
    for joint, kind in model.moving_joints:
        for i in range(kind.nq if what == "q" else kind.nv):
            yield f"initial.{joint}.{what}.{i}", next(names)


def _refused(check: Callable[..., Any], *given: Any, **named: Any) -> str:
    try:
        check(*given, **named)
    except StateError as problem:
        return f"{problem}."
    return ""


def _wrong_names(study: Study, trajectories: bool) -> Iterator[str]:
    taken = {*OWN, *study.parameters, *(STATES if trajectories else ())}
    for name in study.outputs:
        if name in taken or name.startswith(PREFIX):
            yield f'an output has the name "{name}", which the store uses for something else. Choose another.'
        if "\0" in name:
            yield f"an output has the name {name!r}, which no file can have. Choose another."
        if len(stored_name(name).encode(errors="replace")) > LONGEST:
            yield f'the output "{name[:40]}..." has too long a name for a store. Name it: {{"name": "{name[:40]}..."}}.'
