"""Vectors of three numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..numbers import Number


def total(terms: Iterable[Number]) -> Number:
    """Sum from left to right, starting from the first term."""
    terms = iter(terms)
    result = next(terms)
    for term in terms:
        result = result + term
    return result


class Vector(NamedTuple):
    x: Number
    y: Number
    z: Number

    def __add__(self, other: Vector) -> Vector:  # type: ignore[override]
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, scalar: Number) -> Vector:
        return Vector(self.x * scalar, self.y * scalar, self.z * scalar)

    def __rmul__(self, scalar: Number) -> Vector:
        return self * scalar

    def dot(self, other: Vector) -> Number:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )


ZERO = Vector(0.0, 0.0, 0.0)
