"""Closed loops by cut joints and Lagrange multipliers, the multipliers found by recursion about a chosen reference point.

Source: Kang & Yoon (38)-(46), EQUATIONS 1.6. Each equation that closes a loop, sum_j Phi_Zj Y'_j = gamma, is carried inward
over the tree by the pivots of the elimination; what it leaves at the joints gives a small system for the multipliers.

    Phi_2 = Phi_Z B_2                                          (39)    what the equation leaves at a joint
    Phi_Zi += Phi_Z B_1 - Phi_2 M_22^-1 M_21                   (40)
    gamma -= Phi_2 M_22^-1 Q_2 + Phi_Z D                       (41)
    Phi_lambda lambda = gamma,  Phi_lambda = sum Phi_2 M_22^-1 Phi_2^T   (42)

Phi_lambda is never formed. With W = Phi_2 M_22^-1/2, row by row, W = L Q (Q orthonormal) gives Phi_lambda = L L^T without
squaring its condition number, finds the rows that depend on earlier ones, and the joints feel M_22^1/2 Q^T L^-1 gamma.

code      paper      meaning                                                          unit
f         Phi_Z      the equation's row on a body, as a wrench at its reference point
row                  what the equation leaves behind: W, gamma, and a bound that says when W is zero
push                 Q^T L^-1 gamma: what the closures add to the joints, scaled
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...constraints import Equation
from ...numbers import Number, sqrt
from ...spatial import ArticulatedInertia, Force, Matrix, Motion, Vector, eliminate
from ...spatial.elimination import FullPivot
from ...spatial.vector import ZERO
from .. import reference_point
from ..base import AttachedBody, Body, Carried, Closure, Row, Walk
from ..program import Program
from ..reference_point import Felt, Reference, State

Seen = Callable[[AttachedBody], tuple[Vector, Vector]]


def from_centroid(body: AttachedBody) -> tuple[Vector, Vector]:
    """The closure's point seen from the reference point, and the rate of that: tables 1 to 4."""
    s = body.p - body.r - body.rho
    return s, body.w.cross(s)


def from_joint_point(body: AttachedBody) -> tuple[Vector, Vector]:
    s = body.p - body.r
    return s, body.w.cross(s)


def from_origin(body: AttachedBody) -> tuple[Vector, Vector]:
    return body.p, body.v + body.w.cross(body.p - body.r)


def acceleration(walk: Walk, reference: Reference, seen: Seen) -> None:
    solve(walk, reference, seen)
    walk.outward(accelerations, base=Motion.zero())


def multipliers(walk: Walk, reference: Reference, seen: Seen) -> None:
    solve(walk, reference, seen)
    walk.output_equations("solution", "multiplier", "pivot", "residual")


def acceleration_and_multipliers(walk: Walk, reference: Reference, seen: Seen) -> None:
    acceleration(walk, reference, seen)
    walk.output_equations("lambda", "multiplier")


def solve(walk: Walk, reference: Reference, seen: Seen) -> None:
    ground = State(Matrix.identity(), ZERO, ZERO, ZERO, ZERO, ZERO)
    walk.outward(partial(reference_point.kinematics, walk.gravity, reference), base=ground)
    walk.inward(elimination, leaf=(ArticulatedInertia.zero(), Force.zero()))
    walk.closures(partial(closing, seen, walk.baumgarte))
    walk.carry_equations(partial(inward, walk.length))
    walk.orthonormalise()


def elimination(body: Body, felt: Felt) -> Felt:
    """(28), (29), with pivots that serve the equations too."""
    inertia, force = felt
    M, p, body.pivots = eliminate(body.M + inertia, force - body.Q, body.B2, body.effort, body.armature)
    n, f = p + (M @ body.D)
    return M.shifted(body.shift), Force(n + body.shift.cross(f), f)


def closing(seen: Seen, baumgarte: tuple[Number, Number], closure: Closure) -> Sequence[Carried]:
    """The closure's equations at the reference points of its two bodies.         (38), (44)-(46)

    Baumgarte's terms pull errors back like a damper and a spring: gamma - 2 alpha rate - beta^2 error.
    """
    damping, stiffness = baumgarte
    rights = [e.gamma - (damping * e.rate + stiffness * e.error) for e in closure.equations]
    return [_at_reference(seen, closure, *pair) for pair in zip(closure.equations, rights, strict=True)]


def _at_reference(seen: Seen, closure: Closure, equation: Equation, right: Number) -> Carried:
    carried = []
    for body, (n, f) in ((closure.i, equation.on_i), (closure.j, equation.on_j)):
        s, sdot = seen(body)
        carried.append(Force(n + s.cross(f), f))
        right = right - f.dot(body.w.cross(sdot))
    return carried[0], carried[1], right


def inward(length: Number, body: Body, row: Row, f: Force) -> Force:
    """One equation across one joint.                                             (39)-(41)"""
    left, known = [], 0.0
    bound: Number = 0.0
    for S, pivot, own in zip(body.B2, body.pivots, row.own(body), strict=True):
        Phi_2 = S.dot(f) + own
        left.append(Phi_2 * sqrt(pivot.inverse))
        bound = bound + largest(S, f, own, length) * pivot.inverse
        known = known + Phi_2 * pivot.rest
        f = f - pivot.gain * Phi_2
    row.leave(body, left, bound, known + body.D.dot(f))
    return Force(f.n + body.shift.cross(f.f), f.f)


def largest(S: Motion, f: Force, own: Number, length: Number) -> Number:
    """The square of what S.f could be if all pointed the same way, with lever arms of a typical length at least."""
    push = f.f.dot(f.f)
    return 2.0 * (S.w.dot(S.w) * (f.n.dot(f.n) + length * length * push) + S.v.dot(S.v) * push) + own * own


def accelerations(body: Body, parent: Motion) -> Motion:
    """(43)"""
    x = Motion(parent.w, parent.v + parent.w.cross(body.shift)) + body.D
    a, motion = pushed(x, body.B2, body.pivots, body.input("push"))
    body.output("a", a)
    return motion


def pushed(
    x: Motion, directions: Sequence[Motion], pivots: Sequence[FullPivot], push: Sequence[Number]
) -> tuple[list[Number], Motion]:
    """Back substitution with what the closures add: spatial.joint_acceleration."""
    a: list[Number] = []
    for S, pivot, more in reversed(list(zip(directions, pivots, push, strict=True))):
        a.insert(0, pivot.rest - x.dot(pivot.gain) + more * sqrt(pivot.inverse))
        x = x + S * a[0]
    return a, x


def _programs(name: str, reference: Reference, seen: Seen) -> tuple[Program, Program, Program]:
    """Accelerations; accelerations with the multipliers beside them; multipliers, pivots and residuals."""
    given: dict[str, Any] = {"reference": reference, "seen": seen}
    inputs = ("q", "v", "tau")
    both = partial(acceleration_and_multipliers, **given)
    outputs = {"a": "v", "lambda": "row"}
    return (
        Program(f"multipliers:{name}", partial(acceleration, **given), inputs, {"a": "v"}, forces=True),
        Program(f"multipliers:{name}+", both, inputs, outputs, scratch=("lambda",), forces=True),
        Program(f"multiplier_values:{name}", partial(multipliers, **given), inputs, {"solution": "row*3"}, forces=True),
    )


CENTROID, CENTROID_BOTH, _ = _programs("centroid", reference_point.centroid, from_centroid)
JOINT, JOINT_BOTH, VALUES = _programs("joint", reference_point.joint_point, from_joint_point)
ORIGIN, ORIGIN_BOTH, _ = _programs("origin", reference_point.origin, from_origin)
