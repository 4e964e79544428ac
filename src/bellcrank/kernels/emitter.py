"""Writes LLVM IR as text: arithmetic of recorded numbers on one state (double) or on lanes (<4 x double>).

Text is six times faster to make than llvmlite's IR objects. Flags: contraction into fused multiply-add, no signed zeros,
reciprocals; never `fast`, which would assume that there is no NaN.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..numbers import Condition, Graph, Number, Symbol
from . import elementary
from .liveness import Cell, marked

FLAGS = "contract nsz arcp"
_BINARY = ("fadd", "fsub", "fmul", "fdiv")
_COMPARE = ("olt", "ole", "ogt", "oge")

Int = Any  # a known integer, or what str() makes the name of an i64


class Phi:
    """A value that depends on where control came from; its sources may be given later."""

    def __init__(self, ref: str, type_: str):
        self.ref, self.type = ref, type_
        self.sources: list[str] = []

    def add(self, value: str, label: str) -> None:
        self.sources.append(f"[{value}, %{label}]")

    def __str__(self) -> str:
        return f"{self.ref} = phi {self.type} " + ", ".join(self.sources)


class Emitter(Graph):
    """One function under construction, and the declarations it needs."""

    def __init__(self, lanes: int = 1):
        super().__init__()
        self.lanes = lanes
        self.type = "double" if lanes == 1 else f"<{lanes} x double>"
        self.int_type = "i64" if lanes == 1 else f"<{lanes} x i64>"
        self.bool_type = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = "f64" if lanes == 1 else f"v{lanes}f64"
        self.align = 8 * lanes
        self.lines: list[Any] = []
        self.rehearsing = False
        self.label = "entry"
        self.declarations: dict[str, str] = {}
        self.pointers: dict[tuple[Any, ...], Any] = {}  # addresses, integers and what is read of constant tables
        self._constants: dict[bytes, str] = {}

    # text ---------------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> str:
        """A line that makes a value; returns the value's name."""
        ref = self.name()
        if not self.rehearsing:
            self.lines.append(f"{ref} = {text}")
        return ref

    def do(self, text: str) -> None:
        if not self.rehearsing:
            self.lines.append(text)

    def mark(self, cell: Cell) -> None:
        """The line written last stores or loads this cell (liveness)."""
        if not self.rehearsing:
            self.lines[-1] = marked(self.lines[-1], cell)

    def text(self) -> str:
        return "\n".join(map(str, self.lines))

    def start_block(self, label: str) -> None:
        self.do(f"{label}:")
        self.label = label
        self.forget()

    def new_label(self, hint: str) -> str:
        return f"{hint}{self.name()[2:]}"

    def phi(self, type_: str) -> Phi:
        phi = Phi(self.name(), type_)
        self.lines.append(phi)
        return phi

    def forget(self) -> None:
        super().forget()
        self.pointers = {}

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Nothing is written inside; numbers get names, which is enough to see what folds."""
        kept = self.lines, self.label, self.known, self.pointers
        self.lines, self.known, self.pointers, self.rehearsing = [], {}, {}, True
        try:
            yield
        finally:
            self.lines, self.label, self.known, self.pointers = kept
            self.rehearsing = False

    # numbers ------------------------------------------------------------------------------------------------------

    def constant(self, x: float) -> str:
        bits = struct.pack(">d", x)  # not x itself: 0.0 == -0.0
        text = self._constants.get(bits)
        if text is None:
            one = f"0x{bits.hex().upper()}"
            text = one if self.lanes == 1 else "<" + ", ".join([f"double {one}"] * self.lanes) + ">"
            self._constants[bits] = text
        return text

    def operand(self, x: Number) -> str:
        return x.ref if type(x) is Symbol or type(x) is Condition else self.constant(float(x))

    def symbol(self, ref: str) -> Symbol:
        return Symbol(self, ref)

    def needless(self) -> Symbol:
        """A number that nothing alive depends on."""
        return Symbol(self, "poison")

    def record(self, kind: str, args: tuple[Number, ...]) -> str:
        if self.rehearsing:
            return self.name()
        names = [self.operand(a) for a in args]
        T = self.type
        if kind in _BINARY:
            return self.emit(f"{kind} {FLAGS} {T} {names[0]}, {names[1]}")
        if kind == "fneg":
            return self.emit(f"fneg {FLAGS} {T} {names[0]}")
        if kind in _COMPARE:
            return self.emit(f"fcmp {kind} {T} {names[0]}, {names[1]}")
        if kind == "select":
            return self.emit(f"select {self.bool_type} {names[0]}, {T} {names[1]}, {T} {names[2]}")
        if kind in ("and", "or"):
            return self.emit(f"{kind} {self.bool_type} {names[0]}, {names[1]}")
        if kind == "not":
            ones = "true" if self.lanes == 1 else "<" + ", ".join(["i1 true"] * self.lanes) + ">"
            return self.emit(f"xor {self.bool_type} {names[0]}, {ones}")
        if kind in ("sin", "cos"):
            sine, cosine = elementary.sincos(self, names[0])
            other = {"sin": ("cos", cosine), "cos": ("sin", sine)}[kind]
            self.known[other[0], names[0]] = Symbol(self, other[1], other[0], args)
            return sine if kind == "sin" else cosine
        if kind == "atan2":
            return elementary.atan2(self, *names)
        if kind == "pow":
            return elementary.per_lane(self, "pow", *names)
        if kind in ("sqrt", "fabs", "minimum", "maximum"):
            return self.intrinsic(kind, *names)
        raise NotImplementedError(kind)

    def intrinsic(self, name: str, *operands: str) -> str:
        full, T = f"llvm.{name}.{self.suffix}", self.type
        self.declarations[full] = f"declare {T} @{full}({', '.join([T] * len(operands))})"
        return self.emit(f"call {T} @{full}({', '.join(f'{T} {x}' for x in operands)})")

    def splat(self, scalar: str) -> str:
        """The same double in all lanes."""
        if self.lanes == 1:
            return scalar
        first = self.emit(f"insertelement {self.type} poison, double {scalar}, i32 0")
        return self.emit(f"shufflevector {self.type} {first}, {self.type} poison, <{self.lanes} x i32> zeroinitializer")

    # integers and memory ------------------------------------------------------------------------------------------

    def integer(self, kind: str, a: Int, b: Int) -> Int:
        """add, sub or mul of i64; known ones fold."""
        if isinstance(a, int) and isinstance(b, int):
            return {"add": a + b, "sub": a - b, "mul": a * b}[kind]
        if (kind in ("add", "sub") and b == 0) or (kind == "mul" and b == 1):
            return a
        if (kind == "add" and a == 0) or (kind == "mul" and a == 1):
            return b
        return self.emit(f"{kind} i64 {a}, {b}")

    def pointer(self, base: str, index: Int) -> str:
        """Address of the index-th double (or i64) from a base."""
        if index == 0:
            return base
        key = ("pointer", base, str(index))
        found = self.pointers.get(key)
        if found is None:
            found = self.pointers[key] = self.emit(f"getelementptr inbounds double, ptr {base}, i64 {index}")
        return found

    def load_int(self, base: str, index: Int) -> str:
        return self.emit(f"load i64, ptr {self.pointer(base, index)}, align 8")

    def load_double(self, base: str, index: Int) -> str:
        return self.emit(f"load double, ptr {self.pointer(base, index)}, align 8")

    def load(self, base: str, index: Int) -> str:
        """All lanes of the index-th number of a base whose numbers are laid out lane by lane."""
        address = self.pointer(base, self.integer("mul", index, self.lanes))
        return self.emit(f"load {self.type}, ptr {address}, align {self.align}")

    def store(self, value: Number, base: str, index: Int) -> None:
        address = self.pointer(base, self.integer("mul", index, self.lanes))
        self.do(f"store {self.type} {self.operand(value)}, ptr {address}, align {self.align}")
