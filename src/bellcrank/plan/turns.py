"""How far the coordinates of closed loops may move in one step of a run.

A run notices a singular position because a direction of constraint is reversed from one step to the next
(machine.steps.projection). Two reversals in one step cancel. Coordinates in loops therefore move by at most LONGEST in a step:
singular positions that are nearer to each other than that would be needed to hide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model import Model

Array = NDArray[np.float64]

LONGEST = 0.3  # rad, or typical lengths
FINE = 1e-3 / LONGEST  # part of LONGEST below which a step to a singular position is not divided further


def turn_weights(model: Model, length: float) -> Array:
    """w (nq,): a step in which |w_i dq_i| <= 1 is short enough; zero for coordinates that are in no loop.

    A quaternion changes by half the angle.
    """
    weights = np.zeros(model.nq)
    for i in sorted(loop_joints(model)):
        joint, at = model.joints[i], int(model.q_index[i])
        if model.driven[i] or joint.nq == 0:
            continue
        if joint.quaternion is None:
            weights[at : at + joint.nq] = [1.0 if unit.startswith("rad") else 1.0 / length for unit in joint.v_units]
        else:
            weights[at : at + joint.quaternion] = 1.0 / length
            weights[at + joint.quaternion : at + joint.quaternion + 4] = 2.0
    return weights / LONGEST


def loop_joints(model: Model) -> set[int]:
    """Joints of the tree between the two bodies of a closure, or of a cam; the direction of other couplers never changes."""
    found: set[int] = set()
    for closure in model.closures:
        if closure.kind == "coupler":
            found |= {body for body, _, _ in closure.terms if closure.curve is not None}
        else:
            found |= _to_ground(model, closure.body_a) ^ _to_ground(model, closure.body_b)
    return found


def _to_ground(model: Model, body: int) -> set[int]:
    path = set()
    while body >= 0:
        path.add(body)
        body = int(model.parents[body])
    return path
