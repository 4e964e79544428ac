"""An estimate of the operations of a block of loops in coordinate_reduction, from its topology and the kinds of its joints.

The algebra of a block that is one node is counted by patterns (plan.cuts.patterns), that of a block which is split into a
clique tree by the sizes of its matrices; what placing the bodies and writing the closures takes is a table (plan.cuts.prices).
The numbers of a model play no part: a choice that rests on this one does not change with its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ...joints import JOINTS
from ..nodes.blocks import Block, BlockNode, clique_tree, cycle, depths
from ..nodes.signatures import LARGEST_BLOCK
from ..order import depth_first
from . import prices
from .linkage import Linkage, Tie, Tree
from .patterns import Rows, factored, null_space, ones
from .prices import SLIDE, TURN, InertiaOperations, axes_move, equations, moves


def effort(block: Linkage, inboard: Tree) -> float:
    """Operations of one evaluation, about; ``inboard``: of each body, the joint that carries it."""
    return _Estimate(block, inboard).total()


@dataclass
class _Estimate:
    """Bodies are in the order of the walk from here on."""

    network: Linkage
    inboard: Tree
    kept: dict[int, int] = field(default_factory=dict)  # of a node: unknowns that its parent gets

    def __post_init__(self) -> None:
        network = self.network
        kept = sorted(self.inboard)
        carried = {joint: body for body, joint in enumerate(self.inboard)}
        row = {carried[joint]: i for i, joint in enumerate(kept)} | {-1: -1}
        inner = [network.inner(self.inboard, carried[joint]) for joint in kept]
        tree = depth_first([row[body] for body in inner])
        self.parent = tree.parent
        of_walk = [carried[kept[i]] for i in tree.order]
        place = {body: k for k, body in enumerate(of_walk)} | {-1: -1}
        self.carriers = {place[body] for body in network.carriers}
        own = [network.joints[self.inboard[body]] for body in of_walk]
        self.turns = [TURN in moves(joint.kind) for joint in own]
        self.moves = [() if joint.driven else moves(joint.kind) for joint in own]
        for k, p in enumerate(self.parent):
            self.turns[k] = self.turns[k] or (p >= 0 and self.turns[p])
        tied = {self.inboard[body]: k for k, body in enumerate(of_walk)}
        closing = [joint for j, joint in enumerate(network.joints) if j not in tied]
        self.closures = [tie._replace(a=place[tie.a], b=place[tie.b]) for tie in (*closing, *network.ties) if not tie.terms]
        self.closures += [tie._replace(terms=tuple(tied[j] for j in tie.terms)) for tie in network.ties if tie.terms]
        self.planar = network.planar
        self.prices = prices.PRICES[self.planar, network.on_ground]
        roots = [i for i, p in enumerate(self.parent) if p < 0]
        self.root = roots[0] if network.on_ground and network.alone and JOINTS[own[roots[0]].kind].turns_freely else -1
        self.tail = 1 if network.on_ground else 1 + self.prices.size
        held = sum(len(equations(closure.kind, self.planar)) for closure in self.closures)
        self.free = sum(map(len, self.moves)) - held  # as a rule: what a driven block has none of

    def total(self) -> float:
        depth = depths(self.parent)
        cycles = {k: self.cycle(closure, depth) for k, closure in enumerate(self.closures)}
        moving = [i for i, moves in enumerate(self.moves) if moves]
        block = Block(-1, tuple(range(len(self.parent))), tuple(cycles))
        nodes = clique_tree(block, moving, self.parent, cycles, 0)
        split = len(nodes) > 1 or self._count(nodes[0].joints) > LARGEST_BLOCK
        work = float(sum(self._placed(i, depth) for i in block.bodies))
        for k in reversed(range(len(nodes))):
            node, rows = nodes[k], []
            for c in node.closures:
                work += self._closed(self.closures[c], cycles[c])
                rows += self._rows(node, self.closures[c], cycles[c])
            rows = [row for row in rows if row]
            work += self._part(nodes, k, rows) if split else self._whole(node, rows)
        return work

    def cycle(self, closure: Tie, depth: Sequence[int]) -> set[int]:
        if not closure.terms:
            return set(cycle(self.parent, depth, closure.a, closure.b))
        joined: set[int] = set(closure.terms)
        for i in closure.terms[1:]:
            joined.update(cycle(self.parent, depth, closure.terms[0], i))
        return joined

    def _placed(self, i: int, depth: Sequence[int]) -> int:
        p, moves, price = self.parent[i], self.moves[i], self.prices
        work = price.body + depth[i]  # of trees that are as good, the flatter
        work += price.carrier if i in self.carriers and i != self.root else 0
        if p >= 0 and self.turns[p]:
            later = price.later_near if p == self.root else price.later
            return work + (later if self.free > 0 else later // 3) + price.later_each * len(moves)
        return work + price.first * len(moves) + price.shifted * max(depth[i] - 1, 0)

    def _closed(self, closure: Tie, cycle: set[int]) -> int:
        end = self.prices.axes_end if axes_move(closure.kind) or closure.driven else self.prices.end
        ends = sum(i >= 0 and self.turns[i] for i in (closure.a, closure.b) if not closure.terms)
        entries = sum(len(self.moves[i]) for i in cycle if i != self.root)
        return end * (1 + ends) + self.prices.entry * entries

    def _rows(self, node: BlockNode, closure: Tie, cycle: set[int]) -> Rows:
        turning, anything, first = 0, 0, self._first(node)
        for i in closure.terms or cycle:
            for k, move in enumerate(self.moves[i]):
                anything |= 1 << first[i] + k
                turning |= 1 << first[i] + k if move == TURN else 0
        kind = "fixed" if closure.driven and closure.kind in JOINTS else closure.kind
        return [turning if about == TURN else anything for about in equations(kind, self.planar)]

    def _first(self, node: BlockNode) -> dict[int, int]:
        """The first coordinate of each joint of a node."""
        return dict(zip(node.joints, accumulate((len(self.moves[i]) for i in node.joints), initial=0), strict=False))

    def _count(self, joints: Iterable[int]) -> int:
        return sum(len(self.moves[i]) for i in joints)

    def _body(self, i: int, feels: InertiaOperations, turns: int, slides: int = 0) -> int:
        """What a body adds to a node's form that moves in so many ways, some of which do not turn it; and what it carries."""
        light = self.prices.sliding
        feels = self.prices.at_origin if i == self.root else feels if self.turns[i] else light
        size = 0 if self.network.on_ground else self.prices.size
        count, pairs = turns + slides, turns * (turns + 1) // 2
        products = feels.with_motion * pairs + light.with_motion * (count * (count + 1) // 2 - pairs)
        products += (feels.with_force + size) * turns + (light.with_force + size) * slides
        own = feels.inertia * turns + light.inertia * slides + products
        hanging = feels.carried * turns + light.carried * slides + products
        return own + (hanging if i in self.carriers else 0)

    # a block that is one node

    def _whole(self, node: BlockNode, rows: Rows) -> int:
        first, n = self._first(node), self._count(node.joints)
        rows = rows[: max(n - 1, 0)]  # what moves at all has more coordinates than independent equations
        found = null_space(rows, n)
        work = prices.CROSS_PRODUCT if len(rows) == 2 and n == 3 else found.operations
        ways: dict[int, int] = {-1: 0}
        for i in node.bodies:
            J = ways[self.parent[i]]
            for k in range(len(self.moves[i])):
                more = found.rows[first[i] + k]  # k0 too
                work += self.prices.scaled * more.bit_count() + self.prices.size * (more & J).bit_count() if rows else 0
                J |= more
            ways[i] = J
            work += self._body(i, self.prices.turning, (J & ones(found.free)).bit_count())
        size, k = self.prices.size, found.free
        felt = factored(k, size) - factored(k, 0) + size * (size + 5) * k
        return work + factored(k, 1) + (0 if self.network.on_ground else felt)

    # a block that is split into a clique tree

    def _part(self, nodes: Sequence[BlockNode], at: int, rows: Rows) -> int:
        """A node by the sizes of its matrices.

        n, x   its coordinates; those of them in its separator
        w, m   unknowns, of which children give some; equations between them, some of which say that two children agree
        y      unknowns that are left: some stay for its parent, z are minimised
        """
        node = nodes[at]
        n, x = self._count(node.joints), self._count(node.joints[: node.separator])
        given = [i for c in node.children for i in nodes[c].joints[: nodes[c].separator]]
        distinct, kept = self._count(set(given)), [self.kept[c] for c in node.children]
        w = n - distinct + sum(kept)
        m = min(len(rows) + self._count(given) - distinct, w)
        y = w - m
        stay = self.kept[at] = min(x, y) if node.parent is not None else 0
        z, rest, all_y = y - stay, stay + self.tail, y + self.tail
        work = 2 * m * (m - 1) * (3 * w - m) // 3 + 2 * m * (y + 1) * (2 * w - m) + m * m  # null space
        work += all_y * n * (2 * n + all_y) + sum(k * all_y * (k + all_y) for k in kept)  # F^T H F, here and of the children
        work += 4 * x * y * (n + x) if 0 < stay < y else 0  # y is turned so that only its last entries move the separator
        work += factored(z, rest) + rest * (rest + 1) * z + 2 * (z + 1) * rest * (n - x)
        return round(prices.FILL * work) + sum(self._moved(i) for i in node.bodies)

    def _moved(self, i: int) -> int:
        turns = slides = 0
        body = i
        while body >= 0:
            slides += self.moves[body].count(SLIDE)
            turns += self.moves[body].count(TURN)
            body = self.parent[body]
        return self._body(i, self.prices.single, turns, slides)
