"""What a [bodies.*] table says a body is made of: mass properties, a mass in a point, solids, or a mesh."""

from __future__ import annotations

import dataclasses

from ...model.geometry.compound import Compound
from ...model.geometry.mesh_solid import MeshSolid, integrals_of
from ...model.spec.fields import fields_of
from ...model.spec.shapes import INERTIA, NO_INERTIA, SOLIDS, MassProperties, Shape
from ..exchange.meshes import check_mesh
from .records import NUMBER, READERS, check_units, place, read_record
from .table import TomlTable, as_scalar

PLACEHOLDER = MassProperties(0.0, None)
BY_KEY = {cls.shape: cls for cls in SOLIDS}
CHOICES = ("rod", "point_mass", *(key for key in BY_KEY if key != "rod"))
MASS_FIELDS = {field.key: field for field in fields_of(MassProperties)}


def read_shape(table: TomlTable, dense: bool = False) -> Shape:
    """Exactly one of: mass with center and inertia, point_mass, a solid, parts, or a mesh with a density.

    ``dense``: it is a part of a body that has a density, and needs none of its own.
    """
    given = [key for key in ("mass", *CHOICES, "parts") if key in table.values]
    table.know("mass", *CHOICES, "parts")
    if not given and is_solid_mesh(table):
        return read_mesh_solid(table)
    if len(given) == 1:
        return READ.get(given[0], read_solid)(table, given[0], dense)
    table.know("center", "inertia")
    if not given:
        remedy = f"Give mass, center and inertia, or one of {', '.join(CHOICES)}; mass = 0 makes a body without mass."
        table.complain(f'body "{table.about}" has no mass. {remedy}')
    else:
        table.complain(f'body "{table.about}" is described twice, by {" and ".join(given)}. Keep one.', given[1])
    return PLACEHOLDER


def is_solid_mesh(table: TomlTable) -> bool:
    """Whether a mesh is there for more than its looks."""
    mesh = table.values.get("mesh")
    return isinstance(mesh, dict) and ("density" in mesh or "mass" in mesh)


def read_mesh_solid(table: TomlTable) -> Shape:
    inner = table.table("mesh")
    assert inner is not None
    shape = MeshSolid(**read_record(inner, MeshSolid))
    path = check_mesh(inner, shape.file)
    if path is None:
        return PLACEHOLDER
    return dataclasses.replace(shape, integrals=integrals_of(path))


def read_parts(table: TomlTable, key: str, dense: bool) -> Shape:
    """``parts = [{ box = { ... } }, ...]``, ``holes`` and ``density``."""
    table.know("holes", "density")
    density = as_scalar(table.values["density"]) if "density" in table else None
    if "density" in table and density is None:
        table.wrong("density", NUMBER)
    check_units(table, "density", density, "kg/m3")
    groups = [_part_tables(table, name) for name in ("parts", "holes")]
    if groups[0] is None or groups[1] is None:
        return PLACEHOLDER
    parts, holes = ([_part(inner, "density" in table) for inner in group or ()] for group in groups)
    return Compound(tuple(parts), tuple(holes), density)


def _part_tables(table: TomlTable, key: str) -> list[TomlTable] | None:
    value = table.values.get(key, [])
    if not isinstance(value, list) or not all(isinstance(inner, dict) for inner in value) or (key == "parts" and not value):
        table.wrong(key, f"shapes, {key} = [{{ box = {{ ... }} }}, {{ cylinder = {{ ... }} }}]")
        return None
    return [TomlTable(table.source, (*table.path, key, i), inner, table.about) for i, inner in enumerate(value)]


def _part(table: TomlTable, dense: bool) -> Shape:
    if "parts" in table or "mesh" in table:
        table.complain(f'a part of "{table.about}" is a {"body of parts" if "parts" in table else "mesh"}. Use simple shapes.')
        return PLACEHOLDER
    shape = read_shape(table, dense)
    table.close()
    return shape


def read_mass(table: TomlTable, key: str = "mass", dense: bool = False) -> Shape:
    """``mass``, ``center`` and ``inertia``; a mass of zero may stand alone."""
    mass = as_scalar(table.values["mass"])
    if mass is None:
        table.wrong("mass", NUMBER)
    check_units(table, "mass", mass, "kg")
    table.know("center", "inertia")
    if mass != 0:
        table.need("center", "Give the centre of mass: center = [x, y, z], or the name of a point.")
        table.need("inertia", f"Give {INERTIA}; for a point mass write point_mass = {{ at = ..., mass = ... }}")
    center = place(table, "center") if "center" in table else None
    field = MASS_FIELDS["inertia"]
    inertia = READERS[type(field.kind)](table, "inertia", field.kind) if "inertia" in table else NO_INERTIA
    check_units(table, "inertia", inertia, "kg m2")
    return MassProperties(mass or 0.0 if mass is None else mass, center, NO_INERTIA if inertia is None else inertia)


def read_point_mass(table: TomlTable, key: str = "point_mass", dense: bool = False) -> Shape:
    """``point_mass = { at, mass }``"""
    bob = table.table("point_mass")
    if bob is None:
        return PLACEHOLDER
    center = place(bob, "at") if bob.need("at", "Give the point where it is.") else None
    mass = as_scalar(bob.get("mass")) if bob.need("mass", "Give its mass in kg.") else 0.0
    if mass is None:
        bob.wrong("mass", NUMBER)
    check_units(bob, "mass", mass, "kg")
    bob.close()
    return MassProperties(0.0 if mass is None else mass, center)


def read_solid(table: TomlTable, key: str, dense: bool = False) -> Shape:
    inner = table.table(key)
    if inner is None:
        return PLACEHOLDER
    cls = BY_KEY[key]
    if "density" not in inner and not dense:
        inner.need("mass", "Give its mass in kg, or its density in kg/m3.")
    shape: Shape = cls(**read_record(inner, cls))
    return shape


READ = {"mass": read_mass, "point_mass": read_point_mass, "parts": read_parts}
