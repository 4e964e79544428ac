"""Model files: in our own format, MJCF and URDF; the format of a file is recognised by its content."""

from __future__ import annotations

import os
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import ModelError, warn
from ..extremes import in_our_errors
from ..model import Model, build
from ..writing import as_path, write_whole
from .exchange.markup import is_markup
from .files import decode, read_bytes, regular_file
from .native import reader as native
from .native.schema import schema
from .native.writer import dumps
from .options import options_for
from .recognition import recognise
from .shipped import gallery

FORMATS = {".toml": "native", ".xml": "mjcf", ".mjcf": "mjcf", ".urdf": "urdf"}  # folders with a reader and a writer
__all__ = ["dumps", "gallery", "load", "save", "schema"]


@in_our_errors(ModelError)
def load(source: str | PathLike[str], **options: Any) -> Model:
    """Load a model from a file, from a text, or from the gallery.

    A string of several lines, or of XML, is the text of a model; any other is a path, or the name of a gallery model such as
    ``"pendulum"``. The format is recognised by the content: our own TOML, MJCF or URDF. Raises ModelError with all problems of
    the model, each with its line; one warning lists what a file of another program holds and is not simulated.

    Options of MJCF and URDF files (docs/robots.md): base, fixed, massless, broken_inertia, keyframe, packages, gravity,
    allow_outside.
    """
    if isinstance(source, str) and ("\n" in source or is_markup(source.encode())):
        kind = "text of a model" if is_markup(source.encode()) else "model text"
        return _read(source.encode(), kind, options)
    try:
        path = Path(source)
    except TypeError:
        raise ModelError(f"load takes a path or the text of a model, not {type(source).__name__}.") from None
    if not path.suffix and not os.path.isfile(path):  # Path.is_file raises for odd names
        path = _in_gallery(path)
    return _read(read_bytes(regular_file(path)), str(path), options)


def _read(data: bytes, file: str, given: dict[str, Any]) -> Model:
    kind, root = ("toml", None) if file == "model text" else recognise(data, file)
    options = options_for(kind, given)
    if root is None:
        return native.read(decode(data, file), file)
    model = build(import_module(f".{kind}.reader", __name__).read_spec(root, file, options))
    _warn_of_omissions(model, file)
    return model


def _warn_of_omissions(model: Model, file: str) -> None:
    """One warning for all that is not simulated, or not quite as it was."""
    assert model.source is not None
    lines = [f"not simulated: {line}" for line in model.source.unsimulated] + list(model.source.remarks)
    if lines:
        warn("\n  ".join([f"{file}:", *lines]))


@in_our_errors(ModelError)
def save(model: Model, path: str | PathLike[str], *, keep: bool = False, partial: bool = False) -> None:
    """Writes a model file. An existing file is replaced, completely or not at all; with ``keep`` it is an error.

    .toml        our own format: everything, formulas and all
    .xml, .mjcf  MJCF
    .urdf        URDF, both with shapes, colours, and meshes that are in the folder of the new file

    Raises ModelError for what MJCF or URDF cannot express. ``partial`` leaves it out, with a warning; what everything
    else depends on (joints of other kinds, prescribed motions of joints, impossible inertias) cannot be left out.
    """
    target = as_path(path)
    format = FORMATS.get(target.suffix.lower())
    if format is None:
        raise ModelError(f"{target}: models are written as {', '.join(FORMATS)} files. Name one.")
    text, left_out = import_module(f".{format}.writer", __name__).write(model, partial=partial, folder=target.parent)
    write_whole(target, lambda file: file.write(text.encode()), keep=keep)
    if left_out:
        warn("\n  ".join([f"{target} does not contain:", *left_out]))


def _in_gallery(name: Path) -> Path:
    """A model of the gallery; a folder of its name, such as one with its results, is none."""
    known = gallery()
    if str(name) not in known and os.path.lexists(name):
        return name
    if str(name) not in known:
        raise ModelError(f"{name}: there is no such file, nor a model of that name. The gallery has: {', '.join(known)}.")
    return known[str(name)]
