"""Joints that are written from their far side: the body that they carry is the parent that the user wrote.

The tree grows from ground, so that the child which the user wrote (C) is the inner body here and the parent (P) the one that
is carried. The coordinates stay those of C relative to P; the pose and the directions are those of P relative to C. With R, p
the pose of C in P's axes and w, v a direction of C in its own,

    X = (R, p)^-1 = (R^T, -R^T p),     S = (-R w, -R v + R w x p),     E = (-R n - p x R f, -R f)

A joint about and along a single axis needs nothing but the reversed axis. Where the classes of a kind write the above in fewer
operations, they have a class of their own beside them; for any other kind ``from_far_side`` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..numbers import Dual, Number
from ..spatial import Force, FullTurn, Matrix, Motion, PlaneTurn, Vector
from ..spatial.transform import Turn
from .base import NO_DATA, Joint, JointData, JointMotion


def from_far_side(joint: type[Joint]) -> type[Joint]:
    """The class of joints of a kind that are turned round."""

    def placed(q: Sequence[Number], data: JointData) -> tuple[Matrix, Vector]:
        slide, turns = joint.motion(q, data)
        R = Matrix.identity()
        for turn in turns:
            R = turn.columns(R)
        return R, slide

    class Turned(joint):  # type: ignore[valid-type,misc]
        turned = True
        plane = turns_freely = False

        @staticmethod
        def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
            slide, turns = joint.motion(q, data)
            for turn in turns:
                slide = turn.down(slide)
            return JointMotion(-slide, tuple(_inverse(turn) for turn in reversed(turns)))

        @staticmethod
        def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
            R, p = placed(q, data)
            turned = [(R @ S.w, R @ S.v) for S in joint.directions(q, data)]
            return tuple(Motion(-w, w.cross(p) - v) for w, v in turned)

        @classmethod
        def efforts(cls, q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Force, ...]:
            R, p = placed(q, data)
            turned = [(R @ E.n, R @ E.f) for E in joint.efforts(q, data)]
            return tuple(Force(-(n + p.cross(f)), -f) for n, f in turned)

        @classmethod
        def direction_rates(cls, q: Sequence[Number], v: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
            moving = [Dual(x, [rate]) for x, rate in zip(q, joint.rates(q, v), strict=True)]
            return tuple(Motion(_slopes(S.w), _slopes(S.v)) for S in cls.directions(moving, data))

        @staticmethod
        def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
            inverse = R.transpose()
            return joint.coordinates(inverse, inverse @ (-offset))

    Turned.__name__ = Turned.__qualname__ = f"Turned{joint.__name__}"
    return Turned


def _inverse(turn: Turn) -> Turn:
    return PlaneTurn.of(turn.axis, -turn.s, turn.c) if isinstance(turn, PlaneTurn) else FullTurn(turn.r.transpose())


def _slopes(x: Vector) -> Vector:
    return Vector(*[part.tangents[0] if isinstance(part, Dual) else 0.0 for part in x])
