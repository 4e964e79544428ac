"""A lookout for singular configurations, for loops outside machine code: codegen.projection says how it sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..codegen.dynamics import Dynamics
from ..codegen.projection import NARROW
from ..topology.closing import row_scales
from .system import Passage

Array = NDArray[np.float64]


class Lookout:
    """Compares the directions in which each equation constrains from step to step."""

    def __init__(self, dynamics: Dynamics, go_on: bool):
        self.go_on = go_on
        self.dynamics, self.scale = dynamics, row_scales(dynamics.model, dynamics.plan.length)
        self.before: tuple[Array, Array] | None = None

    def look(self, t: float, q: Array) -> Passage | None:
        """The closure of an equation that turned round, appeared or vanished since the last look."""
        G = self.dynamics.closure_jacobian(q, t=t) * self.scale[:, None] / self.dynamics.plan.length
        now = _directions(G, self.dynamics.plan.tolerance)
        before, self.before = self.before, now
        if before is None:
            return None
        turned = ((now[0] * before[0]).sum(axis=1) < 0) & (np.minimum(now[1], before[1]) < NARROW)
        found = np.flatnonzero(turned | ((now[1] > 0) != (before[1] > 0)))
        if not len(found):
            return None
        model = self.dynamics.model
        return Passage(t, model.closures[int(np.searchsorted(model.closure_index, found[0], side="right")) - 1].name)


def _directions(G: Array, tolerance: float) -> tuple[Array, Array]:
    """Rows made orthonormal one after the other, and what of each was new; zero for redundant ones."""
    Q, pivots = np.zeros_like(G), np.zeros(len(G))
    for r, row in enumerate(G):
        for _ in range(2):
            row = row - Q[:r].T @ (Q[:r] @ row)
        new = float(np.linalg.norm(row)) / np.sqrt(max(1, G.shape[1]))
        if new > tolerance:
            Q[r], pivots[r] = row / np.linalg.norm(row), new
    return Q, pivots


def watch(lookout: Lookout | None, passages: list[Passage], t: float, q: Array) -> str | None:
    """Note a singular configuration; why the run ends there, unless it is to go on."""
    passage = None if lookout is None else lookout.look(t, q)
    if passage is None or lookout is None:
        return None
    passages.append(passage)
    return None if lookout.go_on else passage.problem()
