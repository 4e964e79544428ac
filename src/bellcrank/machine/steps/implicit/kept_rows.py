"""The equations of closures that the midpoint rule for closed loops holds: which, and in which measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....integrate import RungeKutta
from ....plan import Plan
from ....plan.closures import row_scales


def is_closed_midpoint(plan: Plan, method: RungeKutta) -> bool:
    return bool(plan.model.closures) and method.turns


def count_of_rows(plan: Plan) -> int:
    """How many equations are independent, in general."""
    nodes = plan.nodes
    assert nodes is not None
    return sum(len(shape.kept) for code in nodes.table[:, 0] for shape in nodes.signatures[code].closures)


def scales_of_rows(plan: Plan) -> NDArray[np.float64]:
    """Factors that make the equations numbers without unit; in the last place, the size of a large coordinate."""
    length = float(plan.length)
    return np.append(row_scales(plan.model, length) / length, min(1.0, length))
