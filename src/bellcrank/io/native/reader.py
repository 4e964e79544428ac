"""Bellcrank's own model file: TOML, ``format = 1``. docs/model-format.md explains it by example.

What a section may hold follows from the fields of the items of a Spec (model/spec/); this file says which sections there
are, and what is special about some.

The text is parsed by tomllib: tomlkit takes 20 times as long to read and more than linear time (9 s for 4,000 bodies), and it
gives no line numbers either (lines.py).
"""

from __future__ import annotations

import gc
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import ModelError
from ...model import Model, Problems, Spec, build
from ...model.geometry.gear_specs import GEARS
from ...model.geometry.mesh_solid import MeshSolid
from ...model.spec.elements import CONSTRAINT_SPECS, ELEMENT_SPECS, CouplerSpec
from ...model.spec.laws import StateSpec, TableSpec
from ...model.spec.measures import MEASURE_SPECS
from ...model.spec.shapes import ORIGIN
from ...model.spec.spec import LISTS, AssemblySpec, BodySpec, CopySpec, InitialSpec, JointSpec, Mesh, ParameterSpec, PointSpec
from ..exchange.meshes import check_mesh
from .bounds import check_bounds
from .records import check_units, place, read_fields, read_record
from .shapes import read_shape
from .source import read_source
from .table import ParsedFile, TomlTable, as_scalar
from .table_files import read_table_file

FORMAT = 1
SECTIONS: dict[str, tuple[type[Any], ...]] = {}  # of force elements: on a joint, or between two points
for _cls in ELEMENT_SPECS:
    SECTIONS[_cls.section] = (*SECTIONS.get(_cls.section, ()), _cls)
MEASURES: dict[str, type[Any]] = {cls.type: cls for cls in MEASURE_SPECS}
CONSTRAINTS: dict[str, type[Any]] = {cls.type: cls for cls in CONSTRAINT_SPECS}


def read(text: str, file: str) -> Model:
    """The model in a text; raises ModelError with all of its problems."""
    with _uncollected():
        problems = Problems()
        spec = read_spec(text, file, problems)
        return build(spec, problems)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Switches the search for cyclic garbage off: reading makes none, and the search would visit all objects repeatedly."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read_spec(text: str, file: str, problems: Problems) -> Spec:
    """The spec of a text. Values that could not be read are placeholders, and ``problems`` names their owners."""
    source = ParsedFile(file, text, problems)
    top = TomlTable(source, (), parse_text(text, file))
    check_format(top)
    for key in ("bodies", "joints"):
        if "copies" not in top:
            top.need(key, f"Describe at least one in [{key}.NAME].")
    copies = tuple(_copy(table) for table in _named(top, "copies"))
    spec = Spec(
        name=top.text("name", "model"),
        **_parts(top, {copy.name for copy in copies}),
        **read_fields(top, Spec),
        inputs=_inputs(top),
        assemblies=tuple(_assembly(table) for table in _named(top, "assemblies")),
        copies=copies,
        source=read_source(top),
        where=top.where,
    )
    top.close()
    return spec


def parse_text(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML text; raises ModelError with the line of the first mistake of its grammar."""
    check_bounds(text, file)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, at = str(error).rpartition(" (at ")
        line = re.match(r"line (\d+)", at)
        number = int(line[1]) if line else text.count("\n") + 1  # else "end of document"
        raise ModelError(f"{file}, line {number}: not TOML: {reason}. Correct the text there or just before.") from None


def check_format(top: TomlTable) -> None:
    """Nothing else can be understood in a file of another format, so this error comes alone."""
    value = top.get("format")
    at = top.source.where(("format",)) if "format" in top else top.source.file
    if value is None:
        raise ModelError(f"{at}: the file does not state its format. Begin it with: format = {FORMAT}")
    if value is True or value != FORMAT:
        raise ModelError(f"{at}: format is {value!r}. This version of Bellcrank reads format = {FORMAT}.")


def _named(top: TomlTable, key: str) -> list[TomlTable]:
    """The tables [bodies.*], [joints.*] and so on."""
    table = top.table(key)
    return list(table.items()) if table else []


def _parts(top: TomlTable, copies: set[str]) -> dict[str, Any]:
    """What a model and an assembly have in common."""
    found: dict[str, Any] = {
        "parameters": _parameters(top),
        "tables": (_table(table) for table in _named(top, "tables")),
        "points": _points(top),
        "bodies": (_body(table) for table in _named(top, "bodies")),
        "joints": (_item(table, JointSpec) for table in _named(top, "joints")),
        "elements": (_element(table, SECTIONS[key]) for key in SECTIONS for table in _named(top, key)),
        "constraints": (_of_type(table, CONSTRAINTS, "constraint") for table in _named(top, "constraints")),
        "couplers": (_item(table, CouplerSpec) for table in _named(top, "couplers")),
        "gears": (_item(table, cls) for cls in GEARS for table in _named(top, cls.section)),
        "states": (_item(table, StateSpec) for table in _named(top, "states")),
        "measures": (_of_type(table, MEASURES, "measure") for table in _named(top, "measures")),
        "initial": _initial(top, copies),
    }
    return {key: tuple(item for item in found[key] if item is not None) for key in LISTS}


def _blamed(top: TomlTable, key: str) -> TomlTable | None:
    """The table [parameters] or [points]; if it is none, what names its items is not complained of again."""
    table = top.table(key)
    if table is None and key in top:
        top.source.problems.blame(f"[{key}]")
    return table


def _parameters(top: TomlTable) -> Iterator[ParameterSpec]:
    table = _blamed(top, "parameters")
    for name in table.values if table else ():
        assert table is not None
        value = as_scalar(table.get(name))
        if value is None:
            table.about = name
            table.wrong(name, "a finite number, or a formula")
        yield ParameterSpec(name, 0.0 if value is None else value, where=top.source.where((*table.path, name)))


def _points(top: TomlTable) -> Iterator[PointSpec]:
    table = _blamed(top, "points")
    for name, value in table.values.items() if table else ():
        assert table is not None
        table.about, at = name, None
        table.know(name)
        if isinstance(value, str):
            table.wrong(name, "three finite numbers, [x, y, z]")
        else:
            at = place(table, name, "three finite numbers [x, y, z], { body = ..., at = [x, y, z] }, or a construction")
            check_units(table, name, at, "m")
        yield PointSpec(name, ORIGIN if at is None else at, where=top.source.where((*table.path, name)))


def _body(table: TomlTable) -> BodySpec:
    shape = read_shape(table)
    mesh = None
    inner = table.table("mesh")
    if inner is not None and not isinstance(shape, MeshSolid) and not table.source.problems.blames(str(table.about)):
        mesh = Mesh(**read_record(inner, Mesh))
        check_mesh(inner, mesh.file, needed=False)
    table.close()
    return BodySpec(str(table.about), shape, mesh, where=table.where)


def _item(table: TomlTable, cls: type[Any]) -> Any:
    return cls(str(table.about), **read_record(table, cls), where=table.where)


def _element(table: TomlTable, classes: tuple[type[Any], ...]) -> Any:
    """An element, whose class follows from its keys: on a joint, between two points, or on a sum of coordinates."""
    cls = classes[0]
    if len(classes) > 1 and "joint" not in table:
        if not any(key in table for key in ("from", "to", "joints")):
            where = "Give joint = ..., or from = ... and to = ..., or joints = ... and factors = ..."
            table.complain(f"[{table.label}] does not say where it acts. {where}")
            return None
        cls = classes[2 if "joints" in table and len(classes) > 2 else 1]
    return _item(table, cls)


def _table(table: TomlTable) -> TableSpec:
    """A table from its rows, or from a file, of which the rows are kept."""
    found = read_table_file(table) if "file" in table else {}
    return TableSpec(str(table.about), **(read_record(table, TableSpec) | found), where=table.where)


def _of_type(table: TomlTable, types: dict[str, type[Any]], noun: str) -> Any:
    """A measure or constraint, which says its type."""
    if not table.need("type", f"Give one of {', '.join(types)}."):
        return None
    kind = table.text("type")
    if kind not in types:
        if kind:
            hint = table.source.problems.suggest(kind, types)
            table.complain(f'[{table.label}]: there is no {noun} of type "{kind}".{hint}', "type")
        return None
    return _item(table, types[kind])


def _inputs(top: TomlTable) -> tuple[str, ...]:
    value = top.get("inputs")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        top.wrong("inputs", 'names, ["throttle", "brake"]')
        return ()
    return tuple(value)


def _initial(top: TomlTable, copies: set[str]) -> list[InitialSpec]:
    """``shoulder = 0.3``, ``top = [w, x, y, z]`` or ``shoulder = { q = 0.3, v = 1.0 }``; tables of copies inside."""
    table = top.table("initial")
    if table is None:
        return []
    starts: list[InitialSpec] = []
    for joint, value in table.values.items():
        inner = table.table(joint) if isinstance(value, dict) else None
        if inner is not None and joint in copies:
            starts += [_start(inner, name, f"{joint}.{name}") for name in inner.values]
        else:
            starts.append(_start(table, joint, joint))
    return starts


def _start(table: TomlTable, key: str, joint: str) -> InitialSpec:
    value, where, about = table.values[key], table.source.where((*table.path, key)), f"initial.{joint}"
    if isinstance(value, dict):
        found = read_record(TomlTable(table.source, (*table.path, key), value, about), InitialSpec)
        return InitialSpec(joint, _many(found["q"]), _many(found["v"]), where=where)
    numbers = tuple(map(as_scalar, value if isinstance(value, list) else [value]))
    if None in numbers:
        TomlTable(table.source, table.path, table.values, about).wrong(key, "a finite number, or an array of them")
        numbers = (0.0,)
    return InitialSpec(joint, numbers, where=where)


def _many(value: Any) -> Any:
    return value if value is None or isinstance(value, tuple) else (value,)


def _assembly(table: TomlTable) -> AssemblySpec:
    spec = AssemblySpec(str(table.about), **_parts(table, set()), where=table.where)
    table.close()
    return spec


def _copy(table: TomlTable) -> CopySpec:
    parameters = tuple(_parameters(table))
    return CopySpec(str(table.about), **read_record(table, CopySpec), parameters=parameters, where=table.where)
