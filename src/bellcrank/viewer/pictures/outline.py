"""Outlines in the plane of the picture."""

from __future__ import annotations

import numpy as np

from ..scene import Array, Placement
from ..solids import RING, Solid
from .views import View

_ANGLES = np.linspace(0, 2 * np.pi, RING, endpoint=False)
CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])


def hull(points: Array) -> Array:
    """Convex hull of points (k, 2), counterclockwise (Andrew's monotone chain)."""
    ordered = np.unique(points.round(12), axis=0).tolist()
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)

    def half(run: list[list[float]]) -> list[list[float]]:
        chain: list[list[float]] = []
        for p in run:
            while len(chain) > 1 and _left(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _left(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def outline(solid: Solid, placement: Placement, view: View) -> Array:
    """The outline (k, 2) of a solid."""
    flat = view.project(placement.points(solid.body, solid.vertices))
    if solid.radius > 0:
        flat = (flat[:, None, :] + solid.radius * CIRCLE).reshape(-1, 2)
    return hull(flat)


def visible_faces(solid: Solid, placement: Placement, view: View) -> list[tuple[Array, float]]:
    """Outlines of the flat faces that look at the eye, and the cosine of the angle at which they do."""
    world = placement.points(solid.body, solid.vertices)
    middle = world.mean(axis=0)
    found = []
    for face in solid.faces:
        corners = world[list(face)]
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        size = float(np.linalg.norm(normal))
        if size == 0:
            continue
        normal *= np.sign(normal @ (corners.mean(axis=0) - middle)) / size
        facing = float(normal @ view.axes[2])
        if facing > 1e-6:
            found.append((view.project(corners), facing))
    return found
