"""Paths that a model file names: resolved, and kept inside the folders that the user trusts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath

from .exchange.numerals import is_macro

_ADDRESS = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+)://")


def leaves(folder: Path, path: Path) -> bool:
    """Whether a path leads out of a folder, links followed."""
    return not real(path).is_relative_to(real(folder))


def real(path: Path) -> Path:
    """A path with its links followed, as far as they lead: Path.resolve raises where they lead in a ring."""
    return Path(os.path.realpath(path))


def strange(name: str) -> str | None:
    """The reason why a name cannot be the path of a file here, or None."""
    address = _ADDRESS.match(name)
    if address and address[1] not in ("package", "model", "file"):
        return f"is an address ({address[1]}://), and nothing is fetched"
    if is_macro(name):
        return "is a macro: run xacro first"
    if not name.isprintable() or not name.strip():
        return "is not the name of a file"
    if PureWindowsPath(name).drive:
        return "is a path of another system"
    return None


def resolve(name: str, folder: Path, packages: Mapping[str, str | Path]) -> Path | None:
    """The file to which a path of a URDF leads: relative to its folder, or in a package; None for a package that is not found.

    A package is looked for in ``packages``, then as a folder of that name around the model's file.
    """
    kind, _, rest = name.partition("://")
    if not rest:
        return folder / name
    if kind == "file":
        return Path("/") / rest.lstrip("/")
    package, _, inner = rest.partition("/")
    if package in packages:
        return Path(packages[package]) / inner
    for outer in (folder, *real(folder).parents):
        if outer.name == package:
            return outer / inner
        if (outer / package).is_dir():
            return outer / package / inner
    return None


def trusted(name: str, folder: Path, packages: Mapping[str, str | Path]) -> list[Path]:
    """Folders in which a file of this name may be: the model's, or the package that it names."""
    kind, _, rest = name.partition("://")
    if kind in ("package", "model") and rest:
        root = resolve(f"{kind}://{rest.partition('/')[0]}/", folder, packages)
        return [folder] if root is None else [folder, root]
    return [folder]
