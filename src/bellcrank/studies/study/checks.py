"""What is wrong with a study, looked at together with its model: all of it at once, with lines where it has a file."""

from __future__ import annotations

import numpy as np

from ...assembly.start import must_be_coordinate
from ...errors import BellcrankError, ModelError, StateError
from ...model import Model
from ...model.geometry.units import wrong_unit
from ...model.parameters.expressions import RESERVED
from ...model.parameters.parameters import checked_paths, is_number
from ...model.parameters.unit_table import units_of
from ...model.spec.problems import Problems
from ...model.spec.values import scalars
from ...run.arguments import must_be_known
from .outputs import check_outputs
from .spec import METHODS, Case, Study
from .variations import Bounds


def check_study(study: Study, problems: Problems) -> Model | None:
    """Notes every problem, and returns the model; None where that cannot be had."""
    model = _model(study, problems)
    _check_run(study, model, problems)
    _check_search(study, problems)
    check_outputs(study, model, problems)
    if not study.parameters:
        problems.add('the study has no parameters. List what may change in [parameters]: "path" = { min = ..., max = ... }.')
    if model is not None:
        _check_parameters(study, model, problems)
        _check_cases(study, model, problems)
    return model


def _check_search(study: Study, problems: Problems) -> None:
    """What a file cannot have wrong without a complaint, but an argument can; and numbers that must be whole."""
    search = study.search
    if search.method not in METHODS:
        hint = problems.suggest(str(search.method), METHODS)
        problems.add(f"there is no optimiser {search.method!r}.{hint} Use one of {', '.join(METHODS)}.")
    for name, least in (("starts", 1), ("seed", 0), ("iterations", 1)):
        x = getattr(search, name)
        if not is_number(x) or x != int(x) or x < least:
            problems.add(f"{name} is {_shown(x)}. Give a whole number, {least} or more.", study.where("optimize", name))
    if not is_number(search.tolerance) or not search.tolerance > 0:
        problems.add(f"the optimiser's tolerance is {_shown(search.tolerance)}. Give a number above zero.")


def _shown(x: object) -> str:
    return f"{x:g}" if isinstance(x, float) else repr(x)


def _model(study: Study, problems: Problems) -> Model | None:
    if isinstance(study.model, str) and not study.model:
        return None  # complained of
    try:
        return study.load_model()
    except BellcrankError as error:
        problems.add(str(error), study.where("model"))
        return None


def _check_run(study: Study, model: Model | None, problems: Problems) -> None:
    if study.run.method is not None:
        try:
            must_be_known(study.run.method)
        except StateError as error:
            problems.add(f"{error}.", study.where("run", "method"))
    if model is not None and study.duration is None and model.duration is None and study.runs:
        problems.add("neither the study nor its model has a duration. Give duration, in seconds.")
    for name in study.events:
        if not name.isidentifier() or name in RESERVED:
            problems.add(f'an event has the name "{name}". Use letters, digits and _.', study.where("events", name))
    if model is not None:
        _check_starts(study, model, problems)
    for table, names in [("run", study.run.inputs), *((f"cases.{case.name}", case.inputs) for case in study.cases)]:
        for name in names if model is not None else ():
            assert model is not None
            if name not in model.inputs:
                hint = problems.suggest(name, model.inputs)
                problems.add(f'there is no input "{name}" in [{table}].{hint}', study.where(*table.split("."), "inputs", name))


def _check_starts(study: Study, model: Model, problems: Problems) -> None:
    """Coordinates and velocities where runs start."""
    for table, given in [("run", study.run), *((f"cases.{case.name}", case) for case in study.cases)]:
        for what in ("q", "v"):
            for name in getattr(given, what):
                try:
                    must_be_coordinate(model, what, name)
                except StateError as error:
                    problems.add(f"[{table}]: {error}.", study.where(*table.split("."), what, name))


def _check_parameters(study: Study, model: Model, problems: Problems) -> None:
    if model.written is None:
        problems.add(f'"{model.name}" was made from arrays and has no parameters. Build it by a Mechanism, or a file.')
        return
    units, values = units_of(model.written.spec), model.parameters
    for path, variation in study.parameters.items():
        where = study.where("parameters", path)
        if not _is_parameter(model, path, where, problems):
            continue
        for number in scalars(tuple(vars(variation).values())) if units.get(path) else ():
            if number is not None and (reason := wrong_unit(number, units[path])):
                problems.add(f'"{path}": {reason}.', where)
        if isinstance(variation, Bounds) and variation.start is None and (reason := _outside(variation, values[path])):
            problems.add(f'"{path}" is {values[path]:g} in the model, {reason}. Give start, a value inside.', where)


def _outside(bounds: Bounds, value: float) -> str:
    if bounds.min is not None and value < bounds.min:
        return f"below its min, {bounds.min:g}"
    return f"above its max, {bounds.max:g}" if bounds.max is not None and value > bounds.max else ""


def _is_parameter(model: Model, path: str, where: object, problems: Problems) -> bool:
    assert model.written is not None
    try:
        checked_paths(model.written.spec, [path])
    except ModelError as error:
        problems.add(str(error), where)  # type: ignore[arg-type]
        return False
    return True


def _check_cases(study: Study, model: Model, problems: Problems) -> None:
    for case in study.cases:
        if case.analysis == "drive":
            _check_drive(study, model, case, problems)
        for path in case.set:
            where = study.where("cases", case.name, "set", path)
            if path in study.parameters:
                problems.add(f'case "{case.name}" sets "{path}", which is a parameter of the study. Keep one.', where)
            elif model.written is not None:
                _is_parameter(model, path, where, problems)


def _check_drive(study: Study, model: Model, case: Case, problems: Problems) -> None:
    where, known = study.where("cases", case.name), [*model.q_names, *model.closing_names, *model.joint_names]
    if case.coordinate is None:
        problems.add(f'case "{case.name}" is a drive without an input. Give coordinate = ..., one of the coordinates.', where)
    for name in [*([] if case.coordinate is None else [case.coordinate]), *case.hold]:
        if name not in known:
            problems.add(f'case "{case.name}": there is no coordinate "{name}".{problems.suggest(name, known)}', where)
    steps = np.diff(case.values)
    complained = not len(case.values) and study.where("cases", case.name, "values") != where
    if study.fit is None and not complained and not (len(case.values) and ((steps > 0).all() or (steps < 0).all())):
        said = "Give values that increase or decrease: values = { from = 0, to = 1, count = 11 }."
        problems.add(f'case "{case.name}" drives its input through {list(case.values)}. {said}', where)
