"""Eliminating a joint from a subtree, one direction after the other: LDL^T of the joint's own block.

An n-dof joint is n scalar eliminations in the same frame. With I, p the inertia and bias force of the subtree, S a
direction, r its armature and tau its effort,

    U = I S    D = S.U + r    G = U/D    e = (tau - S.p)/D
    I' = I - U G^T            p' = p + U e

and later, for x the acceleration that the body would have if this direction did not accelerate,

    S' = e - G.x              (the joint's acceleration)

Without armature I' S = 0 and S.p' = tau: for a coordinate direction these are set exactly, and fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..numbers import Number, is_constant
from .inertia import ArticulatedInertia
from .matrix import Matrix, Symmetric
from .screw import Force, Motion
from .vector import Vector


class Pivot(NamedTuple):
    """One eliminated direction: gain G, and acceleration e when the rest stands still."""

    gain: Force
    rest: Number


class FullPivot(NamedTuple):
    """A pivot with 1/D, for what is eliminated later by the same pivots."""

    gain: Force
    rest: Number
    inverse: Number

    @property
    def light(self) -> Pivot:
        return Pivot(self.gain, self.rest)


def eliminate(
    inertia: ArticulatedInertia,
    bias: Force,
    directions: Sequence[Motion],
    efforts: Sequence[Number],
    armature: Sequence[Number],
) -> tuple[ArticulatedInertia, Force, tuple[FullPivot, ...]]:
    """Inertia and bias force as the parent's side of the joint feels them, and the pivots.   Kang & Yoon (28), (29)"""
    pivots = []
    for S, tau, r in zip(directions, efforts, armature, strict=True):
        U = inertia @ S
        inverse = 1.0 / (S.dot(U) + r)
        gain, rest = U * inverse, (tau - S.dot(bias)) * inverse
        k = coordinate(S)
        if k is None:
            inertia, bias = inertia.minus_outer(U, gain), bias + U * rest
        else:
            if is_constant(r) and r == 0:
                gain = _replace(gain, k, 1.0)
            inertia = _set_row(inertia.minus_outer(U, gain), k, gain * r)
            bias = _replace(bias + U * rest, k, tau - r * rest)
        pivots.append(FullPivot(gain, rest, inverse))
    return inertia, bias, tuple(pivots)


def eliminate_bias(
    bias: Force, directions: Sequence[Motion], efforts: Sequence[Number], pivots: Sequence[FullPivot]
) -> tuple[Force, tuple[Number, ...]]:
    """Another bias force by pivots that are known: as the parent's side feels it, and the joint's e."""
    rests = []
    for S, tau, pivot in zip(directions, efforts, pivots, strict=True):
        missing = tau - S.dot(bias)
        bias = bias + pivot.gain * missing
        rests.append(missing * pivot.inverse)
    return bias, tuple(rests)


def joint_acceleration(
    x: Motion, directions: Sequence[Motion], pivots: Sequence[Pivot | FullPivot]
) -> tuple[tuple[Number, ...], Motion]:
    """Back substitution: the joint's accelerations, and the body's, from x = what the parent brings.   (30)"""
    accelerations: list[Number] = []
    for S, pivot in reversed(list(zip(directions, pivots, strict=True))):
        a = pivot.rest - x.dot(pivot.gain)
        accelerations.insert(0, a)
        x = x + S * a
    return tuple(accelerations), x


def coordinate(S: Motion) -> int | None:
    """The coordinate direction, of six, that S is by structure; None if it is another one."""
    parts = [*S.w, *S.v]
    known = all(isinstance(x, float) for x in parts)
    return parts.index(1.0) if known and sorted(parts) == [0.0] * 5 + [1.0] else None


def _replace(force: Force, k: int, value: Number) -> Force:
    parts = [*force.n, *force.f]
    parts[k] = value
    return Force(Vector(*parts[:3]), Vector(*parts[3:]))


def _set_row(inertia: ArticulatedInertia, k: int, row: Force) -> ArticulatedInertia:
    """Set row and column k of the 6x6 matrix."""
    a, b, m = [list(r) for r in inertia.A.rows()], [list(r) for r in inertia.B], [list(r) for r in inertia.M.rows()]
    for j in range(3):
        if k < 3:
            a[k][j] = a[j][k] = row.n[j]
            b[k][j] = row.f[j]
        else:
            m[k - 3][j] = m[j][k - 3] = row.f[j]
            b[j][k - 3] = row.n[j]
    upper = [(i, j) for i in range(3) for j in range(i, 3)]
    return ArticulatedInertia(
        Symmetric(*[a[i][j] for i, j in upper]),
        Matrix(*[Vector(*r) for r in b]),
        Symmetric(*[m[i][j] for i, j in upper]),
    )
