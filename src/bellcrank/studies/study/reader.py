"""Reads study files: TOML with ``format = 1``, by the same means as model files. docs/optimisation.md explains them by example.

format, name, model, duration     what is studied, and for how long
[run], [events.NAME]              options of simulate; what outputs may be taken at
[parameters]                      "path" = bounds, a distribution, or values
[cases.NAME]                      load cases
[outputs], [cost], [constraints.NAME], [optimize], [fit], [sweep]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import ModelError, StudyError
from ...io.files import decode, read_bytes
from ...io.native.reader import check_format, parse_text
from ...io.native.records import check_units, read_record
from ...io.native.table import ParsedFile, TomlTable, as_scalar
from ...model.parameters.expressions import Formula
from ...model.spec.fields import Number, fields_of
from ...model.spec.items import Where
from ...model.spec.problems import Problems
from .checks import check_study
from .given import SIGNS
from .shipped import study_path
from .spec import Case, Constraint, Cost, Fit, RunOptions, Search, Study, Sweep, Watched
from .variations import DISTRIBUTIONS, Bounds, Listed, Spaced, Variation


def load_study(source: str | PathLike[str]) -> Study:
    """The study in a file, or of the gallery, checked together with its model.

    Raises StudyError with all of its problems, each with its line.
    """
    try:
        path = study_path(Path(source))
        text = decode(read_bytes(path), str(path))
    except ModelError as error:
        raise StudyError(str(error)) from None
    return read_study(text, str(path))


def read_study(text: str, file: str = "study text") -> Study:
    """The study in a text; files that it names are beside ``file``."""
    problems = Problems("study", StudyError)
    try:
        top = TomlTable(ParsedFile(file, text, problems), (), parse_text(text, file))
        check_format(top)
        if "bodies" in top and "model" not in top:
            raise ModelError(f"{file} is a model, and no study: name it in a study file, by the key model.")
    except ModelError as error:
        raise StudyError(str(error)) from None
    study = _study(top, Path(file).parent if file.endswith(".toml") else None)
    model = check_study(study, problems)
    problems.raise_if_any()
    return study if model is None else replace(study, model=model)


def _study(top: TomlTable, folder: Path | None) -> Study:
    top.need("model", "Name a model file beside the study, or a model of the gallery.")
    found = Study(
        model=top.text("model"),
        name=top.text("name", "study" if folder is None else Path(top.source.file).stem),
        duration=_duration(top),
        parameters=dict(_parameters(top)),
        run=_run(top),
        events=_by_name(top, "events", Watched),
        cases=_cases(top),
        outputs=_texts(top, "outputs", 'a measure, such as "rms(hub.az)"'),
        cost=_one(top, "cost", Cost),
        constraints=_by_name(top, "constraints", Constraint),
        fit=_fit(top),
        sweep=_one(top, "sweep", Sweep),
        search=_one(top, "optimize", Search) or Search(),
        folder=folder,
        places=_Places(top),
    )
    top.close()
    return found


class _Places(Mapping[tuple[str, ...], Where]):
    """Places of keys of the file, found when they are asked for."""

    def __init__(self, top: TomlTable) -> None:
        self._source = top.source

    def _path(self, keys: tuple[str, ...]) -> tuple[str | int, ...] | None:
        lines = self._source.lines
        if keys in lines:
            return keys
        split = tuple(part for key in keys for part in key.split("."))  # dotted keys that were not quoted
        return split if split in lines else None

    def __getitem__(self, keys: tuple[str, ...]) -> Where:
        path = self._path(keys)
        if path is None:
            raise KeyError(keys)
        return self._source.where(path)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (path for path in self._source.lines if all(isinstance(key, str) for key in path))  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._source.lines)


def _duration(top: TomlTable) -> float | None:
    top.know("duration")
    if "duration" not in top:
        return None
    value = _plain(top, "duration", as_scalar(top.values["duration"]), "more than zero")
    check_units(top, "duration", value, "s")
    return value


def _plain(table: TomlTable, key: str, value: Any, sign: str = "any") -> float | None:
    """A number of a study: no formula over names, of the sign that is wanted; else a complaint and None."""
    if isinstance(value, Formula) and not value.names:
        try:
            value = value.evaluate({})
        except ValueError:
            value = None
    if value is None or isinstance(value, Formula):
        table.wrong(key, "a finite number")
        return None
    if sign in SIGNS and not SIGNS[sign](value):
        table.wrong(key, f"a number that is {sign}")
        return None
    return float(value) if type(value) is int else value


def _record(table: TomlTable, cls: type[Any], own: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a class, whose numbers are plain; ``own``: keys that are read elsewhere."""
    table.know(*own)
    found = read_record(table, cls)
    for attribute, key, kind, _, default in fields_of(cls):
        if isinstance(kind, Number) and key in table:
            value = _plain(table, key, found[attribute], kind.sign)
            found[attribute] = default if value is None else value
    return found


def _one(top: TomlTable, key: str, cls: type[Any]) -> Any:
    table = top.table(key)
    return None if table is None else cls(**_record(table, cls))


def _by_name(top: TomlTable, key: str, cls: type[Any]) -> dict[str, Any]:
    table = top.table(key)
    return {} if table is None else {str(inner.about): cls(**_record(inner, cls)) for inner in table.items()}


def _parameters(top: TomlTable) -> Iterator[tuple[str, Variation]]:
    table = top.table("parameters")
    if table is not None:
        yield from _flat(table, "")


def _flat(table: TomlTable, before: str) -> Iterator[tuple[str, Variation]]:
    """``"rod.mass" = {...}``, or without quotes ``rod.mass = {...}``, which TOML reads as a table in a table."""
    for inner in table.items():
        path = f"{before}{inner.about}"
        inner.about = path
        if inner.values and all(isinstance(value, dict) for value in inner.values.values()):
            yield from _flat(inner, f"{path}.")
        else:
            yield path, _variation(inner)


def _variation(table: TomlTable) -> Variation:
    cls: type[Any] = Listed if "values" in table else Spaced if "from" in table or "to" in table else Bounds
    if "distribution" in table:
        word = table.text("distribution")
        if word not in DISTRIBUTIONS:
            hint = table.source.problems.suggest(word, DISTRIBUTIONS)
            table.complain(f'"{table.about}": there is no distribution "{word}".{hint}', "distribution")
            return Bounds()
        cls = DISTRIBUTIONS[word]
    given = _record(table, cls)
    if cls is Listed:
        given["values"] = _values(table, given["values"])
    found: Variation = cls(**given)
    if not table.source.problems.blames(str(table.about)) and (reason := found.wrong()):
        table.complain(f'"{table.about}": {reason}.')
    return found


def _values(table: TomlTable, values: Any) -> tuple[float, ...]:
    if not isinstance(values, tuple) or not values or any(isinstance(x, Formula) for x in values):
        table.wrong("values", "one or more finite numbers, [1.0, 2.0]")
        return (0.0,)
    return values


def _run(top: TomlTable) -> RunOptions:
    table = top.table("run")
    if table is None:
        return RunOptions()
    maps: dict[str, Any] = {key: _numbers(table, key) for key in ("inputs", "q", "v")}
    return RunOptions(**_record(table, RunOptions), **maps)


def _cases(top: TomlTable) -> tuple[Case, ...]:
    table = top.table("cases")
    found = []
    for inner in table.items() if table is not None else ():
        maps: dict[str, Any] = {key: _numbers(inner, key) for key in ("set", "inputs", "q", "v")}
        maps["values"] = _driven_through(inner)
        found.append(Case(str(inner.about), **_record(inner, Case), **maps))
    return tuple(found) or (Case(),)


def _driven_through(table: TomlTable) -> tuple[float, ...]:
    """``values = [0.0, 0.1]`` or ``values = { from = 0, to = 1, count = 11 }``."""
    table.know("values")
    if isinstance(table.values.get("values"), dict):
        inner = table.table("values")
        assert inner is not None
        spaced = Spaced(**_record(inner, Spaced))
        if not table.source.problems.blames(str(inner.about)) and (reason := spaced.wrong()):
            inner.complain(f"{reason}.")
            return ()
        return spaced.values
    if "values" not in table:
        return ()
    given = table.values["values"]
    found = [_plain(table, "values", as_scalar(x)) for x in given] if isinstance(given, list) else []
    if not found:
        table.wrong("values", "numbers, [0.0, 0.1, 0.2], or { from = 0, to = 1, count = 11 }")
    return tuple(x for x in found if x is not None)


def _numbers(table: TomlTable, key: str) -> dict[str, float]:
    """Numbers by name, ``set = { "rod.mass" = 2.0 }``."""
    inner = table.table(key)
    found = {}
    for name in inner.values if inner is not None else ():
        assert inner is not None
        value = _plain(inner, name, as_scalar(inner.get(name)))
        found[name] = 0.0 if value is None else value
    return found


def _texts(top: TomlTable, key: str, wanted: str) -> dict[str, str]:
    table = top.table(key)
    found = {}
    for name, value in table.values.items() if table is not None else ():
        assert table is not None
        if isinstance(value, str) and value.strip():
            found[name] = value
        else:
            table.wrong(name, wanted)
    return found


def _fit(top: TomlTable) -> Fit | None:
    table = top.table("fit")
    if table is None:
        return None
    columns = _texts(table, "columns", "the name of a column")
    single = as_scalar(table.values.get("deviation"))
    table.know("deviation")
    if "deviation" not in table:
        deviation: dict[str, float] = {}
    elif single is not None:
        deviation = dict.fromkeys(columns.values(), _plain(table, "deviation", single, "more than zero") or 1.0)
    else:
        deviation = _numbers(table, "deviation")
    return Fit(**_record(table, Fit), columns=columns, deviation=deviation)
