"""Measures along the motion of a driven input. Those that depend on forces include the effort that drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dynamics.quantities.measures import measuring
from ...errors import StateError, warn
from ...model import Model
from ..state import compiled
from .closed_motion import actuator_efforts
from .kinematics import frozen

Array = NDArray[np.float64]


def measured_along(model: Model, driven: Any, names: Sequence[str]) -> Array:
    """(k, columns) at the positions of a Drive; not a number where no effort can move the input: at dead centres."""
    by_time = driven.input == "time"
    dyn = compiled(model if by_time else frozen(model, driven.t))
    times = driven.values if by_time else np.full(len(driven.values), driven.t)
    if not len(times):
        return np.zeros((0, len(names)))
    code = measuring(dyn, names)
    q, v, a = driven.q, driven.v, driven.a
    if by_time or not code.pushed:
        return dyn.measures(q, v, t=times, a=a, names=names)
    held = [name for name in driven.held if name in model.v_names]
    if driven.input not in model.v_names:
        warn(f"measures of forces are not known while {driven.input!r} is driven, which closes a loop: drive another joint")
        return _without_forces(dyn, driven, times, names)
    efforts = dyn.inverse_dynamics(q, v, a, t=times)
    efforts[:, list(model.state_places)] = 0.0  # states are held
    tau = np.full_like(efforts, np.nan)
    for k in range(len(times)):
        rows = slice(k, k + 1)
        try:
            tau[rows] = actuator_efforts(dyn, q[rows], times[rows], efforts[rows], (driven.input, *held))[0]
        except StateError:  # a dead centre
            continue
    good = np.isfinite(tau).all(axis=1)
    found = _without_forces(dyn, driven, times, names)
    if good.any():
        found[good] = dyn.measures(q[good], v[good], tau[good], t=times[good], a=a[good], names=names)
    return found


def _without_forces(dyn: Any, driven: Any, times: Array, names: Sequence[str]) -> Array:
    """The measures with those that depend on forces of loops replaced by NaN."""
    plain = [k for k, name in enumerate(names) if not measuring(dyn, [name]).pushed]
    found = np.full((len(times), len(names)), np.nan)
    if plain:
        found[:, plain] = dyn.measures(driven.q, driven.v, t=times, a=driven.a, names=[names[k] for k in plain])
    return found
