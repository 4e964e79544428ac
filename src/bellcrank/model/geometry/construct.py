"""Points by construction, over any number: where circles and spheres meet, along lines, mirrored, turned.

Nothing here branches on a value, so that a constructed point is differentiable like any other number of a model. Whether a
construction can be made at all is asked beforehand (constructions.py).
"""

from __future__ import annotations

from ...numbers import Number, less, maximum, select, sincos, sqrt
from ...spatial import Vector


def length(a: Vector) -> Number:
    return sqrt(a.dot(a))


def unit(a: Vector) -> Vector:
    return a * (1.0 / length(a))


def left_of(a: Vector, b: Vector, normal: Vector) -> tuple[Vector, Vector]:
    """Unit vectors from a to b, and to the left of that, as seen from where the normal points."""
    along = unit(b - a)
    return along, unit(normal.cross(along))


def two_circles(a: Vector, r_a: Number, b: Vector, r_b: Number) -> tuple[Number, Number]:
    """The distance from a toward b at which the circles meet, and the square of the distance aside.

    x = (d^2 + r_a^2 - r_b^2) / 2d,   y^2 = r_a^2 - x^2
    """
    d = length(b - a)
    x = (d * d + r_a * r_a - r_b * r_b) / (2.0 * d)
    return x, r_a * r_a - x * x


def by_two_distances(a: Vector, r_a: Number, b: Vector, r_b: Number, normal: Vector, side: float) -> Vector:
    """side = 1 to the left of the way from a to b, -1 to the right."""
    x, square = two_circles(a, r_a, b, r_b)
    along, aside = left_of(a, b, normal)
    return a + along * x + aside * (side * sqrt(maximum(square, 0.0)))


def three_spheres(points: tuple[Vector, Vector, Vector], r: tuple[Number, Number, Number]) -> tuple[Vector, Vector, Number]:
    """Foot of the point in the plane of the three, unit normal of that plane, and the square of the height above it.

    With the axes e_x from the first to the second point, e_y towards the third:

    x = (r_1^2 - r_2^2 + d^2) / 2d,   y = (r_1^2 - r_3^2 + i^2 + j^2 - 2 i x) / 2j,   z^2 = r_1^2 - x^2 - y^2
    """
    a, b, c = points
    e_x, d = unit(b - a), length(b - a)
    i = e_x.dot(c - a)
    e_y = unit(c - a - e_x * i)
    j = e_y.dot(c - a)
    x = (r[0] * r[0] - r[1] * r[1] + d * d) / (2.0 * d)
    y = (r[0] * r[0] - r[2] * r[2] + i * i + j * j - 2.0 * i * x) / (2.0 * j)
    return a + e_x * x + e_y * y, e_x.cross(e_y), r[0] * r[0] - x * x - y * y


def by_three_distances(
    points: tuple[Vector, Vector, Vector], r: tuple[Number, Number, Number], up: Vector, side: float
) -> Vector:
    """side = 1 on the side of the plane to which ``up`` points, -1 on the other."""
    foot, normal, square = three_spheres(points, r)
    sense = select(less(normal.dot(up), 0.0), -side, side)
    return foot + normal * (sense * sqrt(maximum(square, 0.0)))


def mirrored(a: Vector, through: Vector, normal: Vector) -> Vector:
    n = unit(normal)
    return a - n * (2.0 * n.dot(a - through))


def turned(a: Vector, about: Vector, axis: Vector, angle: Number) -> Vector:
    """Rodrigues: what is along the axis stays, what is across it turns."""
    k, arm = unit(axis), a - about
    along = k * k.dot(arm)
    s, c = sincos(angle)
    return about + along + (arm - along) * c + k.cross(arm) * s
