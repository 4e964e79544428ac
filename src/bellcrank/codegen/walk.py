"""The walk over the bodies as loops in machine code, with a switch on the body's signature.

What passes between a body and the next one in the walk stays in registers; only where the tree branches does it go
through memory. Entries of a message that are the same constant everywhere (the out-of-plane parts of a planar mechanism)
are found first, by rehearsing the steps until nothing changes, and fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..formulations import Program
from ..numbers import Dual, Number, Symbol
from ..spatial import Vector
from ..topology import Plan, Signature
from ..topology.plan import TABLE
from ..topology.signature import ROW
from . import closing, dense, loads
from .emitter import Emitter, Int
from .flow import each, repeat, switch
from .records import Record
from .structure import added, leaves, parts, rebuild, whole
from .view import View, effort_source, input_size

_COLUMN = {name: k for k, name in enumerate(TABLE)}
_UNSEEN, _VARIES = object(), object()

Pattern = list[Any]  # for each number of a message: _UNSEEN, a constant, or _VARIES


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
                ref = e.splat(e.load_double(self.row("data"), k))
            else:
                first = self.entry("q" if array in ("q", "dq", "driven_q") else "v")
                ref = e.load(f"%{array}", e.integer("add", first, k))
            found = e.known[key] = Symbol(e, ref, "load", (array, k))
        return found

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

    def _applied(self) -> list[Number]:
        e, first = self.walk.e, self.walk.e.integer("mul", self.entry("state"), loads.WRENCH)
        return [self.walk.get("%applied", e.integer("add", first, k)) for k in range(loads.WRENCH)]

    def leave_state(self, numbers: Sequence[Number]) -> None:
        e, first = self.walk.e, self.walk.e.integer("mul", self.entry("state"), loads.STATE)
        for k, x in enumerate(numbers):
            self.walk.put(x, "%states", e.integer("add", first, k))

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

    def fetch(self, slot: int) -> Symbol:
        e, key = self.walk.e, ("slot", slot, self.index)
        found = e.known.get(key)
        if found is None:
            found = e.known[key] = Symbol(e, e.load(self.row("work"), slot), "slot", (slot,))
        return found

    def _keep(self, name: str, value: Any) -> None:
        self._record.keep(self, name, value)

    def _recall(self, name: str) -> Any:
        return self._record.recall(self, name)


class TracedWalk:
    """Implements formulations.Walk: writes the loops into an emitter."""

    work_row, message_row = "@WORK@", "@MESSAGE@"  # widths known only when all is written

    def __init__(self, e: Emitter, plan: Plan, program: Program):
        self.e, self.plan, self.program = e, plan, program
        self.forces = program.forces and bool(plan.loads.elements or plan.loads.closing.closures)
        self.effort_from = effort_source(program, self.forces)
        self.tangents = 1 if "dq" in program.inputs else 0  # each number then has a value and a tangent
        self.signatures = plan.signatures
        self.records = {signature: Record() for signature in plan.signatures}
        self.message_width = 0
        self.gravity = Vector(*[self._gravity(k, x) for k, x in enumerate(plan.gravity)])

    def _gravity(self, k: int, value: float) -> Number:
        return 0.0 if value == 0 else self.e.symbol(self.e.splat(self.e.load_double("%gravity", k)))

    def run(self) -> None:
        for name, kind in self.program.outputs.items():
            if kind == "v*v":
                size = self.e.integer("mul", "%nv", "%nv")
                each(self.e, 0, size, lambda k, name=name: self.e.store(0.0, f"%{name}", k))  # type: ignore[misc]
        if self.plan.loads.motions:
            loads.drive(self)
        if self.forces:
            loads.apply_forces(self)
        if "lambda" in self.program.inputs:
            closing.push(self)
        self.program.run(self)

    def get(self, base: str, index: Int) -> Number:
        """A number from memory, with its tangents."""
        e, size = self.e, 1 + self.tangents
        first = e.integer("mul", index, size)
        return whole([e.symbol(e.load(base, e.integer("add", first, k))) for k in range(size)])

    def put(self, x: Number, base: str, index: Int) -> None:
        e = self.e
        first = e.integer("mul", index, 1 + self.tangents)
        for k, part in enumerate(parts(x, self.tangents)):
            e.store(part, base, e.integer("add", first, k))

    def given(self, name: str, index: Int) -> Number:
        """An entry of an input, with its tangent where that is an input too."""
        e = self.e
        names = [name, f"d{name}"] if f"d{name}" in self.program.inputs else [name]
        return whole([e.symbol(e.load(f"%{array}", index)) for array in names])

    def widths(self) -> dict[str, int]:
        return {self.work_row: max(r.slots for r in self.records.values()) or 1, self.message_row: self.message_width or 1}

    # passes -------------------------------------------------------------------------------------------------------

    def outward(self, step: Callable[[Any, Any], Any], base: Any) -> None:
        def incoming(body: TracedBody, carried: Any) -> Any:
            signature = body._signature
            if signature.root:
                return base
            return carried if signature.adjacent else self._fetch_message(body, "parent_message", base, pattern)

        def case(body: TracedBody, carried: Any) -> Any:
            message = step(body, incoming(body, carried))
            if body._signature.branch:
                self._store_message(body, "own_message", message, pattern)
            return None if body._signature.leaf else message

        pattern = self._find_pattern(step, base, starts=lambda s: s.root, ends=lambda s: s.leaf, only_zeros=False)
        self._loop(case, base, pattern, inward=False)

    def inward(self, step: Callable[[Any, Any], Any], leaf: Any) -> None:
        def felt(body: TracedBody, carried: Any) -> Any:
            if body._signature.leaf:
                return leaf
            if not body._signature.branch:
                return carried
            return added(carried, self._fetch_message(body, "own_message", leaf, pattern))

        def case(body: TracedBody, carried: Any) -> Any:
            message, signature = step(body, felt(body, carried)), body._signature
            if signature.root or signature.adjacent:
                return None if signature.root else message
            if not signature.opens:
                message = added(message, self._fetch_message(body, "parent_message", leaf, pattern))
            self._store_message(body, "parent_message", message, pattern)
            return None

        pattern = self._find_pattern(step, leaf, starts=lambda s: s.leaf, ends=lambda s: s.root, only_zeros=True)
        self._loop(case, leaf, pattern, inward=True)

    def _loop(self, case: Callable[[TracedBody, Any], Any], like: Any, pattern: Pattern, inward: bool) -> None:
        e = self.e
        variable = [k for k, x in enumerate(pattern) if x is _VARIES]

        def at(k: str, carry: list[str]) -> list[str]:
            i = e.emit(f"sub nsw i64 {e.emit('sub nsw i64 %n, 1')}, {k}") if inward else k
            code = e.load_int("%table", e.integer("mul", i, len(TABLE)))
            carried = self._with(like, pattern, [e.symbol(ref) for ref in carry])

            def arm(signature: Signature) -> list[str]:
                message = case(TracedBody(signature, self, i), carried)
                if message is None:
                    return ["poison"] * len(variable)
                sent = leaves(message, self.tangents)
                return [e.operand(sent[k]) for k in variable]

            return switch(e, code, [lambda s=s: arm(s) for s in self.signatures])  # type: ignore[misc]

        repeat(e, "%n", ["poison"] * len(variable), at)

    # messages -----------------------------------------------------------------------------------------------------

    def _find_pattern(
        self,
        step: Callable[[Any, Any], Any],
        base: Any,
        starts: Callable[[Signature], bool],
        ends: Callable[[Signature], bool],
        only_zeros: bool,
    ) -> Pattern:
        """Which numbers of the message are the same constant on all edges: rehearse until nothing changes."""
        pattern: Pattern = [_UNSEEN] * len(leaves(base, self.tangents))
        while True:
            before = list(pattern)
            for signature in self.signatures:
                if ends(signature) or (_UNSEEN in before and not starts(signature)):
                    continue
                incoming = base if starts(signature) else self._with(base, before, None)
                for k, x in enumerate(leaves(self._rehearse(step, signature, incoming), self.tangents)):
                    varies = isinstance(x, Symbol) or (only_zeros and x != 0) or pattern[k] not in (_UNSEEN, x)
                    pattern[k] = _VARIES if varies else float(x)
            if pattern == before:
                return [0.0 if x is _UNSEEN else x for x in pattern]

    def _rehearse(self, step: Callable[[Any, Any], Any], signature: Signature, incoming: Any) -> Any:
        kept = self.records
        with self.e.rehearsal():
            self.records = {s: record.copy() for s, record in kept.items()}
            message = step(TracedBody(signature, self, "%rehearsed"), incoming)
        self.records = kept
        return message

    def _with(self, like: Any, pattern: Pattern, variable: list[Symbol] | None) -> Any:
        """A message of this pattern; its varying numbers are those given, or unknown ones."""
        given = iter(variable) if variable is not None else None
        numbers = []
        for x in pattern:
            if x is _VARIES:
                numbers.append(next(given) if given else self.e.symbol(self.e.name()))
            else:
                numbers.append(x)
        return rebuild(like, iter(numbers), self.tangents)

    def _message_address(self, body: TracedBody, whose: str) -> str:
        e = self.e
        offset = e.integer("mul", body.entry(whose), self.message_row)
        return e.pointer("%messages", e.integer("mul", offset, e.lanes))

    def _store_message(self, body: TracedBody, whose: str, message: Any, pattern: Pattern) -> None:
        address = self._message_address(body, whose)
        sent = [x for x, fixed in zip(leaves(message, self.tangents), pattern, strict=True) if fixed is _VARIES]
        self.message_width = max(self.message_width, len(sent))
        for k, x in enumerate(sent):
            self.e.store(x, address, k)

    def _fetch_message(self, body: TracedBody, whose: str, like: Any, pattern: Pattern) -> Any:
        address = self._message_address(body, whose)
        count = sum(x is _VARIES for x in pattern)
        symbols = [self.e.symbol(self.e.load(address, k)) for k in range(count)]
        return self._with(like, pattern, symbols)

    @property
    def length(self) -> Number:
        return closing.setting(self, "length")

    @property
    def baumgarte(self) -> tuple[Number, Number]:
        return closing.setting(self, "damping"), closing.setting(self, "stiffness")

    # in files of their own ------------------------------------------------------------------------------------------

    def climb(self, step: Callable[[Any, Any, Any], Any], start: str, like: Any) -> None:
        dense.climb(self, step, start, like)

    def solve(self, matrix: str, right: str, into: str) -> None:
        dense.solve(self.e, f"%{matrix}", f"%{right}", f"%{into}")

    def closures(self, step: Callable[[Any], Any]) -> None:
        closing.closures(self, step)

    def haul(self, step: Callable[[Any, Any, Any], Any]) -> None:
        closing.haul(self, step)

    def reduce(self) -> None:
        closing.reduce(self)

    def tell(self, name: str, *fields: str) -> None:
        closing.tell(self, name, fields)
