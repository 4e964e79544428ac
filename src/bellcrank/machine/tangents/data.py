"""Numbers with tangents as kernels take them: in chunks, and the data of a design with what nodes read of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...formulations.program import tangent_of
from ...plan import Plan
from ...plan.signature import OWN
from ..arrays import ARRAYS, OF_NODES, VARIABLE, plan_counts
from ..calls.memory import aligned

Numbers = NDArray[np.float64]

FEW, MANY = 4, 8  # tangents of a chunk


def chunk_of(tangents: int) -> int:
    """How many tangents are taken at a time, of so many."""
    return FEW if tangents <= FEW else MANY


def design_data(plan: Plan, arrays: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Arrays of a design, (..., size) each by the names of machine.arrays, as kernels take them: (states or 1, size)."""
    rows = {name: _flat(plan, name, arrays[name], 0) for name in VARIABLE if name in arrays}
    return rows | _of_nodes(plan, rows)


def design_tangents(plan: Plan, tangents: Mapping[str, Numbers], parameters: int) -> dict[str, Numbers]:
    """Their derivatives, (..., parameters) each, as kernels take them: (states or 1, chunks, size, tangents of a chunk).

    What a design does not mention does not change.
    """
    counts = plan_counts(plan)
    zero = {name: np.zeros((1, ARRAYS[name].size(counts), parameters)) for name in VARIABLE if plan.varies(name)}
    rows = zero | {name: _flat(plan, name, tangents[name], 1) for name in zero if name in tangents}
    return {tangent_of(name): in_chunks(x) for name, x in (rows | _of_nodes(plan, rows, tangents=True)).items()}


def in_chunks(rows: Numbers) -> Numbers:
    """(states, size, parameters) as (states, chunks, size, tangents of a chunk); what fills up is zero.

    A vector of tangents begins a line of the cache, so that reading it touches one.
    """
    states, size, parameters = rows.shape
    width = chunk_of(parameters)
    chunks = max(1, -(-parameters // width))
    found = aligned(states * chunks * size * width).reshape(states, chunks, size, width)
    for c in range(chunks):
        part = rows[..., c * width : (c + 1) * width]
        found[:, c, :, : part.shape[-1]] = part
    return found


def from_chunks(rows: Numbers, parameters: int) -> tuple[Numbers, Numbers]:
    """Values (states, size) and tangents (states, size, parameters) of an output."""
    states, chunks, size, unit = rows.shape
    tangents = rows[..., 1:].transpose(0, 2, 1, 3).reshape(states, size, chunks * (unit - 1))
    return np.ascontiguousarray(rows[:, 0, :, 0]), np.ascontiguousarray(tangents[..., :parameters])


def _flat(plan: Plan, name: str, array: Numbers, behind: int) -> Numbers:
    """(states or 1, size), with ``behind`` axes more."""
    shape = np.shape(array)
    size = ARRAYS[name].size(plan_counts(plan))
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1, size, *shape[len(shape) - behind :])


def _of_nodes(plan: Plan, rows: Mapping[str, Numbers], tangents: bool = False) -> dict[str, Numbers]:
    """Copies for nodes of the same numbers; numbers of closures that belong to the node alone stay as they are."""
    if plan.nodes is None:
        return {}
    made: dict[str, Numbers] = {}
    sources = {"data": plan.nodes.body_sources, "closure_data": plan.nodes.closure_sources}
    for name, of in OF_NODES.items():
        if of not in rows or (of == "closure_data" and not plan.loads.closing.closures):
            continue
        columns = ARRAYS[of].width
        assert isinstance(columns, int)
        x = rows[of]
        table = x.reshape(len(x), -1, columns, *x.shape[2:])[:, sources[of]]
        if of == "data":
            table = table[:, :, :OWN]
        else:
            table = _only_varied(plan, table, tangents)
        made[name] = np.ascontiguousarray(table).reshape(len(x), -1, *x.shape[2:])
    return made


def _only_varied(plan: Plan, table: Numbers, tangents: bool) -> Numbers:
    assert plan.nodes is not None
    own = np.broadcast_to(plan.nodes.shared_closures, table.shape[:3])
    result = np.zeros_like(table) if tangents else own.copy()
    codes = plan.loads.closing.table[:, 0]
    for row, source in enumerate(plan.nodes.closure_sources):
        slots = list(plan.loads.closing.signatures[codes[source]].varied)
        result[:, row, slots] = table[:, row, slots]
    return result
