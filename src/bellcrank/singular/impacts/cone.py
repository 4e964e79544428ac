"""Velocities of a singular position that a motion follows: a cone, on which quadratic forms vanish.

A motion with velocity v has an acceleration a with G a = gamma(v), and gamma is quadratic in v. A combination u of the
equations with u^T G = 0 therefore asks for u^T gamma(v) = 0 of the velocities with G v = 0. With these as v = F x,

    x^T C_u x = 0        for every such u

Where equations are redundant everywhere C_u vanishes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST = 60  # iterations; each halves what is left where a form only touches zero
FOUND = 1e-9  # of the forms
SHORTEST = 2.0**-10  # of a step


def quadratic_forms(values: Callable[[Array], Array], d: int) -> Array:
    """C (k, d, d) of k homogeneous quadratic functions; ``values`` takes rows x (B, d) and gives (B, k)."""
    e = np.eye(d)
    alone = values(e)
    C = np.zeros((alone.shape[1], d, d))
    C[:, range(d), range(d)] = alone.T
    i, j = np.triu_indices(d, 1)
    if len(i):
        mixed = 0.5 * (values(e[i] + e[j]) - alone[i] - alone[j])
        C[:, i, j] = C[:, j, i] = mixed.T
    return C


def independent(C: Array, least: float) -> tuple[Array, Array]:
    """Forms that span the others, but for what is smaller than ``least``; and what they combine of these, (k, count)."""
    k, d, _ = C.shape
    U, s, V = np.linalg.svd(C.reshape(k, d * d), full_matrices=False)
    count = int((s > least).sum())
    return (s[:count, None] * V[:count]).reshape(count, d, d), U[:, :count]


def toward_cone(C: Array, x: Array) -> Array | None:
    """A direction of length one near that of x on which all forms vanish; None where there is none.

    Newton's method by smallest changes, on the sphere: zero would be an answer always.
    """
    x = x / np.linalg.norm(x)
    left = np.einsum("kij,i,j->k", C, x, x)
    for _ in range(MOST):
        slopes = 2 * (C @ x) @ (np.eye(len(x)) - np.outer(x, x))
        change = np.linalg.lstsq(slopes, -left, rcond=1e-12)[0]
        moved, new = _shortened(C, x, change, left)
        if moved is None or np.abs(moved - x).max() <= 1e-16:
            break
        x, left = moved, new
    return x if np.abs(left).max(initial=0.0) <= FOUND * np.abs(C).max() else None


def _shortened(C: Array, x: Array, change: Array, left: Array) -> tuple[Array | None, Array]:
    """The longest part of a change, halved and halved, that leaves less."""
    part = 1.0
    while part > SHORTEST:
        moved = x + part * change
        moved = moved / np.linalg.norm(moved)
        new = np.einsum("kij,i,j->k", C, moved, moved)
        if new @ new < left @ left:
            return moved, new
        part /= 2
    return None, left
