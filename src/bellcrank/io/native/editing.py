"""A model file with other numbers in it, and everything else as the user wrote it: comments, order, layout.

Where a number of a path stands is searched for among the values inside its item, and what comes out is read again: only if
every number of the model is then what it should be is the text good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import ModelError
from ...model import Model, Problems
from ...model.parameters.parameters import items, parameters_of
from ...model.spec.fields import numbers_of
from ...model.spec.spec import Spec
from .lines import Path, value_spans
from .reader import read_spec
from .table import KeyPlace

PLACES = {"x": 0, "y": 1, "z": 2, "xx": 0, "yy": 1, "zz": 2}


def edited(model: Model) -> str | None:
    """The text of a file whose numbers were changed; None where the model has none, or where they cannot be put in place."""
    written = model.written
    if written is None or not written.changes or not isinstance(written.base.where, KeyPlace):
        return None
    text = written.base.where.source.text
    spans = value_spans(text)
    places = dict(_places(written.base, written.changes, spans))
    if places.keys() != set(written.changes):
        return None
    for path, (start, end) in sorted(places.items(), key=lambda item: -item[1][0]):
        text = f"{text[:start]}{float(written.changes[path])!r}{text[end:]}"
    return text if _reads_as(text, written.base.where.file or "", model) else None


def _reads_as(text: str, file: str, model: Model) -> bool:
    problems = Problems()
    try:
        spec = read_spec(text, file, problems)
        problems.raise_if_any()
    except ModelError:
        return False
    assert model.spec is not None
    return parameters_of(spec) == parameters_of(model.spec)


def _places(spec: Spec, changes: Mapping[str, float], spans: Mapping[Path, tuple[int, int]]) -> Iterator[tuple[str, Any]]:
    """For each changed path, where its value stands."""
    for prefix, item in items(spec):
        wanted = [path for path, _ in numbers_of(item, prefix) if path in changes]
        if not wanted or not isinstance(item.where, KeyPlace):
            continue
        inside = {path: span for path, span in spans.items() if path[: len(item.where.path)] == item.where.path}
        for path in wanted:
            keys = path[len(prefix) :].strip(".").split(".") if path != prefix else []
            scored = [(_score(keys, found[len(item.where.path) :]), span) for found, span in inside.items()]
            best = max(scored, key=lambda one: one[0], default=(0.0, None))
            if best[0] > 0:
                yield path, best[1]


def _score(keys: list[str], tail: Path) -> float:
    """A score of how well the place of a value inside its item fits the rest of a path; zero where it does not."""
    matched = 0
    for part in tail:
        if matched < len(keys) and part in (keys[matched], PLACES.get(keys[matched]), _index(keys[matched])):
            matched += 1
    if matched == len(keys):
        return 2.0 + matched - 0.1 * (len(tail) - matched)
    return 1.0 + 0.1 * matched if matched == len(tail) else 0.0


def _index(key: str) -> int | None:
    return int(key) if key.isdigit() else None
