"""Studies from Python: the arguments of optimize and fit, as the same Study that a file gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ...errors import StudyError
from ...model import Model
from ...model.parameters.parameters import is_number
from ...model.spec.problems import Problems
from ...run import Event
from .checks import check_study
from .given import check_given
from .spec import CASES_OF, Case, Constraint, Cost, RunOptions, Search, Study, Watched
from .variations import Bounds, Distribution, Listed, Spaced, Variation

Over = Mapping[str, Any] | Sequence[str]


def made_study(
    model: str | Model,
    over: Over,
    *,
    minimize: str | None = None,
    subject_to: Mapping[str, Any] | None = None,
    outputs: Mapping[str, str] | None = None,
    duration: float | None = None,
    cases: Mapping[str, Any] | None = None,
    events: Iterable[Event] = (),
    search: Search | None = None,
    run: Mapping[str, Any] | None = None,
    **more: Any,
) -> Study:
    """A Study of these arguments, checked as a file is; raises StudyError with all of its problems."""
    if isinstance(over, str) or not isinstance(over, Mapping | Sequence):
        raise StudyError(f"over is {over!r}: give paths of parameters with their bounds, {{path: (min, max)}}.")
    for name, given in {"outputs": outputs, "cases": cases, "subject_to": subject_to}.items():
        if not isinstance(given, Mapping | None):
            raise StudyError(f"{name} is {given!r}. Give a mapping from names.")
    bounds = over if isinstance(over, Mapping) else dict.fromkeys(over)
    study = Study(
        model=model,
        parameters={path: _variation(path, given) for path, given in bounds.items()},
        name=more.pop("name", "study"),
        duration=duration,
        run=_made(RunOptions, "run options", dict(run or {})),
        events=dict(map(_watched, events)),
        cases=tuple(_case(name, given) for name, given in (cases or {}).items()) or (Case(),),
        outputs=dict(outputs or {}),
        cost=None if minimize is None else Cost(minimize),
        constraints={name: _constraint(name, given) for name, given in (subject_to or {}).items()},
        search=search or Search(),
        **more,
    )
    return checked(study)


def checked(study: Study) -> Study:
    """The study with its model loaded; raises StudyError with everything that is wrong with it."""
    problems = Problems("study", StudyError)
    check_given(study, problems)
    problems.raise_if_any()
    for path, variation in study.parameters.items():
        if reason := variation.wrong():
            problems.add(f'"{path}": {reason}.')
    model = check_study(study, problems)
    problems.raise_if_any()
    assert model is not None
    return replace(study, model=model)


def _made(cls: type[Any], what: str, given: Mapping[str, Any], **more: Any) -> Any:
    unknown = sorted(set(given) - {f.name for f in fields(cls)})
    if unknown:
        known = ", ".join(f.name for f in fields(cls))
        raise StudyError(f"{what}: there is no {', '.join(map(repr, unknown))}. Use {known}.")
    return cls(**given, **more)


def _variation(path: str, given: Any) -> Variation:
    """None, (min, max), (min, max, start), a mapping of min, max, start, scale, or what a file gives."""
    if isinstance(given, Bounds | Distribution | Listed | Spaced):
        return given
    if given is None:
        return Bounds()
    if isinstance(given, Mapping):
        made: Variation = _made(Bounds, f'bounds of "{path}"', {name: _number(x) for name, x in given.items()})
        return made
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) and len(given) in (2, 3):
        return Bounds(*map(_number, given))
    raise StudyError(f'the bounds of "{path}" are {given!r}: give (min, max), or {{"min": ..., "max": ..., "start": ...}}.')


def _constraint(name: str, given: Any) -> Constraint:
    """A number (equals), (min, max), or a mapping with min, max, equals; ``of`` is the name unless given."""
    if isinstance(given, Constraint):
        return given
    if isinstance(given, Mapping):
        own = {key: _number(x) for key, x in given.items()} | ({"cases": tuple(given["cases"])} if "cases" in given else {})
        made: Constraint = _made(Constraint, f'constraint "{name}"', {"of": name, **own})
        return made
    if is_number(given):
        return Constraint(name, equals=float(given))
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) and len(given) == 2:
        return Constraint(name, *map(_number, given))
    raise StudyError(f'constraint "{name}" is {given!r}: give a number, (min, max), or {{"of": ..., "max": ...}}.')


def _number(x: Any) -> Any:
    """What is not a number is complained of later; a limit without end is none."""
    if isinstance(x, float | np.floating) and np.isinf(x):
        return None
    return float(x) if is_number(x) else x


def _case(name: str, given: Any) -> Case:
    if isinstance(given, Case):
        return given
    if not isinstance(given, Mapping | None):
        raise StudyError(f'case "{name}" is {given!r}. Give a mapping: {{"set": {{path: value}}, "weight": 1.0}}.')
    own = {} if given is None else dict(given)
    if "values" in own:
        own["values"] = tuple(map(_number, own["values"]))
    if "hold" in own:
        own["hold"] = (own["hold"],) if isinstance(own["hold"], str) else tuple(own["hold"])
    made: Case = _made(Case, f'case "{name}"', own, name=name)
    if made.analysis not in CASES_OF:
        raise StudyError(f'case "{name}": there is no analysis {made.analysis!r}. Use one of {", ".join(CASES_OF)}.')
    return made


def _watched(event: Event) -> tuple[str, Watched]:
    if not isinstance(event.of, str) or event.name is None:
        raise StudyError("events of a study watch a measure, and have a name: bc.Event('tip.y', 0.0, name='landing').")
    return event.name, Watched(event.of, event.value, event.direction, event.then)
