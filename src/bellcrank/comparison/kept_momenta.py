"""Which momenta a model keeps, found from its equations of motion.

Of linear momentum P and angular momentum L about the world's origin, those combinations c.(P, L) are kept whose rate is zero in
every state: all of a mechanism that floats without gravity; with gravity P across it and L about its direction; of one that
hangs in a ball joint, L about the vertical through the joint. No structure is asked for, so that springs to ground, drives and
loops are judged rightly too.
"""

from __future__ import annotations

import numpy as np

from ..dynamics import Dynamics
from ..errors import StateError
from ..model.manifold import displaced
from .engines import Array
from .measuring import random_states

STATES = 12  # more than the six momenta
APART = 5e-3  # s, of the states between which a rate is taken
WEIGHTS = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # of differences, order six: what they leave shows in the momenta that are kept
ZERO = 1e-9  # of the largest momentum, in one second


def kept_momenta(dynamics: Dynamics, duration: float) -> Array:
    """Rows c (k, 6), orthonormal in kg m/s: linear momentum, and angular momentum over the model's typical length."""
    try:
        states = random_states(dynamics, STATES, seed=0)
    except StateError:  # closed loops that were found to close nowhere but at the start
        return np.zeros((0, 6))
    q, v = (np.array(x) for x in zip(*states, strict=True))
    t = np.random.default_rng(0).uniform(0.0, duration, len(q))
    a = dynamics.acceleration(q, v, t=t)

    def along(s: float) -> Array:
        """The quantity on a curve whose tangent at s = 0 is the motion."""
        return momenta(dynamics, displaced(dynamics.model, q, s * v), v + s * a, t + s)

    values = along(0.0)
    differences = [weight * (along(k * APART) - along(-k * APART)) for k, weight in WEIGHTS.items()]
    rates = np.sum(differences, axis=0) / APART
    good = np.isfinite(rates).all(axis=1)
    values, rates = values[good], rates[good]
    kept = _directions(rates, zero=ZERO * max(np.abs(values).max(initial=0.0), np.abs(rates).max(initial=0.0)))[1]
    return _directions(values @ kept.T, zero=ZERO * np.abs(values).max(initial=0.0))[0] @ kept


def momenta(dynamics: Dynamics, q: Array, v: Array, t: Array) -> Array:
    """Linear momentum and angular momentum over a length (T, 6)."""
    linear, angular = dynamics.momentum(q, v, t=t)
    return np.concatenate([linear, angular / dynamics.plan.length], axis=-1)


def _directions(rows: Array, zero: float) -> tuple[Array, Array]:
    """Directions along which the rows have an extent, and those along which they have none."""
    _, extents, directions = np.linalg.svd(rows, full_matrices=True)
    rank = int((extents > zero).sum())
    return directions[:rank], directions[rank:]
