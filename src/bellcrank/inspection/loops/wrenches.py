"""What the equations of a closure hold: forces and moments, along the axes of its joint.

An axis triad of a joint is (e1, e2, axis), as it stands on its first body; on a point of body b, and oppositely on body a, act

    s, d2   forces along world axes, or along e1, e2, axis
    d1      moments about the common perpendicular of the two directions        (EQUATIONS 1.6, constraints/basic.py)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model import Closure, Model
from ...plan.closures import closing_axes

Array = NDArray[np.float64]

FORCE, MOMENT = 0, 3  # first entries in a wrench along the triad
ALL = tuple(range(6))
# What each joint holds, as places in a wrench (force, then moment, along e1, e2, axis).
HOLDS: dict[str, tuple[int, ...]] = {
    "fixed": ALL,
    "revolute": (0, 1, 2, 3, 4),
    "prismatic": (0, 1, 3, 4, 5),
    "cylindrical": (0, 1, 3, 4),
    "screw": (0, 1, 2, 3, 4),
    "universal": (0, 1, 2, 4),
    "planar": (2, 3, 4),
    "spherical": (0, 1, 2),
    "free": (),
    "point_on_line": (0, 1),
    "point_on_plane": (2,),
    "distance": (0, 1, 2),
    "coupler": (),
}


class Placed(NamedTuple):
    """Where bodies are; ground is the last row."""

    positions: Array  # (n + 1, 3)
    rotations: Array  # (n + 1, 3, 3)


def held_by(closure: Closure) -> str:
    """The kind of a closure's equations."""
    if closure.joint is None:
        return closure.kind
    return "fixed" if closure.motion is not None else closure.joint.kind


def triad(closure: Closure, placed: Placed) -> Array:
    """Columns e1, e2, axis in world axes; of a rod, the third is along it."""
    if closure.kind == "distance":
        along = _point(placed, closure.body_b, closure.point_b) - _point(placed, closure.body_a, closure.point_a)
        across = np.linalg.svd(along[None])[2][1:]
        return np.column_stack([across[0], across[1], along / np.linalg.norm(along)])
    axes = closing_axes(closure)
    E = np.asarray(placed.rotations[closure.body_a] @ axes)
    if held_by(closure) == "universal":  # its second axis is fixed to body b
        second = placed.rotations[closure.body_b] @ axes[:, 0]
        return np.column_stack([second, np.cross(E[:, 2], second), E[:, 2]])
    return E


def holding(closure: Closure, placed: Placed) -> Array:
    """(6, rows): the wrench on body b, at its point, along the triad, for a unit of each multiplier."""
    E = triad(closure, placed)
    kind = held_by(closure)
    W = np.zeros((6, closure.rows))
    if kind in ("spherical", "universal", "revolute", "fixed"):
        W[:3, :3] = E.T
    if kind == "universal":
        W[4, 3] = -1.0
    elif kind == "revolute":
        W[4, 3], W[3, 4] = 1.0, -1.0
    elif kind == "fixed":
        W[5, 3], W[3, 4], W[4, 5] = -1.0, -1.0, -1.0
    elif kind in ("cylindrical", "prismatic", "screw"):
        W[4, 0], W[3, 1], W[0, 2], W[1, 3] = 1.0, -1.0, 1.0, 1.0
        if kind == "prismatic":
            W[5, 4] = -1.0
        elif kind == "screw":
            assert closure.joint is not None and closure.joint.pitch is not None
            W[2, 4], W[5, 4] = 1.0, -closure.joint.pitch
    elif kind == "planar":
        W[4, 0], W[3, 1], W[2, 2] = 1.0, -1.0, 1.0
    elif kind == "point_on_line":
        W[0, 0] = W[1, 1] = 1.0
    elif kind == "point_on_plane":
        W[2, 0] = 1.0
    elif kind == "distance":
        W[2, 0] = 2.0 * closure.value
    return W


def carried(model: Model, placed: Placed, wrenches: Array) -> Array:
    """(n, 6) what the joints of the tree carry for wrenches of the closures (closures, 6), world axes, at b's points.

    Force, then moment about the joint's point: of each joint, against everything that acts on what it carries.
    """
    acting = np.zeros((model.n + 1, 6))  # about the world's origin
    for closure, wrench in zip(model.closures, wrenches, strict=True):
        if closure.kind == "coupler":
            continue
        point = _point(placed, closure.body_b, closure.point_b)
        about_origin = np.concatenate([wrench[:3], wrench[3:] + np.cross(point, wrench[:3])])
        acting[closure.body_b] += about_origin
        acting[closure.body_a] -= about_origin
    for row in reversed(_outward(model)):
        acting[model.parents[row]] += acting[row]
    own = -acting[:-1]
    own[:, 3:] -= np.cross(placed.positions[:-1], own[:, :3])
    return own


def _outward(model: Model) -> list[int]:
    """Rows, parents before children."""
    depth: dict[int, int] = {-1: 0}
    for row in range(model.n):
        way = [row]
        while way[-1] not in depth:
            way.append(model.parents[way[-1]])
        for k in reversed(way[:-1]):
            depth[k] = depth[model.parents[k]] + 1
    return sorted(range(model.n), key=depth.__getitem__)


def _point(placed: Placed, body: int, point: tuple[float, float, float]) -> Array:
    return np.asarray(placed.positions[body] + placed.rotations[body] @ np.array(point))
