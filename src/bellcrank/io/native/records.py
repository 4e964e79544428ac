"""Reads items of a Spec from tables, by the kinds of their fields. A new kind of field is one function and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...model.geometry.constructions import BY_DISTANCES, Mirrored, OnLine, Turned
from ...model.geometry.units import wrong_unit
from ...model.parameters.expressions import Formula
from ...model.spec import fields
from ...model.spec.fields import AXES, PRODUCTS, Between, Construction, Field, InBody, Place, Triple, fields_of
from ...model.spec.items import Attachment
from ...model.spec.laws import LAW_SPECS, MotionSpec
from ...model.spec.shapes import INERTIA, ORIGIN
from ...model.spec.values import scalars
from ...wording import counted
from .table import TomlTable, as_scalar, as_triple

NUMBER = "a finite number"
A_LAW = 'a law of time, such as { rate = 2.0 } or { formula = "=0.3*sin(2*t)" }'
RECORDS: dict[type[Any], str] = {Attachment: "{ body = ..., point = ... }", MotionSpec: A_LAW}
PLACE = "the name of a point, three finite numbers [x, y, z], { body = ..., at = [x, y, z] }, or a construction"


def read_fields(table: TomlTable, cls: type[Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
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
            check_units(table, key, value, getattr(kind, "unit", ""))
            found[attribute] = placeholder(field) if value is None else value
        elif required:
            if not (key == "point" and "at" in values and cls is Attachment):
                table.need(key, kind.remedy or _wanted(key, kind))
            found[attribute] = placeholder(field)
        else:
            found[attribute] = default
    return found


def _wanted(key: str, kind: Any) -> str:
    if isinstance(kind, fields.Choice) and kind.options:
        options = " or ".join(f'"{option}"' for option in kind.options)
        return f"Give it: {key} = {options}."
    return f"Give {kind.doc or key}."


def check_units(table: TomlTable, key: str, value: Any, unit: str) -> None:
    """Complains of a number whose unit is not one of those that are wanted."""
    for number in scalars(value) if unit else ():
        if reason := wrong_unit(number, unit):
            table.complain(f"{table.full(key)}: {reason}.", key)
            return


def read_record(table: TomlTable, cls: type[Any], skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of the fields of a class, by attribute; complains of what is missing and of unknown keys."""
    found = read_fields(table, cls, skip)
    table.close()
    return found


def placeholder(field: Field) -> Any:
    """Harmless in place of what could not be read; its owner is blamed."""
    if not field.required:
        return field.default
    if isinstance(field.kind, fields.Record):
        cls = field.kind.classes[0]
        return cls(**{inner.attribute: placeholder(inner) for inner in fields_of(cls)})
    for kinds, value in HARMLESS:
        if isinstance(field.kind, kinds):
            return value
    raise AssertionError(field)


HARMLESS: tuple[tuple[tuple[type[fields.Kind], ...], Any], ...] = (
    ((fields.Position, fields.Vector3), ORIGIN),
    ((fields.Direction,), (0.0, 0.0, 1.0)),
    ((fields.Number, fields.Numbers), 0.0),
    ((fields.Rows,), ((0.0, 0.0), (1.0, 0.0))),
    ((fields.FormulaText,), Formula("0")),
    ((fields.Names, fields.Series, fields.Distances), ()),
    ((fields.Kind,), ""),
)


Reader = Callable[[TomlTable, str, Any], Any]


def _reader(parse: Callable[[Any], Any], wanted: str) -> Reader:
    """Reads what ``parse`` makes of a value, and complains of one of which it makes None."""

    def read(table: TomlTable, key: str, kind: fields.Kind) -> Any:
        found = parse(table.values[key])
        if found is None:
            table.wrong(key, wanted)
        return found

    return read


def _number(table: TomlTable, key: str, kind: fields.Kind) -> Any:
    value = as_scalar(table.values[key])
    if value is None:
        table.wrong(key, f"{NUMBER}, or a formula" if isinstance(table.values[key], str) else NUMBER)
    return value


def _as_numbers(value: Any) -> Any:
    found = tuple(map(as_scalar, value)) if isinstance(value, list) else as_scalar(value)
    return None if isinstance(found, tuple) and None in found else found


def _as_direction(value: Any) -> Triple | None:
    return AXES.get(value) if isinstance(value, str) else as_triple(value)


def _direction(table: TomlTable, key: str, kind: fields.Kind) -> Any:
    """A vector, an axis by its name, or the way between two places."""
    inner = table.table(key) if isinstance(table.values[key], dict) else None
    return _vector(table, key, kind) if inner is None else Between(**read_record(inner, Between))


def _as_formula(value: Any) -> Formula | None:
    found = as_scalar(value)
    return found if isinstance(found, Formula) else None


def _as_names(value: Any) -> tuple[str, ...] | None:
    good = isinstance(value, list) and value and all(isinstance(name, str) for name in value)
    return tuple(value) if good else None


_triple = _reader(as_triple, "three finite numbers, [x, y, z]")
_vector = _reader(_as_direction, '"x", "y", "z", "-x", "-y", "-z", a vector [x, y, z], or { from = point, to = point }')


def place(table: TomlTable, key: str, wanted: str = PLACE) -> Place | None:
    """A point's name, [x, y, z], or { body, at } in a body's frame."""
    value = table.values[key]
    if isinstance(value, str) and value and not value.lstrip().startswith("="):
        return value
    if isinstance(value, dict):
        inner = table.table(key)
        assert inner is not None
        return _in_body(inner) if "body" in inner or "at" in inner else _construction(inner)
    found = as_triple(value)
    if found is None:
        table.wrong(key, wanted)
    return found


def _in_body(table: TomlTable) -> InBody:
    body = table.text("body")
    at: Triple = ORIGIN
    table.need("body", "Name the body in whose frame it is.")
    if table.need("at", "Give the place in the body's frame: at = [x, y, z]."):
        at = _triple(table, "at", fields.Kind()) or ORIGIN
    table.close()
    return InBody(body, at)


def _construction(table: TomlTable) -> Construction | None:
    """Known by its keys: distances from points, a line, a mirror image, or a turn."""
    cls: type[Any] | None = Mirrored if "mirror" in table else Turned if "turn" in table else None
    if cls is None and isinstance(table.values.get("from"), dict):
        inner = table.values["from"]
        if len(inner) not in BY_DISTANCES:
            table.complain(f"{table.label} has {counted(len(inner), 'distance')}. Give distances from two or three points.")
            table.know(*table.values)
            return None
        cls = BY_DISTANCES[len(inner)]
    elif cls is None and "from" in table:
        cls = OnLine
    if cls is None:
        ways = "{ body, at }, { from = { A = ..., B = ... }, side }, { from, toward, distance }, { mirror, normal }"
        table.complain(f"{table.label} does not say where it is. Give [x, y, z], or one of {ways}, {{ turn, axis, angle }}.")
        table.know(*table.values)
        return None
    made: Construction = cls(**read_record(table, cls))
    return made


def _distances(table: TomlTable, key: str, kind: fields.Distances) -> Any:
    """``{ A = 0.3, C = "=rocker" }``"""
    inner = table.table(key)
    if inner is None:
        return None
    found = []
    for name in inner.values:
        distance = as_scalar(inner.get(name))
        if distance is None:
            inner.wrong(name, f"its distance from {name}: {NUMBER}, or a formula")
        found.append((name, 0.0 if distance is None else distance))
    return tuple(found)


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


def _text(table: TomlTable, key: str, kind: fields.Kind) -> str | None:
    return table.text(key) or None


def _choice(table: TomlTable, key: str, kind: fields.Choice) -> str | None:
    value = table.values[key]
    if value not in kind.options:
        table.wrong(key, " or ".join(f'"{option}"' for option in kind.options))
        return None
    return str(value)


def _rows(table: TomlTable, key: str, kind: fields.Rows) -> Any:
    value = table.values[key]
    rows = [tuple(map(as_scalar, row)) if isinstance(row, list) else () for row in value] if isinstance(value, list) else []
    if not rows or any(len(row) != 2 or None in row for row in rows):
        table.wrong(key, f"rows of two numbers, [[{kind.columns[0]}, {kind.columns[1]}], ...]")
        return None
    return tuple(rows)


def _matrix(table: TomlTable, key: str, kind: fields.Matrix) -> Any:
    value = table.values[key]
    rows = [tuple(map(as_scalar, row)) if isinstance(row, list) else () for row in value] if isinstance(value, list) else []
    if not rows or any(len(row) != len(rows[0]) or not row or None in row for row in rows):
        table.wrong(key, "rows of numbers, all of the same length, [[1.0, 2.0], [3.0, 4.0]]")
        return None
    return tuple(rows)


def _record(table: TomlTable, key: str, kind: fields.Record) -> Any:
    cls = kind.classes[0]
    inner = table.table(key, RECORDS.get(cls, A_LAW if cls in LAW_SPECS else ""))
    if inner is None:
        return None
    if cls is MotionSpec:
        return read_motion(inner)
    if cls is Attachment:
        return read_attachment(inner)
    if cls in LAW_SPECS:
        return read_law(inner)
    return cls(**read_record(inner, cls))


def read_attachment(table: TomlTable) -> Attachment:
    """``{ body, point }``, or ``{ body, at }`` in the body's frame."""
    table.know("at")
    found = read_record(table, Attachment)
    if "at" in table:
        at = _triple(table, "at", fields.Kind()) or ORIGIN
        if "point" in table:
            table.complain(f"[{table.label}] has both point and at. Keep one.", "at")
        return Attachment(found["body"], InBody(found["body"], at))
    return Attachment(**found)


def read_motion(table: TomlTable) -> MotionSpec:
    """One law, or laws by coordinate."""
    axis = _direction(table, "axis", fields.Kind()) if "axis" in table else None
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


def read_law(table: TomlTable, extra: tuple[str, ...] = (), known: Mapping[str, type[Any]] = LAW_KEYS) -> Any:
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


def _series(table: TomlTable, key: str, kind: fields.Series) -> Any:
    """Laws that are added up."""
    value = table.values[key]
    if not isinstance(value, list) or not value or not all(isinstance(inner, dict) for inner in value):
        table.wrong(key, "laws, [{ rate = 3.0 }, { amplitude = 0.3, frequency = 2.0 }]")
        return None
    known = {name: cls for name, cls in LAW_KEYS.items() if cls in kind.classes}
    tables = (TomlTable(table.source, (*table.path, key, i), inner, table.about) for i, inner in enumerate(value))
    return tuple(read_law(inner, known=known) for inner in tables)


READERS: dict[type[fields.Kind], Reader] = {
    fields.Number: _number,
    fields.Numbers: _reader(_as_numbers, f"{NUMBER}, or an array of them"),
    fields.Vector3: _triple,
    fields.Direction: _direction,
    fields.Position: lambda table, key, kind: place(table, key),
    fields.Inertia: _reader(as_inertia, INERTIA),
    fields.Text: _text,
    fields.Name: _text,
    fields.Names: _reader(_as_names, 'names, ["motor", "wheel"]'),
    fields.Flag: _reader(lambda value: value if isinstance(value, bool) else None, "true or false"),
    fields.FormulaText: _reader(_as_formula, 'a formula, "=..."'),
    fields.Choice: _choice,
    fields.Distances: _distances,
    fields.Rows: _rows,
    fields.Matrix: _matrix,
    fields.Record: _record,
    fields.Series: _series,
}
