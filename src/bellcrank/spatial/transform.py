"""The pose of a child's frame in its parent's: turn, shift, turn again.

    parent --before--> axes between --offset--> --after--> child

Going down (to the child) and up (to the parent) take the stages one by one, so that a placement by plane turns costs
what plane turns cost. Accelerations are the classical ones of the frames' origins.
"""

from __future__ import annotations

from typing import NamedTuple

from ..numbers import Number
from .inertia import ArticulatedInertia, RigidInertia
from .matrix import Matrix, Symmetric
from .rotation import FullTurn, PlaneTurn
from .screw import Force, Motion
from .vector import Vector

Turn = PlaneTurn | FullTurn


class Transform(NamedTuple):
    before: tuple[Turn, ...]
    offset: Vector
    after: tuple[Turn, ...]

    def between(self, u: Vector) -> Vector:
        """A vector of the parent's axes in the axes between, where the offset is given."""
        for turn in self.before:
            u = turn.down(u)
        return u

    def down_vector(self, u: Vector) -> Vector:
        u = self.between(u)
        for turn in self.after:
            u = turn.down(u)
        return u

    def down(self, a: Motion, centripetal: Vector | None = None) -> Motion:
        """Motion of the child's origin if it were fixed to the parent: w, v + w x r (+ w x (w x r), given apart)."""
        w, v = self.between(a.w), self.between(a.v)
        v = v + w.cross(self.offset)
        if centripetal is not None:
            v = v + centripetal
        for turn in self.after:
            w, v = turn.down(w), turn.down(v)
        return Motion(w, v)

    def up(self, force: Force) -> Force:
        n, f = force
        for turn in reversed(self.after):
            n, f = turn.up(n), turn.up(f)
        n = n + self.offset.cross(f)
        for turn in reversed(self.before):
            n, f = turn.up(n), turn.up(f)
        return Force(n, f)

    def up_articulated(self, inertia: ArticulatedInertia, bias: Force, centripetal: Vector) -> tuple[ArticulatedInertia, Force]:
        """Inertia and bias force of a subtree at the parent's origin; I times the centripetal acceleration joins the bias.

        The offset along z and the one across are taken apart: its entry y is often structurally zero, and entries of
        the eliminated joint still are.
        """
        inertia, (n, f) = _turned(inertia, bias, self.after)
        n, f = n + (inertia.B @ centripetal), f + (inertia.M @ centripetal)
        r = self.offset
        for shift in (Vector(0.0, 0.0, r.z), Vector(r.x, r.y, 0.0)):
            inertia, n = inertia.shifted(shift), n + shift.cross(f)
        return _turned(inertia, Force(n, f), self.before)

    def up_rigid(self, inertia: RigidInertia) -> RigidInertia:
        """Inertia of a rigid assembly (composite body) at the parent's origin."""
        J, mc, m = inertia
        for turn in reversed(self.after):
            J, mc = turn.up_symmetric(J), turn.up(mc)
        J, mc = _parallel_axes(J, mc, m, self.offset), mc + self.offset * m
        for turn in reversed(self.before):
            J, mc = turn.up_symmetric(J), turn.up(mc)
        return RigidInertia(J, mc, m)

    def pose(self, axes: Matrix, origin: Vector) -> tuple[Matrix, Vector]:
        """Axes (columns) and origin of the child in a frame where the parent's are given."""
        for turn in self.before:
            axes = turn.columns(axes)
        origin = origin + (axes @ self.offset)
        for turn in self.after:
            axes = turn.columns(axes)
        return axes, origin


def _turned(inertia: ArticulatedInertia, force: Force, turns: tuple[Turn, ...]) -> tuple[ArticulatedInertia, Force]:
    A, B, M = inertia
    n, f = force
    for turn in reversed(turns):
        A, B, M = turn.up_symmetric(A), turn.up_matrix(B), turn.up_symmetric(M)
        n, f = turn.up(n), turn.up(f)
    return ArticulatedInertia(A, B, M), Force(n, f)


def _parallel_axes(J: Symmetric, mc: Vector, m: Number, r: Vector) -> Symmetric:
    """J' = J - r~ mc~ - mc~ r~ - m r~ r~ = J - r~ b~ - b~ r~ with b = mc + m r / 2."""
    b = mc + r * (0.5 * m)
    d = 2.0 * r.dot(b)
    return Symmetric(
        J.xx + (d - 2.0 * (r.x * b.x)),
        J.xy - (r.x * b.y + r.y * b.x),
        J.xz - (r.x * b.z + r.z * b.x),
        J.yy + (d - 2.0 * (r.y * b.y)),
        J.yz - (r.y * b.z + r.z * b.y),
        J.zz + (d - 2.0 * (r.z * b.z)),
    )
