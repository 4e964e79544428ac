"""Steps of a fixed length in lanes: all runs are at the same time, and one that fails stands still.

Nothing ends a step early: models with stops, tables over time or contacts run one at a time (../fixed.py).
"""

from __future__ import annotations

from ....kernels.executor import Integer
from ....numbers import Condition, negated, select
from ..declared import NOT_FINITE
from ..fixed import FixedStepper
from ..projection import Watch, close
from .stepping import InLanes


class FixedLaneStepper(InLanes, FixedStepper):
    """Writes advance() for lanes; explicit methods without an error estimate."""

    def step(self) -> None:
        self.add_count("budget", -1)
        self.new_state(self.real("h"))
        before = self.running()
        running = before & self.finite(self.words["new"])
        self.set_real("status", select(before & negated(running), float(NOT_FINITE), self.real("status")))
        running = self._closed(running) if self.closed else running
        if not self.closed:
            self.unit_quaternions(self.words["new"], self.k[0])
        self.replace(self.words["y"], self.words["new"], running)
        for name, by in (("t", self.real("h")), ("steps", 1.0)):
            self.set_real(name, select(running, self.real(name) + by, self.real(name)))
        self._count_step()

    def _closed(self, running: Condition) -> Condition:
        """Where the run stands after the projection; what does not go on is projected where it is."""
        self.replace(self.words["new"], self.words["y"], negated(running))
        close(self, self.real("t") + self.real("h"))
        stands = running & (self.real("met") <= 0.0)
        self.set_real("status", select(running & negated(stands), self.real("met"), self.real("status")))
        Watch(self).remember(stands)
        return stands

    def _count_step(self) -> None:
        self.add_count("substep")
        self.e.when(self.count("substep") >= self.count("substeps"), self._reach_grid)

    def _reach_grid(self) -> None:
        """At a time of the grid, which is free of the rounding of sums of steps; a row of each lane, if it is wanted."""
        w, s, tick = self.words, self.words["sampled"].integer(0), self.count("tick")
        self.set_count("substep", 0)
        time, wanted = (self.e.of_lanes(w[name], lambda lane, k=k: k) for name, k in (("grid", tick), ("times", s)))
        self.add_count("tick")
        self.set_real("t", select(self.running(), time, self.real("t")))
        self.e.when(self.any(time >= wanted), lambda: self._put_row(s))

    def _put_row(self, s: Integer) -> None:
        w, rows = self.words, [self.row_of_sample(lane, s) for lane in range(self.lanes)]
        self.over_state(lambda i: self.put_sample(w["y"][i], rows, i))
        w["sampled"].put_integer(0, s + 1)
