"""How bodies look, for the writers of other programs' files: looks of imported models, and the shapes of model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.geometry.compound import Compound
from ...model.source import Look
from ...model.spec.items import GROUND
from ...model.spec.shapes import Box, Cylinder, Rod, Sphere, axes_of
from .export import Export

Array = NDArray[np.float64]
THIN = 0.02  # radius of a rod that has none, as a part of its length
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def looks_by_body(export: Export, folder: Path | None) -> dict[int, list[Look]]:
    """Looks of each body, -1 = ground, in its frame; none without a folder, from which files of meshes are named.

    The file of a mesh becomes a path from the folder. One that is elsewhere is left out, and so noted.
    """
    found: dict[int, list[Look]] = {}
    if folder is None:
        return found
    rows = {GROUND: -1} | {name: i for i, name in enumerate(export.model.body_names)}
    source = export.model.source
    for look in () if source is None else source.looks:
        if look.body in rows:
            found.setdefault(rows[look.body], []).extend(_named_from(folder, look, export))
    for body in () if export.spec is None else export.spec.bodies:
        row = rows[body.name]
        if row not in found:
            found[row] = list(_of_shape(body.name, body.shape, export.origin(row)))
    return found


def _named_from(folder: Path, look: Look, export: Export) -> Iterator[Look]:
    if not look.file:
        yield look
        return
    path = os.path.relpath(os.path.realpath(look.file), os.path.realpath(folder))
    if path.startswith(os.pardir) or os.path.isabs(path):
        export.lost.append(f'the mesh "{Path(look.file).name}" of "{look.body}", which is outside the folder of the new file')
        return
    yield replace(look, file=Path(path).as_posix())


def _of_shape(body: str, shape: Any, origin: Array) -> Iterator[Look]:
    """Looks of a shape of a model file; none of one that is given by its mass properties alone."""
    if isinstance(shape, Compound):
        for part in shape.parts:
            yield from _of_shape(body, part, origin)
    elif isinstance(shape, Rod | Cylinder):
        start, end = np.array(shape.start, dtype=float), np.array(shape.end, dtype=float)
        length = float(np.linalg.norm(end - start))
        radius = float(shape.radius or 0.0) or THIN * length
        yield _look(body, "cylinder", (radius, length), (start + end) / 2 - origin, axes_of(end - start, None))
    elif isinstance(shape, Box):
        size = tuple(float(edge) for edge in shape.size)
        yield _look(body, "box", size, np.array(shape.center, dtype=float) - origin, axes_of(shape.axis, shape.axis2))
    elif isinstance(shape, Sphere):
        yield _look(body, "sphere", (float(shape.radius),), np.array(shape.center, dtype=float) - origin, np.eye(3))


def _look(body: str, kind: str, size: tuple[float, ...], position: Array, axes: Array) -> Look:
    x, y, z = position.tolist()
    return Look(body, kind, size, (x, y, z), tuple(map(tuple, np.asarray(axes).tolist())))


def parts_of_capsule(look: Look) -> list[Look]:
    """A cylinder and the two balls at its ends, for formats that have no capsules."""
    radius, length = look.size
    along = np.array(look.axes)[:, 2] * length / 2
    ends = [np.array(look.position) + sign * along for sign in (-1, 1)]
    balls = [replace(look, kind="sphere", size=(radius,), position=(*end.tolist(),), axes=IDENTITY) for end in ends]
    return [replace(look, kind="cylinder"), *balls]
