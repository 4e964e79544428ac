"""Solids as triangles, which is what a browser draws."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from ..scene import Array
from ..solids import Solid, mesh_triangles

Triangles = tuple[Array, NDArray[np.int64]]  # vertices (k, 3) and faces (m, 3), counter-clockwise from outside

MOST_FACES = 200_000  # of a mesh that is drawn as it is; of a finer one the hull is
FINE, COARSE = 9, 5  # bands of a sphere between its poles, in a scene of few and of many solids
MANY = 25  # solids
THIN = 1e-4  # of a flat solid's size: the thickness that it is given


def bands_for(solids: int) -> int:
    """The fineness of spheres. Without a graphics card a browser takes its time for every triangle."""
    return FINE if solids <= MANY else COARSE


def triangles_of(solid: Solid, bands: int = FINE) -> Triangles:
    """The surface of a solid, in the frame of its body: the hull of its vertices, or of balls about them."""
    if solid.mesh is not None:
        vertices, faces = mesh_triangles(solid.mesh.file)
        if 0 < len(faces) <= MOST_FACES and np.isfinite(vertices).all():
            return solid.mesh.offset + vertices @ solid.mesh.linear.T, faces
    points = solid.vertices
    if solid.radius > 0:
        points = (points[:, None, :] + solid.radius * _ball(bands)[None, :, :]).reshape(-1, 3)
    elif len(points) > 4 * bands:
        points = _outermost(points, _ball(bands))
    try:
        return _hull(points)
    except QhullError:  # all in one plane: such a plate has no volume
        return _hull(_thickened(points))


def _hull(points: Array) -> Triangles:
    hull = ConvexHull(points)
    faces = hull.simplices.astype(np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inside = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inside] = faces[inside][:, ::-1]
    used, place = np.unique(faces, return_inverse=True)
    return points[used], place.reshape(-1, 3)


def _outermost(points: Array, directions: Array) -> Array:
    """Of many vertices those that are farthest in some directions, so that a mesh has no more triangles than a ball."""
    size = np.maximum(np.ptp(points, axis=0), 1e-12)
    return points[np.unique(((points / size) @ directions.T).argmax(axis=0))]


def _thickened(points: Array) -> Array:
    size = max(float(np.ptp(points, axis=0).max()), 1e-9)
    return np.vstack([points + THIN * size * corner for corner in np.array([[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]])])


@lru_cache(maxsize=2)
def _ball(bands: int) -> Array:
    """Points of a sphere of radius one."""
    angles = np.linspace(0, np.pi, bands + 1)
    turns = np.linspace(0, 2 * np.pi, 2 * bands, endpoint=False)
    rings = [
        np.column_stack([np.sin(a) * np.cos(turns), np.sin(a) * np.sin(turns), np.full_like(turns, np.cos(a))])
        for a in angles[1:-1]
    ]
    return np.vstack([[0.0, 0.0, 1.0], *rings, [0.0, 0.0, -1.0]])
