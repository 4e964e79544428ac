"""A body in machine code: the one of a case of the switch, at the walk's current index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..kernels.emitter import Emitter
from ..kernels.liveness import Cell
from ..kernels.messages import leaves, parts
from ..numbers import Dual, Number, Symbol
from ..plan import Signature
from ..plan.plan import TABLE
from ..plan.signature import ROW
from ..spatial import Motion
from . import loads
from .view import View, input_size

if TYPE_CHECKING:
    from .walk import TracedWalk

_COLUMN = {name: k for k, name in enumerate(TABLE)}


class TracedBody(View):
    """The body of one case of the switch, at the walk's current index."""

    def __init__(self, signature: Signature, walk: TracedWalk, index: str):
        super().__init__(signature)
        self.__dict__.update(walk=walk, index=index, there={}, _record=walk.records[signature])

    def row(self, name: str) -> str:
        """Address of this body's row in the data, the workspace or the integer table."""
        e, key = self.walk.e, ("row", name, self.index)
        found = e.pointers.get(key)
        if found is None:
            width = {"data": ROW, "work": self.walk.work_row, "table": len(TABLE)}[name]
            offset = e.integer("mul", self.index, width)
            if name == "work":
                offset = e.integer("mul", offset, e.lanes)
            found = e.pointers[key] = e.pointer(f"%{name}", offset)
        return found

    def entry(self, column: str) -> str:
        """An integer of this body's row of the table."""
        e, key = self.walk.e, ("entry", column, self.index)
        found = e.pointers.get(key)
        if found is None:
            found = e.pointers[key] = e.load_int(self.row("table"), _COLUMN[column])
        return found

    def load(self, array: str, k: int) -> Symbol:
        """An entry of the data or of an input, read once in a case."""
        e, key = self.walk.e, ("load", array, k, self.index)
        found = e.known.get(key)
        if found is None:
            if array == "data":
                ref = e.splat(e.load_double(self.data_row(k), k))
            else:
                first = self.entry("q" if array in ("q", "dq", "driven_q") else "v")
                ref = e.load(f"%{array}", e.integer("add", first, k))
            found = e.known[key] = Symbol(e, ref, "load", self._origin(array, k))
        return found

    def data_row(self, slot: int) -> str:
        return self.row("data")

    def _origin(self, array: str, k: int) -> tuple[Any, ...]:
        """Says where a number was read, so that it can be read again."""
        return array, k

    def _data(self, slot: int) -> Number:
        return self.load("data", slot)

    def input(self, name: str) -> tuple[Number, ...]:
        walk, size = self.walk, range(input_size(self._signature, name))
        if self.driven:
            return () if name == "push" else tuple(self.load(f"driven_{name}", k) for k in size)
        if name in ("effort", "push"):
            return tuple(walk.get(f"%{name}", walk.e.integer("add", self.entry("v"), k)) for k in size)
        if f"d{name}" in walk.program.inputs:
            return tuple(Dual(self.load(name, k), [self.load(f"d{name}", k)]) for k in size)
        return tuple(self.load(name, k) for k in size)

    def _effort_source(self) -> str | None:
        return self.walk.effort_from

    def _forces(self) -> bool:
        return self.walk.forces

    def _applied(self) -> list[Number]:
        e, first = self.walk.e, self.walk.e.integer("mul", self.entry("state"), loads.WRENCH)
        return [self.walk.get("%applied", e.integer("add", first, k)) for k in range(loads.WRENCH)]

    def _impulses(self) -> list[Number]:
        e, first = self.walk.e, self.walk.e.integer("mul", self.entry("state"), loads.IMPULSE)
        return [self.walk.get("%impulses", e.integer("add", first, k)) for k in range(loads.IMPULSE)]

    def leave_state(self, numbers: Sequence[Number]) -> None:
        e, first = self.walk.e, self.walk.e.integer("mul", self.entry("state"), loads.STATE)
        for k, x in enumerate(numbers):
            self.walk.put(x, "%states", e.integer("add", first, k))

    def leave_known(self, acceleration: Motion) -> None:
        first = loads.known_of(self.walk, self.entry("state"))
        for k, x in enumerate(leaves(acceleration)):
            self.walk.put(x, "%states", self.walk.e.integer("add", first, k))

    def output(self, name: str, values: Sequence[Number]) -> None:
        e, kind = self.walk.e, self.walk.program.outputs[name]
        first = self.entry("v")
        if kind == "v*v":
            for k, x in enumerate(values):
                a, b = divmod(k, self._joint.nv)
                row = e.integer("mul", e.integer("add", first, a), "%nv")
                e.store(x, f"%{name}", e.integer("add", row, e.integer("add", first, b)))
            return
        per, _, width = kind.partition("*")
        start = self.entry("user") if per == "body" else self.entry("q") if per == "q" else first
        start = e.integer("mul", start, int(width or 1))
        for k, x in enumerate(values):
            value, *tangents = parts(x, self.walk.tangents)
            e.store(value, f"%{name}", e.integer("add", start, k))
            for tangent in tangents:
                e.store(tangent, f"%d{name}", e.integer("add", start, k))

    def store(self, slot: int, value: Number) -> None:
        self.walk.e.store(value, self.row("work"), slot)

    def fetch(self, slot: int, cell: Cell) -> Symbol:
        return fetched(self.walk.e, self.row("work"), slot, cell, self.index)

    def _keep(self, name: str, value: Any) -> None:
        self._record.keep(self, name, value)

    def _recall(self, name: str) -> Any:
        return self._record.recall(self, name)


def fetched(e: Emitter, row: str, slot: int, cell: Cell, index: str) -> Symbol:
    """A cell of a row in the workspace, read once in a case."""
    key = ("slot", cell, index)
    found = e.known.get(key)
    if found is None:
        found = e.known[key] = Symbol(e, e.load(row, slot), "slot", (slot,))
        e.mark(cell)
    return found
