"""Files of meshes: paths relative to the model's folder and inside it, and the vertices that a picture needs."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from ...model.spec.spec import Mesh
from ..inside import leaves
from ..native.table import TomlTable

Array = NDArray[np.float64]


def check_mesh(table: TomlTable, mesh: Mesh) -> None:
    if table.source.problems.blames(str(table.about)) or not mesh.file:
        return
    reason = why_not(mesh.file, folder_of(table))
    if reason is not None:
        table.complain(f'the mesh file "{mesh.file}" of "{table.about}" {reason}', "file")


def folder_of(table: TomlTable) -> Path | None:
    """Where the model's file is; None for a model that was given as a text."""
    return Path(table.source.file).parent if table.source.file.lower().endswith(".toml") else None


def why_not(file: str, folder: Path | None) -> str | None:
    """Why a file that a model names is not one of its folder, if it is none."""
    reason = _outside(file)
    return _missing(folder, file) if reason is None and folder is not None else reason


def _outside(file: str) -> str | None:
    posix, windows = PurePosixPath(file), PureWindowsPath(file)
    if not file.isprintable():
        return "has unprintable characters. Rename it."
    if posix.is_absolute() or windows.is_absolute() or windows.drive or windows.root:
        return "has an absolute path. Put it into the model's folder and give its path from there."
    if ".." in posix.parts or ".." in windows.parts:
        return "is outside the model's folder. Put it inside."
    return None


def _missing(folder: Path, file: str) -> str | None:
    try:
        if leaves(folder, folder / file):
            return "is outside the model's folder. Put it inside."
        return None if (folder / file).is_file() else f"is not in {folder}. Put it there."
    except OSError as error:  # a name too long
        return f"cannot be found: {error.strerror}."


def farthest(points: Array, directions: int = 200) -> Array:
    """The points that are farthest in one of many directions, spread evenly over the sphere (a Fibonacci spiral)."""
    k = np.arange(directions) + 0.5
    z, angle = 1 - 2 * k / directions, np.pi * (1 + 5**0.5) * k
    radius = np.sqrt(1 - z**2)
    toward = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])
    return np.asarray(points[np.unique(np.argmax(points @ toward.T, axis=0))])
