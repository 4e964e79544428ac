"""A read-only table of numbers in memory, the same for all lanes: what ``numbers.gather`` reads while tracing."""

from __future__ import annotations

from ...numbers import Number, Symbol
from .emitter import Emitter, Int


class Table:
    """``length`` doubles at a pointer; at least one. Nothing may write to them while the code runs."""

    def __init__(self, e: Emitter, pointer: str, length: Int):
        if isinstance(length, int) and length < 1:
            raise ValueError(f"a table needs at least one entry to read; this one has {length}")
        self.e, self.pointer, self.length = e, pointer, length

    def gather(self, index: Number, inside: bool = False) -> Symbol:
        """Entry at the whole part of an index, lane by lane; outside the nearest end; not a number at one that is not.

        ``inside``: the index is one of the table's, which is not checked.
        """
        e = self.e
        key = ("gather", self.pointer, index.ref if isinstance(index, Symbol) else float(index), inside)
        found = e.known.get(key)
        if found is None:
            limit = () if inside else (self._last(),)
            ref = e.emit("gather_inside" if inside else "gather", self.pointer, *limit, e.operand(index))
            found = e.known[key] = Symbol(e, ref, "gather", (index,))
        return found

    def _last(self) -> str:
        if isinstance(self.length, int):
            return self.e.constant(float(self.length - 1))
        last = self.e.integer("sub", self.length, 1)
        return self.e.splat(self.e.emit("sitofp i64 $ to double", last))
