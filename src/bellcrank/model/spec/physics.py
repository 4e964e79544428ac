"""Which masses and inertias a rigid body can have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

SLACK = 1e-6  # of the largest entry: numbers typed with seven digits pass


def impossible(mass: NDArray[np.float64], inertia: NDArray[np.float64]) -> Iterator[tuple[int, str]]:
    """The bodies that cannot exist, each with the first reason found.

    mass (n,), inertia (n,3,3) about the centre of mass. A real body has mass >= 0, a symmetric inertia with principal
    moments A, B, C >= 0, and A + B >= C in every order, since A + B - C is twice an integral of a square.
    """
    largest = np.abs(inertia).max(axis=(1, 2), initial=0.0)
    scaled = inertia / np.where(largest > 0, largest, 1.0)[:, None, None]
    skewed = np.abs(scaled - scaled.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0) > SLACK
    moments = np.linalg.eigvalsh((scaled + scaled.transpose(0, 2, 1)) / 2)
    negative = moments[:, 0] < -SLACK
    pointed = moments[:, 0] + moments[:, 1] < moments[:, 2] - SLACK
    for i in np.flatnonzero((mass < 0) | skewed | negative | pointed):
        yield int(i), _reason(mass[i], inertia[i], moments[i] * largest[i], bool(skewed[i]), bool(negative[i]))


def _reason(mass: float, inertia: NDArray[np.float64], moments: NDArray[np.float64], skewed: bool, negative: bool) -> str:
    a, b, c = moments
    principal = f"its principal moments of inertia are {a:.6g}, {b:.6g}, {c:.6g} kg m2"
    if mass < 0:
        return f"its mass is {mass:g} kg. Give a mass of zero or more."
    if skewed:
        return f"its inertia {inertia.tolist()} is not symmetric. Make entries ij and ji equal."
    if negative:
        return f"{principal}, and none may be negative. Check the signs of the products of inertia."
    return (
        f"{principal}: no body has one larger than the sum of the other two ({a + b:.6g}). "
        "Check that they are about the centre of mass, and their units."
    )
