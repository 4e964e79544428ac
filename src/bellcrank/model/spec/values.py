"""Items of a Spec from plain Python values: numbers may be formulas, "=L*cos(a)", axes "x", places the names of points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...errors import ModelError
from ..geometry.units import Quantity, UnitError, looks_like_quantity, wrong_unit
from ..parameters.expressions import Formula, FormulaError
from . import fields
from .fields import AXES, Between, Construction, InBody, Triple
from .items import Attachment
from .problems import brief

Value = float | str | Formula  # a number, or a formula "=..."
Vector = Sequence[Value]
Where3 = str | Vector | InBody | Construction  # the name of a point, a vector, a place in a body's frame, or a construction
Axis = str | Vector | Between  # "x", "-y", ..., a vector, or the way from a point to another
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
    if callable(value):
        from ..python.functions import Function

        return (value if isinstance(value, Function) else Function(value)).formula
    if isinstance(value, Quantity):
        return value
    if isinstance(value, str):
        if looks_like_quantity(value):
            return _quantity(value)
        if not value.lstrip().startswith("="):
            raise ModelError(f'"{value}" is not a number. A formula begins with =.')
        try:
            return Formula(value.lstrip()[1:].strip())
        except FormulaError as error:
            raise ModelError(f'the formula "{value}": {error}.') from None
    try:
        return float(value) + 0.0
    except (TypeError, ValueError):
        raise ModelError(f"{brief(value)} is not a number.") from None
    except OverflowError:
        raise ModelError("a number is too large.") from None


def _quantity(text: str) -> Quantity:
    try:
        return Quantity(text)
    except UnitError as error:
        raise ModelError(f'"{text}" is not a number: {error}.') from None


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelError(f"{brief(value)} is not text.")
    return value


def triple(value: Any) -> Triple:
    values = [number(x) for x in value] if isinstance(value, Iterable) and not isinstance(value, str) else []
    if len(values) != 3:
        raise ModelError(f"{value!r} is not a vector. Give three numbers.")
    x, y, z = values
    return x, y, z


def one_of(classes: tuple[type[Any], ...], value: Any) -> Any:
    if not isinstance(value, classes):
        raise ModelError(f"{brief(value)} is not of type {' or '.join(cls.__name__ for cls in classes)}.")
    return value


def place(value: Any) -> Any:
    return value if isinstance(value, str | InBody | Construction) else triple(value)


def direction(value: Any) -> Any:
    if isinstance(value, Between):
        return value
    if isinstance(value, str) and value not in AXES:
        raise ModelError(f'"{value}" is not a direction. Give "x", "-y" and so on, or a vector.')
    return AXES[value] if isinstance(value, str) else triple(value)


def principal_or_rows(value: Any) -> Any:
    rows = list(value) if isinstance(value, Iterable) else []
    if rows and all(isinstance(x, Sequence) and not isinstance(x, str) for x in rows):
        return tuple(triple(row) for row in rows)
    x, y, z = triple(rows)
    return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)


def _record(kind: fields.Record, value: Any) -> Any:
    if not isinstance(value, tuple) or Attachment not in kind.classes:
        return one_of(kind.classes, value)
    body, where = value
    return Attachment(text(body), place(where))


def names(value: Any, what: str = "joints") -> tuple[str, ...]:
    found = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (None,)
    if not all(isinstance(name, str) for name in found):
        raise ModelError(f"{value!r} is not a list of names of {what}. Give a list of strings.")
    return found


def _formula(value: Any) -> Formula:
    return number(text(value)) if not isinstance(value, Formula) else value


CONVERT: dict[type[Any], Any] = {
    fields.Number: number,
    fields.Numbers: lambda value: number(value) if isinstance(value, ONE) else tuple(map(number, value)),
    fields.Vector3: triple,
    fields.Direction: direction,
    fields.Position: place,
    fields.Inertia: principal_or_rows,
    fields.FormulaText: _formula,
    fields.Names: names,
    fields.Rows: lambda rows: tuple((number(x), number(y)) for x, y in rows),
    fields.Matrix: lambda rows: tuple(tuple(map(number, row)) for row in rows),
    fields.Text: text,
    fields.Flag: lambda value: one_of((bool,), value),
    fields.Choice: text,
    fields.Distances: lambda value: tuple((text(point), number(distance)) for point, distance in dict(value).items()),
    fields.Name: text,
}


def make(cls: type[Any], *head: Any, **given: Any) -> Any:
    """An item of a Spec from plain Python values; None leaves a field out. ``head`` is its name."""
    values = {}
    owner = f' of "{text(head[0])}"' if head else ""
    for attribute, _, kind, required, _ in fields.fields_of(cls):
        value = given.pop(attribute, None)
        if value is not None:
            values[attribute] = _convert(attribute + owner, kind, value)
        elif required:
            raise ModelError(f"{attribute}{owner} is missing. {kind.remedy or f'Give {kind.doc or attribute}.'}")
    assert not given, given
    return cls(*head, **values)


def scalars(value: Any) -> Iterator[Any]:
    """The scalars of a value: itself, or those in tuples of tuples."""
    if isinstance(value, tuple):
        for inner in value:
            yield from scalars(inner)
    else:
        yield value


def _convert(label: str, kind: fields.Kind, value: Any) -> Any:
    try:
        if isinstance(kind, fields.Record):
            return _record(kind, value)
        made = CONVERT.get(type(kind), lambda x: x)(value)
        for number in scalars(made):
            if reason := wrong_unit(number, getattr(kind, "unit", "")):
                raise ModelError(f"{label}: {reason}.")
        return made
    except ModelError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{label} is {brief(value)}. {kind.remedy or f'Give {kind.doc or label}.'}") from error
