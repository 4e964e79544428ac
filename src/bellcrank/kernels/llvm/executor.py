"""The words of kernels as LLVM text, on recorded numbers: one state, or four at a time in lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...numbers import Dual, Number, Symbol
from ..arrays import Array
from ..executor import Executor
from ..messages import parts, whole
from . import flow
from .elementary import any_lane
from .emitter import Emitter
from .liveness import PASS
from .pool import Table
from .several import Several, one_by_one


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

    def __floordiv__(self, other: Any) -> Any:
        return Integer(self.e, self.e.emit("sdiv i64 $, $", self, other))

    def __mod__(self, other: Any) -> Any:
        return Integer(self.e, self.e.emit("srem i64 $, $", self, other))

    def __ge__(self, other: Any) -> str:
        return self.e.emit("icmp sge i64 $, $", self, other)

    def __gt__(self, other: Any) -> str:
        return self.e.emit("icmp sgt i64 $, $", self, other)

    def __lt__(self, other: Any) -> str:
        return self.e.emit("icmp slt i64 $, $", self, other)


class ArrayInMemory:
    """A declared array in memory. Numbers of lanes stand side by side; an active number has its tangents right behind."""

    def __init__(self, e: LlvmExecutor, declaration: Array):
        self.e, self.declaration = e, declaration
        self.base = f"%{declaration.name}"
        if declaration.kind == "local":
            e.do(f"{self.base} = alloca [{declaration.width} x i64], align 8")
        width = declaration.width
        self.width = e.count(width) if isinstance(width, str) else width
        self.active = e.tangents > 0 and declaration.active
        if declaration.kind == "tangent":
            self.step = e.wide  # doubles of a number
        elif self.active:
            self.step = 1 + e.wide
        else:
            self.step = 1 if declaration.shared else e.states

    def row(self, row: Any) -> str:
        """Address of a row."""
        e = self.e
        e.use(self.declaration.name)
        return e.pointer(self.base, row * (self.width * self.step))

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

    def _addresses(self, places: Sequence[Any]) -> list[str]:
        return [self.e.pointer(*self._at(place)) for place in places]

    def __getitem__(self, place: Any) -> Any:
        e = self.e
        if places := one_by_one(place):
            integers = self.declaration.integers
            return Several([self[x] for x in places]) if integers else e.symbol(e.gathered(self._addresses(places)))
        base, index = self._at(place)
        if self.declaration.kind == "tangent":
            return e.symbol(e.load_wide(base, index * e.wide))
        if self.declaration.shared or self.declaration.own:
            return self._read_once(base, index)
        if not self.active:
            return e.symbol(e.load(base, index))
        return Dual(self.part(place, False), [self.part(place, True)])

    def part(self, place: Any, tangents: bool) -> Symbol:
        """A part of an active number: the value, or its tangents."""
        e, (base, index) = self.e, self._at(place)
        first = index * e.unit
        return e.symbol(e.load_wide(base, first + 1) if tangents else e.load_double(base, first))

    def _read_once(self, base: str, index: Any) -> Any:
        """Tables and data: what nothing changes is read once."""
        e, key = self.e, ("shared", base, str(index))
        found = e.pointers.get(key)
        if found is None:
            if self.declaration.integers:
                found = Integer(e, e.load_int(base, index))
            elif self.declaration.own:
                found = e.symbol(e.load(base, index))
            else:
                found = e.symbol(e.splat(e.load_double(base, index)))
            if self.declaration.constant:
                e.pointers[key] = found
        return found

    def __setitem__(self, place: Any, x: Any) -> None:
        e = self.e
        if places := one_by_one(place):
            e.scatter(x, self._addresses(places))
            return
        base, index = self._at(place)
        if self.declaration.integers:
            e.do("store i64 $, ptr $, align 8", x, e.pointer(base, index))
            return
        if not self.active:
            e.store(x.value if isinstance(x, Dual) else x, base, index)
            return
        value, tangent = parts(x, 1)
        e.do("store double $, ptr $, align 8", e.operand(value), e.pointer(base, index * e.unit))
        e.store_wide(tangent, base, index * e.unit + 1)

    # places of single numbers, or of vectors of tangents, in memory that a pass lays out itself

    def fetch(self, place: Any, wide: bool) -> Any:
        if not wide:
            return self[place]
        return self.e.symbol(self.e.load_wide(*self._at(place)))

    def store(self, place: Any, wide: bool, x: Number) -> None:
        if wide:
            self.e.store_wide(x, *self._at(place))
        else:
            self[place] = x


class LlvmExecutor(Emitter, Executor):
    """``known_counts`` are known while the kernel is written, or names of its arguments; others are read of ``sizes``."""

    folds = True

    def __init__(self, lanes: int, wide: int, known_counts: Mapping[str, int | str], sizes: Array | None = None):
        super().__init__(lanes, wide)
        self.tangents = int(wide > 0)  # of a number: none, or a vector of them
        self.used: set[str] = set()
        self._counts = {name: Integer(self, x) if isinstance(x, str) else x for name, x in known_counts.items()}
        self._sizes = None if sizes is None else ArrayInMemory(self, sizes)

    def use(self, name: str) -> None:
        """A kernel takes the arrays that it uses as arguments."""
        if not self.rehearsing:
            self.used.add(name)

    def array(self, declaration: Array) -> ArrayInMemory:
        return ArrayInMemory(self, declaration)

    def count(self, name: str) -> Any:
        if name in self._counts or self._sizes is None:
            return self._counts[name]
        return self._sizes[0, name]

    def each(self, start: Any, stop: Any, body: Callable[[Any], None]) -> None:
        flow.each(self, start, stop, lambda k: body(Integer(self, k)))

    def fold(
        self, start: Any, stop: Any, first: Sequence[Number], body: Callable[[Any, list[Number]], Sequence[Number]]
    ) -> list[Number]:
        """Numbers have their tangents with them."""
        size, wide = 1 + self.tangents, [False, bool(self.wide)][: 1 + self.tangents] * len(first)

        def operands(numbers: Sequence[Number]) -> list[str]:
            return self._operands([part for x in numbers for part in parts(x, self.tangents)], wide)

        def numbers(refs: Sequence[str]) -> list[Number]:
            symbols = [self.symbol(ref) for ref in refs]
            return [whole(symbols[k : k + size]) for k in range(0, len(symbols), size)]

        def step(k: str, refs: list[str]) -> list[str]:
            return operands(body(Integer(self, k), numbers(refs)))

        return numbers(flow.folded(self, start, stop, operands(first), step, wide))

    def total(self, start: Any, stop: Any, term: Callable[[Any], Number]) -> Number:
        return self.fold(start, stop, [0.0], lambda k, sums: [sums[0] + term(k)])[0]

    def loop(
        self,
        count: Any,
        carry: Sequence[Number],
        body: Callable[[Any, list[Number]], Sequence[Number]],
        inward: bool,
        wide: Sequence[bool] = (),
    ) -> None:
        def step(k: str, refs: list[str]) -> list[str]:
            i = self.emit("sub nsw i64 $, $", self.emit("sub nsw i64 $, 1", count), k) if inward else k
            return self._operands(body(Integer(self, i), [self.symbol(ref) for ref in refs]), wide)

        flow.repeat(self, count, self._operands(carry, wide), step, wide)

    def switch(self, code: Any, cases: Sequence[Callable[[], Sequence[Number]]], wide: Sequence[bool] = ()) -> list[Number]:
        arms = [lambda case=case: self._operands(case(), wide) for case in cases]
        return [self.symbol(ref) for ref in flow.switch(self, str(code), arms, wide)]

    def _operands(self, numbers: Sequence[Number], wide: Sequence[bool]) -> list[str]:
        if not wide:
            return [self.operand(x) for x in numbers]
        return [self.operand(x, w) for x, w in zip(numbers, wide, strict=True)]

    def when(self, condition: str, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        flow.when(self, condition, then, otherwise)

    def repeat(self, condition: Callable[[], str], body: Callable[[], None]) -> None:
        flow.while_(self, condition, body)

    def any_lane(self, condition: Any) -> str:
        return any_lane(self, condition.ref)

    def where(self, i: Any, j: Any, x: Number) -> Number:
        if isinstance(x, Dual):
            return Dual(self.where(i, j, x.value), [self.where(i, j, t) for t in x.tangents])
        if not isinstance(x, Symbol) and x == 0:
            return 0.0
        wide = isinstance(x, Symbol) and x.wide
        same, T = self.emit("icmp eq i64 $, $", i, j), self.wide_type if wide else self.type
        zero, name = self.constant(0.0, wide), self.name(wide=wide)
        return self.symbol(self.emit(f"select i1 $, {T} $, {T} {zero}", same, self.operand(x), ref=name))

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

    def table(self, array: ArrayInMemory, length: Any, tangents: ArrayInMemory | None = None) -> Table:
        self.use(array.declaration.name)
        if tangents is not None:
            self.use(tangents.declaration.name)
        own = array.declaration.own and self.lanes > 1
        return Table(self, array.base, length, None if tangents is None else tangents.base, own)
