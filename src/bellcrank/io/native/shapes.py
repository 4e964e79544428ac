"""What a [bodies.*] table says a body is made of: its mass properties, a mass in a point, or one of the solids."""

from __future__ import annotations

from ...model.spec.fields import fields_of
from ...model.spec.shapes import INERTIA, NO_INERTIA, SOLIDS, MassProperties, Shape
from .records import NUMBER, READERS, place, read_record
from .table import TomlTable, as_scalar

PLACEHOLDER = MassProperties(0.0, None)
BY_KEY = {cls.shape: cls for cls in SOLIDS}
CHOICES = ("rod", "point_mass", *(key for key in BY_KEY if key != "rod"))
MASS_FIELDS = {field.key: field for field in fields_of(MassProperties)}


def read_shape(table: TomlTable) -> Shape:
    """Exactly one of: mass with center and inertia, point_mass, or a solid."""
    given = [key for key in ("mass", *CHOICES) if key in table.values]
    table.know("mass", *CHOICES)
    if len(given) == 1:
        key = given[0]
        return read_mass(table) if key == "mass" else read_point_mass(table) if key == "point_mass" else read_solid(table, key)
    table.know("center", "inertia")
    if not given:
        remedy = f"Give mass, center and inertia, or one of {', '.join(CHOICES)}; mass = 0 makes a body without mass."
        table.complain(f'body "{table.about}" has no mass. {remedy}')
    else:
        table.complain(f'body "{table.about}" is described twice, by {" and ".join(given)}. Keep one.', given[1])
    return PLACEHOLDER


def read_mass(table: TomlTable) -> Shape:
    """``mass``, ``center`` and ``inertia``; a mass of zero may stand alone."""
    mass = as_scalar(table.values["mass"])
    if mass is None:
        table.wrong("mass", NUMBER)
    table.know("center", "inertia")
    if mass != 0:
        table.need("center", "Give the centre of mass: center = [x, y, z], or the name of a point.")
        table.need("inertia", f"Give {INERTIA}; for a point mass write point_mass = {{ at = ..., mass = ... }}")
    center = place(table, "center") if "center" in table else None
    field = MASS_FIELDS["inertia"]
    inertia = READERS[type(field.kind)](table, "inertia", field.kind) if "inertia" in table else NO_INERTIA
    return MassProperties(mass or 0.0 if mass is None else mass, center, NO_INERTIA if inertia is None else inertia)


def read_point_mass(table: TomlTable) -> Shape:
    """``point_mass = { at, mass }``"""
    bob = table.table("point_mass")
    if bob is None:
        return PLACEHOLDER
    center = place(bob, "at") if bob.need("at", "Give the point where it is.") else None
    mass = as_scalar(bob.get("mass")) if bob.need("mass", "Give its mass in kg.") else 0.0
    if mass is None:
        bob.wrong("mass", NUMBER)
    bob.close()
    return MassProperties(0.0 if mass is None else mass, center)


def read_solid(table: TomlTable, key: str) -> Shape:
    inner = table.table(key)
    if inner is None:
        return PLACEHOLDER
    cls = BY_KEY[key]
    if "density" not in inner:
        inner.need("mass", "Give its mass in kg, or its density in kg/m3.")
    shape: Shape = cls(**read_record(inner, cls))
    return shape
