"""Articulated-body dynamics of a tree, in body frames: the fast default.

Source: Kang & Yoon with the joint point as reference, in the bodies' own axes; EQUATIONS 1, cited as (n). The classical
acceleration of each body's origin is propagated, so no linear velocity is needed, and gravity enters as an acceleration
of ground. A tree joint is the trivial block of EQUATIONS 3.10 (N = 1, k0 = 0).

code     paper     meaning, in the body's own frame                            unit
X        B_1       pose of the body's frame in its parent's
S        B_2       directions that the joint leaves free
w                  angular velocity                                            rad/s
cp                 centripetal acceleration of the origin, in X's axes between m/s2
c        D         the rest of the velocity-square part of the acceleration    rad/s2, m/s2
I, p     M, -Q     inertia and bias force of the subtree, as felt here         kg m2, kg m, kg; N m, N
pivots   M_22^-1   the joint's own block, factored
"""

from __future__ import annotations

from ..spatial import ArticulatedInertia, Force, Motion, Vector, eliminate, joint_acceleration
from ..spatial.vector import ZERO
from .base import Body, Walk
from .program import Program

Felt = tuple[ArticulatedInertia, Force]


def acceleration(walk: Walk) -> None:
    walk.outward(velocities, base=ZERO)
    walk.inward(elimination, leaf=(ArticulatedInertia.zero(), Force.zero()))
    walk.outward(accelerations, base=Motion(ZERO, -walk.gravity))


def velocities(body: Body, w_parent: Vector) -> Vector:
    """Angular velocities, from the base to the tips.                             (19), (27)"""
    X, J = body.transform, body.velocity
    turning = X.between(w_parent)
    w = X.down_vector(w_parent)
    body.X, body.S = X, body.directions
    body.cp = turning.cross(turning.cross(X.offset))
    body.c = Motion(w.cross(J.w), coriolis(w, J)) + body.bias
    w = w + J.w
    body.p = body.inertia.gyroscopic(w) - body.applied
    return w


def coriolis(w: Vector, J: Motion) -> Vector:
    """2 w x v + w_rel x v: the joint's own velocity v is given in axes that turn with the body."""
    return (w + w + J.w).cross(J.v)


def elimination(body: Body, felt: Felt) -> Felt:
    """Eliminate the joint; what the parent feels, from the tips inward.          (28), (29)"""
    inertia, force = felt
    I = body.inertia.articulated() + inertia  # noqa: E741
    I, p, pivots = eliminate(I, body.p + force, body.S, body.effort, body.armature)  # noqa: E741
    body.pivots = tuple(pivot.light for pivot in pivots)
    return body.X.up_articulated(I, p + (I @ body.c), body.cp)


def accelerations(body: Body, parent: Motion) -> Motion:
    """Accelerations, from the base to the tips.                                  (30)"""
    x = body.X.down(parent, body.cp) + body.c
    a, motion = joint_acceleration(x, body.S, body.pivots)
    body.output("a", a)
    return motion


PROGRAM = Program("articulated_body", acceleration, inputs=("q", "v", "tau"), outputs={"a": "v"}, forces=True)
