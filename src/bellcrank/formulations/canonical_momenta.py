"""Hamilton's equations of a tree by recursion: dq/dt and dp/dt from q and p, two sweeps, O(n).

Source: Naudet, Lefeber & Terze; equations cited as (n), corrected and carried further in EQUATIONS 4. The momentum of a
joint is p = E.P*, with P* the momentum of the whole subtree about the joint point. Where v is dq/dt, p = dL/dv; where it is
not (quaternions), E is fixed in the body and p is a quasi-momentum, to which the same equations apply.

code     paper     meaning, in the body's frame or at the instant origin             unit
E, Edot  E, E'     directions that the joint leaves free, and their rates
V        Omega     velocity of the body: angular, linear                             rad/s, m/s
M, D     M*, D     inertia of the subtree as felt here, and remainder momentum
M1, D1   M', D'    the same on the parent's side of the joint
P        P*        momentum of the subtree                                           N m s, N s
T        T*        wrench on the subtree from outside                                N m, N
m, h               mass and first moment of the subtree, for its weight              kg, kg m
pivots   M_J^-1    the joint's own block, factored

The elimination is that of accelerations (Kang & Yoon (28), (29)) with p in the place of the effort and no bias: (45)-(48).
Gravity needs no velocities, so that T* is known in time. Forces that do take one more sweep, after the velocities (4.4).

canonical_frames has the two choices for where all this is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..numbers import Number, is_constant
from ..spatial import ArticulatedInertia, Force, Matrix, Motion, Vector, eliminate, joint_acceleration
from ..spatial.elimination import FullPivot, Pivot, coordinate, eliminate_bias
from ..spatial.vector import ZERO
from .base import Body, Walk
from .canonical_frames import NOTHING, AtJoint, AtOrigin, Felt, Reference, pose
from .inverse_dynamics import output_drive, output_wrench
from .program import Program


def hamilton(walk: Walk, at: type[Reference]) -> None:
    """q, p -> v, dp/dt."""
    at.prepare(walk)
    heavy = not all(is_constant(g) and g == 0 for g in walk.gravity)
    walk.inward(partial(elimination, at, heavy), leaf=NOTHING)
    walk.outward(partial(balance, at, walk.loaded), base=(Motion.zero(), walk.gravity))
    if walk.loaded:
        walk.apply_forces()
        walk.inward(partial(loads, at), leaf=Force.zero())


def elimination(at: type[Reference], heavy: bool, body: Body, felt: Felt) -> Felt:
    """Eliminate the joint's velocity; inertia and remainder momentum as the parent feels them.   (43)-(48)"""
    M, D, h = felt
    body.h = at.moment(body) + h if heavy else ZERO
    body.E = directions(at, body)
    body.M1, body.D1, pivots = eliminated(at, body, at.inertia(body) + M, D)
    body.pivots = tuple(pivot.light for pivot in pivots)
    return at.up(body, (body.M1, body.D1, body.h))


def eliminated(
    at: type[Reference], body: Body, M: ArticulatedInertia, D: Force
) -> tuple[ArticulatedInertia, Force, tuple[FullPivot, ...]]:
    """M', D' and the pivots; a prescribed motion leaves its momentum in D'."""
    if body.driven:
        return M, D + (M @ at.motion(body, body.velocity)), ()
    return eliminate(M, D, body.E, body.input("p"), body.armature)


def directions(at: type[Reference], body: Body) -> tuple[Motion, ...]:
    return tuple(at.motion(body, S) for S in body.directions)


def balance(at: type[Reference], loaded: bool, body: Body, parent: tuple[Motion, Vector]) -> tuple[Motion, Vector]:
    """Velocities (45), and the balance of the subtree's momentum along the joint.   (35)"""
    carried, gravity = at.down(body, *parent)
    v, V = relative(at, body, carried)
    weight = Force(body.h.cross(gravity), gravity * body.carried_mass)
    axis = hinge_axis(body)
    if axis is None:
        P = (body.M1 @ carried) + body.D1  # (42)
        T = weight - crossed(V, P)
        Edot = [at.motion(body, S) for S in body.direction_rates(v)]
        pdot = [S.dot(T) + Sdot.dot(P) for S, Sdot in zip(body.E, Edot, strict=True)]
    else:
        pdot = [weight.n[axis] - crossed_about(axis, body.M1, body.D1, carried)]
    body.output("v", v)
    if loaded:
        body.pdot = tuple(pdot)
    else:
        body.output("pdot", [x + effort for x, effort in zip(pdot, body.effort, strict=True)])
    return V, gravity


def hinge_axis(body: Body) -> int | None:
    """The axis of a joint that only turns about it; M' then has no entries there."""
    k = coordinate(body.E[0]) if len(body.E) == 1 else None
    plain = k is not None and k < 3 and is_constant(body.armature[0]) and body.armature[0] == 0
    return k if plain else None


def crossed_about(k: int, M: ArticulatedInertia, D: Force, V: Motion) -> Number:
    """(Omega x P*) about the axis k of a hinge, without P*: the same whether Omega has the hinge's own turning in it or not.

    A quadratic form whose differences are those that turn M' about k, which has been done.
    """
    i, j = (k + 1) % 3, (k + 2) % 3
    A, B, m = M.A.rows(), M.B, M.M.rows()
    w, v = V
    d, e, g, dm = A[i][i] - A[j][j], B[i][i] - B[j][j], B[i][j] + B[j][i], m[i][i] - m[j][j]
    moment_i, moment_j = B[j][k] * v[k] + D.n[j], B[i][k] * v[k] + D.n[i]
    force_i, force_j = m[j][k] * v[k] + D.f[j], m[i][k] * v[k] + D.f[i]
    return (
        w[i] * (A[i][j] * w[i] - d * w[j] + g * v[i] - e * v[j] + moment_i)
        - w[j] * (A[i][j] * w[j] + g * v[j] + e * v[i] + moment_j)
        + v[i] * (m[i][j] * v[i] - dm * v[j] + force_i)
        - v[j] * (m[i][j] * v[j] + force_j)
    )


def relative(at: type[Reference], body: Body, carried: Motion) -> tuple[tuple[Number, ...], Motion]:
    """The joint's own velocities, and the body's, which its parent carries along.   (45)"""
    if body.driven:
        return (), carried + at.motion(body, body.velocity)
    return joint_acceleration(carried, body.E, body.pivots)


def crossed(V: Motion, P: Force) -> Force:
    """Omega x P: rate of a momentum that is constant in axes, and at a point, that move with V.   (16)"""
    return Force(V.w.cross(P.n) + V.v.cross(P.f), V.w.cross(P.f))


def loads(at: type[Reference], body: Body, carried: Force) -> Force:
    """The share of the force elements, whose forces are known only after the velocities."""
    T = carried + at.wrench(body, body.applied)
    given = zip(body.pdot, body.E, body.effort, strict=True)
    body.output("pdot", [x + S.dot(T) + effort for x, S, effort in given])
    return at.up_wrench(body, T)


# momenta from velocities and back -----------------------------------------------------------------------------------


def momenta(walk: Walk) -> None:
    """q, v -> p."""
    walk.outward(momentum, base=Motion.zero())
    walk.inward(gathered, leaf=Force.zero())


def momentum(body: Body, parent: Motion) -> Motion:
    V = body.transform.down(parent) + body.velocity
    body.P = body.inertia @ V
    return V


def gathered(body: Body, carried: Force) -> Force:
    """p = E.P* + armature v.   (34)"""
    P = body.P + carried
    given = zip(body.directions, body.armature, body.input("v"), strict=False)
    body.output("p", [S.dot(P) + r * v for S, r, v in given])
    return body.transform.up(P)


def velocities(walk: Walk, at: type[Reference]) -> None:
    """q, p -> v."""
    at.prepare(walk)
    walk.inward(partial(elimination, at, False), leaf=NOTHING)
    walk.outward(partial(velocity, at), base=Motion.zero())


def velocity(at: type[Reference], body: Body, parent: Motion) -> Motion:
    carried, _ = at.down(body, parent, ZERO)
    v, V = relative(at, body, carried)
    body.output("v", v)
    return V


# accelerations and reactions: the bias pass of EQUATIONS 4.6, which the paper leaves to the future -------------------


def acceleration(walk: Walk, at: type[Reference]) -> None:
    """q, v -> p -> v -> dv/dt: the velocities go through the momenta and come back."""
    momenta(walk)
    at.prepare(walk)
    walk.inward(partial(elimination_kept, at), leaf=NOTHING)
    walk.outward(partial(biases, at), base=Motion.zero())
    walk.inward(partial(bias_elimination, at), leaf=Force.zero())
    walk.outward(partial(accelerations, at), base=Motion(ZERO, -walk.gravity))


def reactions(walk: Walk, at: type[Reference], put_out: Callable[[Body, Force], None]) -> None:
    """q, p -> the wrench through every joint, M* dOmega/dt + b."""
    walk.outward(pose, base=(Matrix.identity(), ZERO))
    walk.inward(partial(elimination_kept, at), leaf=NOTHING)
    walk.outward(partial(velocities_and_biases, at), base=Motion.zero())
    if walk.loaded:
        walk.apply_forces()
    walk.inward(partial(bias_elimination, at), leaf=Force.zero())
    walk.outward(partial(wrenches, at, put_out), base=Motion(ZERO, -walk.gravity))


def elimination_kept(at: type[Reference], body: Body, felt: Felt) -> Felt:
    """The elimination, keeping what the bias pass uses again."""
    M, D, _ = felt
    body.E = directions(at, body)
    body.M = at.inertia(body) + M
    M1, D1, body.pivots = eliminated(at, body, body.M, D)
    return at.up(body, (M1, D1, ZERO))


def biases(at: type[Reference], body: Body, parent: Motion) -> Motion:
    """zeta: the acceleration that is known; and the momentum balance of the body alone, Omega x M Omega."""
    return known(at, body, parent)[1]


def velocities_and_biases(at: type[Reference], body: Body, parent: Motion) -> Motion:
    v, V = known(at, body, parent)
    body.output("v", v)
    return V


def known(at: type[Reference], body: Body, parent: Motion) -> tuple[tuple[Number, ...], Motion]:
    """zeta = Omega_parent x (E v) + E' v (+ what a prescribed motion adds), with x the cross product of motions."""
    carried, _ = at.down(body, parent, ZERO)
    v, V = relative(at, body, carried)
    own, change = body.velocity, body.bias
    if not body.driven:
        own = combined(body.directions, v)
        change = combined(body.direction_rates(v), v)
    J = at.motion(body, own)
    body.zeta = Motion(carried.w.cross(J.w), carried.w.cross(J.v) + carried.v.cross(J.w)) + at.motion(body, change)
    body.gyroscopic = crossed(V, at.inertia(body) @ V)
    return v, V


def combined(directions: Sequence[Motion], amounts: Sequence[Number]) -> Motion:
    result = Motion.zero()
    for S, amount in zip(directions, amounts, strict=True):
        result = result + S * amount
    return result


def bias_elimination(at: type[Reference], body: Body, carried: Force) -> Force:
    """The joint eliminated from the bias force: u = tau - E.(b + M* zeta)."""
    body.b = body.gyroscopic - at.wrench(body, body.applied) + carried
    force, body.rests = eliminate_bias(body.b + (body.M @ body.zeta), body.E, body.effort, body.pivots)
    return at.up_wrench(body, force)


def accelerations(at: type[Reference], body: Body, parent: Motion) -> Motion:
    a, A = accelerated(at, body, parent)
    body.output("a", a)
    return A


def wrenches(at: type[Reference], put_out: Callable[[Body, Force], None], body: Body, parent: Motion) -> Motion:
    _, A = accelerated(at, body, parent)
    put_out(body, (body.M @ A) + body.b)
    return A


def output_reaction(body: Body, F: Force) -> None:
    output_wrench(body, body.A, F)


def accelerated(at: type[Reference], body: Body, parent: Motion) -> tuple[tuple[Number, ...], Motion]:
    carried, _ = at.down(body, parent, ZERO)
    pivots = [Pivot(pivot.gain, rest) for pivot, rest in zip(body.pivots, body.rests, strict=True)]
    a, A = joint_acceleration(carried, body.E, pivots)
    return a, A + body.zeta


def _programs(name: str, at: type[Reference]) -> tuple[Program, Program]:
    """dq/dt and dp/dt from q and p; and accelerations, like those of other formulations."""
    own = f"canonical_momenta:{name}"
    rates = Program(
        own, partial(hamilton, at=at), inputs=("q", "p", "tau"), outputs={"v": "v", "pdot": "v"}, forces=True, late=True
    )
    accelerating = Program(
        f"{own}+", partial(acceleration, at=at), ("q", "v", "tau"), {"p": "v", "a": "v"}, scratch=("p",), forces=True
    )
    return rates, accelerating


JOINT, JOINT_ACCELERATION = _programs("joint", AtJoint)
ORIGIN, ORIGIN_ACCELERATION = _programs("origin", AtOrigin)
MOMENTA = Program("momenta", momenta, inputs=("q", "v"), outputs={"p": "v"})
VELOCITIES = Program("velocities", partial(velocities, at=AtJoint), inputs=("q", "p"), outputs={"v": "v"})
REACTIONS = Program(
    "canonical_reactions",
    partial(reactions, at=AtJoint, put_out=output_reaction),
    inputs=("q", "p", "tau"),
    outputs={"v": "v", "wrench": "body*12"},
    scratch=("v",),
    forces=True,
    late=True,
)
DRIVES = replace(
    REACTIONS,
    name="canonical_drives",
    run=partial(reactions, at=AtJoint, put_out=output_drive),
    outputs={"v": "v", "drive": "drive*2"},
)
