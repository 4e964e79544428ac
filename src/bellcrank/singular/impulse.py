"""Velocities that jump onto the closures, as in a plastic impact.

    G M^-1 G^T mu = -(G v + phi_t),    v+ = v + M^-1 G^T mu             EQUATIONS 5.5

mu of least norm. v+ is nearest to v in the metric of the kinetic energy; |v+ - v|^2/2 in it is lost where closures stand still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codegen.dynamics import Dynamics
from .factors import Metric, factored
from .outcome import Impact
from .quantities import Quantities

Array = NDArray[np.float64]

NOTHING = 1e-9  # a jump below this part of the speeds is rounding of what the user gave


class Impulse(NamedTuple):
    """Velocities after the impact, the impulses of the closures' equations (m,), and the kinetic energy lost (J)."""

    v: Array
    multipliers: Array
    energy: float


def impulse(dynamics: Dynamics, q: ArrayLike, v: ArrayLike, *, t: float = 0.0) -> Impulse:
    """The jump of v at q that makes the closures' rates zero."""
    still = np.zeros(dynamics.model.nv)
    quantities = Quantities(dynamics, still, np.zeros(len(dynamics.model.inputs)))
    return jump(quantities, np.array(q, dtype=float), np.array(v, dtype=float), t)


def jump(quantities: Quantities, q: Array, v: Array, t: float) -> Impulse:
    M = quantities.mass(q, t)
    metric = Metric.of(M)
    factors = factored(quantities.jacobian(q, t) @ metric.inverse.T, quantities.dynamics.plan.tolerance)
    x = factors.solve(-quantities.closure(q, v, t)[:, 1])
    after = v + metric.inverse.T @ x
    lost = 0.5 * float(v @ M @ v - after @ M @ after)
    return Impulse(after, factors.solve_transposed(x) * quantities.scale, lost)


def started(quantities: Quantities, q: Array, v: Array, t: float) -> tuple[Array, Impact | None]:
    """A start's velocities made to fit the closures, and the impact if that took more than rounding."""
    if not quantities.m:
        return v, None
    found = jump(quantities, q, v, t)
    changed, speed = np.linalg.norm(found.v - v), np.linalg.norm(found.v) + np.linalg.norm(v)
    if not changed > NOTHING * speed:
        return found.v, None
    return found.v, Impact(t, found.energy, quantities.names_of(found.multipliers / quantities.scale))
