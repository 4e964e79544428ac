"""Where the numbers of a recorded kernel are computed, which of them carry derivatives, and which the backward pass needs.

A Scope belongs to a region: it knows what the region makes, and which of that has to be kept. What is kept stands in a frame
on the tape, one frame each time that the region is gone through, so that loops and branches need no other bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

from ..llvm.graph import Branch, Loop, Operation, Region, While, cosine_of
from .rules import RULES

LOAD, STORE, ADDRESS = (
    "load double, ptr $, align 8",
    "store double $, ptr $, align 8",
    "getelementptr inbounds double, ptr $, i64 $",
)
LOAD_INTEGER = "load i64, ptr $, align 8"
GATHERS = ("gather", "gather_inside")
ROUTINE = "call void @matrix_"  # on matrices in memory, at the addresses that it is given
BITS = ("olt", "ole", "ogt", "oge", "and", "or", "not")


def plain_kind(kind: str) -> str:
    """The kind of an operation on numbers, however it is written; "" of others."""
    if kind in RULES:
        return kind
    if kind.startswith("call double @llvm."):
        return kind.removeprefix("call double @llvm.").partition(".")[0]
    return "select" if kind.startswith("select i1 $, double $, double") else ""


def arguments(operation: Operation) -> tuple[str, ...]:
    """The arguments of an operation on numbers; a constant may stand in its text."""
    if operation.kind.startswith("select i1 $, double $, double ") and len(operation.args) == 2:
        return (*operation.args, operation.kind.rpartition(" ")[2])
    return operation.args


@dataclass(eq=False)
class Scope:
    """A region. ``makes``: names of its numbers; ``kept``: those that the backward pass reads, and their places in a frame."""

    number: int
    makes: set[str] = field(default_factory=set)
    kept: dict[str, int] = field(default_factory=dict)
    nested: bool = False  # it has regions inside, whose frames come between its own and the next
    counted: dict[int, str] = field(default_factory=dict)  # names of how often each While was gone through, by its identity

    @property
    def pointer(self) -> str:
        return f"%frame{self.number}"

    @property
    def size(self) -> str:
        """A word for the size of a frame, which is known at the end."""
        return f"@FRAME{self.number}@"

    def place(self, name: str) -> int:
        return self.kept.setdefault(name, len(self.kept))


def is_routine(part: object) -> TypeGuard[Operation]:
    return isinstance(part, Operation) and part.kind.startswith(ROUTINE)


def addresses(call: Operation) -> list[str]:
    """Addresses of the matrices that a routine is given."""
    types = call.kind.partition("(")[2].split(", ")
    return [arg for type_, arg in zip([x for x in types if "$" in x], call.args, strict=True) if type_.startswith("ptr")]


def routine_name(call: Operation) -> str:
    """ "product" of "call void @matrix_product_1_plain(...)"."""
    return call.kind.removeprefix(ROUTINE).partition("_")[0]


def routine_call(call: Operation, way: str, more: list[str]) -> tuple[str, tuple[str, ...]]:
    """The call of a routine transposed, which takes more addresses."""
    taken = call.kind.partition("(")[2].removesuffix(")")
    return f"{ROUTINE}{routine_name(call)}_{way}({taken}{', ptr $' * len(more)})", (*call.args, *more)


def inner_regions(part: object) -> list[Region]:
    if isinstance(part, Loop):
        return [part.body]
    if isinstance(part, Branch):
        return part.regions
    return [part.condition, part.body] if isinstance(part, While) else []


class Scopes:
    """The scopes of a kernel by the identity of their regions, operations by the numbers that they make, and what is active.

    ``active``: names of arrays whose numbers are differentiated; buffers join them where an active number is stored there.
    """

    def __init__(self, region: Region, active: Iterable[str]):
        self.of: dict[int, Scope] = {}
        self.made: dict[str, Operation] = {}
        self._scan(region)
        self.arrays = set(active)
        self.active: set[str] = set()
        while self._spread(region):
            pass

    def _scan(self, region: Region, into: Scope | None = None) -> None:
        scope = into or Scope(len(self.of))
        self.of[id(region)] = scope
        for part in region.parts:
            if isinstance(part, Operation):
                if part.ref is not None:
                    self.made[part.ref] = part
                    scope.makes |= {part.ref, cosine_of(part.ref)} if part.kind == "sincos" else {part.ref}
                    if part.kind == "sincos":
                        self.made[cosine_of(part.ref)] = part
                scope.nested |= is_routine(part)
                continue
            scope.nested = True
            self._scan_control(part, scope)

    def _scan_control(self, part: Loop | Branch | While, scope: Scope) -> None:
        if isinstance(part, While):
            body = Scope(len(self.of))
            self._scan(part.body, body)
            self._scan(part.condition, body)  # what the condition makes is there in the body
            scope.counted[id(part)] = counter = f"%times{body.number}"
            scope.makes.add(counter)
            return
        for inner in inner_regions(part):
            self._scan(inner)
        if isinstance(part, Loop):
            self.of[id(part.body)].makes |= {part.k, *part.carried}
            scope.makes |= set(part.carried)
        else:
            scope.makes |= set(part.results)

    def base(self, pointer: str) -> str:
        """The array that an address points into."""
        while pointer in self.made and self.made[pointer].kind == ADDRESS:
            pointer = self.made[pointer].args[0]
        return pointer

    @property
    def largest_frame(self) -> int:
        return max(len(scope.kept) for scope in self.of.values())

    def sized(self, text: str) -> str:
        """The text with the sizes of frames, which are known when both passes are written."""
        for scope in self.of.values():
            text = text.replace(f"@FRAME{scope.number}@", str(len(scope.kept)))
        return text

    # activity -----------------------------------------------------------------------------------------------------------

    def _spread(self, region: Region) -> bool:
        """Mark what depends on active numbers; whether something was marked."""
        before = len(self.active) + len(self.arrays)
        for part in region.parts:
            if isinstance(part, Operation):
                self._spread_operation(part)
                continue
            for inner in inner_regions(part):
                self._spread(inner)
            if isinstance(part, Loop):
                for name, first, after in zip(part.carried, part.first, part.after, strict=True):
                    self._mark(name, first, after)
            elif isinstance(part, Branch):
                for k, name in enumerate(part.results):
                    self._mark(name, *[values[k] for values in part.values])
        return len(self.active) + len(self.arrays) > before

    def _mark(self, name: str, *of: str) -> None:
        if any(x in self.active for x in of):
            self.active.add(name)

    def _spread_operation(self, part: Operation) -> None:
        kind = part.kind
        if is_routine(part):
            if self.touches(part):
                self.arrays |= {self.base(x) for x in addresses(part)}
        elif kind == STORE:
            if part.args[0] in self.active:
                self.arrays.add(self.base(part.args[1]))
        elif part.ref is None:
            return
        elif kind == LOAD or kind in GATHERS:
            if self.base(part.args[0]) in self.arrays:
                self.active.add(part.ref)
        elif kind == "sincos":
            self._mark(part.ref, *part.args)
            self._mark(cosine_of(part.ref), *part.args)
        elif plain_kind(kind) not in ("", "floor"):
            self._mark(part.ref, *part.args)

    def touches(self, call: Operation) -> bool:
        """Whether a routine is given anything whose numbers are differentiated."""
        return any(self.base(x) in self.arrays for x in addresses(call))

    def acts(self, region: Region) -> bool:
        """Whether anything in a region has an adjoint."""
        return any(True for _ in self._acting(region))

    def _acting(self, region: Region) -> Iterator[Operation]:
        for part in region.parts:
            if not isinstance(part, Operation):
                for inner in inner_regions(part):
                    yield from self._acting(inner)
            elif part.kind == STORE:
                if self.base(part.args[1]) in self.arrays:
                    yield part
            elif is_routine(part):
                if self.touches(part):
                    yield part
            elif part.ref in self.active or (part.kind == "sincos" and cosine_of(part.ref or "") in self.active):
                yield part

    def outside(self, regions: Iterable[Region], also: Iterable[str] = ()) -> list[str]:
        """Active numbers that regions use, or are used ``also``, and that are made outside of them."""
        made: set[str] = set()
        used: dict[str, None] = dict.fromkeys(also)
        for region in regions:
            self._uses(region, made, used)
        return [name for name in used if name in self.active and name not in made]

    def _uses(self, region: Region, made: set[str], used: dict[str, None]) -> None:
        made |= self.of[id(region)].makes
        for part in region.parts:
            if isinstance(part, Operation):
                used |= dict.fromkeys(part.args)
                continue
            for inner in inner_regions(part):
                self._uses(inner, made, used)
            if isinstance(part, Loop):
                used |= dict.fromkeys([*part.first, *part.after])
            elif isinstance(part, Branch):
                used |= dict.fromkeys(name for values in part.values for name in values)
