"""A lookout for singular configurations, for loops outside machine code: machine.steps.projection says how it sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dynamics.diagnosis import closure_of_row, kept_equations
from ...dynamics.dynamics import Dynamics
from ...machine.steps.projection import NARROW
from ...plan.row_selection import comparable_rows, directions, first_of_all, most_independent, order_of_rows, planned
from ...plan.turns import turn_weights
from ..system import Passage
from .treatment import Loops

Array = NDArray[np.float64]

_POOR = 0.1  # pivots below which the lookout compares other equations, if others are better


class Lookout:
    """Compares the directions in which each equation constrains from step to step.

    Of equations that depend on each other it takes those that are most independent at the moment, so that it sees singular
    positions only. Those that the equations of motion keep are watched besides.
    """

    def __init__(self, dynamics: Dynamics, loops: Loops):
        self.dynamics, self.near = dynamics, loops.near
        self.order = order_of_rows(dynamics.plan)
        self.before: tuple[Array, Array, Array] | None = None  # G, directions, pivots
        self.time = 0.0  # of the last look
        self._last: tuple[float, tuple[Array, Array, Array] | None] = (0.0, None)  # the look before it
        self.weights = turn_weights(dynamics.model, float(dynamics.plan.length))
        nodes = dynamics.plan.nodes
        self.choice = nodes is None or nodes.spare  # whether other equations could be kept

    def look(self, t: float, q: Array) -> Passage | None:
        """The closure of an equation that turned round, appeared or vanished since the last look, or has nearly vanished."""
        G = comparable_rows(self.dynamics, q, t)
        self._last = self.time, self.before
        last, self.time = self.time, t
        before, self.before = self.before, (G, *self._directions(G))
        if before is None:
            return None
        if np.min(self.before[2], where=self.before[2] > 0, initial=np.inf) < _POOR:
            self.order = first_of_all(most_independent(before[0], self.dynamics.plan.tolerance), len(G))
            before, self.before = ((x, *self._directions(x)) for x in (before[0], G))
        _, then, old = before
        _, now, new = self.before
        passed = (((now * then).sum(axis=1) < 0) & (np.minimum(new, old) < NARROW)) | ((new > 0) != (old > 0))
        found = np.flatnonzero(passed | ((new > 0) & (new < self.near)))
        if not len(found):
            return self._poor_choice(t, q)
        r = int(found[0])
        when = t - (t - last) * new[r] / (new[r] + old[r]) if passed[r] else t  # in proportion to what is left of the equation
        return Passage(float(when), closure_of_row(self.dynamics.model, r))

    def forget(self) -> None:
        """The last look was at a step that is taken back."""
        self.time, self.before = self._last

    def turn(self, before: Array, after: Array) -> float:
        """The largest part of what coordinates of loops may move in a step that they have moved."""
        return float(np.abs(self.weights * (after - before)).max(initial=0.0))

    def longest_step(self, rates: Array, second: Array) -> float:
        """The time in which a coordinate of a loop moves as far as it may in a step: s h + c h^2/2 = 1."""
        speed = float(np.abs(self.weights * rates).max(initial=0.0))
        change = float(np.abs(self.weights * second).max(initial=0.0))
        return 2.0 / max(speed + float(np.sqrt(speed**2 + 2 * change)), 1e-300)

    def _directions(self, G: Array) -> tuple[Array, Array]:
        return directions(G, self.order, self.dynamics.plan.tolerance)

    def _poor_choice(self, t: float, q: Array) -> Passage | None:
        """A loop of which the equations of motion keep equations that are nearly dependent."""
        if not self.choice or self.near == 0:
            return None
        kept = kept_equations(self.dynamics, q, t)
        return Passage(t, kept.closures[0]) if 0 < kept.pivot < self.near else None


def lookout_from(dynamics: Dynamics, loops: Loops, t: float, q: Array) -> Lookout | None:
    """A lookout that has seen the start."""
    if not (dynamics.model.closures and loops.project):
        return None
    lookout = Lookout(dynamics, loops)
    if planned(dynamics):
        lookout.look(t, q)
    return lookout
