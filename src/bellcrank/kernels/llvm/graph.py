"""What a kernel does, recorded before it is written: operations, and the loops and branches that hold them.

An operation has a kind, arguments and the name of its result. Kinds of numbers are those of ``numbers.Graph`` (fadd, sincos,
select); all others are LLVM's own words with a $ for each argument. What is live (liveness), and how it reads as text (text),
are passes over this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = tuple[Any, str, int]  # of memory: owner, name, number


class Operation:
    """An operation; ``cell``: the cell of memory that it stores or loads, if any (liveness)."""

    __slots__ = ("args", "cell", "kind", "ref")

    def __init__(self, ref: str | None, kind: str, args: tuple[str, ...]):
        self.ref, self.kind, self.args = ref, kind, args
        self.cell: Cell | None = None


@dataclass
class Region:
    """Operations in their order; those inside are done once, many times, or not at all."""

    parts: list[Any] = field(default_factory=list)  # Operation, Loop, Branch, While, Abreast


@dataclass
class Loop:
    """For k = start .. stop-1; numbers ``carried`` start as ``first`` and become ``after`` each time. ``once``: at least."""

    k: str
    start: str
    stop: str
    carried: list[str]
    first: list[str]
    body: Region
    once: bool
    after: list[str] = field(default_factory=list)


@dataclass
class Branch:
    """One of the regions, by an integer or a bit (true is the first); ``results`` are what its last column of values says."""

    on: str
    bit: bool
    regions: list[Region]
    results: list[str]
    values: list[list[str]] = field(default_factory=list)  # by region
    likely: bool = False  # the first one, nearly always


@dataclass
class While:
    """The body as long as the condition, a region that ends with the bit ``test``, holds."""

    condition: Region
    test: str
    body: Region


@dataclass
class Abreast:
    """Operations on vectors of so many numbers, in a function that is on single ones."""

    lanes: int
    body: Region


def cosine_of(sine: str) -> str:
    """An operation ``sincos`` makes two numbers; this is the name of the second."""
    return f"{sine}c"


def flat(region: Region) -> Iterator[tuple[str | None, Sequence[str], Operation | None]]:
    """All that is done, in the order of the text: what it makes, what it is made of, and the operation, if it is one.

    Control flow makes what it carries, and uses what it depends on.
    """
    for part in region.parts:
        if isinstance(part, Operation):
            yield part.ref, part.args, part
            if part.kind == "sincos" and part.ref is not None:
                yield cosine_of(part.ref), part.args, None
        elif isinstance(part, Loop):
            yield None, [part.start, part.stop], None
            yield from flat(part.body)
            for name, first, after in zip(part.carried, part.first, part.after, strict=True):
                yield name, [first, after], None
        elif isinstance(part, Branch):
            yield None, [part.on], None
            for inner in part.regions:
                yield from flat(inner)
            for k, name in enumerate(part.results):
                yield name, [values[k] for values in part.values], None
        elif isinstance(part, Abreast):
            yield from flat(part.body)
        else:
            yield from flat(part.condition)
            yield None, [part.test], None
            yield from flat(part.body)
