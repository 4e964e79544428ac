"""How a run treats closed loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...assembly.failure import freedom
from ...assembly.loops import Loops as Closures
from ...dynamics.dynamics import Dynamics
from ...errors import StateError, warn
from ...plan.turns import LONGEST

Array = NDArray[np.float64]

PROJECTIONS = ("minimum_norm", "mass", "none")
ON_SINGULAR = ("stop", "pass", "warn")
VERY_FAR = 1.0  # rad, or typical lengths


NEAR = 0.01  # pivots at which a run that changes its method or its equations does so: nearer, digits are lost
NEAREST = 1e-4  # pivots at which a run that stops does so: nearer, reactions are noise


class Loops(NamedTuple):
    """Projection after each step, in a metric; at a singular configuration go on, or switch to a method that passes it.

    ``near``: the pivot from which on a configuration counts as singular.
    """

    project: bool = True
    go_on: bool = False
    switch: bool = False
    metric: str = "minimum_norm"
    near: float = NEAREST


NO_LOOPS = Loops()


def doubt_long_steps(method: str, turn: float) -> None:
    """Steps of a fixed length that move coordinates of loops very far; ``turn``: a part of what is certainly short enough."""
    if turn * LONGEST > VERY_FAR:
        warn(
            f"in a step of {method} a coordinate of a closed loop moves by up to {turn * LONGEST:.3g} rad (or typical lengths)"
            ": a singular position could be passed unseen, and the run is inaccurate. Give a shorter max_step."
        )


def loops_of(projection: str, on_singular: str) -> Loops:
    for name, value, known in (("projection", projection, PROJECTIONS), ("on_singular", on_singular, ON_SINGULAR)):
        if value not in known:
            raise StateError(f"{name} is {value!r}: use one of {', '.join(known)}")
    return Loops(
        project=projection != "none",
        go_on=on_singular == "warn",
        switch=on_singular == "pass",
        metric="mass" if projection == "mass" else "minimum_norm",
        near={"stop": NEAREST, "pass": NEAR, "warn": 0.0}[on_singular],
    )


def freedom_along(dynamics: Dynamics, times: Array, q: Array) -> int:
    """Degrees of freedom of a mechanism with loops: the least at three samples, since singular positions have more."""
    loops = Closures(dynamics)
    return min(freedom(loops, q[k], float(times[k])) for k in (0, len(q) // 2, -1))
