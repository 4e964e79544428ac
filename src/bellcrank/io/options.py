"""Choices that the user has when a file of another program is read."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import StateError
from ..wording import argument

CHOICES: dict[str, tuple[str, ...]] = {
    "base": ("fixed", "free"),
    "fixed": ("merge", "keep"),
    "massless": ("refuse", "fix", "kinematics"),
    "broken_inertia": ("refuse", "allow"),
}
OF_FORMAT: dict[str, tuple[str, ...]] = {
    "mjcf": ("fixed", "keyframe", "allow_outside"),
    "urdf": ("base", "fixed", "massless", "broken_inertia", "packages", "allow_outside", "gravity"),
    "toml": (),
}


@dataclass(frozen=True)
class Options:
    """
    base            URDF: "fixed" to ground, or "free" to float
    fixed           "merge" bodies that are fixed to others, or "keep" them
    massless        URDF: "refuse" joints that move nothing that has mass, or "fix" them, or keep them for "kinematics" alone
    broken_inertia  URDF: "refuse" masses and inertias that no body can have, or "allow" them
    keyframe        MJCF: name or number of the keyframe to start from; the first one unless given
    packages        URDF: folders of packages, by name
    gravity         URDF, which has none: m/s2
    allow_outside   whether files outside the model's folder may be opened
    """

    base: str = "fixed"
    fixed: str = "merge"
    massless: str = "refuse"
    broken_inertia: str = "refuse"
    keyframe: str | int | None = None
    packages: Mapping[str, str | Path] = field(default_factory=dict)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    allow_outside: bool = False


def options_for(kind: str, given: Mapping[str, Any]) -> Options:
    """The options of a format; raises StateError for those that it does not have."""
    known = [f.name for f in fields(Options)]
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else f" There are {', '.join(known)}."
            raise StateError(f"load has no option {name!r}.{hint}")
        if name not in OF_FORMAT[kind]:
            there = ", ".join(map(argument, OF_FORMAT[kind])) or "none"
            raise StateError(f"{argument(name)} is not an option of {kind.upper()} files, which have {there}.")
        if name in CHOICES and value not in CHOICES[name]:
            raise StateError(f"{argument(name)} is {value!r}: use {' or '.join(map(repr, CHOICES[name]))}")
    options = Options(**given)
    _check_gravity(options.gravity)
    return options


def _check_gravity(gravity: Any) -> None:
    try:
        values = [float(x) for x in gravity]
    except (TypeError, ValueError):
        values = []
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise StateError(
            f"{argument('gravity')} is {gravity!r}, no acceleration: give three finite numbers, m/s2, such as (0, 0, -9.81)"
        )


def file_name(file: str) -> str:
    """The name of a file without its folders."""
    return file.replace("\\", "/").rpartition("/")[2]
