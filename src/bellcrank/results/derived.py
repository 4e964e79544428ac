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
States = Mapping[str, np.ndarray]
Options = dict[str, Any]


def derive(name: str, model: Model, states: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> Arrays:
    """The quantity ``name`` at every sample, with those that come out of the same sweep."""
    import bellcrank

    dynamics = bellcrank.compile(
        model,
        formulation=settings.get("formulation", "auto"),
        reference=settings.get("reference"),
    )
    return SWEEPS[name](dynamics, states, {"t": states["time"]}, {"inputs": settings.get("inputs")})


def version() -> str:
    """Version of the program, for the files it writes."""
    import bellcrank

    return str(bellcrank.__version__)


def _energy(dynamics: Any, at: States, time: Options, inputs: Options) -> Arrays:
    kinetic, potential = dynamics.energy(at["q"], at["v"], **time)
    return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}


def _momentum(dynamics: Any, at: States, time: Options, inputs: Options) -> Arrays:
    linear, angular = dynamics.momentum(at["q"], at["v"], **time)
    return {"linear": linear, "angular": angular}


def _reactions(dynamics: Any, at: States, time: Options, inputs: Options) -> Arrays:
    return {"reactions": dynamics.reactions(at["q"], at["v"], at["a"], **time, **inputs)}


def _poses(dynamics: Any, at: States, time: Options, inputs: Options) -> Arrays:
    positions, rotations = dynamics.poses(at["q"], **time)
    return {"positions": positions, "rotations": rotations}


SWEEPS: dict[str, Callable[[Any, States, Options, Options], Arrays]] = {
    "kinetic": _energy,
    "potential": _energy,
    "total": _energy,
    "linear": _momentum,
    "angular": _momentum,
    "reactions": _reactions,
    "positions": _poses,
    "rotations": _poses,
}
