"""The equations of closures that the midpoint rule for closed loops holds: which, and in which measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....integrate import RungeKutta
from ....plan import Plan
from ....plan.closures import row_scales


def is_closed_midpoint(plan: Plan, method: RungeKutta) -> bool:
    return bool(plan.model.closures) and method.turns


def kept_rows(plan: Plan) -> NDArray[np.int64]:
    """Numbers of the equations that planning found to be independent."""
    nodes, first = plan.nodes, plan.model.closure_index
    assert nodes is not None
    found = [
        int(first[k]) + row
        for node, code in zip(nodes.nodes, nodes.table[:, 0], strict=True)
        for k, shape in zip(node.closures, nodes.signatures[code].closures, strict=True)
        for row in shape.kept
    ]
    return np.array(sorted(found), dtype=np.int64)


def kept_scales(plan: Plan) -> NDArray[np.float64]:
    """What makes the kept equations numbers without unit; in the last place, what is a large coordinate."""
    length = float(plan.length)
    return np.append((row_scales(plan.model, length) / length)[kept_rows(plan)], min(1.0, length))


Sized = Callable[[int, int], int]
"""Doubles of an array, by the number of kept equations and that of padded velocities."""
ARRAY_SIZES: dict[str, Sized] = {
    "held": lambda rows, width: rows * width,
    "held_there": lambda rows, width: rows * width,
    "yields": lambda rows, width: rows * width,
    "pushes": lambda rows, width: rows,
    "kept_scale": lambda rows, width: rows + 1,
}
