"""Items of a Spec from plain Python values: numbers may be formulas, "=L*cos(a)", axes "x", places the names of points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import ModelError
from ..parameters.expressions import Formula, FormulaError
from . import fields
from .fields import AXES, InBody, Triple
from .items import Attachment

Value = float | str | Formula  # a number, or a formula "=..."
Vector = Sequence[Value]
Where3 = str | Vector | InBody  # the name of a point, a vector, or a place in a body's frame
Axis = str | Vector  # "x", "-y", ... or a vector
End = tuple[str, Where3]  # a body, and a place on it
Pairs = Iterable[Sequence[Value]]
ONE = str | float | int | Formula  # what is one value, not several


def in_body(body: str, at: Vector) -> InBody:
    """A place in the frame of a body."""
    return InBody(body, triple(at))


def number(value: Any) -> Any:
    """A float, or a formula from a text that begins with =."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, str):
        if not value.lstrip().startswith("="):
            raise ModelError(f'"{value}" is no number. A formula begins with =.')
        try:
            return Formula(value.lstrip()[1:].strip())
        except FormulaError as error:
            raise ModelError(f'the formula "{value}": {error}.') from None
    try:
        return float(value) + 0.0
    except (TypeError, ValueError):
        raise ModelError(f"{value!r} is no number.") from None


def triple(value: Any) -> Triple:
    values = [] if isinstance(value, str) else [number(x) for x in value]
    if len(values) != 3:
        raise ModelError(f"{value!r} is no vector. Give three numbers.")
    x, y, z = values
    return x, y, z


def place(value: Any) -> Any:
    return value if isinstance(value, str | InBody) else triple(value)


def direction(value: Any) -> Triple:
    if isinstance(value, str) and value not in AXES:
        raise ModelError(f'"{value}" is no direction. Give "x", "-y" and so on, or a vector.')
    return AXES[value] if isinstance(value, str) else triple(value)


def principal_or_rows(value: Any) -> Any:
    rows = list(value)
    if all(isinstance(x, Sequence) and not isinstance(x, str) for x in rows):
        return tuple(triple(row) for row in rows)
    x, y, z = triple(rows)
    return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)


def _record(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    body, where = value
    return Attachment(body, place(where))


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise ModelError(f"{value!r} are no names of joints. Give a list of texts.")
    return tuple(value)


CONVERT: dict[type[Any], Any] = {
    fields.Number: number,
    fields.Numbers: lambda value: number(value) if isinstance(value, ONE) else tuple(map(number, value)),
    fields.Vector3: triple,
    fields.Direction: direction,
    fields.Position: place,
    fields.Inertia: principal_or_rows,
    fields.FormulaText: number,
    fields.Names: _names,
    fields.Rows: lambda rows: tuple((number(x), number(y)) for x, y in rows),
    fields.Record: _record,
}


def make(cls: type[Any], *head: Any, **given: Any) -> Any:
    """An item of a Spec from plain Python values; None leaves a field out."""
    values = {}
    for attribute, _, kind, _, _ in fields.fields_of(cls):
        value = given.pop(attribute, None)
        if value is not None:
            values[attribute] = CONVERT.get(type(kind), lambda x: x)(value)
    assert not given, given
    return cls(*head, **values)
