"""Equality constraints of an MJCF model: joints that close loops, and couplers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .imported import Assembly

if TYPE_CHECKING:
    from .mjcf import Compiled


def add_loops(compiled: Compiled, assembly: Assembly, file: str) -> None:
    if compiled.m.neq:
        raise NotImplementedError
