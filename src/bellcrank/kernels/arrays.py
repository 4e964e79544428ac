"""Arrays of a kernel, each declared once: what they hold, and how large they are in counts of the plan.

Sizes, arguments of kernels, binding and the storage of tangents follow from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal["table", "data", "buffer", "local", "input", "output", "tangent"]


@dataclass(frozen=True, eq=False)
class Array:
    """An array. ``rows`` and ``columns`` are numbers or names of counts; columns may have names of their own.

    table    integers, the same for all lanes                data     numbers, the same for all lanes; ``fill`` gives both
    own      data of which every lane has its own: the designs of the lanes differ
    buffer   numbers of each lane (or integers for all), which the kernel writes before it reads them
    local    integers of a kernel's own, in registers where that is possible
    input    numbers of each lane, given                     output   numbers of each lane, asked for
    tangent  given too: of each number of an input or of data, a vector of tangents, in programs that have any
    active   numbers carry their tangents along there, right behind them
    """

    name: str
    kind: Kind
    rows: int | str
    columns: int | str | tuple[str, ...] = 1
    active: bool = False
    integers: bool = False
    own: bool = False
    fill: Callable[[Any], Any] | None = None

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The places of the named columns."""
        return {name: k for k, name in enumerate(self.columns)} if isinstance(self.columns, tuple) else {}

    @property
    def shared(self) -> bool:
        """Whether all lanes read the same numbers."""
        return (self.kind in ("table", "data") and not self.own) or self.integers

    @property
    def constant(self) -> bool:
        """Nothing writes to it while a kernel runs."""
        return self.kind in ("table", "data", "input", "tangent")

    @property
    def width(self) -> int | str:
        """Numbers of a row: known while a kernel is written, or the name of a count."""
        return len(self.columns) if isinstance(self.columns, tuple) else self.columns

    def size(self, counts: Mapping[str, int]) -> int:
        rows, width = (counts[x] if isinstance(x, str) else x for x in (self.rows, self.width))
        return rows * width
