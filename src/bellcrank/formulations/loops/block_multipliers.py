"""Multipliers of the closures in O(n + m), block by block, once the accelerations are known.

What the motion takes beyond the efforts at hand, with the loops cut open, is what the closures give (EQUATIONS 1.6):

    r = M a + h - tau = G^T lambda

Rows of a block touch the joints of that block only. In a block of one node, with the rows G that are kept (independent) and the
others D = C G, the multipliers of least norm are

    nu = G^+T r,    lambda = z and C z,    (1 + C^T C) z = nu          rows scaled: all in metres

A block with a clique tree (formulations.loops.condensed) is gone through twice. With s the efforts that the nodes further out
give to the separator of a node, and u = E w the coordinates by what is free in them,

    inward:   t = B^T (E^T r + t of the children)                        B: motions of w that move the separator; T = E B
    outward:  W^T nu = E^T (r, s) + t of the children,  W = G E          nu: of rows, and of children that must agree
              s of a child = (r, s) - G^T lambda - what other children give

where the rows that are not kept have none. Efforts s need no pivots: W are the rows that the accelerations were found with.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...constraints import Equation
from ...numbers import Number, is_constant
from ...spatial import Force, Motion
from ...spatial.small import Combination, factored, substituted
from ...spatial.vector import ZERO
from ..base import Body, Walk
from ..inverse_dynamics import efforts, motion, output_drive
from ..nodes import Node
from ..program import Program
from . import long_loops
from .closure import holding
from .condensed import children_of, equations, free_joints, joints, sorted_for
from .coordinate_reduction import acceleration, carrier
from .node_forms import dot, total
from .node_places import Rows, closure_rows, place_all


def accelerations_and_powers(walk: Walk) -> None:
    """Accelerations, and all that the balance of energy needs besides: the powers of drives and driven closures."""
    acceleration(walk)
    cut_open(walk)
    from_residuals(walk)
    walk.push_multipliers()
    walk.inward(drive, leaf=Force.zero())


def drive(body: Body, carried: Force) -> Force:
    """inverse_dynamics.drive, with the closures' wrenches."""
    F = body.F - body.pushed + carried
    output_drive(body, F)
    return body.X.up(F)


def multipliers(walk: Walk) -> None:
    cut_open(walk)
    from_residuals(walk, states=walk.bases_move)


def cut_open(walk: Walk) -> None:
    """r = S.F + armature a - effort: inverse dynamics with the loops cut open."""
    walk.outward(motion, base=(ZERO, Motion(ZERO, -walk.gravity)))
    walk.inward(partial(efforts, name="residual"), leaf=Force.zero())


def from_residuals(walk: Walk, states: bool = True) -> None:
    """G^T lambda = residual; ``states`` of bodies with closures are left for later, where they are not needed here."""
    if states:
        walk.closure_states()
    walk.nodes(local)
    walk.nodes(gather, inward=True)
    walk.nodes(resolve)


def local(node: Node) -> None:
    """All equations of a block that is one node; of a node of a larger block its own rows."""
    if node.link:
        at = place_all(node, still=True)[0]
        node.at = carrier(at, at.s, Motion.zero())._replace(swing=ZERO)
        long_loops.place(node, partial(holding, nothing), turns=True)
    if not (node.closures or node.condensed):
        return
    places = place_all(node, still=True)
    G, _ = closure_rows(node, places, (0.0, 0.0))
    if node.condensed:
        node.rows = tuple((*row, 0.0) for row in G)
        node.turns = tuple(closure.turn(places[closure.a], places[closure.b]) for closure in node.closures)
        return
    dropped, _ = closure_rows(node, places, (0.0, 0.0), dropped=True)
    values = least(node, G, dropped, node.joint_values("residual"))
    for closure, own in zip(node.closures, values, strict=True):
        closure.output("lambda", turned(closure.turn(places[closure.a], places[closure.b]), own))


def nothing(equation: Equation) -> Number:
    return 0.0


def least(node: Node, G: Rows, D: Rows, r: Sequence[Number]) -> list[list[Number]]:
    """Multipliers of each closure, of least norm where rows are redundant."""
    if not G:
        return [[0.0] * closure.rows for closure in node.closures]
    if all(is_constant(x) and x == 0 for row in D for x in row):  # of a planar loop in space, say
        return by_closure(node, Combination(G).of(r), [0.0] * len(D))
    weights = by_kept(node, [closure.scales for closure in node.closures])
    w_G, w_D = weights
    rows = Combination([[x * w for x in row] for row, w in zip(G, w_G, strict=True)])
    nu = rows.of(r)
    C = [rows.of([x * w for x in row]) for row, w in zip(D, w_D, strict=True)]
    S = [[total(c[i] * c[j] for c in C) + (1.0 if i == j else 0.0) for j in range(i + 1)] for i in range(len(nu))]
    z = substituted(factored(S), nu)
    kept = [x * w for x, w in zip(z, w_G, strict=True)]
    return by_closure(node, kept, [dot(c, z) * w for c, w in zip(C, w_D, strict=True)])


def by_closure(node: Node, kept: Sequence[Number], dropped: Sequence[Number]) -> list[list[Number]]:
    """Values of the kept rows and of the others, row by row of each closure."""
    first, second = iter(kept), iter(dropped)
    return [[next(first if k in closure.kept else second) for k in range(closure.rows)] for closure in node.closures]


def by_kept(node: Node, values: Sequence[Sequence[Number]]) -> tuple[list[Number], list[Number]]:
    """Values row by row of each closure, as those of the kept rows and those of the others: the inverse of by_closure."""
    pairs = [(x, k in closure.kept) for closure, own in zip(node.closures, values, strict=True) for k, x in enumerate(own)]
    return [x for x, kept in pairs if kept], [x for x, kept in pairs if not kept]


def turned(turn: tuple[tuple[Number, ...], ...], values: Sequence[Number]) -> list[Number]:
    """The first three, if they are along axes of the base, along those of the world."""
    return [*(dot(row, values[: len(turn)]) for row in turn), *values[len(turn) :]]


# blocks with a clique tree -----------------------------------------------------------------------------------------


def gather(node: Node) -> None:
    """The efforts that the separator would have to supply, for each of the motions that are left to it."""
    if node.link:
        long_loops.carry_rigidly(node, [1.0] * len(node.dofs), node.joint_values("residual"))
    if not node.condensed:
        return
    forms = [node.condensed_form(k, (len(x), y + 1), (y, 1)) for k, (x, y) in enumerate(children_of(node))]
    T = [form[0] for form in forms]
    E, W = joints(node, T, unit(node), range(len(node.dofs))), equations(node, T)
    size = W.columns - 1
    t, start = E.transposed_times(column(node, node.joint_values("residual"))), size - sum(node.form_sizes)
    for _, t_k in forms:
        for a in range(t_k.rows):
            t[start + a, 0] = t[start + a, 0] + t_k[a, 0]
        start += t_k.rows
    node.E = E.part(range(node.separator), range(size))
    node.W, node.t = W.part(range(W.rows), range(size)), t.part(range(size), range(1))
    if node.has_parent:
        N = sorted_for(node, T, W.solutions().N, 1)
        moving = N.part(range(size + 1), range(N.columns - 1 - node.kept_unknowns, N.columns))
        own = moving.part(range(size), range(node.kept_unknowns))
        node.report_condensed_form(joints(node, T, moving, range(node.separator)), own.transposed_times(node.t))


def unit(node: Node) -> Any:
    size = len(free_joints(node)) + sum(node.form_sizes) + 1
    return node.matrix([[1.0 if i == j else 0.0 for j in range(size)] for i in range(size)], size)


def column(node: Node, values: Sequence[Number]) -> Any:
    return node.matrix([[x] for x in values], 1)


def resolve(node: Node) -> None:
    """Multipliers of the rows, and what is asked of the children."""
    if node.link:
        output_multipliers(node, long_loops.multipliers(node))
    if not node.condensed:
        return
    separator = node.given_unknowns(node.separator).column(0) if node.has_parent else []
    asked = [*separator, *node.joint_values("residual")[node.separator :]]
    right = node.t
    if separator:
        right = node.E.transposed_times(column(node, separator))
        for a in range(right.rows):
            right[a, 0] = right[a, 0] + node.t[a, 0]
    nu = node.W.combination(right)
    count = len(node.rows)
    dropped = [0.0] * sum(closure.rows - len(closure.kept) for closure in node.closures)
    for closure, turn, own in zip(node.closures, node.turns, by_closure(node, nu[:count], dropped), strict=True):
        closure.output("lambda", turned(turn, own))
    left = [x - total(row[j] * c for row, c in zip(node.rows, nu, strict=False)) for j, x in enumerate(asked)]
    agreeing = dict(zip(node.equations[count:], nu[count:], strict=True))
    for k, given in enumerate(shares(node.shared, left, agreeing, count)):
        node.send_unknowns(k, column(node, given))


def output_multipliers(node: Node, found: Sequence[Number]) -> None:
    """Writes the multipliers of the closures that are evaluated at a link."""
    for closure, slots, turn in zip(node.closing, node.link.closings, node.turns, strict=True):
        own = dict(zip(closure.kept, slots, strict=True))
        closure.output("lambda", turned(turn, [found[own[k]] if k in own else 0.0 for k in range(closure.rows)]))


def shares(shared: Sequence[Sequence[int]], left: list[Number], agreeing: dict[int, Number], first: int) -> list[list[Number]]:
    """The share of each child: of several that could, all but one give the multiplier of the equation that makes them agree."""
    given: dict[int, int] = {}
    for k, own in enumerate(shared):
        for j in own:
            given.setdefault(j, k)
    later: dict[tuple[int, int], Number] = {}
    for k, own in enumerate(shared):
        for j in own:
            if given[j] != k:
                later[k, j] = agreeing.get(first + len(later), 0.0)
                left[j] = left[j] - later[k, j]
    return [[left[j] if given[j] == k else later[k, j] for j in own] for k, own in enumerate(shared)]


PROGRAM = Program(
    "block_multipliers",
    multipliers,
    inputs=("q", "v", "tau", "a"),
    outputs={"residual": "v", "lambda": "row"},
    scratch=("residual",),
    forces=True,
    nodes=True,
)
"""From the accelerations a that q, v and tau bring about."""
WITH_POWERS = Program(
    "coordinate_reduction+",
    accelerations_and_powers,
    inputs=("q", "v", "tau"),
    outputs={"a": "v", "residual": "v", "lambda": "row", "closing": "closure*7", "drive": "drive*2", "element": "element*3"},
    scratch=("residual", "lambda", "closing", "drive", "element"),
    forces=True,
    nodes=True,
)
