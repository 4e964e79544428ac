"""Energies and momenta; in canonical form momenta and velocities, Hamilton's equations, reactions from momenta.

p is conjugate to v: p = dT/dv, armature included. Where v is not dq/dt (spherical and free joints) the entries of p are
quasi-momenta, moments and impulses in the child's axes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import StateError
from ...formulations import CANONICAL, CLOSED, QUANTITIES, Program
from ..evaluation import Array, Evaluation, OrZero
from .reactions import reactions


def mass_matrix(dyn: Evaluation, q: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """The mass matrix, (nv, nv), armature included."""
    return dyn.table("mass_matrix", {"q": q}, t, shape=(dyn.model.nv, dyn.model.nv))


def energy(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Any, Any]:
    """Kinetic and potential energy of the bodies (zero with all mass at the world's origin)."""
    return dyn.frames.energy(dyn.evaluate(QUANTITIES["energy"], {"q": q, "v": v}, t))[:2]


def momentum(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> tuple[Array, Array]:
    """Linear momentum, and angular momentum about the world's origin."""
    return dyn.frames.energy(dyn.evaluate(QUANTITIES["energy"], {"q": q, "v": v}, t))[2:]


def hamilton(dyn: Evaluation) -> Program:
    """The program of dp/dt: that of the model's own formulation, if it is canonical."""
    _must_have_nodes(dyn)
    own = "canonical_momenta" if dyn.model.closures else "canonical_momenta:joint"
    return CANONICAL.get(dyn.formulation, CANONICAL[own])


def _must_have_nodes(dyn: Evaluation) -> None:
    if dyn.model.closures and dyn.plan.nodes is None:
        raise StateError(
            f"momenta of closed loops go with formulation 'canonical_momenta' or 'coordinate_reduction', "
            f"not with {dyn.formulation.partition(':')[0]!r}"
        )


def momenta(dyn: Evaluation, q: ArrayLike, v: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """p at the state q, v. With closed loops p + G^T sigma belongs to the same state, whatever sigma: here it is zero."""
    return dyn.evaluate(QUANTITIES["momenta"], {"q": q, "v": v}, t)


def velocities(dyn: Evaluation, q: ArrayLike, p: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """v at the state q, p: the inverse of momenta."""
    _must_have_nodes(dyn)
    return dyn.evaluate(QUANTITIES["closed_velocities" if dyn.model.closures else "velocities"], {"q": q, "p": p}, t)


def impulses(dyn: Evaluation, q: ArrayLike, p: ArrayLike, *, t: ArrayLike = 0.0) -> Array:
    """sigma of closed loops, (m,): the part of p that moves nothing, p = M v + G^T sigma; lambda = -d(sigma)/dt.

    Of equations that are redundant the impulse is zero.
    """
    if not dyn.model.closures:
        return np.zeros((*np.shape(q)[:-1], 0))
    _must_have_nodes(dyn)
    return -dyn.evaluate(QUANTITIES["closed_impulses"], {"q": q, "p": p}, t)


def canonical_rates(
    dyn: Evaluation, q: ArrayLike, p: ArrayLike, tau: OrZero = None, *, t: ArrayLike = 0.0, inputs: OrZero = None
) -> tuple[Array, Array]:
    """Hamilton's equations: dq/dt and dp/dt at the state q, p under the model's forces, and the efforts tau besides."""
    program = hamilton(dyn)
    pdot = dyn.evaluate(replace(program, scratch=("v", *program.scratch)), {"q": q, "p": p, "tau": tau}, t, inputs)
    return dyn.rates(q, velocities(dyn, q, p, t=t)), pdot


def canonical_reactions(
    dyn: Evaluation,
    q: ArrayLike,
    p: ArrayLike,
    tau: OrZero = None,
    *,
    t: ArrayLike = 0.0,
    inputs: OrZero = None,
    effort: bool = False,
) -> Array:
    """Wrenches of the parents on the children as ``reactions`` gives them, from momenta; (n, 6).

    Of a tree by one more sweep over what Hamilton's equations found. With closed loops the velocities that belong to p keep the
    loops closed, whatever part of p along G^T is in it, and the accelerations and multipliers are theirs.
    """
    if dyn.model.closures:
        v = velocities(dyn, q, p, t=t)
        a = dyn.evaluate(CLOSED["coordinate_reduction"], {"q": q, "v": v, "tau": tau}, t, inputs)
        return reactions(dyn, q, v, a, t=t, inputs=inputs, tau=tau, effort=effort)
    wrenches = dyn.evaluate(QUANTITIES["canonical_reactions"], {"q": q, "p": p, "tau": tau}, t, inputs)
    return dyn.frames.reactions(dyn.evaluate(QUANTITIES["poses"], {"q": q}, t), wrenches, effort)
