"""Values that Python gives to a study, checked as those of a study file are: their kinds, and their signs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...model.parameters.parameters import is_number
from ...model.spec.fields import Choice, Flag, Kind, Names, Number, Numbers, Text, fields_of
from ...model.spec.problems import Problems
from .spec import Study

SIGNS = {"zero or more": lambda x: x >= 0, "more than zero": lambda x: x > 0}
NUMBERS_BY_NAME = ("set", "inputs", "q", "v", "deviation")


def check_given(study: Study, problems: Problems) -> None:
    """Notes every value of the wrong kind."""
    items: dict[str, Any] = {f'"{path}"': one for path, one in study.parameters.items()}
    items |= {"run options": study.run, "the cost": study.cost, "the fit": study.fit}
    items |= {f'constraint "{name}"': one for name, one in study.constraints.items()}
    items |= {f'event "{name}"': one for name, one in study.events.items()}
    items |= {f'case "{case.name}"': case for case in study.cases}
    texts: dict[str, Any] = dict(study.outputs)
    for name, text in texts.items():
        if not isinstance(text, str):
            problems.add(f'output "{name}" is {text!r}. Give a text, such as "max(tip.x)".')
    if study.duration is not None and not (is_number(study.duration) and study.duration > 0):
        problems.add(f"duration is {study.duration!r}. Give a number that is more than zero, in seconds.")
    for where, item in items.items():
        for said in () if item is None else _wrong(item):
            problems.add(f"{where}: {said}.")


def _wrong(item: Any) -> Iterator[str]:
    for attribute, key, kind, required, default in fields_of(type(item)):
        value = getattr(item, attribute)
        if (value is not None or required or default is not None) and (wanted := _wanted(kind, value)):
            yield f"{key} is {value!r}. Give {wanted}"
    for name in NUMBERS_BY_NAME:
        given = getattr(item, name, {})
        if not isinstance(given, Mapping):
            yield f"{name} is {given!r}. Give numbers by their names"
        elif wrong := [key for key, x in given.items() if not (isinstance(key, str) and is_number(x))]:
            yield f"{name} of {wrong[0]!r} is {given[wrong[0]]!r}. Give a number"


def _wanted(kind: Kind, value: Any) -> str:
    """A text of what a value should be; "" if it is."""
    if isinstance(kind, Number):
        good = is_number(value) and (kind.sign not in SIGNS or SIGNS[kind.sign](value))
        return "" if good else "a number" + (f" that is {kind.sign}" if kind.sign in SIGNS else "")
    if isinstance(kind, Numbers):
        several = isinstance(value, Iterable) and not isinstance(value, str) and all(map(is_number, value))
        return "" if several or is_number(value) else "numbers"
    if isinstance(kind, Choice):
        return "" if value in kind.options else f"one of {', '.join(kind.options)}"
    if isinstance(kind, Flag):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(kind, Names):
        return "" if isinstance(value, tuple) and all(isinstance(x, str) for x in value) else "a list of names"
    return "" if not isinstance(kind, Text) or isinstance(value, str) else "a text"
