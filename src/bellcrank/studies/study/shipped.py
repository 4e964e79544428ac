"""The studies that come with Bellcrank, found by name."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import ModelError

PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (PACKAGE / "study_gallery", PACKAGE.parents[1] / "studies")  # installed; in a checkout


def studies() -> dict[str, Path]:
    """The files by their names, without the ending."""
    for folder in FOLDERS:
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("*.toml"))}
    return {}


def study_path(path: Path) -> Path:
    """The path as it is given if there is such a file, or that of a study of the gallery."""
    if path.suffix or os.path.isfile(path):
        return path
    known = studies()
    if str(path) not in known:
        if os.path.lexists(path):
            return path
        raise ModelError(f"{path}: there is no such file, nor a study of that name. The gallery has: {', '.join(known)}.")
    return known[str(path)]
