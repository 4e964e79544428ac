"""Body frames to compute in: joint axis on z, and placements by plane turns (modified Denavit-Hartenberg).

The user's frames are parallel to the world's in the design position, with origins at the joints. The recursion runs in
frames of its own choice, K = (rotation, origin) in the user's frame of each body, since two plane turns per joint cost
150 operations less than a full rotation. A body's frame is free to turn about its joint's axis and to slide along it:
both are chosen for the first child's sake, so that its placement is Rx(alpha), offset (a, 0, d).

Guards: no slide beyond twice the joint's offset (nearly parallel axes would put the origin far away and lose digits);
``style="full"`` keeps the origins at the joints and takes full rotations, where derivatives with respect to axes and
placements exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..model import Model
from .tree import Tree

Array = NDArray[np.float64]
Style = Literal["plane", "full"]

_PARALLEL = 1e-10  # sine of the angle below which two axes count as parallel
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
    ground_rotation: Array
    ground_origin: Array
    gamma: Array
    alpha: Array
    rest: Array
    offset: Array
    turn: Array  # (n,3,3) for joints placed by a full rotation


def choose_frames(model: Model, tree: Tree, style: Style = "plane") -> Frames:
    n = tree.n
    joints = [model.joints[i] for i in tree.order]
    position = model.position[list(tree.order)]
    axes = np.array([_axis_to_z(joint.axis) if joint.has_axis else np.eye(3) for joint in joints]).reshape(n, 3, 3)
    spin, slide = np.zeros(n), np.zeros(n)
    if style == "plane":
        for i in range(n):
            if joints[i].has_axis and tree.children[i] and joints[tree.children[i][0]].has_axis:
                first = tree.children[i][0]
                spin[i], slide[i] = _common_normal(axes[i].T @ axes[first], axes[i].T @ position[first])
    ground = (axes[0], position[0]) if len(tree.roots) == 1 and joints[0].has_axis and style == "plane" else None
    frames = Frames(
        style=style,
        rotation=np.zeros((n, 3, 3)),
        origin=np.zeros((n, 3)),
        ground_rotation=ground[0] if ground else np.eye(3),
        ground_origin=ground[1].copy() if ground else np.zeros(3),
        gamma=np.zeros(n),
        alpha=np.zeros(n),
        rest=np.zeros(n),
        offset=np.zeros((n, 3)),
        turn=np.zeros((n, 3, 3)),
    )
    for i in range(n):
        _place(frames, i, tree, joints[i].has_axis, joints[i].kind == "fixed", position[i], axes[i], spin[i], slide[i])
    return frames


def _place(
    frames: Frames,
    i: int,
    tree: Tree,
    has_axis: bool,
    fixed: bool,
    position: Array,
    axes: Array,
    spin: float,
    slide: float,
) -> None:
    """Fill in the frame of body i and its placement on its parent's frame."""
    p = tree.parent[i]
    R = frames.rotation[p] if p >= 0 else frames.ground_rotation
    o = frames.origin[p] if p >= 0 else frames.ground_origin
    axes = R if fixed else axes  # a fixed body takes its parent's axes
    relative, offset = R.T @ axes, R.T @ (position - o)
    frames.rotation[i] = axes @ _rz(spin)
    frames.origin[i] = axes @ np.array([0.0, 0.0, slide])
    if not has_axis or frames.style == "full":
        frames.turn[i], frames.offset[i] = _snap(relative), offset
        return
    gamma, alpha, rest = _zxz(relative)
    if p >= 0 and tree.children[p][0] == i and abs(np.sin(gamma)) < 1e-12 and np.cos(gamma) > 0:
        gamma = 0.0  # the parent's frame was turned to make it so
    between = (_rz(gamma) @ _rx(alpha)).T @ offset
    between[2] += slide
    between[np.abs(between) < 1e-16 * max(1.0, np.abs(offset).max(initial=0.0))] = 0.0
    frames.gamma[i], frames.alpha[i], frames.rest[i] = gamma, alpha, rest + spin
    frames.offset[i] = between


def _common_normal(R: Array, p: Array) -> tuple[float, float]:
    """Turn about z and slide along z that bring x onto the common normal of z and the axis R e_z through p."""
    z = R[:, 2]
    normal = np.array([-z[1], z[0], 0.0])
    sine = float(np.linalg.norm(normal))
    if sine < _PARALLEL:
        return (float(np.arctan2(p[1], p[0])) if np.hypot(p[0], p[1]) > 1e-12 else 0.0), 0.0
    u = normal / sine
    foot = float(np.linalg.solve(np.column_stack([[0.0, 0.0, 1.0], u, z]), p)[0])
    far = abs(foot) > _FARTHEST * float(np.linalg.norm(p))
    return float(np.arctan2(u[1], u[0])), 0.0 if far else foot


def _zxz(R: Array) -> tuple[float, float, float]:
    """Angles of R = Rz(gamma) Rx(alpha) Rz(rest)."""
    z = R[:, 2]
    sine = float(np.hypot(z[0], z[1]))
    gamma = float(np.arctan2(z[0], -z[1])) if sine >= _PARALLEL else 0.0
    alpha = float(np.arctan2(sine, z[2]))
    if sine < _PARALLEL:
        alpha = 0.0 if z[2] > 0 else np.pi
    left = (_rz(gamma) @ _rx(alpha)).T @ R
    return gamma, alpha, float(np.arctan2(left[1, 0], left[0, 0]))


def _axis_to_z(axis: tuple[float, float, float] | None) -> Array:
    """A rotation whose third column is the axis; a permutation of the axes where that is possible."""
    z = np.array(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _snap(R: Array) -> Array:
    """Entries that are 0 or +-1 but for rounding become exact, so that they fold."""
    near = np.round(R)
    return np.where(np.abs(R - near) < 1e-15, near, R)


def _rz(t: float) -> Array:
    s, c = np.sin(t), np.cos(t)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _rx(t: float) -> Array:
    s, c = np.sin(t), np.cos(t)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
