"""Forces of a known motion: efforts, force elements, wrenches of joints and, for given multipliers, of closures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...formulations import QUANTITIES
from ..evaluation import Array, Evaluation, OrZero


def of_motion(dyn: Evaluation, quantity: str, motion: dict[str, Any], t: ArrayLike, inputs: OrZero) -> Array:
    """A quantity of inverse dynamics, by q, v, a and the multipliers "lambda", which count where the model has closures."""
    if dyn.model.closures:
        return dyn.evaluate(QUANTITIES[f"closed_{quantity}"], motion, t, inputs)
    return dyn.evaluate(QUANTITIES[quantity], {name: motion[name] for name in "qva"}, t, inputs)


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
    """Joint efforts that the motion q, v, a requires besides the model's own forces (gravity is one of them).

    With closed loops: besides those of the closures too, which are given by their multipliers (none: the loops are open).
    """
    return of_motion(dyn, "inverse_dynamics", {"q": q, "v": v, "a": a, "lambda": multipliers}, t, inputs)


def joint_wrenches(dyn: Evaluation, motion: dict[str, Any], t: ArrayLike, inputs: OrZero, *, effort: bool) -> Array:
    """Wrench of the parent on the child at each joint's point in world axes, with the joint's own effort or without; (n, 6)."""
    poses = dyn.evaluate(QUANTITIES["poses"], {"q": motion["q"]}, t)
    return dyn.frames.reactions(poses, of_motion(dyn, "reactions", motion, t, inputs), effort)


def closure_wrenches(dyn: Evaluation, q: ArrayLike, v: ArrayLike, multipliers: Array, *, t: ArrayLike = 0.0) -> Array:
    """Wrench on the second body of each closure at its point in world axes, for given multipliers; (c, 6)."""
    rows = _closing(dyn, q, v, multipliers, t)
    world = rows[..., :6].reshape(*rows.shape[:-1], 2, 3) @ dyn.frames.G_rotation.T
    return np.asarray(world.reshape(*rows.shape[:-1], 6))


def powers_of_closures(dyn: Evaluation, q: ArrayLike, v: ArrayLike, multipliers: Array, *, t: ArrayLike = 0.0) -> Array:
    """Power of each closure, for given multipliers; (c,)."""
    return _closing(dyn, q, v, multipliers, t)[..., 6]


def _closing(dyn: Evaluation, q: ArrayLike, v: ArrayLike, multipliers: Array, t: ArrayLike) -> Array:
    return dyn.table("closing_reactions", {"q": q, "v": v, "lambda": multipliers}, t, shape=(len(dyn.model.closures), 7))


def elements(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> tuple[Array, Array, Array]:
    """For each force element: the energy that it stores, its power, and its force or effort."""
    rows = dyn.table("elements", {"q": q, "v": v}, t, inputs, shape=(len(dyn.model.elements), 3))
    return rows[..., 0], rows[..., 1], rows[..., 2]
