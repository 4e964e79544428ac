"""The JSON Schema of model files, made from the same table of fields that the reader uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.geometry.constructions import CONSTRUCTIONS
from ...model.geometry.gear_specs import GEARS
from ...model.geometry.mesh_solid import MeshSolid
from ...model.spec import fields
from ...model.spec.elements import CouplerSpec
from ...model.spec.fields import AXES, PRODUCTS, fields_of
from ...model.spec.items import Attachment
from ...model.spec.laws import LAW_SPECS, MotionSpec, StateSpec, TableSpec
from ...model.spec.spec import AssemblySpec, CopySpec, InitialSpec, JointSpec, Spec
from .reader import CONSTRAINTS, FORMAT, MEASURES, SECTIONS
from .shapes import BY_KEY
from .source import source_schema

Schema = dict[str, Any]


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _closed(properties: Schema, required: list[str]) -> Schema:
    """An object that has these keys and no others."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": required} if required else found


DEFINITIONS: Schema = {
    "formula": {"type": "string", "pattern": "^\\s*=", "description": 'a formula over parameters, "=L1*cos(a)"'},
    "quantity": {"type": "string", "pattern": "^\\s*[-+]?[0-9.]", "description": 'a number with its unit, "120 mm"'},
    "scalar": {"anyOf": [{"type": "number"}, _ref("formula"), _ref("quantity")]},
    "vector": {"type": "array", "items": _ref("scalar"), "minItems": 3, "maxItems": 3},
    "name": {"type": "string", "minLength": 1},
    "place": {
        "anyOf": [
            {"type": "string", "description": "the name of a point"},
            _ref("vector"),
            _closed({"body": _ref("name"), "at": _ref("vector")}, ["body", "at"]),
            _ref("construction"),
        ]
    },
    "direction": {
        "anyOf": [{"enum": list(AXES)}, _ref("vector"), _closed({"from": _ref("place"), "to": _ref("place")}, ["from", "to"])]
    },
    "inertia": {
        "anyOf": [
            _ref("vector"),
            {"type": "array", "items": _ref("vector"), "minItems": 3, "maxItems": 3},
            _closed({key: _ref("scalar") for key in PRODUCTS}, ["xx", "yy", "zz"]),
        ]
    },
    "numbers": {"anyOf": [_ref("scalar"), {"type": "array", "items": _ref("scalar")}]},
    "rows": {
        "type": "array",
        "items": {"type": "array", "items": _ref("scalar"), "minItems": 2, "maxItems": 2},
        "minItems": 1,
    },
}


TABLE_FILES: Schema = {
    "file": {"type": "string", "description": "a CSV file beside the model, instead of rows", "minLength": 1},
    "columns": {"type": "array", "items": _ref("name"), "minItems": 2, "maxItems": 2, "description": "two of its columns"},
}


def schema() -> Schema:
    """The JSON Schema (2020-12) of ``format = 1``."""
    top = _parts()
    top |= {
        "format": {"const": FORMAT},
        "name": {"type": "string", "minLength": 1},
        "inputs": {"type": "array", "items": _ref("name")},
        **_properties(Spec),
        "source": source_schema(),
        "assemblies": _named(_closed(_parts(), []), AssemblySpec),
        "copies": _named(_object(CopySpec, extra={"parameters": _named(_ref("scalar"))}), CopySpec),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Bellcrank model file",
        "type": "object",
        "properties": top,
        "required": ["format"],
        "additionalProperties": False,
        "$defs": {**DEFINITIONS, "construction": {"anyOf": [_object(cls) for cls in CONSTRUCTIONS]}},
    }


def _parts() -> Schema:
    start = {"anyOf": [_ref("numbers"), _object(InitialSpec)]}
    return {
        "parameters": _named(_ref("scalar")),
        "tables": _named(_object(TableSpec, extra=TABLE_FILES), TableSpec),
        "points": _named(_ref("place")),
        "bodies": _named(_body()),
        "joints": _named(_object(JointSpec), JointSpec),
        "constraints": _named(_of_types(CONSTRAINTS)),
        "couplers": _named(_object(CouplerSpec), CouplerSpec),
        **{cls.section: _named(_object(cls), cls) for cls in GEARS},
        **{key: _named(_any([_object(cls) for cls in classes]), classes[0]) for key, classes in SECTIONS.items()},
        "states": _named(_object(StateSpec), StateSpec),
        "measures": _named(_of_types(MEASURES)),
        "initial": _named(_any([start, {"type": "object"}])),
    }


def _of_types(types: dict[str, type[Any]]) -> Schema:
    """Items that say their type."""
    return {
        "anyOf": [
            {"description": _summary(cls), **_object(cls, extra={"type": {"const": kind}}, needed=["type"])}
            for kind, cls in types.items()
        ]
    }


def _body() -> Schema:
    solids = {key: {"description": _summary(cls), **_object(cls)} for key, cls in BY_KEY.items()}
    point = {"at": _ref("place"), "mass": _ref("scalar")}
    bob = {"description": "A mass in one point.", **_closed(point, ["at", "mass"])}
    own = {
        "mass": {"description": "mass (kg), with center and inertia", **_ref("scalar")},
        "center": {"description": "centre of mass (m)", **_ref("place")},
        "inertia": {"description": "inertia about the centre of mass (kg m2)", **_ref("inertia")},
    }
    one: Schema = {"type": "object", "properties": {**own, "point_mass": bob, **solids}, "additionalProperties": False}
    several = {
        "parts": {"description": "shapes of which the body consists", "type": "array", "items": one, "minItems": 1},
        "holes": {"description": "shapes that are removed from the parts", "type": "array", "items": one},
        "density": {"description": "density of all parts without a mass or density (kg/m3)", **_ref("scalar")},
        "mesh": {"description": _summary(MeshSolid), **_object(MeshSolid)},
    }
    return {
        "description": "A rigid body: mass, center and inertia, or one shape, or parts, or a mesh.",
        "type": "object",
        "properties": {**one["properties"], **several},
        "anyOf": [{"required": [key]} for key in ("mass", "point_mass", *solids, "parts", "mesh")],
        "additionalProperties": False,
    }


def _named(inner: Schema, cls: type[Any] | None = None) -> Schema:
    found: Schema = {"type": "object", "additionalProperties": inner}
    return found if cls is None else {"description": _summary(cls), **found}


def _summary(cls: type[Any]) -> str:
    """The first line of its docstring."""
    return (cls.__doc__ or "").split("\n")[0]


def _any(choices: list[Schema]) -> Schema:
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _properties(cls: type[Any]) -> Schema:
    return {field.key: {**_described(field.kind), **KINDS[type(field.kind)](field.kind)} for field in fields_of(cls)}


def _described(kind: fields.Kind) -> Schema:
    unit = getattr(kind, "unit", "")
    words = f"{kind.doc} ({unit})" if unit and kind.doc else kind.doc or unit
    return {"description": words} if words else {}


def _object(cls: type[Any], extra: Schema | None = None, needed: list[str] | None = None) -> Schema:
    required = [*(needed or []), *(field.key for field in fields_of(cls) if field.required)]
    properties = {**(extra or {}), **_properties(cls)}
    if cls is Attachment:  # a point, or at in the body's frame
        required.remove("point")
        properties["at"] = _ref("vector")
    return _closed(properties, required)


def _record(kind: fields.Record) -> Schema:
    if kind.classes == LAW_SPECS:
        return {"anyOf": [_object(cls) for cls in LAW_SPECS]}
    if kind.classes[0] is not MotionSpec:
        return _object(kind.classes[0])
    laws = next(field.kind for field in fields_of(MotionSpec) if isinstance(field.kind, fields.Records))
    axis = {"axis": _ref("direction")}
    single = [_object(cls, extra=axis) for cls in laws.classes]
    law = {"anyOf": [_object(cls) for cls in laws.classes]}
    return {"anyOf": [*single, {"type": "object", "properties": axis, "additionalProperties": law}]}


KINDS: dict[type[fields.Kind], Callable[[Any], Schema]] = {
    fields.Number: lambda kind: _ref("scalar"),
    fields.Numbers: lambda kind: _ref("numbers"),
    fields.Vector3: lambda kind: _ref("vector"),
    fields.Direction: lambda kind: _ref("direction"),
    fields.Position: lambda kind: _ref("place"),
    fields.Distances: lambda kind: {
        "type": "object",
        "additionalProperties": _ref("scalar"),
        "minProperties": 2,
        "maxProperties": 3,
    },
    fields.Inertia: lambda kind: _ref("inertia"),
    fields.Text: lambda kind: _ref("name"),
    fields.Name: lambda kind: _ref("name"),
    fields.Names: lambda kind: {"type": "array", "items": _ref("name"), "minItems": 1},
    fields.Flag: lambda kind: {"type": "boolean"},
    fields.FormulaText: lambda kind: _ref("formula"),
    fields.Choice: lambda kind: {"enum": list(kind.options)},
    fields.Rows: lambda kind: _ref("rows"),
    fields.Matrix: lambda kind: {"type": "array", "items": {"type": "array", "items": _ref("scalar")}, "minItems": 2},
    fields.Record: _record,
    fields.Series: lambda kind: {"type": "array", "items": _any([_object(cls) for cls in kind.classes]), "minItems": 1},
}
