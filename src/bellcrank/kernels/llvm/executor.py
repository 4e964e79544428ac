"""The words of kernels as LLVM text, on recorded numbers: one state, or four at a time in lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...numbers import Number, Symbol
from ..arrays import Array
from ..executor import Executor
from ..messages import parts, whole
from . import flow
from .elementary import any_lane
from .emitter import Emitter
from .liveness import PASS
from .pool import Table


class Integer:
    """An i64 that is known at run time only."""

    __slots__ = ("e", "ref")

    def __init__(self, e: Emitter, ref: str):
        self.e, self.ref = e, ref

    def __str__(self) -> str:
        return self.ref

    def __hash__(self) -> int:
        return hash(self.ref)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Integer) and other.ref == self.ref

    def _made(self, kind: str, a: Any, b: Any) -> Any:
        key = (kind, a.ref if type(a) is Integer else a, b.ref if type(b) is Integer else b)
        found = self.e.pointers.get(key)
        if found is None:
            made = self.e.integer(kind, a, b)
            found = self.e.pointers[key] = Integer(self.e, made) if isinstance(made, str) else made
        return found

    def __add__(self, other: Any) -> Any:
        return self._made("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._made("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._made("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._made("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._made("mul", self, other)

    __rmul__ = __mul__

    def __ge__(self, other: Any) -> str:
        return self.e.emit("icmp sge i64 $, $", self, other)


class ArrayInMemory:
    """A declared array in memory. Numbers of lanes stand side by side; those with tangents have them right behind."""

    def __init__(self, e: LlvmExecutor, declaration: Array):
        self.e, self.declaration = e, declaration
        self.base = f"%{declaration.name}"
        if declaration.kind == "local":
            e.do(f"{self.base} = alloca [{declaration.width} x i64], align 8")
        width = declaration.width
        self.width = e.count(width) if isinstance(width, str) else width
        self.parts = 1 + e.tangents if declaration.active else 1

    def row(self, row: Any) -> str:
        """Address of a row."""
        e = self.e
        e.use(self.declaration.name)
        step = self.parts * (1 if self.declaration.shared else e.lanes)
        return e.pointer(self.base, row * (self.width * step))

    def _at(self, place: Any) -> tuple[str, Any]:
        """A row's address, and the number's place in the row; an array without rows is one row."""
        if not isinstance(place, tuple):
            self.e.use(self.declaration.name)
            return self.base, place
        row, column = place
        if isinstance(column, str):
            return self.row(row), self.declaration.place[column]
        if isinstance(column, int):
            return self.row(row), column
        self.e.use(self.declaration.name)
        return self.base, row * self.width + column

    def __getitem__(self, place: Any) -> Any:
        e, (base, index) = self.e, self._at(place)
        if self.declaration.shared:
            return self._shared(base, index)
        first = index * self.parts
        return whole([e.symbol(e.load(base, first + k)) for k in range(self.parts)])

    def _shared(self, base: str, index: Any) -> Any:
        """What is the same for all lanes; what nothing changes is read once."""
        e, key = self.e, ("shared", base, str(index))
        found = e.pointers.get(key)
        if found is None:
            read = e.load_int if self.declaration.integers else e.load_double
            ref = read(base, index)
            found = Integer(e, ref) if self.declaration.integers else e.symbol(e.splat(ref))
            if self.declaration.constant:
                e.pointers[key] = found
        return found

    def __setitem__(self, place: Any, x: Any) -> None:
        e, (base, index) = self.e, self._at(place)
        if self.declaration.integers:
            e.do("store i64 $, ptr $, align 8", x, e.pointer(base, index))
            return
        first = index * self.parts
        for k, part in enumerate(parts(x, self.parts - 1)[: self.parts]):
            e.store(part, base, first + k)


class LlvmExecutor(Emitter, Executor):
    """``known_counts`` are known while the kernel is written, or names of its arguments; others are read of ``sizes``."""

    folds = True

    def __init__(self, lanes: int, tangents: int, known_counts: Mapping[str, int | str], sizes: Array):
        super().__init__(lanes)
        self.tangents = tangents
        self.used: set[str] = set()
        self._counts = {name: Integer(self, x) if isinstance(x, str) else x for name, x in known_counts.items()}
        self._sizes = ArrayInMemory(self, sizes)

    def use(self, name: str) -> None:
        """A kernel takes the arrays that it uses as arguments."""
        if not self.rehearsing:
            self.used.add(name)

    def array(self, declaration: Array) -> ArrayInMemory:
        return ArrayInMemory(self, declaration)

    def count(self, name: str) -> Any:
        return self._counts[name] if name in self._counts else self._sizes[0, name]

    def each(self, start: Any, stop: Any, body: Callable[[Any], None]) -> None:
        flow.each(self, start, stop, lambda k: body(Integer(self, k)))

    def fold(
        self, start: Any, stop: Any, first: Sequence[Number], body: Callable[[Any, list[Number]], Sequence[Number]]
    ) -> list[Number]:
        def step(k: str, refs: list[str]) -> list[str]:
            return [self.operand(x) for x in body(Integer(self, k), [self.symbol(ref) for ref in refs])]

        return [self.symbol(ref) for ref in flow.folded(self, start, stop, [self.operand(x) for x in first], step)]

    def total(self, start: Any, stop: Any, term: Callable[[Any], Number]) -> Number:
        def add(k: Any, sums: list[Number]) -> list[Number]:
            return parts(whole(sums) + term(k), self.tangents)

        return whole(self.fold(start, stop, [0.0] * (1 + self.tangents), add))

    def loop(
        self, count: Any, carry: Sequence[Number], body: Callable[[Any, list[Number]], Sequence[Number]], inward: bool
    ) -> None:
        def step(k: str, refs: list[str]) -> list[str]:
            i = self.emit("sub nsw i64 $, $", self.emit("sub nsw i64 $, 1", count), k) if inward else k
            return [self.operand(x) for x in body(Integer(self, i), [self.symbol(ref) for ref in refs])]

        flow.repeat(self, count, [self.operand(x) for x in carry], step)

    def switch(self, code: Any, cases: Sequence[Callable[[], Sequence[Number]]]) -> list[Number]:
        arms = [lambda case=case: [self.operand(x) for x in case()] for case in cases]
        return [self.symbol(ref) for ref in flow.switch(self, str(code), arms)]

    def when(self, condition: str, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        flow.when(self, condition, then, otherwise)

    def repeat(self, condition: Callable[[], str], body: Callable[[], None]) -> None:
        flow.while_(self, condition, body)

    def any_lane(self, condition: Any) -> str:
        return any_lane(self, condition.ref)

    def where(self, i: Any, j: Any, x: Number) -> Symbol:
        same = self.emit("icmp eq i64 $, $", i, j)
        chosen = self.emit(f"select i1 $, {self.type} $, {self.type} {self.constant(0.0)}", same, self.operand(x))
        return self.symbol(chosen)

    def start_pass(self) -> None:
        self.do(PASS)

    def unknown_integer(self) -> Integer:
        """One for a rehearsal."""
        return Integer(self, "%rehearsed")

    def once(self, origin: tuple[Any, ...], index: Any, read: Callable[[], Number]) -> Number:
        key = ("load", *origin, str(index))
        found = self.known.get(key)
        if found is None:
            read_now = read()
            found = self.known[key] = Symbol(self, read_now.ref, "load", origin)
        return found

    def table(self, array: ArrayInMemory, length: Any) -> Table:
        self.use(array.declaration.name)
        return Table(self, array.base, length)
