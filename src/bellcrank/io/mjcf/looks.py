"""How the bodies of an MJCF model look: its visible geoms, read; and written as geoms that touch nothing."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from ...model.source import Look
from ..exchange.export import Export, closed, numbers
from ..exchange.imported import Array, ImportedParts, matrix_of, quaternion_of
from ..exchange.meshes import farthest

if TYPE_CHECKING:
    from .reader import Compiled

KINDS = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # by MuJoCo's numbers
READ = (".stl", ".obj", ".msh")  # files of meshes that MuJoCo opens
MOST_FACES = 200_000
FLAT = 1e-6  # thickness of a mesh, as a part of its size, below which MuJoCo finds no hull
SHOWN_GROUPS = 3  # as MuJoCo's own viewer does: groups 0, 1, 2


def add_looks(compiled: Compiled, assembly: ImportedParts) -> None:
    """A look for each geom of a body that MuJoCo's viewer would show; those of the world are left out."""
    m = compiled.m
    for i in range(m.ngeom):
        body, kind = int(m.geom_bodyid[i]), KINDS.get(int(m.geom_type[i]))
        color = tuple(np.asarray(m.geom_rgba[i], dtype=float).tolist())
        if body == 0 or kind is None or int(m.geom_group[i]) >= SHOWN_GROUPS or color[3] == 0:
            continue
        points = _mesh(compiled, int(m.geom_dataid[i])) if kind == "mesh" else ()
        axes, at = matrix_of(m.geom_quat[i]), np.array(m.geom_pos[i])
        assembly.look(body - 1, kind, _size(kind, m.geom_size[i]), at, axes, color=color, points=points)


def _size(kind: str, half: Array) -> tuple[float, ...]:
    x, y, z = (float(value) for value in half)
    sizes = {"sphere": (x,), "capsule": (x, 2 * y), "cylinder": (x, 2 * y), "box": (2 * x, 2 * y, 2 * z)}
    return sizes.get(kind, (x, y, z) if kind == "ellipsoid" else (1.0, 1.0, 1.0))


def _mesh(compiled: Compiled, mesh: int) -> tuple[tuple[float, ...], ...]:
    """Vertices of a mesh that are farthest in some direction: about its hull."""
    m = compiled.m
    first = int(m.mesh_vertadr[mesh])
    vertices = np.asarray(m.mesh_vert[first : first + int(m.mesh_vertnum[mesh])], dtype=float)
    return tuple(map(tuple, farthest(vertices).tolist()))


class Looks:
    """Geoms by body; ``assets`` are the meshes that they need."""

    def __init__(self, export: Export, folder: Path | None) -> None:
        self.export, self.folder = export, folder or Path()
        self.assets: list[str] = []

    def geoms(self, looks: list[Look], R: Array) -> list[str]:
        """The geoms of one body, whose axes are the columns of R."""
        return [line for look in looks for line in self._geom(look, R)]

    def _geom(self, look: Look, R: Array) -> list[str]:
        sizes = _half(look)
        mesh = self._mesh(look) if look.kind == "mesh" else None
        if look.kind == "mesh" and mesh is None:
            return []
        place, turn = R.T @ np.array(look.position), quaternion_of(R.T @ np.array(look.axes))
        return [
            closed(
                "geom",
                type=look.kind,
                size=None if sizes is None else numbers(sizes),
                mesh=mesh,
                pos=numbers(place),
                quat=numbers(turn),
                rgba=None if look.color is None else numbers(look.color),
                contype="0",
                conaffinity="0",
                group="1",
            )
        ]

    def _mesh(self, look: Look) -> str | None:
        """The name of an asset: a file that MuJoCo reads, or the points of the hull."""
        name = f"look_{len(self.assets)}"
        if look.file and _is_read(self.folder / look.file):
            self.assets.append(closed("mesh", name=name, file=look.file, scale=numbers(look.size), inertia="convex"))
            return name
        points = np.array(look.points, dtype=float).reshape(-1, 3)
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) > 3 else np.zeros(3)
        if spread[2] <= FLAT * spread[0]:
            what = f'the mesh "{PurePosixPath(look.file).name}"' if look.file else "a flat mesh"
            self.export.lost.append(f'{what} that shows "{look.body}"')
            return None
        vertices = numbers((points * np.array(look.size)).ravel())
        self.assets.append(closed("mesh", name=name, vertex=vertices, inertia="convex"))
        return name


def _half(look: Look) -> tuple[float, ...] | None:
    """Sizes as MuJoCo counts them: halves of edges and lengths."""
    if look.kind == "box":
        return tuple(edge / 2 for edge in look.size)
    if look.kind in ("cylinder", "capsule"):
        return look.size[0], look.size[1] / 2
    return None if look.kind == "mesh" else look.size


def _is_read(file: Path) -> bool:
    """Whether MuJoCo opens a file: of STL it takes the binary kind alone, 80 bytes, a count, and 50 bytes for each face."""
    if file.suffix.lower() not in READ:
        return False
    if file.suffix.lower() != ".stl":
        return True
    with file.open("rb") as stream:
        faces = int.from_bytes(stream.read(84)[80:], "little")
    return 0 < faces <= MOST_FACES and file.stat().st_size == 84 + 50 * faces
