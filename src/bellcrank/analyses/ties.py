"""The motions that closed loops leave free; in a tree all motions are free.

code     shape        meaning
G        (m, nv)      the equations that close the loops, for velocities
N        (nv, free)   displacements that they allow, G N = 0: orthonormal, or with some coordinates as unknowns (N = 1 there)
P        (nv, free)   velocities that displacements N y bring along by the loops: dv = N w + P y, where a mechanism moves
r        (nv,)        efforts that nothing balances; the closures take r - N N^T r
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..assembly import assemble
from ..assembly.loops import HeldCoordinates, Loops
from ..assembly.minimum_norm import smallest_change
from ..assembly.newton import close
from ..dynamics.dynamics import Dynamics
from ..model.manifold import displaced
from ..spatial.rank import factored, null_space

Array = NDArray[np.float64]

STEP = 1e-3  # of differences of fourth order
CLOSED = 1e-10  # of the typical length
GOOD = (
    0.3  # of the best: how well a coordinate must determine where the mechanism is, to be preferred for its place in the model
)


class Ties:
    """The loops of a compiled model at a time."""

    def __init__(self, dyn: Dynamics, t: float) -> None:
        self.dyn, self.model, self.t = dyn, dyn.model, t
        self.any = bool(dyn.model.closures)
        self.loops = Loops(dyn)
        self.nothing = HeldCoordinates.none(dyn.model)

    def basis(self, q: Array) -> Array:
        """N, orthonormal."""
        if not self.any:
            return np.eye(self.model.nv)
        allowed = null_space(self.loops.J(q, self.t), self.loops.tolerance) * self.loops.units[:, None]
        return np.asarray(np.linalg.qr(allowed)[0])

    def start(self, q: Array | None) -> Array:
        """A closed configuration near the one given, or the model's start, assembled."""
        return assemble(self.dyn, q, np.zeros(self.model.nv), t=self.t).q if self.any else np.array(q)

    def moved(self, q: Array, d: Array) -> Array | None:
        """q displaced by d, and closed again; None where it cannot be."""
        new = displaced(self.model, q, d)
        if not self.any:
            return new
        limit = CLOSED * self.loops.length
        found = close(self.loops, new, self.nothing, self.t, limit)
        return found.q if found.error <= limit else None

    def unbalanced(self, q: Array, r: Array) -> Array:
        """The part of efforts that the closures do not balance."""
        if not self.any:
            return r
        N = self.basis(q)
        return np.asarray(N @ (N.T @ r))

    def multipliers(self, q: Array, r: Array) -> Array | None:
        """Multipliers of minimum norm with which r + G^T lambda is what remains unbalanced; None for a tree."""
        if not self.any:
            return None
        factors = factored(self.loops.J(q, self.t), self.loops.tolerance)
        return np.asarray(-factors.solve_transposed(self.loops.units * r) * self.loops.rows)

    def independent(self, q: Array) -> list[int]:
        """Degrees of freedom that say where the mechanism is: the first ones, unless others say it much better."""
        left = self.basis(q) / self.loops.units[:, None]
        chosen: list[int] = []
        for _ in range(left.shape[1]):
            sizes = np.linalg.norm(left, axis=1)
            k = int(np.argmax(sizes > GOOD * sizes.max()))
            chosen.append(k)
            direction = left[k] / sizes[k]
            left = left - np.outer(left @ direction, direction)
        return sorted(chosen)

    def carried_velocities(self, q: Array, v: Array, N: Array, chosen: list[int]) -> Array:
        """P: 0 = G P + d(G v + phi_t)/dq N, none of it in the chosen degrees of freedom."""
        if not self.any or not v.any():
            return np.zeros_like(N)
        weights = {1: 8.0, -1: -8.0, 2: -1.0, -2: 1.0}
        change = np.zeros((len(self.loops.rows), N.shape[1]))
        for k, weight in weights.items():
            places = displaced(self.model, q, k * STEP * N.T)
            rates = self.dyn.closure(places, np.tile(v, (len(places), 1)), t=self.t)[1]
            change += weight * (rates * self.loops.rows).T / (12 * STEP)
        J, units = self.loops.J(q, self.t), self.loops.units
        P = np.column_stack([units * smallest_change(J, -column) for column in change.T]) if change.size else np.zeros_like(N)
        return np.asarray(P - N @ P[chosen])
