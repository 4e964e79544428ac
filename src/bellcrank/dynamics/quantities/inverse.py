"""Inverse dynamics: efforts and wrenches of a known motion. With closed loops the multipliers of the closures are known too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...formulations import QUANTITIES
from ..evaluation import Array, Evaluation, OrZero


def _of_motion(
    dyn: Evaluation, quantity: str, q: ArrayLike, v: ArrayLike, a: OrZero, t: ArrayLike, inputs: OrZero, multipliers: OrZero
) -> Array:
    given = {"q": q, "v": v, "a": a}
    if not dyn.model.closures:
        return dyn.evaluate(QUANTITIES[quantity], given, t, inputs)
    return dyn.evaluate(QUANTITIES[f"closed_{quantity}"], given | {"lambda": multipliers}, t, inputs)


def inverse_dynamics(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
    multipliers: OrZero = None,
) -> Array:
    """Joint efforts that the motion q, v, a takes besides the model's own forces, gravity included.

    With closed loops: besides those of the closures too, which are given by their multipliers (none: the loops are open).
    """
    return _of_motion(dyn, "inverse_dynamics", q, v, a, t, inputs, multipliers)


def drive_rows(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, a: ArrayLike, t: ArrayLike, inputs: OrZero, multipliers: OrZero
) -> Array:
    """Effort and power of each drive, in the order of the walk; (drives, 2)."""
    flat = _of_motion(dyn, "drives", q, v, a, t, inputs, multipliers)
    return flat.reshape(*flat.shape[:-1], -1, 2)


def joint_wrenches(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    t: ArrayLike,
    inputs: OrZero,
    multipliers: OrZero,
    *,
    effort: bool,
) -> Array:
    """Wrench of the parent on the child at each joint's point in world axes, with the joint's own effort or without; (n, 6)."""
    poses = dyn.evaluate(QUANTITIES["poses"], {"q": q}, t)
    return dyn.frames.reactions(poses, _of_motion(dyn, "reactions", q, v, a, t, inputs, multipliers), effort)


def closure_wrenches(dyn: Evaluation, q: ArrayLike, v: ArrayLike, multipliers: Array, *, t: ArrayLike = 0.0) -> Array:
    """Wrench on the second body of each closure at its point in world axes, for given multipliers; (c, 6)."""
    rows = _closing(dyn, q, v, multipliers, t)
    world = rows[..., :6].reshape(*rows.shape[:-1], 2, 3) @ dyn.frames.G_rotation.T
    return np.asarray(world.reshape(*rows.shape[:-1], 6))


def powers_of_closures(dyn: Evaluation, q: ArrayLike, v: ArrayLike, multipliers: Array, *, t: ArrayLike = 0.0) -> Array:
    """Power that each closure brings, for given multipliers; (c,)."""
    return _closing(dyn, q, v, multipliers, t)[..., 6]


def _closing(dyn: Evaluation, q: ArrayLike, v: ArrayLike, multipliers: Array, t: ArrayLike) -> Array:
    return dyn.rows(QUANTITIES["closing_reactions"], {"q": q, "v": v, "lambda": multipliers}, t, width=7)
