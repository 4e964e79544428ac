"""Object code on disk, so that a model that was compiled once starts in milliseconds.

An entry is keyed by everything that its code depends on (signatures, program, sources, processor, versions), so a hit
needs no tracing. Two processes may race: entries appear whole, by renaming. The key is part of an entry's digest: one that is
damaged, or stands under another's name, is dropped and compiled again. The oldest entries go when they exceed their bound. All
are in a folder of our own, and nothing else in it or around it is touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from ..errors import warn
from ..writing import remove_abandoned, replace

_HEADER = b"bellcrank code 1\n"
_FOLDER = "bellcrank-code-1"  # inside the folder that the user names, which may hold other things
_ENTRY = re.compile(r"[0-9a-f]{64}\.bellcrank")
FOLDERS = (
    "numbers",
    "spatial",
    "joints",
    "forces",
    "constraints",
    "plan",
    "formulations",
    "kernels",
    "machine",
    "integrate",
    "design",
)
_OFF = ("0", "off", "no", "none", "false")
_ON = ("1", "on", "yes", "true")
_LARGEST = 256 * 2**20  # bytes in all
_unseen: dict[Path, int] = {}  # bytes that this process put into a folder since it last looked at all of it
_complained: set[Path] = set()  # folders that could not be written: said once each


def folder() -> Path | None:
    """The folder of the entries: inside BELLCRANK_CACHE, or inside the system's place for caches; None for nowhere.

    Words that switch something on or off elsewhere do so here, and are not names of folders.
    """
    chosen = os.environ.get("BELLCRANK_CACHE", "").strip()
    if chosen.lower() in _OFF:
        return None
    if chosen.lower() in _ON:
        chosen = ""
    return (Path(chosen) if chosen else platformdirs.user_cache_path("bellcrank", appauthor=False)) / _FOLDER


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
    return digest("\n".join([sources(), *map(str, parts)]))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def fetch(name: str) -> tuple[dict[str, Any], bytes] | None:
    """An entry's facts and its object code, or None."""
    place = folder()
    if place is None:
        return None
    path = _path(place, name)
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
            return None  # code that someone else put there is not run
        content = path.read_bytes()
    except (OSError, ValueError):  # or a folder with a zero byte in its name
        return None
    entry = _unpack(name, content)
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
        content = _pack(name, facts, code)
        replace(_path(place, name), lambda file: file.write(content), durable=False, mode=0o600)
        _unseen[place] = _unseen.get(place, _LARGEST) + len(content)
        if _unseen[place] > _LARGEST // 16:  # a look at thousands of entries takes as long as compiling a small one
            _unseen[place] = 0
            _trim(place)
    except (OSError, ValueError) as problem:
        if place in _complained:
            return
        _complained.add(place)
        warn(
            f"compiled code cannot be kept in {place} ({problem}): every start will compile again. "
            "Set BELLCRANK_CACHE to a folder that can be written, or to off."
        )


def _path(place: Path, name: str) -> Path:
    return place / f"{name}.bellcrank"


def _pack(name: str, facts: dict[str, Any], code: bytes) -> bytes:
    body = json.dumps(facts).encode() + b"\n" + code
    return _HEADER + _digest(name, body) + b"\n" + body


def _unpack(name: str, content: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Facts and code, or None for what is damaged, or is not the entry of that name."""
    if not content.startswith(_HEADER):
        return None
    digest, _, body = content[len(_HEADER) :].partition(b"\n")
    if _digest(name, body) != digest:
        return None
    text, _, code = body.partition(b"\n")
    try:
        facts = json.loads(text)
    except ValueError:
        return None
    return (facts, code) if isinstance(facts, dict) else None


def _digest(name: str, body: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + body).hexdigest().encode()


def _trim(place: Path) -> None:
    """Remove the entries that were not used for longest, until the folder fits; another process may do the same."""
    remove_abandoned(place)
    entries = []
    for path in filter(lambda path: _ENTRY.fullmatch(path.name), place.iterdir()):
        with suppress(OSError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):
                entries.append((found.st_mtime, found.st_size, path))
    excess = sum(size for _, size, _ in entries) - _LARGEST
    for _, size, path in sorted(entries):
        if excess <= 0:
            return
        path.unlink(missing_ok=True)
        excess -= size
