"""Writing a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..errors import StateError


def write_whole(path: str | Path, write: Callable[[Path], object], *, force: bool) -> Path:
    """Let ``write`` fill a neighbour of ``path``, then rename it, so that no reader ever sees half a file."""
    path = Path(path)
    if path.exists() and not force:
        raise StateError(f"{path} exists already; choose another name or pass force=True (--force) to replace it")
    neighbour = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(neighbour)
        os.replace(neighbour, path)
    except OSError as error:
        raise StateError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        neighbour.unlink(missing_ok=True)
    return path
