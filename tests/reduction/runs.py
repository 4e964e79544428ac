"""Runs and mechanisms for the variants of the coordinate reduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from bellcrank.model import Model
from bellcrank.papers.reduction import accelerate

from ..closed import between
from ..mechanisms import unit
from ..oracles.closed_models import bodies


def run(model: Model, times: Sequence[float], **choice: Any) -> tuple[np.ndarray, np.ndarray]:
    """q and v at the given times, all coordinates integrated; for models whose q' is v."""
    n = model.nv

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], accelerate(model, y[:n], y[n:], t=t, **choice).a])

    start = np.concatenate([model.initial_q, model.initial_v])
    found = solve_ivp(rate, (times[0], times[-1]), start, "DOP853", times, rtol=1e-9, atol=1e-10)
    assert found.success
    return found.y[:n].T, found.y[n:].T


def chain(kinds: Sequence[str], seed: int) -> tuple[Model, np.ndarray]:
    """A chain of joints with random axes that hangs on ground, one body each, and where their origins are."""
    rng = np.random.default_rng(seed)
    rows, at = [], np.zeros(3)
    for k, kind in enumerate(kinds):
        at = at + rng.uniform(-0.5, 0.5, 3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        rows.append(
            {
                "name": f"body{k + 1}",
                "parent": k - 1,
                "joint": {"kind": kind, "axis": tuple(unit(rng))},
                "at": at,
                "mass": rng.uniform(0.5, 2.0),
                "center": at + rng.uniform(-0.3, 0.3, 3),
                "inertia": turn @ np.diag(rng.uniform(0.1, 0.15, 3)) @ turn.T,
            }
        )
    return bodies("chain", rows, (0.7, -1.3, -9.0))


def ring(kinds: Sequence[str], seed: int, base: int = -1, closing: str = "revolute", axis: Any = None) -> Model:
    """The chain, its last body tied to the body ``base`` by one more joint."""
    model, origins = chain(kinds, seed)
    rng = np.random.default_rng([seed, 1])
    point = origins[len(kinds) - 1] + rng.uniform(-0.4, 0.4, 3)
    direction = tuple(unit(rng)) if axis is None else axis
    tie = between("last", len(kinds) - 1, base, point, origins, closing, direction)
    return replace(model, closures=(tie,))
