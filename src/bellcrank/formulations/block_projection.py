"""Back onto the closures, node by node: the smallest change of a node's coordinates that satisfies its equations.

The same nodes, rows and null spaces as in coordinate_reduction (EQUATIONS 3.10, "Projection"): k0 of G dx = -error is the
change, and a node that is no part of a larger block needs nobody else for it. Where a block is taken apart the same elimination
runs with the identity instead of the inertias. Slides are scaled by a typical length, except in blocks that are taken apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..constraints import Equation
from ..numbers import Number
from ..spatial import ArticulatedInertia
from ..spatial.small import null_space
from .apart import eliminate_apart, unknowns_apart
from .base import Node, Placed, Program, Walk
from .closure import Wanted, minus_error, minus_rate
from .node_forms import Sums
from .node_places import Rows, closure_rows, place_all


def projection(walk: Walk, wanted: Wanted, name: str, lookout: bool) -> None:
    walk.nodes(partial(local_change, walk.length, wanted, name, lookout))
    walk.nodes(partial(elimination, lookout), inward=True)
    walk.nodes(partial(shared_change, name))


def local_change(length: Number, wanted: Wanted, name: str, lookout: bool, node: Node) -> None:
    places = place_all(node)
    G, right = error_rows(node, places, wanted)
    for o in node.carriers:
        node.send_spin(o, places[o].R.transpose() @ places[o].V.w)
    if node.apart:
        node.rows = tuple((*row, x) for row, x in zip(G, right, strict=True))
    elif node.closures:
        weights = [length if node.slides(i) else 1.0 for i in range(len(node.dofs))]
        scaled = [[g * w for g, w in zip(row, weights, strict=True)] for row in G]
        space = null_space(scaled, right, len(weights), directions=lookout)
        node.output_joints(name, [x * w for x, w in zip(space.k0, weights, strict=True)])
        if lookout:
            node.note_rows(space.directions, space.pivots)
    else:
        node.output_joints(name, [0.0] * len(node.dofs))


def error_rows(node: Node, places: list[Placed], wanted: Wanted) -> tuple[Rows, list[Number]]:
    """G, and the right-hand side that is wanted instead of gamma."""
    G, _ = closure_rows(node, places, (0.0, 0.0))
    right: list[Number] = []
    for closure in node.closures:
        equations: Sequence[Equation] = closure.view(places[closure.a], places[closure.b]).equations
        right += [wanted(equations[k]) for k in closure.kept]
    return G, right


def elimination(lookout: bool, node: Node) -> None:
    if not node.apart:
        return
    sums = Sums(len(node.dofs), on_ground=True)
    for k in range(node.separator, len(node.dofs)):
        sums.D[k][k] = 1.0
    eliminate_apart(node, ArticulatedInertia.zero(), sums, lookout=lookout)


def shared_change(name: str, node: Node) -> None:
    if node.apart:
        node.output_joints(name, unknowns_apart(node))


POSITIONS = Program(
    "block_positions", partial(projection, wanted=minus_error, name="dx", lookout=False), ("q", "v"), {"dx": "v"}
)
VELOCITIES = Program(
    "block_velocities", partial(projection, wanted=minus_rate, name="dv", lookout=True), ("q", "v"), {"dv": "v"}
)
