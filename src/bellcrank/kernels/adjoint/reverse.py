"""The backward pass through a recorded kernel: its transposed graph.

What was done last is undone first. An operation passes the adjoint of its result on to its arguments (rules); a load adds to
the adjoint of the cell that it read, a store takes the adjoint of the cell over and leaves zero; a loop runs from its last turn
to the first, so that an outward pass becomes an inward one; a branch goes the way that it went. Adjoints of numbers are numbers
again, in registers; those of arrays stand in arrays of the same size, ``bar.name``. Values that are needed come from the tape,
except addresses, integers and what can be read again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...numbers import Condition, Number, Symbol, maximum, minimum
from ..llvm.emitter import POISON, Emitter
from ..llvm.graph import Branch, Loop, Operation, Region, While, cosine_of
from .rules import RESULT, RULES
from .scopes import (
    ADDRESS,
    BITS,
    GATHERS,
    LOAD,
    LOAD_INTEGER,
    STORE,
    Scope,
    Scopes,
    addresses,
    arguments,
    is_routine,
    plain_kind,
    routine_call,
)

TOP = "%top"  # a cell of the stack that has the end of the tape
_AGAIN = ("add i64", "sub i64", "mul i64", "sub nsw i64", "udiv i64", "select i1 $, i64", "icmp", "sitofp", "getelementptr")


def adjoint_of(array: str) -> str:
    """The argument that has the adjoints of an array."""
    return f"%bar.{array[1:]}"


class Reverse:
    """Writes the backward pass. ``constant``: arrays that a kernel only reads, so that they can be read again."""

    def __init__(self, scopes: Scopes, constant: set[str]):
        self.e, self.scopes, self.constant = Emitter(1), scopes, constant
        self.levels: list[tuple[Scope, dict[str, str]]] = []  # regions that are being gone back through: what is known in each
        self.bars: dict[str, Number] = {}

    def write(self, region: Region) -> Emitter:
        with self._inside(region):
            self._back(region)
        return self.e

    # regions ------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _inside(self, region: Region) -> Iterator[None]:
        """Takes the frame of a region off the tape, if anything was kept."""
        e, scope = self.e, self.scopes.of[id(region)]
        place = len(e.region.parts)
        parts, self.levels = e.region.parts, [*self.levels, (scope, {})]
        yield
        self.levels = self.levels[:-1]
        if scope.kept:
            parts[place:place] = _taken_off(scope)
            if scope.nested:
                e.do("store ptr $, ptr $, align 8", scope.pointer, TOP)

    def _back(self, region: Region) -> None:
        for part in reversed(region.parts):
            if isinstance(part, Operation):
                self._operation(part)
            elif isinstance(part, Loop):
                if self.scopes.acts(part.body) or any(name in self.bars for name in part.carried):
                    self._loop(part)
            elif isinstance(part, Branch):
                if any(map(self.scopes.acts, part.regions)) or any(name in self.bars for name in part.results):
                    self._branch(part)
            elif self.scopes.acts(part.body):
                self._while(part)

    def _apart(self, bars: dict[str, Number], act: Callable[[], list[str]]) -> list[str]:
        """Runs ``act`` with adjoints of its own."""
        kept, self.bars = self.bars, bars
        try:
            return act()
        finally:
            self.bars = kept

    def _loop(self, loop: Loop) -> None:
        """Carried backward: adjoints of what the loop carries, then those of numbers from outside that it uses."""
        carried = [k for k, name in enumerate(loop.carried) if name in self.scopes.active]
        finals = [self.bars.pop(loop.carried[k], 0.0) for k in carried]
        outside = self.scopes.outside([loop.body], loop.after)
        start, stop = self.value(loop.start), self.value(loop.stop)
        last = self.e.integer("sub", stop, 1)
        first = [*finals, *(self.bars.get(name, 0.0) for name in outside)]

        def turn(k: str, bars: list[Symbol]) -> list[str]:
            here = dict(zip(outside, bars[len(carried) :], strict=True))
            self.levels[-1][1][loop.k] = str(self.e.integer("sub", last, self.e.integer("sub", k, start)))
            return self._apart(dict(here), lambda: body(bars))

        def body(bars: list[Symbol]) -> list[str]:
            for k, bar in zip(carried, bars, strict=False):
                self.add(loop.after[k], bar)
            self._back(loop.body)
            return [self.e.operand(self.bars.get(name, 0.0)) for name in [*(loop.carried[k] for k in carried), *outside]]

        found = self._repeat(loop.body, start, stop, first, turn)
        self.bars |= dict(zip(outside, found[len(carried) :], strict=True))
        for k, bar in zip(carried, found, strict=False):
            self.add(loop.first[k], bar)

    def _repeat(
        self, region: Region, start: str, stop: str, first: Sequence[Number], turn: Callable[[str, list[Symbol]], list[str]]
    ) -> list[Symbol]:
        e = self.e
        k, names = e.name(), [e.name() for _ in first]
        loop = Loop(k, start, stop, names, [e.operand(x) for x in first], Region(), once=False)
        with e.inside(loop.body), self._inside(region):
            loop.after = turn(k, [e.symbol(name) for name in names])
        e.append(loop)
        return [e.symbol(name) for name in names]

    def _branch(self, branch: Branch) -> None:
        e = self.e
        seeds = [self.bars.pop(name, 0.0) for name in branch.results]
        outside = self.scopes.outside(branch.regions, (name for values in branch.values for name in values))
        mirrored = Branch(self.value(branch.on), branch.bit, [], [], likely=branch.likely)

        def arm(region: Region, values: list[str]) -> list[str]:
            for name, seed in zip(values, seeds, strict=True):
                self.add(name, seed)
            self._back(region)
            return [e.operand(self.bars.get(name, 0.0)) for name in outside]

        before = {name: self.bars[name] for name in outside if name in self.bars}
        for region, values in zip(branch.regions, branch.values, strict=True):
            with e.inside(Region()) as made, self._inside(region):
                mirrored.values.append(self._apart(dict(before), lambda r=region, v=values: arm(r, v)))  # type: ignore[misc]
            mirrored.regions.append(made)
        mirrored.results = [e.name() for _ in outside]
        e.append(mirrored)
        self.bars |= {name: e.symbol(ref) for name, ref in zip(outside, mirrored.results, strict=True)}

    def _while(self, part: While) -> None:
        """The reverse of a loop: as many passes as the forward pass took."""
        counter = next(scope.counted[id(part)] for scope, _ in reversed(self.levels) if id(part) in scope.counted)
        outside = self.scopes.outside([part.body])

        def turn(k: str, bars: list[Symbol]) -> list[str]:
            return self._apart(dict(zip(outside, bars, strict=True)), body)

        def body() -> list[str]:
            self._back(part.body)
            return [self.e.operand(self.bars.get(name, 0.0)) for name in outside]

        first = [self.bars.get(name, 0.0) for name in outside]
        found = self._repeat(part.body, "0", self._kept(counter, "i64"), first, turn)
        self.bars |= dict(zip(outside, found, strict=True))

    # operations ---------------------------------------------------------------------------------------------------------

    def add(self, name: str, bar: Number) -> None:
        """Adds to the adjoint of a number."""
        if name in self.scopes.active and not (isinstance(bar, float) and bar == 0):
            self.bars[name] = self.bars[name] + bar if name in self.bars else bar

    def _operation(self, part: Operation) -> None:
        if part.kind == STORE:
            self._store(part)
            return
        if is_routine(part):
            self._routine(part)
            return
        if part.ref is None:
            return
        if part.kind == "sincos":
            self._sincos(part)
            return
        bar = self.bars.pop(part.ref, 0.0)
        if isinstance(bar, float) and bar == 0:
            return
        if part.kind == LOAD:
            self._accumulate(self.address(part.args[0]), bar)
        elif part.kind in GATHERS:
            self._gather(part, bar)
        else:
            self._number(part, bar)

    def _number(self, part: Operation, bar: Number) -> None:
        taken = arguments(part)

        def of(place: int) -> Number:
            return self.number(part.ref if place == RESULT else taken[place])  # type: ignore[arg-type]

        for name, rule in zip(taken, RULES[plain_kind(part.kind)], strict=True):
            if name in self.scopes.active:
                self.add(name, rule(bar, of))

    def _sincos(self, part: Operation) -> None:
        assert part.ref is not None
        sine, cosine = (self.bars.pop(name, 0.0) for name in (part.ref, cosine_of(part.ref)))
        for bar, other, sign in ((sine, cosine_of(part.ref), 1.0), (cosine, part.ref, -1.0)):
            if not (isinstance(bar, float) and bar == 0):
                self.add(part.args[0], sign * (bar * self.number(other)))

    def _store(self, part: Operation) -> None:
        name, pointer = part.args
        if self.scopes.base(pointer) not in self.scopes.arrays:
            return
        place = self.address(pointer)
        if name in self.scopes.active:
            self.add(name, self.e.symbol(self.e.load_double(place, 0)))
        self.e.do(STORE, self.e.constant(0.0), place)

    def _routine(self, part: Operation) -> None:
        """The backward pass of a routine, with the adjoints of the matrices."""
        if self.scopes.touches(part):
            again = Operation(None, part.kind, tuple(self.value(x) for x in part.args))
            bars = [self.address(x) for x in addresses(part)]
            kind, args = routine_call(again, "reverse", [*bars, TOP])
            self.e.do(kind, *args)

    def _gather(self, part: Operation, bar: Number) -> None:
        """Adds to the adjoint of the entry of the table; its place does not change in between."""
        pointer, *limit, index = part.args
        place = self.number(index)
        if limit:
            place = minimum(maximum(place, 0.0), self.number(limit[0]))
        whole = self.e.emit("fptosi double $ to i64", self.e.operand(place))
        self._accumulate(self.e.pointer(self.address(pointer), whole), bar)

    def _accumulate(self, place: str, bar: Number) -> None:
        e = self.e
        e.do(STORE, e.operand(e.symbol(e.load_double(place, 0)) + bar), place)

    # values -------------------------------------------------------------------------------------------------------------

    def address(self, pointer: str) -> str:
        """The address of the adjoint of a cell."""
        part = self.scopes.made.get(pointer)
        if part is None:
            return adjoint_of(pointer)
        base, index = part.args
        return self.e.pointer(self.address(base), self.value(index))

    def number(self, name: str) -> Number:
        """The value that a number had, as a number."""
        if name.startswith("0x"):
            return float(struct.unpack(">d", bytes.fromhex(name[2:]))[0])
        ref = self.value(name)
        return Condition(self.e, ref) if self._type(name) == "i1" else self.e.symbol(ref)

    def _type(self, name: str) -> str:
        kind = self.scopes.made[name].kind if name in self.scopes.made else ""
        if kind in BITS or kind.startswith("icmp"):
            return "i1"
        return "i64" if kind == LOAD_INTEGER else "double"

    def value(self, name: str) -> str:
        """The value that something had, by its name: an argument, computed again, or from the tape."""
        for _, known in reversed(self.levels):
            if name in known:
                return known[name]
        if not name.startswith("%") or name == POISON:
            return name
        if name not in self.scopes.made and not any(name in scope.makes for scope, _ in self.levels):
            return name  # an argument of the kernel
        found = self._again(name) if name in self.scopes.made else None
        if found is None:
            found = self._kept(name, self._type(name))
        self.levels[-1][1][name] = found
        return found

    def _again(self, name: str) -> str | None:
        part = self.scopes.made[name]
        if part.kind == ADDRESS:
            return self.e.pointer(self.value(part.args[0]), self.value(part.args[1]))
        fixed = part.kind in (LOAD, LOAD_INTEGER) and self.scopes.base(part.args[0]) in self.constant
        if fixed or part.kind == "fneg" or part.kind.startswith(_AGAIN):
            return self.e.emit(part.kind, *[self.value(x) for x in part.args])
        return None

    def _kept(self, name: str, type_: str) -> str:
        """A number from the frame of the region that made it."""
        scope = next(scope for scope, _ in reversed(self.levels) if name in scope.makes)
        place = scope.place(name)
        address = self.e.emit(ADDRESS, scope.pointer, place)
        return self.e.emit(f"load {type_}, ptr $, align 8", address)


def _taken_off(scope: Scope) -> list[Operation]:
    """Where the last frame of a region is, which its end says if others came between, or its size."""
    top, pointer = f"%top{scope.number}", scope.pointer
    parts = [Operation(top, "load ptr, ptr $, align 8", (TOP,))]
    if not scope.nested:
        parts.append(Operation(pointer, ADDRESS, (top, f"-{scope.size}")))
        return [*parts, Operation(None, "store ptr $, ptr $, align 8", (pointer, TOP))]
    link = f"%link{scope.number}"
    parts.append(Operation(link, ADDRESS, (top, "-1")))
    parts.append(Operation(pointer, "load ptr, ptr $, align 8", (link,)))
    return [*parts, Operation(None, "store ptr $, ptr $, align 8", (link, TOP))]
