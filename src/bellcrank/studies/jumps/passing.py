"""Passages: times of a run at which the equations of motion jump, since it crosses a surface at which a force begins at once.

Integrals are cut there, T(p), and gain (x- - x+) dT by each parameter. Where accelerations jump, derivatives of velocities do
(machine.tangents.jumps), and say how T changes:

    dv+ - dv- = (a- - a+) dT,      dT = (a- - a+).(dv+ - dv-)/|a- - a+|^2

What is so just before and just behind T is found from three samples on either side, by the parabola through them. They are
farther from T than the passages of two runs by other steps are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import warn
from ..history import History

Array = NDArray[np.float64]

PLACES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])  # of samples beside a passage
BEFORE = np.array([1.0, -3.0, 3.0, 0.0, 0.0, 0.0])  # what is there, by these samples
BEHIND = BEFORE[::-1]
ALIKE = 1e-2  # of a jump: what changes less between samples on one side


class Passage(NamedTuple):
    """A time, and those of samples beside it, in order."""

    time: float
    beside: Array


def by_passages(
    curve: Array, history: History, beside: Sequence[NDArray[np.intp]], step: Callable[[float, float], float]
) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """What an integral gains as the times of passages move: weights (6, nv) of the derivatives of velocities at samples.

    ``curve``: the integrand at all samples; ``step``: of what is integrated, by the curve just before and just behind.
    """
    for places in beside:
        a = np.array([history.acceleration(int(k)) for k in places])
        jump = (BEFORE - BEHIND) @ a
        if max(np.linalg.norm(a[0] - a[2]), np.linalg.norm(a[5] - a[3])) > ALIKE * np.linalg.norm(jump):
            warn(
                f"where the run passes a place at t = {history.times[places].mean():.6g} s and a force begins at once, other "
                "changes follow so closely that the derivative of an integral misses what moves that moment"
            )
            continue
        weights = np.outer(BEHIND - BEFORE, jump / (jump @ jump))
        yield places, step(float(BEFORE @ curve[places]), float(BEHIND @ curve[places])) * weights
