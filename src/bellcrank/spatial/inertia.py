"""Inertias at a body's origin: of one rigid body, and of a subtree as it is felt there."""

from __future__ import annotations

from typing import NamedTuple

from ..numbers import Number
from .matrix import Matrix, Symmetric
from .screw import Force, Motion
from .vector import Vector


class ArticulatedInertia(NamedTuple):
    """[A B; B^T M]: moment and force for an angular and a linear acceleration."""

    A: Symmetric
    B: Matrix
    M: Symmetric

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.M + other.M)

    def __matmul__(self, a: Motion) -> Force:
        return Force((self.A @ a.w) + (self.B @ a.v), (self.B.transpose() @ a.w) + (self.M @ a.v))

    def minus_outer(self, u: Force, g: Force) -> ArticulatedInertia:
        """self - u g^T, where that is known to be symmetric."""
        return ArticulatedInertia(self.A.minus_outer(u.n, g.n), self.B.minus_outer(u.n, g.f), self.M.minus_outer(u.f, g.f))

    def shifted(self, r: Vector) -> ArticulatedInertia:
        """The inertia as it is felt at a point from which the old one is seen at r.

        C = B + r~ M,  A' = A + r~ B^T - C r~  (with its symmetry used: six entries)
        """
        A, B, M = self.A, self.B, self.M
        m = M.rows()
        x, y, z = r
        C = Matrix(
            Vector(*[B.x[k] + (y * m[2][k] - z * m[1][k]) for k in range(3)]),
            Vector(*[B.y[k] + (z * m[0][k] - x * m[2][k]) for k in range(3)]),
            Vector(*[B.z[k] + (x * m[1][k] - y * m[0][k]) for k in range(3)]),
        )
        shifted = Symmetric(
            A.xx + y * (B.x.z + C.x.z) - z * (B.x.y + C.x.y),
            A.xy - x * B.x.z + y * C.y.z + z * (B.x.x - C.y.y),
            A.xz + x * B.x.y - z * C.z.y + y * (C.z.z - B.x.x),
            A.yy - x * (B.y.z + C.y.z) + z * (B.y.x + C.y.x),
            A.yz + x * (B.y.y - C.z.z) - y * B.y.x + z * C.z.x,
            A.zz - y * (B.z.x + C.z.x) + x * (B.z.y + C.z.y),
        )
        return ArticulatedInertia(shifted, C, M)

    @classmethod
    def zero(cls) -> ArticulatedInertia:
        return cls(Symmetric.zero(), Matrix.zero(), Symmetric.zero())


class RigidInertia(NamedTuple):
    """Mass m, first moment mc = m * centre, and inertia J about the origin."""

    J: Symmetric
    mc: Vector
    m: Number

    def articulated(self) -> ArticulatedInertia:
        return ArticulatedInertia(self.J, Matrix.cross(self.mc), Symmetric.diagonal(self.m))

    def __add__(self, other: RigidInertia) -> RigidInertia:  # type: ignore[override]
        return RigidInertia(self.J + other.J, self.mc + other.mc, self.m + other.m)

    def __matmul__(self, a: Motion) -> Force:
        return Force((self.J @ a.w) + self.mc.cross(a.v), a.w.cross(self.mc) + a.v * self.m)

    def gyroscopic(self, w: Vector) -> Force:
        """The force for turning at w, with the acceleration of the origin measured as a point's: w x J w, w x (w x mc)."""
        return Force(w.cross(self.J @ w), w.cross(w.cross(self.mc)))

    @classmethod
    def zero(cls) -> RigidInertia:
        return cls(Symmetric.zero(), Vector(0.0, 0.0, 0.0), 0.0)
