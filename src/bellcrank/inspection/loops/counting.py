"""Degrees of freedom by counting (Gruebler, Kutzbach), which knows nothing of lengths and angles.

In space every closure takes as many as it has equations. Where all axes of a block are parallel its bodies move in planes, and
what a closure demands across the plane is not counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...joints import Joint
from ...joints.derived import freedoms
from ...model import Closure, Model
from ...plan.closures import closing_axes
from ...plan.equation_blocks import EquationBlock

Array = NDArray[np.float64]

PARALLEL = 1e-9


def spatial_count(model: Model) -> int:
    """6 for each body, less what every joint and closure takes."""
    return model.nv - len(model.state_places) - int(model.closure_index[-1])


def planar_count(model: Model, found: list[EquationBlock]) -> int | None:
    """The count with closures of planar blocks counted in their plane; None where no block is planar."""
    total, planar = model.nv - len(model.state_places), False
    owners = joint_of_dofs(model)
    for block in found:
        closures = closures_of(model, block)
        normal = _normal(closures, [model.joints[row] for row in sorted({owners[k] for k in block.columns})])
        if normal is None:
            total -= len(block.rows)
        else:
            planar = True
            total -= sum(_in_plane(closure, normal) or 0 for closure in closures)
    return total if planar else None


def joint_of_dofs(model: Model) -> list[int]:
    """Row of the joint of each entry of v."""
    return [row for row in range(model.n) if not model.driven[row] for _ in range(model.joints[row].nv)]


def closures_of(model: Model, block: EquationBlock) -> list[Closure]:
    at = np.searchsorted(model.closure_index, block.rows, side="right") - 1
    return [model.closures[k] for k in np.unique(at)]


def _normal(closures: list[Closure], joints: list[Joint]) -> Array | None:
    """The direction across the plane in which all of them move, if there is one."""
    hinges = [joint.axis for joint in (*joints, *(c.joint for c in closures)) if joint is not None and joint.kind == "revolute"]
    if not hinges or hinges[0] is None:
        return None
    normal = np.array(hinges[0])
    if not all(_flat(joint, normal) for joint in joints):
        return None
    return normal if all(_in_plane(closure, normal) is not None for closure in closures) else None


def _flat(joint: Joint, normal: Array) -> bool:
    return bool((np.abs(_freedoms(joint, normal)[1]) < PARALLEL).all())


def _in_plane(closure: Closure, normal: Array) -> int | None:
    """Equations that matter in the plane; None for what may lead out of it."""
    if closure.joint is None:
        if closure.axis is None:
            return 1
        if closure.axis2 is not None:
            return _axes_in_plane(closure, normal)
        along = {"point_on_line": 2, "point_on_plane": 0}[closure.kind]
        return along if _parallel(closure.axis, normal) else 1 if _across(closure.axis, normal) else None
    if closure.motion is not None or closure.joint.nv == 0:
        return 3
    inside, outside = _freedoms(closure.joint, normal)
    free, turns, all_outside = _rank(inside), _rank(outside[:, :3]), _rank(outside)
    if free == 0 or turns == 1 or free + all_outside != closure.joint.nv:  # a turn out of the plane, or a screw
        return None
    return 3 - free


def _axes_in_plane(closure: Closure, normal: Array) -> int | None:
    """Two axes in the plane stay perpendicular by one equation; one across the plane is so to all that lie in it."""
    across = [_across(axis, normal) for axis in (closure.axis, closure.axis2)]
    along = [_parallel(axis, normal) for axis in (closure.axis, closure.axis2)]
    return 1 if all(across) else 0 if any(along) and any(across) else None


def _freedoms(joint: Joint, normal: Array) -> tuple[Array, Array]:
    """The freedoms of a joint in the plane and out of it, (nv, 6) each: turns, then slides, in the design position."""
    A = closing_axes(Closure("", "joint", joint=joint))
    S = freedoms(type(joint), joint.pitch or 0.0) @ np.kron(np.eye(2), A).T
    across = np.outer(normal, normal)
    turns, slides = S[:, :3] @ across, S[:, 3:] @ across
    inside = np.hstack([turns, S[:, 3:] - slides])
    return inside, S - inside


def _rank(rows: Array) -> int:
    return int(np.linalg.matrix_rank(rows, tol=PARALLEL)) if rows.size else 0


def _parallel(axis: object, normal: Array) -> bool:
    return axis is not None and float(np.abs(np.cross(np.array(axis), normal)).max()) < PARALLEL


def _across(axis: object, normal: Array) -> bool:
    return axis is not None and abs(float(np.array(axis) @ normal)) < PARALLEL
