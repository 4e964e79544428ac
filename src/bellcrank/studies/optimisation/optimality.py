"""Optimality conditions: active bounds and constraints, their multipliers, and how flat the cost is at the optimum.

With f the cost and c the active limits, grad f = sum of lambda_k grad c_k. A multiplier says how the least cost changes with
its limit, d f / d limit. The curvature is that of the Lagrangian along the directions that active limits leave free, from
differences of exact gradients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .problem import Point, Problem

Array = NDArray[np.float64]

AT_LIMIT = 1e-4  # of a scale
STEP = 1e-4  # of a scale, for differences of gradients


class Active(NamedTuple):
    """A limit that holds the optimum: of a parameter or of a constraint, below or above."""

    name: str
    side: str  # "min", "max" or "equals"
    limit: float
    multiplier: float  # change of the least cost for a change of the limit by one unit


class Flatness(NamedTuple):
    """Second derivatives at the optimum.

    hessian     of the Lagrangian by the parameters, in their units
    free        directions that active limits leave, (parameters, k), in scales
    curvatures  along the principal directions of these, (k,), in scales of the parameters
    play        how far each parameter can be moved while the others follow until the cost rises by 1 %; inf where it is flat
    """

    hessian: Array
    free: Array
    curvatures: Array
    play: Array


def active_limits(problem: Problem, point: Point) -> list[Active]:
    found, normals = _touched(problem, point)
    if not found:
        return []
    rows = np.array(normals) * problem.scale
    multipliers = np.linalg.lstsq(rows.T, point.gradient * problem.scale, rcond=None)[0]
    return [Active(*one, float(m)) for one, m in zip(found, multipliers, strict=True)]


def _touched(problem: Problem, point: Point) -> tuple[list[tuple[str, str, float]], list[Array]]:
    found, normals = [], []
    for k, name in enumerate(problem.names):
        for side, limit in (("min", problem.lower[k]), ("max", problem.upper[k])):
            if abs(point.x[k] - limit) <= AT_LIMIT * problem.scale[k]:
                found.append((name, side, float(limit)))
                normals.append(np.eye(len(problem.names))[k])
    for limit, value, slope in zip(problem.limits, point.limits, point.slopes, strict=True):
        for side, bound in (("min", limit.lower), ("max", limit.upper)):
            if abs(value - bound) <= AT_LIMIT * limit.scale and not (side == "max" and limit.lower == limit.upper):
                found.append((limit.title, "equals" if limit.lower == limit.upper else side, bound))
                normals.append(slope)
    return found, normals


def flatness(problem: Problem, point: Point) -> Flatness:
    """The flatness by as many gradients as there are parameters; one-sided differences stay within the bounds."""
    n, scale = len(problem.names), problem.scale
    active = active_limits(problem, point)
    weights = {one.name: one.multiplier for one in active}
    multipliers = np.array([weights.get(limit.title, 0.0) for limit in problem.limits])
    base = _slope(point, multipliers) * scale
    H = np.zeros((n, n))
    for k in range(n):
        step = STEP if point.x[k] + STEP * scale[k] <= problem.upper[k] else -STEP
        moved = problem.evaluate(point.x + step * scale * np.eye(n)[k])
        H[:, k] = np.nan if moved.reason is not None else (_slope(moved, multipliers) * scale - base) / step
    H = (H + H.T) / 2
    normals = np.array(_touched(problem, point)[1]).reshape(-1, n) * scale
    free = _null_space(normals) if len(normals) else np.eye(n)
    within = free.T @ H @ free
    curvatures = (
        np.asarray(np.linalg.eigvalsh(within), dtype=np.float64)
        if np.isfinite(within).all()
        else np.full(free.shape[1], np.nan)
    )
    return Flatness(H / np.outer(scale, scale), free, curvatures, _play(point.cost, within, free) * scale)


def _slope(point: Point, multipliers: Array) -> Array:
    """The gradient of the Lagrangian."""
    return point.gradient - multipliers @ point.slopes if len(multipliers) else point.gradient


def _null_space(rows: Array) -> Array:
    _, s, Vt = np.linalg.svd(rows)
    rank = int((s > 1e-10 * s.max(initial=0.0)).sum())
    return np.asarray(Vt[rank:].T)


def _play(cost: float, within: Array, free: Array) -> Array:
    """1/2 dy' H dy = 1 % of the cost: the largest change of each parameter is sqrt(2 % cost (H^-1)_kk)."""
    if not np.isfinite(within).all():
        return np.full(len(free), np.nan)
    values, vectors = np.linalg.eigh(within)
    ways = free @ vectors
    flat = values <= 1e-12 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    inverse = (ways**2 / np.where(flat, 1.0, values))[:, ~flat].sum(axis=1)
    open_ended = (np.abs(ways[:, flat]) > 1e-6).any(axis=1)
    return np.where(open_ended, np.inf, np.sqrt(0.02 * abs(cost) * inverse))
