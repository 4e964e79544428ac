"""Reversed joints: the body that they carry is the one that the user wrote as the parent.

The tree grows from ground, so that the child which the user wrote (C) is the inner body here and the parent (P) the one that
is carried. The coordinates stay those of C relative to P; the pose and the directions are those of P relative to C. With R, p
the pose of C in P's axes, and w, v a motion of C in its own,

    X = (R, p)^-1 = (R^T, -R^T p),     seen from C:  (-R w, R w x p - R v),     wrenches:  (-R n - p x R f, -R f)

A joint about and along a single axis needs nothing but the reversed axis. Universal and planar joints have classes of their own
that take fewer operations; for any other kind ``from_far_side`` makes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..numbers import Number
from ..spatial import Force, FullTurn, Matrix, Motion, PlaneTurn, Vector
from ..spatial.transform import Turn
from .base import NO_DATA, Joint, JointData, JointMotion
from .derived import once


@once
def from_far_side(joint: type[Joint]) -> type[Joint]:
    """The class of joints of a kind that are turned round, always the same one."""

    class Turned(joint):  # type: ignore[valid-type,misc]
        turned = True
        plane = turns_freely = False

        def __reduce__(self) -> tuple[Any, ...]:
            return _made_again, (joint, self.axis, self.axis2, self.pitch)

        @staticmethod
        def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
            slide, turns = joint.motion(q, data)
            for turn in turns:
                slide = turn.down(slide)
            return JointMotion(-slide, tuple(_inverse(turn) for turn in reversed(turns)))

        @staticmethod
        def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
            R, p = _placed(joint, q, data)
            return tuple(_seen_from_child(R, p, S) for S in joint.directions(q, data))

        @classmethod
        def efforts(cls, q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Force, ...]:
            R, p = _placed(joint, q, data)
            turned = [(R @ E.n, R @ E.f) for E in joint.efforts(q, data)]
            return tuple(Force(-(n + p.cross(f)), -f) for n, f in turned)

        @classmethod
        def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
            """R' = R w~ and p' = R u for the joint's own motion w, u: a direction changes by R w x R u, and as S' + w x S."""
            (R, p), S, own = _placed(joint, q, data), joint.directions(q, data), Motion.zero()
            for direction, amount in zip(S, v, strict=True):
                own = own + direction * amount
            rates = []
            for s, rate in zip(S, joint.direction_rates(q, v, data), strict=True):
                change = _seen_from_child(R, p, Motion(own.w.cross(s.w) + rate.w, own.w.cross(s.v) + rate.v))
                rates.append(Motion(change.w, change.v + (R @ s.w.cross(own.v))))
            return tuple(rates)

        @classmethod
        def bias(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> Motion:
            """What the joint's own motion adds to the above cancels."""
            return _seen_from_child(*_placed(joint, q, data), joint.bias(q, v, data))

        @staticmethod
        def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
            inverse = R.transpose()
            return joint.coordinates(inverse, inverse @ (-offset))

    Turned.__name__ = Turned.__qualname__ = f"Turned{joint.__name__}"
    return Turned


def _made_again(joint: type[Joint], *given: Any) -> Joint:
    """A reversed joint in another process, which does not have the classes that are made while the program runs."""
    return from_far_side(joint)(*given)


def _placed(joint: type[Joint], q: Sequence[Number], data: JointData) -> tuple[Matrix, Vector]:
    slide, turns = joint.motion(q, data)
    R = Matrix.identity()
    for turn in turns:
        R = turn.columns(R)
    return R, slide


def _seen_from_child(R: Matrix, p: Vector, motion: Motion) -> Motion:
    """Of P relative to C, at P's origin in P's axes, for a motion of C relative to P, at C's origin in C's."""
    w = R @ motion.w
    return Motion(-w, w.cross(p) - (R @ motion.v))


def _inverse(turn: Turn) -> Turn:
    return PlaneTurn.of(turn.axis, -turn.s, turn.c) if isinstance(turn, PlaneTurn) else FullTurn(turn.r.transpose())
