"""Reads items of a Spec from tables, by the kinds of their fields. A new kind of field is one function and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...model.parameters.expressions import Formula
from ...model.spec.fields import (
    PRODUCTS,
    Choice,
    Direction,
    Field,
    Flag,
    FormulaText,
    InBody,
    Inertia,
    Kind,
    Name,
    Names,
    Number,
    Numbers,
    Place,
    Position,
    Record,
    Rows,
    Series,
    Text,
    Triple,
    Vector3,
    fields_of,
)
from ...model.spec.shapes import INERTIA, ORIGIN
from ...model.spec.spec import LAW_SPECS, Attachment, MotionSpec
from .table import Table, as_scalar, as_triple

AXES: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
AXES |= {"-x": (-1.0, 0.0, 0.0), "-y": (0.0, -1.0, 0.0), "-z": (0.0, 0.0, -1.0)}
NUMBER = "a finite number"
PLACE = "the name of a point, or three finite numbers [x, y, z], or { body = ..., at = [x, y, z] }"


def read_fields(table: Table, cls: type[Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of the fields of a class, by attribute; complains of what is missing, not of what is unknown."""
    found: dict[str, Any] = {}
    values, used = table.values, table.used
    for field in fields_of(cls):
        attribute, key, kind, required, default = field
        if attribute in skip:
            continue
        used.add(key)
        if key in values:
            value = READERS[type(kind)](table, key, kind)
            found[attribute] = placeholder(field) if value is None else value
        elif required:
            if not (key == "point" and "at" in values and cls is Attachment):
                table.need(key, kind.remedy or f"Give {kind.doc or key}.")
            found[attribute] = placeholder(field)
        else:
            found[attribute] = default
    return found


def read_record(table: Table, cls: type[Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The same, and unknown keys are complained of."""
    found = read_fields(table, cls, skip)
    table.close()
    return found


def placeholder(field: Field) -> Any:
    """Harmless in place of what could not be read; its owner is blamed."""
    if not field.required:
        return field.default
    if isinstance(field.kind, Record):
        cls = field.kind.classes[0]
        return cls(**{inner.attribute: placeholder(inner) for inner in fields_of(cls)})
    for kinds, value in HARMLESS:
        if isinstance(field.kind, kinds):
            return value
    raise AssertionError(field)


HARMLESS: tuple[tuple[tuple[type[Kind], ...], Any], ...] = (
    ((Position, Vector3), ORIGIN),
    ((Direction,), (0.0, 0.0, 1.0)),
    ((Number, Numbers), 0.0),
    ((Rows,), ((0.0, 0.0), (1.0, 0.0))),
    ((FormulaText,), Formula("0")),
    ((Names, Series), ()),
    ((Kind,), ""),
)


def _number(table: Table, key: str, kind: Kind) -> Any:
    value = as_scalar(table.values[key])
    if value is None:
        table.wrong(key, f"{NUMBER}, or a formula" if isinstance(table.values[key], str) else NUMBER)
    return value


def _numbers(table: Table, key: str, kind: Kind) -> Any:
    value = table.values[key]
    found = tuple(map(as_scalar, value)) if isinstance(value, list) else as_scalar(value)
    if found is None or (isinstance(found, tuple) and None in found):
        table.wrong(key, f"{NUMBER}, or an array of them")
        return None
    return found


def _triple(table: Table, key: str, kind: Kind) -> Triple | None:
    found = as_triple(table.values[key])
    if found is None:
        table.wrong(key, "three finite numbers, [x, y, z]")
    return found


def _direction(table: Table, key: str, kind: Kind) -> Triple | None:
    value = table.values[key]
    found = AXES.get(value) if isinstance(value, str) else as_triple(value)
    if found is None:
        table.wrong(key, '"x", "y", "z", "-x", "-y", "-z" or a vector [x, y, z]')
    return found


def _position(table: Table, key: str, kind: Kind) -> Place | None:
    return place(table, key)


def place(table: Table, key: str, wanted: str = PLACE) -> Place | None:
    """A point's name, [x, y, z], or { body, at } in a body's frame."""
    value = table.values[key]
    if isinstance(value, str) and value and not value.lstrip().startswith("="):
        return value
    if isinstance(value, dict):
        inner = table.table(key)
        assert inner is not None
        return _in_body(inner)
    found = as_triple(value)
    if found is None:
        table.wrong(key, wanted)
    return found


def _in_body(table: Table) -> InBody:
    body = table.text("body")
    at: Triple = ORIGIN
    table.need("body", "Name the body in whose frame it is.")
    if table.need("at", "Give the place in the body's frame: at = [x, y, z]."):
        at = _triple(table, "at", Kind()) or ORIGIN
    table.close()
    return InBody(body, at)


def _inertia(table: Table, key: str, kind: Kind) -> Any:
    found = as_inertia(table.values[key])
    if found is None:
        table.wrong(key, INERTIA)
    return found


def as_inertia(value: Any) -> Any:
    """Three principal moments, rows, or entries by name; None where it is none of them."""
    if isinstance(value, dict):
        return _by_name(value)
    principal = as_triple(value)
    if principal is not None:
        x, y, z = principal
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
    rows = tuple(as_triple(row) for row in value) if isinstance(value, list) else ()
    return None if len(rows) != 3 or None in rows else rows


def _by_name(value: Mapping[str, Any]) -> Any:
    entries = {key: as_scalar(value.get(key, 0.0)) for key in PRODUCTS}
    if not {"xx", "yy", "zz"} <= value.keys() <= PRODUCTS.keys() or None in entries.values():
        return None
    xx, yy, zz, xy, xz, yz = entries.values()
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


def _text(table: Table, key: str, kind: Kind) -> str | None:
    return table.text(key) or None


def _formula(table: Table, key: str, kind: Kind) -> Formula | None:
    found = as_scalar(table.values[key])
    if not isinstance(found, Formula):
        table.wrong(key, 'a formula, "=..."')
        return None
    return found


def _choice(table: Table, key: str, kind: Kind) -> str | None:
    assert isinstance(kind, Choice)
    value = table.values[key]
    if value not in kind.options:
        table.wrong(key, " or ".join(f'"{option}"' for option in kind.options))
        return None
    return str(value)


def _names(table: Table, key: str, kind: Kind) -> tuple[str, ...] | None:
    value = table.values[key]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        table.wrong(key, 'names, ["motor", "wheel"]')
        return None
    return tuple(value)


def _flag(table: Table, key: str, kind: Kind) -> bool | None:
    value = table.values[key]
    if not isinstance(value, bool):
        table.wrong(key, "true or false")
        return None
    return value


def _rows(table: Table, key: str, kind: Kind) -> Any:
    assert isinstance(kind, Rows)
    value = table.values[key]
    rows = [tuple(map(as_scalar, row)) if isinstance(row, list) else () for row in value] if isinstance(value, list) else []
    if not rows or any(len(row) != 2 or None in row for row in rows):
        table.wrong(key, f"rows of two numbers, [[{kind.columns[0]}, {kind.columns[1]}], ...]")
        return None
    return tuple(rows)


def _record(table: Table, key: str, kind: Kind) -> Any:
    assert isinstance(kind, Record)
    inner = table.table(key)
    if inner is None:
        return None
    cls = kind.classes[0]
    if cls is MotionSpec:
        return read_motion(inner)
    if cls is Attachment:
        return read_attachment(inner)
    if cls in LAW_SPECS:
        return read_law(inner)
    return cls(**read_record(inner, cls))


def read_attachment(table: Table) -> Attachment:
    """``{ body, point }``, or ``{ body, at }`` in the body's frame."""
    table.know("at")
    found = read_record(table, Attachment)
    if "at" in table:
        at = _triple(table, "at", Kind()) or ORIGIN
        if "point" in table:
            table.complain(f"[{table.label}] has both point and at. Keep one.", "at")
        return Attachment(found["body"], InBody(found["body"], at))
    return Attachment(**found)


def read_motion(table: Table) -> MotionSpec:
    """One law, or laws by coordinate."""
    axis = _direction(table, "axis", Kind()) if "axis" in table else None
    table.know("axis")
    named = [key for key, value in table.values.items() if isinstance(value, dict)]
    if not named:
        law = read_law(table, extra=("axis",))
        return MotionSpec((("", law),), axis)
    laws = []
    for key in named:
        inner = table.table(key)
        assert inner is not None
        laws.append((key, read_law(inner)))
    table.close()
    return MotionSpec(tuple(laws), axis)


LAW_KEYS: dict[str, type[Any]] = {fields_of(cls)[0].key: cls for cls in LAW_SPECS}  # a law is known by its first key


def read_law(table: Table, extra: tuple[str, ...] = (), known: Mapping[str, type[Any]] = LAW_KEYS) -> Any:
    """The law whose own key is there."""
    given = [key for key in known if key in table]
    if len(given) != 1:
        what = f"has {' and '.join(given)}" if given else "says nothing of its motion"
        both = " To add laws up, list them: sum = [{ ... }, { ... }]." if len(given) > 1 and "sum" in known else ""
        table.complain(f"[{table.label}] {what}. Give one of {', '.join(known)}.{both}", given[1] if given else None)
        table.know(*table.values)
        return LAW_SPECS[0](0.0)
    cls = known[given[0]]
    table.know(*extra)
    return cls(**read_record(table, cls))


def _series(table: Table, key: str, kind: Kind) -> Any:
    """Laws that are added up."""
    assert isinstance(kind, Series)
    value = table.values[key]
    if not isinstance(value, list) or not value or not all(isinstance(inner, dict) for inner in value):
        table.wrong(key, "laws, [{ rate = 3.0 }, { amplitude = 0.3, frequency = 2.0 }]")
        return None
    known = {name: cls for name, cls in LAW_KEYS.items() if cls in kind.classes}
    tables = (Table(table.source, (*table.path, key, i), inner, table.about) for i, inner in enumerate(value))
    return tuple(read_law(inner, known=known) for inner in tables)


READERS: dict[type[Kind], Callable[[Table, str, Any], Any]] = {
    Number: _number,
    Numbers: _numbers,
    Vector3: _triple,
    Direction: _direction,
    Position: _position,
    Inertia: _inertia,
    Text: _text,
    Name: _text,
    Names: _names,
    Flag: _flag,
    FormulaText: _formula,
    Choice: _choice,
    Rows: _rows,
    Record: _record,
    Series: _series,
}
