"""Long loops in linear time: eliminated along their own bodies, the few multipliers solved at the base.

Source: EQUATIONS 3.6 and 1.6; Critchley & Anderson's elimination of a loop from its far end inward. The null space of a node
costs the cube of its joints. In a long loop each joint is a node by itself, a link (plan.long_loops), which is eliminated like
a joint of a tree, u = D^-1 (d - U A - W^T lambda). The equations of the loop's closures,

    sum over their ends K_i.A_end = g_i

are carried inward with it, each a wrench K on the acceleration of a body and a right-hand side:

    W_i = J.K_i                              what the equation leaves at the joint
    K_i <- K_i - U D^-1 W_i                  on the body that carries the joint
    g_i <- g_i - K_i.c - W_i D^-1 d          c: acceleration that velocities bring about
    R^T R <- R^T R + W D^-1 W^T              by plane rotations, so that R is as well conditioned as the equations

At the base of the loop  K A - R^T R lambda = g,  so that its own message gets I + K^T (R^T R)^-1 K and P - K^T (R^T R)^-1 g.

On the way outward lambda is known once the acceleration A of the base is. With the unit matrix in the place of the inertias the
same recursion finds smallest changes of coordinates, and the multipliers of given forces.

code     paper    meaning                                                            unit
K, g     Phi_Z    an equation on the acceleration of a body, in its own frame; its right-hand side
W        Phi_2    what the equations leave at the joint, one row for each
R                 upper triangle, R^T R = Phi_lambda of (42)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...numbers import Number, minimum, select, sqrt
from ...spatial import ArticulatedInertia, Force, Matrix, Motion, Vector
from ...spatial.rank import keeps
from ...spatial.small import Factors, substituted
from ...spatial.triangle import forward, solved, values, with_row
from ...spatial.vector import ZERO
from ..base import Carried, Closure
from ..nodes import Node, Placed
from .node_forms import dot, total
from .node_places import at_base

Equations = Callable[[Closure], Sequence[Carried]]  # of a closure, at the origins of its two bodies: wrenches, right-hand side
NAN = float("nan")


# outward: poses, and what the closures say ---------------------------------------------------------------------------


def place(
    node: Node,
    equations: Equations,
    *,
    spin: Vector = ZERO,
    moves: Callable[[Any], Motion] | None = None,
    gravity: Motion | None = None,
    turns: bool = False,
) -> None:
    """The pose of the link's body, seen from the base of the loop; closures whose two ends are known now.

    ``moves``: velocities of joints that count; ``gravity``: the acceleration of ground; ``turns``: keep those of multipliers.
    """
    body, base = node.bodies[0], Placed(Matrix.identity(), ZERO, Motion(spin, ZERO), Motion.zero(), ())
    above = base if node.link.on_base else node.pose_of_parent
    R, p = body.transform.pose(above.R, above.p)
    V = above.V if moves is None else above.V + at_base(R, p, moves(body))
    at = Placed(R, p, V, Motion.zero(), ())
    node.send_pose(at)
    kept, errors = [], []
    for k, closure in enumerate(node.closing):
        ends = [{-1: base, 0: at}.get(end) or node.pose_of_end(k, side) for side, end in enumerate((closure.a, closure.b))]
        view = closure.view(*ends)
        _hold(node, k, ends, equations(view), gravity)
        errors += [equation.error for equation in view.equations]
        kept += [closure.turn(*ends)] if turns else []
    node.turns, node.errors = tuple(kept), tuple(errors)


def _hold(node: Node, k: int, ends: Sequence[Placed], equations: Sequence[Carried], gravity: Motion | None) -> None:
    """The equations that are kept act on the bodies at their ends, in the axes of these.

    What they say of the base is what the ends leave: a motion of all bodies as one says nothing, even off the closures.
    """
    closure = node.closing[k]
    for slot, equation in zip(node.link.closings[k], closure.kept, strict=True):
        *wrenches, right = equations[equation]
        on_base = Force.zero()
        for side, (end, at) in enumerate(zip((closure.a, closure.b), ends, strict=True)):
            if end >= 0:
                n, f = wrenches[side]
                turned = at.R.transpose()
                node.hold(k, side, slot, Force(turned @ n, turned @ f))
                on_base = on_base + Force(n + at.p.cross(f), f) * -1.0
        if node.link.on_ground:
            right = right if gravity is None else right - gravity.dot(on_base)
        node.start_equation(slot, right, on_base)


# inward: across the joint --------------------------------------------------------------------------------------------


def carry(node: Node, at: Any, factors: Factors, free: Sequence[Number], U: Sequence[Force]) -> None:
    """The equations across the joint; ``at``: its body (coordinate_reduction.Carrier), factors of D, D^-1 d and U = I J."""
    W: list[list[Number]] = [[0.0] * len(at.J) for _ in range(node.link.equations)]
    known: list[Number] = [0.0] * node.link.equations
    for slot in node.link.open:
        K = at.X.up(node.row(slot))
        W[slot] = [J.dot(K) for J in at.J]
        known[slot] = at.c.dot(K) + at.swing.dot(K.f) + dot(W[slot], free)
        for push, u in zip(substituted(factors, W[slot]), U, strict=bool(U)):
            K = K + u * -push
        node.carry_row(slot, K)
    node.take_known(known)
    node.gain = tuple(tuple(substituted(factors, row)) for row in W)  # D^-1 W^T, by slots
    rotate(node, _scaled(factors, W))


def _scaled(factors: Factors, W: Sequence[Sequence[Number]]) -> list[list[Number]]:
    """Columns of D^-1/2 W^T: of each coordinate, a number for each slot."""
    columns: list[list[Number]] = []
    for i, inverse in enumerate(factors.inverse):
        root = sqrt(inverse)
        left: list[Number] = []
        for row in W:
            y: list[Number] = []  # L^-1 W^T
            for a in range(i + 1):
                y.append(row[a] - total(factors.L[a][b] * y[b] for b in range(a)))
            left.append(y[i] * root)
        columns.append(left)
    return columns


def rotate(node: Node, columns: Sequence[Sequence[Number]]) -> None:
    """Add what a joint leaves to R."""
    count = node.link.equations
    R = [[0.0] * count for _ in range(count)] if node.link.is_last else node.factor()
    for w in columns:
        R = with_row(R, w)
    node.columns = tuple(map(tuple, columns))
    node.send_factor(R)


def solve(node: Node, least: Number | None = None) -> tuple[list[Force], list[Number]]:
    """At the first link: K of the base, and lambda while that stands still; keeps what its motion adds. Not a number where an
    equation adds less than ``least``, squared."""
    slots = range(node.link.equations)
    R = node.factor()
    right = [-node.right_hand_side(slot) for slot in slots]
    still = solved(R, right)
    if least is not None:
        smallest, whole = size_of(R)
        still = [select(keeps(least * whole, smallest), x, NAN) for x in still]
    K = [] if node.link.on_ground else [node.row_on_base(slot) for slot in slots]
    node.still = tuple(still)
    node.moving = _moving(R, K)
    return K, still


def _moving(R: Sequence[Sequence[Number]], K: Sequence[Force]) -> tuple[Force, ...]:
    """(R^T R)^-1 K."""
    if not K:
        return ()
    columns = [solved(R, [k[part][i] for k in K]) for part in (0, 1) for i in range(3)]
    return tuple(Force(Vector(*[x[a] for x in columns[:3]]), Vector(*[x[a] for x in columns[3:]])) for a in range(len(K)))


def size_of(R: Sequence[Sequence[Number]]) -> tuple[Number, Number]:
    """The smallest part of an equation that is new, and the sum of squares of all; both squares, and without tangents."""
    R = values(R)
    smallest = R[0][0] * R[0][0]
    for i in range(1, len(R)):
        smallest = minimum(smallest, R[i][i] * R[i][i])
    return smallest, total(x * x for i, row in enumerate(R) for x in row[i:])


def message(node: Node, I: ArticulatedInertia, P: Force, least: Number) -> tuple[ArticulatedInertia, Force]:  # noqa: E741
    """The message of the first link: with the equations of its loop satisfied."""
    K, still = solve(node, least)
    for k, gain, x in zip(K, node.moving, still, strict=bool(K)):
        I, P = I.minus_outer(k * -1.0, gain), P + k * x  # noqa: E741
    return I, P


# outward again: multipliers ------------------------------------------------------------------------------------------


def multipliers(node: Node, A: Motion | None = None) -> list[Number]:
    """lambda, with the acceleration of the base of the loop; the first link sends it to the others."""
    if not node.link.is_first:
        return [node.multiplier(slot) for slot in range(node.link.equations)]
    found = list(node.still)
    if A is not None and not node.link.on_ground:
        found = [x + A.dot(K) for x, K in zip(found, node.moving, strict=True)]
    for slot, x in enumerate(found):
        node.send_multiplier(slot, x)
    return found


def pushed(node: Node, free: Sequence[Number], found: Sequence[Number]) -> list[Number]:
    """u = D^-1 (d - W^T lambda)."""
    return [x - total(found[slot] * node.gain[slot][a] for slot in node.link.open) for a, x in enumerate(free)]


# with the unit matrix ------------------------------------------------------------------------------------------------


def carry_rigidly(node: Node, weights: Sequence[Number], free: Sequence[Number]) -> None:
    """``carry`` for a motion in which coordinates divided by their weights count equally and nothing has mass."""
    D = Factors([[0.0] * a for a in range(len(weights))], [w * w for w in weights])
    carry(node, node.at, D, free, [Force.zero()] * len(weights))
    if node.link.is_first:
        solve(node)


def note(node: Node) -> None:
    """For the watch of a time loop: the direction of each equation among the joints, and its pivot."""
    R = values(node.factor())
    ways = [forward(R, w) for w in values(node.columns)]
    for slot in range(node.link.equations):
        node.note_direction(slot, [way[slot] for way in ways])
    if node.closing:
        _, whole = size_of(R)
        node.note_pivots([sqrt(row[i] * row[i] / whole) for i, row in enumerate(R)])
