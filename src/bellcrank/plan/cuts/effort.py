"""About how many operations a block of loops takes in coordinate_reduction, from its topology and the kinds of its joints.

The algebra is counted by patterns (plan.cuts.patterns) as formulations.coordinate_reduction and formulations.apart do it; what
placing the bodies and writing the closures takes is a table (plan.cuts.prices). The numbers of a model play no part: a choice
that rests on this one does not change with its parameters. Blocks whose joints could all move in a plane, and could not all
move in space by counting freedoms, count as planar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...joints import JOINTS
from ..blocks import Block, Node, _cycle, _depths, _take_apart
from ..nodes import WIDE_ALONE
from ..order import depth_first
from .condensed_patterns import Hanging, Image
from .patterns import Rows, columns_of, congruent, factored, null_space, ones, product, reflected, transposed
from .prices import (
    CROSS_PRODUCT,
    PLANAR_GROUND,
    PLANAR_MOVING,
    SLIDE,
    SPATIAL_GROUND,
    SPATIAL_MOVING,
    TURN,
    Feels,
    axes_move,
    equations,
    may_be_planar,
    moves,
)


class Tie(NamedTuple):
    """A joint, or what else ties bodies: between two of them, or (a coupler) between the joints ``terms``; -1 is the base."""

    kind: str
    a: int
    b: int
    driven: bool = False
    terms: tuple[int, ...] = ()


@dataclass(frozen=True)
class Network:
    """A block by itself: bodies 0, 1, ... and the base, -1. Joints are in the order of the file; ``ties`` close in any case."""

    bodies: int
    joints: tuple[Tie, ...]
    ties: tuple[Tie, ...] = ()
    carriers: frozenset[int] = frozenset()  # bodies on which other blocks hang
    on_ground: bool = True
    alone: bool = False  # no other block hangs on the base

    @property
    def planar(self) -> bool:
        everything = (*self.joints, *self.ties)
        freedoms = sum(len(moves(joint.kind)) for joint in self.joints)
        held = 6 * (len(self.joints) - self.bodies) + sum(len(equations(tie.kind, planar=False)) for tie in self.ties)
        return freedoms <= held and all(may_be_planar(tie.kind) for tie in everything)


def effort(network: Network, inboard: tuple[int, ...]) -> float:
    """Operations of one evaluation, about; ``inboard``: of each body, the joint that carries it."""
    return _Estimate(network, inboard).total()


@dataclass
class _Estimate:
    """Bodies are in the order of the walk from here on."""

    network: Network
    inboard: tuple[int, ...]
    images: dict[int, Image] = field(default_factory=dict)

    def __post_init__(self) -> None:
        network = self.network
        kept = sorted(self.inboard)
        carried = {joint: body for body, joint in enumerate(self.inboard)}
        row = {carried[joint]: i for i, joint in enumerate(kept)} | {-1: -1}
        inner = [_across(network.joints[joint], carried[joint]) for joint in kept]
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
        places = (PLANAR_GROUND, PLANAR_MOVING) if self.planar else (SPATIAL_GROUND, SPATIAL_MOVING)
        self.prices = places[not network.on_ground]
        roots = [i for i, p in enumerate(self.parent) if p < 0]
        self.root = roots[0] if network.on_ground and network.alone and JOINTS[own[roots[0]].kind].turns_freely else -1
        self.tail = 1 if network.on_ground else 1 + self.prices.size
        held = sum(len(equations(closure.kind, self.planar)) for closure in self.closures)
        self.free = sum(map(len, self.moves)) - held  # as a rule: what a driven block has none of

    def total(self) -> float:
        depth = _depths(self.parent)
        cycles = {k: self._cycle(closure, depth) for k, closure in enumerate(self.closures)}
        moving = [i for i, moves in enumerate(self.moves) if moves]
        block = Block(-1, tuple(range(len(self.parent))), tuple(cycles))
        nodes = _take_apart(block, moving, self.parent, cycles, 0)
        apart = len(nodes) > 1 or self._dofs(nodes[0])[1] > WIDE_ALONE
        work = float(sum(self._placed(i, depth) for i in block.bodies))
        for k in reversed(range(len(nodes))):
            node, rows = nodes[k], []
            for c in node.closures:
                work += self._closed(self.closures[c], cycles[c])
                rows += self._rows(node, self.closures[c], cycles[c])
            rows = [row for row in rows if row]
            work += self._part(nodes, k, rows) if apart else self._whole(node, rows)
        return work

    def _cycle(self, closure: Tie, depth: Sequence[int]) -> set[int]:
        if not closure.terms:
            return set(_cycle(self.parent, depth, closure.a, closure.b))
        joined: set[int] = set(closure.terms)
        for i in closure.terms[1:]:
            joined.update(_cycle(self.parent, depth, closure.terms[0], i))
        return joined

    def _placed(self, i: int, depth: Sequence[int]) -> int:
        p, moves, prices = self.parent[i], self.moves[i], self.prices
        work = prices.body + depth[i]  # of trees that are as good, the flatter
        work += prices.carrier if i in self.carriers and i != self.root else 0
        if p >= 0 and self.turns[p]:
            later = prices.later_near if p == self.root else prices.later
            return work + (later if self.free > 0 else later // 3) + prices.later_each * len(moves)
        return work + prices.first * len(moves) + prices.shifted * max(depth[i] - 1, 0)

    def _closed(self, closure: Tie, cycle: set[int]) -> int:
        end = self.prices.axes_end if axes_move(closure.kind) or closure.driven else self.prices.end
        ends = sum(i >= 0 and self.turns[i] for i in (closure.a, closure.b) if not closure.terms)
        entries = sum(len(self.moves[i]) for i in cycle if i != self.root)
        return end * (1 + ends) + self.prices.entry * entries

    def _rows(self, node: Node, closure: Tie, cycle: set[int]) -> Rows:
        turning = anything = 0
        first, _ = self._dofs(node)
        for i in closure.terms or cycle:
            for k, move in enumerate(self.moves[i]):
                anything |= 1 << first[i] + k
                turning |= 1 << first[i] + k if move == TURN else 0
        kind = "fixed" if closure.driven and closure.kind in JOINTS else closure.kind
        return [turning if about == TURN else anything for about in equations(kind, self.planar)]

    def _dofs(self, node: Node) -> tuple[dict[int, int], int]:
        first, count = {}, 0
        for i in node.joints:
            first[i] = count
            count += len(self.moves[i])
        return first, count

    def _body(self, i: int, feels: Feels, turns: int, slides: int = 0) -> int:
        """What a body adds to a node's form that moves in so many ways, some of which do not turn it; and what hangs on it."""
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

    def _whole(self, node: Node, rows: Rows) -> int:
        first, n = self._dofs(node)
        rows = rows[: max(n - 1, 0)]  # what moves at all has more coordinates than independent equations
        found = null_space(rows, n)
        work = CROSS_PRODUCT if len(rows) == 2 and n == 3 else found.operations
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

    # a block that is taken apart: symbols of formulations.apart

    def _part(self, nodes: Sequence[Node], at: int, rows: Rows) -> int:
        node, tail, fixed = nodes[at], self.tail, int(self.network.on_ground)
        first, n = self._dofs(node)
        here = Hanging([self.images[c] for c in node.children], [self._separator(nodes[c], first) for c in node.children], n)
        W, writing = product(rows, here.E, set(here.place))
        known = ones(here.size)
        found = null_space([row & known for row in (*W, *here.agreements()) if row & known], here.size)
        y, units = found.free, found.units | set(range(here.size, here.size + tail))
        N, x, turning = found.rows + [1 << y + k for k in range(tail)], len(self._separator(node, first)), 0
        if x < y and node.parent is not None:
            N, turning = self._turned(here.E[:x], N, units, y)
        F, moving = product(here.E, N, units)
        plain = here.copied(units)
        H, adding = self._form(node, first, n)
        form, feeling = congruent(H, F + N[here.size :], y + tail, plain | set(range(n, n + tail)), fixed)
        form, carrying = here.felt(form, N, units, fixed)
        keep = min(x, y) if node.parent is not None else 0
        if node.parent is not None:
            self.images[at] = _image(F[:x], form, y - keep, keep, plain)
        needed = F[0 if self.carriers.intersection(node.bodies) else x :] + N[len(here.place) : here.size]
        work = writing + found.operations + turning + moving + adding + feeling + carrying
        return work + _minimised(needed, y - keep, keep + tail)

    def _separator(self, node: Node, first: dict[int, int]) -> list[int]:
        """Coordinates that a node shares with the one that it hangs on, by their numbers in one of the two."""
        return [first[i] + k for i in node.joints[: node.separator] for k in range(len(self.moves[i]))]

    def _form(self, node: Node, first: dict[int, int], n: int) -> tuple[Rows, int]:
        """H over (u; 1; A)."""
        H, work = [0] * (n + self.tail), 0
        for i in node.bodies:
            path, slides, k = 0, 0, i
            while k >= 0:
                path |= ones(len(self.moves[k])) << first.get(k, 0)
                slides += self.moves[k].count(SLIDE)
                k = self.parent[k]
            for j in columns_of(path):
                H[j] |= path
            work += self._body(i, self.prices.apart, path.bit_count() - slides, slides)
        end = ones(self.tail - 1) << n + 1
        for j in range(n):
            H[j] |= 1 << n | (end if H[j] else 0)
        turned = transposed(H[:n], n + self.tail)
        for k in range(self.tail):
            H[n + k] = turned[n + k] | end | (1 << n if k else 0)
        return H, work

    def _turned(self, X: Rows, N: Rows, units: set[int], y: int) -> tuple[Rows, int]:
        """N with y turned so that only its last entries move the separator."""
        moved, work = product(X, N, units)
        x = len(X)
        for i in range(x):
            v = (moved[i] & ones(y)) >> i << i | 1 << i
            work += 2 * v.bit_count()
            for rows in (moved, N):
                for r in range(i if rows is moved else 0, len(rows)):
                    rows[r], more = reflected(v, rows[r])
                    work += more
                    if more and rows is N:
                        units.discard(r)
        low = ones(x)
        return [(row & ones(y)) >> x | (row & low) << y - x | row >> y << y for row in N], work


def _image(F: Rows, form: Rows, z: int, keep: int, plain: set[int]) -> Image:
    """Over what is kept, after z of the y were minimised; F: rows of the separator."""
    rest = len(form) - z
    T = [row >> z & ones(keep + 1) for row in F]
    return Image(T, [ones(rest)] * rest if z else form, keep, set() if z else plain.intersection(range(len(F))))


def _minimised(needed: Rows, z: int, rest: int) -> int:
    """Operations of taking z of the unknowns out of a form, and out of the motions that are needed; and of these themselves."""
    work = factored(z, rest) + rest * (rest + 1) * z
    return work + sum(2 * z * rest for row in needed if row & ones(z)) + 2 * rest * len(needed)


def _across(joint: Tie, body: int) -> int:
    return joint.b if joint.a == body else joint.a
