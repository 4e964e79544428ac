"""Velocities at the end of a step, v = c + H force(v): forces that depend on velocities act there, and are not known before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Map = Callable[[Array], Array]

ROUNDING = 1e-15
SETTLED = 1e-11  # of the velocities, what may remain where rounding hinders more
MOST = 30  # steps of an iteration


def settled(force: Map, slopes: Map, c: Array, H: Array, v: Array) -> Array | None:
    """The solution near v: by iteration, which is fast for small steps, else by Newton's method. None if there is none."""
    if not len(v):
        return v
    found = _by_iteration(force, c, H, v)
    return _by_newton(force, slopes, c, H, v) if found is None else found


def _size(x: Array) -> float:
    return float(np.abs(x).max())


def _by_iteration(force: Map, c: Array, H: Array, v: Array) -> Array | None:
    last = np.inf
    for _ in range(MOST):
        new = c + H @ force(v)
        change, scale = _size(new - v), max(_size(new), _size(c))
        v = new
        if change <= ROUNDING * scale or (change > 0.5 * last and change <= SETTLED * scale):
            return v
        if not change <= 0.9 * last:
            return None
        last = change
    return None


def _by_newton(force: Map, slopes: Map, c: Array, H: Array, v: Array) -> Array | None:
    def rest(v: Array) -> Array:
        return c + H @ force(v) - v

    for _ in range(MOST):
        left = rest(v)
        try:
            change: Array = np.linalg.solve(np.eye(len(v)) - H @ slopes(v), left).astype(float)
        except np.linalg.LinAlgError:
            return None
        better = _improved(rest, v, change, _size(left))
        if better is None:
            return v if _size(left) <= SETTLED * max(_size(v), _size(c)) else None
        v = better
    return None


def _improved(rest: Map, v: Array, change: Array, left: float) -> Array | None:
    """A step of Newton's method, halved until it leaves less than before."""
    for _ in range(MOST):
        if _size(rest(v + change)) < left:
            return v + change
        change = 0.5 * change
    return None
