"""The projection of an interpolated state onto the closures, also beside a singular position.

In coordinates x of the kinetic energy, A = G L^-T = U diag(s) V^T (factors.py), an error e of the closures asks for the change
(u . e)/s along each v. Where s is nearly lost that is rounding divided by nothing: such a change is made only if it is no
larger than what the state may be wrong by.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dynamics.dynamics import Dynamics
from ..model.manifold import Drift
from .factors import Metric
from .quantities import Quantities

Array = NDArray[np.float64]

WELL_KNOWN = 0.1  # of the largest singular value
MARGIN = 100.0  # of the error that is allowed
ITERATIONS = 3  # of Newton's method: the state is nearly closed


class Settling:
    def __init__(self, dynamics: Dynamics, start: dict[str, Array]):
        self.model = dynamics.model
        self._quantities, self._moved = Quantities(dynamics, start["tau"], start["u"]), Drift(dynamics.model)

    def __call__(self, q: Array, v: Array, t: float, allowed: float) -> tuple[Array, Array]:
        """The state with its loops closed; ``allowed``: what it may be wrong by, as a part of rad, lengths and speeds."""
        q = self._moved(q, np.zeros(self.model.nv))  # quaternions of unit length
        if not self._quantities.m:
            return q, v
        for _ in range(ITERATIONS):
            q = self._moved(q, self._change(q, t, -self._quantities.errors(q, t), allowed))
        rates = self._quantities.closure(q, v, t)[:, 1]
        return q, v + self._change(q, t, -rates, allowed * float(np.abs(v).max(initial=1.0)))

    def _change(self, q: Array, t: float, wanted: Array, allowed: float) -> Array:
        inverse = Metric.of(self._quantities.mass(q, t)).inverse
        factors = self._quantities.factored(self._quantities.jacobian(q, t) @ inverse.T, q, t)
        r, s = factors.rank, factors.s[: factors.rank]
        ways, sizes = inverse.T @ factors.Vt[:r].T, (factors.U[:, :r].T @ wanted) / s
        plausible = np.abs(ways * sizes).max(axis=0, initial=0.0) <= MARGIN * allowed
        return np.asarray(ways @ np.where(plausible | (s > WELL_KNOWN * s.max(initial=0.0)), sizes, 0.0))
