"""Nodes as tables, with signatures: what the walk over nodes reads. plan.blocks says what a node is.

A node's integers stand one after the other (``node_places``): its base, bodies and so on; closures with equal data share a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..joints import along_given_axes
from ..joints.derived import turns_about_axis_only
from .blocks import BlockNode, make_nodes
from .closures import CLOSURE_ROW, CLOSURE_SLOTS, CLOSURE_TABLE, ClosureSignature, closing_axes, row_scales
from .condensed_places import places_in_turn
from .frames import frame_of
from .long_loops import links
from .long_loops.links import LinkShape
from .plan import TABLE, Plan
from .signature import OWN, Signature

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_NODE_SIGNATURES = 48
BODY_COLUMNS = ("q", "v", "row")  # of each body beside the other integers of a node: as in plan.TABLE; row of shared_bodies
NODE_TABLE = ("code", "first", "form", "given", "memory", "abreast", "matrices")
"""Of each node: its signature; the first of its integers; where what it reports to its parent is, and what it
gets from there; where a kernel keeps its numbers and matrices, which depends on the kernel."""
WIDE, WIDE_ALONE = 12, 16  # nodes with more unknowns have their matrices in memory: parts of a block; whole blocks
_UNIT_SLOTS = [k for name in ("axes_a", "axes_b", "world") for k in range(CLOSURE_SLOTS[name], CLOSURE_SLOTS[name] + 9)]


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
    """Of a child in the clique tree: size of y, dofs of its parent that it shares, whether its matrices are in memory."""

    size: int
    shared: tuple[int, ...]
    in_memory: bool


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
        x, y, tail = self.separator, self.kept, 1 if self.on_ground else 7
        return x * (y + 1) + (y + tail) ** 2 if self.has_parent else 0

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
    }
    return dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))


@dataclass(frozen=True)
class Nodes:
    nodes: tuple[BlockNode, ...]
    signatures: tuple[NodeSignature, ...]
    table: Ints
    ints: Ints
    shared_bodies: (
        Array  # different rows of plan.data, up to OWN: of long chains of equal parts little is read that is not near
    )
    shared_closures: Array  # different rows of numbers of closures, as nodes see them
    rank: int  # independent equations of all closures
    redundant: bool  # redundant ones that could push, in blocks with a clique tree
    interchangeable: bool  # some of those that are not kept could be kept in the place of others
    sent: int  # numbers that nodes report to their parents, and get from there
    width: int  # most coordinates of a node, or of a long loop: entries of the direction of an equation
    body_sources: Ints  # rows of plan.data, of the rows of shared_bodies
    closure_sources: Ints  # rows of the closures' data, of those of shared_closures

    @property
    def count(self) -> int:
        return len(self.nodes)

    @cached_property
    def alike(self) -> tuple[list[NDArray[np.int64]], ...]:
        """Nodes of each signature, those whose data are the same together."""
        return tuple(self._alike(code, signature) for code, signature in enumerate(self.signatures))

    def _alike(self, code: int, signature: NodeSignature) -> list[NDArray[np.int64]]:
        places, own = node_places(signature), np.flatnonzero(self.table[:, NODE_TABLE.index("code")] == code)
        rows = places["closure_rows"] + np.arange(len(signature.closures))
        bodies = places["columns"] + BODY_COLUMNS.index("row") + len(BODY_COLUMNS) * np.arange(len(signature.bodies))
        data = self.ints[self.table[own, NODE_TABLE.index("first"), None] + np.append(rows, bodies)]
        order = np.lexsort((own, *data.T))
        return np.split(own[order], np.flatnonzero(np.diff(data[order], axis=0).any(axis=1)) + 1)

    @property
    def checks(self) -> bool:
        """Whether equations are left out that could disagree with those that are kept."""
        return any(closure.checked for signature in self.signatures for closure in signature.closures)

    @property
    def bases_move(self) -> bool:
        """Whether nodes with closures hang on bodies."""
        return any(signature.closures and not signature.closed_on_ground for signature in self.signatures)

    @property
    def has_links(self) -> bool:
        """Whether there are long loops."""
        return any(signature.link is not None for signature in self.signatures)

    @property
    def work(self) -> int:
        """How long one evaluation takes, in ns or so: what each node takes, and the cube of its coordinates."""
        return sum(150 + len(self.signatures[code].dofs) ** 3 for code in self.table[:, 0])

    def key(self) -> tuple[object, ...]:
        return (*self.signatures, self.width) if self.has_links else self.signatures


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


def nodes_of(plan: Plan) -> list[BlockNode]:
    return make_nodes(plan.model, plan.tree)


def all_rows(plan: Plan, node: BlockNode) -> Ranks:
    return Ranks(tuple(tuple(range(plan.model.closures[k].rows)) for k in node.closures), ((),) * len(node.closures))


def make_node_tables(plan: Plan, nodes: Sequence[BlockNode], ranks: Mapping[int, Ranks], fold: bool = True) -> Nodes:
    scales = row_scales(plan.model, plan.length)
    data = np.array([_data(plan, node, k, scales) for node in nodes for k in node.closures]).reshape(-1, CLOSURE_ROW)
    order = [k for node in nodes for k in node.closures]
    rows = np.zeros((max(1, len(plan.model.closures)), CLOSURE_ROW))
    rows[order] = data
    shared_bodies, body_rows, body_sources = _distinct(plan.data[:, :OWN], plan.varied.get("data"))
    shared_closures, closure_rows, closure_sources = _distinct(rows, plan.varied.get("closure_data"))
    columns = np.column_stack([*(plan.table[:, TABLE.index(name)] for name in BODY_COLUMNS[:2]), body_rows])
    bases = {node.base for node in nodes}
    lent = {i for node in nodes for i in node.borrowed}
    first = {node.base: i for i, node in enumerate(nodes) if node.parent is None}  # the last one: first on the way inward
    width = widest(plan, nodes)
    kept = {k: own for i, node in enumerate(nodes) for k, own in zip(node.closures, ranks[i].kept, strict=True)}
    equations = {k: [int(plan.model.closure_index[k]) + r for r in own] for k, own in kept.items()}
    codes: dict[NodeSignature, int] = {}
    table: list[tuple[int, ...]] = []
    ints: list[int] = []
    for i, node in enumerate(nodes):
        signature = _signature(plan, nodes, ranks, i, node, rows, bases, lent, fold, first[node.base] == i)
        code = codes.setdefault(signature, len(codes))
        table.append((code, len(ints)))
        own = columns[list(node.bodies)].ravel()
        freedoms = columns[list(node.joints), BODY_COLUMNS.index("v")]
        ints += [node.base, *node.bodies, *node.borrowed, *node.closures, *closure_rows[list(node.closures)]]
        ints += [*node.children, *freedoms, *own, *links.integers(node.link, equations, width)]
    if fold and len(codes) > MOST_NODE_SIGNATURES:
        return make_node_tables(plan, nodes, ranks, fold=False)
    signatures = tuple(codes)
    used = [signatures[code] for code, _ in table]
    forms, sent = places_in_turn([(s.form_size, node.children) for s, node in zip(used, nodes, strict=True)])
    given = np.cumsum([sent, *(signature.given_size for signature in used)])
    return Nodes(
        tuple(nodes),
        signatures,
        np.array([(*x, form, at, 0, 0, 0) for x, form, at in zip(table, forms, given, strict=False)], dtype=np.int64).reshape(
            -1, len(NODE_TABLE)
        ),
        np.array(ints, dtype=np.int64),
        shared_bodies,
        shared_closures,
        sum(ranks[i].rank for i in range(len(nodes))),
        any(ranks[i].redundant for i in range(len(nodes))),
        any(ranks[i].interchangeable for i in range(len(nodes))),
        int(given[-1]),
        width,
        body_sources,
        closure_sources,
    )


def widest(plan: Plan, nodes: Sequence[BlockNode]) -> int:
    """Most coordinates of a node, or of a long loop; at least one."""
    sizes = [len(node_dofs(plan, node)) for node in nodes]
    sizes += [sum(_nv(plan, i) for i in node.link.links) for node in nodes if node.link and node.bodies[0] == node.link.first]
    return max([1, *sizes])


def _distinct(rows: Array, varied: NDArray[np.bool_] | None) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """The different rows, which of them each is, and from which each comes. What a design may change is not shared."""
    alone = np.zeros(len(rows), dtype=bool)
    if varied is not None:
        alone[: len(varied)] = varied.any(axis=1)
    found: dict[object, int] = {}
    keys = [k if alone[k] else row.tobytes() for k, row in enumerate(rows)]
    which = np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64)
    first = np.unique(which, return_index=True)[1]
    return np.ascontiguousarray(rows[first]), which, first


def _signature(
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
        borrowed=tuple(_nv(plan, i) for i in node.borrowed),
        above=tuple(places[plan.tree.parent[i]] for i in (*node.bodies, *node.borrowed)),
        dofs=dofs,
        separator=separator_size(plan, node),
        closures=shapes,
        carriers=tuple(k for k, i in enumerate(node.bodies) if i in bases),
        lends=tuple(k for k, i in enumerate(node.bodies) if i in lent),
        on_ground=node.base < 0,
        condensed=is_condensed(plan, node),
        has_parent=node.parent is not None,
        forms=_images(plan, nodes, ranks, node),
        kept=ranks[index].size,
        equations=ranks[index].equations,
        opens=opens,
        in_memory=_is_wide(plan, nodes, ranks, node),
        link=own_link,
    )


def _images(plan: Plan, nodes: Sequence[BlockNode], ranks: Mapping[int, Ranks], node: BlockNode) -> tuple[FormShape, ...]:
    return tuple(
        FormShape(ranks[c].size, _shared(plan, nodes[c], node), _is_wide(plan, nodes, ranks, nodes[c])) for c in node.children
    )


def _is_wide(plan: Plan, nodes: Sequence[BlockNode], ranks: Mapping[int, Ranks], node: BlockNode) -> bool:
    """By its coordinates; and by its unknowns, which are those that no condensed form gives and those of the forms."""
    n = len(node_dofs(plan, node))
    given = {j for c in node.children for j in _shared(plan, nodes[c], node)}
    unknowns = n - len(given) + sum(ranks[c].size for c in node.children)
    return max(n, unknowns) > (WIDE if _is_part(node) else WIDE_ALONE)


def _is_part(node: BlockNode) -> bool:
    return node.parent is not None or bool(node.children)


def is_condensed(plan: Plan, node: BlockNode) -> bool:
    """Part of a block with a clique tree; a whole one is treated as such a part if it is wide."""
    return _is_part(node) or len(node_dofs(plan, node)) > WIDE_ALONE


def node_dofs(plan: Plan, node: BlockNode) -> tuple[tuple[int, int, int], ...]:
    """Place, number and joint of each coordinate, in the order of the node's joints."""
    places = {body: k for k, body in enumerate((*node.bodies, *node.borrowed))}
    return tuple((places.get(i, -1), k, j) for j, i in enumerate(node.joints) for k in range(_nv(plan, i)))


def separator_size(plan: Plan, node: BlockNode) -> int:
    return sum(_nv(plan, i) for i in node.joints[: node.separator])


def _shared(plan: Plan, child: BlockNode, node: BlockNode) -> tuple[int, ...]:
    """Our coordinates that are a child's separator, in its order."""
    first: dict[int, int] = {}
    count = 0
    for i in node.joints:
        first[i] = count
        count += _nv(plan, i)
    return tuple(first[i] + k for i in child.joints[: child.separator] for k in range(_nv(plan, i)))


def _nv(plan: Plan, i: int) -> int:
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
    unit = np.isin(np.arange(len(row)), _UNIT_SLOTS)
    found: NDArray[np.bool_] = (row == 0) | (unit & (np.abs(row) == 1))
    found[CLOSURE_SLOTS["value"]] = found[CLOSURE_SLOTS["pitch"]] = False
    return found


def _data(plan: Plan, node: BlockNode, k: int, scales: Array) -> Array:
    """As plan.closures has it, but with the joint's own axes at the base instead of the world's, and rounding removed.

    Points that only have to meet do so along the base's axes, which are ones and zeros there.
    """
    row = plan.loads.closing.data[k].copy()
    base = -1 if node.frame < 0 else plan.tree.order[node.frame]
    rotation, _ = frame_of(plan.frames, plan.tree.place, base)
    start = CLOSURE_SLOTS["world"]
    closure = plan.model.closures[k]
    joint = closure.joint
    meets = joint is not None and along_given_axes(joint.kind) and not turns_about_axis_only(type(joint))
    row[start : start + 9] = (np.eye(3) if meets else rotation.T @ closing_axes(closure)).ravel()
    own = scales[plan.model.closure_index[k] : plan.model.closure_index[k + 1]]
    row[CLOSURE_SLOTS["scale"] : CLOSURE_SLOTS["scale"] + len(own)] = own
    near = np.round(row)
    units = np.zeros(len(row), dtype=bool)
    units[_UNIT_SLOTS] = True
    row[units & (np.abs(row - near) < 1e-15)] = near[units & (np.abs(row - near) < 1e-15)]
    for name in ("point_a", "point_b"):
        part = slice(CLOSURE_SLOTS[name], CLOSURE_SLOTS[name] + 3)
        row[part][np.abs(row[part]) < 1e-15 * np.abs(row[part]).max(initial=0.0)] = 0.0
    return row + 0.0  # no negative zeros
