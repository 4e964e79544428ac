"""Object code on disk, so that a model that was compiled once starts in milliseconds.

An entry is keyed by everything that its code depends on (signatures, program, sources, processor, versions), so a hit
needs no tracing. Two processes may race: entries appear whole, by renaming. A damaged entry is dropped and compiled again.
The oldest entries go when the folder exceeds its bound.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from ..errors import BellcrankWarning

_HEADER = b"bellcrank object 1\n"
FOLDERS = ("numbers", "spatial", "joints", "forces", "constraints", "plan", "formulations", "kernels", "machine", "integrate")
_LARGEST = 256 * 2**20  # bytes in all
_unseen: dict[Path, int] = {}  # bytes that this process put into a folder since it last looked at all of it
_complained: set[Path] = set()  # folders that could not be written: said once each


def folder() -> Path | None:
    """Where entries are kept: BELLCRANK_CACHE ("off" for nowhere), or the system's place for caches."""
    chosen = os.environ.get("BELLCRANK_CACHE")
    if chosen:
        return None if chosen == "off" else Path(chosen)
    return platformdirs.user_cache_path("bellcrank", appauthor=False)


@cache
def sources() -> str:
    """A hash of the sources that decide what code is made."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for name in FOLDERS:
        for path in sorted((package / name).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key(*parts: Any) -> str:
    return hashlib.sha256("\n".join([sources(), *map(str, parts)]).encode()).hexdigest()


def fetch(name: str) -> tuple[dict[str, Any], bytes] | None:
    """An entry's facts and its object code, or None."""
    place = folder()
    if place is None:
        return None
    path = place / f"{name}.o"
    try:
        if hasattr(os, "getuid") and path.stat().st_uid != os.getuid():
            return None  # code that someone else put there is not run
        content = path.read_bytes()
    except OSError:
        return None
    entry = _unpack(content)
    with suppress(OSError):  # a folder that cannot be written may still be read
        if entry is None:
            path.unlink(missing_ok=True)
        else:
            os.utime(path)
    return entry


def store(name: str, facts: dict[str, Any], code: bytes) -> None:
    place = folder()
    if place is None:
        return
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                size = file.write(_pack(facts, code))
            os.replace(temporary, place / f"{name}.o")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
        _unseen[place] = _unseen.get(place, _LARGEST) + size
        if _unseen[place] > _LARGEST // 16:  # a look at thousands of entries takes as long as compiling a small one
            _unseen[place] = 0
            _trim(place)
    except OSError as problem:
        if place in _complained:
            return
        _complained.add(place)
        warnings.warn(
            f"compiled code cannot be kept in {place} ({problem}): every start will compile again. "
            "Set BELLCRANK_CACHE to a folder that can be written, or to off.",
            BellcrankWarning,
            stacklevel=2,
        )


def _pack(facts: dict[str, Any], code: bytes) -> bytes:
    body = json.dumps(facts).encode() + b"\n" + code
    return _HEADER + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _unpack(content: bytes) -> tuple[dict[str, Any], bytes] | None:
    if not content.startswith(_HEADER):
        return None
    digest, _, body = content[len(_HEADER) :].partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    facts, _, code = body.partition(b"\n")
    return json.loads(facts), code


def _trim(place: Path) -> None:
    """Remove the entries that were not used for longest, until the folder fits; another process may do the same."""
    entries = []
    for path in [*place.glob("*.o"), *place.glob("*.tmp")]:
        try:
            entries.append((path.stat().st_mtime, path.stat().st_size, path))
        except OSError:
            continue
    excess = sum(size for _, size, _ in entries) - _LARGEST
    for _, size, path in sorted(entries):
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
