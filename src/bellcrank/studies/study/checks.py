"""What is wrong with a study, looked at together with its model: all of it at once, with lines where it has a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ...errors import BellcrankError, ModelError, StateError
from ...model import Model
from ...model.geometry.units import wrong_unit
from ...model.measures.paths import built_in, path_names
from ...model.parameters.expressions import RESERVED, Formula, FormulaError
from ...model.parameters.parameters import checked_paths
from ...model.parameters.unit_table import units_of
from ...model.spec.problems import Problems
from ...model.spec.values import scalars
from ...run.arguments import must_be_known
from ..output_names import Output, parsed
from .spec import Constraint, Study
from .variations import Bounds


def check_study(study: Study, problems: Problems) -> Model | None:
    """Notes every problem, and returns the model; None where that cannot be had."""
    model = _model(study, problems)
    _check_run(study, model, problems)
    known = _check_outputs(study, model, problems)
    _check_formulas(study, model, known, problems)
    if not study.parameters:
        problems.add('the study has no parameters. List what may change in [parameters]: "path" = { min = ..., max = ... }.')
    if model is not None:
        _check_parameters(study, model, problems)
        _check_cases(study, model, problems)
    return model


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
    if model is not None and study.duration is None and model.duration is None:
        problems.add("neither the study nor its model has a duration. Give duration, in seconds.")
    for name in study.events:
        if not name.isidentifier() or name in RESERVED:
            problems.add(f'an event has the name "{name}". Use letters, digits and _.', study.where("events", name))
    for table, names in [("run", study.run.inputs), *((f"cases.{case.name}", case.inputs) for case in study.cases)]:
        for name in names if model is not None else ():
            assert model is not None
            if name not in model.inputs:
                hint = problems.suggest(name, model.inputs)
                problems.add(f'there is no input "{name}" in [{table}].{hint}', study.where(*table.split("."), "inputs", name))


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
        for path in case.set:
            where = study.where("cases", case.name, "set", path)
            if path in study.parameters:
                problems.add(f'case "{case.name}" sets "{path}", which is a parameter of the study. Keep one.', where)
            elif model.written is not None:
                _is_parameter(model, path, where, problems)


def _check_outputs(study: Study, model: Model | None, problems: Problems) -> dict[str, Output | None]:
    """Outputs by name; None of one that is complained of."""
    found: dict[str, Output | None] = {}
    for name, text in study.outputs.items():
        where, found[name] = study.where("outputs", name), None
        if not name.isidentifier() or name in RESERVED:
            problems.add(f'an output has the name "{name}". Use letters, digits and _, so that formulas can name it.', where)
            continue
        found[name] = check_output(study, model, text, problems, "outputs", name)
    for text in study.fit.columns if study.fit is not None else ():
        output = check_output(study, model, text, problems, "fit", "columns", text)
        if output is not None and output.taken != "series":
            problems.add(
                f'"{text}" is one number. Curves are compared at all of their times: name a measure alone.',
                study.where("fit", "columns", text),
            )
    return found


def check_output(study: Study, model: Model | None, text: str, problems: Problems, *keys: str) -> Output | None:
    """What a text says is taken of a run; complains of what the model does not have."""
    where, end = study.where(*keys), study.duration or (model.duration if model is not None else None)
    try:
        (output,) = parsed([text], list(study.events), float("inf") if end is None else end)
    except StateError as error:
        problems.add(f"{error}.", where)
        return None
    unknown = list(_unknown(model, output.measures)) if model is not None else []
    for hint in unknown:
        problems.add(f'output "{text}": {hint}', where)
    return None if unknown else output


def _unknown(model: Model, names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if name not in model.measure_names and built_in(model, name) is None:
            close = difflib.get_close_matches(name, [*model.measure_names, *path_names(model)], n=1)
            hint = f' Did you mean "{close[0]}"?' if close else " model.measure_names and docs/measures.md list them."
            yield f'there is no measure "{name}" in model "{model.name}".{hint}'


def _check_formulas(study: Study, model: Model | None, known: dict[str, Output | None], problems: Problems) -> None:
    """The cost and the constraints: over outputs that are numbers."""
    wanted: list[tuple[str, tuple[str, ...]]] = [] if study.cost is None else [(study.cost.minimize, ("cost", "minimize"))]
    wanted += [(constraint.of, ("constraints", name, "of")) for name, constraint in study.constraints.items()]
    for text, keys in ((text, keys) for text, keys in wanted if text):
        if text in known or not text.lstrip().startswith("="):
            output = known[text] if text in known else check_output(study, model, text, problems, *keys)
            _must_be_number(study, text, output, problems, *keys)
        else:
            _check_formula(study, text, known, problems, *keys)
    for name, constraint in study.constraints.items():
        if reason := _wrong_limits(constraint):
            problems.add(f'constraint "{name}": {reason}.', study.where("constraints", name))


def _wrong_limits(constraint: Constraint) -> str:
    low, high, equals = constraint.min, constraint.max, constraint.equals
    if equals is not None and (low is not None or high is not None):
        return "it has equals, and min or max besides. Keep one"
    if equals is None and low is None and high is None:
        return "it has no limit. Give min, max or equals"
    if low is not None and high is not None and not low < high:
        return f"min is {low:g} and max is {high:g}. Give a min below max, or equals"
    return ""


def _must_be_number(study: Study, text: str, output: Output | None, problems: Problems, *keys: str) -> None:
    if output is not None and output.taken == "series":
        remedy = "Say what is taken of it: max(...), rms(...), @end."
        problems.add(f'"{text}" is a curve over time. {remedy}', study.where(*keys))


def _check_formula(study: Study, text: str, known: dict[str, Output | None], problems: Problems, *keys: str) -> None:
    where = study.where(*keys)
    try:
        names = Formula(text.lstrip()[1:].strip()).names
    except FormulaError as error:
        problems.add(f'the formula "{text}": {error}.', where)
        return
    for name in names:
        if name not in known:
            problems.add(f'the formula "{text}" names "{name}", which is no output.{problems.suggest(name, known)}', where)
        else:
            _must_be_number(study, name, known[name], problems, *keys)
