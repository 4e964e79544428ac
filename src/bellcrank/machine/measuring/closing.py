"""Coordinates, velocities and efforts of joints that close loops, and the directions along which closures push."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...joints import JOINTS, JointData
from ...numbers import Number, less, select, sqrt
from ...spatial import Matrix, Motion, Vector

if TYPE_CHECKING:
    from .kinds import MeasureContext


def _frames(at: MeasureContext) -> tuple[Matrix, Matrix, Vector, Vector, Motion]:
    """Axes on both bodies, their points, and the motion of b relative to a in its own axes, at its point."""
    a, b = at.state("a"), at.state("b")
    _, p_a, _ = a.point(at.vector("point_a"))
    _, p_b, pdot_b = b.point(at.vector("point_b"))
    A_a, A_b = a.R.times(at.matrix("axes")), b.R.times(at.matrix("axes_b"))
    inward = A_b.transpose()
    slip = pdot_b - (a.v + a.w.cross(p_b - a.r))
    return A_a, A_b, p_a, p_b, Motion(inward @ (b.w - a.w), inward @ slip)


def _coordinates(at: MeasureContext) -> tuple[Sequence[Number], Matrix, Motion]:
    A_a, A_b, p_a, p_b, moving = _frames(at)
    inverse = A_a.transpose()
    R, offset = inverse.times(A_b), inverse @ (p_b - p_a)
    joint = JOINTS[at.signature.joint]
    return (quaternion_of(R) if joint.quaternion is not None else joint.coordinates(R, offset)), A_b, moving


def coordinate(at: MeasureContext) -> Number:
    """q, or v: what the motion of b relative to a is along the direction of a coordinate."""
    q, _, moving = _coordinates(at)
    if at.signature.part == "q":
        return q[at.signature.dof]
    return moving.dot(JOINTS[at.signature.joint].efforts(q, JointData(pitch=at.value))[at.signature.dof])


def effort(at: MeasureContext) -> Number:
    """The effort that keeps a driven closure on its law, from the wrench on its second body at its point."""
    if at.signature.joint == "coupler":
        return at.read("lambda", at.entry("first"))
    start = at.entry("index") * 7
    f, n = at.triple("closing", start), at.triple("closing", start + 3)
    if at.signature.joint not in JOINTS:
        return f.dot(way(at))
    q, A_b, _ = _coordinates(at)
    S = JOINTS[at.signature.joint].directions(q, JointData(pitch=at.value))[at.signature.dof]
    inward = A_b.transpose()
    return S.w.dot(inward @ n) + S.v.dot(inward @ f)


def way(at: MeasureContext) -> Vector:
    """Unit direction along which a closure that is not a joint pushes its second body: from a to b, or a plane's normal; about
    which perpendicular axes turn it."""
    A_a, A_b, p_a, p_b, _ = _frames(at)
    if at.signature.joint == "perpendicular":
        return A_a.transpose().z.cross(A_b.transpose().x)
    if at.signature.joint == "point_on_plane":
        return A_a.transpose().z
    d = p_b - p_a
    return d * (1.0 / sqrt(d.dot(d)))


def quaternion_of(R: Matrix) -> list[Number]:
    """w, x, y, z with w >= 0, by the largest of the four, whose square is at least a quarter (Shepperd)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
    squares = [1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz]
    products = [
        [squares[0], zy - yz, xz - zx, yx - xy],
        [zy - yz, squares[1], xy + yx, xz + zx],
        [xz - zx, xy + yx, squares[2], yz + zy],
        [yx - xy, xz + zx, yz + zy, squares[3]],
    ]
    best, row = squares[0], products[0]
    for square, other in zip(squares[1:], products[1:], strict=True):
        larger = less(best, square)
        row = [select(larger, b, a) for a, b in zip(row, other, strict=True)]
        best = select(larger, square, best)
    scale = 0.5 / sqrt(best)
    scale = select(less(row[0], 0.0), -scale, scale)
    return [entry * scale for entry in row]
