"""Where searches begin: the study's own start, and random designs within the bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .problem import Problem

Array = NDArray[np.float64]


def starting_points(problem: Problem, count: int, seed: int) -> Array:
    """(count, parameters): the start, then a Latin hypercube: of every parameter one value in each of as many strata.

    A parameter without two bounds is taken within its scale of the start.
    """
    n, others = len(problem.start), count - 1
    rng = np.random.default_rng(seed)
    strata = np.array([rng.permutation(others) for _ in range(n)]).T.reshape(others, n)
    u = (strata + rng.random((others, n))) / max(others, 1)
    bounded = np.isfinite(problem.lower) & np.isfinite(problem.upper)
    low = np.where(bounded, problem.lower, np.maximum(problem.start - problem.scale, problem.lower))
    high = np.where(bounded, problem.upper, np.minimum(problem.start + problem.scale, problem.upper))
    return np.vstack([problem.start, low + u * (high - low)])
