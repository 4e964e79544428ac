"""The words of steps as LLVM text. A vector holds neighbours of one state, or a number of every lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...numbers import Condition, Number, Symbol
from ..executor import StepExecutor
from .elementary import per_lane
from .executor import Integer, LlvmExecutor


class Address:
    """Numbers in memory, from a place on; its text is the name of a pointer."""

    __slots__ = ("e", "ref")

    def __init__(self, e: LlvmExecutor, ref: str):
        self.e, self.ref = e, ref

    def __str__(self) -> str:
        return self.ref

    def at(self, k: Any) -> Address:
        return Address(self.e, str(self.e.pointer(self.ref, k)))

    def __getitem__(self, i: Any) -> Symbol:
        return self.e.symbol(self.e.load(self.ref, i))

    def __setitem__(self, i: Any, x: Number) -> None:
        self.e.store(x, self.ref, i)

    def vector(self) -> Symbol:
        """One that need not begin where the vectors of an array do."""
        return self.e.symbol(self.e.emit(f"load {self.e.type}, ptr $, align 8", self.ref))

    def put_vector(self, x: Number) -> None:
        self.e.do(f"store {self.e.type} $, ptr $, align 8", self.e.operand(x), self.ref)

    def integer(self, i: Any) -> Integer:
        return Integer(self.e, self.e.load_int(self.ref, i))

    def put_integer(self, i: Any, value: Any) -> None:
        self.e.do("store i64 $, ptr $, align 8", value, self.e.pointer(self.ref, i))


class LaneVectors(LlvmExecutor, StepExecutor):
    """Every number is a vector with one of each lane, or a scalar where there is one lane."""

    def __init__(self, lanes: int):
        super().__init__(lanes, 0, {})

    def word(self, k: int, integer: bool) -> Any:
        """The k-th of the words of ``bound``: a size, or where an array is."""
        ref = self.emit(f"load {'i64' if integer else 'ptr'}, ptr {self.pointer('%bound', k)}, align 8")
        return Integer(self, ref) if integer else Address(self, ref)

    @property
    def zero(self) -> Symbol:
        return self.symbol(self.constant(0.0))

    def scalar(self, x: float) -> str:
        """A constant, as a double."""
        return LlvmExecutor(1, 0, {}).constant(x)

    def read(self, base: Any, i: Any) -> Symbol:
        return self.symbol(self.load(base, i))

    def write(self, x: Number, base: Any, i: Any) -> None:
        self.store(x, base, i)

    def number_of(self, i: Any) -> Symbol:
        return self.symbol(self.splat(self.emit("sitofp i64 $ to double", i)))

    def added_up(self, x: Symbol) -> Symbol:
        return x

    def largest(self, x: Symbol) -> Symbol:
        return x

    def power(self, x: Number, exponent: float) -> Symbol:
        return self.symbol(per_lane(self, "pow", self.operand(x), self.constant(exponent)))

    def of_lanes(self, base: Any, place: Callable[[int], Any]) -> Symbol:
        numbers = "poison"
        for lane in range(self.lanes):
            number = self.load_double(base, place(lane))
            numbers = self.emit(f"insertelement {self.type} {numbers}, double {number}, i32 {lane}")
        return self.symbol(numbers)

    def put_of_lane(self, x: Number, lane: int, base: Any, i: Any) -> None:
        number = self.emit(f"extractelement {self.type} {self.operand(x)}, i32 {lane}")
        self.do("store double $, ptr $, align 8", number, self.pointer(base, i))

    def one_if(self, condition: Condition, lane: int) -> Integer:
        return Integer(self, self.emit("zext i1 $ to i64", self._bit(condition, lane)))

    def place_if(self, condition: Condition, lane: int, i: Any, j: Any) -> Integer:
        return Integer(self, self.emit("select i1 $, i64 $, i64 $", self._bit(condition, lane), i, j))

    def _bit(self, condition: Condition, lane: int) -> str:
        return self.emit(f"extractelement {self.bool_type} {condition.ref}, i32 {lane}")

    def smaller(self, i: Any, j: Any) -> Integer:
        return Integer(self, self.emit("select i1 $, i64 $, i64 $", i < j, i, j))

    def equal(self, i: Any, j: Any) -> str:
        return self.emit("icmp eq i64 $, $", i, j)

    def unequal(self, i: Any, j: Any) -> str:
        return self.emit("icmp ne i64 $, $", i, j)

    def all_of(self, *bits: str) -> str:
        return self._joined("and", bits)

    def any_of(self, *bits: str) -> str:
        return self._joined("or", bits)

    def _joined(self, kind: str, bits: Sequence[str]) -> str:
        result = bits[0]
        for bit in bits[1:]:
            result = self.emit(f"{kind} i1 {result}, {bit}")
        return result

    def call(self, name: str, integers: Sequence[Any], arrays: Mapping[str, Any]) -> None:
        given = [*(f"i64 {i}" for i in integers), *(f"ptr {base}" for base in arrays.values())]
        self.do(f"call void @{name}({', '.join(given)})")
        self.forget()

    def call_back(self, function: Any, argument: Any, failed: Callable[[], None]) -> None:
        address, given = (self.emit("inttoptr i64 $ to ptr", x) for x in (function, argument))
        answer = self.emit(f"call ptr {address}(ptr {given})")
        self.forget()
        self.when(self.emit("icmp eq ptr $, null", answer), failed)


class StateVectors(LaneVectors):
    """A vector holds so many neighbours of a state; a number that stands alone fills all of its places."""

    def read(self, base: Any, i: Any) -> Symbol:
        return self.symbol(self.splat(self.load_double(base, i)))

    def write(self, x: Number, base: Any, i: Any) -> None:
        self.do("store double $, ptr $, align 8", self.first(x), self.pointer(base, i))

    def first(self, x: Number) -> str:
        """A double of its own."""
        return self.emit(f"extractelement {self.type} {self.operand(x)}, i32 0")

    def any_lane(self, condition: Condition) -> str:
        return self._bit(condition, 0)

    def added_up(self, x: Symbol) -> Symbol:
        return self._reduced("fadd", x, "double 0.0, ")

    def largest(self, x: Symbol) -> Symbol:
        return self._reduced("fmaximum", x, "")

    def _reduced(self, kind: str, x: Symbol, first: str) -> Symbol:
        name = f"llvm.vector.reduce.{kind}.{self.suffix}"
        self.declarations[name] = f"declare double @{name}({'double, ' if first else ''}{self.type})"
        return self.symbol(self.splat(self.emit(f"call double @{name}({first}{self.type} $)", self.operand(x))))

    def power(self, x: Number, exponent: float) -> Symbol:
        """A power of one number rather than of a vector of equal ones."""
        self.declarations["pow"] = "declare double @pow(double, double)"
        return self.symbol(self.splat(self.emit("call double @pow(double $, double $)", self.first(x), self.scalar(exponent))))

    def of_lanes(self, base: Any, place: Callable[[int], Any]) -> Symbol:
        return self.read(base, place(0))


def write_function(
    name: str, e: LaneVectors, arrays: Sequence[str], integers: Sequence[str], body: Callable[..., None]
) -> tuple[str, dict[str, str]]:
    """Text of a function whose body is written in the words of steps: body(e, *arrays, *integers)."""
    body(e, *[Address(e, f"%{x}") for x in arrays], *[Integer(e, f"%{x}") for x in integers])
    e.do("ret void")
    taken = ", ".join([*(f"i64 %{x}" for x in integers), *(f"ptr noalias %{x}" for x in arrays)])
    return f"define internal void @{name}({taken}) {{\nentry:\n{e.text()}\n}}\n", e.declarations
