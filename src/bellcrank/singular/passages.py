"""Finding the positions where closures lose their rank, from the singular values at the steps.

A minimum of the smallest one that is not more than its own change over a step is such a position, or one so near that steps
of this length cannot tell (dynamics.singular_positions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dynamics.singular_positions import met, zero_between
from ..spatial.rank import Factors
from .outcome import Passage

Array = NDArray[np.float64]


class WatchedStep(NamedTuple):
    """A step: its time, the factors there, the directions of its metric, and the energy lost in a jump on the way to it."""

    time: float
    factors: Factors
    inverse: Array
    lost: float


class PassageFinder:
    """The last steps, and the rank that the closures have where nothing is lost.

    ``closures`` names those that have a share in a vector over the rows, ``joints`` those that move in one over velocities.
    """

    def __init__(self, closures: Callable[[Array], tuple[str, ...]], joints: Callable[[Array], tuple[str, ...]]):
        self.closures, self.joints = closures, joints
        self.regular = 0
        self.last: list[WatchedStep] = []
        self.passages: list[Passage] = []

    def see(self, seen: WatchedStep) -> None:
        self.regular = max(self.regular, seen.factors.rank)
        self.last = [*self.last[-2:], seen]
        if self.regular and len(self.last) >= 2:
            self._judge()

    def _judge(self) -> None:
        s = [float(x.factors.s[self.regular - 1]) for x in self.last]
        first = len(self.last) == 2
        if first and met(s[1], s[0]):
            self._report(self.last[0], self.last[0].time, self.last[1:])
        if first or not (s[1] <= s[0] and s[1] < s[2] and met(*s)):
            return
        before, _, after = self.last
        self._report(self.last[1], zero_between(before.time, s[0], after.time, s[2]), self.last[1:])

    def _report(self, at: WatchedStep, time: float, around: list[WatchedStep]) -> None:
        f, r = at.factors, self.regular
        smallest = [x.factors.s for x in self.last]
        lost = max(1, sum(met(max(s[k] for s in smallest), f.s[k]) for k in range(r)))
        ways = np.abs(at.inverse.T @ f.Vt[r - lost : r].T).max(axis=1)
        self.passages.append(
            Passage(
                time=time,
                pivot=float(f.s[r - 1] / f.s[0]),
                rank_lost=lost,
                closures=self.closures(np.abs(f.U[:, r - lost : r]).max(axis=1)),
                joints=self.joints(ways),
                energy=float(sum(x.lost for x in around)),
            )
        )
