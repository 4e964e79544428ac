"""Errors of closures in positions and velocities, their Jacobian, and the smallest change that corrects the errors.

The equations (EQUATIONS 1.6) are carried inward rigidly, at the bodies' origins in the ground's axes; what one leaves at a
joint is its row of the Jacobian G there. A change of least norm, angles in rad and lengths scaled, is

    dx = -w Q^T L^-1 error,    G w = L Q  (Q orthonormal),    w = 1 / |direction|

Redundant equations are found by the same factorisation (formulations.multipliers) and do not disturb it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...constraints import Equation
from ...numbers import Number, sqrt
from ...spatial import ArticulatedInertia, Force, Matrix, Motion, Symmetric, Vector, eliminate
from ...spatial.vector import ZERO
from ..base import Body, Carried, Closure, Row, Walk
from ..program import Program
from ..reference_point import turned
from .multipliers import inward, largest, pushed

Pose = tuple[Matrix, Vector]
Wanted = Callable[[Equation], Number]


def errors(walk: Walk) -> None:
    """For every equation: the error, which should be zero, and its rate."""
    walk.closures(partial(holding, lambda equation: 0.0))
    walk.output_equations("closure", "error", "rate")


def right_hand_sides(walk: Walk) -> None:
    """For every equation: gamma in G a = gamma, by one pass outward over the bodies, so that the cost is linear."""
    walk.outward(known_motion, base=(Matrix.identity(), ZERO, ZERO, Motion.zero()))
    walk.closures(left_by_velocities)
    walk.output_equations("gamma", "right")


def known_motion(
    body: Body, parent: tuple[Matrix, Vector, Vector, Motion], accelerations: Sequence[Number] = ()
) -> tuple[Matrix, Vector, Vector, Motion]:
    """Acceleration of the body that velocities bring about, and those given; D is what its joint adds.   (27), joint point"""
    R_i, r_i, w_i, A = parent
    R, r = body.transform.pose(R_i, r_i)
    shift, own, more = r - r_i, body.velocity, body.bias
    for S, a in zip(body.directions, accelerations, strict=False):
        more = more + S * a
    w_ij, v_ij = R @ own.w, R @ own.v
    swing = w_i.cross(w_i.cross(shift) + v_ij * 2.0) + w_ij.cross(v_ij)
    D = Motion(w_i.cross(w_ij) + (R @ more.w), swing + (R @ more.v))
    A = Motion(A.w + D.w, A.v + A.w.cross(shift) + D.v)
    if body.attached:
        body.leave_known(A)
    return R, r, w_i + w_ij, A


def left_by_velocities(closure: Closure) -> Sequence[Carried]:
    """The residual of the closure's equations at the accelerations that velocities cause."""
    answers = []
    for equation in closure.equations:
        right = equation.gamma
        for body, (n, f) in ((closure.i, equation.on_i), (closure.j, equation.on_j)):
            if body.known is not None:
                s = body.p - body.r
                point = body.known.v + body.known.w.cross(s) + body.w.cross(body.w.cross(s))
                right = right - (n.dot(body.known.w) + f.dot(point))
        answers.append((Force.zero(), Force.zero(), right))
    return answers


def jacobian(walk: Walk) -> None:
    walk.outward(placement, base=(Matrix.identity(), ZERO))
    walk.closures(partial(holding, lambda equation: 0.0))
    walk.carry_equations(rigid)


def placement(body: Body, parent: Pose) -> Pose:
    R, r = body.transform.pose(*parent)
    body.shift = r - parent[1]
    body.B2 = tuple(Motion(R @ S.w, R @ S.v) for S in body.directions)
    return R, r


def holding(wanted: Wanted, closure: Closure) -> Sequence[Carried]:
    """The equations at the bodies' origins, with another right-hand side."""
    carried = []
    for equation in closure.equations:
        arms = closure.i.p - closure.i.r, closure.j.p - closure.j.r
        on_i, on_j = (Force(n + s.cross(f), f) for s, (n, f) in zip(arms, (equation.on_i, equation.on_j), strict=True))
        carried.append((on_i, on_j, wanted(equation)))
    return carried


def rigid(body: Body, row: Row, f: Force) -> Force:
    """The coefficients of the equation on each coordinate: its row of the Jacobian."""
    row.leave(body, [S.dot(f) + own for S, own in zip(body.B2, row.own(body), strict=True)], 0.0, 0.0)
    return Force(f.n + body.shift.cross(f.f), f.f)


def projection(walk: Walk, wanted: Wanted, name: str) -> None:
    """The smallest change of coordinates or velocities that satisfies the equations to first order."""
    walk.outward(partial(weighted_placement, walk.length), base=(Matrix.identity(), ZERO))
    walk.closures(partial(holding, wanted))
    walk.carry_equations(partial(weighted, walk.length))
    walk.orthonormalise()
    walk.outward(partial(change, name), base=0.0)


def weighted_placement(length: Number, body: Body, parent: Pose) -> Pose:
    size = [S.w.dot(S.w) + S.v.dot(S.v) / (length * length) for S in body.directions]
    body.weights = tuple(1.0 / sqrt(x) for x in size)
    return placement(body, parent)


def weighted(length: Number, body: Body, row: Row, f: Force) -> Force:
    left: list[Number] = []
    bound: Number = 0.0
    for S, weight, own in zip(body.B2, body.weights, row.own(body), strict=True):
        left.append((S.dot(f) + own) * weight)
        bound = bound + largest(S, f, own, length) * (weight * weight)
    row.leave(body, left, bound, 0.0)
    return Force(f.n + body.shift.cross(f.f), f.f)


def change(name: str, body: Body, nothing: float) -> float:
    body.output(name, [weight * push for weight, push in zip(body.weights, body.input("push"), strict=True)])
    return nothing


def mass_projection(walk: Walk, wanted: Wanted, name: str) -> None:
    """The projection of least kinetic energy: one pass inward and outward of the multipliers' recursion (EQUATIONS 1.9)."""
    walk.outward(massive_placement, base=(Matrix.identity(), ZERO))
    walk.inward(elimination, leaf=ArticulatedInertia.zero())
    walk.closures(partial(holding, wanted))
    walk.carry_equations(partial(inward, walk.length))
    walk.orthonormalise()
    walk.outward(partial(mass_change, name), base=Motion.zero())


def massive_placement(body: Body, parent: Pose) -> Pose:
    """M: inertia about the body's origin, in the ground's axes."""
    R, r = placement(body, parent)
    inertia = body.inertia
    mc = R @ inertia.mc
    M = ArticulatedInertia(turned(R, inertia.J), Matrix.cross(mc), Symmetric.diagonal(inertia.m))
    body.M, body.D = M, Motion.zero()
    return R, r


def elimination(body: Body, felt: ArticulatedInertia) -> ArticulatedInertia:
    still = (0.0,) * len(body.B2)
    M, _, body.pivots = eliminate(body.M + felt, Force.zero(), body.B2, still, body.armature)
    return M.shifted(body.shift)


def mass_change(name: str, body: Body, parent: Motion) -> Motion:
    x = Motion(parent.w, parent.v + parent.w.cross(body.shift))
    changes, motion = pushed(x, body.B2, body.pivots, body.input("push"))
    body.output(name, changes)
    return motion


def minus_error(equation: Equation) -> Number:
    return -equation.error


def minus_rate(equation: Equation) -> Number:
    return -equation.rate


ERRORS = Program("closure", errors, inputs=("q", "v"), outputs={"closure": "row*2"})
RIGHT = Program("closure_right", right_hand_sides, inputs=("q", "v"), outputs={"gamma": "row"})
JACOBIAN = Program("closure_jacobian", jacobian, ("q", "v"), {"G": "row*v"})
POSITIONS = Program("project_positions", partial(projection, wanted=minus_error, name="dx"), ("q", "v"), {"dx": "v"})
VELOCITIES = Program("project_velocities", partial(projection, wanted=minus_rate, name="dv"), ("q", "v"), {"dv": "v"})
MASS_POSITIONS = Program(
    "project_positions:mass", partial(mass_projection, wanted=minus_error, name="dx"), ("q", "v"), {"dx": "v"}
)
MASS_VELOCITIES = Program(
    "project_velocities:mass", partial(mass_projection, wanted=minus_rate, name="dv"), ("q", "v"), {"dv": "v"}
)
REACTIONS = Program("closing_reactions", lambda walk: None, ("q", "v", "lambda"), {"closing": "closure*7"})
"""Of each closure, left before the (empty) walk: wrench on its second body at its point, and power on the two bodies."""
