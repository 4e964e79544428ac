"""Rotations from a child's axes to its parent's: about one coordinate axis, or full.

Both kinds offer the same: ``up`` and ``down`` for vectors, ``up_symmetric`` and ``up_matrix`` (R S R^T), ``columns`` (A R).
A plane turn of an articulated inertia costs a third of a full one, which is why body frames are chosen for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..numbers import Number, sincos
from .matrix import Matrix, Symmetric
from .vector import Vector


class PlaneTurn(NamedTuple):
    """Turn by an angle about the axis "x" or "z"; products of its sine and cosine are kept, since they may be data."""

    axis: str
    s: Number
    c: Number
    ss: Number
    sc: Number
    sin2: Number
    cos2: Number

    @classmethod
    def of(cls, axis: str, s: Number, c: Number) -> PlaneTurn:
        ss, sc = s * s, s * c
        return cls(axis, s, c, ss, sc, sc + sc, 1.0 - 2.0 * ss)

    @classmethod
    def angle(cls, axis: str, angle: Number) -> PlaneTurn:
        return cls.of(axis, *sincos(angle))

    def up(self, u: Vector) -> Vector:
        s, c = self.s, self.c
        if self.axis == "z":
            return Vector(c * u.x - s * u.y, s * u.x + c * u.y, u.z)
        return Vector(u.x, c * u.y - s * u.z, s * u.y + c * u.z)

    def down(self, u: Vector) -> Vector:
        s, c = self.s, self.c
        if self.axis == "z":
            return Vector(c * u.x + s * u.y, c * u.y - s * u.x, u.z)
        return Vector(u.x, c * u.y + s * u.z, c * u.z - s * u.y)

    def up_symmetric(self, m: Symmetric) -> Symmetric:
        """R S R^T, by the double angle: 14 operations less than by the entries of R."""
        s, c = self.s, self.c
        if self.axis == "z":
            d = m.xx - m.yy
            k = self.ss * d + self.sin2 * m.xy
            xy = self.cos2 * m.xy + self.sc * d
            return Symmetric(m.xx - k, xy, c * m.xz - s * m.yz, m.yy + k, s * m.xz + c * m.yz, m.zz)
        d = m.yy - m.zz
        k = self.ss * d + self.sin2 * m.yz
        yz = self.cos2 * m.yz + self.sc * d
        return Symmetric(m.xx, c * m.xy - s * m.xz, s * m.xy + c * m.xz, m.yy - k, yz, m.zz + k)

    def up_matrix(self, m: Matrix) -> Matrix:
        s, c = self.s, self.c
        i, j, o = (0, 1, 2) if self.axis == "z" else (1, 2, 0)
        old, new = [list(row) for row in m], [list(row) for row in m]
        d, g = old[i][i] - old[j][j], old[i][j] + old[j][i]
        k, skew = self.ss * d + self.sc * g, self.sc * d - self.ss * g
        new[i][i], new[j][j] = old[i][i] - k, old[j][j] + k
        new[i][j], new[j][i] = old[i][j] + skew, old[j][i] + skew
        new[i][o], new[j][o] = c * old[i][o] - s * old[j][o], s * old[i][o] + c * old[j][o]
        new[o][i], new[o][j] = c * old[o][i] - s * old[o][j], s * old[o][i] + c * old[o][j]
        return Matrix(*[Vector(*row) for row in new])

    def columns(self, a: Matrix) -> Matrix:
        """A R: the axes after the turn, if the columns of A are those before."""
        s, c = self.s, self.c
        if self.axis == "z":
            return Matrix(*[Vector(c * r.x + s * r.y, c * r.y - s * r.x, r.z) for r in a])
        return Matrix(*[Vector(r.x, c * r.y + s * r.z, c * r.z - s * r.y) for r in a])


class FullTurn(NamedTuple):
    """Any rotation, by its matrix."""

    r: Matrix

    def up(self, u: Vector) -> Vector:
        return self.r @ u

    def down(self, u: Vector) -> Vector:
        return self.r.transpose() @ u

    def up_symmetric(self, m: Symmetric) -> Symmetric:
        rows = self.r.rows()
        turned = [m @ row for row in rows]
        return Symmetric(*[rows[i].dot(turned[j]) for i in range(3) for j in range(i, 3)])

    def up_matrix(self, m: Matrix) -> Matrix:
        rows = self.r.rows()
        turned = [m @ row for row in rows]
        return Matrix(*[Vector(*[row.dot(t) for t in turned]) for row in rows])

    def columns(self, a: Matrix) -> Matrix:
        return a.times(self.r)


def quaternion_turn(q: Sequence[Number]) -> FullTurn:
    """Rotation of the quaternion w, x, y, z, whatever its length: R(q) = R(c q)."""
    w, x, y, z = q
    two = 2.0 / (w * w + x * x + y * y + z * z)
    x2, y2, z2 = two * x, two * y, two * z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return FullTurn(
        Matrix(
            Vector(1.0 - (yy + zz), xy - wz, xz + wy),
            Vector(xy + wz, 1.0 - (xx + zz), yz - wx),
            Vector(xz - wy, yz + wx, 1.0 - (xx + yy)),
        )
    )


def quaternion_rate(q: Sequence[Number], u: Vector) -> tuple[Number, Number, Number, Number]:
    """q' = q (0, u) / 2 for the angular velocity u in the turned (child's) axes."""
    w, x, y, z = [0.5 * part for part in q]
    return (
        -(x * u.x + y * u.y + z * u.z),
        w * u.x + y * u.z - z * u.y,
        w * u.y + z * u.x - x * u.z,
        w * u.z + x * u.y - y * u.x,
    )
