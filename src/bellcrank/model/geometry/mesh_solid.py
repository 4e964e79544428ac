"""A body whose mass, centre and inertia are those of a closed mesh, filled with material of one density.

The integrals over the mesh are taken once, when its file is read, at a scale of 1; what follows from them for a scale, a place
and a density are formulas like those of any other shape. Each triangle a, b, c makes a tetrahedron with the origin:

    V = a . (b x c)/6,  integral of r = V s/4,  of r r^T = V/20 (s s^T + a a^T + b b^T + c c^T),  s = a + b + c
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtraError
from ...numbers.variable import as_array, as_number
from ..spec.fields import XYZ_ZERO, Number, Place, Position, Scalar, Text
from ..spec.shapes import DENSITY, MASS, Solid

Array = NDArray[np.float64]
LARGEST_FILE = 100_000_000  # bytes


@dataclass(frozen=True)
class Integrals:
    """Volume, centre and mean of r r^T about the centre, in the file's own units; ``wrong`` says why there are none."""

    volume: float = 0.0
    center: tuple[float, ...] = (0.0, 0.0, 0.0)
    squares: tuple[tuple[float, ...], ...] = ((0.0, 0.0, 0.0),) * 3
    wrong: str = ""


@dataclass(frozen=True)
class MeshSolid(Solid):
    """A closed mesh of uniform density; its axes are the world's in the design position, its origin is ``at`` a place."""

    file: Annotated[str, Text("its path, relative to the model's folder and inside it", remedy="Name a file.")]
    scale: Annotated[Scalar, Number("m per unit of the file", sign="more than zero")] = 1.0
    at: Annotated[Place, Position("where the origin of the file is")] = XYZ_ZERO
    mass: Annotated[Scalar | None, MASS] = None
    density: Annotated[Scalar | None, DENSITY] = None
    integrals: Integrals = field(default_factory=Integrals, compare=False, repr=False)

    shape: ClassVar[str] = "mesh"

    @property
    def volume(self) -> float:
        return self.integrals.volume * as_number(self.scale) ** 3

    @property
    def middle(self) -> Array:
        at: Any = self.at
        return as_array(at) + as_number(self.scale) * np.array(self.integrals.center)

    def squares(self) -> Array:
        return np.asarray(as_number(self.scale) ** 2 * np.array(self.integrals.squares))

    def measures(self) -> list[str]:
        found = [f'its mesh "{self.file}" {self.integrals.wrong}'] if self.integrals.wrong else []
        return found + self._length("scale", self.scale)


def integrals_of(path: str | Path) -> Integrals:
    """The integrals of the mesh in a file; raises MissingExtraError where trimesh is not installed."""
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError('the mass of a mesh needs trimesh. Install it with: pip install "bellcrank[meshes]"') from None
    try:
        if Path(path).stat().st_size > LARGEST_FILE:
            return Integrals(wrong=f"has more than {LARGEST_FILE // 1_000_000} MB. Make it coarser.")
        mesh = trimesh.load_mesh(str(path), skip_materials=True)
        corners = np.array(mesh.vertices, dtype=np.float64)[np.array(mesh.faces)]
        closed = bool(mesh.is_watertight and mesh.is_winding_consistent)
    except OSError as error:
        return Integrals(wrong=f"cannot be read: {error.strerror}. Put it into the model's folder.")
    except Exception as error:  # readers of meshes raise all kinds of errors
        return Integrals(wrong=f"cannot be read as a mesh ({type(error).__name__}). Save it as STL, OBJ or PLY.")
    if not (len(corners) and np.isfinite(corners).all()):
        return Integrals(wrong="has no triangles, or corners that are not finite. Save it again.")
    if not closed:
        return Integrals(wrong="is not closed, so that it has no volume. Close its holes, or give mass, center and inertia.")
    return of_triangles(corners)


def of_triangles(corners: Array) -> Integrals:
    """corners (n, 3, 3) of triangles that look outward, or all inward."""
    origin = corners.mean(axis=(0, 1))  # else digits are lost far from the origin
    a, b, c = (corners[:, k] - origin for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    total = float(volumes.sum())
    if total == 0:
        return Integrals(wrong="is flat, and has no volume. Give mass, center and inertia.")
    s = a + b + c
    center = np.einsum("i,ij->j", volumes, s) / (4 * total)
    products = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (s, a, b, c)) / (20 * total)
    squares = products - np.outer(center, center)
    return Integrals(abs(total), tuple((origin + center).tolist()), tuple(map(tuple, squares.tolist())))
