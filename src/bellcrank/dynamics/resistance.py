"""Does mass resist every motion that closed loops leave? What a joint moves may have no inertia while the loops are open.

A combination z of the velocities of such a joint, all others being still, has no kinetic energy: M z = 0. The closed mechanism
has a motion without inertia, whose acceleration would be 0/0, if some of these combinations together satisfy the closures,
G Z y = 0. This compares no masses with each other, only equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from ..model.building.resistance import Unresisted, unresisted_with_open_loops
from ..plan.row_selection import comparable_rows, slides
from ..spatial.rank import rank_of
from ..wording import argument
from .generic import configurations

if TYPE_CHECKING:
    from .evaluation import Evaluation


def light_joints(model: Model) -> Sequence[Unresisted]:
    """Joints of a closed mechanism that move no inertia in one of their directions while the loops are open."""
    return unresisted_with_open_loops(model) if model.closures and not model.kinematic else ()


def why_not_with_open_loops(model: Model, light: Sequence[Unresisted]) -> str:
    """Of the multipliers, which take the motion of the tree with its loops open: why they have no answer, if so."""
    if not light:
        return ""
    return (
        f"the multipliers take the motion with all loops open, and then {_named(model, light[0])}. "
        f"Use {argument('formulation', 'coordinate_reduction')}, or give the body inertia or the joint an armature"
    )


def why_not(dynamics: Evaluation, light: Sequence[Unresisted]) -> str:
    """Why a closed mechanism has no accelerations, if some of the motions that its loops leave have no inertia."""
    model = dynamics.model
    where = next(configurations(dynamics, np.array(model.given_q)), None) if light else None
    if where is None:
        return ""
    Z = _columns(model, light, where[0]) / dynamics.plan.length ** slides(model)[:, None]
    Z = Z / np.linalg.norm(Z, axis=0)
    _, s, Vt = np.linalg.svd(comparable_rows(dynamics, *where) @ Z)
    left = Vt[rank_of(s, dynamics.plan.tolerance, unit=1.0) :]
    if not len(left):
        return ""
    k = int(np.abs(Z @ left[0]).argmax())
    joint = next(one for one in light if 0 <= k - model.v_index[one.joint] < model.joints[one.joint].nv)
    return (
        f"{_named(model, joint)}, and the loops do not hinder that: its acceleration is undetermined. "
        "Give the body inertia (a rod: a radius), give the joint an armature, or choose another joint"
    )


def _named(model: Model, light: Unresisted) -> str:
    joint, body = model.joint_names[light.joint], model.body_names[light.joint]
    return f'joint "{joint}" moves body "{body}" without any inertia in one of its directions'


def _columns(model: Model, light: Sequence[Unresisted], q: NDArray[np.float64]) -> NDArray[np.float64]:
    columns = []
    for one in light:
        joint, first, at = model.joints[one.joint], model.v_index[one.joint], model.q_index[one.joint]
        ways = one.ways(joint, q[at : at + joint.nq].tolist())
        columns.append(np.zeros((model.nv, ways.shape[1])))
        columns[-1][first : first + joint.nv] = ways
    return np.hstack(columns)
