"""Nodes as tables: what the walk over nodes reads. plan.nodes.blocks says what a node is.

A node's integers stand one after the other (``node_places``): its base, bodies and so on; closures with equal data share a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...joints import along_given_axes
from ...joints.derived import turns_about_axis_only
from ...kernels.processor import lane_count
from ..closures import CLOSURE_ROW, CLOSURE_SLOTS, closing_axes, row_scales
from ..frames import frame_of
from ..long_loops import links
from ..plan import TABLE, Plan
from ..signature import OWN
from .blocks import BlockNode, make_nodes
from .condensed_places import places_in_turn
from .signatures import (
    BODY_COLUMNS,
    UNIT_SLOTS,
    NodeSignature,
    Ranks,
    node_dofs,
    node_places,
    nv_of,
    own_reported,
    signature_of,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_NODE_SIGNATURES = 48
NODE_TABLE = ("code", "first", "form", "given", "memory", "abreast", "matrices")
"""Of each node: its signature; the first of its integers; where what it reports to its parent is, and what it
gets from there; where a kernel keeps its numbers and matrices, which depends on the kernel."""


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
    width: int  # entries of the direction of an equation: of a node and of what its children report, or of a long loop
    agreements: tuple[int, ...]  # of equations that say that two children agree: a node below which there are such closures
    body_sources: Ints  # rows of plan.data, of the rows of shared_bodies
    closure_sources: Ints  # rows of the closures' data, of those of shared_closures
    abreast: int  # how many equal nodes a kernel for one state takes at a time; settled once, since code and memory have it

    @property
    def count(self) -> int:
        return len(self.nodes)

    @cached_property
    def alike(self) -> tuple[list[Ints], ...]:
        """Nodes of each signature, those whose data are the same together."""
        return tuple(self._alike(code, signature) for code, signature in enumerate(self.signatures))

    def _alike(self, code: int, signature: NodeSignature) -> list[Ints]:
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
    agreements: list[int] = []
    width = widest(plan, nodes)
    kept = {k: own for i, node in enumerate(nodes) for k, own in zip(node.closures, ranks[i].kept, strict=True)}
    equations = {k: [int(plan.model.closure_index[k]) + r for r in own] for k, own in kept.items()}
    codes: dict[NodeSignature, int] = {}
    table: list[tuple[int, ...]] = []
    ints: list[int] = []
    for i, node in enumerate(nodes):
        signature = signature_of(plan, nodes, ranks, i, node, rows, bases, lent, fold, first[node.base] == i)
        code = codes.setdefault(signature, len(codes))
        table.append((code, len(ints)))
        own = columns[list(node.bodies)].ravel()
        freedoms = columns[list(node.joints), BODY_COLUMNS.index("v")]
        ints += [node.base, *node.bodies, *node.borrowed, *node.closures, *closure_rows[list(node.closures)]]
        ints += [*node.children, *freedoms, *own, *links.integers(node.link, equations, width)]
        if signature.agreements:
            ints.append(plan.loads.closing.rows + len(agreements))
            agreements += [i] * signature.agreements
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
        tuple(agreements),
        body_sources,
        closure_sources,
        lane_count(),
    )


def widest(plan: Plan, nodes: Sequence[BlockNode]) -> int:
    """Most coordinates of a node with those that its children report, or of a long loop; at least one."""
    sizes = [len(node_dofs(plan, node)) + sum(own_reported(plan, nodes, nodes[c]) for c in node.children) for node in nodes]
    sizes += [sum(nv_of(plan, i) for i in node.link.links) for node in nodes if node.link and node.bodies[0] == node.link.first]
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
    units[UNIT_SLOTS] = True
    row[units & (np.abs(row - near) < 1e-15)] = near[units & (np.abs(row - near) < 1e-15)]
    for name in ("point_a", "point_b"):
        part = slice(CLOSURE_SLOTS[name], CLOSURE_SLOTS[name] + 3)
        row[part][np.abs(row[part]) < 1e-15 * np.abs(row[part]).max(initial=0.0)] = 0.0
    return row + 0.0  # no negative zeros
