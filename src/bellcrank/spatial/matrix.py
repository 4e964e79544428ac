"""3x3 matrices: symmetric ones by their six entries, general ones by their rows."""

from __future__ import annotations

from typing import NamedTuple

from ..numbers import Number
from .vector import ZERO, Vector


class Symmetric(NamedTuple):
    xx: Number
    xy: Number
    xz: Number
    yy: Number
    yz: Number
    zz: Number

    def rows(self) -> tuple[Vector, Vector, Vector]:
        return Vector(self.xx, self.xy, self.xz), Vector(self.xy, self.yy, self.yz), Vector(self.xz, self.yz, self.zz)

    def __add__(self, other: Symmetric) -> Symmetric:  # type: ignore[override]
        return Symmetric(*[a + b for a, b in zip(self, other, strict=True)])

    def __matmul__(self, u: Vector) -> Vector:
        return Vector(*[row.dot(u) for row in self.rows()])

    def minus_outer(self, a: Vector, b: Vector) -> Symmetric:
        """self - a b^T, where that is known to be symmetric."""
        return Symmetric(
            self.xx - a.x * b.x,
            self.xy - a.x * b.y,
            self.xz - a.x * b.z,
            self.yy - a.y * b.y,
            self.yz - a.y * b.z,
            self.zz - a.z * b.z,
        )

    @classmethod
    def diagonal(cls, d: Number) -> Symmetric:
        return cls(d, 0.0, 0.0, d, 0.0, d)

    @classmethod
    def zero(cls) -> Symmetric:
        return cls.diagonal(0.0)


class Matrix(NamedTuple):
    x: Vector
    y: Vector
    z: Vector

    def rows(self) -> tuple[Vector, Vector, Vector]:
        return self.x, self.y, self.z

    def transpose(self) -> Matrix:
        return Matrix(*[Vector(*column) for column in zip(*self, strict=True)])

    def __add__(self, other: Matrix) -> Matrix:  # type: ignore[override]
        return Matrix(self.x + other.x, self.y + other.y, self.z + other.z)

    def __matmul__(self, u: Vector) -> Vector:
        return Vector(self.x.dot(u), self.y.dot(u), self.z.dot(u))

    def times(self, other: Matrix) -> Matrix:
        columns = other.transpose()
        return Matrix(*[Vector(*[row.dot(column) for column in columns]) for row in self])

    def minus_outer(self, a: Vector, b: Vector) -> Matrix:
        return Matrix(self.x - b * a.x, self.y - b * a.y, self.z - b * a.z)

    @classmethod
    def cross(cls, u: Vector) -> Matrix:
        """u~: the matrix of the cross product, u~ w = u x w."""
        return cls(Vector(0.0, -u.z, u.y), Vector(u.z, 0.0, -u.x), Vector(-u.y, u.x, 0.0))

    @classmethod
    def zero(cls) -> Matrix:
        return cls(ZERO, ZERO, ZERO)

    @classmethod
    def identity(cls) -> Matrix:
        return cls(Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))
