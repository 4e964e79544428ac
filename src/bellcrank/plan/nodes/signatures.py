"""The structure of a node, as a signature: nodes with equal signatures share their code."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..closures import CLOSURE_SLOTS, CLOSURE_TABLE, ClosureSignature
from ..long_loops import links
from ..long_loops.links import LinkShape
from ..plan import Plan
from ..signature import Signature
from .blocks import BlockNode

Array = NDArray[np.float64]

BODY_COLUMNS = ("q", "v", "row")  # of each body beside the other integers of a node: as in plan.TABLE; row of shared_bodies
LARGEST_PART, LARGEST_BLOCK = 12, 16  # nodes with more unknowns have their matrices in memory: parts of a block; whole blocks
UNIT_SLOTS = [k for name in ("axes_a", "axes_b", "world") for k in range(CLOSURE_SLOTS[name], CLOSURE_SLOTS[name] + 9)]


class ClosureShape(NamedTuple):
    """A closure inside a node: which of its equations are kept, and which are left out and checked; between which places, -1
    is the base."""

    signature: ClosureSignature
    a: int
    b: int
    path_a: tuple[int, ...]
    path_b: tuple[int, ...]
    kept: tuple[int, ...]
    checked: tuple[int, ...]
    terms: tuple[int, ...]  # of a coupler: the node's coordinates that it names
    constants: tuple[tuple[int, float], ...]


class FormShape(NamedTuple):
    """Of a child in the clique tree: size of y, dofs of its parent that it shares, whether its matrices are in memory, and how
    many of its own dofs it reports too."""

    size: int
    shared: tuple[int, ...]
    in_memory: bool
    own: int


class NodeSignature(NamedTuple):
    """The structure of a node. Nodes with equal signatures share their code."""

    bodies: tuple[Signature, ...]
    borrowed: tuple[int, ...]  # numbers of degrees of freedom
    above: tuple[int, ...]
    dofs: tuple[tuple[int, int, int], ...]  # place of the body (-1: of another node), number, joint
    separator: int  # of the dofs, the first ones
    closures: tuple[ClosureShape, ...]
    carriers: tuple[int, ...]
    lends: tuple[int, ...]
    on_ground: bool
    condensed: bool
    has_parent: bool  # on another node
    forms: tuple[FormShape, ...]  # of children
    kept: int  # size of y that is reported
    reported: int  # dofs of which it is reported how y moves them: the separator, or all if another child shares some of it
    equations: tuple[int, ...]  # of a node of a clique tree: those that are not redundant
    opens: bool  # first to report to its base on the way inward
    in_memory: bool  # its matrices are in memory
    link: LinkShape | None = None  # of a joint of a long loop

    @property
    def closed_on_ground(self) -> bool:
        """Whether its closures are written in the axes of ground."""
        return self.on_ground if self.link is None else self.link.on_ground

    @property
    def form_size(self) -> int:
        """Numbers that it reports to its parent: T and H (formulations.loops.condensed)."""
        x, y, tail = self.reported, self.kept, 1 if self.on_ground else 7
        return x * (y + 1) + (y + tail) ** 2 if self.has_parent else 0

    @property
    def agreements(self) -> int:
        """Equations that say that two children agree."""
        return max(0, len(self.equations) - sum(len(closure.kept) for closure in self.closures))

    @property
    def given_size(self) -> int:
        """Numbers that it gets from there: y, or efforts for x."""
        return max(self.separator, self.kept) if self.has_parent else 0


def node_places(signature: NodeSignature) -> dict[str, int]:
    """Where a node's integers start."""
    sizes = {
        "base": 1,
        "bodies": len(signature.above),  # own ones, then borrowed ones
        "closures": len(signature.closures),
        "closure_rows": len(signature.closures),
        "children": len(signature.forms),  # children
        "joints": len({joint for _, _, joint in signature.dofs}),  # first degree of freedom of each
        "columns": len(BODY_COLUMNS) * len(signature.bodies),
        "link": 0 if signature.link is None else signature.link.integers,
        "agreements": min(1, signature.agreements),  # the row of the first of them
    }
    return dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))


class Ranks(NamedTuple):
    """What was found of a node's equations: those kept of each closure, and for a node apart its equations and size of y."""

    kept: tuple[tuple[int, ...], ...]
    checked: tuple[tuple[int, ...], ...] = ()  # those of each closure that are left out and could disagree
    equations: tuple[int, ...] = ()
    size: int = 0
    redundant: bool = False  # some that are not kept could push
    rank: int = 0  # what the node's equations add to those further out
    interchangeable: bool = False  # some that are not kept could be kept in the place of others
    forms_agree: bool = True  # because all equations that say so are kept


def signature_of(
    plan: Plan,
    nodes: Sequence[BlockNode],
    ranks: Mapping[int, Ranks],
    index: int,
    node: BlockNode,
    data: Array,
    bases: set[int],
    lent: set[int],
    fold: bool,
    opens: bool,
) -> NodeSignature:
    places = {body: k for k, body in enumerate((*node.bodies, *node.borrowed))} | {node.base: -1}
    dofs = node_dofs(plan, node)
    own_link = links.shape(node.link, node.bodies[0], node.base, node.closures) if node.bodies else None
    shapes = tuple(
        _shape(plan, node, k, kept, checked, places, dofs, data[k], fold)
        for k, kept, checked in zip(node.closures, ranks[index].kept, ranks[index].checked, strict=True)
    )
    return NodeSignature(
        bodies=tuple(plan.signature(i) for i in node.bodies),
        borrowed=tuple(nv_of(plan, i) for i in node.borrowed),
        above=tuple(places[plan.tree.parent[i]] for i in (*node.bodies, *node.borrowed)),
        dofs=dofs,
        separator=separator_size(plan, node),
        closures=shapes,
        carriers=tuple(k for k, i in enumerate(node.bodies) if i in bases),
        lends=tuple(k for k, i in enumerate(node.bodies) if i in lent),
        on_ground=node.base < 0,
        condensed=is_condensed(plan, node),
        has_parent=node.parent is not None,
        forms=_forms(plan, nodes, ranks, node),
        kept=ranks[index].size,
        reported=separator_size(plan, node) + own_reported(plan, nodes, node),
        equations=ranks[index].equations,
        opens=opens,
        in_memory=_in_memory(plan, nodes, ranks, node),
        link=own_link,
    )


def _forms(plan: Plan, nodes: Sequence[BlockNode], ranks: Mapping[int, Ranks], node: BlockNode) -> tuple[FormShape, ...]:
    return tuple(
        FormShape(
            ranks[c].size,
            _shared(plan, nodes[c], node),
            _in_memory(plan, nodes, ranks, nodes[c]),
            own_reported(plan, nodes, nodes[c]),
        )
        for c in node.children
    )


def own_reported(plan: Plan, nodes: Sequence[BlockNode], node: BlockNode) -> int:
    """Coordinates beyond the separator that a node reports: its own, if it has to agree with another child of its parent."""
    if node.parent is None:
        return 0
    separators = [set(nodes[c].joints[: nodes[c].separator]) for c in nodes[node.parent].children if nodes[c] is not node]
    agrees = any(shared & set(node.joints[: node.separator]) for shared in separators)
    return len(node_dofs(plan, node)) - separator_size(plan, node) if agrees else 0


def _in_memory(plan: Plan, nodes: Sequence[BlockNode], ranks: Mapping[int, Ranks], node: BlockNode) -> bool:
    """By its coordinates; and by its unknowns, which are those that no condensed form gives and those of the forms."""
    n = len(node_dofs(plan, node))
    given = {j for c in node.children for j in _shared(plan, nodes[c], node)}
    unknowns = n - len(given) + sum(ranks[c].size for c in node.children)
    return max(n, unknowns) > (LARGEST_PART if _is_part(node) else LARGEST_BLOCK)


def _is_part(node: BlockNode) -> bool:
    return node.parent is not None or bool(node.children)


def is_condensed(plan: Plan, node: BlockNode) -> bool:
    """Part of a block with a clique tree; a whole one is treated as such a part if it is wide."""
    return _is_part(node) or len(node_dofs(plan, node)) > LARGEST_BLOCK


def node_dofs(plan: Plan, node: BlockNode) -> tuple[tuple[int, int, int], ...]:
    """Place, number and joint of each coordinate, in the order of the node's joints."""
    places = {body: k for k, body in enumerate((*node.bodies, *node.borrowed))}
    return tuple((places.get(i, -1), k, j) for j, i in enumerate(node.joints) for k in range(nv_of(plan, i)))


def separator_size(plan: Plan, node: BlockNode) -> int:
    return sum(nv_of(plan, i) for i in node.joints[: node.separator])


def _shared(plan: Plan, child: BlockNode, node: BlockNode) -> tuple[int, ...]:
    """Our coordinates that are a child's separator, in its order."""
    first: dict[int, int] = {}
    count = 0
    for i in node.joints:
        first[i] = count
        count += nv_of(plan, i)
    return tuple(first[i] + k for i in child.joints[: child.separator] for k in range(nv_of(plan, i)))


def nv_of(plan: Plan, i: int) -> int:
    return 0 if plan.loads.driven[i] else plan.model.joints[plan.tree.order[i]].nv


def _shape(
    plan: Plan,
    node: BlockNode,
    k: int,
    kept: tuple[int, ...],
    checked: tuple[int, ...],
    places: dict[int, int],
    dofs: tuple[tuple[int, int, int], ...],
    row: Array,
    fold: bool,
) -> ClosureShape:
    closing, model = plan.loads.closing, plan.model
    entry = dict(zip(CLOSURE_TABLE, closing.table[k].tolist(), strict=True))
    signature = closing.signatures[entry["code"]]
    closure = model.closures[k]
    walk = plan.tree.place
    if closure.kind == "coupler":
        index = {(place, number): j for j, (place, number, _) in enumerate(dofs)}
        terms = tuple(index[places[walk[joint]], dof] for joint, dof, _ in closure.terms)
        return ClosureShape(signature, -1, -1, (), (), kept, checked, terms, ())
    a, b = walk[closure.body_a], walk[closure.body_b]
    if node.link is not None:
        own, frame = node.bodies[0], node.link.base
        at_a, at_b = (0 if i == own else -1 if i == frame else 1 for i in (a, b))
        return ClosureShape(signature, at_a, at_b, (), (), kept, checked, (), _constants(row, fold, signature.varied))
    path_a, path_b = _sides(plan.tree.parent, node.base, a, b)
    ends = tuple(places[i] for i in path_a), tuple(places[i] for i in path_b)
    return ClosureShape(signature, places[a], places[b], *ends, kept, checked, (), _constants(row, fold, signature.varied))


def _constants(row: Array, fold: bool, varied: Sequence[int]) -> tuple[tuple[int, float], ...]:
    return tuple((int(s), float(row[s])) for s in np.flatnonzero(_foldable(row)) if s not in varied) if fold else ()


def _sides(parent: Sequence[int], base: int, a: int, b: int) -> tuple[list[int], list[int]]:
    """Joints between two bodies, on either side of where their paths meet."""
    paths = []
    for i in (a, b):
        path = []
        while i != base:
            path.append(i)
            i = parent[i]
        paths.append(path)
    common = set(paths[0]) & set(paths[1])
    return [i for i in paths[0] if i not in common], [i for i in paths[1] if i not in common]


def _foldable(row: Array) -> NDArray[np.bool_]:
    unit = np.isin(np.arange(len(row)), UNIT_SLOTS)
    found: NDArray[np.bool_] = (row == 0) | (unit & (np.abs(row) == 1))
    found[CLOSURE_SLOTS["value"]] = found[CLOSURE_SLOTS["pitch"]] = False
    return found
