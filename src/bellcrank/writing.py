"""Writing a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .errors import StateError
from .wording import argument, together


def write_whole(path: str | Path, write: Callable[[Path], object], *, keep: bool) -> Path:
    """Let ``write`` fill a neighbour of ``path``, then rename it, so that no reader ever sees half a file.

    A file that is there already is replaced, or with ``keep`` an error.
    """
    path = Path(path)
    refuse_to_replace([path], keep=keep)
    neighbour = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(neighbour)
        os.replace(neighbour, path)
    except (OSError, ValueError) as error:
        raise StateError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
    finally:
        neighbour.unlink(missing_ok=True)
    return path


def refuse_to_replace(paths: list[Path], *, keep: bool) -> None:
    """With ``keep``, raises StateError for files that are there already."""
    existing = [str(path) for path in paths if keep and os.path.lexists(path)]
    if existing:
        are = "is" if len(existing) == 1 else "are"
        raise StateError(
            f"{together(existing)} {are} there already, and {argument('keep', True)} keeps what is there: "
            "choose another name or folder"
        )
