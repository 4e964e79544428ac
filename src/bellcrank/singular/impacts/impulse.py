"""Velocities that jump onto the closures, as in a plastic impact.

    G M^-1 G^T mu = -(G v + phi_t),    v+ = v + M^-1 G^T mu             EQUATIONS 5.5

mu of least norm. v+ is nearest to v in the metric of the kinetic energy; |v+ - v|^2/2 in it is lost where closures stand still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...dynamics.dynamics import Dynamics
from ...spatial.rank import LENIENT, factored
from ..factors import Metric
from ..outcome import Impact
from ..quantities import Quantities
from .cone import independent, quadratic_forms, toward_cone

Array = NDArray[np.float64]

LARGEST = 24  # free motions of a singular position whose branches are sought
NOTHING = 1e-9  # a jump below this part of the speeds is rounding of what the user gave


class Impulse(NamedTuple):
    """Velocities after the impact, the impulses of the closures' equations (m,), and the kinetic energy lost (J)."""

    v: Array
    multipliers: Array
    energy: float


def impulse(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, *, t: float = 0.0) -> Impulse:
    """The jump of v at q that makes the closures' rates zero."""
    still = np.zeros(dynamics.model.nv)
    quantities = Quantities(dynamics, still, np.zeros(dynamics.model.input_width))
    return jump(quantities, np.array(q, dtype=float), np.array(v, dtype=float), t)


def jump(quantities: Quantities, q: Array, v: Array, t: float) -> Impulse:
    M = quantities.mass(q, t)
    metric = Metric.of(M)
    factors = quantities.factored(quantities.jacobian(q, t) @ metric.inverse.T, q, t)
    x = factors.solve(-quantities.closure(q, v, t)[:, 1])
    after = v + metric.inverse.T @ x
    lost = 0.5 * float(v @ M @ v - after @ M @ after)
    return Impulse(after, factors.solve_transposed(x) * quantities.scale, lost)


def started(quantities: Quantities, q: Array, v: Array, t: float) -> tuple[Array, Impact | None]:
    """A start's velocities made to fit the closures and a branch of the motion; the impact, if that took more than rounding."""
    if not quantities.m:
        return v, None
    found = jump(quantities, q, v, t)
    after, parting = onto_branch(quantities, q, found.v, t)
    changed, speed = np.linalg.norm(after - v), np.linalg.norm(after) + np.linalg.norm(v)
    if not changed > NOTHING * speed:
        return after, None
    M = quantities.mass(q, t)
    pushing = np.abs(found.multipliers / quantities.scale) if parting is None else parting
    return after, Impact(t, 0.5 * float(v @ M @ v - after @ M @ after), quantities.names_of(pushing))


def onto_branch(quantities: Quantities, q: Array, v: Array, t: float) -> tuple[Array, Array | None]:
    """Nearby velocities that a motion follows from a singular position, and the shares of the rows that forbid the others.

    In coordinates of the kinetic energy, the part of v along a near direction of the cone (cone.py); rest, where the cone has
    none. Closures that are driven leave v alone: there the forms are not homogeneous, and the first step decides.
    """
    inverse = Metric.of(quantities.mass(q, t)).inverse
    A = quantities.jacobian(q, t) @ inverse.T
    factors = factored(A, whole=True)._replace(rank=quantities.factored(A, q, t).rank)
    lost, free = factors.stresses, inverse.T @ factors.motions
    moving = np.abs(quantities.closure(q, np.zeros(quantities.nv), t)[:, 1]).max() > 0
    if not lost.shape[1] or not 0 < free.shape[1] <= LARGEST or moving or not v.any():
        return v, None

    def demanded(x: Array) -> Array:
        return np.array([lost.T @ quantities.right(q, free @ row, t) for row in x])

    least = LENIENT * quantities.loops.tolerance * quantities.length * float(np.sum(free**2))  # of redundant equations
    forms, mixed = independent(quadratic_forms(demanded, free.shape[1]), least)
    x = factors.motions.T @ np.linalg.solve(inverse.T, v)
    left = np.einsum("kij,i,j->k", forms, x, x)
    if not len(forms) or np.abs(left).max() <= NOTHING * np.abs(forms).max() * float(x @ x):
        return v, None
    way = toward_cone(forms, x)
    return free @ (np.zeros_like(x) if way is None else (way @ x) * way), np.abs(lost @ (mixed @ left))
