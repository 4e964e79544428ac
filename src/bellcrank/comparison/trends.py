"""Trends in what should stay constant: a line through the means of stretches, with its uncertainty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STRETCHES, FEWEST = 20, 4


def trend(t: Array, x: Array) -> tuple[float, float] | None:
    """Slope of x over t and its standard error; None where there are too few samples to tell.

    Neighbouring samples of an oscillation depend on each other, so that a line through all of them would look far more
    certain than it is. Means of 20 stretches, each much longer than the oscillation, do not, as long as the motion has no
    slower changes (neighbours_alike). Where it has, the length of the run distinguishes a trend from none: a trend brings
    ten times as much in ten times the steps.
    """
    count = min(STRETCHES, len(t) // 2)
    if count < FEWEST or not np.isfinite(x).all():
        return None
    t_mean, x_mean = _means(t, count), _means(x, count)
    s = t_mean - t_mean.mean()
    slope = float(s @ x_mean / (s @ s))
    rest = x_mean - x_mean.mean() - slope * s
    return slope, float(np.sqrt(rest @ rest / (count - 2) / (s @ s)))


def neighbours_alike(x: Array) -> float:
    """Correlation of the means of neighbouring stretches: about 0 if they are independent, near 1 if x changes slowly."""
    z = _means(x, STRETCHES)
    z = z - z.mean()
    return float(z[1:] @ z[:-1] / (z @ z))


def _means(x: Array, count: int) -> Array:
    return np.array([part.mean() for part in np.array_split(x, count)])


def envelope(t: Array, x: Array, stretches: int = 200) -> tuple[Array, Array]:
    """Largest |x| in each of many stretches, and the middles of those: what a plot of 10^6 steps can show."""
    count = max(1, min(stretches, len(t)))
    parts = zip(np.array_split(t, count), np.array_split(np.abs(x), count), strict=True)
    middle, largest = zip(*[(part.mean(), values.max()) for part, values in parts], strict=True)
    return np.array(middle), np.array(largest)
