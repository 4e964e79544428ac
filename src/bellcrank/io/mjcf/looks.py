"""How the bodies of an MJCF model look: its visible geoms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..exchange.imported import Array, ImportedParts, matrix_of
from ..exchange.meshes import farthest

if TYPE_CHECKING:
    from .reader import Compiled

KINDS = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # by MuJoCo's numbers
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
