"""The table [source] of a native model that was imported: read, written, and its schema."""

from __future__ import annotations

import math
from typing import Any

from ...model.source import Source
from .table import TomlTable

TEXTS = ("unsimulated", "remarks", "order", "undetermined")  # arrays of texts
NUMBERS = {"frames": "a quaternion [w, x, y, z]", "references": "an array of numbers"}


def read_source(top: TomlTable) -> Source | None:
    table = top.table("source")
    if table is None:
        return None
    for key in ("format", "file"):
        table.need(key, "Remove [source] if the model was not imported.")
    given: dict[str, Any] = {key: _texts(table, key) for key in TEXTS}
    given |= {key: _numbers(table, key, wanted) for key, wanted in NUMBERS.items()}
    impossible = table.get("impossible")
    if impossible not in (None, True, False):
        table.wrong("impossible", "true or false")
    given["rounding"] = _rounding(table)
    found = Source(table.text("format"), table.text("file"), names=_names(table), impossible=impossible is True, **given)
    for text in found.problems():
        table.complain(text)
    table.close()
    return found


def _rounding(table: TomlTable) -> float:
    value = table.get("rounding")
    if value is not None and (type(value) not in (int, float) or not math.isfinite(value)):
        table.wrong("rounding", "a number")
        return 0.0
    return float(value or 0.0)


def _texts(table: TomlTable, key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        table.wrong(key, "an array of texts")
        return ()
    return tuple(value)


def _numbers(table: TomlTable, key: str, wanted: str) -> Any:
    """Arrays of numbers by name."""
    inner = table.table(key)
    found = {}
    for name, value in inner.values.items() if inner is not None else ():
        assert inner is not None
        good = isinstance(value, list) and all(type(x) in (int, float) and math.isfinite(x) for x in value)
        if not good or (key == "frames" and len(value) != 4):
            inner.wrong(name, wanted)
            continue
        found[name] = tuple(float(x) for x in value)
    return found


def _names(table: TomlTable) -> dict[str, str]:
    inner = table.table("names")
    found = {}
    for name, value in inner.values.items() if inner is not None else ():
        assert inner is not None
        if isinstance(value, str):
            found[name] = value
        else:
            inner.wrong(name, "the name there")
    return found


def source_lines(source: Source) -> list[str]:
    """The table as text."""
    from .writer import array, key_of, text

    lines = ["", "[source]", f"format = {text(source.format)}", f"file = {text(source.file)}"]
    for key in TEXTS:
        items = getattr(source, key)
        if items:
            lines += [f"{key} = [", *(f"    {text(item)}," for item in items), "]"]
    if source.impossible:
        lines.append("impossible = true")
    if source.rounding:
        lines.append(f"rounding = {source.rounding!r}")
    if source.names:
        lines += ["", "[source.names]", *(f"{key_of(ours)} = {text(theirs)}" for ours, theirs in source.names.items())]
    for key in NUMBERS:
        items = getattr(source, key)
        if items:
            lines += ["", f"[source.{key}]", *(f"{key_of(name)} = {array(values)}" for name, values in items.items())]
    return lines


def source_schema() -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string"}}
    numbers = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}
    properties = {
        "format": {"type": "string"},
        "file": {"type": "string"},
        **dict.fromkeys(TEXTS, texts),
        "names": {"type": "object", "additionalProperties": {"type": "string"}},
        **dict.fromkeys(NUMBERS, numbers),
        "impossible": {"type": "boolean"},
        "rounding": {"type": "number"},
    }
    return {
        "description": "where an imported model came from",
        "type": "object",
        "properties": properties,
        "required": ["format", "file"],
        "additionalProperties": False,
    }
