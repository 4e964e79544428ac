"""Writing a file whole or not at all.

The content goes to a neighbour of the file, with a name that nobody else has; when it is on the disk, the neighbour is renamed.
A writer holds a lock on its neighbour, so that the next writer can recognise what a killed one left behind, and removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from .errors import StateError
from .wording import argument, together

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, flock

_LOCKS: bool = os.name == "posix"  # elsewhere files that are open cannot be renamed, and locks are of another kind
_NEIGHBOUR = re.compile(r"\.bellcrank-[0-9a-f]{24}\.tmp")
_FORGOTTEN = 86400.0  # seconds, where there are no locks
_LONGEST = 200  # characters of a path in a message

Write = Callable[[BinaryIO], object]


def as_path(given: str | os.PathLike[str]) -> Path:
    """Raises StateError for what is not a name of a file."""
    try:
        return Path(given)
    except TypeError:
        raise StateError(f"a file is given by its path, not by an object of type {type(given).__name__}") from None


def refuse_to_wait(path: Path) -> None:
    """An OSError for what could make a reader or a writer wait for ever: a pipe, a device."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is not a regular file")


def write_whole(path: str | os.PathLike[str], write: Write, *, keep: bool) -> Path:
    """Let ``write`` fill a file that takes the place of ``path`` when it is complete, so that no reader ever sees half a file.

    A file that is there already is replaced, or with ``keep`` an error. Raises StateError if it cannot be written, with what
    was there before left as it was.
    """
    path = as_path(path)
    refuse_to_replace([path], keep=keep)
    remove_abandoned(path.parent)
    try:
        replace(path, write)
    except (OSError, ValueError) as error:
        raise _cannot_write(path, error) from error
    return path


def replace(path: Path, write: Write, *, durable: bool = True, mode: int = 0o666) -> None:
    """Replaces a file by what ``write`` writes; ``durable`` waits until it is on the disk. Raises OSError."""
    neighbour, handle = _neighbour(path.parent, mode)
    try:
        with os.fdopen(handle, "w+b") as file:
            write(file)
            file.flush()
            if durable:
                os.fsync(handle)
            if _LOCKS:
                os.replace(neighbour, path)  # while it is locked: another writer would take it for abandoned
        if not _LOCKS:
            os.replace(neighbour, path)
    except BaseException:
        neighbour.unlink(missing_ok=True)
        raise
    if durable:
        _settle(path.parent)


def refuse_to_replace(paths: list[Path], *, keep: bool) -> None:
    """Raises StateError for names that no file can have, for folders, pipes and devices and, with ``keep``, for files that are
    there already."""
    for path in filter(_is_there, paths):
        try:
            _must_be_replaceable(path)
        except OSError as error:
            raise _cannot_write(path, error) from error
    existing = [str(path) for path in paths if _is_there(path) and keep]
    if existing:
        exist = "exists" if len(existing) == 1 else "exist"
        raise StateError(
            f"{together(existing)} {exist} already, and {argument('keep', True)} does not replace files: "
            "choose another name or folder"
        )


def remove_abandoned(folder: Path) -> None:
    """Removes what writers that were killed left in a folder."""
    with suppress(OSError, ValueError):
        for name in os.listdir(folder):
            if _NEIGHBOUR.fullmatch(name):
                with suppress(OSError):
                    _remove_if_abandoned(folder / name)


def _neighbour(folder: Path, mode: int) -> tuple[Path, int]:
    """A new file that is locked, and nobody else's: a link that waits under its name is not followed."""
    while True:
        path = folder / f".bellcrank-{secrets.token_hex(12)}.tmp"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            continue
        if _lock(handle) and (not _LOCKS or os.fstat(handle).st_nlink):
            return path, handle
        os.close(handle)  # another writer took it for abandoned, and removed it


def _lock(handle: int) -> bool:
    """Whether nobody else holds a lock on a file; from now on this process does. There are file systems without locks."""
    try:
        if _LOCKS:
            flock(handle, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _remove_if_abandoned(path: Path) -> None:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return
    if not _LOCKS:
        if time.time() - path.stat().st_mtime > _FORGOTTEN:
            path.unlink()
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        path.unlink()
    finally:
        os.close(handle)


def _settle(folder: Path) -> None:
    """Waits until the new name is on the disk too, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _must_be_replaceable(path: Path) -> None:
    """An OSError for what a file would take the place of without being one: a root user could lose /dev/null."""
    if path.is_dir():
        raise OSError(errno.EISDIR, "it is a folder")
    refuse_to_wait(path)
    if path.is_symlink() and os.readlink(path).startswith("/proc/"):  # such as /dev/stdout
        raise OSError(errno.EINVAL, "it is not a regular file")


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:  # a name too long, or with a zero byte
        raise _cannot_write(path, error) from error
    return True


def _cannot_write(path: Path, error: Exception) -> StateError:
    text = str(path)
    name = text if text.isprintable() else repr(text)
    name = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."
    return StateError(f"cannot write {name}: {getattr(error, 'strerror', None) or error}")
