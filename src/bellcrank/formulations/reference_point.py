"""Fully recursive dynamics about a chosen reference point, in world axes.

Source: Kang & Yoon, equations cited as (n), corrected as in EQUATIONS 1. The three candidates for the point P at which a
body's motion and forces are taken: its centroid, its joint, or the body-fixed point that is now at the global origin.

code        paper           meaning, in the ground's axes                            unit
A, r        A_j, r_j        axes and origin (joint point) of the body                -, m
w, rdot     w_j, rdot_j     angular velocity, velocity of the origin                 rad/s, m/s
rho         rho_j           centroid seen from the origin                            m
w_ij, v_ij                  the joint's own angular and linear velocity              rad/s, m/s
eta, xi     eta_j           the joint's own velocity-square terms: angular, linear   rad/s2, m/s2
p                           reference point                                          m
shift       B_1             p_j - p_i                                                m
B2          B_2             motion at P for each unit of v
D           D_j             velocity-square part of the acceleration at P            rad/s2, m/s2
x, xdot                     centroid seen from P, and its rate                       m, m/s
M, Q        M, Q            inertia and force at P

The paper gives directions of translation that are fixed in the parent. Ours may be fixed in the body (a free joint), which
adds xi = w_ij x v_ij to D; it vanishes for the paper's joints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ..spatial import ArticulatedInertia, Force, Matrix, Motion, Symmetric, Vector, eliminate, joint_acceleration
from ..spatial.vector import ZERO
from .base import Body, Walk
from .program import Program

Felt = tuple[ArticulatedInertia, Force]


class State(NamedTuple):
    """The state that a body sends to its children; ``p`` and ``pdot`` move with the reference point."""

    A: Matrix
    r: Vector
    rdot: Vector
    w: Vector
    p: Vector
    pdot: Vector


class JointRates(NamedTuple):
    w_ij: Vector
    v_ij: Vector
    eta: Vector
    xi: Vector


class AtReference(NamedTuple):
    """A body's reference point, the joint-dependent part of D there, and the centroid seen from it."""

    p: Vector
    pdot: Vector
    D: Vector
    x: Vector
    xdot: Vector


def centroid(i: State, j: State, joint: JointRates, rho: Vector, rhodot: Vector) -> AtReference:
    """(22)-(27)"""
    p, pdot = j.r + rho, j.rdot + rhodot
    D = i.w.cross((pdot - i.pdot) + joint.v_ij) + joint.w_ij.cross(rhodot) - rho.cross(joint.eta)
    return AtReference(p, pdot, D, ZERO, ZERO)


def joint_point(i: State, j: State, joint: JointRates, rho: Vector, rhodot: Vector) -> AtReference:
    """Not written out in the paper; EQUATIONS 1.3."""
    return AtReference(j.r, j.rdot, i.w.cross((j.rdot - i.rdot) + joint.v_ij), rho, rhodot)


def origin(i: State, j: State, joint: JointRates, rho: Vector, rhodot: Vector) -> AtReference:
    """(31)-(36)"""
    D = i.w.cross(joint.v_ij) + j.rdot.cross(joint.w_ij) + j.r.cross(joint.eta)
    return AtReference(ZERO, ZERO, D, j.r + rho, j.rdot + rhodot)


Reference = Callable[[State, State, JointRates, Vector, Vector], AtReference]


def acceleration(walk: Walk, reference: Reference) -> None:
    ground = State(Matrix.identity(), ZERO, ZERO, ZERO, ZERO, ZERO)
    walk.outward(partial(kinematics, walk.gravity, reference), base=ground)
    walk.inward(elimination, leaf=(ArticulatedInertia.zero(), Force.zero()))
    walk.outward(accelerations, base=Motion.zero())


def kinematics(gravity: Vector, reference: Reference, body: Body, i: State) -> State:
    """Positions, velocities, and everything at the reference point.              (9)-(27)"""
    A, r = body.transform.pose(i.A, i.r)
    own, bias = body.velocity, body.bias
    w_ij, v_ij = A @ own.w, A @ own.v
    joint = JointRates(w_ij, v_ij, eta=i.w.cross(w_ij) + (A @ bias.w), xi=w_ij.cross(v_ij) + (A @ bias.v))
    w = i.w + w_ij
    rdot = i.rdot + i.w.cross(r - i.r) + v_ij
    rho = A @ body.center
    at = reference(i, State(A, r, rdot, w, ZERO, ZERO), joint, rho, w.cross(rho))
    body.shift = at.p - i.p
    arm = at.p - r
    body.B2 = tuple(Motion(A @ S.w, (A @ S.v) + (A @ S.w).cross(arm)) for S in body.directions)
    body.D = Motion(joint.eta, at.D + joint.xi)
    body.M, body.Q = mass_and_force(body, A, w, at, r - at.p, gravity)
    return State(A, r, rdot, w, at.p, at.pdot)


def mass_and_force(body: Body, A: Matrix, w: Vector, at: AtReference, arm: Vector, gravity: Vector) -> Felt:
    """M and Q at the reference point, from which the origin is seen at ``arm``; J is about the centroid.  (3), (8), (36)"""
    m, x = body.inertia.m, at.x
    J = turned(A, body.central_inertia)
    mx = x * m
    M = ArticulatedInertia(_minus_double_cross(J, mx, x), Matrix.cross(mx), Symmetric.diagonal(m))
    F = (gravity + at.xdot.cross(w)) * m
    n, f = body.applied_world
    return M, Force(x.cross(F) - w.cross(J @ w) + n + arm.cross(f), F + f)


def turned(A: Matrix, J: Symmetric) -> Symmetric:
    """A J A^T."""
    rows = A.rows()
    turned = [J @ row for row in rows]
    return Symmetric(*[rows[i].dot(turned[k]) for i in range(3) for k in range(i, 3)])


def _minus_double_cross(J: Symmetric, mx: Vector, x: Vector) -> Symmetric:
    """J - m x~ x~."""
    d = mx.dot(x)
    return Symmetric(
        J.xx + (d - mx.x * x.x),
        J.xy - mx.x * x.y,
        J.xz - mx.x * x.z,
        J.yy + (d - mx.y * x.y),
        J.yz - mx.y * x.z,
        J.zz + (d - mx.z * x.z),
    )


def elimination(body: Body, felt: Felt) -> Felt:
    """Eliminate the joint; what the parent feels at its own reference point.     (28), (29)"""
    inertia, force = felt
    M, p, pivots = eliminate(body.M + inertia, force - body.Q, body.B2, body.effort, body.armature)
    body.pivots = tuple(pivot.light for pivot in pivots)
    n, f = p + (M @ body.D)
    return M.shifted(body.shift), Force(n + body.shift.cross(f), f)


def accelerations(body: Body, parent: Motion) -> Motion:
    """(30)"""
    carried = Motion(parent.w, parent.v + parent.w.cross(body.shift))
    a, motion = joint_acceleration(carried + body.D, body.B2, body.pivots)
    body.output("a", a)
    return motion


def _program(name: str, reference: Reference) -> Program:
    run = partial(acceleration, reference=reference)
    return Program(f"reference_point:{name}", run, inputs=("q", "v", "tau"), outputs={"a": "v"}, forces=True)


CENTROID = _program("centroid", centroid)
JOINT = _program("joint", joint_point)
ORIGIN = _program("origin", origin)
