"""Singular positions of closed loops: how one is recognised at a state, and how one is noticed between two states.

In a singular position the equations that close the loops have less rank than in general (spatial.rank): the mechanism could go
on in more than one way, and accelerations and reactions are not determined. The pivot, the part of the weakest equation that
is new, is zero there.

at a state       Of nodes the pivot is below the tolerance. Where all equations are taken at once, those that are redundant
                 are distinguished from those that are lost by a look a little aside.
between states   The direction of an equation (its row made orthogonal to those before) moves little from step to step. Where
                 equations become dependent it vanishes and comes back reversed: machine.steps.projection, and ``passed``.
                 Singular values, which have no sign, go to zero and come back as |t - t0| does: ``met`` and ``lowest``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formulations import QUANTITIES
from ..machine.in_python import InPython
from ..machine.steps.projection import NARROW
from ..model import Model
from ..numbers import Number
from ..plan import Plan
from ..plan.row_selection import comparable_rows, first_of_all, order_of_rows, slides
from ..spatial.rank import independent_rows, null_space, orthonormal_rows

if TYPE_CHECKING:
    from .evaluation import Evaluation

Array = NDArray[np.float64]

_ASIDE = 1e-3  # rad, or typical lengths


class Singular(NamedTuple):
    """Closures of the loops that are nearest to losing an equation, and the part of the equation that is left."""

    closures: tuple[str, ...]
    pivot: float


class KeptEquations(NamedTuple):
    """How many are kept of the equations that close loops, the smallest part of one that is new, and of which closures."""

    rank: int
    pivot: float
    closures: tuple[str, ...]


# at a state -----------------------------------------------------------------------------------------------------------


def singular_loops(plan: Plan, state: dict[str, Array]) -> Singular | None:
    """The loops that are in a singular position, if any are; of a plan without nodes none is known to be."""
    if plan.nodes is None or not plan.model.closures or not is_finite(state):
        return None
    found = nearest_singularity(plan, state)
    return found if found.pivot < plan.tolerance else None


def singular_closures(dynamics: Evaluation, q: Array, v: Array, t: float) -> str:
    """Names of the closures whose loops are in a singular position, by whichever plan; empty where there are none."""
    if dynamics.plan.nodes is None:
        row = lost_row(dynamics, q, t)
        return "" if row is None else closure_of_row(dynamics.model, row)
    loops = singular_loops(dynamics.plan, {"q": q, "v": v, "t": np.array(t)})
    return "" if loops is None else ", ".join(loops.closures)


def nearest_singularity(plan: Plan, state: dict[str, Array]) -> Singular:
    """The node with the least pivot, of a plan with nodes; a pivot of NaN counts as singular."""
    assert plan.nodes is not None
    evaluation = InPython(plan, QUANTITIES["blocks"], inputs_of(plan, state), numpy_data(plan))
    with np.errstate(all="ignore"), suppress(ZeroDivisionError):
        evaluation.run()
    pivots = np.nan_to_num(np.array(evaluation.values("block")[::3], dtype=float), nan=0.0)
    worst = int(np.argmin(pivots))
    return Singular(closures_of_node(plan, worst), float(np.sqrt(max(0.0, pivots[worst]))))


def kept_equations(dynamics: Evaluation, q: Array, t: float) -> KeptEquations:
    """The equations that are kept, of every block by itself or of all closures at once."""
    plan = dynamics.plan
    if plan.nodes is not None:
        worst = nearest_singularity(plan, {"q": q, "v": np.zeros(plan.model.nv), "t": np.array(t)})
        return KeptEquations(plan.nodes.rank, worst.pivot, worst.closures)
    _, pivots = orthonormal_rows(comparable_rows(dynamics, q, t), plan.selected_rows or order_of_rows(plan), plan.tolerance)
    kept = np.flatnonzero(pivots)
    if not len(kept):
        return KeptEquations(0, 0.0, ())
    worst_row = int(kept[np.argmin(pivots[kept])])
    return KeptEquations(len(kept), float(pivots[worst_row]), (closure_of_row(plan.model, worst_row),))


def lost_row(dynamics: Evaluation, q: Array, t: float) -> int | None:
    """The equation that a singular position has lost: independent at a small distance along the free motions, and not here.

    There what is redundant on the closures adds parts of second order, what a singular position lacks adds some of first order.
    """
    G, tolerance = comparable_rows(dynamics, q, t), dynamics.plan.tolerance
    kept, free = independent_rows(G, tolerance), null_space(G, tolerance)
    way = free @ (free.T @ np.random.default_rng(0).standard_normal(G.shape[1]))
    scale = _ASIDE * dynamics.plan.length ** slides(dynamics.model)
    aside = comparable_rows(dynamics, q + dynamics.rates(q, scale * way), t)
    _, pivots = orthonormal_rows(aside, first_of_all(kept, len(G)), tolerance)
    pivots[list(kept)] = 0.0
    return int(np.argmax(pivots)) if pivots.max(initial=0.0) > _ASIDE**1.5 else None


def closure_of_row(model: Model, row: int) -> str:
    return model.closures[int(np.searchsorted(model.closure_index, row, side="right")) - 1].name


def closures_of_node(plan: Plan, node: int) -> tuple[str, ...]:
    """The closures of a node, or of the nodes that hang on it if it has none itself."""
    assert plan.nodes is not None
    own = plan.nodes.nodes[node]
    names = tuple(plan.model.closures[k].name for k in own.closures)
    return names or tuple(name for child in own.children for name in closures_of_node(plan, child))


def inputs_of(plan: Plan, state: dict[str, Array]) -> dict[str, list[Number]]:
    """A state as the plain walk reads it; what is not given is zero."""
    inputs: dict[str, list[Number]] = {name: list(state.get(name, np.zeros(plan.model.nv))) for name in ("q", "v", "tau")}
    inputs |= {"t": list(np.atleast_1d(state.get("t", 0.0))), "u": list(state.get("u", np.zeros(plan.model.input_width)))}
    return inputs


def numpy_data(plan: Plan) -> dict[str, list[Number]]:
    """Numpy's numbers, which become infinite where those of Python raise."""
    nodes = [] if plan.nodes is None else list(plan.nodes.shared_bodies.ravel())
    return {"data": list(plan.data.ravel()), "node_body_data": nodes}


def is_finite(state: dict[str, Array]) -> bool:
    return all(np.isfinite(state[name]).all() for name in ("q", "v") if name in state)


# between states -------------------------------------------------------------------------------------------------------


class Directions(NamedTuple):
    """For every equation at a state: the direction in which it constrains, and its pivot, zero for redundant ones."""

    rows: Array
    pivots: Array


def passed(then: Directions, now: Directions) -> NDArray[np.bool_]:
    """For every equation whether it was reversed, appeared or vanished, which happens in a singular position.

    One that is far from singular has been turned by a long step.
    """
    reversed_ = (now.rows * then.rows).sum(axis=1) < 0
    near = np.minimum(now.pivots, then.pivots) < NARROW
    return np.asarray((reversed_ & near) | ((now.pivots > 0) != (then.pivots > 0)))


def zero_between(t: float, s: float, later: float, s_later: float) -> float:
    """The time at which a quantity vanished that is s at t and comes back reversed as s_later."""
    return t + (later - t) * s / (s + s_later)


def met(before: float, s: float, after: float = -np.inf) -> bool:
    """Whether a minimum of a singular value is zero for all that steps of this length can tell: no more than its own change."""
    return s <= max(before, after) - s


def weakest(J: Array, rank: int) -> float:
    """The singular value that is lost first, as a part of the largest."""
    s = np.linalg.svd(J, compute_uv=False)
    return float(s[rank - 1] / max(s[0], 1e-300)) if rank else 1.0


def lowest(measure: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The place between two others where a measure is least, and the measure there."""
    from scipy.optimize import minimize_scalar

    at, least = low, np.inf
    for _ in range(2):  # the method stops at a part of its argument, so that the second time it is nearly zero
        middle = (low + high) / 2
        bounds: Any = (low - middle, high - middle)
        found = minimize_scalar(lambda x, m=middle: measure(m + x), bounds=bounds, method="bounded", options={"xatol": 1e-12})
        at, least = middle + float(found.x), float(found.fun)
        low, high = max(low, at - 1e-6), min(high, at + 1e-6)
    return at, least
