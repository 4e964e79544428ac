"""Starts that cannot go on: prescribed motions that contradict each other, and mechanisms that cannot move at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...assembly.locking import locked_by
from ...assembly.loops import Loops
from ...dynamics.dynamics import Dynamics
from ...errors import StateError
from ...spatial.rank import LENIENT
from ...wording import argument

Array = NDArray[np.float64]

_AGREE = 1e-6  # of the accelerations at hand
_LARGEST = 1_000_000  # entries of the matrix of closures for which mobility is asked


def must_agree(dynamics: Dynamics, start: dict[str, Array], t: float) -> None:
    """Checks that the accelerations at the start satisfy all equations of the closures, redundant ones too."""
    q, v, a = start["q"], start["v"], start["a"]
    gamma = dynamics.closure_bias(q, v, t=t)
    moved, driven = (dynamics.closure(q, x, t=t)[1] for x in (a, np.zeros_like(a)))  # G a without G
    left = np.abs(moved - driven - gamma)
    small = dynamics.plan.loads.closing.rows * dynamics.model.nv <= _LARGEST
    if not small and not (left > _AGREE * np.maximum(np.abs(gamma), dynamics.plan.length)).any():
        return
    G = dynamics.closure_jacobian(q, t=t)
    size = np.abs(G) @ np.abs(a) + np.abs(gamma)
    misaligned = LENIENT * dynamics.plan.tolerance * size.max(initial=0.0)  # what an equation that counts as redundant may add
    wrong = np.flatnonzero(left > _AGREE * np.maximum(size, dynamics.plan.length) + misaligned)
    if len(wrong):
        raise StateError(_contradiction(dynamics, int(wrong[np.argmax(left[wrong])]), float(left.max())))
    if small and not dynamics.plan.loads.motions:
        _must_move(Loops(dynamics), q, t)


def _contradiction(dynamics: Dynamics, row: int, left: float) -> str:
    model = dynamics.model
    name = model.closures[int(np.searchsorted(model.closure_index, row, side="right")) - 1].name
    driven = [n for n, d in zip(model.joint_names, model.driven, strict=True) if d]
    driven += [closure.name for closure in model.closures if closure.motion is not None]
    what = f"the prescribed motions of {', '.join(driven)} contradict each other" if driven else "the closed loops contradict"
    return (
        f"model {model.name!r}: {what}: at the start {name!r} would need another acceleration, by {left:.3g} m/s2 (or rad/s2). "
        "Leave one of them out, or make the laws agree."
    )


def _must_move(loops: Loops, q: Array, t: float) -> None:
    model = loops.model
    if model.nv and loops.rank(q, t) == model.nv:
        axis = locked_by(loops, q, t)
        misaligned = "redundant equations that are slightly misaligned lock a mechanism too"
        remedy = f"Look at its check: {misaligned} ({argument('rank_tolerance')})"
        raise StateError(
            f"model {model.name!r} cannot move: its closed loops leave no degree of freedom, and nothing drives it. "
            f"{axis[0].upper() + axis[1:] if axis else remedy}."
        )
