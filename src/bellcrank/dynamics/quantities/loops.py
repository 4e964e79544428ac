"""Closed loops: their equations at a motion, their multipliers, and the projection of states onto them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...formulations import QUANTITIES
from ...machine.steps.programs import MASS, MINIMUM_NORM, projections
from ..evaluation import Array, Evaluation, OrZero
from .accelerations import require_determined
from .closing_joints import coordinates
from .minimum_norm import eased, loaded_by_self_stresses

MOST_ENTRIES = 1_000_000  # of the Jacobian of all closures, for what needs it as a whole


class Blocks(NamedTuple):
    """The blocks of coordinate_reduction (or parts of large ones): (nodes,), or (B, nodes).

    pivot     how far it is from losing an equation: the smallest part of an equation that is new, over the root of the sum of
              squares of all; 0 at a singular position
    error     largest error of the equations that close its loops, m or rad
    residual  what accelerations leave of the equations that were found redundant, m/s2 or rad/s2
    """

    pivot: Array
    error: Array
    residual: Array


def closing_coordinates(dyn: Evaluation, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """Coordinates of the joints that close loops, in the order of model.closing_names; angles between -pi and pi."""
    return coordinates(dyn.model, *dyn.poses(q, t=t))


def closure_bias(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """gamma in G a = gamma, the equations that close the loops for accelerations; (m,)."""
    return dyn.evaluate(QUANTITIES["closure_right"], {"q": q, "v": v}, t)


def multipliers(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero = None, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> Array:
    """Lagrange multipliers of the equations that close the loops: the force on the bodies is +G^T lambda; (m,).

    Where equations are redundant they are not unique, and those are given for which the reactions of all joints are of
    least norm, except by "coordinate_reduction" for models with more than MOST_ENTRIES entries in their Jacobian: there
    those of the closures alone are, or, in blocks of several nodes, what it found redundant has none.
    """
    require_determined(dyn)
    given = {"q": q, "v": v, "tau": tau}
    if dyn.plan.nodes is None:
        rows = dyn.table("multipliers", given, t, inputs, shape=(dyn.equations, 3))
        return eased(dyn, rows[..., 0], (rows[..., 1] > 0).sum(axis=-1), given, t, inputs)
    a = dyn.evaluate(dyn.program, given, t, inputs)
    found = dyn.evaluate(QUANTITIES["block_multipliers"], given | {"a": a}, t, inputs)  # in linear time
    if found.shape[-1] * dyn.model.nv > MOST_ENTRIES:
        return found
    return eased(dyn, found, np.full(found.shape[:-1], dyn.plan.nodes.rank), given, t, inputs)


def closure_pivots(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """Independence of each closing equation from those before it, from 1 to 0 for a redundant one; (m,)."""
    return dyn.table("multipliers", {"q": q, "v": v, "tau": None}, t, shape=(dyn.equations, 3))[..., 1]


def shared_reactions(dyn: Evaluation, q: ArrayLike, *, t: float = 0.0) -> tuple[str, ...]:
    """Joints and closures whose reactions are not unique, since loops have redundant equations; at one state.

    What is redundant can share a load in many ways: reactions, closure_reactions and multipliers give the one in which
    the reactions of all joints are of least norm. For models with more than MOST_ENTRIES entries in their Jacobian all
    joints are named.
    """
    model, m = dyn.model, dyn.equations
    if dyn.plan.nodes is not None:
        rank = dyn.plan.nodes.rank
    else:
        rank = int((closure_pivots(dyn, q, np.zeros(model.nv), t=t) > 0).sum()) if m else 0
    if rank == m or model.nv == 0:
        return ()
    if m * model.nv > MOST_ENTRIES:
        return (*model.joint_names, *(closure.name for closure in model.closures))
    return loaded_by_self_stresses(dyn, rank, q, t)


def blocks(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero = None, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> Blocks:
    """Condition of the blocks of coordinate_reduction at one state, or at each of many: pivots, errors, residuals."""
    if dyn.plan.nodes is None:
        raise StateError(f"blocks are those of formulation 'coordinate_reduction', not of {dyn.formulation!r}")
    given = {"q": np.atleast_2d(q), "v": np.atleast_2d(v), "tau": tau}  # a batch does not raise where a block is singular
    rows = dyn.table("blocks", given, t, inputs, shape=(dyn.plan.nodes.count, 3))
    rows = rows if np.ndim(q) > 1 or np.ndim(v) > 1 else rows[0]
    return Blocks(np.sqrt(np.maximum(np.nan_to_num(rows[..., 0]), 0.0)), rows[..., 1], rows[..., 2])


def projected(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0, steps: int = 1, metric: str = MINIMUM_NORM
) -> tuple[Array, Array]:
    """The state moved onto the closures by the smallest change, by steps of Newton's method.

    Smallest in the norm of the coordinates ("minimum_norm", lengths scaled) or in that of the kinetic energy ("mass").
    """
    if metric not in (MINIMUM_NORM, MASS):
        raise StateError(f"metric is {metric!r}: use {MINIMUM_NORM!r} or {MASS!r}")
    q, v = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
    programs = projections(metric, dyn.plan)
    for _ in range(steps):
        q = q + dyn.rates(q, dyn.evaluate(programs["positions"], {"q": q, "v": v}, t))
    return q, v + dyn.evaluate(programs["velocities"], {"q": q, "v": v}, t)


def least_change(dyn: Evaluation, q: ArrayLike, *, t: ArrayLike = 0.0, metric: str = MINIMUM_NORM) -> Array:
    """The smallest displacement, as a velocity for unit time, that closes the loops to first order; (nv,)."""
    return dyn.evaluate(projections(metric, dyn.plan)["positions"], {"q": q, "v": None}, t)
