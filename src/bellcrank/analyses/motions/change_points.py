"""Change points along a path: configurations in which the equations that close the loops lose rank, so that branches meet.

The measure is the least singular value that counts, over the largest, of the scaled equations G. Along a path it comes down
to zero at a change point, and grows again after it: a minimum between three points is looked at closely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...assembly.loops import Loops

Array = NDArray[np.float64]
Between = Callable[[float], Array | None]  # the configuration at a place of the path since the point before

RANK = 1e-7  # of the largest singular value: below, an equation is redundant
NEAR = 1e-6  # the same, at a change point that was looked for
LARGEST = 1_000_000  # entries of G


class Change(NamedTuple):
    at: float
    q: Array


class _Seen(NamedTuple):
    at: float
    q: Array
    values: Array  # singular values over the largest
    between: Between


class ChangePoints:
    """Shown the points of a path one after the other, it finds the change points between them.

    ``timed``: the place on the path is the time, on which driven closures depend; else it is zero.
    """

    def __init__(self, loops: Loops, *, timed: bool = False) -> None:
        self.loops, self.timed = loops, timed
        self.rank = 0
        self.seen: list[_Seen] = []
        self.looks = len(loops.rows) * loops.model.nv <= LARGEST

    def see(self, at: float, q: Array, between: Between) -> Iterator[Change]:
        """``between``: configurations between the point before and this one."""
        if not self.looks:
            return
        values = self._values(q, at)
        self.rank = max(self.rank, int((values > RANK).sum()))
        self.seen = [*self.seen[-2:], _Seen(at, q, values, between)]
        if len(self.seen) == 3:
            before, middle, after = map(self._measure, self.seen)
            if before > middle <= after and before > NEAR:
                yield from self._look()

    def _values(self, q: Array, at: float) -> Array:
        values = np.linalg.svd(self.loops.G(q, at if self.timed else 0.0), compute_uv=False)
        return np.asarray(values / max(values.max(initial=0.0), 1e-300))

    def _measure(self, point: _Seen) -> float:
        return float(point.values[self.rank - 1]) if self.rank else 1.0

    def _look(self) -> Iterator[Change]:
        """The least value between the first and the last of three points."""
        from scipy.optimize import minimize_scalar

        first, middle, last = self.seen

        def configuration(at: float) -> Array | None:
            inner = abs(at - first.at) < abs(middle.at - first.at)
            return middle.between(at) if inner else last.between(at)

        def measure(at: float) -> float:
            q = configuration(at)
            return 1.0 if q is None else float(self._values(q, at)[self.rank - 1])

        low, high = sorted((first.at, last.at))
        for _ in range(2):  # the method stops at a part of its argument, so that the second time it is nearly zero
            middle_at = (low + high) / 2
            found = minimize_scalar(
                lambda x, about=middle_at: measure(about + x), bounds=(low - middle_at, high - middle_at), method="bounded",
                options={"xatol": 1e-12},
            )  # fmt: skip
            at = middle_at + float(found.x)
            low, high = max(low, at - 1e-6), min(high, at + 1e-6)
        q = configuration(at)
        if found.fun < NEAR and q is not None:
            yield Change(at, q)
