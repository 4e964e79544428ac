"""Reactions of joints and closures, and the efforts and powers of what is driven; with closed loops from their multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ..evaluation import Array, Evaluation, OrZero
from .closing_joints import efforts
from .forces import closure_wrenches, joint_wrenches, of_motion, powers_of_closures
from .loops import multipliers as multipliers_of

Axes = Literal["world", "child"]


def reactions(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
    tau: OrZero = None,
    effort: bool = False,
    axes: Axes = "world",
    multipliers: ArrayLike | None = None,
) -> Array:
    """Wrench of the parent on the child at each joint's point, in the world's or the child's axes: force, moment; (n, 6).

    Without the joint's own effort along its free directions, unless ``effort`` asks for it. With closed loops, ``tau`` are
    the efforts that a was computed with, and ``multipliers`` theirs, if they are known already; closure_reactions has the
    joints that close the loops.
    """
    world = joint_wrenches(dyn, _motion(dyn, q, v, a, tau, t, inputs, multipliers), t, inputs, effort=effort)
    turned = dyn.model.turned or (False,) * dyn.model.n
    return _in_axes(dyn, world, axes, q, t, [dyn.model.parents[i] if far else i for i, far in enumerate(turned)])


def drive_efforts(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, t: ArrayLike = 0.0, inputs: OrZero = None, tau: OrZero = None
) -> Array:
    """Efforts of the prescribed motions, in the order of the joints that model.driven marks.

    ``tau`` matters for models with closed loops only, where efforts elsewhere are felt through the loops.
    """
    return dyn.frames.drives(_drives(dyn, _motion(dyn, q, v, a, tau, t, inputs), t, inputs)[..., 0])


def drive_powers(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
    tau: OrZero = None,
    multipliers: ArrayLike | None = None,
) -> Array:
    """Powers of the prescribed motions, in the order of the walk; ``tau`` and ``multipliers`` are as for reactions."""
    return _drives(dyn, _motion(dyn, q, v, a, tau, t, inputs, multipliers), t, inputs)[..., 1]


def _drives(dyn: Evaluation, motion: dict[str, Any], t: ArrayLike, inputs: OrZero) -> Array:
    """Effort and power of each drive, in the order of the walk; (drives, 2)."""
    flat = of_motion(dyn, "drives", motion, t, inputs)
    return flat.reshape(*flat.shape[:-1], -1, 2)


def _motion(dyn: Evaluation, q: Any, v: Any, a: Any, tau: Any, t: Any, inputs: Any, known: Any = None) -> dict[str, Any]:
    """The motion with multipliers, where a model has closures and they are not known already."""
    if dyn.model.closures and known is None:
        known = multipliers_of(dyn, q, v, tau, t=t, inputs=inputs)
    return {"q": q, "v": v, "a": a, "lambda": known}


def closure_reactions(
    dyn: Evaluation,
    q: ArrayLike,
    v: ArrayLike,
    tau: OrZero = None,
    *,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
    axes: Axes = "world",
) -> Array:
    """Wrench on the second body of each closure, a joint's child, at its point: force, then moment; (c, 6).

    In the world's axes or the child's. That of a driven joint has the effort of its drive in it.
    """
    world = closure_wrenches(dyn, q, v, multipliers_of(dyn, q, v, tau, t=t, inputs=inputs), t=t)
    return _in_axes(dyn, world, axes, q, t, [closure.body_b for closure in dyn.model.closures])


def closure_efforts(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero = None, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> Array:
    """Efforts of driven closures, along what their laws prescribe: forces of rods, efforts of joints."""
    known = multipliers_of(dyn, q, v, tau, t=t, inputs=inputs)
    return efforts(dyn.model, *dyn.poses(q, t=t), closure_wrenches(dyn, q, v, known, t=t), known)


def closure_powers(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, tau: OrZero = None, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> Array:
    """Power of each closure; zero unless it is driven; (c,)."""
    return powers_of_closures(dyn, q, v, multipliers_of(dyn, q, v, tau, t=t, inputs=inputs), t=t)


def _in_axes(dyn: Evaluation, wrenches: Array, axes: str, q: ArrayLike, t: ArrayLike, bodies: Sequence[int]) -> Array:
    """Wrenches on bodies (-1: ground), turned from the world's axes into the bodies' own."""
    if axes not in ("world", "child"):
        raise StateError(f"axes is {axes!r}: use 'world' or 'child'")
    if axes == "world":
        return wrenches
    _, rotations = dyn.poses(q, t=t)
    with_ground = np.concatenate([rotations, np.broadcast_to(np.eye(3), (*rotations.shape[:-3], 1, 3, 3))], axis=-3)
    pairs = wrenches.reshape(*wrenches.shape[:-1], 2, 3)
    return (pairs @ with_ground[..., list(bodies), :, :]).reshape(wrenches.shape)
