"""Derivatives of inverse dynamics along a given motion: what it takes, by the parameters of a design.

The motion that is given does not depend on the design; coordinates that follow from the loops do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...analyses.motions.closed_motion import given_motion, held_by
from ...analyses.motions.inverse import inverse_motion
from ...analyses.state import input_values
from ...assembly.loops import HeldCoordinates
from ...design import Design
from ...dynamics.dynamics import Dynamics
from ...errors import StateError
from ...results import Run
from .equations import Array, Equations, Solved
from .motion import DifferentiatedMotion
from .own_states import along_motion


def motion_with_efforts(
    design: Design,
    motion: Mapping[str, Any] | Run,
    times: ArrayLike | None,
    inputs: ArrayLike | None,
    actuated: Sequence[str] | None,
) -> tuple[Array, DifferentiatedMotion]:
    """The times, and the motion with its derivatives."""
    model = design.base
    if model.closures and isinstance(motion, Run):
        raise StateError(
            "the motion of a run closes the loops of one design only: give the coordinates that lead it, as tables"
        )
    found = inverse_motion(model, motion, times, inputs=inputs, actuated=actuated)
    q, v, a = (np.ascontiguousarray(found[name].values) for name in ("q", "v", "a"))
    at = np.asarray(found["time"].values, dtype=float)
    dynamics = Dynamics(model, "multipliers" if model.closures else "auto", optimisation=0, design=design)
    equations = Equations(dynamics, design, at, input_values(dynamics, inputs))
    dq = np.zeros((len(at), model.nq, equations.count))
    if not model.closures:
        still = np.zeros((len(at), model.nv, equations.count))
        moved = DifferentiatedMotion(equations, q, v, a, dq, still, still, HeldCoordinates.none(model), ())
        return at, moved if isinstance(motion, Run) else _with_states(moved)
    assert not isinstance(motion, Run)
    held = held_by(model, motion)
    solved = Solved(equations, q, held, None, lambda k: f"t = {at[k]:.6g} s")
    moved = _with_states(DifferentiatedMotion.following(equations, solved, (q, v, a), dq, held))
    return at, moved.acted_on(given_motion(model, motion) if actuated is None else tuple(actuated))


def _with_states(moved: DifferentiatedMotion) -> DifferentiatedMotion:
    """The motion with user-defined states, which are integrated along it."""
    own = list(moved.equations.model.state_places)
    if not own or moved.da is None:
        return moved
    dv, da = moved.dv.copy(), moved.da.copy()
    dv[:, own], da[:, own] = along_motion(moved.equations, (moved.q, moved.v, moved.a), (moved.dq, moved.dv, moved.da))
    return replace(moved, dv=dv, da=da)
