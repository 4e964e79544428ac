"""Contacts, kinks and jumps in steps that are taken outside machine code, by the rules of machine.steps.cuts.openings.

The numbers that change their sign there are evaluated at a few places of a step, on whatever its method has between its ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dynamics.dynamics import Dynamics
from ...formulations import QUANTITIES
from ...machine.steps.cuts.corners import just_after, just_before
from ...machine.steps.cuts.known import Surfaces
from ...machine.steps.cuts.openings import APPROACHES, CLOSE, REST
from .roots import narrowed
from .watcher import Inside

Array = NDArray[np.float64]

_PLACES = np.linspace(0.0, 1.0, 17)  # of a step, at which the signs are looked at
_SHORTEST = 1e-14  # of the time
NO_SURFACES = Surfaces(np.zeros(0, dtype=np.int64), np.zeros(0))


class Openings:
    """``close``: how far before and behind a change of sign steps end, as a part of the step that crosses it.

    ``inputs``: those of the model, and the anchors of friction that holds. ``surfaces``: limits of coordinates that count
    like the others.
    """

    def __init__(self, dynamics: Dynamics, inputs: Array, close: float = CLOSE, surfaces: Surfaces = NO_SURFACES):
        self.dynamics, self.inputs, self.close, self.surfaces = dynamics, inputs, close, surfaces
        self.watched = dynamics.plan.loads.openings > 0 or len(surfaces.places) > 0
        self._full = 0.0  # the length of the step that is being cut
        self._approached = self._opened = -np.inf
        self._approaches = 0

    def cut(self, t: float, h: float, inside: Inside) -> float | None:
        """The time at which a step from t, of length h, must end because a sign changes: just before, or just behind."""
        if not self.watched:
            return None
        values = self._at(_PLACES, t, h, inside)
        side = np.where(values[0] >= 0.0, 1.0, -1.0)
        changed = (side * values < 0.0).any(axis=1)
        if not changed.any():
            self._full = 0.0
            return None

        def least(x: Array) -> Array:
            return np.asarray((side * self._at(x, t, h, inside)).min(axis=1))

        behind = int(np.argmax(changed))
        low, high = narrowed(least, float(_PLACES[behind - 1]), float(_PLACES[behind]), negative=False)
        return self._chosen(t, h, low * h, high * h)

    def _at(self, x: Array, t: float, h: float, inside: Inside) -> Array:
        """What begins at the start of the step has begun, and what ends at its end has not."""
        q, v = (np.ascontiguousarray(rows) for rows in inside(x))
        gaps = np.hstack([q, v])[:, self.surfaces.places] - self.surfaces.limits
        if not self.dynamics.plan.loads.openings:
            return gaps
        times = np.clip(t + x * h, just_after(t), just_before(t + h))
        return np.hstack([gaps, self.dynamics.evaluate(QUANTITIES["openings"], {"q": q, "v": v}, times, self.inputs)])

    def _chosen(self, t: float, h: float, low: float, high: float) -> float | None:
        """The sign changes between ``low`` and ``high`` after t."""
        self._full = max(self._full, h)
        shortest = _SHORTEST * max(abs(t), h)
        close = max(self.close * self._full, 4 * shortest)
        again = abs(t - self._approached) <= 4 * close
        soon = high <= 4 * close or (again and self._approaches >= APPROACHES)
        rests = soon and t - self._opened < REST * close
        after = high + close if soon else low - close
        if soon and not rests:
            self._opened = t
        if rests or not shortest < after < h:
            return None
        if not soon:
            self._approaches = self._approaches + 1 if again else 0
            self._approached = t + after
        return t + after
