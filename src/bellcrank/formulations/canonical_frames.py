"""The frames in which canonical_momenta expresses motions and momenta: those of the bodies, at their joints, or the ground's.

In the bodies' own frames every step is followed by a change to the next frame. In the ground's axes, about the point that is
now at its origin, there are none, and the equations are the same; but inertias have to be turned into those axes first.
"""

from __future__ import annotations

from typing import Protocol

from ..spatial import ArticulatedInertia, Force, Matrix, Motion, Symmetric, Vector
from ..spatial.vector import ZERO
from .base import Body, Walk
from .reference_point import turned

Felt = tuple[ArticulatedInertia, Force, Vector]  # M', D', and what is not constant of the first moment h
NOTHING: Felt = (ArticulatedInertia.zero(), Force.zero(), ZERO)


class Reference(Protocol):
    """The steps at a body for a choice of frames, and the messages between it and its parent."""

    @staticmethod
    def prepare(walk: Walk) -> None: ...

    @staticmethod
    def inertia(body: Body) -> ArticulatedInertia: ...

    @staticmethod
    def moment(body: Body) -> Vector:
        """The body's part of the first moment of the subtree."""

    @staticmethod
    def motion(body: Body, motion: Motion) -> Motion:
        """A motion given in the body's own frame."""

    @staticmethod
    def wrench(body: Body, wrench: Force) -> Force: ...

    @staticmethod
    def up(body: Body, felt: Felt) -> Felt: ...

    @staticmethod
    def up_wrench(body: Body, wrench: Force) -> Force: ...

    @staticmethod
    def down(body: Body, V: Motion, gravity: Vector) -> tuple[Motion, Vector]: ...


class AtJoint:
    """Frames of the bodies, with their origins on their joints: TV and TF are the changes of frame."""

    @staticmethod
    def prepare(walk: Walk) -> None:
        """Frames are known from q alone."""

    @staticmethod
    def inertia(body: Body) -> ArticulatedInertia:
        return body.inertia.articulated()

    @staticmethod
    def moment(body: Body) -> Vector:
        """Whatever is constant of what its children send is counted here, and is data."""
        return body.carried_moment

    @staticmethod
    def motion(body: Body, motion: Motion) -> Motion:
        return motion

    @staticmethod
    def wrench(body: Body, wrench: Force) -> Force:
        return wrench

    @staticmethod
    def up(body: Body, felt: Felt) -> Felt:
        """TF M' TV, TF D'; and what of the first moment about the parent's origin is not constant.     (43), (44)"""
        M, D, h = felt
        body.X = X = body.transform
        M, D = X.up_articulated(M, D, ZERO)
        for turn in reversed(X.after):
            h = turn.up(h)
        h = h + body.slide * body.carried_mass
        for turn in reversed(X.before):
            h = turn.up(h)
        return M, D, h

    @staticmethod
    def up_wrench(body: Body, wrench: Force) -> Force:
        return body.X.up(wrench)

    @staticmethod
    def down(body: Body, V: Motion, gravity: Vector) -> tuple[Motion, Vector]:
        return body.X.down(V), body.X.down_vector(gravity)


class AtOrigin:
    """The ground's axes, at the point of each body that is now at the ground's origin: TV = TF = 1."""

    @staticmethod
    def prepare(walk: Walk) -> None:
        walk.outward(pose, base=(Matrix.identity(), ZERO))

    @staticmethod
    def inertia(body: Body) -> ArticulatedInertia:
        J, mc, m = body.inertia
        at_joint = ArticulatedInertia(turned(body.A, J), Matrix.cross(body.A @ mc), Symmetric.diagonal(m))
        return at_joint.shifted(body.r)

    @staticmethod
    def moment(body: Body) -> Vector:
        return (body.A @ body.inertia.mc) + body.r * body.inertia.m

    @staticmethod
    def motion(body: Body, motion: Motion) -> Motion:
        w = body.A @ motion.w
        return Motion(w, (body.A @ motion.v) + body.r.cross(w))

    @staticmethod
    def wrench(body: Body, wrench: Force) -> Force:
        f = body.A @ wrench.f
        return Force((body.A @ wrench.n) + body.r.cross(f), f)

    @staticmethod
    def up(body: Body, felt: Felt) -> Felt:
        return felt

    @staticmethod
    def up_wrench(body: Body, wrench: Force) -> Force:
        return wrench

    @staticmethod
    def down(body: Body, V: Motion, gravity: Vector) -> tuple[Motion, Vector]:
        return V, gravity


def pose(body: Body, parent: tuple[Matrix, Vector]) -> tuple[Matrix, Vector]:
    A, r = body.transform.pose(*parent)
    body.A, body.r = A, r
    return A, r
