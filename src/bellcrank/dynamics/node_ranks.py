"""The number of independent equations of each node: structure that has to be found numerically.

The nodes are evaluated at configurations on the closures (generic), from the tips inward; of each node's equations those are
kept that add most to the ones before. The rank of a block is the largest that was found: in a singular position it is less.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formulations.loops.condensed import conflicts, given_by
from ..formulations.loops.multipliers import closing, from_origin
from ..formulations.loops.node_places import among_joints, place_all
from ..machine.in_python import NOTHING, InPython
from ..machine.loads import drive
from ..machine.nodes.walk import WalkedNode
from ..machine.walk import Walk
from ..model.manifold import unit_quaternions
from ..plan import Plan
from ..plan.long_loops.choice import with_links
from ..plan.nodes.blocks import BlockNode
from ..plan.nodes.signatures import Ranks, is_condensed, separator_size
from ..plan.nodes.tables import Nodes, all_rows, make_node_tables, nodes_of
from ..spatial.rank import ROUNDING, independent_rows, keeps, null_space, smallest_added
from .generic import configurations

if TYPE_CHECKING:
    from .evaluation import Evaluation

Array = NDArray[np.float64]
Rows = list[tuple[WalkedNode, Array]]  # G of every node, all equations

_NEARLY = 1e-14  # rad, or typical lengths: loops that are open by less are closed
_DOUBT = 10.0  # where branches touch, loops open by e are sqrt(e) off: times this, what an equation adds there is no news
_ROUNDS = (0.3, 0.03, 3e-3)  # of the largest: equations that add so much are taken first
_GOOD = 1e-3  # equations that add this part of what they could are a good choice


def plan_nodes(plan: Plan, q: Array, t: float) -> Nodes:
    """Nodes of a model with what is independent at q."""
    survey = Survey(plan)
    survey.look(q, t)
    return survey.nodes()


def plan_generic_nodes(plan: Plan, dynamics: Evaluation) -> Nodes:
    """Nodes of a model with what is independent on its closures in general, wherever it starts."""
    survey = Survey(plan)
    start = np.array(plan.model.given_q)
    survey.look(start, 0.0, widest=_NEARLY)
    others = configurations(dynamics, start)
    while not survey.settled and (found := next(others, None)) is not None:
        survey.look(*found)
    return survey.nodes()


class BlockRanks(NamedTuple):
    """A block at a configuration: ranks of its nodes, how many equations are independent, and how clearly they are."""

    ranks: dict[int, Ranks]
    rank: int
    pivot: float

    @property
    def value(self) -> tuple[int, float]:
        """The more equations the better; of good choices the first one stays, which is that near the start."""
        return self.rank, min(self.pivot, _GOOD)


class Survey:
    """Ranks of all blocks at one configuration after the other; of each block the largest is kept.

    On the closures no more equations are independent than off them. Where as many were found as at random coordinates, no other
    configuration needs to be looked at. Where none was looked at, because the loops cannot be closed, those count.
    """

    def __init__(self, plan: Plan):
        self.plan, self.parts = plan, nodes_of(plan)
        every = {i: all_rows(plan, node) for i, node in enumerate(self.parts)}
        self._all = replace(plan, nodes=make_node_tables(plan, self.parts, every, fold=False))
        self._anywhere, _ = self._rows(anywhere(plan), 0.0)
        self.most = self._found(self._anywhere, plan.tolerance)
        self.best: dict[int, BlockRanks] = {}

    @property
    def settled(self) -> bool:
        return all(root in self.best and self._is_settled(root) for root in self.most)

    def _is_settled(self, root: int) -> bool:
        """There cannot be more equations; and where others could take the place of some, the choice is good."""
        found = self.best[root]
        a_choice = any(ranks.interchangeable for ranks in found.ranks.values())
        return found.rank == self.most[root].rank and (found.pivot >= _GOOD or not a_choice)

    def look(self, q: Array, t: float, widest: float = np.inf) -> None:
        """At a configuration, unless its loops are open by more than the widest opening: in rad, or typical lengths."""
        rows, opening = self._rows(q, t)
        if not opening <= widest:  # not a number: a table of time has ended
            return
        for root, found in self._found(rows, max(self.plan.tolerance, _DOUBT * np.sqrt(opening))).items():
            known = self.best.get(root)
            if known is None or found.value > known.value:
                self.best[root] = found

    def nodes(self) -> Nodes:
        ranks: dict[int, Ranks] = {}
        for found in (self.best or self.most).values():
            agree = all(own.forms_agree for own in found.ranks.values())
            for i, own in found.ranks.items():
                ranks[i] = own._replace(checked=self._checked(i, own, agree))
        return make_node_tables(self.plan, *with_links(self.plan, self.parts, ranks))

    def _checked(self, i: int, own: Ranks, agree: bool) -> tuple[tuple[int, ...], ...]:
        """Equations that are left out, unless they say nothing anywhere; all where children may disagree with each other."""
        G = self._anywhere[i][1]
        says = np.abs(G).max(axis=1, initial=0.0) > self.plan.tolerance * np.abs(G).max(initial=0.0)
        starts = np.cumsum([0, *(self.plan.model.closures[k].rows for k in self.parts[i].closures)])
        return tuple(
            tuple(r for r in range(b - a) if says[a + r] and not (agree and r in kept))
            for (a, b), kept in zip(pairwise(starts.tolist()), own.kept, strict=True)
        )

    def _rows(self, q: Array, t: float) -> tuple[Rows, float]:
        """The rows of all closures at q, and how far the loops are open there."""
        found: Rows = []
        errors: list[float] = [0.0]

        def step(node: WalkedNode) -> None:
            places, G = place_all(node, still=True), []
            for closure in node.closures:
                view = closure.view(places[closure.a], places[closure.b])
                for on_a, on_b, _ in closing(from_origin, (0.0, 0.0), view):
                    G.append(among_joints(node, places, closure, on_a, on_b))
                errors.extend(abs(e.error) * scale for e, scale in zip(view.equations, closure.scales, strict=True))
            found.append((node, np.array(G, dtype=float).reshape(len(G), len(node.dofs))))

        _walk(self._all, q, t).nodes(step)
        return found, float(np.max(errors)) / self.plan.length

    def _found(self, rows: Rows, tolerance: float) -> dict[int, BlockRanks]:
        """The ranks by the first node of each block, which is the one that all others of the block are below."""
        ranks: dict[int, Ranks] = {}
        forms: dict[int, Array] = {}
        pivots: dict[int, float] = {}
        for i in reversed(range(len(self.parts))):
            ranks[i], forms[i], pivots[i] = _ranks(self.plan, self.parts, i, rows[i], forms, tolerance)
        blocks: dict[int, list[int]] = {}
        root: dict[int, int] = {}
        for i, node in enumerate(self.parts):
            root[i] = i if node.parent is None else root[node.parent]
            blocks.setdefault(root[i], []).append(i)
        return {
            first: BlockRanks({i: ranks[i] for i in own}, sum(ranks[i].rank for i in own), min(pivots[i] for i in own))
            for first, own in blocks.items()
        }


def anywhere(plan: Plan) -> Array:
    """Random coordinates, which close no loop."""
    model, rng = plan.model, np.random.default_rng(1)
    q = np.array(model.neutral_q)
    for joint, first, driven in zip(model.joints, model.q_index, model.driven, strict=True):
        if not driven:
            lengths = np.array([plan.length if unit == "m" else 1.0 for unit in joint.q_units])
            q[first : first + joint.nq] += lengths * rng.uniform(-1.0, 1.0, joint.nq)
    return unit_quaternions(model, q[None])[0]


def _walk(plan: Plan, q: Array, t: float) -> Walk:
    still = [0.0] * plan.model.nv
    inputs = {"q": q.tolist(), "v": still, "tau": still, "t": [t], "u": [0.0] * plan.model.input_width}
    walk = InPython(plan, NOTHING, inputs).walk
    if plan.loads.motions:
        drive(walk)
    return walk


def _ranks(
    plan: Plan, nodes: list[BlockNode], i: int, collected: tuple[WalkedNode, Array], forms: dict[int, Array], tolerance: float
) -> tuple[Ranks, Array, float]:
    """Ranks of a node; T of what it reports; its smallest pivot."""
    node, (seen, G) = nodes[i], collected
    counts = [plan.model.closures[k].rows for k in node.closures]
    if not is_condensed(plan, node):
        chosen = independent(G, tolerance)
        interchangeable = _any_left(G, chosen, tolerance)
        return (
            Ranks(_by_closure(chosen, counts), rank=len(chosen), interchangeable=interchangeable),
            np.zeros((0, 0)),
            smallest_added(G[chosen])[0],
        )
    E, agreeing = _substitution(seen, [forms[c] for c in node.children])
    over_w = np.vstack([G @ E, agreeing])
    chosen = independent(over_w, tolerance)
    kept = _by_closure([k for k in chosen if k < len(G)], counts)
    equations = tuple(range(sum(len(k) for k in kept)))
    equations += tuple(len(equations) + k - len(G) for k in chosen if k >= len(G))
    x = E[: separator_size(plan, node)] @ null_space(over_w[chosen], ROUNDING)
    size = min(x.shape) if node.parent is not None else 0
    T = np.linalg.qr(x.T)[1].T[:, :size] if x.size else np.zeros((len(x), size))
    idle = [k for k in range(len(over_w)) if k not in chosen]
    found = Ranks(
        kept,
        equations=equations,
        size=size,
        redundant=any(k >= len(G) or np.abs(G[k]).max(initial=0.0) > tolerance * np.abs(G).max() for k in idle),
        rank=len(chosen) - len(agreeing),  # a child's agreement is not an equation of ours: one that is redundant was theirs
        interchangeable=_any_left(over_w, chosen, tolerance),
        forms_agree=not any(k >= len(G) for k in idle),
    )
    return found, T, smallest_added(over_w[chosen])[0]


def _any_left(G: Array, chosen: list[int], tolerance: float) -> bool:
    """Whether some rows that were not chosen say something, if only what the chosen ones say together."""
    idle = np.delete(np.abs(G), chosen, axis=0)
    return bool(idle.size) and bool(idle.max() > tolerance * np.abs(G).max())


def _substitution(node: WalkedNode, forms: list[Array]) -> tuple[Array, Array]:
    """E of formulations.loops.condensed without its last column, and the equations of children that must agree."""
    given = given_by(node.shared)
    free = [j for j in range(len(node.dofs)) if j not in given]
    starts = np.cumsum([len(free), *(T.shape[1] for T in forms)])
    E = np.zeros((len(node.dofs), starts[-1]))
    E[free, range(len(free))] = 1.0
    for j, (k, i) in given.items():
        E[j, starts[k] : starts[k + 1]] = forms[k][i]
    places = conflicts(node.shared)
    agreeing = E[[j for _, _, j in places]]
    for row, (k, i, _) in zip(agreeing, places, strict=True):
        row[starts[k] : starts[k + 1]] = -forms[k][i]
    return E, agreeing


def _by_closure(chosen: list[int], counts: list[int]) -> tuple[tuple[int, ...], ...]:
    starts = np.cumsum([0, *counts])
    return tuple(tuple(int(k - a) for k in chosen if a <= k < b) for a, b in pairwise(starts))


def independent(G: Array, tolerance: float) -> list[int]:
    """Rows that are independent, in order, without those that kernels, which take them in order, would find redundant."""
    chosen = sorted(independent_rows(G, tolerance, _ROUNDS))
    while chosen:
        pivot, place = smallest_added(G[chosen])
        if keeps(tolerance, pivot):
            break
        del chosen[place]
    return chosen
