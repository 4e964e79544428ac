"""Opening a model file: all errors that can occur before its first key is read."""

from __future__ import annotations

import difflib
import stat
from pathlib import Path

from ..errors import ModelError
from ..model.spec.problems import brief

MAX_BYTES = 64 * 2**20  # some 300,000 bodies; a larger file is a mistake, and would only fill the memory


def regular_file(path: Path) -> Path:
    """The path itself if it is a regular file; else a ModelError that gives the reason."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file.{_similar(path)}") from None
    except (OSError, ValueError) as error:  # a name too long, or with a zero byte
        raise ModelError(f"{brief(str(path))} cannot be read: {getattr(error, 'strerror', error)}.") from None
    if stat.S_ISDIR(mode):
        raise ModelError(f"{path} is a folder. Name a model file in it.")
    if not stat.S_ISREG(mode):
        raise ModelError(f"{path} is not a regular file. Name a model file.")
    return path


def read_bytes(path: Path) -> bytes:
    """The content of a file, or a ModelError that names it."""
    try:
        with regular_file(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > MAX_BYTES:
        raise ModelError(f"{path} is larger than {MAX_BYTES // 2**20} MB. Model files are small: is this the right file?")
    return data


def decode(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ModelError(
            f"{file}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8. Save the file as UTF-8 text."
        ) from None


def _similar(path: Path) -> str:
    if not path.parent.is_dir():
        return f" There is no folder {path.parent} either."
    there = [item.name for item in path.parent.iterdir()]
    close = difflib.get_close_matches(path.name, there, n=1)
    return f" Did you mean {close[0]}?" if close else ""
