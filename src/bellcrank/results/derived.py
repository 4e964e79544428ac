"""Quantities that follow from the states of a run: energy, momentum, reactions, poses.

They need machine code of the model, which lies above results/ in the order of the folders. The import of ``bellcrank``
below is the one exception to that order; it happens when a quantity is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..model import Model

Arrays = dict[str, np.ndarray]


def derive(name: str, model: Model, states: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> Arrays:
    """The quantity ``name`` at every sample, with those that come out of the same sweep."""
    import bellcrank

    dynamics = bellcrank.compile(
        model,
        formulation=settings.get("formulation", "auto"),
        reference=settings.get("reference"),
    )
    return SWEEPS[name](dynamics, states["q"], states["v"], states["a"])


def version() -> str:
    """Version of the program, for the files it writes."""
    import bellcrank

    return str(bellcrank.__version__)


def _energy(dynamics: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Arrays:
    kinetic, potential = dynamics.energy(q, v)
    return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}


def _momentum(dynamics: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Arrays:
    linear, angular = dynamics.momentum(q, v)
    return {"linear": linear, "angular": angular}


def _reactions(dynamics: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Arrays:
    return {"reactions": dynamics.reactions(q, v, a)}


def _poses(dynamics: Any, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Arrays:
    positions, rotations = dynamics.poses(q)
    return {"positions": positions, "rotations": rotations}


SWEEPS: dict[str, Callable[[Any, np.ndarray, np.ndarray, np.ndarray], Arrays]] = {
    "kinetic": _energy,
    "potential": _energy,
    "total": _energy,
    "linear": _momentum,
    "angular": _momentum,
    "reactions": _reactions,
    "positions": _poses,
    "rotations": _poses,
}
