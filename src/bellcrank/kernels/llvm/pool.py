"""A read-only table of numbers in memory: what ``numbers.gather`` reads while tracing."""

from __future__ import annotations

from ...numbers import Dual, Number, Symbol
from .emitter import Emitter, Int


class Table:
    """A table: ``length`` doubles at a pointer; at least one. Nothing may write to them while the code runs.

    ``tangents``: where their tangents are, if they have any. ``own``: every lane has a table of its own, side by side.
    """

    def __init__(self, e: Emitter, pointer: str, length: Int, tangents: str | None = None, own: bool = False):
        if isinstance(length, int) and length < 1:
            raise ValueError(f"a table needs at least one entry to read; this one has {length}")
        self.e, self.pointer, self.length, self.tangents = e, pointer, length, tangents
        self.own = " own" if own else ""

    def gather(self, index: Number, inside: bool = False) -> Number:
        """Entry at the whole part of an index, lane by lane; outside the nearest end; not a number at one that is not.

        ``inside``: the index is one of the table's, which is not checked.
        """
        value = self._entry(("gather_inside" if inside else "gather") + self.own, self.pointer, index)
        return value if self.tangents is None else Dual(value, [self._entry("gather tangents", self.tangents, index)])

    def _entry(self, kind: str, pointer: str, index: Number) -> Symbol:
        e = self.e
        key = (kind, pointer, index.ref if isinstance(index, Symbol) else float(index))
        found = e.known.get(key)
        if found is None:
            limit = () if kind.startswith("gather_inside") else (self._last(),)
            name = e.name(wide=kind == "gather tangents")
            ref = e.emit(kind, pointer, *limit, e.operand(index), ref=name)
            found = e.known[key] = Symbol(e, ref, "gather", (index,))
        return found

    def _last(self) -> str:
        if isinstance(self.length, int):
            return self.e.constant(float(self.length - 1))
        last = self.e.integer("sub", self.length, 1)
        return self.e.splat(self.e.emit("sitofp i64 $ to double", last))
