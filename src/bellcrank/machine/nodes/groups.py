"""Groups of equal nodes, which a kernel for one state takes several at a time (abreast): their table, and their memory.

What nodes of a group keep stands side by side in memory, as that of lanes does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.processor import lane_count
from ...plan.nodes import NODE_TABLE, Nodes, NodeSignature

MOST_LANES = 8
GROUP_TABLE = ("code", *(f"node{lane}" for lane in range(MOST_LANES)))
_WORTH = 3  # nodes of a group, on average
_MOST = 0.75  # of the bodies


class Groups(NamedTuple):
    """Nodes that are taken at once, each time with the code of their signature.

    ``several``: the codes of which several are taken at a time; ``mixed``: those of them whose data differ in a group.
    """

    nodes: Sequence[tuple[int, NDArray[np.int64]]]
    several: frozenset[int]
    mixed: frozenset[int]


NONE = Groups((), frozenset(), frozenset())


def groups_of(nodes: Nodes | None) -> Groups:
    """Equal nodes in groups of at most so many lanes, if most bodies are in such groups; the others alone."""
    if nodes is None or any(s.link or s.borrowed or s.lends for s in nodes.signatures):
        return NONE  # where all are has to be known from the base outward
    several: dict[int, list[NDArray[np.int64]]] = {}
    mixed = set()
    for code, alike in enumerate(nodes.alike):
        count = sum(map(len, alike))
        if not _by_itself(nodes.signatures[code]) or count < _WORTH:
            continue
        several[code] = [part for own in alike for part in _parts(own)]
        if count < _WORTH * len(several[code]):
            several[code] = _parts(np.sort(np.concatenate(alike)))
            mixed.add(code)
    bodies = [len(s.bodies) * sum(map(len, own)) for s, own in zip(nodes.signatures, nodes.alike, strict=True)]
    if sum(bodies[code] for code in several) < _MOST * sum(bodies):
        return NONE
    alone = {code: np.split(own, len(own)) for code, own in enumerate(map(np.concatenate, nodes.alike)) if code not in several}
    found = [(code, members) for code, own in (several | alone).items() for members in own]
    return Groups(found, frozenset(several), frozenset(mixed))


def _parts(nodes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(nodes, range(lane_count(), len(nodes), lane_count()))


def _by_itself(signature: NodeSignature) -> bool:
    """Whether what a node does is done on numbers, and not on matrices in memory or in loops of its own."""
    couplers = any(closure.signature.kind == "coupler" for closure in signature.closures)
    return not (signature.condensed or signature.in_memory or couplers)


def key_of(nodes: Nodes) -> tuple[object, ...]:
    """What of the groups is structure."""
    groups = groups_of(nodes)
    return ("abreast", lane_count(), *sorted(groups.several), "mixed", *sorted(groups.mixed)) if groups.several else ()


def group_table(nodes: Nodes | None) -> NDArray[np.int64]:
    """The last node stands in for those that are missing in a group."""
    rows = [(code, *members, *[members[-1]] * (MOST_LANES - len(members))) for code, members in groups_of(nodes).nodes]
    return np.array(rows, dtype=np.int64).reshape(-1, len(GROUP_TABLE))


def lay_abreast(nodes: Nodes, table: NDArray[np.int64], sizes: Sequence[int], start: int) -> int:
    """Where nodes of a group keep their numbers, side by side, from a place on; the end of all."""
    lanes, groups = lane_count(), groups_of(nodes)
    start = -(-start // lanes) * lanes
    for code, members in groups.nodes:
        if code in groups.several:
            table[members, NODE_TABLE.index("abreast")] = start + np.arange(len(members))
            start += lanes * sizes[code]
    return start
