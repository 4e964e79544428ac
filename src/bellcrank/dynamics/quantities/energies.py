"""Energies and momenta of the bodies, and what force elements store, bring and exert."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ...formulations import QUANTITIES
from ..evaluation import Array, Evaluation, OrZero


def energy(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Any, Any]:
    """Kinetic and potential energy of the bodies (zero with all mass at the world's origin)."""
    kinetic, potential, _, _ = dyn.frames.energy(dyn.evaluate(QUANTITIES["energy"], {"q": q, "v": v}, t))
    return kinetic, potential


def momentum(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
    """Linear momentum, and angular momentum about the world's origin."""
    _, _, linear, angular = dyn.frames.energy(dyn.evaluate(QUANTITIES["energy"], {"q": q, "v": v}, t))
    return linear, angular


def elements(
    dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> tuple[Array, Array, Array]:
    """Of each force element: the energy that it stores, the power that it brings, its force or effort."""
    rows = dyn.rows(QUANTITIES["elements"], {"q": q, "v": v}, t, inputs, width=3)
    return rows[..., 0], rows[..., 1], rows[..., 2]
