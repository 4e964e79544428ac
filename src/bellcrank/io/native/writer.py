"""Writes a Spec as a native model file, formulas and all: reading it gives an equal Spec.

tomlkit is not used: it would keep the comments of a file that is edited, but what is written here has none, and it takes more
than linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...errors import ModelError
from ...model import Model, Spec
from ...model.geometry.compound import Compound
from ...model.geometry.units import Quantity
from ...model.parameters.expressions import Formula
from ...model.spec import fields
from ...model.spec.arrays import spec_from_arrays
from ...model.spec.fields import AXES, PRODUCTS, Between, Construction, InBody, fields_of
from ...model.spec.items import Attachment
from ...model.spec.laws import MotionSpec
from ...model.spec.shapes import NO_INERTIA, MassProperties
from ...model.spec.spec import BodySpec, InitialSpec, PartsSpec
from .reader import FORMAT, SECTIONS
from .source import source_lines

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_AXIS_NAMES = {vector: name for name, vector in AXES.items()}
Pair = tuple[str, str]


def dumps(model: Model | Spec) -> str:
    """The text of a model file."""
    if isinstance(model, Spec):
        spec = model
    else:
        spec = spec_from_arrays(model) if model.spec is None else model.spec
    if not spec.name:
        raise ModelError("the model has no name. Give it one before it is written.")
    lines = [f"format = {FORMAT}", f"name = {text(spec.name)}"]
    lines += [f"{key} = {value}" for key, value in _fields(spec)]
    if spec.inputs:
        lines.append(f"inputs = [{', '.join(map(text, spec.inputs))}]")
    lines += _parts(spec, "", [copy.name for copy in spec.copies])
    for assembly in spec.assemblies:
        lines += ["", f"[assemblies.{key_of(assembly.name)}]", *_parts(assembly, f"assemblies.{key_of(assembly.name)}.", [])]
    for copy in spec.copies:
        given = [(key_of(item.name), scalar(item.value)) for item in copy.parameters]
        lines += _table(f"copies.{key_of(copy.name)}", [*_fields(copy), *([("parameters", _inline(given))] if given else [])])
    lines += [] if spec.source is None else source_lines(spec.source)
    return "\n".join(lines) + "\n"


def write(model: Model, *, partial: bool = False, folder: Path | None = None) -> tuple[str, list[str]]:
    """The text, and what it leaves out: nothing. A file in which only numbers were changed stays as it was otherwise."""
    from .editing import edited  # which reads what it has written

    return edited(model) or dumps(model), []


def text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_of(name: str) -> str:
    return name if _BARE.fullmatch(name) else text(name)


def scalar(value: Any) -> str:
    if isinstance(value, Quantity):
        return text(value.text)
    return text(f"={value.text}") if isinstance(value, Formula) else repr(float(value))


def array(values: Any) -> str:
    return f"[{', '.join(scalar(value) for value in values)}]"


def _inline(pairs: list[Pair]) -> str:
    return f"{{ {', '.join(f'{key} = {value}' for key, value in pairs)} }}" if pairs else "{}"


def _table(header: str, pairs: list[Pair]) -> list[str]:
    return ["", f"[{header}]", *(f"{key} = {value}" for key, value in pairs)]


def _fields(item: Any) -> Iterator[Pair]:
    """Keys and values of what is not left out."""
    for attribute, key, kind, required, default in fields_of(type(item)):
        value = getattr(item, attribute)
        if value is not None and (required or value != default):
            yield key, WRITERS.get(type(kind), text)(value)


def _direction(value: Any) -> str:
    if isinstance(value, Between):
        return _inline(list(_fields(value)))
    name = None if any(isinstance(x, Formula) for x in value) else _AXIS_NAMES.get(value)
    return array(value) if name is None else text(name)


def place(value: Any) -> str:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, InBody):
        return _inline([("body", text(value.body)), ("at", array(value.at))])
    return _inline(list(_fields(value))) if isinstance(value, Construction) else array(value)


def _inertia(value: Any) -> str:
    entries = {key: value[i][j] for key, (i, j) in PRODUCTS.items()}
    if any(value[i][j] != value[j][i] for i, j in PRODUCTS.values()):
        return f"[{', '.join(array(row) for row in value)}]"
    if all(entries[key] == 0 for key in ("xy", "xz", "yz")):
        return array(value[i][i] for i in range(3))
    return _inline([(key, scalar(entry)) for key, entry in entries.items()])


def _record(value: Any) -> str:
    if isinstance(value, Attachment) and isinstance(value.point, InBody) and value.point.body == value.body:
        return _inline([("body", text(value.body)), ("at", array(value.point.at))])
    if isinstance(value, MotionSpec):
        return _motion(value)
    return _inline(list(_fields(value)))


def _motion(motion: MotionSpec) -> str:
    axis = [] if motion.axis is None else [("axis", _direction(motion.axis))]
    laws: list[Pair] = []
    for name, law in motion.laws:
        laws += [(key_of(name), _inline(list(_fields(law))))] if name else list(_fields(law))
    return _inline([*axis, *laws])


WRITERS: dict[type[fields.Kind], Callable[[Any], str]] = {
    fields.Number: scalar,
    fields.Matrix: lambda value: f"[{', '.join(array(row) for row in value)}]",
    fields.Numbers: lambda value: array(value) if isinstance(value, tuple) else scalar(value),
    fields.Vector3: array,
    fields.Direction: _direction,
    fields.Position: place,
    fields.Distances: lambda value: _inline([(key_of(point), scalar(distance)) for point, distance in value]),
    fields.Inertia: _inertia,
    fields.Names: lambda value: f"[{', '.join(map(text, value))}]",
    fields.Flag: lambda value: "true" if value else "false",
    fields.FormulaText: scalar,
    fields.Rows: lambda rows: f"[{', '.join(array(row) for row in rows)}]",
    fields.Record: _record,
    fields.Parts: lambda parts: f"[{', '.join(_inline(_shape(part)) for part in parts)}]",
    fields.Series: lambda laws: f"[{', '.join(_inline(list(_fields(law))) for law in laws)}]",
}


def _parts(parts: PartsSpec, prefix: str, copies: list[str]) -> list[str]:
    lines: list[str] = []
    if parts.parameters:
        lines += _table(f"{prefix}parameters", [(key_of(item.name), scalar(item.value)) for item in parts.parameters])
    if parts.points:
        lines += _table(f"{prefix}points", [(key_of(item.name), place(item.position)) for item in parts.points])
    for body in parts.bodies:
        lines += _table(f"{prefix}bodies.{key_of(body.name)}", _body(body))
    for joint in parts.joints:
        lines += _table(f"{prefix}joints.{key_of(joint.name)}", list(_fields(joint)))
    for table in parts.tables:
        lines += _table(f"{prefix}tables.{key_of(table.name)}", list(_fields(table)))
    lines += _of_types(parts.constraints, prefix)
    for coupler in parts.couplers:
        lines += _table(f"{prefix}couplers.{key_of(coupler.name)}", list(_fields(coupler)))
    for gear in parts.gears:
        lines += _table(f"{prefix}{gear.section}.{key_of(gear.name)}", list(_fields(gear)))
    for state in parts.states:
        lines += _table(f"{prefix}states.{key_of(state.name)}", list(_fields(state)))
    for section in SECTIONS:
        for element in (item for item in parts.elements if item.section == section):
            lines += _table(f"{prefix}{section}.{key_of(element.name)}", list(_fields(element)))
    lines += _of_types(parts.measures, prefix)
    if parts.initial:
        lines += _table(f"{prefix}initial", _initial(parts.initial, copies))
    return lines


def _of_types(items: tuple[Any, ...], prefix: str) -> list[str]:
    """Measures and constraints, which say their type."""
    lines: list[str] = []
    for item in items:
        lines += _table(f"{prefix}{item.section}.{key_of(item.name)}", [("type", text(item.type)), *_fields(item)])
    return lines


def _body(body: BodySpec) -> list[Pair]:
    mesh = [] if body.mesh is None else [("mesh", _inline(list(_fields(body.mesh))))]
    return [*_shape(body.shape), *mesh]


def _shape(shape: Any) -> list[Pair]:
    """The keys of a body, or of a part of one, that say what it is made of."""
    if isinstance(shape, Compound):
        return list(_fields(shape))
    if not isinstance(shape, MassProperties):
        return [(shape.shape, _inline(list(_fields(shape))))]
    if shape.center is not None and shape.inertia == NO_INERTIA:
        return [("point_mass", _inline([("at", place(shape.center)), ("mass", scalar(shape.mass))]))]
    pairs = [("mass", scalar(shape.mass))]
    pairs += [] if shape.center is None else [("center", place(shape.center))]
    return [*pairs, *([] if shape.inertia == NO_INERTIA else [("inertia", _inertia(shape.inertia))])]


def _initial(starts: tuple[InitialSpec, ...], copies: list[str]) -> list[Pair]:
    """Starts of joints by name; those of a copy are one inline table."""
    pairs: list[Pair] = []
    nested: dict[str, list[Pair]] = {}
    for start in starts:
        copy = next((name for name in copies if start.joint.startswith(f"{name}.")), None)
        where = pairs if copy is None else nested.setdefault(copy, [])
        joint = start.joint if copy is None else start.joint[len(copy) + 1 :]
        where.append((key_of(joint), _start(start)))
    return [*pairs, *((key_of(copy), _inline(inner)) for copy, inner in nested.items())]


def _start(start: InitialSpec) -> str:
    values = {key: scalar(value[0]) if len(value) == 1 else array(value)
              for key, value in (("q", start.q), ("v", start.v)) if value is not None}  # fmt: skip
    return values["q"] if list(values) == ["q"] else _inline(list(values.items()))
