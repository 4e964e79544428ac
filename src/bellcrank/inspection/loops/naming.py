"""Directions of forces and moments in words: along the axis of a joint, or across it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def direction_words(axes: Array, has_axis: bool, places: Iterable[int]) -> str:
    """Places in a wrench along the columns of ``axes`` (design position): "force along its axis z, moments about x and y"."""
    chosen = sorted(set(places))
    parts = []
    for what, preposition, first in (("force", "along", 0), ("moment", "about", 3)):
        found = _names(axes, has_axis, [k - first for k in chosen if first <= k < first + 3])
        if found:
            several = len(found) > 1 or found[0].startswith((ALL, "two"))
            parts.append(f"{what}{'s' if several else ''} {preposition} {listed(found)}")
    return ", ".join(parts)


ALL = "all directions"


def _names(axes: Array, has_axis: bool, columns: list[int]) -> list[str]:
    """Axes of the world in their order, the joint's own last."""
    own = [f"its axis {letter(axes[:, 2])}".rstrip()] if has_axis and 2 in columns else []
    others = [letter(axes[:, k]) for k in columns if not (has_axis and k == 2)]
    if all(others):
        return sorted(others) + own
    if len(columns) == 3:
        return [ALL]
    if own:
        return [*own, "a direction across it"]
    where = " across its axis" if has_axis else ""
    return [f"a direction{where}" if len(others) == 1 else f"two directions{where}"]


def letter(axis: Array) -> str:
    """x, y, z, or nothing."""
    k = int(np.argmax(np.abs(axis)))
    return "xyz"[k] if abs(abs(axis[k]) - 1) < 1e-9 else ""


def listed(names: Sequence[str], most: int = 6) -> str:
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def quoted(names: Sequence[str], most: int = 6) -> str:
    return listed([f'"{name}"' for name in names[:most]] + list(names[most:]), most) if names else ""


def grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[list[str], str]]:
    """Names that have the same words, together."""
    found: dict[str, list[str]] = {}
    for name, words in pairs:
        found.setdefault(words, []).append(name)
    return [(names, words) for words, names in found.items()]
