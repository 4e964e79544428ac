"""The models that come with Bellcrank, found by name."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (PACKAGE / "gallery", PACKAGE.parents[1] / "models")  # installed; in a checkout


def gallery() -> dict[str, Path]:
    """The files by their names, without the ending."""
    for folder in FOLDERS:
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("*.toml"))}
    return {}
