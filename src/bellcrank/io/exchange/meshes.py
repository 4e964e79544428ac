"""Files of meshes: paths relative to the model's folder and inside it, and the vertices that a picture needs."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from ..inside import leaves
from ..native.table import TomlTable

Array = NDArray[np.float64]


def check_mesh(table: TomlTable, file: str, needed: bool = True) -> Path | None:
    """The path of a mesh file; notes a problem if it is not in the folder of the model, or if a text has none."""
    if table.source.problems.blames(str(table.about)) or not file:
        return None
    folder = folder_of(table)
    reason = why_not(file, folder)
    if reason is None and folder is None and needed:
        reason = (
            "gives it its mass, and a model given as text has no folder to look in. Save the model as a file beside the mesh."
        )
    if reason is not None:
        table.complain(f'the mesh file "{file}" of "{table.about}" {reason}', "file")
    return None if reason is not None or folder is None else folder / file


def folder_of(table: TomlTable) -> Path | None:
    """The folder of the model's file; None for a model that was given as a text."""
    return Path(table.source.file).parent if table.source.file.lower().endswith(".toml") else None


def why_not(file: str, folder: Path | None) -> str | None:
    """The reason why a file that a model names is not in its folder, if it is not."""
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
