"""Arrays that machine code takes: tables and data of a plan, and buffers for one thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.arrays import Array
from ...kernels.llvm.matrices.routine import CHUNK
from ...plan import Plan
from ...plan.nodes.tables import NODE_TABLE
from ..arrays import ARRAYS, OF_NODES, own_data, plan_counts
from ..nodes.groups import lay_abreast
from ..nodes.walk import block_width

if TYPE_CHECKING:
    from ..kernel import Code
    from ..module import BufferSizes

Numbers = NDArray[np.float64]


def bound_arrays(plan: Plan, code: Code, lanes: int) -> dict[str, Any]:
    """Tables and data of the plan and buffers for one thread, of the arrays that the kernels take."""
    name = ("arrays", code, lanes)
    if name not in plan.made:
        plan.made[name] = Sizes.of(plan, code, lanes)
    sizes: Sizes = plan.made[name]
    found = sizes.tables | carved(sizes.doubles)[0]
    found |= {name: np.zeros(size, dtype=np.int64) for name, size in sizes.integers.items()}
    for array in sizes.data:
        given = array.fill(plan)  # type: ignore[misc]
        found[array.name] = _side_by_side(given, lanes) if array.own else _filled(given, array)
    return found


class Sizes(NamedTuple):
    """Arrays that machine code takes, as far as they do not depend on the numbers of a plan."""

    tables: dict[str, Any]
    data: list[Array]
    doubles: dict[str, int]
    integers: dict[str, int]

    @classmethod
    def of(cls, plan: Plan, code: Code, lanes: int) -> Sizes:
        counts, facts = plan_counts(plan), code.facts
        node_table, node_work = _with_memory(plan, facts)
        counts |= {"work_row": facts.work_row, "message_row": facts.message_row, "node_work": node_work + CHUNK}
        counts |= {"left_row": counts["nv"] if facts.dense else block_width(plan), "lower_rows": facts.dense * counts["rows"]}
        counts |= {"scratch": facts.scratch + CHUNK, "forms": counts["forms"] + CHUNK, "node_messages": facts.sent * plan.n}
        own, found = own_data(plan), cls({}, [], {}, {})
        for array in (ARRAYS[name] for name in code.arguments):
            size = max(1, array.size(counts)) if array.fill is None else 0
            if array.fill is not None and array.integers:
                found.tables[array.name] = _filled(node_table if array.name == "node_table" else array.fill(plan), array)
            elif array.fill is not None:
                found.data.append(replace(array, own=array.name in own))
            elif array.integers:
                found.integers[array.name] = size
            elif array.kind == "tangent":
                found.doubles[array.name] = size * facts.tangents
            else:
                found.doubles[array.name] = size * lanes * (1 + facts.tangents if array.active else 1)
        return found


def carved(sizes: Mapping[str, int]) -> tuple[dict[str, Any], dict[str, int]]:
    """Arrays of zeros by their names, each on a boundary of 64 bytes, out of one piece of memory; and their addresses."""
    starts = [0, *accumulate((size + 7) & ~7 for size in sizes.values())]
    block = aligned(starts[-1])
    first, places = block.ctypes.data, list(zip(sizes.items(), starts, strict=False))
    return {name: block[at : at + size] for (name, size), at in places}, {name: first + 8 * at for (name, _), at in places}


def varied_numbers(plan: Plan, code: Code) -> dict[str, Numbers]:
    """The data of a plan that a design varies, of the arrays that machine code takes."""
    if plan.lane_designs:
        return {}  # every lane has its own
    given = (ARRAYS[name] for name in code.arguments if plan.varies(OF_NODES.get(name, name)))
    return {array.name: _filled(array.fill(plan), array) for array in given if array.fill}


def _with_memory(plan: Plan, facts: BufferSizes) -> tuple[NDArray[np.int64], int]:
    """The table of nodes with the place of each one's memory, and the size of all."""
    if plan.nodes is None:
        return np.zeros(0, dtype=np.int64), 0
    table, start = plan.nodes.table.copy(), 0
    for name, rows in (("memory", facts.node_rows), ("matrices", facts.node_matrices)):
        start = -(-start // CHUNK) * CHUNK
        ends = start + np.cumsum([0, *(rows[k] for k in table[:, 0])])
        table[:, NODE_TABLE.index(name)] = ends[:-1]
        start = int(ends[-1])
    return table, lay_abreast(plan.nodes, table, facts.node_rows, start)


def _side_by_side(given: Any, lanes: int) -> Numbers:
    """Copies the same numbers into every lane, each of which has its own."""
    rows = aligned(max(1, np.size(given)) * lanes)
    rows[: np.size(given) * lanes] = np.repeat(np.asarray(given, dtype=np.float64).ravel(), lanes)
    return rows


def _filled(given: Any, declared: Array) -> NDArray[Any]:
    """The array as machine code reads it, and never empty."""
    array = np.asarray(given, dtype=np.int64 if declared.integers else np.float64)
    return np.ascontiguousarray(array) if array.size else np.zeros(1, dtype=array.dtype)


def aligned(count: int) -> Numbers:
    """Zeros on a boundary of 64 bytes."""
    raw = np.zeros(count + 8)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + count]
