"""What a [bodies.*] table says a body is made of. A new shape is one function and one entry of SHAPES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model.shapes import NO_INERTIA, MassProperties, Matrix, Rod, Shape
from .points import Points
from .table import Table, as_number, as_vector

PLACEHOLDER = MassProperties(0.0, None)
PRODUCTS = ("xx", "yy", "zz", "xy", "xz", "yz")
WANTED = "[Ixx, Iyy, Izz], three rows of three, or { xx = , yy = , zz = , xy = , xz = , yz = } about the centre of mass"


def read_shape(table: Table, points: Points) -> Shape:
    """Exactly one of: mass with center and inertia, or one of SHAPES."""
    given = [key for key in ("mass", *SHAPES) if key in table]
    if len(given) == 1:
        return read_mass(table, points) if given == ["mass"] else SHAPES[given[0]](table, points)
    for key in given:
        table.get(key)
    choices = ", ".join(SHAPES)
    if not given:
        remedy = f"Give mass, center and inertia, or one of {choices}; mass = 0 makes a body without mass."
        table.complain(f'body "{table.about}" has no mass. {remedy}')
    else:
        table.complain(f'body "{table.about}" is described twice, by {" and ".join(given)}. Keep one.', given[1])
    for key in ("center", "inertia"):
        table.get(key)
    return PLACEHOLDER


def read_mass(table: Table, points: Points) -> Shape:
    """``mass``, ``center`` and ``inertia``; a mass of zero may stand alone."""
    mass = table.number("mass")
    if mass != 0 or "center" in table:
        table.need("center", "Give the centre of mass: center = [x, y, z], or the name of a point.")
    if mass != 0:
        table.need("inertia", f"Give {WANTED}; for a point mass write point_mass = {{ at = ..., mass = ... }}")
    center = points.of(table, "center") if "center" in table else None
    inertia = read_inertia(table.get("inertia")) if "inertia" in table else NO_INERTIA
    if inertia is None:
        table.wrong("inertia", WANTED)
    return MassProperties(mass, center, inertia or NO_INERTIA)


def read_rod(table: Table, points: Points) -> Shape:
    """``rod = { from, to, mass, radius }``"""
    rod = table.table("rod")
    if rod is None:
        return PLACEHOLDER
    for key in ("from", "to"):
        rod.need(key, f"Give the point where it {'begins' if key == 'from' else 'ends'}.")
    rod.need("mass", "Give its mass in kg.")
    shape = Rod(points.of(rod, "from"), points.of(rod, "to"), rod.number("mass"), rod.number("radius"))
    rod.close()
    return shape


def read_point_mass(table: Table, points: Points) -> Shape:
    """``point_mass = { at, mass }``"""
    bob = table.table("point_mass")
    if bob is None:
        return PLACEHOLDER
    bob.need("at", "Give the point where it is.")
    bob.need("mass", "Give its mass in kg.")
    shape = MassProperties(bob.number("mass"), points.of(bob, "at"))
    bob.close()
    return shape


SHAPES: dict[str, Callable[[Table, Points], Shape]] = {"rod": read_rod, "point_mass": read_point_mass}


def read_inertia(value: Any) -> Matrix | None:
    """Three principal moments, rows, or entries by name; None where it is none of them."""
    if isinstance(value, dict):
        return _by_name(value)
    principal = as_vector(value)
    if principal is not None:
        x, y, z = principal
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
    rows = [as_vector(row) for row in value] if isinstance(value, list) else []
    if len(rows) != 3 or None in rows:
        return None
    first, second, third = (row for row in rows if row is not None)
    return first, second, third


def _by_name(value: dict[str, Any]) -> Matrix | None:
    entries = {key: as_number(value.get(key, 0.0)) for key in PRODUCTS}
    if not {"xx", "yy", "zz"} <= value.keys() <= set(PRODUCTS) or None in entries.values():
        return None
    xx, yy, zz, xy, xz, yz = (x for x in entries.values() if x is not None)
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
