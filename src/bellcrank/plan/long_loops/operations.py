"""About how many operations a block of loops takes, along its bodies and by null spaces."""

from __future__ import annotations

from collections.abc import Sequence

from ..blocks import BlockNode
from ..nodes import Ranks, node_dofs
from ..plan import Plan


def along_bodies(plan: Plan, nodes: Sequence[BlockNode], bodies: Sequence[int], rows: int) -> float:
    return 0.0


def by_null_space(plan: Plan, nodes: Sequence[BlockNode], ranks: Sequence[Ranks]) -> float:
    return 1.0 if sum(len(node_dofs(plan, node)) for node in nodes) > 3 else -1.0
