"""Model files: one format a file, chosen by the ending of the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from ..errors import ModelError
from ..model import Model
from . import native
from .files import read_text, regular_file, write_text
from .schema import schema
from .shipped import gallery
from .writing import dumps

FORMATS: dict[str, Callable[[str, str], Model]] = {".toml": native.read}

__all__ = ["FORMATS", "dumps", "gallery", "load", "save", "schema"]


def load(source: str | PathLike[str]) -> Model:
    """The model in a file, in a text, or of the gallery.

    A string of several lines is the text of a native model; any other is a path, or the name of a gallery model such as
    ``"pendulum"``. Raises ModelError with all problems of the model, each with its line.
    """
    if isinstance(source, str) and "\n" in source:
        return native.read(source, "model text")
    try:
        path = Path(source)
    except TypeError:
        raise ModelError(f"load takes a path or the text of a model, not {type(source).__name__}.") from None
    if not path.suffix and not os.path.exists(path):  # Path.exists raises for odd names
        path = _in_gallery(path)
    reader = FORMATS.get(regular_file(path).suffix.lower())
    if reader is None:
        raise ModelError(f"{path}: this kind of file is not read. Give a file ending in {', '.join(FORMATS)}.")
    return reader(read_text(path), str(path))


def save(model: Model, path: str | PathLike[str], *, force: bool = False) -> None:
    """Writes a model file, formulas and all; one that is there already only with ``force``."""
    target = Path(path)
    if target.suffix.lower() != ".toml":
        raise ModelError(f"{target}: models are written as .toml files. Name one.")
    write_text(target, dumps(model), force=force)


def _in_gallery(name: Path) -> Path:
    known = gallery()
    if str(name) not in known:
        raise ModelError(f"{name}: there is no such file, nor a model of that name. The gallery has: {', '.join(known)}.")
    return known[str(name)]
