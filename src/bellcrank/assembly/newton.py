"""Closing the loops from an approximate configuration: Newton's method by smallest changes, with steps of limited length.

Each step is the smallest change that closes the loops to first order; it is cut to LONGEST, and halved until the errors shrink.
First only equations that are independent beyond doubt are used (minimum_norm.CLEAR); what they leave is corrected
with all that count by the rank tolerance.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..machine.steps.programs import MASS, MINIMUM_NORM
from ..model.manifold import displaced
from .loops import HeldCoordinates, Loops
from .minimum_norm import CLEAR, smallest_change

Array = NDArray[np.float64]
Weight = Literal["mass", "norm"]

LONGEST = 0.3  # rad, of any coordinate in one step
SHORTEST = 2.0**-12  # of a step
MOST = 200
IDLE = 1e-13  # rad, a step that is rounding
CORRECTED = 1e-2  # rad that equations near redundancy may ask for
TIDY = 1e-4  # of the typical length, the rounding of numbers of four digits: errors that equations near redundancy may keep


class Closed(NamedTuple):
    q: Array
    error: float  # m
    steps: int


def close(
    loops: Loops,
    q: Array,
    held: HeldCoordinates,
    t: float,
    tolerance: float,
    *,
    weight: Weight = "norm",
    longest: float = LONGEST,
) -> Closed:
    """The errors of the result say whether it succeeded."""
    if loops.by_blocks and not held.any and loops.pivot(q, t) > CLEAR:
        found = _through_blocks(loops, q, held, t, weight, longest)
        if found.error <= tolerance:
            return found
    found = _descend(loops, q, held, t, weight, longest, CLEAR)
    if tolerance < found.error < TIDY * loops.length:
        corrected = _descend(loops, found.q, held, t, weight, CORRECTED, loops.tolerance)
        if corrected.error <= tolerance:
            return Closed(corrected.q, corrected.error, found.steps + corrected.steps)
    return found


def _descend(
    loops: Loops, q: Array, held: HeldCoordinates, t: float, weight: Weight, longest: float, tolerance: float
) -> Closed:
    phi = loops.phi(q, t)
    for k in range(MOST):
        y, d = step(loops, q, held, t, phi, weight, tolerance)
        size = float(np.abs(y).max(initial=0.0))
        if size <= IDLE or not np.isfinite(size):
            return Closed(q, loops.error(q, t), k)
        moved, new = _shortened(loops, q, held, t, phi, d * min(1.0, longest / size))
        if moved is None:
            return Closed(q, loops.error(q, t), k)
        q, phi = moved, new
    return Closed(q, loops.error(q, t), MOST)


def _through_blocks(loops: Loops, q: Array, held: HeldCoordinates, t: float, weight: Weight, longest: float) -> Closed:
    """``close`` by blocks of loops, in linear time, with the equations that were independent when they were planned."""
    metric = MASS if weight == "mass" else MINIMUM_NORM
    phi = loops.phi(q, t)
    for k in range(MOST):
        d = loops.dynamics.least_change(q[None], t=t, metric=metric)[0]  # a batch of one does not raise
        size = float(np.abs(d / loops.units).max(initial=0.0))
        moved, new = (None, phi) if not size > IDLE else _shortened(loops, q, held, t, phi, d * min(1.0, longest / size))
        if moved is None:
            return Closed(q, loops.error(q, t), k)
        q, phi = moved, new
    return Closed(q, loops.error(q, t), MOST)


def step(
    loops: Loops, q: Array, held: HeldCoordinates, t: float, phi: Array, weight: Weight, tolerance: float = CLEAR
) -> tuple[Array, Array]:
    """The smallest change: in scaled coordinates, and as a displacement."""
    B = held.basis(q, loops.units)
    M = metric(loops, q, B, t) if weight == "mass" else None
    y = smallest_change(loops.G(q, t) @ B, -phi, M, tolerance=tolerance)
    return y, B @ y


def metric(loops: Loops, q: Array, B: Any, t: float) -> Array:
    """The mass matrix in scaled coordinates; directions without mass get a little."""
    M = np.asarray(B.T @ loops.dynamics.mass_matrix(q, t=t) @ B)
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.asarray(M + 1e-9 * max(float(np.trace(M)) / len(M), 1e-300) * np.eye(len(M)))
    return M


def _shortened(loops: Loops, q: Array, held: HeldCoordinates, t: float, phi: Array, d: Array) -> tuple[Array | None, Array]:
    """The longest part of the step, halved and halved, that makes the errors smaller."""
    before, part = float(phi @ phi), 1.0
    while part > SHORTEST:
        moved = held.placed(displaced(loops.model, q, part * d), q, q, 0.0)
        new = loops.phi(moved, t)
        if float(new @ new) <= before * (1 - 0.1 * part):
            return moved, new
        part /= 2
    return None, phi
