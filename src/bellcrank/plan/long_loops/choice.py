"""Which blocks of loops are eliminated along their own bodies: those for which that takes fewer operations.

It takes bodies that have inertia of their own in the directions of their joints, and equations that are independent: where some
were left out that could disagree with the others, a block stays one node, or a clique tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...joints.base import JointData
from ..nodes.blocks import BlockNode
from ..nodes.signatures import Ranks, node_dofs
from ..plan import Plan
from ..signature import SLOTS
from .links import MOST_SLOTS, make_links
from .operations import along_bodies, as_nodes

_LEAST = 1e-10  # inertia of a joint's own body in a direction of the joint, as a part of the largest


def with_links(plan: Plan, nodes: Sequence[BlockNode], ranks: Mapping[int, Ranks]) -> tuple[list[BlockNode], dict[int, Ranks]]:
    """The nodes, those of long loops replaced by their links, and their ranks."""
    blocks: dict[int, list[int]] = {}
    root: dict[int, int] = {}
    for i, node in enumerate(nodes):
        root[i] = i if node.parent is None else root[node.parent]
        blocks.setdefault(root[i], []).append(i)
    carriers = frozenset(node.base for node in nodes)
    lent = {(root[i], body) for i, node in enumerate(nodes) for body in node.borrowed}
    long = set()
    for first, own in blocks.items():
        parts = [nodes[i] for i in own]
        if _stands_alone(plan, first, parts, lent) and _is_long(plan, parts, [ranks[i] for i in own], carriers):
            long.add(first)
    found: list[BlockNode] = []
    found_ranks: dict[int, Ranks] = {}
    place: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if root[i] not in long:
            place[i], found_ranks[len(found)] = len(found), ranks[i]
            found.append(node)
        elif i == root[i]:
            for link, rank in _links(plan, [nodes[k] for k in blocks[i]], [ranks[k] for k in blocks[i]]):
                found_ranks[len(found)] = rank
                found.append(link)
    return [_renumbered(node, place) for node in found], found_ranks


def _renumbered(node: BlockNode, place: Mapping[int, int]) -> BlockNode:
    parent = None if node.parent is None else place[node.parent]
    return replace(node, parent=parent, children=tuple(place[k] for k in node.children))


def _links(plan: Plan, nodes: Sequence[BlockNode], ranks: Sequence[Ranks]) -> list[tuple[BlockNode, Ranks]]:
    bodies = sorted(i for node in nodes for i in node.bodies)
    kept = {k: own for node, found in zip(nodes, ranks, strict=True) for k, own in zip(node.closures, found.kept, strict=True)}
    slots: dict[int, tuple[int, ...]] = {}
    count = 0
    for k in sorted(kept):
        slots[k] = tuple(range(count, count + len(kept[k])))
        count += len(kept[k])
    place, closures = plan.tree.place, plan.model.closures
    ends = {k: (place[closures[k].body_a], place[closures[k].body_b]) for k in kept}
    freedoms = [len(node_dofs(plan, BlockNode(-1, (i,), (i,), 0, ()))) for i in bodies]
    made = []
    links = make_links(plan.tree.parent, nodes[0].base, bodies, ends, slots, freedoms)
    for (i, link, own), size in zip(links, freedoms, strict=True):
        node = BlockNode(plan.tree.parent[i], (i,), (i,) if size else (), 0, own, link=link)
        rank = sum(found.rank for found in ranks) if i == bodies[0] else 0
        made.append((node, Ranks(tuple(kept[k] for k in own), ((),) * len(own), rank=rank)))
    return made


def _stands_alone(plan: Plan, first: int, nodes: Sequence[BlockNode], lent: set[tuple[int, int]]) -> bool:
    """Whether these nodes are all of their block: where a joint inside it is driven, they may share bodies with others."""
    bodies = {i for node in nodes for i in node.bodies}
    inside = bodies | {nodes[0].base}
    closures = [plan.model.closures[k] for node in nodes for k in node.closures]
    ends = [plan.tree.place[i] for closure in closures for i in (closure.body_a, closure.body_b)]
    needed = {*(plan.tree.parent[i] for i in bodies), *ends}
    return needed <= inside and not any(r != first and i in bodies for r, i in lent)


def _is_long(plan: Plan, nodes: Sequence[BlockNode], ranks: Sequence[Ranks], carriers: frozenset[int]) -> bool:
    closures = [k for node in nodes for k in node.closures]
    if not closures or any(plan.model.closures[k].kind == "coupler" for k in closures):
        return False
    rows = sum(len(own) for found in ranks for own in found.kept)
    if not 0 < rows <= MOST_SLOTS or any(own for found in ranks for own in found.checked):
        return False
    bodies = sorted(i for node in nodes for i in node.bodies)
    if along_bodies(plan, bodies, rows, nodes[0].base < 0) >= as_nodes(plan, nodes, bodies, rows, carriers):
        return False
    return all(_has_inertia(plan, i) for i in bodies)


def _has_inertia(plan: Plan, i: int) -> bool:
    """Whether a body has inertia of its own in the directions of its joint."""
    body = plan.tree.order[i]
    joint = plan.model.joints[body]
    if plan.loads.driven[i] or joint.nv == 0:
        return True
    data = plan.data[i]
    J, mc, m = (data[SLOTS[name]] for name in ("J", "mc", "m"))
    A = np.array([[J[0], J[1], J[2]], [J[1], J[3], J[4]], [J[2], J[4], J[5]]])
    B = np.array([[0.0, -mc[2], mc[1]], [mc[2], 0.0, -mc[0]], [-mc[1], mc[0], 0.0]])
    inertia = np.block([[A, B], [B.T, m[0] * np.eye(3)]])
    neutral = list(joint.neutral)
    S = np.array([[*s.w, *s.v] for s in type(joint).directions(neutral, JointData(pitch=float(data[SLOTS["pitch"]][0])))])
    armature = np.diag(data[SLOTS["armature"]][: joint.nv])
    values = np.linalg.eigvalsh(S @ inertia @ S.T + armature)
    return bool(values[0] > _LEAST * values[-1])
