"""How many equations of each node are independent: structure that only numbers can tell.

The nodes are evaluated at a configuration on the closures, from the tips inward; of each node's equations those are kept that
add most to the ones before. A configuration that is singular by chance would mislead, so one nearby is taken.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..formulations.apart import conflicts, given_by
from ..formulations.node_places import closure_rows, place_all
from ..topology import Plan
from ..topology.blocks import Node
from ..topology.nodes import Nodes, Ranks, all_rows, is_apart, make_node_tables, nodes_of, separator_size
from .kept_rows import slides
from .plain import PlainWalk
from .plain_nodes import PlainNode
from .quaternions import unit_quaternions

if TYPE_CHECKING:
    from .dynamics import Dynamics

Array = NDArray[np.float64]

_ASIDE, _MOST_STEPS, _CLOSED, _NEARLY = 0.05, 20, 1e-12, 1e-9
_LARGE = 100_000  # entries of the matrix of all closures
_STEPS = (0.3, 0.03, 3e-3)  # how much an equation must add, in rounds; the last round is the tolerance


def plan_nodes(plan: Plan, q: Array, t: float) -> Nodes:
    """Nodes of a model with what is independent at q."""
    nodes = nodes_of(plan)
    ranks = {i: all_rows(plan, node) for i, node in enumerate(nodes)}
    if plan.model.closures:
        walk = _walk(replace(plan, nodes=make_node_tables(plan, nodes, ranks, fold=False)), q, t)
        images: dict[int, Array] = {}
        collected = _rows(walk)
        for i in reversed(range(len(nodes))):
            ranks[i], images[i] = _ranks(plan, nodes, i, collected[i], ranks, images)
    return make_node_tables(plan, nodes, ranks)


def _walk(plan: Plan, q: Array, t: float) -> PlainWalk:
    still = [0.0] * plan.model.nv
    inputs = {"q": q.tolist(), "v": still, "tau": still, "t": [t], "u": [0.0] * len(plan.model.inputs)}
    walk = PlainWalk(plan, inputs, plan.data.tolist(), plan.gravity.tolist())
    if plan.loads.motions:
        walk._drive()
    return walk


def _rows(walk: PlainWalk) -> list[tuple[PlainNode, Array]]:
    """G of every node, all equations."""
    found: list[tuple[PlainNode, Array]] = []

    def step(node: PlainNode) -> None:
        places = place_all(node)
        G, _ = closure_rows(node, places, (0.0, 0.0))
        found.append((node, np.array(G, dtype=float).reshape(len(G), len(node.dofs))))
        for o in node.carriers:
            node.send_spin(o, places[o].R.transpose() @ places[o].V.w)

    walk.nodes(step)
    return found


def _ranks(
    plan: Plan, nodes: list[Node], i: int, collected: tuple[PlainNode, Array], ranks: dict[int, Ranks], images: dict[int, Array]
) -> tuple[Ranks, Array]:
    node, (seen, G) = nodes[i], collected
    counts = [len(kept) for kept in ranks[i].kept]
    if not is_apart(plan, node):
        chosen = independent(G, plan.tolerance)
        spare = _any_left(G, chosen, plan.tolerance)
        return Ranks(_by_closure(chosen, counts), rank=len(chosen), spare=spare), np.zeros((0, 0))
    E, agreeing = _substitution(seen, [images[c] for c in node.children])
    over_w = np.vstack([G @ E, agreeing])
    chosen = independent(over_w, plan.tolerance)
    kept = _by_closure([k for k in chosen if k < len(G)], counts)
    equations = tuple(range(sum(len(k) for k in kept)))
    equations += tuple(len(equations) + k - len(G) for k in chosen if k >= len(G))
    N = np.linalg.svd(over_w[chosen])[2][len(chosen) :].T if chosen else np.eye(E.shape[1])
    x = E[: separator_size(plan, node)] @ N
    size = min(x.shape) if node.parent is not None else 0
    T = np.linalg.qr(x.T)[1].T[:, :size] if x.size else np.zeros((len(x), size))
    idle = [k for k in range(len(over_w)) if k not in chosen]
    surplus = any(k >= len(G) or np.abs(G[k]).max(initial=0.0) > plan.tolerance * np.abs(G).max() for k in idle)
    rank = len(chosen) - len(agreeing)  # an image's agreement is no equation of ours: one that is redundant was theirs
    return Ranks(kept, equations, size, surplus, rank, _any_left(over_w, chosen, plan.tolerance)), T


def _any_left(G: Array, chosen: list[int], tolerance: float) -> bool:
    """Whether some rows that were not chosen say something, if only what the chosen ones say together."""
    idle = np.delete(np.abs(G), chosen, axis=0)
    return bool(idle.size) and bool(idle.max() > tolerance * np.abs(G).max())


def _substitution(node: PlainNode, images: list[Array]) -> tuple[Array, Array]:
    """E of formulations.apart without its last column, and the equations of images that must agree."""
    given = given_by(node.shared)
    free = [j for j in range(len(node.dofs)) if j not in given]
    starts = np.cumsum([len(free), *(T.shape[1] for T in images)])
    E = np.zeros((len(node.dofs), starts[-1]))
    E[free, range(len(free))] = 1.0
    for j, (k, i) in given.items():
        E[j, starts[k] : starts[k + 1]] = images[k][i]
    places = conflicts(node.shared)
    agreeing = E[[j for _, _, j in places]]
    for row, (k, i, _) in zip(agreeing, places, strict=True):
        row[starts[k] : starts[k + 1]] = -images[k][i]
    return E, agreeing


def _by_closure(chosen: list[int], counts: list[int]) -> tuple[tuple[int, ...], ...]:
    starts = np.cumsum([0, *counts])
    return tuple(tuple(int(k - a) for k in chosen if a <= k < b) for a, b in pairwise(starts))


def independent(G: Array, tolerance: float) -> list[int]:
    """Rows that are independent, in order: first those that add much, then less, down to the tolerance."""
    chosen: list[int] = []
    Q = np.zeros((0, G.shape[1]))
    scale = np.linalg.norm(G, axis=1).max(initial=0.0)
    for least in (*_STEPS, tolerance):
        for k, row in enumerate(G):
            if k in chosen:
                continue
            rest = row - Q.T @ (Q @ row)
            rest = rest - Q.T @ (Q @ rest)
            new = float(np.linalg.norm(rest))
            if new > least * scale and new > 0:
                chosen.append(k)
                Q = np.vstack([Q, rest / new])
    return _as_kernels_see(G, sorted(chosen), tolerance)


def _as_kernels_see(G: Array, chosen: list[int], tolerance: float) -> list[int]:
    """Without rows that kernels, which take them in order, would find redundant: spatial.small.null_space."""
    while chosen:
        new = np.abs(np.diag(np.linalg.qr(G[chosen].T, mode="r")))
        if new.min() > tolerance * np.linalg.norm(G[chosen]):
            break
        chosen = [k for k, x in zip(chosen, new, strict=True) if x > new.min()]
    return chosen


def generic_configuration(dynamics: Dynamics) -> tuple[Array, float]:
    """A configuration on the closures near the start that is not singular by chance, and the time of it."""
    model = dynamics.model
    q = np.array(model.given_q)
    if not model.closures or model.nv == 0:
        return q, 0.0
    still = np.zeros(model.nv)
    if model.nv * int(model.closure_index[-1]) > _LARGE:  # moving a large model aside would take long
        for known in (q, np.array(model.neutral_q)):
            if np.abs(dynamics.closure(known, still)[0]).max() < _NEARLY:
                return known, 0.0
    rng = np.random.default_rng(0)
    aside = q + dynamics.rates(q, _ASIDE * dynamics.plan.length ** slides(model) * rng.standard_normal(model.nv))
    for start in (aside, q):
        found = _closed(dynamics, start, still)
        if found is not None:
            return found, 0.0
    return q, 0.0


def _closed(dynamics: Dynamics, q: Array, still: Array) -> Array | None:
    """Newton's method, for as long as it takes to close the loops; None if it does not."""
    for _ in range(_MOST_STEPS):
        q = unit_quaternions(dynamics.model, dynamics.projected(q[None], still[None])[0])[0]
        error = np.abs(dynamics.closure(q[None], still[None])[0])
        if not np.isfinite(error).all():
            return None
        if error.max(initial=0.0) < _CLOSED * max(1.0, dynamics.plan.length):
            return q
    return None
