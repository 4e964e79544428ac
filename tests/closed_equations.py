"""What closes a loop, as functions of the positions of two bodies alone.

Every number is a jet: it comes with its first and second time derivatives, for B ways to move at once. The equations below
are sums and products of positions and directions; their Jacobians and the terms in velocity squared follow by the rules of
differentiation, never by a formula of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import reference
from .reference import Array, Long


@dataclass(frozen=True)
class Jet:
    """A value, its rate and its second rate; the first axis of each is the way of moving."""

    x: Array
    d: Array
    dd: Array

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.x + other.x, self.d + other.d, self.dd + other.dd)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.x - other.x, self.d - other.d, self.dd - other.dd)

    def __mul__(self, other: Jet) -> Jet:
        return Jet(
            self.x * other.x, self.d * other.x + self.x * other.d, self.dd * other.x + 2 * self.d * other.d + self.x * other.dd
        )

    def __matmul__(self, other: Jet) -> Jet:
        return Jet(*reference.product((self.x, self.d, self.dd), (other.x, other.d, other.dd)))

    def times(self, factor: Any) -> Jet:
        return Jet(self.x * factor, self.d * factor, self.dd * factor)

    def along(self, vector: Any) -> Jet:
        """A matrix times a constant vector."""
        u = np.array(vector, dtype=Long)
        return Jet(self.x @ u, self.d @ u, self.dd @ u)

    @property
    def back(self) -> Jet:
        return Jet(*(np.swapaxes(part, -1, -2) for part in (self.x, self.d, self.dd)))

    def turned(self, vector: Jet) -> Jet:
        """A matrix times a vector."""
        column = self @ Jet(vector.x[..., None], vector.d[..., None], vector.dd[..., None])
        return Jet(column.x[..., 0], column.d[..., 0], column.dd[..., 0])


def dot(a: Jet, b: Jet) -> Jet:
    product = a * b
    return Jet(product.x.sum(-1), product.d.sum(-1), product.dd.sum(-1))


def angle(sine: Jet, cosine: Jet) -> Jet:
    """Of a direction; f = atan2(s, c), (s^2 + c^2) f' = c s' - s c' and once more."""
    square, area = sine * sine + cosine * cosine, cosine.x * sine.d - sine.x * cosine.d
    rate = area / square.x
    second = (cosine.x * sine.dd - sine.x * cosine.dd - square.d * rate) / square.x
    return Jet(np.arctan2(sine.x, cosine.x), rate, second)


def stacked(parts: list[Jet], ways: int) -> Jet:
    """Scalars (B,) and vectors (B, k) side by side."""
    empty = np.zeros((ways, 0), dtype=Long)
    wide = [[part if part.ndim == 2 else part[:, None] for part in (jet.x, jet.d, jet.dd)] for jet in parts]
    return Jet(*(np.concatenate([empty, *(three[k] for three in wide)], axis=1) for k in range(3)))


class Pose(NamedTuple):
    """A frame on a body: rotation (B, 3, 3) and origin (B, 3)."""

    R: Jet
    p: Jet

    def at(self, point: Any) -> Pose:
        """The frame moved to a point of the body."""
        return Pose(self.R, self.p + self.R.along(point))

    def carried(self, R: Jet, x: Jet) -> Pose:
        """A frame that moves relative to this one."""
        return Pose(self.R @ R, self.p + self.R.turned(x))


def at_rest(R: Array, p: Array, ways: int) -> Pose:
    turn, place = np.broadcast_to(R, (ways, 3, 3)), np.broadcast_to(p, (ways, 3))
    return Pose(Jet(turn, np.zeros_like(turn), np.zeros_like(turn)), Jet(place, np.zeros_like(place), np.zeros_like(place)))


def triad(axis: Any) -> tuple[Array, Array, Array]:
    """The axis and two more that complete it, right-handed."""
    a = np.array(axis, dtype=Long)
    first = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    first = first / np.sqrt((first**2).sum())
    return a, first, np.cross(a, first)


def joint_equations(joint: Any, a: Pose, b: Pose) -> Jet:
    """What a joint demands of the frames at its point on the parent a and on the child b."""
    gap = b.p - a.p

    def d1(u: Any, w: Any) -> Jet:
        return dot(a.R.along(u), b.R.along(w))

    def d2(u: Any) -> Jet:
        return dot(a.R.along(u), gap)

    x, y, z = np.eye(3)
    axis, e1, e2 = triad(joint.axis or z)
    parallel, centred = [d1(e1, axis), d1(e2, axis)], [d2(e1), d2(e2)]
    rows = {
        "free": list,
        "spherical": lambda: [gap],
        "universal": lambda: [gap, d1(axis, joint.axis2)],
        "revolute": lambda: [gap, *parallel],
        "fixed": lambda: [gap, d1(x, y), d1(y, z), d1(z, x)],
        "cylindrical": lambda: [*parallel, *centred],
        "prismatic": lambda: [*parallel, *centred, d1(e1, e2)],
        "screw": lambda: [*parallel, *centred, advance(joint, a, b)],
        "planar": lambda: [*parallel, d2(axis)],
    }
    return stacked(rows[joint.kind](), len(gap.x))


def advance(joint: Any, a: Pose, b: Pose) -> Jet:
    """Of a screw: its slide less what its angle says, which is known but for whole turns."""
    axis, e1, e2 = triad(joint.axis)
    turn, slide = angle(dot(a.R.along(e2), b.R.along(e1)), dot(a.R.along(e1), b.R.along(e1))), dot(a.R.along(axis), b.p - a.p)
    whole = 2 * np.arccos(Long(-1))
    missing = np.round((slide.x / Long(joint.pitch) - turn.x) / whole) * whole
    return slide - Jet(turn.x + missing, turn.d, turn.dd).times(Long(joint.pitch))


def driven_frame(joint: Any, motion: Any, a: Pose, t: float) -> Pose:
    """Where the law of a driven joint wants its child."""
    q, v, acc = reference.driven_state(joint, motion, t)
    R, x = reference.joint_pose(joint, q, v[None], acc[None])
    return a.carried(Jet(*R), Jet(*x))


def closure_equations(closure: Any, bodies: list[Pose], joint_of: Any, t: float) -> Jet:
    """(B, rows); ``bodies`` ends with ground; ``joint_of(row)`` says joint, parent's frame and child's frame."""
    if closure.kind == "coupler":
        parts = []
        for row, dof, factor in closure.terms:
            coordinate = coordinates(*joint_of(row))
            parts.append(Jet(coordinate.x[:, dof], coordinate.d[:, dof], coordinate.dd[:, dof]).times(Long(factor)))
        return stacked([sum(parts[1:], parts[0]) - wanted(closure, t)], len(parts[0].x))
    a, b = bodies[closure.body_a].at(closure.point_a), bodies[closure.body_b].at(closure.point_b)
    ways, gap = len(a.p.x), b.p - a.p
    if closure.kind == "distance":
        length = wanted(closure, t)
        return stacked([dot(gap, gap) - length * length], ways)
    if closure.kind == "point_on_line":
        _, e1, e2 = triad(closure.axis)
        return stacked([dot(a.R.along(e1), gap), dot(a.R.along(e2), gap)], ways)
    if closure.kind == "perpendicular":
        return stacked([dot(a.R.along(closure.axis), b.R.along(closure.axis2))], ways)
    if closure.kind == "point_on_plane":
        return stacked([dot(a.R.along(closure.axis), gap) - wanted(closure, t)], ways)
    if closure.motion is None:
        return joint_equations(closure.joint, a, b)
    return joint_equations(FIXED, driven_frame(closure.joint, closure.motion, a, t), b)


class _Fixed(NamedTuple):
    kind: str = "fixed"
    axis: None = None


FIXED = _Fixed()


def wanted(closure: Any, t: float) -> Jet:
    """The value of a closure, or its law."""
    numbers = (Long(closure.value), Long(0), Long(0)) if closure.motion is None else reference.law(closure.motion.laws[0], t)
    return Jet(*(np.array([x], dtype=Long) for x in numbers))


# Coordinates of a joint, from the frames of its two bodies -----------------------------------------------------------------


def coordinates(joint: Any, a: Pose, b: Pose) -> Jet:
    """(B, nq) of a joint without quaternion, as DECISIONS say; angles between -pi and pi."""
    turn, shift = a.R.back @ b.R, a.R.back.turned(b.p - a.p)
    ways = len(shift.x)

    def slide(u: Any) -> Jet:
        u = np.array(u, dtype=Long)
        return Jet(shift.x @ u, shift.d @ u, shift.dd @ u)

    def component(matrix: Jet, u: Any, w: Any) -> Jet:
        """u . matrix w"""
        column, u = matrix.along(w), np.array(u, dtype=Long)
        return Jet(column.x @ u, column.d @ u, column.dd @ u)

    if joint.kind == "fixed":
        return stacked([], ways)
    axis, e1, e2 = triad(joint.axis)
    about = angle(component(turn, e2, e1), component(turn, e1, e1))
    if joint.kind in ("revolute", "screw"):
        return stacked([about], ways)
    if joint.kind == "prismatic":
        return stacked([slide(axis)], ways)
    if joint.kind == "cylindrical":
        return stacked([about, slide(axis)], ways)
    second = np.array(joint.axis2, dtype=Long)
    third = np.cross(axis, second)
    if joint.kind == "planar":
        return stacked([slide(second), slide(third), about], ways)
    assert joint.kind == "universal"
    # The second axis is turned by the first angle; seen from the child, the first axis is turned back by the second angle.
    first_angle = angle(component(turn, third, second), component(turn, second, second))
    second_angle = angle(component(turn.back, third, axis), component(turn.back, axis, axis))
    return stacked([first_angle, second_angle], ways)


def speeds(joint: Any, a: Pose, b: Pose) -> tuple[Array, Array]:
    """v of a joint and dv/dt, (B, nv)."""
    if joint.quaternion is None:
        q = coordinates(joint, a, b)
        return q.d, q.dd
    turn, shift = a.R.back @ b.R, a.R.back.turned(b.p - a.p)
    back = turn.back
    spin = reference.of_cross_matrix(back.x @ turn.d)
    gain = reference.of_cross_matrix(back.d @ turn.d + back.x @ turn.dd)
    if joint.kind == "spherical":
        return spin, gain
    moving, gaining = _times(back.x, shift.d), _times(back.d, shift.d) + _times(back.x, shift.dd)
    return np.concatenate([moving, spin], axis=1), np.concatenate([gaining, gain], axis=1)


def _times(matrices: Array, vectors: Array) -> Array:
    return np.einsum("bij,bj->bi", matrices, vectors)


# Virtual work --------------------------------------------------------------------------------------------------------------


def unit_twists(pose: Pose, point: Array) -> Pose:
    """A body that moves in six ways, three shifts and three turns about a point, from where it is."""
    R, p = pose.R.x[0], pose.p.x[0]
    shift, spin = np.eye(6, dtype=Long)[:, :3], reference.cross_matrix(np.eye(6, dtype=Long)[:, 3:])
    turning, moving = spin @ R, shift + spin @ (p - point)
    place, turn = np.broadcast_to(p, (6, 3)), np.broadcast_to(R, (6, 3, 3))
    return Pose(Jet(turn, turning, 0 * turning), Jet(place, moving, 0 * moving))


def still(pose: Pose, ways: int) -> Pose:
    return at_rest(pose.R.x[0], pose.p.x[0], ways)
