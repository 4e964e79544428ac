"""Hamilton's equations with closed loops in O(n + m), by the elimination of coordinate reduction.

Source: Naudet, Lefeber & Terze (6)-(8), EQUATIONS 4.6. With G v = -Phi_t for closed loops (Phi_t: what drives bring about)

    p = M v + G^T sigma                       of the motions that keep the loops closed, v is the nearest to M^-1 p
    dp/dt = dL/dq + tau + (dG/dt)^T sigma     lambda = -d sigma/dt

sigma is not integrated: it follows from q and p, and p may drift along G^T without harm. Velocities that follow from p keep
the loops closed by themselves, so that only positions are projected.

v takes the recursion of coordinate_reduction with p in the place of the efforts, momenta in the place of forces, velocities in
the place of accelerations. -sigma are then the multipliers of what is missing, M v - p = -G^T sigma (block_multipliers). The
impulses Phi^T sigma of the closures join the momenta of the bodies, and the balance is that of a tree:

    dp/dt = E.(T* - Omega x P*) + E'.P*       P* with the impulses, T* with their rates (dPhi/dt)^T sigma
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...numbers import Number
from ...spatial import Force, Matrix, Motion, Vector
from ...spatial.vector import ZERO
from ..base import Body, Walk
from ..canonical_momenta import crossed
from ..nodes import Node, NodeClosure, Placed
from ..program import Program
from . import long_loops
from .agreement import Terms, allowed_share, beyond, refuse, shaken
from .block_multipliers import from_residuals
from .block_projection import nearest
from .closure import holding, minus_rate
from .coordinate_reduction import elimination, motions
from .multipliers import closing, from_origin
from .node_places import Rows, among_joints, at_base

Moving = tuple[Motion, Vector]
Gathered = tuple[Force, Force]


def hamilton(walk: Walk) -> None:
    """q, p -> v, dp/dt."""
    velocities(walk)
    walk.outward(motion, base=(Motion.zero(), walk.gravity))
    walk.inward(missing, leaf=Force.zero())
    if walk.loaded:
        walk.apply_forces()
    from_residuals(walk)
    walk.push_impulses()
    walk.inward(balance, leaf=(Force.zero(), Force.zero()))


def velocities(walk: Walk) -> None:
    """q, p -> v."""
    walk.clear("v")
    walk.nodes(kinematics)
    walk.nodes(elimination, inward=True)
    walk.nodes(partial(motions, name="v"))
    if walk.checks:
        walk.nodes(partial(agree, walk))


def impulses(walk: Walk) -> None:
    """q, p -> v, -sigma."""
    velocities(walk)
    walk.outward(motion, base=(Motion.zero(), ZERO))
    walk.inward(missing, leaf=Force.zero())
    from_residuals(walk)


# velocities, node by node --------------------------------------------------------------------------------------------


def kinematics(node: Node) -> None:
    """coordinate_reduction.kinematics with what prescribed motions bring in the place of known accelerations."""
    places = place_all(node)
    nearest(node, places, *closure_rows(node, places), effort=momenta)
    if node.link:
        long_loops.place(node, partial(holding, minus_rate), moves=prescribed)


def prescribed(body: Any) -> Motion:
    found: Motion = body.velocity if body.driven else Motion.zero()
    return found


def momenta(body: Any) -> tuple[Number, ...]:
    return () if body.driven else tuple(body.input("p"))


def place_all(node: Node) -> list[Placed]:
    """Like node_places.place_all, with V zero and c the velocity that prescribed motions cause."""
    base = Placed(Matrix.identity(), ZERO, Motion.zero(), Motion.zero(), ())
    places: list[Any] = [None] * len(node.bodies) + [node.borrowed(k) for k in range(node.borrows)]
    for k, body in enumerate(node.bodies):
        above = base if node.above(k) < 0 else places[node.above(k)]
        R, p = body.transform.pose(above.R, above.p)
        known = above.c + at_base(R, p, body.velocity) if body.driven else above.c
        places[k] = Placed(R, p, Motion.zero(), known, tuple(at_base(R, p, S) for S in body.directions))
        if k in node.lends:
            node.lend(k, places[k])
    return [*places, base]


def closure_rows(node: Node, places: Sequence[Placed]) -> tuple[Rows, list[Number]]:
    """G and -Phi_t of the equations that are kept: their rates while all free joints stand still."""
    rows = [row for closure in node.closures for row in _rows(node, places, closure, closure.kept)]
    return [row for row, _ in rows], [-rate for _, rate in rows]


def _rows(
    node: Node, places: Sequence[Placed], closure: NodeClosure, equations: Sequence[int]
) -> list[tuple[list[Number], Number]]:
    view = closure.view(*(places[end]._replace(V=places[end].c) for end in (closure.a, closure.b)))
    carried = closing(from_origin, (0.0, 0.0), view)
    return [(among_joints(node, places, closure, *carried[k][:2]), view.equations[k].rate) for k in equations]


def agree(walk: Walk, node: Node) -> None:
    """Velocities of a node are not numbers where its equations contradict each other (agreement)."""
    if not any(closure.checked for closure in node.closures):
        return
    v, places = node.joint_values("v", whole=True), place_all(node)
    equations: list[Terms] = []
    for closure in node.closures:
        for k, (row, rate) in enumerate(_rows(node, places, closure, range(closure.rows))):
            terms = [*(g * x for g, x in zip(row, v, strict=True)), rate]
            equations.append((k in closure.checked, [x * closure.scales[k] for x in terms]))
    refuse(node, "v", v, beyond(equations, allowed_share(walk, node, places), 0.0, shaken(walk, node)))


# momenta, body by body -----------------------------------------------------------------------------------------------


def motion(body: Body, parent: Moving) -> Moving:
    """Velocity, momentum and weight of each body."""
    V, gravity = parent
    body.X = X = body.transform
    V, gravity = X.down(V) + body.velocity, X.down_vector(gravity)
    body.V, body.P = V, body.inertia @ V
    body.W = Force(body.inertia.mc.cross(gravity), gravity * body.inertia.m)
    return V, gravity


def missing(body: Body, carried: Force) -> Force:
    """M v - p, of the tree that is left when the loops are cut."""
    P = body.P + carried
    given = zip(body.directions, body.armature, body.input("v"), momenta(body), strict=False)
    body.output("residual", [S.dot(P) + r * v - p for S, r, v, p in given])
    return body.X.up(P)


def balance(body: Body, carried: Gathered) -> Gathered:
    impulse, rate = body.impulse
    P = body.P + impulse + carried[0]
    T = body.W + body.applied + rate + carried[1]
    left = T - crossed(body.V, P)
    v = () if body.driven else body.input("v")
    rates = zip(body.directions, body.direction_rates(v), body.effort, strict=True)
    body.output("pdot", [S.dot(left) + Sdot.dot(P) + effort for S, Sdot, effort in rates])
    return body.X.up(P), body.X.up(T)


PROGRAM = Program(
    "canonical_momenta",
    hamilton,
    inputs=("q", "p", "tau"),
    outputs={"v": "v", "pdot": "v", "residual": "v", "lambda": "row"},
    scratch=("residual", "lambda"),
    forces=True,
    late=True,
    nodes=True,
)
VELOCITIES = Program("closed_velocities", velocities, inputs=("q", "p"), outputs={"v": "v"}, nodes=True)
IMPULSES = Program(
    "closed_impulses",
    impulses,
    inputs=("q", "p"),
    outputs={"v": "v", "residual": "v", "lambda": "row"},
    scratch=("v", "residual"),
    nodes=True,
)
"""-sigma."""
