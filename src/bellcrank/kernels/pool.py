"""A read-only table of numbers in memory, the same for all lanes: what ``numbers.gather`` reads while tracing."""

from __future__ import annotations

import math

from ..numbers import Number, Symbol
from .emitter import Emitter, Int


class Table:
    """``length`` doubles at a pointer; at least one. Nothing may write to them while the code runs."""

    def __init__(self, e: Emitter, pointer: str, length: Int):
        if isinstance(length, int) and length < 1:
            raise ValueError(f"a table needs at least one entry to read; this one has {length}")
        self.e, self.pointer, self.length = e, pointer, length

    def gather(self, index: Number) -> Symbol:
        """Entry at the whole part of an index, lane by lane; outside the nearest end; not a number at one that is not."""
        e = self.e
        key = ("gather", self.pointer, index.ref if isinstance(index, Symbol) else float(index))
        found = e.known.get(key)
        if found is None:
            found = e.known[key] = Symbol(e, self._read(e.operand(index)), "gather", (index,))
        return found

    def _read(self, index: str) -> str:
        """Clamped before it becomes an integer, and so that a NaN ends at 0: no lane reads outside the table."""
        e, T, zero = self.e, self.e.type, self.e.constant(0.0)
        above = e.emit(f"fcmp ogt {T} {index}, {zero}")
        low = e.emit(f"select {e.bool_type} {above}, {T} {index}, {T} {zero}")
        last = self._last()
        below = e.emit(f"fcmp olt {T} {low}, {last}")
        inside = e.emit(f"select {e.bool_type} {below}, {T} {low}, {T} {last}")
        whole = e.emit(f"fptosi {T} {inside} to {e.int_type}")
        unknown = e.emit(f"fcmp uno {T} {index}, {zero}")
        return e.emit(f"select {e.bool_type} {unknown}, {T} {e.constant(math.nan)}, {T} {self._load(whole)}")

    def _last(self) -> str:
        if isinstance(self.length, int):
            return self.e.constant(float(self.length - 1))
        last = self.e.integer("sub", self.length, 1)
        return self.e.splat(self.e.emit(f"sitofp i64 {last} to double"))

    def _load(self, whole: str) -> str:
        e = self.e
        if e.lanes == 1:
            return e.load_double(self.pointer, whole)
        result = "poison"
        for lane in range(e.lanes):
            place = e.emit(f"extractelement {e.int_type} {whole}, i32 {lane}")
            result = e.emit(f"insertelement {e.type} {result}, double {e.load_double(self.pointer, place)}, i32 {lane}")
        return result
