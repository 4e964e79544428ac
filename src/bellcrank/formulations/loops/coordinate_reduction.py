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

No joint is named dependent and nothing is pivoted: only the number of independent equations is structure; where there are fewer
at a state (a flat parallelogram), its accelerations are not numbers. The velocity of the
base's origin is set to zero inside a node, so that accelerations are the classical ones of the bodies' origins.

A long loop is eliminated along its own bodies, its joints being nodes by themselves (long_loops).

Many equal loops are done several at a time but for what they wait for: the spin of their base outward, inertias inward
(nodes abreast: unturned, turned).

A large block has a clique tree (plan.nodes.blocks). A node shares the joints x of a separator with its parent and
reports in condensed form, x = T y + c with a quadratic form in its own y; at the inner node the equations x - T y = c join the
closures.

code     paper   meaning, in the axes and at the origin of the base                    unit
R, p             axes (columns) and origin of a body
V, c             velocity; acceleration that velocities bring about, at the base's origin
s        P_k     direction in which a joint moves what it carries
G, gamma         rows of the closures, right-hand side
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...numbers import Number
from ...spatial import FullTurn, Matrix, Motion, Transform, Vector
from ...spatial.small import NullSpace, factored, identity, null_space, substituted
from ...spatial.vector import ZERO
from ..base import Walk
from ..nodes import Node, Placed
from ..program import Program
from . import long_loops
from .agreement import absolute, agree, greatest
from .closure import holding, minus_error
from .condensed import eliminate_condensed, unknowns_condensed
from .multipliers import closing, from_joint_point
from .node_forms import Form, Takes, gains, inertia_force, message, resumed, sums_of, total
from .node_places import closure_rows, place_all, turning


def acceleration(walk: Walk) -> None:
    unchecked(walk)
    if walk.checks:
        walk.nodes(partial(agree, walk))


def unchecked(walk: Walk) -> None:
    """Accelerations by the equations that are kept, whatever the others say."""
    walk.nodes_abreast(unturned)
    walk.nodes(partial(kinematics, walk))
    walk.nodes_abreast(partial(turned, walk))
    walk.nodes(elimination, inward=True)
    walk.nodes(motions)


# outward: where everything is --------------------------------------------------------------------------------------


def kinematics(walk: Walk, node: Node) -> None:
    """Positions, velocities, closures; and, where this node has no children, all that the inward pass needs.

    Of nodes abreast only the spin waits for the base.
    """
    if node.abreast:
        send_spins(node, [turning(at, node.spin) for at in node.unturned])
        return
    places = place_all(node)
    embed(walk, node, places)
    send_spins(node, places)
    if node.link:
        equations = partial(closing, from_joint_point, walk.baumgarte)
        long_loops.place(node, equations, spin=node.spin_of_loop, moves=velocity, gravity=Motion(ZERO, -walk.gravity))


def unturned(node: Node) -> None:
    """Poses and motions of the bodies if the base does not turn."""
    node.unturned = tuple(place_all(node, spin=ZERO))


def turned(walk: Walk, node: Node) -> None:
    embed(walk, node, [turning(at, node.spin) for at in node.unturned])


def send_spins(node: Node, places: Sequence[Placed]) -> None:
    for o in node.carriers:
        node.send_spin(o, places[o].R.transpose() @ places[o].V.w)


def embed(walk: Walk, node: Node, places: Sequence[Placed]) -> None:
    """The node's own form: the motions that its closures leave, and the forces that its bodies need for them."""
    G, gamma = closure_rows(node, places, walk.baumgarte)
    if node.condensed:
        node.rows = tuple((*row, -right) for row, right in zip(G, gamma, strict=True))
        space = identity(len(node.dofs))
    else:
        space = null_space(G, gamma, len(node.dofs), least=node.tolerance * node.tolerance)
        node.report_pivot(space.pivot)
    node.basis = (space.N, space.k0)
    node.form, J, c = embedded(node, places, space)
    keep_carriers(node, places, J, c)


def velocity(body: Any) -> Motion:
    found: Motion = body.velocity
    return found


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


def carrier(at: Placed, J: Sequence[Motion], c: Motion) -> Carrier:
    w = at.V.w
    return Carrier(at.R, at.p, w.cross(at.V.v + w.cross(at.p)), tuple(J), c)


def keep_carriers(node: Node, places: Sequence[Placed], J: Sequence[Any], c: Sequence[Any]) -> None:
    node.carried = tuple(carrier(places[o], J[o], c[o]) for o in node.carriers)
    if node.link:
        node.at = carrier(places[0], J[0], c[0])


# a node by itself ----------------------------------------------------------------------------------------------------


def efforts(body: Any) -> tuple[Number, ...]:
    return tuple(body.effort)


def embedded(
    node: Node,
    places: Sequence[Placed],
    space: NullSpace,
    takes: Takes = inertia_force,
    effort: Callable[[Any], tuple[Number, ...]] = efforts,
) -> tuple[Form, list[Any], list[Any]]:
    """The node's own bodies and joints, with u = N y + k0 put in; J and c of all places."""
    N, k0 = space.N, space.k0
    J: list[Any] = [None] * len(places)
    c: list[Any] = [None] * len(places)
    J[-1], c[-1] = [Motion.zero() for _ in N], Motion.zero()
    sums = sums_of(node, len(N))
    for k in node.outward:
        above = node.above(k)
        J[k], c[k] = list(J[above]), c[above]
        for i, s in enumerate(places[k].s):
            dof = node.dof(k, i)
            if node.condensed:
                J[k][dof] = s
                continue
            J[k] = [J_a + s * N_a[dof] for J_a, N_a in zip(J[k], N, strict=True)]
            c[k] = c[k] + s * k0[dof]
        if k < len(node.bodies):
            body = node.bodies[k]
            sums.add_body(body, places[k], J[k], places[k].c + c[k], takes)
            for i, (tau, r) in enumerate(zip(effort(body), body.armature, strict=True)):
                sums.add_joint([N_a[node.dof(k, i)] for N_a in N], tau - r * k0[node.dof(k, i)], r)
    return sums.form(), J, [None if x is None else at.c + x for at, x in zip(places, c, strict=True)]


# inward: what the base feels -----------------------------------------------------------------------------------------


def elimination(node: Node, watch: bool = False) -> None:
    """Add what hangs on the carriers, solve for the node's own motion, and tell the base what is left."""
    form: Form = node.form
    sums = resumed(form, node.on_ground)
    I = form.I.articulated()  # noqa: E741
    for o, at in zip(node.carriers, node.carried, strict=True):
        felt, f = at.X.up_articulated(*node.felt(o), at.swing)
        sums.add(felt, (felt @ at.c) + f, at.J)
        I = I + felt  # noqa: E741
    if node.condensed:
        eliminate_condensed(node, *sums.matrix(node, I), watch=watch, least=node.tolerance * node.tolerance)
        return
    factors = factored(sums.D)
    node.free = tuple(substituted(factors, sums.d))
    if node.link:
        long_loops.carry(node, node.at, factors, node.free, () if node.on_ground else sums.U)
    felt = I, sums.P
    if not node.on_ground:
        node.gains = gains(factors, sums.U)
        felt = message(*felt, sums.U, node.gains, node.free)
    if node.link and node.link.is_first:
        felt = long_loops.message(node, *felt, node.tolerance * node.tolerance)
    if not node.on_ground:
        node.report(*felt)


# outward again: accelerations ----------------------------------------------------------------------------------------


def motions(node: Node, name: str = "a") -> None:
    """Accelerations, or velocities where all of this is about them."""
    y = unknowns_condensed(node) if node.condensed else list(node.free)
    A = Motion.zero() if node.on_ground else node.base_acceleration
    if node.condensed:
        node.output_joints(name, y)
    else:
        y = y if node.on_ground else [e - A.dot(g) for e, g in zip(y, node.gains, strict=True)]
        y = long_loops.pushed(node, y, long_loops.multipliers(node, A)) if node.link else y
        N, k0 = node.basis
        u = [x + total(N_a[j] * y_a for N_a, y_a in zip(N, y, strict=True)) for j, x in enumerate(k0)]
        node.output_joints(name, u)
    for o, at in zip(node.carriers, node.carried, strict=True):
        motion = A + at.c
        for J, y_a in zip(at.J, y, strict=True):
            motion = motion + J * y_a
        node.send_acceleration(o, at.X.down(motion, at.swing))


PROGRAM = Program("coordinate_reduction", acceleration, ("q", "v", "tau"), {"a": "v"}, forces=True, nodes=True)


# how the blocks are ---------------------------------------------------------------------------------------------------


def report(walk: Walk) -> None:
    """Accelerations, and of every node: its pivot, the largest error of its closures, what is left of equations not kept."""
    unchecked(walk)
    if walk.has_links:
        walk.nodes(rows_alone)
        walk.nodes(turns_alone, inward=True)
    walk.nodes(partial(report_block, walk))


def rows_alone(node: Node) -> None:
    """The equations of a long loop by themselves, without the inertias."""
    if node.link:
        places = place_all(node)
        node.at = carrier(places[0], places[0].s, Motion.zero())
        long_loops.place(node, partial(holding, minus_error))


def turns_alone(node: Node) -> None:
    if node.link:
        still = [0.0] * len(node.dofs)
        long_loops.carry_rigidly(node, [1.0] * len(still), still)


def report_block(walk: Walk, node: Node) -> None:
    if node.link and node.closing:
        smallest, whole = long_loops.size_of(node.factor())
        node.report_pivot(smallest / whole)
        node.report_errors(greatest(map(absolute, node.errors)), 0.0)
    if not node.closures:
        return
    places = place_all(node)
    D, gamma = closure_rows(node, places, walk.baumgarte, dropped=True)
    u = node.joint_values("a", whole=True)
    left = [total(x * a for x, a in zip(row, u, strict=True)) - right for row, right in zip(D, gamma, strict=True)]
    views = [closure.view(places[closure.a], places[closure.b]) for closure in node.closures]
    errors = (e.error for view in views for e in view.equations)
    node.report_errors(greatest(map(absolute, errors)), greatest(map(absolute, left)))


REPORT = Program(
    "coordinate_reduction_report", report, PROGRAM.inputs, {"a": "v", "block": "node*3"}, ("a",), forces=True, nodes=True
)
"""Of each node: NullSpace.pivot, how far it is from losing an equation; error of positions; residual of accelerations."""
