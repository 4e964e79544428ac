"""The shapes of bodies, in their frames: as the model file draws them, else plates and bars between their joints and points.

Every solid is convex: the hull of its vertices, and of spheres about them if it has a radius. One vertex is a ball, two are a
bar with round ends, three a plate. Its outline in any view is then the hull of what its vertices project to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..io.exchange.meshes import farthest
from ..model.geometry.compound import Compound
from ..model.geometry.mesh_solid import MeshSolid
from ..model.source import Look
from ..model.spec.items import GROUND
from ..model.spec.shapes import Box, Cylinder, MassProperties, Rod, Sphere, axes_of
from .scene import Array, Scene

SLENDER = 0.006  # least radius of a rod, as a part of the mechanism's extent, so that it can be seen
NOMINAL = 0.011  # radius of a bar or plate that stands for a body without a shape
LUG = 0.005  # radius of what joins a shape with a joint beside it
RING = 96  # vertices of a circle
MERIDIANS = 48  # of an ellipsoid
LARGEST_FILE = 100_000_000  # bytes of a mesh
NOTHING = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)


@dataclass(frozen=True)
class PlacedMesh:
    """A file of a mesh on a body: its points are at offset + linear @ point, in the frame of the body."""

    file: str
    linear: Array
    offset: Array


@dataclass(frozen=True)
class Solid:
    """A convex solid fixed to a body: vertices (k, 3) and a radius in m, and flat faces as indices of vertices.

    Of a mesh it is the hull; ``mesh`` is what it is the hull of.
    """

    body: int
    vertices: Array
    radius: float = 0.0
    faces: tuple[tuple[int, ...], ...] = ()
    color: str | None = None  # of its own
    drawn: bool = True  # as the model file draws it; False for what stands for a body without a shape
    mesh: PlacedMesh | None = None


def solids_of(scene: Scene) -> list[Solid]:
    """All solids of a scene."""
    shapes = {} if scene.spec is None else {body.name: body.shape for body in scene.spec.bodies}
    looks = _looks(scene)
    found = looks.get(-1, [])
    for row, name in enumerate(scene.bodies):
        shape = shapes.get(name)
        if row in looks:
            found += [*_stems(scene, row, looks[row]), *looks[row]]
        elif shape is None or isinstance(shape, MassProperties | MeshSolid):
            found += _without_shape(scene, row)
        else:
            found += _with_shape(scene, row, shape)
    return found


def _looks(scene: Scene) -> dict[int, list[Solid]]:
    """Solids of the bodies whose looks a file gives, by body: those of an imported model, and meshes of model files."""
    rows = {GROUND: -1} | {name: row for row, name in enumerate(scene.bodies)}
    found: dict[int, list[Solid]] = {}
    for look in () if scene.model.source is None else scene.model.source.looks:
        solid = _look(look, rows[look.body]) if look.body in rows else None
        if solid is not None:
            found.setdefault(rows[look.body], []).append(solid)
    for body in () if scene.spec is None else scene.spec.bodies:
        file_of = body.shape if isinstance(body.shape, MeshSolid) else body.mesh
        if file_of is None:
            continue
        file = str(Path(body.where.file or "").parent / file_of.file)
        points, place = mesh_points(file), np.array(file_of.at, dtype=float)
        if len(points):
            row, scale = rows[body.name], float(file_of.scale)
            mesh = PlacedMesh(file, scale * np.eye(3), place - scene.origins[row])
            found.setdefault(row, []).append(Solid(row, np.array(points) * scale + mesh.offset, mesh=mesh))
    return found


def _stems(scene: Scene, row: int, looks: list[Solid]) -> list[Solid]:
    """Bars from joints that are beside all looks of a body to the nearest of them."""
    middles = np.array([solid.vertices.mean(axis=0) for solid in looks])
    reach = [np.linalg.norm(s.vertices - c, axis=1).max() + s.radius for s, c in zip(looks, middles, strict=True)]
    stems = []
    for point in scene.attachments(row):
        beyond = np.linalg.norm(middles - point, axis=1) - reach
        if beyond.min() > 0:
            stems.append(Solid(row, np.array([point, middles[beyond.argmin()]]), LUG * scene.extent, drawn=False))
    return stems


def _look(look: Look, row: int) -> Solid | None:
    """The solid of a look; None for a mesh that cannot be read."""
    at, axes, size = np.array(look.position), np.array(look.axes), np.array(look.size)
    color = None if look.color is None else "#" + "".join(f"{round(255 * min(max(x, 0.0), 1.0)):02x}" for x in look.color[:3])
    if look.kind in ("cylinder", "capsule"):
        spine = at + np.outer([-0.5, 0.5], size[1] * axes[:, 2])
        solid = _cylinder(row, spine, size[0]) if look.kind == "cylinder" else Solid(row, spine, float(size[0]))
    elif look.kind == "box":
        solid = _box(row, at, size, axes)
    elif look.kind == "sphere":
        solid = Solid(row, at[None, :], float(size[0]))
    else:
        points = _sphere() if look.kind == "ellipsoid" else np.array(look.points or mesh_points(look.file)).reshape(-1, 3)
        if not len(points):
            return None
        mesh = PlacedMesh(look.file, axes * size, at) if look.file else None
        solid = Solid(row, at + (points * size) @ axes.T, mesh=mesh)
    return replace(solid, color=color)


@lru_cache(maxsize=256)
def mesh_points(file: str) -> tuple[tuple[float, ...], ...]:
    """Vertices of a mesh about its hull, in the file's own units; none where it cannot be read."""
    vertices, _ = mesh_triangles(file)
    finite = vertices[np.isfinite(vertices).all(axis=1)]
    return tuple(map(tuple, farthest(finite).tolist())) if len(finite) else ()


@lru_cache(maxsize=32)
def mesh_triangles(file: str) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (k, 3) and faces (m, 3) of a mesh, in the file's own units; none where it cannot be read."""
    try:
        import trimesh

        if Path(file).stat().st_size > LARGEST_FILE:
            return NOTHING
        read = trimesh.load_mesh(file, skip_materials=True)
        return np.array(read.vertices, dtype=np.float64), np.array(read.faces, dtype=np.int64)
    except Exception:  # of a picture that lacks a mesh one sees that it does; readers of meshes raise all kinds of errors
        return NOTHING


def _with_shape(scene: Scene, row: int, shape: object) -> list[Solid]:
    """The shape, and lugs from it to the joints that are beside it; of a compound body all parts, without its holes."""
    if isinstance(shape, Compound):
        solid_parts = [part for part in shape.parts if not isinstance(part, MassProperties)]
        drawn = [_with_shape(scene, row, part)[-1] for part in solid_parts]
        return [*_stems(scene, row, drawn), *drawn] if drawn else _without_shape(scene, row)
    origin, extent = scene.origins[row], scene.extent
    if isinstance(shape, Rod):
        spine = np.array([shape.start, shape.end], dtype=float) - origin
        solid = Solid(row, spine, max(float(shape.radius), SLENDER * extent))
    elif isinstance(shape, Cylinder):
        spine = np.array([shape.start, shape.end], dtype=float) - origin
        solid = _cylinder(row, spine, float(shape.radius))
    elif isinstance(shape, Box):
        spine = np.array([shape.center], dtype=float) - origin
        solid = _box(row, spine[0], np.array(shape.size, dtype=float), axes_of(shape.axis, shape.axis2))
    else:
        assert isinstance(shape, Sphere)
        spine = np.array([shape.center], dtype=float) - origin
        solid = Solid(row, spine, float(shape.radius))
    reach = max(solid.radius, float(np.linalg.norm(solid.vertices - spine[0], axis=1).max()) if len(spine) == 1 else 0.0)
    if isinstance(shape, Cylinder):
        reach = float(shape.radius)
    lugs = []
    for point in scene.attachments(row):
        foot = _nearest(spine, point)
        if np.linalg.norm(point - foot) > reach + 2 * LUG * extent:
            lugs.append(Solid(row, np.array([foot, point]), LUG * extent, drawn=False))
    return [*lugs, solid]


def _without_shape(scene: Scene, row: int) -> list[Solid]:
    """A bar or plate between its joints and points; at the end of a chain also what has its inertia."""
    points = scene.attachments(row)
    center, radius = scene.model.center[row], NOMINAL * scene.extent
    found: list[Solid] = []
    if len(points) < 2 and scene.model.mass[row] > 0:
        found.append(_of_inertia(scene, row))
        spine = found[0].vertices if found[0].radius else center[None, :]
        points = [*points, *(_nearest(spine, point) for point in points)]
    vertices = np.array(points).reshape(-1, 3)
    if len(vertices) > 3 and np.linalg.matrix_rank(vertices - vertices[0], tol=0.02 * scene.extent) > 2:
        middle = vertices.mean(axis=0)
        return [*found, *(Solid(row, np.array([middle, point]), radius, drawn=False) for point in vertices)]
    return [*found, Solid(row, vertices, radius, drawn=False)] if len(vertices) else found


def _of_inertia(scene: Scene, row: int) -> Solid:
    """The uniform body that has the body's mass and inertia: a rod, I = m l^2/12, if it is slender, else an ellipsoid.

    Of an ellipsoid with the half axes a, b, c it is I_x = m (b^2 + c^2)/5; a point mass is a small ball.
    """
    model, least = scene.model, 2.2 * NOMINAL * scene.extent
    moments, axes = np.linalg.eigh(model.inertia[row])
    half_length = np.sqrt(3 * moments[1] / model.mass[row])
    if moments[0] < 0.05 * moments[1] and half_length < 0.7 * scene.extent:
        along = half_length * axes[:, 0]
        return Solid(row, model.center[row] + np.array([-along, along]), NOMINAL * scene.extent, drawn=False)
    squares = 2.5 / model.mass[row] * (moments.sum() - 2 * moments)
    half = np.clip(np.sqrt(np.maximum(squares, 0.0)), least, 0.4 * scene.extent)
    return Solid(row, model.center[row] + (_sphere() * half) @ axes.T, drawn=False)


def _cylinder(row: int, spine: Array, radius: float) -> Solid:
    along = spine[1] - spine[0]
    frame = axes_of(along, None)
    angles = np.linspace(0, 2 * np.pi, RING, endpoint=False)
    ring = radius * (np.outer(np.cos(angles), frame[:, 0]) + np.outer(np.sin(angles), frame[:, 1]))
    first, last = tuple(range(RING))[::-1], tuple(range(RING, 2 * RING))
    return Solid(row, np.vstack([spine[0] + ring, spine[1] + ring]), faces=(first, last))


def _box(row: int, center: Array, size: Array, axes: Array) -> Solid:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return Solid(row, center + (signs * size / 2) @ axes.T, faces=faces)


def _sphere() -> Array:
    heights, angles = np.cos(np.linspace(0, np.pi, 21)), np.linspace(0, 2 * np.pi, MERIDIANS, endpoint=False)
    radii = np.sqrt(np.maximum(1 - heights**2, 0.0))
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.vstack([np.column_stack([r * circle, np.full(MERIDIANS, h)]) for r, h in zip(radii, heights, strict=True)])


def _nearest(spine: Array, point: Array) -> Array:
    """The point of a segment (or of a single point) that is nearest."""
    if len(spine) == 1:
        return spine[0]
    along = spine[1] - spine[0]
    part = np.clip((point - spine[0]) @ along / (along @ along), 0.0, 1.0)
    return np.asarray(spine[0] + part * along)


def cylinder_between(start: Array, end: Array, radius: float) -> Solid:
    """A cylinder in the world."""
    return _cylinder(-1, np.array([start, end]), radius)


def box_about(center: Array, size: Array, along: Array) -> Solid:
    """A box in the world, its own z along a direction."""
    return _box(-1, center, size, axes_of(along, None))
