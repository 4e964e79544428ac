"""Loops and couplers as MJCF's equality constraints."""

from __future__ import annotations

from .export import Export


def equalities(export: Export, tendons: list[str]) -> list[str]:
    """Lines of <equality>; couplers of more than two coordinates add a tendon."""
    for closure in export.model.closures:
        export.cannot.append(f'"{closure.name}", which closes a loop')
    return []
