"""Which equations that close loops are kept where all of them are taken at once (machine.closures.equations).

Of equations that depend on each other the first ones at a state are kept, which has two flaws in over-constrained loops. These
may become dependent along the motion although the mechanism is in no singular position, and others would do. And where the
loops are open by more than the tolerance, as they are inside a long step, equations that are redundant as long as the loops
are closed seem to be independent, and lock the mechanism. Plan.selected_rows names, best first, those that may be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from .closures import row_scales
from .plan import Plan

if TYPE_CHECKING:
    from ..dynamics.evaluation import Evaluation

Array = NDArray[np.float64]


def planned(dynamics: Evaluation) -> bool:
    """Whether it is settled which equations are kept; else the start may be a singular position (lost_row)."""
    return dynamics.plan.nodes is not None or bool(dynamics.plan.selected_rows)


def order_of_rows(plan: Plan) -> tuple[int, ...]:
    """All rows; those that may be kept come first."""
    return first_of_all(plan.selected_rows, plan.loads.closing.rows)


def first_of_all(chosen: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*chosen, *sorted(set(range(count)) - set(chosen)))


def least_kept(plan: Plan) -> Array:
    """The part of what it could add, squared, from which on an equation is kept (spatial.rank.keeps); (m,)."""
    least = np.full(plan.loads.closing.rows, plan.tolerance**2)
    if plan.selected_rows:
        least[list(order_of_rows(plan)[len(plan.selected_rows) :])] = np.inf
    return least


def comparable_rows(dynamics: Evaluation, q: Array, t: float) -> Array:
    """G without units: equations in typical lengths, for turns in rad and slides in typical lengths; (m, nv)."""
    model, length = dynamics.model, dynamics.plan.length
    G: Array = dynamics.closure_jacobian(q, t=t) * row_scales(model, length)[:, None] / length
    return G * length ** slides(model)


def slides(model: Model) -> Array:
    """1 for velocities of lengths, 0 for those of angles; (nv,)."""
    moving = [joint for joint, driven in zip(model.joints, model.driven, strict=True) if not driven]
    return np.array([float(unit == "m/s") for joint in moving for unit in joint.v_units])
