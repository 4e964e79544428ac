"""Groups of equal nodes, which a kernel for one state takes several at a time (abreast): their table, and their memory.

What nodes of a group keep stands side by side in memory, as that of lanes does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.processor import lane_count
from ...plan.nodes import BODY_COLUMNS, NODE_TABLE, Nodes, NodeSignature, node_places

MOST_LANES = 8
GROUP_TABLE = ("code", *(f"node{lane}" for lane in range(MOST_LANES)))
_WORTH = 3.0  # nodes of a group, on average
_MOST = 0.75  # of the bodies


class Groups(NamedTuple):
    """Nodes that are taken at once, with the code of their signature; the codes of which several are taken at a time."""

    nodes: tuple[tuple[int, tuple[int, ...]], ...]
    several: frozenset[int]


def groups_of(nodes: Nodes | None) -> Groups:
    """Equal nodes in groups of at most so many lanes, if most bodies are in such groups; the others alone."""
    if nodes is None or any(s.link or s.borrowed or s.lends for s in nodes.signatures):
        return Groups((), frozenset())  # where all are has to be known from the base outward
    lanes = lane_count()
    found: dict[int, list[tuple[int, ...]]] = {}
    for (code, *_), alike in _equal(nodes).items():
        found.setdefault(code, []).extend(tuple(alike[k : k + lanes]) for k in range(0, len(alike), lanes))
    count = {code: sum(map(len, own)) for code, own in found.items()}
    several = {code for code, own in found.items() if count[code] >= _WORTH * len(own) and _by_itself(nodes.signatures[code])}
    bodies = {code: count[code] * len(nodes.signatures[code].bodies) for code in found}
    if sum(bodies[code] for code in several) < _MOST * sum(bodies.values()):
        return Groups((), frozenset())
    alone = [(code, (i,)) for code, own in found.items() if code not in several for members in own for i in members]
    return Groups((*((code, members) for code in several for members in found[code]), *alone), frozenset(several))


def _equal(nodes: Nodes) -> dict[tuple[int, ...], list[int]]:
    """Nodes by their signature and the rows of data that they share."""
    found: dict[tuple[int, ...], list[int]] = {}
    for i, (code, first) in enumerate(nodes.table[:, :2].tolist()):
        found.setdefault((code, *_shared_rows(nodes, code, first)), []).append(i)
    return found


def _shared_rows(nodes: Nodes, code: int, first: int) -> tuple[int, ...]:
    """Rows of the data that equal nodes share."""
    signature = nodes.signatures[code]
    places, size = node_places(signature), len(BODY_COLUMNS)
    closures = first + places["closure_rows"] + np.arange(len(signature.closures))
    bodies = first + places["columns"] + size * np.arange(len(signature.bodies)) + BODY_COLUMNS.index("row")
    return tuple(int(nodes.ints[k]) for k in (*closures, *bodies))


def _by_itself(signature: NodeSignature) -> bool:
    """Whether what a node does is done on numbers, and not on matrices in memory or in loops of its own."""
    couplers = any(closure.signature.kind == "coupler" for closure in signature.closures)
    return not (signature.condensed or signature.in_memory or couplers)


def key_of(nodes: Nodes) -> tuple[object, ...]:
    """What of the groups is structure."""
    several = groups_of(nodes).several
    return ("abreast", lane_count(), *sorted(several)) if several else ()


def group_table(nodes: Nodes | None) -> NDArray[np.int64]:
    """The last node stands in for those that are missing in a group."""
    rows = [(code, *members, *members[-1:] * (MOST_LANES - len(members))) for code, members in groups_of(nodes).nodes]
    return np.array(rows, dtype=np.int64).reshape(-1, len(GROUP_TABLE))


def lay_abreast(nodes: Nodes, table: NDArray[np.int64], sizes: Sequence[int], start: int) -> int:
    """Where nodes of a group keep their numbers, side by side, from a place on; the end of all."""
    lanes = lane_count()
    start = -(-start // lanes) * lanes
    groups = groups_of(nodes)
    for code, members in groups.nodes:
        if code in groups.several:
            table[list(members), NODE_TABLE.index("abreast")] = start + np.arange(len(members))
            start += lanes * sizes[code]
    return start
