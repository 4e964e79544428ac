"""Closing the loops of many rows at once, where they close without difficulty; each row as if it were alone.

All functions give back rows and whether each was settled; a row that was not may be anywhere.

    held coordinates are moved      J y = -G D ds, then J y = -phi until y is rounding      J = G without their columns
    nothing is held                 the smallest change in the metric of the mass, step by step (newton.py)
    velocities                      v + x, J x = -phi_t - G v, x of least kinetic energy (minimum_norm.py)

Where as many coordinates are held as the loops leave free, J has full column rank, and y is that of least squares.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...machine.steps.programs import MASS
from ...model.manifold import displaced
from ..loops import HeldCoordinates, Loops
from ..minimum_norm import CLEAR
from ..newton import IDLE, LONGEST, MOST, SHORTEST
from ..solution import EXACT

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

STEP = 0.05  # rad of held coordinates
NEAR = 0.5  # of the step: corrections; larger ones may lead to another branch
CORRECTIONS = 8
ARRIVED = 1e-12  # rad, a correction after which the next one is rounding
FLOWING = 1e-12  # of the velocities: rates of closures that count as nothing
REFINED = 2


def closure_errors(loops: Loops, q: Array) -> Array:
    """The largest error of each row, m."""
    return np.asarray(np.abs(_phi(loops, q)).max(axis=1, initial=0.0))


def _phi(loops: Loops, q: Array) -> Array:
    return np.asarray(loops.dynamics.closure(q, np.zeros((len(q), loops.model.nv)))[0] * loops.rows)


def _jacobian(loops: Loops, q: Array) -> Array:
    return np.asarray(loops.dynamics.closure_jacobian(q) * loops.rows[:, None])


def moved_rows(loops: Loops, held: HeldCoordinates, base: Array, q: Array, limit: float) -> tuple[Array, Mask]:
    """Rows moved from a closed configuration until their held coordinates have their values, loops closed all the way."""
    model, free, end = loops.model, ~held.v, q
    way = np.where(held.q, end - base, 0.0)
    onward = np.zeros((len(q), model.nv))
    onward[:, held.v] = way[:, held.q]
    steps = np.maximum(1, np.ceil(np.abs(onward / loops.units).max(axis=1) / STEP).astype(int))
    q, good = np.tile(base, (len(q), 1)), np.ones(len(q), dtype=bool)
    for k in range(int(steps.max(initial=0))):
        rows = np.flatnonzero(good & (k < steps))
        d = onward[rows] / steps[rows, None]
        ahead = _least_squares(loops, q[rows], free, -_times(_jacobian(loops, q[rows]), d))
        size = np.linalg.norm((ahead + d) / loops.units, axis=1)
        part = ((k + 1) / steps[rows])[:, None]
        place = np.where(held.q, base + part * way[rows], displaced(model, q[rows], ahead + d))
        q[rows], good[rows] = _corrected(loops, place, free, NEAR * size)
    q = np.where(held.q, end, q)
    q[good], good[good] = _corrected(loops, q[good], free, np.full(int(good.sum()), STEP))
    return q, good & (closure_errors(loops, q) <= limit)


def _corrected(loops: Loops, q: Array, free: Mask, most: Array) -> tuple[Array, Mask]:
    """Newton's method in the coordinates that are not held; good if it stays near and arrives."""
    q, gone = q.copy(), np.zeros(len(q))
    going = np.ones(len(q), dtype=bool)
    for _ in range(CORRECTIONS):
        rows = np.flatnonzero(going)
        if not len(rows):
            break
        d = _least_squares(loops, q[rows], free, -_phi(loops, q[rows]))
        size = np.linalg.norm(d / loops.units, axis=1)
        q[rows] = displaced(loops.model, q[rows], d)
        gone[rows] += size
        going[rows] = (size > ARRIVED) & (gone[rows] <= most[rows])
    return q, ~going & (gone <= most)


def _least_squares(loops: Loops, q: Array, free: Mask, r: Array) -> Array:
    """d (rows, nv) of J d = r in the columns that are free, zero in the others."""
    J = _jacobian(loops, q)[:, :, free] * loops.units[free]
    square = np.swapaxes(J, 1, 2) @ J
    little = 1e-15 * np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(square.shape[1])
    with np.errstate(all="ignore"):
        y = np.linalg.solve(square + little + 1e-300 * np.eye(square.shape[1]), _times(np.swapaxes(J, 1, 2), r)[:, :, None])
    d = np.zeros((len(q), loops.model.nv))
    d[:, free] = y[:, :, 0] * loops.units[free]
    return d


def _times(A: Array, x: Array) -> Array:
    """A x of each row."""
    return np.asarray((A @ x[:, :, None])[:, :, 0])


def settled_rows(loops: Loops, q: Array, limit: float) -> tuple[Array, Mask]:
    """Each row moved least, in the metric of the mass."""
    q = q.copy()
    phi = _phi(loops, q)
    going = np.asarray(np.isfinite(phi).all(axis=1))
    for _ in range(MOST):
        rows = np.flatnonzero(going)
        if not len(rows):
            break
        d = loops.dynamics.least_change(q[rows], metric=MASS)
        size = np.abs(d / loops.units).max(axis=1, initial=0.0)
        with np.errstate(all="ignore"):
            d *= np.minimum(1.0, LONGEST / size)[:, None]
        q[rows], phi[rows], shrunk = _shortened(loops, q[rows], phi[rows], d)
        going[rows] = shrunk & (size > IDLE)
    return q, np.abs(phi).max(axis=1, initial=0.0) <= limit


def _shortened(loops: Loops, q: Array, phi: Array, d: Array) -> tuple[Array, Array, Mask]:
    """The longest part of each step, halved and halved, that makes the errors smaller."""
    before = (phi**2).sum(axis=1)
    q, phi, part = q.copy(), phi.copy(), 1.0
    shrunk, trying = np.zeros(len(q), dtype=bool), np.asarray(np.isfinite(d).all(axis=1))
    while part > SHORTEST and trying.any():
        rows = np.flatnonzero(trying)
        moved = displaced(loops.model, q[rows], part * d[rows])
        new = _phi(loops, moved)
        better = (new**2).sum(axis=1) <= before[rows] * (1 - 0.1 * part)
        q[rows[better]], phi[rows[better]] = moved[better], new[better]
        shrunk[rows[better]], trying[rows[better]] = True, False
        part /= 2
    return q, phi, shrunk


def flowing_rows(loops: Loops, q: Array, v: Array, held: Mask) -> tuple[Array, Mask]:
    """The smallest change, in kinetic energy, of velocities that are not held with which the loops stay closed."""
    v, free, units = v.copy(), np.flatnonzero(~held), loops.units[~held]
    for _ in range(REFINED):
        rate = _rates(loops, q, v)
        rows = np.flatnonzero(~_small(loops, v, rate, EXACT))
        if not len(rows):
            break
        J = _jacobian(loops, q[rows])[:, :, free] * units
        M = loops.dynamics.mass_matrix(q[rows])[:, free][:, :, free] * units * units[:, None]
        v[np.ix_(rows, free)] += _least_energy(J, M, -rate[rows]) * units
    driven = _rates(loops, q, np.zeros_like(v))
    return v, _small(loops, v, _rates(loops, q, v), FLOWING, driven)


def _least_energy(J: Array, M: Array, r: Array) -> Array:
    """x of J x = r with the least x^T M x: x = M^-1 J^T (J M^-1 J^T)^+ r."""
    try:
        moved = np.linalg.solve(M, np.swapaxes(J, 1, 2))
        inverse = np.linalg.pinv(J @ moved, rcond=CLEAR**2, hermitian=True)
    except np.linalg.LinAlgError:  # directions without mass
        return np.full(J.shape[::2], np.nan)
    return _times(np.asarray(moved), _times(np.asarray(inverse), r))


def _rates(loops: Loops, q: Array, v: Array) -> Array:
    return np.asarray(loops.dynamics.closure(q, v)[1] * loops.rows)


def _small(loops: Loops, v: Array, rate: Array, part: float, driven: Array | None = None) -> Mask:
    """Whether the rates of the closures are nothing beside the velocities, and beside what drives them."""
    fast = loops.length * np.abs(v / loops.units).max(axis=1, initial=0.0)
    if driven is not None:
        fast = fast + np.abs(driven).max(axis=1, initial=0.0)
    return np.asarray(np.abs(rate).max(axis=1, initial=0.0) <= part * fast)
