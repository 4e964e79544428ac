"""Records arithmetic and memory accesses of kernels, on one state (double) or on lanes (<4 x double>), and writes LLVM text.

Text is six times faster to make than llvmlite's IR objects. Flags: contraction into fused multiply-add, no signed zeros,
reciprocals; never `fast`, which would assume that there is no NaN.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...numbers import Condition, Graph, Number, Symbol
from ...numbers.symbol import WIDE
from .graph import Abreast, Cell, Operation, Region, cosine_of
from .text import Writer

POISON = "poison"
SINCOS = frozenset(("sin", "cos"))
INTRINSIC = frozenset(("sqrt", "fabs", "minimum", "maximum", "floor"))
Int = Any  # a known integer, or what str() makes the name of an i64


class Emitter(Graph):
    """One function under construction, and the declarations it needs."""

    def __init__(self, lanes: int = 1, wide: int = 0):
        """``wide``: how many tangents stand beside every value, which is then one number: in vectors, whose names say so."""
        super().__init__()
        self.wide = wide
        self.states = lanes  # of a number in memory; where nodes are taken abreast, lanes are other ones
        self.wide_type = f"<{wide} x double>"
        self.unit = 1 + wide if wide else lanes  # doubles of a number with its tangents, or of all lanes
        self._take(lanes)
        self.region = Region()  # what is being recorded
        self.rehearsing = False
        self.chunked = lanes == 1 and not wide  # matrices in memory: several numbers of a row at once (routine)
        self.transposable = False  # whether the adjoint of what is recorded will be written (kernels.adjoint)
        self.declarations: dict[str, str] = {}
        self.pointers: dict[tuple[Any, ...], Any] = {}  # addresses, integers and what is read of constant tables
        self._constants: dict[tuple[bytes, int], str] = {}

    def _take(self, lanes: int) -> None:
        self.lanes = lanes
        self.type = "double" if lanes == 1 else f"<{lanes} x double>"
        self.int_type = "i64" if lanes == 1 else f"<{lanes} x i64>"
        self.bool_type = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.align = 8 * lanes

    @contextmanager
    def in_lanes(self, lanes: int) -> Iterator[None]:
        """Numbers are vectors of so many."""
        before = self.lanes
        self._take(lanes)
        try:
            yield
        finally:
            self._take(before)

    # recording ----------------------------------------------------------------------------------------------------

    def append(self, part: Any) -> None:
        if not self.rehearsing:
            self.region.parts.append(part)

    def emit(self, kind: str, *args: Any, ref: str | None = None) -> str:
        """An operation that makes a value, in LLVM's words with a $ for each argument; returns the value's name."""
        ref = ref or self.name()
        if not self.rehearsing:
            self.region.parts.append(Operation(ref, kind, tuple([a if type(a) is str else str(a) for a in args])))
        return ref

    def do(self, kind: str, *args: Any) -> None:
        """An operation that makes nothing."""
        if not self.rehearsing:
            self.region.parts.append(Operation(None, kind, tuple(map(str, args))))

    def mark(self, cell: Cell) -> None:
        """The operation recorded last stores or loads this cell (liveness)."""
        if not self.rehearsing:
            self.region.parts[-1].cell = cell

    @contextmanager
    def inside(self, region: Region) -> Iterator[Region]:
        """Record into a region of a loop or a branch. What is known outside is not known inside, nor the other way round."""
        kept, self.region = self.region, region
        self.forget()
        try:
            yield region
        finally:
            self.region = kept
            self.forget()

    @contextmanager
    def abreast(self, lanes: int) -> Iterator[None]:
        """Record operations on vectors of so many numbers, of which nothing outside is made."""
        part = Abreast(lanes, Region())
        with self.in_lanes(lanes), self.inside(part.body):
            yield
        self.append(part)

    def text(self) -> str:
        writer = Writer(self)
        writer.write(self.region)
        return "\n".join(writer.lines)

    def release(self) -> None:
        """Numbers know where they are recorded, and what is known knows numbers: undone, so that all of it goes at once."""
        self.forget()
        self.region = Region()

    def start_block(self, label: str) -> None:
        """For the few functions that jump by themselves."""
        self.do(f"{label}:")
        self.forget()

    def new_label(self, hint: str) -> str:
        return f"{hint}.{self.name()[2:]}"

    def forget(self) -> None:
        super().forget()
        self.pointers = {}

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Nothing is recorded inside; numbers get names, which is enough to see what folds."""
        kept = self.known, self.pointers
        self.known, self.pointers, self.rehearsing = {}, {}, True
        try:
            yield
        finally:
            self.known, self.pointers = kept
            self.rehearsing = False

    # numbers ------------------------------------------------------------------------------------------------------

    def constant(self, x: float, wide: bool = False) -> str:
        key = struct.pack(">d", x), self.wide if wide else self.lanes  # not x itself: 0.0 == -0.0
        text = self._constants.get(key)
        if text is None:
            one = f"0x{key[0].hex().upper()}"
            text = one if key[1] == 1 else "<" + ", ".join([f"double {one}"] * key[1]) + ">"
            self._constants[key] = text
        return text

    def operand(self, x: Number, wide: bool = False) -> str:
        """``wide``: as a vector of tangents, which a scalar fills."""
        if type(x) is Condition:
            return x.ref
        if type(x) is not Symbol:
            return self.constant(float(x), wide)
        return self.widened(x.ref) if wide and not x.wide and x.ref != POISON else x.ref

    def widened(self, scalar: str) -> str:
        """A vector of tangents, each of which is this double."""
        key = ("widened", scalar)
        found: str | None = self.known.get(key)
        if found is None:
            T = self.wide_type
            first = self.emit(f"insertelement {T} poison, double $, i32 0", scalar, ref=self.name(wide=True))
            mask = f"<{self.wide} x i32> zeroinitializer"
            found = self.emit(f"shufflevector {T} $, {T} poison, {mask}", first, ref=self.name(wide=True))
            self.known[key] = found
        return found

    def type_of(self, ref: str) -> str:
        return self.wide_type if ref.startswith(WIDE) else self.type

    def symbol(self, ref: str) -> Symbol:
        return Symbol(self, ref)

    def needless(self) -> Symbol:
        """A number that nothing alive depends on. In the backward pass its adjoint, which is zero, is multiplied with what it
        met: there it has to be a number."""
        return Symbol(self, self.constant(0.0) if self.transposable else POISON)

    def record(self, kind: str, args: tuple[Number, ...]) -> str:
        if self.wide and any(type(a) is Symbol and a.ref.startswith(WIDE) for a in args):
            ref = self.name(wide=True)
            return ref if self.rehearsing else self.emit(f"wide {kind}", *[self.operand(a, wide=True) for a in args], ref=ref)
        if self.rehearsing:
            return self.name()
        names = tuple([a.ref if type(a) is Symbol else self.operand(a) for a in args])
        if kind in SINCOS:
            return self._sincos(kind, args, names)
        if kind in INTRINSIC:
            return self.intrinsic(kind, *names)
        ref = self.name()
        self.region.parts.append(Operation(ref, kind, names))
        return ref

    def _sincos(self, kind: str, args: tuple[Number, ...], names: tuple[str, ...]) -> str:
        """Both come from one range reduction: the sine's operation, and the cosine by the name that follows from its own."""
        sine = self.emit("sincos", *names)
        cosine = cosine_of(sine)
        other, ref = ("cos", cosine) if kind == "sin" else ("sin", sine)
        self.known[other, names[0]] = Symbol(self, ref, other, args)
        return sine if kind == "sin" else cosine

    def intrinsic(self, name: str, *operands: str, ref: str | None = None) -> str:
        full, T = f"llvm.{name}.{self.suffix}", self.type
        self.declarations[full] = f"declare {T} @{full}({', '.join([T] * len(operands))})"
        return self.emit(f"call {T} @{full}({', '.join([f'{T} $'] * len(operands))})", *operands, ref=ref)

    def splat(self, scalar: str) -> str:
        """A vector of lanes, each of which is this double."""
        if self.lanes == 1:
            return scalar
        first = self.emit(f"insertelement {self.type} poison, double $, i32 0", scalar)
        return self.emit(f"shufflevector {self.type} $, {self.type} poison, <{self.lanes} x i32> zeroinitializer", first)

    # integers and memory ------------------------------------------------------------------------------------------

    def integer(self, kind: str, a: Int, b: Int) -> Int:
        """add, sub or mul of i64; known ones fold."""
        if isinstance(a, int) and isinstance(b, int):
            return {"add": a + b, "sub": a - b, "mul": a * b}[kind]
        if (kind in ("add", "sub") and b == 0) or (kind == "mul" and b == 1):
            return a
        if (kind == "add" and a == 0) or (kind == "mul" and a == 1):
            return b
        return self.emit(f"{kind} i64 $, $", a, b)

    def pointer(self, base: str, index: Int) -> str:
        """Address of the index-th double (or i64) from a base."""
        if index == 0:
            return base
        key = ("pointer", base, str(index))
        found = self.pointers.get(key)
        if found is None:
            found = self.pointers[key] = self.emit("getelementptr inbounds double, ptr $, i64 $", base, index)
        return found

    def load_int(self, base: str, index: Int) -> str:
        return self.emit("load i64, ptr $, align 8", self.pointer(base, index))

    def load_double(self, base: str, index: Int) -> str:
        return self.emit("load double, ptr $, align 8", self.pointer(base, index))

    def load_wide(self, base: str, index: Int) -> str:
        """A vector of tangents, from the index-th double on."""
        return self.emit(f"load {self.wide_type}, ptr $, align 8", self.pointer(base, index), ref=self.name(wide=True))

    def store_wide(self, value: Number, base: str, index: Int) -> None:
        self.do(f"store {self.wide_type} $, ptr $, align 8", self.operand(value, wide=True), self.pointer(base, index))

    def gathered(self, addresses: Sequence[str]) -> str:
        """A double from each address, in the lanes."""
        found = POISON
        for lane, address in enumerate(addresses):
            one = self.emit("load double, ptr $, align 8", address)
            found = self.emit(f"insertelement {self.type} $, double $, i32 {lane}", found, one)
        return found

    def scatter(self, value: Number, addresses: Sequence[str]) -> None:
        vector = self.operand(value)
        for lane, address in enumerate(addresses):
            one = self.emit(f"extractelement {self.type} $, i32 {lane}", vector)
            self.do("store double $, ptr $, align 8", one, address)

    def load(self, base: str, index: Int) -> str:
        """The numbers of all lanes at an index of a base whose numbers are laid out lane by lane."""
        address = self.pointer(base, self.integer("mul", index, self.lanes))
        return self.emit(f"load {self.type}, ptr $, align {self.align}", address)

    def store(self, value: Number, base: str, index: Int) -> None:
        address = self.pointer(base, self.integer("mul", index, self.lanes))
        self.do(f"store {self.type} $, ptr $, align {self.align}", self.operand(value), address)
