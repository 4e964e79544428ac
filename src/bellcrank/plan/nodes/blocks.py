"""Where the loops are: blocks of a mechanism, and how a large block falls into nodes that hang on each other.

A block is a part of the mechanism whose loops share bodies (a biconnected component of the graph of bodies and joints), seen
from its base, the body nearest to ground. A joint outside all loops is a block of its own. Blocks form a tree.

Inside a block the unknowns are the accelerations of its joints relative to the base. A body involves the joints on its path
from the base, a closure those of its cycle. Large blocks are taken apart along such sets (a tree of cliques, by eliminating
joints of smallest degree first): a node knows its own joints, and shares a *separator* with its parent. A block
that needs no taking apart is one node. EQUATIONS 3.10.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...model import Model
from ..long_loops.links import Link
from ..order import Tree

LARGEST = 8  # joints of a block that is treated as one node although it could be taken apart


@dataclass
class BlockNode:
    """Joints are named by the bodies that they carry, which are indices of the walk; -1 is ground.

    base       body to which all motion is relative
    bodies     whose motion is worked out here, parents first
    borrowed   whose motion is known from other nodes
    joints     unknowns here: first the separator, then those that no node further in knows
    separator  how many of the joints are shared with the parent
    closures   indices of the model's closures whose equations are here
    children   children by their separators
    parent     parent of this node in the clique tree; None: it reports to the base
    link       of a joint of a long loop (plan.long_loops): which loop
    """

    base: int
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    separator: int
    closures: tuple[int, ...]
    parent: int | None = None
    borrowed: tuple[int, ...] = ()
    children: tuple[int, ...] = ()
    link: Link | None = None

    @property
    def frame(self) -> int:
        """The body in whose axes the equations of its closures are written."""
        return self.base if self.link is None else self.link.base


@dataclass
class Graph:
    """Bodies of the walk and what ties them: tree joints by their bodies, closures by their two ends (or several)."""

    parent: tuple[int, ...]
    ties: list[tuple[int, int, int]] = field(default_factory=list)  # closure, body, body


def make_graph(model: Model, tree: Tree) -> Graph:
    place = tree.place
    graph = Graph(tree.parent)
    for k, closure in enumerate(model.closures):
        if closure.kind == "coupler":
            ends = [place[joint] for joint, _, _ in closure.terms]
            ends += [tree.parent[i] for i in ends]  # the joints themselves must be in the loop, not only their bodies
            graph.ties += [(k, a, b) for a, b in itertools.pairwise(ends) if a != b]
            if len(ends) == 2:
                graph.ties.append((k, ends[0], ends[1]))
        else:
            graph.ties.append((k, place[closure.body_a], place[closure.body_b]))
    return graph


@dataclass
class Block:
    base: int
    bodies: tuple[int, ...]
    closures: tuple[int, ...]


def find_blocks(graph: Graph) -> list[Block]:
    """Blocks, inner ones first. A closure joins all tree joints between the bodies that it ties into one block."""
    n = len(graph.parent)
    leader = list(range(n))  # of a block: the joint (body) nearest to ground

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    depth = depths(graph.parent)
    joined: dict[int, list[int]] = {}
    for closure, a, b in graph.ties:
        joined.setdefault(closure, []).extend(cycle(graph.parent, depth, a, b))
    for joints in joined.values():
        for i in joints[1:]:
            x, y = find(joints[0]), find(i)
            leader[max(x, y)] = min(x, y)  # the walk numbers parents before children
    members: dict[int, list[int]] = {}
    for i in range(n):
        members.setdefault(find(i), []).append(i)
    ties: dict[int, dict[int, None]] = {}
    for closure, joints in joined.items():
        ties.setdefault(find(joints[0]), {})[closure] = None
    return [Block(_base(graph.parent, bodies), tuple(bodies), tuple(ties.get(first, ()))) for first, bodies in members.items()]


def _base(parent: Sequence[int], bodies: list[int]) -> int:
    """The body outside the block on which it hangs: parent of its first body."""
    return parent[bodies[0]]


def depths(parent: Sequence[int]) -> list[int]:
    depth: list[int] = []
    for p in parent:
        depth.append(0 if p < 0 else depth[p] + 1)
    return depth


def cycle(parent: Sequence[int], depth: Sequence[int], a: int, b: int) -> list[int]:
    """The tree joints between two bodies."""
    between = []
    while a != b:
        if b < 0 or (a >= 0 and depth[a] >= depth[b]):
            between.append(a)
            a = parent[a]
        else:
            between.append(b)
            b = parent[b]
    return between


def make_nodes(model: Model, tree: Tree) -> list[BlockNode]:
    """All nodes, in an order in which bases and lent bodies come before those that need them."""
    graph = make_graph(model, tree)
    depth = depths(graph.parent)
    cycles: dict[int, set[int]] = {}
    for closure, a, b in graph.ties:
        cycles.setdefault(closure, set()).update(cycle(graph.parent, depth, a, b))
    driven = [bool(model.driven[body]) or model.joints[body].nv == 0 for body in tree.order]
    nodes: list[BlockNode] = []
    for block in find_blocks(graph):
        moving = [i for i in block.bodies if not driven[i]]
        nodes += clique_tree(block, moving, graph.parent, cycles, len(nodes))
    return nodes


def clique_tree(
    block: Block, moving: Sequence[int], parent: Sequence[int], cycles: dict[int, set[int]], first: int
) -> list[BlockNode]:
    paths = {i: _path(parent, block.base, i) for i in block.bodies}
    whole = BlockNode(block.base, block.bodies, tuple(moving), 0, block.closures)
    if len(moving) <= LARGEST or len(block.closures) < 2:
        return [whole]
    known = frozenset(moving)
    sets = [known & frozenset(path) for path in paths.values()] + [known & cycles[k] for k in block.closures]
    cliques = _cliques(moving, sets)
    if len(cliques) == 1:
        return [whole]
    return _hang(block, parent, paths, cycles, cliques, first)


def _path(parent: Sequence[int], base: int, i: int) -> tuple[int, ...]:
    path: list[int] = []
    while i != base:
        path.append(i)
        i = parent[i]
    return tuple(reversed(path))


@dataclass
class _Clique:
    members: frozenset[int]
    parent: int | None


def _cliques(joints: Sequence[int], sets: Iterable[frozenset[int]]) -> list[_Clique]:
    """A tree of cliques by eliminating the joint with fewest neighbours; the first clique is the root."""
    near: dict[int, set[int]] = {j: set() for j in joints}
    for group in sets:
        for j in group:
            near[j] |= group - {j}
    order: list[int] = []
    made: dict[int, frozenset[int]] = {}
    queue = [(len(near[j]), -j, j) for j in joints]
    heapq.heapify(queue)
    while queue:
        degree, _, j = heapq.heappop(queue)
        if j in made or degree != len(near[j]):
            continue  # it has been pushed again with its present degree
        order.append(j)
        made[j] = frozenset(near[j] | {j})
        for i in near[j]:
            near[i] = (near[i] | near[j]) - {i, j}
            heapq.heappush(queue, (len(near[i]), -i, i))
    return _merged(order, made)


def _merged(order: list[int], made: dict[int, frozenset[int]]) -> list[_Clique]:
    """Cliques that are part of the next one vanish in it; the root comes first."""
    rank = {j: k for k, j in enumerate(order)}
    up = {j: min((i for i in made[j] if i != j), key=rank.__getitem__, default=None) for j in order}
    stands_for: dict[int, int] = {}
    kept: dict[int, frozenset[int]] = {}
    for j in reversed(order):  # from the root outward
        above = up[j]
        home = None if above is None else stands_for[above]
        if home is not None and made[j] <= kept[home]:
            stands_for[j] = home
        elif home is not None and kept[home] <= made[j]:
            kept[home] = made[j]
            stands_for[j] = home
        else:
            stands_for[j] = j
            kept[j] = made[j]
    heads = [j for j in reversed(order) if stands_for[j] == j]
    index = {j: k for k, j in enumerate(heads)}
    parents = [None if up[j] is None else index[stands_for[up[j]]] for j in heads]  # type: ignore[index]
    return _hung_low([_Clique(kept[j], p) for j, p in zip(heads, parents, strict=True)])


def _hung_low(cliques: list[_Clique]) -> list[_Clique]:
    """Hang each clique on the smallest one that knows its separator, and sort them: what hangs comes after what it hangs on.

    Cliques that all hang on one large one, as elimination leaves those of a mesh, would each tell it of the same joints.
    """
    holding: dict[int, set[int]] = {}
    for k, clique in enumerate(cliques):
        for j in clique.members:
            holding.setdefault(j, set()).add(k)
    for k, clique in enumerate(cliques):
        if clique.parent is None:
            continue
        separator = clique.members & cliques[clique.parent].members
        able = set.intersection(*(holding[j] for j in separator)) - {k}
        smaller = [c for c in able if len(cliques[c].members) < len(cliques[clique.parent].members)]
        for c in sorted(smaller, key=lambda c: (len(cliques[c].members), c)):
            if not _hangs_on(cliques, c, k):
                clique.parent = c
                break
    return _outward(cliques)


def _hangs_on(cliques: Sequence[_Clique], k: int | None, other: int) -> bool:
    while k is not None and k != other:
        k = cliques[k].parent
    return k == other


def _outward(cliques: Sequence[_Clique]) -> list[_Clique]:
    hanging: dict[int | None, list[int]] = {}
    for k, clique in enumerate(cliques):
        hanging.setdefault(clique.parent, []).append(k)
    order: list[int] = []
    waiting = hanging[None][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += hanging.get(order[-1], [])[::-1]
    place: dict[int | None, int | None] = {k: i for i, k in enumerate(order)} | {None: None}
    return [_Clique(cliques[k].members, place[cliques[k].parent]) for k in order]


def _hang(
    block: Block,
    parent: Sequence[int],
    paths: dict[int, tuple[int, ...]],
    cycles: dict[int, set[int]],
    cliques: list[_Clique],
    first: int,
) -> list[BlockNode]:
    """Give each clique its bodies and closures: what the clique nearest to the root can hold."""
    homeless = set(block.bodies)
    touching: dict[int, set[int]] = {}
    for k in block.closures:
        for j in cycles[k]:
            touching.setdefault(j, set()).add(k)
    placed: set[int] = set()
    still = frozenset(block.bodies).difference(*(clique.members for clique in cliques))  # driven, or fixed
    nodes = []
    for clique in cliques:
        inside = frozenset() if clique.parent is None else clique.members & cliques[clique.parent].members
        reach = clique.members | still
        bodies = sorted(i for i in reach & homeless if reach.issuperset(paths[i]))
        homeless -= set(bodies)
        near = {k for j in clique.members for k in touching.get(j, ())} - placed
        closures = sorted(k for k in near if reach >= cycles[k])
        placed |= set(closures)
        joints = (*sorted(inside), *sorted(clique.members - inside))
        hung = None if clique.parent is None else first + clique.parent
        nodes.append(BlockNode(block.base, tuple(bodies), joints, len(inside), tuple(closures), hung))
    for k, node in enumerate(nodes):
        ends = {j for c in node.closures for j in cycles[c]}
        needed = {j for i in (*node.bodies, *ends) for j in paths[i]}
        node.borrowed = tuple(sorted(needed - set(node.bodies)))
        if node.parent is not None:
            above = nodes[node.parent - first]
            above.children = (*above.children, first + k)
    return nodes
