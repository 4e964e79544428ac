"""Adjoints of the data of a design, as a plan names it. They include the adjoints of the copies that nodes read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...plan import Plan
from ...plan.signature import OWN
from ..arrays import ARRAYS, OF_NODES, plan_counts

Numbers = NDArray[np.float64]


def design_bars(plan: Plan, *found: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The sum of some adjoints: what tangents.data copies to nodes is added to where it was copied from."""
    total: dict[str, Numbers] = {}
    counts = plan_counts(plan)
    for bars in found:
        for name, x in bars.items():
            size = ARRAYS[OF_NODES.get(name, name)].size(counts) if name in ARRAYS else x.size
            into = total.setdefault(OF_NODES.get(name, name), np.zeros(size))
            if name in OF_NODES:
                _from_nodes(plan, name, x, into)
            else:
                into += x.ravel()[:size]
    return total


def _from_nodes(plan: Plan, name: str, bars: Numbers, into: Numbers) -> None:
    assert plan.nodes is not None
    columns = ARRAYS[OF_NODES[name]].width
    assert isinstance(columns, int)
    table = into.reshape(-1, columns)
    if name == "node_body_data":
        sources = plan.nodes.body_sources
        np.add.at(table[:, :OWN], sources, bars[: len(sources) * OWN].reshape(-1, OWN))
        return
    if not plan.loads.closing.closures:
        return
    sources = plan.nodes.closure_sources
    codes, rows = plan.loads.closing.table[:, 0], bars[: len(sources) * columns].reshape(-1, columns)
    for source, row in zip(sources, rows, strict=True):
        slots = list(plan.loads.closing.signatures[codes[source]].varied)
        table[source, slots] += row[slots]
