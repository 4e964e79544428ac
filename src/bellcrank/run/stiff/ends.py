"""Where steps of a stiff method end besides at samples: at known times, at stops, contacts and kinks, at final events."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...machine.steps.cuts.corners import just_after, just_before
from ...machine.steps.cuts.known import known_surfaces, known_times
from ..events import Watcher
from ..events.openings import Openings
from ..events.roots import Quantity, narrowed, one_way
from ..system import FirstOrder

Array = NDArray[np.float64]

_ROUNDING = 1e-14
_SHORTEST = 1e-14  # of the time


class StepEnds:
    """``cut`` is the time at which the step at hand is to end, infinite if nothing is known; ``final``: the run ends there."""

    def __init__(self, system: FirstOrder, times: Array, rtol: float, atol: float):
        self.system, self.last = system, float(times[-1])
        self.surfaces = known_surfaces(system.model)
        self.openings = Openings(system.dynamics, system.u)
        self.corners = known_times(system.model, float(times[0]), self.last)
        self.rtol, self.atol = rtol, atol
        self.cut, self.final = np.inf, False
        self._set_window(-np.inf)

    def next(self, t: float) -> float:
        """The first that comes after t."""
        return min(self._corner_after(t), self.last, self.cut)

    def _corner_after(self, t: float) -> float:
        ahead = self.corners[self.corners > t]
        return float(ahead[0]) if len(ahead) else np.inf

    def _set_window(self, t: float) -> None:
        """What begins at a corner at t has begun, and what ends at the next has not."""
        following = self._corner_after(t)
        latest = just_before(following) if np.isfinite(following) else np.inf
        self.system.window = (just_after(t) if np.isfinite(t) else -np.inf, latest)

    def reached(self, t: float) -> bool:
        """Whether a step has come to such a time; a cut is then done with, unless the run ends there."""
        corner = t in self.corners
        if corner:
            self._set_window(t)
        arrived = t >= self.cut or corner
        if arrived and not self.final:
            self.cut = np.inf
        return arrived

    def shorten(self, before: tuple[float, Array], solver: Any, watcher: Watcher | None) -> bool:
        """Whether the step from ``before`` is to be taken again until ``cut``: it crosses a surface, or an event ends it."""
        t, h, system = before[0], solver.t - before[0], self.system
        if self.final or (watcher is None and not len(self.surfaces.places) and not self.openings.watched):
            return False
        between = solver.dense_output()
        parts = [self._crossed(k, before[1], between, t, h) for k in range(len(self.surfaces.places))]
        first = min(parts, default=np.inf)
        cut = t + first * h if first * h > _SHORTEST * max(abs(t), h) and first < 1.0 else np.inf

        def inside(x: Array) -> tuple[Array, Array]:
            q, v, _ = system.parts(np.atleast_2d(between(t + x * h).T))
            return q, v

        self.openings.inputs = system.u
        cut = min(cut, self.openings.cut(t, h, inside) or np.inf)
        if cut < np.inf:
            self.cut = cut
            return True
        if watcher is None:
            return False
        stop = watcher.look(t, h, inside)
        if stop is not None:
            watcher.stopped = stop
            self.cut, self.final = stop.time, True
        return stop is not None

    def _crossed(self, k: int, y: Array, between: Any, t: float, h: float) -> float:
        """The part of the step after which it is to be cut at a surface, as in machine.steps.cuts.surfaces."""
        place, limit = self.surfaces.places[k], self.surfaces.limits[k]
        side = 1.0 if y[place] >= limit else -1.0
        depth = self.atol + (self.rtol + _ROUNDING) * (abs(limit) + abs(y[place]))

        def away(x: Array) -> Array:
            return np.asarray(side * (between(t + x * h)[place] - limit))

        places = one_way(away)
        values = away(places)
        deep = values < -depth
        if not deep.any():
            return np.inf
        aim = 0.5 * depth if values[0] > depth else -0.5 * depth
        behind = int(np.argmax(deep))
        ahead = int(np.flatnonzero(values[:behind] > aim)[-1]) if (values[:behind] > aim).any() else 0
        return _narrow(lambda x: away(x) - aim, places[ahead], places[behind])


def _narrow(quantity: Quantity, low: float, high: float) -> float:
    return narrowed(quantity, float(low), float(high), negative=False)[1]
