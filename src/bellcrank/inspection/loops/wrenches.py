"""Forces and moments that the equations of a closure transmit, along the axes of its joint.

An axis triad of a joint is (e1, e2, axis), as it stands on its first body. The equations themselves (constraints/basic.py) say
what each of them is on a point of body b, and oppositely on body a, for a unit of its multiplier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...constraints import Frame, Given, Law
from ...joints import JOINTS, closing_equations
from ...joints.derived import held_places
from ...model import Closure, Model
from ...plan.closures import closing_axes
from ...spatial import Matrix, Vector
from ...spatial.vector import ZERO

Array = NDArray[np.float64]


class PlacedModel(NamedTuple):
    """Poses of the bodies; ground is the last row."""

    positions: Array  # (n + 1, 3)
    rotations: Array  # (n + 1, 3, 3)


def held_by(closure: Closure) -> str:
    """The kind of a closure's equations."""
    if closure.joint is None:
        return closure.kind
    return "fixed" if closure.motion is not None else closure.joint.kind


def held_along(closure: Closure) -> tuple[int, ...]:
    """Places in a wrench (force, then moment, along e1, e2, axis) that it may hold."""
    if closure.joint is None:
        return {"point_on_line": (0, 1), "perpendicular": (4,)}.get(closure.kind, (2,))
    return held_places(JOINTS[held_by(closure)])


def triad(closure: Closure, placed: PlacedModel) -> Array:
    """Columns e1, e2, axis in world axes; of a rod, the third is along it."""
    if closure.kind == "distance":
        along = _point(placed, closure.body_b, closure.point_b) - _point(placed, closure.body_a, closure.point_a)
        across = np.linalg.svd(along[None])[2][1:]
        return np.column_stack([across[0], across[1], along / np.linalg.norm(along)])
    axes = closing_axes(closure)
    E = np.asarray(placed.rotations[closure.body_a] @ axes)
    own = closure.joint is not None and closure.joint.axis2_on_child and closure.motion is None
    if own or closure.kind == "perpendicular":
        second = placed.rotations[closure.body_b] @ axes[:, 0]
        return np.column_stack([second, np.cross(E[:, 2], second), E[:, 2]])
    return E


def holding(closure: Closure, placed: PlacedModel) -> Array:
    """(6, rows): the wrench on body b, at its point, along the triad, for a unit of each multiplier."""
    E = triad(closure, placed)
    ends = [(closure.body_a, closure.point_a), (closure.body_b, closure.point_b)]
    if closure.joint is not None and closure.motion is not None:  # its frame on a moves along with b
        ends[0] = ends[1]
    i, j = (_frame(closure, placed, *end) for end in ends)
    pitch = closure.joint.pitch if closure.joint is not None else None
    given = Given(Matrix.identity(), Law(closure.value), pitch or 0.0)
    acting = [equation.on_j for equation in closing_equations(held_by(closure), i, j, given)]
    return np.vstack([E.T @ np.array([list(on_b.f) for on_b in acting]).T, E.T @ np.array([list(on_b.n) for on_b in acting]).T])


def _frame(closure: Closure, placed: PlacedModel, body: int, point: tuple[float, float, float]) -> Frame:
    """The frame of a closure on a body, at rest."""
    A = (placed.rotations[body] @ closing_axes(closure)).tolist()
    return Frame(Matrix(*[Vector(*row) for row in A]), Vector(*_point(placed, body, point).tolist()), ZERO, ZERO)


def carried(model: Model, placed: PlacedModel, wrenches: Array) -> Array:
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


def _point(placed: PlacedModel, body: int, point: tuple[float, float, float]) -> Array:
    return np.asarray(placed.positions[body] + placed.rotations[body] @ np.array(point))
