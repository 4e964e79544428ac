"""Velocities that jump onto the closures, as in a plastic impact.

    G M^-1 G^T mu = -(G v + phi_t),    v+ = v + M^-1 G^T mu             EQUATIONS 5.5

mu of least norm. v+ is nearest to v in the metric of the kinetic energy; |v+ - v|^2/2 in it is lost where closures stand still.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..codegen.dynamics import Dynamics
from .factors import Metric, factored
from .outcome import Impact
from .quantities import Quantities

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

MOST = 60  # iterations; where only rest is possible each halves what is left
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
    """In a singular position: the nearest velocities that a motion follows, and the shares of the rows that forbid the others.

    Rows u^T G = 0 that the closures have lost ask for u . gamma(v) = 0, since G a = gamma has no answer otherwise: a cone of
    velocities, whose lines or planes are the branches. Newton's method by smallest changes in the metric of the kinetic energy
    finds a near one. Rows that are redundant everywhere ask for nothing.
    """
    inverse = Metric.of(quantities.mass(q, t)).inverse
    A = quantities.jacobian(q, t) @ inverse.T
    U, _, Vt = np.linalg.svd(A)
    r = factored(A, float(quantities.dynamics.plan.tolerance)).rank
    lost, free = U[:, r:], inverse.T @ Vt[r:].T
    if not lost.shape[1] or not free.shape[1]:
        return v, None

    def demanded(x: Array) -> Array:
        return np.asarray(lost.T @ quantities.right(q, v + free @ x, t))

    size = float(v @ v) * quantities.length
    if np.abs(demanded(np.zeros(free.shape[1]))).max() <= NOTHING * size:
        return v, None
    share = np.abs(lost @ demanded(np.zeros(free.shape[1])))
    return v + free @ nearest_root(demanded, free.shape[1], float(np.linalg.norm(v)) or 1.0), share


def nearest_root(f: Map, count: int, size: float) -> Array:
    """x near zero with f(x) = 0, for f of second degree, whose differences over any distance are its derivatives."""
    x, step = np.zeros(count), size * np.eye(count)
    for _ in range(MOST):
        slopes = np.array([(f(x + d) - f(x - d)) / (2 * size) for d in step]).T
        new = np.linalg.lstsq(slopes, slopes @ x - f(x), rcond=1e-9)[0]
        change, x = float(np.abs(new - x).max()), new
        if change <= 1e-15 * size:
            break
    return x
