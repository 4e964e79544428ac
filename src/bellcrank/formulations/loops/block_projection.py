"""Projection onto the closures, node by node: the smallest change of a node's coordinates that satisfies its equations.

The same nodes, rows and null spaces as in coordinate_reduction (EQUATIONS 3.10, "Projection"): k0 of G dx = -error is the
change, and a node that is not part of a larger block needs no other node for it. Where a block is split the same elimination
runs with the identity instead of the inertias. Slides are scaled by a typical length, except in blocks that fall into several
nodes.

The change of least kinetic energy takes the whole elimination, with changes in the place of accelerations and no forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...constraints import Equation
from ...numbers import Number
from ...spatial import Force, Motion, RigidInertia
from ...spatial.small import identity, null_space
from ...spatial.vector import ZERO
from ..base import Walk
from ..nodes import Node, Placed
from ..program import Program
from . import coordinate_reduction as reduction
from . import long_loops
from .closure import Wanted, holding, minus_error, minus_rate
from .condensed import eliminate_condensed, unknowns_condensed
from .node_places import Rows, closure_rows, place_all


def projection(walk: Walk, wanted: Wanted, name: str, watch: bool) -> None:
    walk.nodes(partial(local_change, walk.length, wanted, name, watch))
    walk.nodes(partial(elimination, walk.length, watch), inward=True)
    walk.nodes(partial(shared_change, name, watch))


def local_change(length: Number, wanted: Wanted, name: str, watch: bool, node: Node) -> None:
    places = place_all(node)
    G, right = error_rows(node, places, wanted)
    for o in node.carriers:
        node.send_spin(o, places[o].R.transpose() @ places[o].V.w)
    if node.link:
        node.at = reduction.carrier(places[0], places[0].s, Motion.zero())._replace(swing=ZERO)
        long_loops.place(node, partial(holding, wanted), spin=node.spin_of_loop, moves=reduction.velocity)
    elif node.condensed:
        node.rows = tuple((*row, -x) for row, x in zip(G, right, strict=True))
    elif node.closures:
        weights = [length if node.slides(i) else 1.0 for i in range(len(node.dofs))]
        scaled = [[g * w for g, w in zip(row, weights, strict=True)] for row in G]
        space = null_space(scaled, right, len(weights), directions=watch)
        node.output_joints(name, [x * w for x, w in zip(space.k0, weights, strict=True)])
        if watch:
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


def elimination(length: Number, watch: bool, node: Node) -> None:
    if node.link:
        weights = [length if node.slides(i) else 1.0 for i in range(len(node.dofs))]
        long_loops.carry_rigidly(node, weights, [0.0] * len(weights))
    if not node.condensed:
        return
    alone = not (node.has_parent or node.children)
    own = range(node.separator, len(node.dofs))
    H = node.zeros(len(own) + 1, len(own) + 1)
    for k in range(len(own)):
        H[k, k] = 1.0 / (length * length) if alone and node.slides(k) else 1.0
    eliminate_condensed(node, H, own, watch=watch)


def shared_change(name: str, watch: bool, node: Node) -> None:
    if node.condensed:
        node.output_joints(name, unknowns_condensed(node))
    elif node.link:
        node.output_joints(name, long_loops.pushed(node, [0.0] * len(node.dofs), long_loops.multipliers(node)))
        if watch:
            long_loops.note(node)


# the metric of the kinetic energy --------------------------------------------------------------------------------------


def mass_projection(walk: Walk, wanted: Wanted, name: str, watch: bool) -> None:
    walk.nodes(partial(mass_change, wanted, watch))
    walk.nodes(partial(reduction.elimination, watch=watch), inward=True)
    walk.nodes(partial(mass_motions, name, watch))


def mass_motions(name: str, watch: bool, node: Node) -> None:
    reduction.motions(node, name)
    if watch and node.link:
        long_loops.note(node)


def mass_change(wanted: Wanted, watch: bool, node: Node) -> None:
    places = place_all(node)
    for o in node.carriers:
        node.send_spin(o, places[o].R.transpose() @ places[o].V.w)
    still = [at._replace(V=Motion.zero(), c=Motion.zero()) for at in places]
    nearest(node, still, *error_rows(node, places, wanted), effort=no_effort, watch=watch)
    if node.link:
        long_loops.place(node, partial(holding, wanted), spin=node.spin_of_loop, moves=reduction.velocity)


def nearest(
    node: Node,
    places: list[Placed],
    G: Rows,
    right: list[Number],
    effort: Callable[[Any], tuple[Number, ...]],
    watch: bool = False,
) -> None:
    """Before the elimination: of the motions u with G u = right, the one of least kinetic energy, less effort . u."""
    if node.condensed:
        node.rows = tuple((*row, -x) for row, x in zip(G, right, strict=True))
        space = identity(len(node.dofs))
    else:
        space = null_space(G, right, len(node.dofs), directions=watch, least=node.tolerance * node.tolerance)
        if watch and node.closures:
            node.note_rows(space.directions, space.pivots)
    node.basis = (space.N, space.k0)
    node.form, J, c = reduction.embedded(node, places, space, takes=inertia_alone, effort=effort)
    reduction.keep_carriers(node, places, J, c)


def inertia_alone(body: Any, at: Placed, inertia: RigidInertia, c: Motion) -> Force:
    return inertia @ c


def no_effort(body: Any) -> tuple[Number, ...]:
    return (0.0,) * len(body.directions)


POSITIONS = Program(
    "block_positions", partial(projection, wanted=minus_error, name="dx", watch=False), ("q", "v"), {"dx": "v"}, nodes=True
)
VELOCITIES = Program(
    "block_velocities", partial(projection, wanted=minus_rate, name="dv", watch=True), ("q", "v"), {"dv": "v"}, nodes=True
)
MASS_POSITIONS = Program(
    "block_mass_positions",
    partial(mass_projection, wanted=minus_error, name="dx", watch=False),
    ("q", "v"),
    {"dx": "v"},
    nodes=True,
)
MASS_VELOCITIES = Program(
    "block_mass_velocities",
    partial(mass_projection, wanted=minus_rate, name="dv", watch=True),
    ("q", "v"),
    {"dv": "v"},
    nodes=True,
)
