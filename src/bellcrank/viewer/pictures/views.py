"""Parallel views of the world: which directions are to the right, up and towards the eye."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import StateError
from ...wording import argument, did_you_mean
from ..scene import Array, Scene

VIEWS = ("auto", "front", "top", "side", "iso")
IN_A_PLANE = ("revolute", "prismatic", "planar", "fixed", "distance", "point_on_line", "point_on_plane")  # where all may move
PLANAR_PART = 0.8  # part of the axes that must be parallel for a mechanism to be drawn in its plane
# where the eye of "iso" is: so far to the right, to the front and up; "auto" takes the one of these that shows the joints apart
AXONOMETRIC = ((0.55, 0.75, 0.5), (-0.55, 0.75, 0.5), (0.8, 0.5, 0.45), (-0.8, 0.5, 0.45), (0.25, 0.9, 0.5), (-0.25, 0.9, 0.5))


@dataclass(frozen=True)
class View:
    """Rows of ``axes``: right, up, towards the eye; orthonormal."""

    axes: Array
    title: str

    def project(self, points: Array) -> Array:
        """(..., 2) of points (..., 3) of the world."""
        return np.asarray(points @ self.axes[:2].T)

    def depth(self, points: Array) -> Array:
        """The nearness to the eye."""
        return np.asarray(points @ self.axes[2])


def view_of(scene: Scene, name: str) -> View:
    """The view of a name. "auto" looks at a planar mechanism along the normal of its plane, and at others as "iso"."""
    if name not in VIEWS:
        raise StateError(f"{argument('view')} is {name!r}{did_you_mean(name, VIEWS)}: choose from {', '.join(VIEWS)}")
    up = up_of(scene)
    front = _facing(_front(up), up)
    right, toward = front[0], front[2]
    normal = _plane(scene) if name == "auto" else None
    if normal is not None:
        return View(_facing(normal, up), "")
    axes = {"front": front, "top": np.array([right, -toward, up]), "side": np.array([-toward, up, right])}
    if name in ("auto", "iso"):
        eyes = [View(_facing(np.array(eye) @ np.array([right, toward, up]), up), "axonometric view") for eye in AXONOMETRIC]
        return eyes[0] if name == "iso" else max(eyes, key=lambda eye: _apart(scene, eye))
    return View(axes[name], f"{name} view")


def _apart(scene: Scene, view: View) -> float:
    """How far apart the joints are on paper: the sum of the distances from each to the nearest other one."""
    points = np.unique(np.array([scene.design.point(mark.b) for mark in scene.joints]).reshape(-1, 3).round(9), axis=0)
    flat = view.project(points)
    away = np.linalg.norm(flat[:, None] - flat[None], axis=2) + np.where(np.eye(len(flat)) > 0, np.inf, 0.0)
    return float(np.minimum(away.min(axis=1), 0.15 * scene.extent).sum()) if len(flat) > 1 else 0.0


def up_of(scene: Scene) -> Array:
    """Against gravity if that is along an axis, else z."""
    gravity = scene.model.gravity
    size = float(np.linalg.norm(gravity))
    if size > 0 and np.abs(gravity).max() > 0.99 * size:
        largest = int(np.abs(gravity).argmax())
        return np.asarray(-np.sign(gravity[largest]) * np.eye(3)[largest])
    normal = _plane(scene)
    return np.eye(3)[1] if size == 0 and normal is not None and abs(normal[2]) > 0.99 else np.eye(3)[2]


def _front(up: Array) -> Array:
    """Towards the eye of the front view, which has x to the right (or y, where x is up)."""
    right = np.eye(3)[0] if abs(up[0]) < 0.5 else np.eye(3)[1]
    return np.asarray(np.cross(right, up))


def _facing(toward: Array, up: Array) -> Array:
    """The view with that direction towards the eye and ``up`` upwards; where they are parallel, with y upwards."""
    toward = toward / np.linalg.norm(toward)
    if abs(toward @ up) > 0.99:
        up = np.eye(3)[1] if abs(toward[1]) < 0.9 else np.eye(3)[2]
    up = up - (up @ toward) * toward
    up = up / np.linalg.norm(up)
    return np.array([np.cross(up, toward), up, toward])


def _plane(scene: Scene) -> Array | None:
    """The normal of the plane in which a mechanism moves; None for a spatial one.

    It is the axis of nearly all hinges and the normal of planar joints; without these, what all slides are perpendicular to.
    """
    if any(mark.kind not in IN_A_PLANE for mark in scene.joints) or any(joint.kind == "free" for joint in scene.model.joints):
        return None
    axes = {kind: [m.axis for m in scene.joints if m.kind == kind and m.axis is not None] for kind in IN_A_PLANE}
    turning = axes["revolute"] + axes["planar"]
    for normal in turning or _across(axes["prismatic"]):
        parallel = sum(abs(float(normal @ axis)) > 0.999 for axis in turning)
        if parallel >= PLANAR_PART * len(turning):
            largest = int(np.abs(normal).argmax())
            toward = np.sign(normal[largest]) * normal
            return np.asarray(-toward if largest == 1 else toward)  # x stays to the right
    return None


def _across(slides: list[Array]) -> list[Array]:
    """The direction to which all of several slides are perpendicular, if there is just one."""
    if len(slides) < 2:
        return []
    sizes, directions = np.linalg.svd(np.array(slides))[1:]
    return [directions[2]] if sizes[1] > 1e-3 and (len(sizes) < 3 or sizes[2] < 1e-3) else []
