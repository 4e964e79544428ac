"""Body frames to compute in: joint axis on z, and placements by plane turns (modified Denavit-Hartenberg).

The user's frames are parallel to the world's in the design position, with origins at the joints. The recursion runs in
frames of its own choice, K = (rotation, origin) in the user's frame of each body, since two plane turns per joint cost
150 operations less than a full rotation. A body's frame is free to turn about its joint's axis and to slide along it:
both are chosen for the first child's sake, so that its placement is Rx(alpha), offset (a, 0, d).

Guards: no slide beyond twice the joint's offset (nearly parallel axes would put the origin far away and lose digits);
``style="full"`` keeps the origins at the joints and takes full rotations.

What a design can change moves smoothly: a joint whose axis, or whose parent's, depends on it is placed by a full rotation, and
spins and slides are those of the design that the model starts with, so that placements are linear in the joints' points. The
ground's frame then is fixed in the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from ..numbers.variable import as_array, on_constants, values_of, varied
from .order import Tree

Array = NDArray[np.float64]
Style = Literal["plane", "full"]

_ROUNDING = 1e-15  # what a few operations on numbers of order one may be off; axes closer than this are parallel
_FARTHEST = 2.0  # slide of an origin along its axis, in joint offsets


@dataclass(frozen=True)
class Frames:
    """Frames of the walk's bodies; angles and offsets place each joint on its parent's frame.

    plane: parent -> Rz(gamma) -> Rx(alpha) -> offset -> joint -> Rz(rest)
    full:  parent -> offset, rotation -> joint
    """

    style: Style
    rotation: Array  # (n,3,3) columns: axes of K in the user's body axes
    origin: Array  # (n,3)
    plane: NDArray[np.bool_]  # (n,) placed by plane turns
    ground_rotation: Array
    ground_origin: Array
    gamma: Array
    alpha: Array
    rest: Array
    offset: Array
    turn: Array  # (n,3,3) for joints placed by a full rotation

    @property
    def placement(self) -> Array:
        """Offsets in the axes of the parents; (n,3)."""
        return _apply(_rz(self.gamma) @ _rx(self.alpha), self.offset)


def choose_frames(model: Model, tree: Tree, style: Style = "plane") -> Frames:
    n, order, parent = tree.n, list(tree.order), np.array(tree.parent)
    joints = [model.joints[i] for i in order]
    has_axis = np.array([joint.has_axis for joint in joints])
    plane = np.array([joint.plane for joint in joints]) & (style == "plane")
    turns_freely = plane & np.array([joint.turns_freely for joint in joints])
    fixed = np.array([joint.kind == "fixed" for joint in joints])
    position = model.position[order]
    turned = axes_to_z(
        as_array([joint.axis for joint in joints if joint.has_axis]).reshape(-1, 3),
        [joint.axis2 for joint in joints if joint.has_axis],
    )
    axes = np.tile(np.eye(3), (n, 1, 1)).astype(turned.dtype)
    axes[has_axis] = turned
    moves = _moving(axes, fixed, tree.parent)
    general = moves | (moves[parent] & (parent >= 0))
    plane, turns_freely = plane & ~general, turns_freely & ~general
    first = np.append(parent[1:] == np.arange(n - 1), False)  # the first child of a body is the next in the walk
    spin, slide = np.zeros(n), np.zeros(n)
    if style == "plane":
        i = np.flatnonzero(first & turns_freely & np.append(plane[1:], False))
        inverse = np.swapaxes(axes[i], 1, 2)
        spin[i], slide[i] = _common_normals(values_of(inverse @ axes[i + 1]), values_of(_apply(inverse, position[i + 1])))
    ground_rotation = values_of(axes[0]) if len(tree.roots) == 1 and plane[0] else np.eye(3)
    carried = n > 0 and not model.has_variables  # one of the joints on ground need not be carried there
    ground_origin = position[0].copy() if carried else np.zeros(3)
    rotation = axes @ _rz(spin)
    for k in np.flatnonzero(fixed):  # a fixed body takes its parent's axes
        axes[k] = rotation[k] = rotation[parent[k]] if parent[k] >= 0 else ground_rotation
    origin = axes[:, :, 2] * slide[:, None]
    base_rotation = np.where((parent >= 0)[:, None, None], rotation[parent], ground_rotation)
    base_origin = np.where((parent >= 0)[:, None], origin[parent], ground_origin)
    inverse = np.swapaxes(base_rotation, 1, 2)
    relative, offset = inverse @ axes, _apply(inverse, position - base_origin)
    gamma, alpha, rest = _zxz(values_of(relative))
    between = _apply(np.swapaxes(_rz(gamma) @ _rx(alpha), 1, 2), offset)
    between[:, 2] += slide
    lengths = [np.linalg.norm(values_of(x), axis=1) for x in (position, base_origin)]
    small = _ROUNDING * (lengths[0] + lengths[1] + np.abs(slide))[:, None]
    between = on_constants(lambda x: np.where(np.abs(x) < small, 0.0, x), between)
    return Frames(
        style=style,
        rotation=rotation,
        origin=origin,
        plane=plane,
        ground_rotation=ground_rotation,
        ground_origin=ground_origin,
        gamma=np.where(plane, gamma, 0.0),
        alpha=np.where(plane, alpha, 0.0),
        rest=np.where(plane, rest + spin, 0.0),
        offset=np.where(plane[:, None], between, offset),
        turn=np.where(plane[:, None, None], 0.0, on_constants(_snap, relative)),
    )


def settled(frames: Frames) -> Frames:
    """The frames of the design that a model starts with."""
    arrays = ("rotation", "origin", "ground_rotation", "ground_origin", "gamma", "alpha", "rest", "offset", "turn")
    values: dict[str, Any] = {name: values_of(getattr(frames, name)) for name in arrays}
    return replace(frames, **values)


def _moving(axes: Array, fixed: NDArray[np.bool_], parent: tuple[int, ...]) -> NDArray[np.bool_]:
    """Bodies whose axes a design can turn; a fixed body has its parent's."""
    moves: NDArray[np.bool_] = np.asarray(varied(axes).any(axis=(1, 2)))
    for k in np.flatnonzero(fixed):
        moves[k] = parent[k] >= 0 and moves[parent[k]]
    return moves


def _common_normals(R: Array, p: Array) -> tuple[Array, Array]:
    """Turns about z and slides along z that bring x onto the common normal of z and the axis R e_z through p."""
    z = R[:, :, 2]
    sine = np.hypot(z[:, 0], z[:, 1])
    parallel = sine < _ROUNDING
    across = np.hypot(p[:, 0], p[:, 1]) > 1e-12
    spin = np.where(parallel, np.where(across, np.arctan2(p[:, 1], p[:, 0]), 0.0), np.arctan2(z[:, 0], -z[:, 1]))
    safe = np.where(parallel, 1.0, sine)
    along = (p[:, 0] * z[:, 0] + p[:, 1] * z[:, 1]) / safe**2  # of the axis, from p to the foot of the normal
    foot = p[:, 2] - along * z[:, 2]
    far = np.abs(foot) > _FARTHEST * np.linalg.norm(p, axis=1)
    return spin, np.where(parallel | far, 0.0, foot)


def _zxz(R: Array) -> tuple[Array, Array, Array]:
    """Angles of R = Rz(gamma) Rx(alpha) Rz(rest); gamma is zero where that is right but for rounding, and then folds."""
    z = R[:, :, 2]
    sine = np.hypot(z[:, 0], z[:, 1])
    parallel = sine < _ROUNDING
    straight = parallel | ((np.abs(z[:, 0]) < _ROUNDING) & (z[:, 1] < 0))
    gamma = np.where(straight, 0.0, np.arctan2(z[:, 0], -z[:, 1]))
    alpha = np.where(parallel, np.where(z[:, 2] > 0, 0.0, np.pi), np.arctan2(sine, z[:, 2]))
    left = np.swapaxes(_rz(gamma) @ _rx(alpha), 1, 2) @ R
    return gamma, alpha, np.arctan2(left[:, 1, 0], left[:, 0, 0])


def axes_to_z(z: Array, axis2: Sequence[tuple[float, float, float] | Array | None]) -> Array:
    """Rotations whose third columns are the axes, and first columns the second axes where there are such.

    Elsewhere permutations of the coordinate axes where that is possible. An axis that a design can turn takes its frame with
    it by the shortest way from where the model starts.
    """
    if z.dtype == object or any(x is not None and varied(as_array(x)).any() for x in axis2):
        return _turning_axes(z, axis2)
    helper = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for k, given in enumerate(axis2):
        if given is not None:
            x[k] = values_of(given)
    return np.stack([x, np.cross(z, x), z], axis=2)


def _turning_axes(z: Array, axis2: Sequence[tuple[float, float, float] | Array | None]) -> Array:
    """x = x0 + w x x0 + w x (w x x0) / (1 + cos), w = z0 x z: where z is not the opposite of z0."""
    at_start = axes_to_z(values_of(z), [None if x is None else values_of(x) for x in axis2])
    x = at_start[:, :, 0].astype(object)
    for k, given in enumerate(axis2):
        if given is not None:
            x[k] = given
        elif varied(z[k]).any():
            x0, z0 = at_start[k, :, 0], at_start[k, :, 2]
            w = np.cross(z0, z[k])
            x[k] = x0 + np.cross(w, x0) + np.cross(w, np.cross(w, x0)) / (1.0 + np.dot(z0, z[k]))
    return np.stack([x, np.cross(z, x), z], axis=2)


def frame_of(frames: Frames, place: dict[int, int], body: int) -> tuple[Array, Array]:
    """Rotation and origin of a body of the model (-1: ground) in the user's frame of it."""
    if body < 0:
        return frames.ground_rotation, frames.ground_origin
    return frames.rotation[place[body]], frames.origin[place[body]]


def _apply(matrices: Array, vectors: Array) -> Array:
    return np.einsum("nij,nj->ni", matrices, vectors)


def _snap(R: Array) -> Array:
    """Entries that are 0 or +-1 but for rounding become exact, so that they fold."""
    near = np.round(R)
    return np.where(np.abs(R - near) < 1e-15, near, R)


def _rz(angle: Array) -> Array:
    s, c, o, i = np.sin(angle), np.cos(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, -s, o, s, c, o, o, o, i], axis=-1).reshape(-1, 3, 3)


def _rx(angle: Array) -> Array:
    s, c, o, i = np.sin(angle), np.cos(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([i, o, o, o, c, -s, o, s, c], axis=-1).reshape(-1, 3, 3)
