"""Inverse dynamics: the efforts, and the wrench through every joint, of a given motion.

Newton and Euler body by body (Luh, Walker & Paul); the notation is that of articulated_body.

code   meaning, in the body's own frame                                unit
w      angular velocity                                                rad/s
A      acceleration: angular, and classical of the origin              rad/s2, m/s2
F      wrench of the parent on the body, at the origin                 N m, N
R, r   axes and origin of the body in the ground's frame
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..numbers import Number
from ..spatial import Force, Matrix, Motion, Vector
from ..spatial.vector import ZERO
from .articulated_body import coriolis
from .base import Body, Walk
from .program import Program

Moving = tuple[Vector, Motion]


def inverse_dynamics(walk: Walk) -> None:
    walk.outward(motion, base=(ZERO, Motion(ZERO, -walk.gravity)))
    walk.inward(efforts, leaf=Force.zero())


def motion(body: Body, parent: Moving) -> Moving:
    """Velocities and accelerations of the given motion."""
    return moving(body, parent, body.input("a"))


def moving(body: Body, parent: Moving, accelerations: Sequence[Number]) -> Moving:
    """Velocities, accelerations, and the wrench that this motion of the body takes."""
    w_parent, A_parent = parent
    X, J = body.transform, body.velocity
    turning = X.between(w_parent)
    w = X.down_vector(w_parent)
    A = X.down(A_parent, turning.cross(turning.cross(X.offset)))
    A = A + Motion(w.cross(J.w), coriolis(w, J)) + body.bias
    for S, a in zip(body.directions, accelerations, strict=False):
        A = A + S * a
    w = w + J.w
    body.X = X
    body.F = (body.inertia @ A) + body.inertia.gyroscopic(w) - body.applied
    return w, A


def efforts(body: Body, carried: Force, name: str = "tau") -> Force:
    """tau = S.F + armature a, less what is given or force elements on the joint give; the parent carries the wrench on."""
    F = body.F + carried
    given = zip(body.directions, body.armature, body.input("a"), body.effort, strict=False)
    body.output(name, [S.dot(F) + r * a - effort for S, r, a, effort in given])
    return body.X.up(F)


def reactions(walk: Walk) -> None:
    walk.outward(pose, base=(Matrix.identity(), ZERO))
    walk.outward(motion, base=(ZERO, Motion(ZERO, -walk.gravity)))
    walk.inward(wrenches, leaf=Force.zero())


def pose(body: Body, parent: tuple[Matrix, Vector]) -> tuple[Matrix, Vector]:
    R, r = body.transform.pose(*parent)
    body.R = R
    return R, r


def wrenches(body: Body, carried: Force) -> Force:
    """The wrench through the joint in the ground's axes, without its part along the free directions and with it.

    The part along the free directions is the joint's own effort.
    """
    F = body.F + carried
    output_wrench(body, body.R, F)
    return body.X.up(F)


def output_wrench(body: Body, R: Matrix, F: Force) -> None:
    without_effort = F
    for S, E in zip(body.freedoms, body.efforts, strict=True):
        without_effort = without_effort - E * S.dot(F)
    body.output("wrench", [*(R @ without_effort.f), *(R @ without_effort.n), *(R @ F.f), *(R @ F.n)])


def drives(walk: Walk) -> None:
    walk.outward(motion, base=(ZERO, Motion(ZERO, -walk.gravity)))
    walk.inward(drive, leaf=Force.zero())


def drive(body: Body, carried: Force) -> Force:
    """Efforts that keep prescribed motions going, and the power that they bring."""
    F = body.F + carried
    output_drive(body, F)
    return body.X.up(F)


def output_drive(body: Body, F: Force) -> None:
    if body.driven:
        efforts = [S.dot(F) for S in body.freedoms]
        pairs = zip(efforts, body.input("v"), strict=True)
        body.output("drive", [x for effort, v in pairs for x in (effort, effort * v)])


PROGRAM = Program("inverse_dynamics", inverse_dynamics, ("q", "v", "a"), {"tau": "v"}, forces=True)
REACTIONS = Program("reactions", reactions, ("q", "v", "a"), {"wrench": "body*12"}, forces=True)
DRIVES = Program("drives", drives, ("q", "v", "a"), {"drive": "drive*2"}, forces=True)

CLOSED = replace(PROGRAM, name="closed_inverse_dynamics", inputs=("q", "v", "a", "lambda"))
CLOSED_REACTIONS = replace(REACTIONS, name="closed_reactions", inputs=("q", "v", "a", "lambda"))
CLOSED_DRIVES = replace(DRIVES, name="closed_drives", inputs=("q", "v", "a", "lambda"))
"""The same with closed loops, whose multipliers push on the bodies like forces."""
