"""Closed loops in O(n + m): recursive coordinate reduction by blocks, without a partition into dependent coordinates.

Source: Critchley & Anderson's recursive coordinate reduction in the form of EQUATIONS 3.10. A node is a block of loops with
its joints (or a part of a large block, or a single joint of a tree: the block without a closure), seen from the body that it
hangs on, in that body's axes and at its origin:

    A_i = A_b + sum_path s_j u_j + c_i                    motion of a body
    G u = gamma,   u = N y + k0                           closures; N spans the null space of G, k0 is the smallest solution
    J_i = sum_path s_j N_j,   c_i += sum_path s_j k0_j
    I = sum I_i,  U = sum I_i J_i,  D = sum J_i I_i J_i,  P = sum (I_i c_i + p_i),  d = N tau - sum J_i (I_i c_i + p_i)
    message to the base:   I - U D^-1 U^T,   P + U D^-1 d
    outward:   y = D^-1 (d - U A_b),   u = N y + k0

No joint is named dependent and nothing is pivoted: only the number of independent equations is structure. The velocity of the
base's origin is set to zero inside a node, so that accelerations are the classical ones of the bodies' origins.

A large block is taken apart (topology.blocks). A node that hangs on another one by a separator x of shared joints reports in
image form, x = T y + c with a quadratic form in its own y; at the inner node the equations x - T y = c join the closures.

code     paper   meaning, in the axes and at the origin of the base                    unit
R, p             axes (columns) and origin of a body
V, c             velocity; acceleration that velocities bring about, at the base's origin
s        P_k     direction in which a joint moves what it carries
G, gamma         rows of the closures, right-hand side
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from ..numbers import Number
from ..spatial import ArticulatedInertia, Force, FullTurn, Matrix, Motion, RigidInertia, Transform, Vector
from ..spatial.small import NullSpace, factored, identity, null_space, substituted
from ..spatial.vector import ZERO
from .base import Node, Placed, Program, Walk
from .multipliers import closing, from_origin

Rows = list[list[Number]]


def acceleration(walk: Walk) -> None:
    walk.nodes(partial(kinematics, walk))
    walk.nodes(elimination, inward=True)
    walk.nodes(accelerations)


# outward: where everything is --------------------------------------------------------------------------------------


def kinematics(walk: Walk, node: Node) -> None:
    """Positions, velocities, closures; and, where no other node hangs on this one, all that the inward pass needs."""
    places = place_all(node)
    G, gamma = closure_rows(node, places, walk.baumgarte)
    if node.apart:
        node.rows = tuple((*row, right) for row, right in zip(G, gamma, strict=True))
        space = identity(len(node.dofs))
    else:
        space = null_space(G, gamma, len(node.dofs))
        node.report_pivot(space.pivot)
    node.space = space
    node.form, J, c = embedded(node, places, space)
    node.carried = tuple(_carrier(places[o], J[o], c[o]) for o in node.carriers)
    for o in node.carriers:
        node.send_spin(o, places[o].R.transpose() @ places[o].V.w)


class Carrier(NamedTuple):
    """A body on which other nodes hang: its pose; its motion A + J y + c; ``swing`` is its origin's acceleration besides."""

    R: Matrix
    p: Vector
    swing: Vector
    J: tuple[Motion, ...]
    c: Motion

    @property
    def X(self) -> Transform:
        return Transform((), self.p, (FullTurn(self.R),))


def _carrier(at: Placed, J: Sequence[Motion], c: Motion) -> Carrier:
    w = at.V.w
    return Carrier(at.R, at.p, w.cross(at.V.v + w.cross(at.p)), tuple(J), c)


def place_all(node: Node) -> list[Placed]:
    """Of the node's own bodies, then of those that other nodes lend; the base stands still but for its spin."""
    base = Placed(Matrix.identity(), ZERO, Motion(node.spin, ZERO), node.known_acceleration, ())
    places: list[Any] = [None] * len(node.bodies) + [node.borrowed(k) for k in range(node.borrows)]
    for k, body in enumerate(node.bodies):
        above = node.above(k)
        places[k] = place(body, base if above < 0 else places[above])
        if k in node.lends:
            node.lend(k, places[k])
    return [*places, base]  # the base is the last, at -1


def place(body: Any, parent: Placed) -> Placed:
    R, p = body.transform.pose(parent.R, parent.p)
    own, bias = _at_base(R, p, body.velocity), _at_base(R, p, body.bias)
    s = tuple(_at_base(R, p, S) for S in body.directions)
    return Placed(R, p, parent.V + own, parent.c + _rate(parent.V, own) + bias, s)


def _at_base(R: Matrix, p: Vector, S: Motion) -> Motion:
    w = R @ S.w
    return Motion(w, (R @ S.v) + p.cross(w))


def _rate(V: Motion, s: Motion) -> Motion:
    """V x s: how a motion fixed to a body that moves with V changes."""
    return Motion(V.w.cross(s.w), V.w.cross(s.v) + V.v.cross(s.w))


def closure_rows(node: Node, places: Sequence[Placed], baumgarte: tuple[Number, Number]) -> tuple[Rows, list[Number]]:
    """G and gamma of the equations that are kept."""
    G: Rows = []
    gamma: list[Number] = []
    for closure in node.closures:
        a, b = places[closure.a], places[closure.b]
        equations = closing(from_origin, baumgarte, closure.view(a, b))
        for k in closure.kept:
            on_a, on_b, right = equations[k]
            row: list[Number] = closure.factors()
            for f, path in ((on_a, closure.path_a), (on_b, closure.path_b)):
                for joint in path:
                    for i, s in enumerate(places[joint].s):
                        row[node.dof(joint, i)] = row[node.dof(joint, i)] + s.dot(f)
            G.append(row)
            gamma.append(right - (a.c.dot(on_a) + b.c.dot(on_b)))
    return G, gamma


# a node by itself ----------------------------------------------------------------------------------------------------


class Form(NamedTuple):
    """What a node's motion takes: 1/2 (A y)^T [I U; U^T D] (A y) + P A - d y, A the acceleration of the base.

    Of a node on ground, whose acceleration is known, only D and d are there.
    """

    I: RigidInertia  # noqa: E741
    P: Force
    U: tuple[Force, ...]
    D: tuple[tuple[Number, ...], ...]  # lower triangle
    d: tuple[Number, ...]


def embedded(node: Node, places: Sequence[Placed], space: NullSpace) -> tuple[Form, list[Any], list[Any]]:
    """The node's own bodies and joints, with u = N y + k0 put in; J and c of all places."""
    N, k0 = space.N, space.k0
    J: list[Any] = [None] * len(places)
    c: list[Any] = [None] * len(places)
    J[-1], c[-1] = [Motion.zero() for _ in N], Motion.zero()
    sums = _Sums(len(N), node.on_ground)
    for k in node.outward:
        above = node.above(k)
        J[k], c[k] = list(J[above]), c[above]
        for i, s in enumerate(places[k].s):
            dof = node.dof(k, i)
            J[k] = [J_a + s * N_a[dof] for J_a, N_a in zip(J[k], N, strict=True)]
            c[k] = c[k] + s * k0[dof]
        if k < len(node.bodies):
            body = node.bodies[k]
            sums.add_body(body, places[k], J[k], places[k].c + c[k])
            for i, (effort, r) in enumerate(zip(body.effort, body.armature, strict=True)):
                sums.add_joint([N_a[node.dof(k, i)] for N_a in N], effort - r * k0[node.dof(k, i)], r)
    return sums.form(), J, [None if x is None else at.c + x for at, x in zip(places, c, strict=True)]


class _Sums:
    """Adds up a Form over motions A_i = A + J_i y + c_i."""

    def __init__(self, size: int, on_ground: bool) -> None:
        self.on_ground = on_ground
        self.I, self.P = RigidInertia.zero(), Force.zero()
        self.U = [Force.zero() for _ in range(size)]
        self.D: Rows = [[0.0] * (a + 1) for a in range(size)]
        self.d: list[Number] = [0.0] * size

    def add_body(self, body: Any, at: Placed, J: Sequence[Motion], c: Motion) -> None:
        inertia = Transform((), at.p, (FullTurn(at.R),)).up_rigid(body.inertia)
        momentum = inertia @ at.V
        n, f = body.applied
        pushed = at.R @ f
        p = _gyroscopic(at.V, momentum) - Force((at.R @ n) + at.p.cross(pushed), pushed)
        self.add(inertia, (inertia @ c) + p, J)
        if not self.on_ground:
            self.I = self.I + inertia

    def add(self, inertia: RigidInertia | ArticulatedInertia, h: Force, J: Sequence[Motion]) -> None:
        for a, J_a in enumerate(J):
            felt = inertia @ J_a
            self.d[a] = self.d[a] - J_a.dot(h)
            for b in range(a + 1):
                self.D[a][b] = self.D[a][b] + J[b].dot(felt)
            if not self.on_ground:
                self.U[a] = self.U[a] + felt
        if not self.on_ground:
            self.P = self.P + h

    def add_joint(self, N: Sequence[Number], effort: Number, armature: Number) -> None:
        for a, N_a in enumerate(N):
            self.d[a] = self.d[a] + N_a * effort
            for b in range(a + 1):
                self.D[a][b] = self.D[a][b] + N_a * armature * N[b]

    def form(self) -> Form:
        return Form(self.I, self.P, tuple(self.U), tuple(tuple(row) for row in self.D), tuple(self.d))


def _gyroscopic(V: Motion, momentum: Force) -> Force:
    """V x* momentum."""
    return Force(V.w.cross(momentum.n) + V.v.cross(momentum.f), V.w.cross(momentum.f))


# inward: what the base feels -----------------------------------------------------------------------------------------


def elimination(node: Node) -> None:
    """Add what hangs on the carriers, solve for the node's own motion, and tell the base what is left."""
    form: Form = node.form
    sums = _resumed(form, node.on_ground)
    I = form.I.articulated()  # noqa: E741
    for o, at in zip(node.carriers, node.carried, strict=True):
        felt, f = at.X.up_articulated(*node.felt(o), at.swing)
        sums.add(felt, (felt @ at.c) + f, at.J)
        I = I + felt  # noqa: E741
    if node.apart:
        eliminate_apart(node, I, sums)
        return
    factors = factored(sums.D)
    node.free = tuple(substituted(factors, sums.d))
    if not node.on_ground:
        node.gains = gains(factors, sums.U)
        node.report(*message(I, sums.P, sums.U, node.gains, node.free))


def _resumed(form: Form, on_ground: bool) -> _Sums:
    sums = _Sums(len(form.d), on_ground)
    sums.P, sums.U, sums.d = form.P, list(form.U), list(form.d)
    sums.D = [list(row) for row in form.D]
    return sums


def gains(factors: Any, U: Sequence[Force]) -> tuple[Force, ...]:
    """D^-1 U^T, a wrench for each y."""
    columns = [substituted(factors, [u[part][k] for u in U]) for part in (0, 1) for k in range(3)]
    return tuple(Force(Vector(*[x[a] for x in columns[:3]]), Vector(*[x[a] for x in columns[3:]])) for a in range(len(U)))


def message(
    I: ArticulatedInertia,  # noqa: E741
    P: Force,
    U: Sequence[Force],
    gain: Sequence[Force],
    free: Sequence[Number],
) -> tuple[ArticulatedInertia, Force]:
    """I - U D^-1 U^T, P + U D^-1 d."""
    for u, g, e in zip(U, gain, free, strict=True):
        I, P = I.minus_outer(u, g), P + u * e  # noqa: E741
    return I, P


# outward again: accelerations ----------------------------------------------------------------------------------------


def accelerations(node: Node) -> None:
    y = unknowns_apart(node) if node.apart else list(node.free)
    A = Motion.zero() if node.on_ground else node.base_acceleration
    if not (node.on_ground or node.apart):
        y = [e - A.dot(g) for e, g in zip(y, node.gains, strict=True)]
    N, k0, _ = node.space
    node.output_joints("a", [x + _total(N_a[j] * y_a for N_a, y_a in zip(N, y, strict=True)) for j, x in enumerate(k0)])
    for o, at in zip(node.carriers, node.carried, strict=True):
        motion = A + at.c
        for J, y_a in zip(at.J, y, strict=True):
            motion = motion + J * y_a
        node.send_acceleration(o, at.X.down(motion, at.swing))


def _total(terms: Any) -> Number:
    result: Number = 0.0
    for term in terms:
        result = result + term
    return result


# nodes of a block that is taken apart --------------------------------------------------------------------------------


def eliminate_apart(node: Node, I: ArticulatedInertia, sums: _Sums) -> None:  # noqa: E741
    raise NotImplementedError


def unknowns_apart(node: Node) -> list[Number]:
    raise NotImplementedError


PROGRAM = Program("coordinate_reduction", acceleration, inputs=("q", "v", "tau"), outputs={"a": "v"}, forces=True)
