"""Where steps of a stiff method end besides at samples: at times that are known, at stops, and at events that end the run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machine.steps.cuts.known import known_surfaces, known_times
from ..model import Model
from .events import Watcher
from .events.roots import Quantity, narrowed, one_way
from .system import FirstOrder

Array = NDArray[np.float64]

_ROUNDING = 1e-14
_SHORTEST = 1e-14  # of the time


class Ends:
    """``cut`` is the time at which the step at hand is to end, infinite if nothing is known; ``final``: the run ends there."""

    def __init__(self, model: Model, times: Array, rtol: float, atol: float):
        self.surfaces = known_surfaces(model)
        self.corners = np.append(known_times(model, float(times[0]), float(times[-1])), float(times[-1]))
        self.rtol, self.atol = rtol, atol
        self.cut, self.final = np.inf, False

    def next(self, t: float) -> float:
        """The first that comes after t."""
        ahead = self.corners[self.corners > t]
        return min(float(ahead[0]) if len(ahead) else np.inf, self.cut)

    def reached(self, t: float) -> bool:
        """Whether a step has come to such a time; a cut is then done with, unless the run ends there."""
        arrived = t >= self.cut or t in self.corners[:-1]
        if arrived and not self.final:
            self.cut = np.inf
        return arrived

    def shorten(self, before: tuple[float, Array], solver: Any, watcher: Watcher | None, system: FirstOrder) -> bool:
        """Whether the step from ``before`` is to be taken again until ``cut``, since it crosses a stop or an event ends it."""
        t, h = before[0], solver.t - before[0]
        if self.final or (watcher is None and not len(self.surfaces.places)):
            return False
        between = solver.dense_output()
        parts = [self._crossed(k, before[1], between, t, h) for k in range(len(self.surfaces.places))]
        first = min(parts, default=np.inf)
        if first * h > _SHORTEST * max(abs(t), h) and first < 1.0:
            self.cut = t + first * h
            return True
        if watcher is None:
            return False

        def inside(x: Array) -> tuple[Array, Array]:
            q, v, _ = system.parts(np.atleast_2d(between(t + x * h).T))
            return q, v

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
