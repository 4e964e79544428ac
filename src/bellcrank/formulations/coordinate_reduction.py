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
from ..spatial.small import NullSpace, factored, identity, null_space, reflected, reflection, substituted
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
    node.basis = (space.N, space.k0)
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
    sums = Sums(len(N), node.on_ground)
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


class Sums:
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


def _resumed(form: Form, on_ground: bool) -> Sums:
    sums = Sums(len(form.d), on_ground)
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
    N, k0 = node.basis
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


class Image(NamedTuple):
    """What a node reports to the one that it hangs on: x = T y + c of the separator, and a Form in y (and the base)."""

    T: tuple[tuple[Number, ...], ...]  # a row for each coordinate of the separator
    c: tuple[Number, ...]
    D: tuple[tuple[Number, ...], ...]
    d: tuple[Number, ...]
    U: tuple[Force, ...]
    I: ArticulatedInertia  # noqa: E741
    P: Force


def eliminate_apart(node: Node, I: ArticulatedInertia, sums: Sums) -> None:  # noqa: E741
    """Put in the images of the nodes that hang here, satisfy the equations, and minimise all but what moves the separator."""
    images = [node.image(k) for k in range(node.children)]
    E, e0, conflicts = substitution(node, [(image.T, image.c) for image in images])
    rows = [_put_in(row, E, e0) for row in (*node.rows, *conflicts)]
    chosen = [rows[k] for k in node.equations]
    size = len(E[0]) if E else 0
    space = null_space([row[:-1] for row in chosen], [row[-1] for row in chosen], size)
    node.report_pivot(space.pivot)
    whole = _with_images(sums, E, e0, images, size)
    for image in images:
        I = I + image.I  # noqa: E741
    reduced = _in_null_space(whole, space)
    x = [[_dot(E[j], N_a) for N_a in space.N] for j in range(node.separator)]
    B = _turned_for(x, [list(N_a) for N_a in space.N], reduced)
    _minimise(node, B, list(space.k0), reduced, I, E, e0)


def substitution(node: Any, images: Sequence[Any]) -> tuple[Rows, list[Number], Rows]:
    """u = E w + e0 with w = (coordinates that no image gives, y of the images); where two images give one, they must agree.

    A conflict is a row over u and w, here over w with its right-hand side.
    """
    n = len(node.dofs)
    given: dict[int, int] = {}
    for k, shared in enumerate(node.shared):
        for j in shared:
            given.setdefault(j, k)
    free = [j for j in range(n) if j not in given]
    starts = [len(free)]
    for T, _ in images:
        starts.append(starts[-1] + (len(T[0]) if T else 0))
    E: Rows = [[0.0] * starts[-1] for _ in range(n)]
    e0: list[Number] = [0.0] * n
    conflicts: Rows = []
    for place, j in enumerate(free):
        E[j][place] = 1.0
    for k, (shared, (T, c)) in enumerate(zip(node.shared, images, strict=True)):
        for j, row, c_j in zip(shared, T, c, strict=True):
            if given[j] == k:
                E[j][starts[k] : starts[k + 1]] = row
                e0[j] = c_j
            else:
                other = list(E[j])
                other[starts[k] : starts[k + 1]] = [-x for x in row]
                conflicts.append([*other, c_j - e0[j]])
    return E, e0, conflicts


def _put_in(row: Sequence[Number], E: Rows, e0: Sequence[Number]) -> list[Number]:
    """A row over u (with its right-hand side) as one over w; a conflict is over w already."""
    if len(row) != len(E) + 1 or isinstance(row, list):
        return list(row)
    size = len(E[0]) if E else 0
    new = [_total(g * E[j][k] for j, g in enumerate(row[:-1])) for k in range(size)]
    return [*new, row[-1] - _total(g * e0[j] for j, g in enumerate(row[:-1]))]


def _with_images(sums: Sums, E: Rows, e0: Sequence[Number], images: Sequence[Image], size: int) -> Sums:
    """The Form over w."""
    n, whole = len(E), Sums(size, sums.on_ground)
    D = [[sums.D[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
    rest = [sums.d[i] - _dot(D[i], e0) for i in range(n)]
    DE = [[_total(D[i][j] * E[j][k] for j in range(n)) for k in range(size)] for i in range(n)]
    for a in range(size):
        whole.d[a] = _total(E[i][a] * rest[i] for i in range(n))
        for b in range(a + 1):
            whole.D[a][b] = _total(E[i][a] * DE[i][b] for i in range(n))
    if not sums.on_ground:
        whole.P = sums.P
        for i, e in enumerate(e0):
            whole.P = whole.P + sums.U[i] * e
        for a in range(size):
            for i in range(n):
                whole.U[a] = whole.U[a] + sums.U[i] * E[i][a]
    start = size - sum(len(image.d) for image in images)
    for image in images:
        for a, d in enumerate(image.d):
            whole.d[start + a] = whole.d[start + a] + d
            for b in range(a + 1):
                whole.D[start + a][start + b] = whole.D[start + a][start + b] + image.D[a][b]
            if not sums.on_ground:
                whole.U[start + a] = whole.U[start + a] + image.U[a]
        if not sums.on_ground:
            whole.P = whole.P + image.P
        start += len(image.d)
    return whole


class _Reduced(NamedTuple):
    """A Form in y, full square D."""

    D: Rows
    d: list[Number]
    U: list[Force]
    P: Force
    on_ground: bool


def _in_null_space(whole: Sums, space: NullSpace) -> _Reduced:
    """w = N y + k0."""
    size = len(space.k0)
    D = [[whole.D[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]
    rest = [whole.d[i] - _dot(D[i], space.k0) for i in range(size)]
    DN = [[_dot(D[i], N_a) for i in range(size)] for N_a in space.N]
    P, U = whole.P, []
    if not whole.on_ground:
        for u, k in zip(whole.U, space.k0, strict=True):
            P = P + u * k
        for N_a in space.N:
            total = Force.zero()
            for u, x in zip(whole.U, N_a, strict=True):
                total = total + u * x
            U.append(total)
    square = [[_dot(N_a, DN_b) for DN_b in DN] for N_a in space.N]
    return _Reduced(square, [_dot(N_a, rest) for N_a in space.N], U, P, whole.on_ground)


def _turned_for(x: Rows, B: Rows, form: _Reduced) -> Rows:
    """Turn y by reflections so that only its first entries move the separator; x, B and the Form follow."""
    for i in range(min(len(x), len(B) - 1)):
        v, factor = reflection(x[i][i:])
        for rows in (x, form.D):
            for row in rows:
                row[i:] = reflected(v, factor, row[i:])
        columns = [reflected(v, factor, list(part)) for part in zip(*B[i:], strict=True)]
        B[i:] = [list(row) for row in zip(*columns, strict=True)]
        turned = [reflected(v, factor, list(part)) for part in zip(*form.D[i:], strict=True)]
        form.D[i:] = [list(row) for row in zip(*turned, strict=True)]
        form.d[i:] = reflected(v, factor, form.d[i:])
        if not form.on_ground:
            parts = [[u[side][k] for u in form.U[i:]] for side in (0, 1) for k in range(3)]
            new = [reflected(v, factor, part) for part in parts]
            form.U[i:] = [Force(Vector(*w[:3]), Vector(*w[3:])) for w in zip(*new, strict=True)]
    return B


def _minimise(
    node: Node,
    B: Rows,
    k0: list[Number],
    form: _Reduced,
    I: ArticulatedInertia,  # noqa: E741
    E: Rows,
    e0: Sequence[Number],
) -> None:
    """w = B y + k0; the y beyond those that are kept take the values that cost least."""
    keep, size = node.kept_unknowns, len(B)
    later = range(keep, size)
    factors = factored([form.D[a][keep : a + 1] for a in later])
    free = substituted(factors, form.d[keep:])
    K = [substituted(factors, [form.D[a][b] for a in later]) for b in range(keep)]  # D_zz^-1 D_zb
    g = [] if form.on_ground else list(gains(factors, form.U[keep:]))
    J = [[x - _total(B[a][i] * K[b][z] for z, a in enumerate(later)) for i, x in enumerate(B[b])] for b in range(keep)]
    c = [x + _total(B[a][i] * free[z] for z, a in enumerate(later)) for i, x in enumerate(k0)]
    node.J, node.cw = tuple(tuple(row) for row in J), tuple(c)
    node.E, node.e0 = tuple(tuple(row) for row in E), tuple(e0)
    P, U = form.P, list(form.U[:keep])
    if not form.on_ground:
        node.gw = tuple(_combined([B[a][i] for a in later], g) for i in range(len(k0)))
        for u, g_z, e in zip(form.U[keep:], g, free, strict=True):
            I, P = I.minus_outer(u, g_z), P + u * e  # noqa: E741
        for b in range(keep):
            U[b] = U[b] + _combined([-form.D[b][a] for a in later], g)
    if node.hangs:
        D = tuple(
            tuple(form.D[b][a] - _total(form.D[b][z] * K[a][k] for k, z in enumerate(later)) for a in range(b + 1))
            for b in range(keep)
        )
        d = tuple(form.d[b] - _total(form.D[b][z] * free[k] for k, z in enumerate(later)) for b in range(keep))
        T = tuple(tuple(_dot(E[j], J[b]) for b in range(keep)) for j in range(node.separator))
        at = tuple(_dot(E[j], c) + e0[j] for j in range(node.separator))
        node.report_image(Image(T, at, D, d, tuple(U), I, P))
    elif not node.on_ground:
        node.report(I, P)


def _combined(weights: Sequence[Number], forces: Sequence[Force]) -> Force:
    total = Force.zero()
    for weight, force in zip(weights, forces, strict=True):
        total = total + force * weight
    return total


def unknowns_apart(node: Node) -> list[Number]:
    """w = J y + c - g A, with y from the node that this one hangs on; nodes that hang here get theirs."""
    y = node.given_unknowns if node.hangs else []
    w = [x + _total(J_b[i] * y_b for J_b, y_b in zip(node.J, y, strict=True)) for i, x in enumerate(node.cw)]
    if not node.on_ground:
        A = node.base_acceleration
        w = [x - A.dot(g) for x, g in zip(w, node.gw, strict=True)]
    start = len(w) - sum(node.image_sizes)
    for k, size in enumerate(node.image_sizes):
        node.send_unknowns(k, w[start : start + size])
        start += size
    return [_dot(row, w) + e for row, e in zip(node.E, node.e0, strict=True)]


def _dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    return _total(x * y for x, y in zip(a, b, strict=True))


PROGRAM = Program("coordinate_reduction", acceleration, inputs=("q", "v", "tau"), outputs={"a": "v"}, forces=True)
PIVOTS = Program(
    "coordinate_reduction_pivots", acceleration, PROGRAM.inputs, {"a": "v", "pivot": "node"}, scratch=("a",), forces=True
)
"""How far each node is from losing an equation: NullSpace.pivot."""
