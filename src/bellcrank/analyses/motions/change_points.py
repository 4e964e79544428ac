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
from ...dynamics.singular_positions import lowest, weakest
from ...spatial.rank import rank

Array = NDArray[np.float64]
Between = Callable[[float], Array | None]  # the configuration at a place of the path since the point before

NEAR = 1e-6  # of the largest singular value, at a change point that was looked for
LARGEST = 1_000_000  # entries of G


class Change(NamedTuple):
    at: float
    q: Array


class _Seen(NamedTuple):
    at: float
    q: Array
    G: Array
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
        """Takes the next point of the path; ``between``: configurations between the point before and this one."""
        if not self.looks:
            return
        G = self._equations(q, at)
        self.rank = max(self.rank, rank(G, self.loops.tolerance))
        self.seen = [*self.seen[-2:], _Seen(at, q, G, between)]
        if len(self.seen) == 3:
            before, middle, after = (weakest(point.G, self.rank) for point in self.seen)
            if before > middle <= after and before > NEAR:
                yield from self._look()

    def _equations(self, q: Array, at: float) -> Array:
        return self.loops.J(q, at if self.timed else 0.0)

    def _look(self) -> Iterator[Change]:
        """The least value between the first and the last of three points."""
        first, middle, last = self.seen

        def configuration(at: float) -> Array | None:
            inner = abs(at - first.at) < abs(middle.at - first.at)
            return middle.between(at) if inner else last.between(at)

        def measure(at: float) -> float:
            q = configuration(at)
            return 1.0 if q is None else weakest(self._equations(q, at), self.rank)

        at, least = lowest(measure, *sorted((first.at, last.at)))
        q = configuration(at)
        if least < NEAR and q is not None:
            yield Change(at, q)
