"""Poses and motions of a node's bodies, and the rows of its closures, in the axes and at the origin of the node's base.

EQUATIONS 3.10; coordinate_reduction has the symbols. The velocity of the base's origin counts as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...numbers import Number
from ...spatial import Force, Matrix, Motion, Vector
from ...spatial.vector import ZERO
from ..nodes import Node, NodeClosure, Placed
from .multipliers import closing, from_origin

Rows = list[list[Number]]


def place_all(node: Node, still: bool = False, spin: Vector | None = None) -> list[Placed]:
    """Places of the node's own bodies, then of those that other nodes lend; the base stands still but for its spin.

    Where only positions matter (``still``) nothing moves.
    """
    spin = ZERO if still else node.spin if spin is None else spin
    base = Placed(Matrix.identity(), ZERO, Motion(spin, ZERO), node.known_acceleration, ())
    places: list[Any] = [None] * len(node.bodies) + [node.borrowed(k) for k in range(node.borrows)]
    for k, body in enumerate(node.bodies):
        above = node.above(k)
        places[k] = place(body, base if above < 0 else places[above], still)
        if k in node.lends:
            node.lend(k, places[k])
    return [*places, base]  # the base is the last, at -1


def place(body: Any, parent: Placed, still: bool = False) -> Placed:
    R, p = body.transform.pose(parent.R, parent.p)
    if still:
        return Placed(R, p, parent.V, parent.c, tuple(at_base(R, p, S) for S in body.directions))
    own, bias = at_base(R, p, body.velocity), at_base(R, p, body.bias)
    s = tuple(at_base(R, p, S) for S in body.directions)
    return Placed(R, p, parent.V + own, parent.c + _rate(parent.V, own) + bias, s)


def turning(at: Placed, spin: Vector) -> Placed:
    """A place on a base that turns with ``spin``, from the place on a base that does not turn."""
    return at._replace(V=at.V + Motion(spin, ZERO), c=at.c + _rate(Motion(spin, ZERO), at.V))


def at_base(R: Matrix, p: Vector, S: Motion) -> Motion:
    w = R @ S.w
    return Motion(w, (R @ S.v) + p.cross(w))


def _rate(V: Motion, s: Motion) -> Motion:
    """V x s: how a motion fixed to a body that moves with V changes."""
    return Motion(V.w.cross(s.w), V.w.cross(s.v) + V.v.cross(s.w))


def closure_rows(
    node: Node, places: Sequence[Placed], baumgarte: tuple[Number, Number], dropped: bool = False
) -> tuple[Rows, list[Number]]:
    """G and gamma of the equations that are kept, or of the others."""
    G: Rows = []
    gamma: list[Number] = []
    for closure in node.closures:
        a, b = places[closure.a], places[closure.b]
        equations = closing(from_origin, baumgarte, closure.view(a, b))
        for k in (k for k in range(closure.rows) if (k in closure.kept) != dropped):
            on_a, on_b, right = equations[k]
            G.append(among_joints(node, places, closure, on_a, on_b))
            gamma.append(right - (a.c.dot(on_a) + b.c.dot(on_b)))
    return G, gamma


def among_joints(node: Node, places: Sequence[Placed], closure: NodeClosure, on_a: Force, on_b: Force) -> list[Number]:
    """An equation's row over the node's coordinates, from its rows on the two bodies."""
    row: list[Number] = closure.factors()
    for f, path in ((on_a, closure.path_a), (on_b, closure.path_b)):
        for joint in path:
            for i, s in enumerate(places[joint].s):
                row[node.dof(joint, i)] = row[node.dof(joint, i)] + s.dot(f)
    return row
