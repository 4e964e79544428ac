"""Bevel gears: two wheels whose axes meet at an angle, as cones that roll on each other about a common apex.

u_A, u_B point from the apex O along the axes to the wheels. The cones touch along e, and sin(delta_A)/sin(delta_B) = z_A/z_B:

    e = (z_B u_A + z_A u_B)/|...|,    n = (u_B - e (e . u_B))/|...|

n is across the common tangent plane of the cones, from A to B. Teeth are those of parallel axes with e in the place of the axis
and n in that of the radius (meshing.teeth): of straight ones the force on A is F along e x n, and F tan(alpha) along -n, which
is F tan(alpha) cos(delta_A) towards its axis and F tan(alpha) sin(delta_A) along it, away from the apex.

Budynas & Nisbett, Shigley's Mechanical Engineering Design, "Force analysis: bevel gearing"
"""

from __future__ import annotations

from itertools import product
from typing import Any

from ...numbers.variable import as_number, length_of, value_of
from ...spatial import Vector
from ..building.references import ItemError
from . import meshing
from .meshing import Mesh

MEET = 1e-7  # parts of the distance of the joints by which axes may miss each other
CLEAR = 1e-3  # by how much a point must be nearer to one pair of cones than to another, as a cosine
NEAR = 0.01  # parts of the cone distance by which radii and point may disagree


def bevel(
    item: Any, lines: tuple[Any, Any], names: tuple[str, str], sizes: tuple[Any, Any, Any], angles: tuple[Any, Any]
) -> Mesh:
    """``lines``: point and axis of both; ``sizes``: radii or teeth, and the metres for each of them, None if not known."""
    first, second, unit = sizes
    if item.internal:
        raise ItemError("its axes meet, and internal bevel gears are not supported. Leave out internal.", "internal")
    apex = _apex(lines, names)
    if item.point is None:
        where = ", ".join(f"{value_of(x):.4g}" for x in apex)
        raise ItemError(
            f'the axes of "{names[0]}" and "{names[1]}" meet in [{where}] m: bevel gears. Say where their teeth are: point = '
            "[x, y, z], in the middle of the teeth that touch.",
            "point",
        )
    to_point = Vector(*(as_number(x) for x in item.point)) - apex
    sign, e, other = _cones(to_point, lines, (first, second))
    distance = to_point.dot(e)
    if unit is not None:
        wanted = first * unit / length_of(lines[0].axis.cross(e))
        if abs(value_of(wanted - distance)) > NEAR * value_of(wanted):
            raise ItemError(
                f"its radii put the teeth {value_of(wanted):.4g} m from where the axes meet, and its point is "
                f"{value_of(distance):.4g} m from there. Move it, or give teeth without a module: the radii then follow.",
                "point",
            )
        distance = wanted
    n = other - e * e.dot(other)
    return meshing.teeth(apex + e * distance, e * sign, n * (1.0 / length_of(n)), *angles, 1.0)


def _apex(lines: tuple[Any, Any], names: tuple[str, str]) -> Vector:
    """The point where the axes meet."""
    (p, a), (q, b) = lines
    across, way = a.cross(b), q - p
    square = across.dot(across)
    gap = abs(value_of(way.dot(across))) / value_of(square) ** 0.5
    if gap > MEET * max(1e-3, value_of(length_of(way))):
        raise ItemError(
            f'the axes of "{names[0]}" and "{names[1]}" are neither parallel nor do they meet: they pass each other at '
            f"{gap:.4g} m. Move one, or use a coupler for a worm or hypoid gear, which loads no bearings.",
            "bodies",
        )
    return p + a * (way.cross(b).dot(across) / square)


def _cones(to_point: Vector, lines: tuple[Any, Any], sizes: tuple[Any, Any]) -> tuple[float, Vector, Vector]:
    """Among the four ways in which the wheels may lie about the apex, the one whose cones touch nearest to the point."""
    found = []
    for a, b in product((1.0, -1.0), repeat=2):
        e = lines[0].axis * (a * sizes[1]) + lines[1].axis * (b * sizes[0])
        e = e * (1.0 / length_of(e))
        found.append((value_of(to_point.dot(e)), a, e, lines[1].axis * b))
    found.sort(key=lambda way: way[0])
    if not found[-1][0] - found[-2][0] > CLEAR * value_of(length_of(to_point)):
        raise ItemError(
            "its point does not determine on which sides of the apex the wheels are. "
            "Give one in the middle of the teeth that touch.",
            "point",
        )
    return found[-1][1:]
