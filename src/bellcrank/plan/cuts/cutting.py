"""Which joints of the loops are cut, so that blocks of loops take few operations.

A spanning tree is judged by what its blocks are estimated to take (plan.cuts.effort). Blocks are the same whatever is cut, so
each is looked at by itself. From the trees that are offered, others follow where a joint that is cut and another one of its
loop change places, the cheapest first; of small blocks all are looked at. Where loops of a small block share joints, the
operations of the cheapest trees are counted (plan.cuts.counted_blocks). The first tree that is offered stays unless another is
cheaper by more than GAIN. Only joints that are kept with the same reluctance change places, and none is walked from a side
from which it cannot be.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ..nodes.blocks import Block, Graph, find_blocks
from ..order import depth_first
from .effort import effort
from .linkage import Linkage, Tie, Tree

GAIN = 0.02  # part of the operations below which the tree that is there stays
BODIES = 6000  # bodies of all the trees of a block that are looked at, about
PATIENCE = 16  # trees whose exchanges are looked at without finding a cheaper one
SMALL = 12  # bodies of a block whose trees are counted
SHORT, WINDOW = 10, 1.25  # how many trees, and up to which multiple of the cheapest estimate
STEEP = 40  # mean depth of the bodies beyond which a tree is not worth an estimate
BEYOND = 1e12  # operations, more than any model takes


def best_tree(linkage: Linkage, trees: Sequence[Tree]) -> Tree:
    """The cheapest that is found from several, of which the first stays where little is gained; the last is the flattest."""
    chosen = list(trees[0])
    for block in _blocks(linkage, trees[-1]):  # all have the same blocks, but loops are short in a flat one
        offered = tuple(block.of(tree) for tree in trees)
        for body, joint in zip(block.bodies, _best_of_block(block.linkage, offered), strict=True):
            chosen[body] = block.joints[joint]
    return tuple(chosen)


# blocks --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """A block with loops in its own numbers, and the numbers that its bodies and joints have in the whole."""

    linkage: Linkage
    bodies: tuple[int, ...]
    joints: tuple[int, ...]

    def of(self, tree: Tree) -> Tree:
        number = {joint: k for k, joint in enumerate(self.joints)}
        return tuple(number[tree[body]] for body in self.bodies)


def _blocks(linkage: Linkage, tree: Tree) -> Iterator[_Block]:
    walk = depth_first([linkage.inner(tree, body) for body in range(linkage.bodies)])
    found = find_blocks(Graph(walk.parent, _ends(linkage, tree, walk.place, walk.parent)))
    bases = [block.base for block in found]
    carriers, alone = set(bases), bases.count(-1) == 1
    for block in found:
        closing = [j for j in block.closures if j < len(linkage.joints)]
        if closing:
            yield _block(linkage, tree, (-1, *walk.order), block, carriers, alone)


def _ends(linkage: Linkage, tree: Tree, place: dict[int, int], parent: Sequence[int]) -> list[tuple[int, int, int]]:
    """Bodies that are tied: by joints that are cut, by their numbers; then by other ties, counted on."""
    kept = {joint: body for body, joint in enumerate(tree)}
    ends = [(j, place[tie.a], place[tie.b]) for j, tie in enumerate(linkage.joints) if j not in kept]
    for k, tie in enumerate(linkage.ties, start=len(linkage.joints)):
        bodies = [place[kept[j]] for j in tie.terms] or [place[tie.a], place[tie.b]]
        bodies += [parent[i] for i in bodies if tie.terms]  # a coupler: the joints themselves are in the loop
        ends += [(k, a, b) for a, b in pairwise(bodies) if a != b]
    return ends


def _block(linkage: Linkage, tree: Tree, order: tuple[int, ...], block: Block, carriers: set[int], alone: bool) -> _Block:
    """``order``: bodies of the linkage by their numbers in the walk, one on; ground comes first."""
    bodies = tuple(sorted(order[i + 1] for i in block.bodies))
    count = len(linkage.joints)
    joints = tuple(sorted([tree[body] for body in bodies] + [j for j in block.closures if j < count]))
    body_number = {body: k for k, body in enumerate(bodies)} | {order[block.base + 1]: -1}
    joint_number = {joint: k for k, joint in enumerate(joints)}

    def own(tie: Tie) -> Tie:
        if tie.terms:
            return tie._replace(terms=tuple(joint_number[j] for j in tie.terms))
        return tie._replace(a=body_number[tie.a], b=body_number[tie.b])

    part = Linkage(
        len(bodies),
        tuple(own(linkage.joints[j]) for j in joints),
        tuple(own(linkage.ties[k - count]) for k in block.closures if k >= count),
        tuple(linkage.reluctance[j] for j in joints),
        tuple(linkage.stays[j] for j in joints),
        frozenset(body_number[order[i + 1]] for i in block.bodies if i in carriers),
        block.base < 0,
        block.base < 0 and alone,
    )
    return _Block(part, bodies, joints)


# one block -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _best_of_block(block: Linkage, trees: tuple[Tree, ...]) -> Tree:
    """Remembered: cells of a long mechanism are equal, and a model is built again with every change of its parameters."""
    search = _Search(block)
    search.explored([tree for tree in dict.fromkeys(trees) if search.is_as_good(tree, trees[0])])
    costs = {tree: search.cost(tree) for tree in (trees[0], *search.cheapest())}
    if len(costs) > 1 and len(block.joints) - block.bodies > 1 and block.bodies <= SMALL:
        costs = _counted(block, costs)
    best = min(costs, key=lambda tree: (costs[tree], tree))
    return best if costs[best] < (1 - GAIN) * costs[trees[0]] else trees[0]


def _counted(block: Linkage, costs: dict[Tree, float]) -> dict[Tree, float]:
    """Operations of trees, counted where that can be: between loops that share joints the estimate is a tenth off."""
    from .counted_blocks import countable, counted

    return dict(zip(costs, map(float, counted(block, tuple(costs))), strict=True)) if countable(block) else costs


class _Search:
    def __init__(self, block: Linkage) -> None:
        self.block = block
        self.known: dict[Tree, float] = {}

    def cost(self, tree: Tree) -> float:
        """Estimated operations; of trees that are too steep for that, no figure, but the flatter is the cheaper."""
        if tree not in self.known:
            depths = self._depths(tree)
            steep = sum(depths) > STEEP * self.block.bodies
            self.known[tree] = BEYOND * sum(x * x for x in depths) if steep else effort(self.block, tree)
        return self.known[tree]

    def cheapest(self) -> list[Tree]:
        """Trees that are nearly as cheap as the cheapest that is known."""
        ranked = sorted((cost, tree) for tree, cost in self.known.items())
        return [tree for cost, tree in ranked[:SHORT] if cost < WINDOW * ranked[0][0]]

    @property
    def exhausted(self) -> bool:
        return len(self.known) * self.block.bodies > BODIES

    def _depths(self, tree: Tree) -> list[int]:
        depth: dict[int, int] = {-1: 0}
        for body in range(self.block.bodies):
            path = []
            while body not in depth:
                path.append(body)
                body = self.block.inner(tree, body)
            for outer in reversed(path):
                depth[outer] = depth[body] + 1
                body = outer
        return [depth[body] for body in range(self.block.bodies)]

    def is_as_good(self, tree: Tree, other: Tree) -> bool:
        """Whether it keeps joints with the same reluctance, and cuts none that must stay and that the other one keeps."""
        kept = [sorted(self.block.level(joint, body) for body, joint in enumerate(each)) for each in (tree, other)]
        return kept[0] == kept[1] and not any(self.block.stays[joint] for joint in set(other) - set(tree))

    def explored(self, trees: Sequence[Tree]) -> None:
        """Look at trees that exchanges lead to, always from the cheapest one whose exchanges have not been looked at."""
        waiting = [(self.cost(tree), tree) for tree in trees]
        heapq.heapify(waiting)
        best, idle = waiting[0], 0
        while waiting and best[0] < BEYOND and idle < PATIENCE and not self.exhausted:
            idle += 1
            _, tree = heapq.heappop(waiting)
            for other in self._exchanges(tree):
                if other not in self.known and not self.exhausted:
                    heapq.heappush(waiting, (self.cost(other), other))
            if waiting and waiting[0] < best:
                best, idle = waiting[0], 0

    def _exchanges(self, tree: Tree) -> Iterator[Tree]:
        """Trees in which a joint that is cut takes the place of one of its loop."""
        for closing in sorted(set(range(len(self.block.joints))) - set(tree)):
            tie = self.block.joints[closing]
            paths = [self._inward(tree, end) for end in (tie.a, tie.b)]
            common = set(paths[0]) & set(paths[1])
            for path in paths:
                for length in range(1, len([body for body in path if body not in common]) + 1):
                    other = self._exchanged(tree, closing, path[:length])
                    if other is not None:
                        yield other

    def _inward(self, tree: Tree, body: int) -> list[int]:
        path = []
        while body >= 0:
            path.append(body)
            body = self.block.inner(tree, body)
        return path

    def _exchanged(self, tree: Tree, closing: int, path: Sequence[int]) -> Tree | None:
        """The closing joint carries the first body of the path, and each joint of the path the next; the last is cut."""
        block, freed = self.block, tree[path[-1]]
        if block.stays[freed] or block.level(closing, path[0]) != block.level(freed, path[-1]):
            return None
        changed = list(tree)
        for body, joint in zip(path, (closing, *(tree[b] for b in path[:-1])), strict=True):
            changed[body] = joint
        turned = zip(path[1:], path[:-1], strict=True)
        if any(block.level(tree[inner], outer) != block.level(tree[inner], inner) for outer, inner in turned):
            return None
        return tuple(changed)
