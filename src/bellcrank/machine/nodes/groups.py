"""Groups of equal nodes, which a kernel for one state takes several at a time (abreast): their table, and their memory.

What nodes of a group keep stands side by side in memory, as that of lanes does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...plan.nodes.signatures import NodeSignature
from ...plan.nodes.tables import NODE_TABLE, Nodes

MOST_LANES = 8
GROUP_TABLE = ("arm", *(f"node{lane}" for lane in range(MOST_LANES)))
_WORTH = 3  # nodes of a group, on average


class Groups(NamedTuple):
    """Equal nodes that are taken at once: each time which of the ``codes`` of signatures they have, and the nodes.

    ``mixed``: the codes of those whose data differ in a group.
    """

    nodes: Sequence[tuple[int, NDArray[np.int64]]]
    codes: tuple[int, ...]
    mixed: frozenset[int]


def groups_of(nodes: Nodes | None) -> Groups:
    """At most so many nodes in a group as there are lanes; where there are too few, they are in none."""
    found: dict[int, list[NDArray[np.int64]]] = {}
    mixed = set()
    for code, alike in enumerate(nodes.alike if nodes else ()):
        count = sum(map(len, alike))
        if nodes is None or count < _WORTH or not _by_itself(nodes.signatures[code]):
            continue
        found[code] = [part for own in alike for part in _parts(own, nodes.abreast)]
        if count < _WORTH * len(found[code]):
            found[code] = _parts(np.sort(np.concatenate(alike)), nodes.abreast)
            mixed.add(code)
    return Groups([(k, own) for k, parts in enumerate(found.values()) for own in parts], tuple(found), frozenset(mixed))


def _parts(nodes: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return np.split(nodes, range(size, len(nodes), size))


def _by_itself(signature: NodeSignature) -> bool:
    """Whether a node's loop only waits for the spin of its base, and is done on numbers: not on matrices in memory."""
    waits = signature.link or signature.borrowed or signature.lends
    couplers = any(closure.signature.kind == "coupler" for closure in signature.closures)
    return bool(signature.closures) and not (waits or couplers or signature.condensed or signature.in_memory)


def key_of(nodes: Nodes) -> tuple[object, ...]:
    """What of the groups is structure."""
    groups = groups_of(nodes)
    return ("abreast", nodes.abreast, *groups.codes, "mixed", *sorted(groups.mixed)) if groups.codes else ()


def group_table(nodes: Nodes | None) -> NDArray[np.int64]:
    """The last node stands in for those that are missing in a group."""
    rows = [(k, *members, *[members[-1]] * (MOST_LANES - len(members))) for k, members in groups_of(nodes).nodes]
    return np.array(rows, dtype=np.int64).reshape(-1, len(GROUP_TABLE))


def lay_abreast(nodes: Nodes, table: NDArray[np.int64], sizes: Sequence[int], start: int) -> int:
    """Where nodes of a group keep their numbers, side by side, from a place on; the end of all."""
    lanes, groups = nodes.abreast, groups_of(nodes)
    start = -(-start // lanes) * lanes
    for k, members in groups.nodes:
        table[members, NODE_TABLE.index("abreast")] = start + np.arange(len(members))
        start += lanes * sizes[groups.codes[k]]
    return start
