"""The walk over the bodies as loops in machine code, with a switch on the body's signature.

What passes between a body and the next one in the walk stays in registers; only where the tree branches does it go
through memory. Entries of a message that are the same constant everywhere (the out-of-plane parts of a planar mechanism)
are found first, by rehearsing the steps until nothing changes, and fold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..formulations import Program
from ..kernels.emitter import Emitter, Int
from ..kernels.flow import each, repeat, switch
from ..kernels.liveness import Memory
from ..kernels.messages import UNSEEN, VARIES, added, leaves, parts, rebuild, whole
from ..numbers import Number, Symbol
from ..plan import Plan, Signature
from ..plan.plan import TABLE
from ..spatial import Vector
from . import closures as closing
from . import dense, loads
from .body import TracedBody
from .nodes import walk as nodes
from .nodes.channels import Channels
from .nodes.in_memory import Room
from .records import Record
from .view import effort_source

Pattern = list[Any]  # for each number of a message: UNSEEN, a constant, or VARIES


class TracedWalk:
    """Implements formulations.Walk: writes the loops into an emitter."""

    work_row, message_row, dense_rows = ("@WORK@", "@MESSAGE@", "@DENSE@")  # widths known only when all is written

    def __init__(self, e: Emitter, plan: Plan, program: Program, memory: Memory):
        self.e, self.plan, self.program, self.memory = e, plan, program, memory
        self.forces = program.forces and bool(plan.loads.elements or "lambda" in program.inputs)
        self.effort_from = effort_source(program, self.forces)
        self.tangents = 1 if "dq" in program.inputs else 0  # each number then has a value and a tangent
        self.signatures = plan.signatures
        self.records = {signature: Record(("body", k), memory) for k, signature in enumerate(plan.signatures)}
        self.message_width = 0
        self.visits_nodes = False
        self.dense = False  # all equations of closures at once, as the multipliers take them
        self.node_records = nodes.fresh_records(plan, memory)
        self.channels = Channels(self)
        self.room = Room(e)
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
        if self.forces and not self.program.late:
            self.apply_forces()
        if "lambda" in self.program.inputs:
            self.closure_states()
            closing.push(self)
        self.program.run(self)

    @property
    def loaded(self) -> bool:
        return self.forces

    def apply_forces(self) -> None:
        loads.apply_forces(self)

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
        rows = {
            self.work_row: max(r.slots for r in self.records.values()) or 1,
            self.message_row: self.message_width or 1,
            self.dense_rows: int(self.dense),
            "scratch": self.room.most,
        }
        records = list(enumerate(self.node_records.values()))
        rows |= {f"node {k}": record.slots for k, record in records}
        return rows | {f"matrices {k}": record.matrices for k, record in records}

    def store_output(self, name: str, place: Int, x: Number) -> None:
        """An entry of an output, with its tangent where that is an output too."""
        value, *tangents = parts(x, self.tangents)
        self.e.store(value, f"%{name}", place)
        for tangent in tangents:
            self.e.store(tangent, f"%d{name}", place)

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
        variable = [k for k, x in enumerate(pattern) if x is VARIES]

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
        """Which numbers of the message are the same constant on all edges: rehearse until nothing changes.

        Of a body without mass a pivot may fold to zero while only messages of others without mass are known, which it may never
        get: that counts at the end only.
        """
        pattern: Pattern = [UNSEEN] * len(leaves(base, self.tangents))
        while True:
            before, refused = list(pattern), None
            for signature in self.signatures:
                if ends(signature) or (UNSEEN in before and not starts(signature)):
                    continue
                incoming = base if starts(signature) else self._with(base, before, None)
                try:
                    sent = leaves(self._rehearse(step, signature, incoming), self.tangents)
                except ZeroDivisionError as error:
                    refused = error
                    continue
                for k, x in enumerate(sent):
                    varies = isinstance(x, Symbol) or (only_zeros and x != 0) or pattern[k] not in (UNSEEN, x)
                    pattern[k] = VARIES if varies else float(x)
            if pattern == before and refused is not None:
                raise refused
            if pattern == before:
                return [0.0 if x is UNSEEN else x for x in pattern]

    def _rehearse(self, step: Callable[[Any, Any], Any], signature: Signature, incoming: Any) -> Any:
        kept = self.records
        try:
            with self.e.rehearsal():
                self.records = {s: record.copy() for s, record in kept.items()}
                return step(TracedBody(signature, self, "%rehearsed"), incoming)
        finally:
            self.records = kept

    def _with(self, like: Any, pattern: Pattern, variable: list[Symbol] | None) -> Any:
        """A message of this pattern; its varying numbers are those given, or unknown ones."""
        given = iter(variable) if variable is not None else None
        numbers = []
        for x in pattern:
            if x is VARIES:
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
        sent = [x for x, fixed in zip(leaves(message, self.tangents), pattern, strict=True) if fixed is VARIES]
        self.message_width = max(self.message_width, len(sent))
        for k, x in enumerate(sent):
            self.e.store(x, address, k)

    def _fetch_message(self, body: TracedBody, whose: str, like: Any, pattern: Pattern) -> Any:
        address = self._message_address(body, whose)
        count = sum(x is VARIES for x in pattern)
        symbols = [self.e.symbol(self.e.load(address, k)) for k in range(count)]
        return self._with(like, pattern, symbols)

    @property
    def length(self) -> Number:
        return closing.setting(self, "length")

    @property
    def baumgarte(self) -> tuple[Number, Number]:
        damping, stiffness = self.plan.baumgarte  # whether there is any is structure
        return closing.setting(self, "damping") if damping else 0.0, closing.setting(self, "stiffness") if stiffness else 0.0

    # in files of their own ------------------------------------------------------------------------------------------

    def climb(self, step: Callable[[Any, Any, Any], Any], start: str, like: Any) -> None:
        dense.climb(self, step, start, like)

    def solve(self, matrix: str, right: str, into: str) -> None:
        dense.solve(self.e, f"%{matrix}", f"%{right}", f"%{into}")

    def closures(self, step: Callable[[Any], Any]) -> None:
        closing.closures(self, step)

    def push_multipliers(self) -> None:
        loads.clear_applied(self)
        closing.push(self, also_tell=True)

    def clear(self, name: str) -> None:
        each(self.e, 0, "%nv", lambda k: self.e.store(0.0, f"%{name}", k))

    def push_impulses(self) -> None:
        closing.push_impulses(self)

    @property
    def checks(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.checks

    @property
    def bases_move(self) -> bool:
        return self.plan.nodes is not None and self.plan.nodes.bases_move

    def closure_states(self) -> None:
        if not self.forces:
            closing.leave_states(self)

    def haul(self, step: Callable[[Any, Any, Any], Any]) -> None:
        closing.haul(self, step)

    def reduce(self) -> None:
        closing.reduce(self)

    def tell(self, name: str, *fields: str) -> None:
        closing.tell(self, name, fields)

    def nodes(self, step: Callable[[Any], None], *, inward: bool = False) -> None:
        self.visits_nodes = True
        nodes.nodes(self, step, inward)
