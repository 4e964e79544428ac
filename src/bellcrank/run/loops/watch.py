"""A watch for singular positions, for loops outside machine code: dynamics.singular_positions says how it sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...dynamics.singular_positions import Directions, closure_of_row, kept_equations, passed, zero_between
from ...plan.row_selection import comparable_rows, first_of_all, order_of_rows, planned
from ...plan.turns import turn_weights
from ...spatial.rank import independent_rows, orthonormal_rows
from ..system import Passage
from .treatment import Loops

Array = NDArray[np.float64]
Look = tuple[Array, Directions]  # the equations, and the directions in which they constrain

_POOR = 0.1  # pivots below which the watch compares other equations, if others are better


class SingularityWatch:
    """Compares the directions in which each equation constrains from step to step.

    Of equations that depend on each other it takes those that are most independent at the moment, so that it sees singular
    positions only. Those that the equations of motion keep are watched besides.
    """

    def __init__(self, dynamics: Dynamics, loops: Loops):
        self.dynamics, self.near = dynamics, loops.near
        self.order = order_of_rows(dynamics.plan)
        self.before: Look | None = None
        self.time = 0.0  # of the last look
        self._last: tuple[float, Look | None] = (0.0, None)  # the look before it
        self.weights = turn_weights(dynamics.model, float(dynamics.plan.length))
        nodes = dynamics.plan.nodes
        self.choice = nodes is None or nodes.interchangeable  # whether other equations could be kept
        self.rank = nodes.rank if nodes is not None else len(dynamics.plan.selected_rows) or None

    def look(self, t: float, q: Array) -> Passage | None:
        """The closure of an equation that turned round, appeared or vanished since the last look, or has nearly vanished."""
        G = comparable_rows(self.dynamics, q, t)
        self._last = self.time, self.before
        last, self.time = self.time, t
        before, self.before = self.before, self._seen(G)
        if before is None:
            return None
        if np.min(self.before[1].pivots, where=self.before[1].pivots > 0, initial=np.inf) < _POOR:
            self.order = first_of_all(independent_rows(before[0], self.dynamics.plan.tolerance), len(G))
            before, self.before = self._seen(before[0]), self._seen(G)
        then, now = before[1], self.before[1]
        over, new = passed(then, now), now.pivots
        found = np.flatnonzero(over | ((new > 0) & (new < self.near)))
        if not len(found):
            return self._poor_choice(t, q)
        r = int(found[0])
        when = zero_between(last, float(then.pivots[r]), t, float(new[r])) if over[r] else t
        return Passage(when, closure_of_row(self.dynamics.model, r))

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

    def _seen(self, G: Array) -> Look:
        return G, Directions(*orthonormal_rows(G, self.order, self.dynamics.plan.tolerance, self.rank))

    def _poor_choice(self, t: float, q: Array) -> Passage | None:
        """A loop of which the equations of motion keep equations that are nearly dependent."""
        if not self.choice or self.near == 0:
            return None
        kept = kept_equations(self.dynamics, q, t)
        return Passage(t, kept.closures[0]) if 0 < kept.pivot < self.near else None


def watch_from(dynamics: Dynamics, loops: Loops, t: float, q: Array) -> SingularityWatch | None:
    """A watch that has seen the start."""
    if not (dynamics.model.closures and loops.project):
        return None
    watch = SingularityWatch(dynamics, loops)
    if planned(dynamics):
        watch.look(t, q)
    return watch
