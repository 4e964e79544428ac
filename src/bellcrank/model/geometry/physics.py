"""Conditions on the masses and inertias of a rigid body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numbers.variable import value_of

CLOSE = 1e-9
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


def assume_possible(mass: Any, inertia: Any) -> None:
    """Let the tape of a design assume that a body stays possible, and what moves keeps its mass: never too little.

    E = tr(I)/2 - I, the mean of r r^T times the mass, has no negative principal minor.
    """
    half = (inertia[0][0] + inertia[1][1] + inertia[2][2]) * 0.5
    E = [[half * (i == j) - inertia[i][j] for j in range(3)] for i in range(3)]
    minors = [(E[i][i], half) for i in range(3)]
    minors += [(E[i][i] * E[j][j] - E[i][j] * E[j][i], half * half) for i, j in ((0, 1), (0, 2), (1, 2))]
    minors += [(_determinant(E), half * half * half)]
    checks = [mass > 0.0 if value_of(mass) > 0 else mass >= 0.0]
    checks += [half > 0.0 if value_of(half) > 0 else half >= 0.0]
    for check in (*checks, *(minor >= -CLOSE * scale for minor, scale in minors)):
        bool(check)


def _determinant(E: Any) -> Any:
    (a, b, c), (d, e, f), (g, h, i) = E
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


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
