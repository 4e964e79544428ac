"""The result of a run that may pass singular positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Passage(NamedTuple):
    """A position where the closures lose rank, met during a run.

    time       s, between steps
    pivot      smallest singular value of G L^-T (M = L L^T) over the largest, at the step nearest to it; zero if that was on it
    rank_lost  how many equations became dependent on the others
    closures   whose equations became dependent
    joints     coordinates in which the mechanism could have left its branch
    energy     J, lost by a jump of the velocities there: zero, but for the error of the step, if the motion followed a branch
    """

    time: float
    pivot: float
    rank_lost: int
    closures: tuple[str, ...]
    joints: tuple[str, ...]
    energy: float


class Impact(NamedTuple):
    """A jump of the velocities onto the closures: when, the energy lost (J), and which closures pushed."""

    time: float
    energy: float
    closures: tuple[str, ...]


class Momentum(NamedTuple):
    """Largest difference between the momentum and what gravity, outer forces and ground brought: linear, angular."""

    linear: float
    angular: float


class Reactions(NamedTuple):
    """Wrenches on the child of every joint, or the second body of a closure, at its point: force, moment; world axes."""

    joints: Array  # (samples, n, 6)
    closures: Array  # (samples, closures, 6)


@dataclass
class Report:
    """A report of what happened on the way.

    closure_position   largest error of the closures after a step, in m (angles times a typical length)
    closure_velocity   the same of their rates, in m/s
    rank               the largest that the closures had
    energy_error       largest error of the balance of energy, as a part of the largest kinetic energy
    """

    closure_position: float = 0.0
    closure_velocity: float = 0.0
    rank: int = 0
    energy_error: float = 0.0
    passages: list[Passage] = field(default_factory=list)
    impacts: list[Impact] = field(default_factory=list)
    momentum: Momentum | None = None
    reactions: Reactions | None = None


class Passed(NamedTuple):
    """Samples from the start on; works as in other runs; why the run ended early, or None; and the report."""

    times: Array
    q: Array
    v: Array
    works: Array
    counts: dict[str, int]
    problem: str | None
    report: Report
