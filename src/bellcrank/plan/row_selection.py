"""Which equations that close loops are kept where all of them are taken at once (closing.reduce).

Of equations that depend on each other the first ones at a state are kept, which has two flaws in over-constrained loops. These
may become dependent along the motion although the mechanism is in no singular position, and others would do. And where the
loops are open by more than the tolerance, as they are inside a long step, equations that are redundant as long as the loops
are closed seem to be independent, and lock the mechanism. Plan.kept_rows names, best first, those that may be kept.
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

_ASIDE = 1e-3  # rad, or typical lengths


def planned(dynamics: Evaluation) -> bool:
    """Whether it is settled which equations are kept; else the start may be a singular position (lost_row)."""
    return dynamics.plan.nodes is not None or bool(dynamics.plan.kept_rows)


def order_of_rows(plan: Plan) -> tuple[int, ...]:
    """All of them; those that may be kept come first."""
    return first_of_all(plan.kept_rows, plan.loads.closing.rows)


def first_of_all(chosen: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*chosen, *sorted(set(range(count)) - set(chosen)))


def least_kept(plan: Plan) -> Array:
    """The part of what it could add, squared, from which on an equation is kept; (m,)."""
    least = np.full(plan.loads.closing.rows, plan.tolerance**2)
    if plan.kept_rows:
        least[list(order_of_rows(plan)[len(plan.kept_rows) :])] = np.inf
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


def directions(G: Array, order: tuple[int, ...], tolerance: float) -> tuple[Array, Array]:
    """Rows made orthonormal one after the other, and what of each was new; zero for redundant ones."""
    Q, pivots = np.zeros_like(G), np.zeros(len(G))
    for r in order:
        row = G[r]
        for _ in range(2):
            row = row - Q.T @ (Q @ row)
        new = float(np.linalg.norm(row)) / np.sqrt(max(1, G.shape[1]))
        if new > tolerance:
            Q[r], pivots[r] = row / np.linalg.norm(row), new
    return Q, pivots


def lost_row(dynamics: Evaluation, q: Array, t: float) -> int | None:
    """In a singular position: an equation that is independent of the others a little aside, along what the closures leave free.

    There what is redundant on the closures adds parts of second order, what a singular position lacks adds some of first order.
    """
    G, tolerance = comparable_rows(dynamics, q, t), dynamics.plan.tolerance
    kept = most_independent(G, tolerance)
    free = np.linalg.svd(G[list(kept)])[2][len(kept) :]
    way = free.T @ (free @ np.random.default_rng(0).standard_normal(G.shape[1]))
    scale = _ASIDE * dynamics.plan.length ** slides(dynamics.model)
    aside = comparable_rows(dynamics, q + dynamics.rates(q, scale * way), t)
    _, pivots = directions(aside, first_of_all(kept, len(G)), tolerance)
    pivots[list(kept)] = 0.0
    return int(np.argmax(pivots)) if pivots.max(initial=0.0) > _ASIDE**1.5 else None


def most_independent(G: Array, tolerance: float) -> tuple[int, ...]:
    """First the row that adds most to those before it, again and again: QR of G^T with pivots, as far as the rank goes."""
    rest, chosen = G.copy(), []
    for _ in range(min(G.shape)):
        lengths = np.linalg.norm(rest, axis=1)
        r = int(np.argmax(lengths))
        if lengths[r] <= tolerance * np.sqrt(G.shape[1]):
            break
        chosen.append(r)
        way = rest[r] / lengths[r]
        rest -= np.outer(rest @ way, way)
        rest[chosen] = 0.0
    return tuple(chosen)
