"""The walk over nodes in any order, equal ones several at a time: a kernel for one state uses lanes for nodes, not for states.

This is for passes in which nothing is sent. The integers of nodes are then Several, one in each lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...kernels.executor import Integer
from ...kernels.llvm.several import Several
from ...numbers import Number
from ...plan.nodes.signatures import NodeSignature
from .groups import groups_of
from .walk import WalkedNode

if TYPE_CHECKING:
    from ..walk import Walk


def side_by_side(walk: Walk) -> dict[NodeSignature, bool]:
    """Signatures whose nodes are taken several at a time, by kernels for one state on single numbers; whether their data are
    the same, so that they are read once."""
    e, nodes = walk.e, walk.plan.nodes
    if nodes is None or not e.folds or e.lanes > 1 or e.wide or e.transposable:
        return {}
    groups = groups_of(nodes)
    return {nodes.signatures[code]: code not in groups.mixed for code in groups.codes}


def nodes_abreast(walk: Walk, step: Callable[[Any], None]) -> None:
    """Group by group: in any order."""
    e, groups, table = walk.e, walk.array("node_groups"), walk.array("node_table")
    count = walk.plan.nodes.abreast if walk.plan.nodes else 0
    e.start_pass()

    def one(k: Integer) -> None:
        def arm(signature: NodeSignature) -> list[Number]:
            with e.abreast(count):
                i = Several([groups[k, f"node{lane}"] for lane in range(count)])
                step(WalkedNode(signature, walk, i, table[i, "first"]))
            return []

        e.switch(groups[k, "arm"], [lambda s=s: arm(s) for s in walk.side_by_side])

    e.each(0, e.count("node_groups"), one)
